"""Kept runs that somebody changed: no command takes one silently, and with --unverified all that is made says so."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse

import pytest
from tests.e2e import command
from tests.e2e.test_shards import answer, zipped
from tests.servers.fault_server import FaultServer

JOURNAL = f"predictions/{command.LABEL}/lengths.jsonl"
RESULTS = f"results/{command.LABEL}/lengths.json"
MANIFEST = "manifest.sha256"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two shards of a run, and with two whole runs."""
    folder = tmp_path_factory.mktemp("kept")
    questions = command.lengths(folder / "lengths.jsonl", 10)
    with FaultServer(answer) as server:
        asked = ["run", "--endpoint", server.url, "--datasets", questions, "-n", 2]
        for name, more in {"0": ["--shard", "0/2"], "1": ["--shard", "1/2"], "old": [], "new": []}.items():
            done = command.run(*asked, "--out", folder / "out" / name, *more)
            assert done.code == 0, done.err
            shutil.move(command.only_run(folder / "out" / name), folder / name)
    return folder


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """Copies, to be damaged."""
    for name in ("0", "1", "old", "new"):
        shutil.copytree(made / name, tmp_path / "runs" / name)
    return tmp_path / "runs"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert re.search(old, text)
    path.write_text(re.sub(old, new, text, count=1))


def another_plan(run: Path) -> None:
    """Later in order than the run's own."""
    (config,) = run.glob("configs/*.py")
    shutil.copy(config, config.with_name("99999999_000000_1.py"))


DAMAGES: dict[str, Callable[[Path], None]] = {
    "an edited reply": lambda run: edit(run / JOURNAL, '"prediction":"#### 0"', '"prediction":"#### 13"'),
    "edited results": lambda run: edit(run / RESULTS, '"wrong"', '"right"'),
    "a missing line": lambda run: edit(run / JOURNAL, r"[^\n]+\n\Z", ""),
    "an added plan": another_plan,
    "another manifest": lambda run: edit(run / MANIFEST, r"(?m)^\w{9}(?=.*run\.json)", "012345678"),
    "an empty manifest": lambda run: edit(run / MANIFEST, r"(?s).+", ""),
    "no manifest": lambda run: (run / MANIFEST).unlink(),
    "edited figures": lambda run: edit(run / "run.json", r'"avg@2": [\d.]+', '"avg@2": 99.5'),
}
VERBS: dict[str, list[str]] = {
    "merge": ["merge", "{runs}/0", "{runs}/1", "--out", "{out}"],
    "report": ["report", "{runs}/new"],
    "gate": ["report", "{runs}/new", "--gate", "lengths: avg@2 >= 2"],
    "export": ["report", "{runs}/new", "--into", "{out}", "--as", "junit", "--as", "lm-eval", "--as", "benchmark-action"],
    "model card": ["report", "{runs}/new", "--into", "{out}", "--as", "model-card"],
    "compare": ["compare", "{runs}/old", "{runs}/new", "--md", "{out}/c.md", "--html", "{out}/c.html"],
    "compare as JSON": ["compare", "{runs}/new", "{runs}/old", "--json"],
    "baseline": ["report", "{runs}/old", "--baseline", "{runs}/new", "--gate", "*: drop <= 99 vs baseline"],
    "history": ["history", "{runs}/new", "--append", "{out}/history.jsonl"],
    "history as JSON": ["history", "{runs}/new", "--json"],
    "view": ["view", "{runs}/new", "--no-browser"],
    "rescore": ["rescore", "{runs}/new"],
    "rescore of a file": ["rescore", "{runs}/new/" + JOURNAL, "--json"],
}  # fmt: skip
LISTS = ("history", "history as JSON", "view")
"""These leave such a run out, with the reason."""


def typed(verb: str, runs: Path, *more: str) -> tuple[command.Done, list[str]]:
    """How the command ended, and every text that it made: its output, its errors, its files."""
    out = runs.parent / "made"
    out.mkdir(exist_ok=True)
    done = command.run(*(word.format(runs=runs, out=out) for word in VERBS[verb]), *more)
    files = [path for path in out.rglob("*") if path.suffix in {".html", ".md", ".xml", ".json", ".jsonl", ".csv"}]
    if address := re.search(r"file:\S+", done.out):
        files.append(Path(urlparse(address[0]).path))
    kept = [path for path in files if "predictions" not in path.parts and not path.name.startswith("samples_")]
    return done, [done.out, *(path.read_text() for path in kept)]


def damaged(verb: str, damage: str, runs: Path) -> None:
    DAMAGES[damage](runs / ("0" if verb == "merge" else "new"))


@pytest.mark.parametrize(
    ("verb", "damage"),
    [*((verb, "an edited reply") for verb in VERBS), *((verb, "no manifest") for verb in VERBS)]
    + [("compare", damage) for damage in DAMAGES if damage not in {"an edited reply", "no manifest"}],
)
def test_no_command_takes_a_changed_run_silently(verb: str, damage: str, runs: Path) -> None:
    """The reason stands in one sentence, and nothing is made of its figures."""
    damaged(verb, damage, runs)
    done, texts = typed(verb, runs)
    told = " ".join("".join([done.err, *texts]).split())
    assert re.search(r"(differs?|has no|its files differ from) (from )?manifest\.sha256", told), told
    assert "--unverified" in told
    if verb in LISTS:
        assert done.code == 0, done.err
        assert "avg@2" not in told
    else:
        assert (done.code, done.out) == (2, ""), done.out
        assert not [path for path in (runs.parent / "made").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("damage", "packed", "next_step"),
    [
        ("an edited reply", False, "Next: model-accuracy-eval verify {}"),
        ("edited results", False, "Next: model-accuracy-eval run --mode eval --reuse {}"),
        ("no manifest", False, "Next: model-accuracy-eval run --mode eval --reuse {}"),
        ("an edited reply", True, "Next: model-accuracy-eval verify {}"),
        ("edited results", True, "unpack it, and judge its replies, which it left so, again by run --mode eval"),
    ],
)
def test_what_to_type_follows(damage: str, next_step: str, runs: Path, *, packed: bool) -> None:
    """Where it helps: a zip cannot be gone on with. What file managers and editors leave is no change."""
    for name in ("predictions/.DS_Store", "configs/mine.py~", "results/notes.txt"):
        (runs / "new" / name).write_text("")
    assert command.run("compare", runs / "new", runs / "old").code == 0
    damaged("compare", damage, runs)
    place = zipped(runs / "new") if packed else runs / "new"
    done = command.run("compare", place, runs / "old")
    assert (done.code, next_step.format(place) in done.err) == (2, True), done.err


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "model card"])
def test_whoever_goes_on_has_it_said_in_all_that_is_made(verb: str, runs: Path) -> None:
    """In every file and on the terminal; the exit code is that of a run that nobody changed."""
    damaged(verb, "an edited reply", runs)
    done, texts = typed(verb, runs, "--unverified")
    assert done.code == 0, done.err
    if verb == "report":  # it prints names of files
        texts = [*texts[1:], *(path.read_text() for path in (runs / "new").glob("summary/*"))]
        texts.append((runs / "new/report.html").read_text())
    if verb in {"export", "gate", "baseline", "view"}:
        texts[0] += done.err
    for text in texts:
        assert "unverified" in text.lower(), text[:2000]
    assert "is not what its run left: 1 of its files differs" in " ".join("".join([done.err, *texts]).split())


def test_a_public_page_gets_no_unverified_figures(runs: Path) -> None:
    """Nobody who reads a model's page could tell."""
    damaged("model card", "an edited reply", runs)
    done, _ = typed("model card", runs, "--unverified")
    assert (done.code, "cannot stand on a model's page: they are unverified" in done.err) == (2, True), done.err


@pytest.mark.parametrize("verb", ["report", "gate"])
def test_a_report_makes_no_changed_run_whole(verb: str, runs: Path) -> None:
    """What was rendered again has its new hash in the manifest, what somebody changed has none."""
    damaged(verb, "an edited reply", runs)
    assert typed(verb, runs, "--unverified")[0].code == 0
    done, _ = typed("compare", runs)
    assert (done.code, f"(changed: {JOURNAL})" in done.err) == (2, True), done.err


def test_what_was_made_of_changed_replies_says_so_for_ever(runs: Path) -> None:
    """A merged run, and one that was judged again, are whole runs: their doubts go where their figures go."""
    damaged("merge", "an edited reply", runs)
    assert typed("merge", runs, "--unverified")[0].code == 0
    merged = command.only_run(runs.parent / "made")
    damaged("report", "an edited reply", runs)
    again = command.run("run", "--mode", "eval", "--reuse", runs / "new")
    assert (again.code, "Unverified: '" in again.out) == (0, True), again.err + again.out
    for run in (merged, runs / "new"):
        whole = command.run("verify", run)
        assert (whole.code, "Unverified: '" in whole.out) == (0, True), whole.err
        assert len(command.facts(run)["unverified"]) == 1
        assert "Unverified: '" in command.run("compare", run, runs / "old").out
        assert "unverified" in command.run("report", run).err.lower()
        assert "it is unverified: '" in command.run("history", run).out
        done = command.run("report", runs / "old", "--baseline", run, "--gate", "*: drop <= 99 vs baseline")
        assert (done.code, "is unverified itself" in done.err) == (2, True), done.err


def test_a_run_is_left_as_it_is_where_another_model_answers(runs: Path) -> None:
    """Replies of two models are not mixed, and the run that came to its end is still one."""
    with FaultServer(answer) as server:
        server.models = {"object": "list", "data": [{"id": "another", "object": "model"}]}
        done = command.run("run", "--reuse", runs / "new", "--endpoint", server.url)
    assert (done.code, "but the service now serves 'another'" in done.err) == (2, True), done.err
    assert command.run("verify", runs / "new").code == 0


def test_a_run_that_goes_on_without_its_manifest_says_so(runs: Path) -> None:
    """Nobody can say any more whether its replies are those that it left."""
    damaged("report", "no manifest", runs)
    done = command.run("run", "--mode", "eval", "--reuse", runs / "new")
    assert (done.code, "Unverified: The run '" in done.out) == (0, True), done.err + done.out


UNREADABLE: dict[str, tuple[str, str, str]] = {
    "half a line": (r'\{"data_abbr"', '{"data', "is not as this program writes it"),
    "another type": ('"id":3,', '"id":"x",', "is not as this program writes it"),
    "another problem": ('"id":3,', '"id":333,', "have a sample of problem 333 (0) that was not asked"),
}


@pytest.mark.parametrize("damage", UNREADABLE)
@pytest.mark.parametrize("verb", ["report", "export", "compare", "rescore", "judge"])
def test_what_cannot_be_read_is_no_defect(verb: str, damage: str, runs: Path) -> None:
    """Whoever goes on with a journal that was edited by hand hears of the line, if it is needed."""
    old, new, sentence = UNREADABLE[damage]
    edit(runs / "new" / JOURNAL, old, new)
    if verb == "judge":
        done = command.run("run", "--mode", "eval", "--reuse", runs / "new")
        assert done.code in {2, 5}, done.out
    else:
        done, _ = typed(verb, runs, "--unverified")
        assert done.code in {0, 2}, done.err
    if done.code and not (verb == "rescore" and damage == "another problem"):
        assert sentence in " ".join((done.out + done.err).split()) or "cannot be read: " in done.err
