"""Documentation that lies is a defect: pages made from tables are current, links lead somewhere, commands exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from docs import generate, take_pictures
from tests.e2e import command
from tests.waiting import free_port

from model_accuracy_eval.benchmarks.dataset_table import TASKS
from model_accuracy_eval.cli import COMMANDS, main
from model_accuracy_eval.settings import table

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "README.zh.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("name", generate.pages())
def test_generated_pages_are_current(name: str) -> None:
    """`make docs` would change nothing."""
    assert (generate.FOLDER / name).read_text() == generate.pages()[name]


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    told = (re.sub(r"\]\([^)]*\)|[`\[]", "", heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in told}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page is a file of this repository, and its anchor a heading there."""
    lost = []
    for target in re.findall(r"\]\(([^)\s:]+)\)", page.read_text()):
        name, _, anchor = target.partition("#")
        found = page.parent / name if name else page
        if not found.exists() or (anchor and anchor not in headings(found)):
            lost.append(target)
    assert lost == []


IN_CHINESE = {
    "README.zh.md": "README.md",
    "docs/zh/tutorial.md": "docs/tutorial.md",
    "docs/zh/action.md": "docs/how-to/action.md",
}


@pytest.mark.parametrize(("chinese", "english"), IN_CHINESE.items())
def test_a_page_in_chinese_is_that_in_english(chinese: str, english: str) -> None:
    """The same blocks to type, sections, rows of tables, inline code, pictures and links."""

    def told(name: str) -> tuple[list[str], list[str], list[set[object]]]:
        text = (ROOT / name).read_text()
        blocks = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        targets = [target for target in re.findall(r"\]\(([^)\s]+)\)", prose) if target != "https://nektosact.com"]
        targets = [target.replace("-zh.png", ".png") for target in targets]
        linked = {((ROOT / name).parent / target).resolve() for target in targets}
        # One page may have its neighbour in Chinese, and the other the one in English.
        linked = {ROOT / IN_CHINESE.get(path.relative_to(ROOT).as_posix(), path) for path in linked} - {ROOT / english}
        code = set(re.findall(r"`([^`]+)`", " ".join(prose.split())))
        marks = [re.sub(r"[^#|]", "", line) for line in prose.splitlines() if re.match(r"#|\|", line)]
        return blocks, marks, [set(linked), set(code)]

    assert told(chinese) == told(english)


def test_the_readme_fits_on_a_screen_or_three() -> None:
    """A first visit is not the place for a list of all there is; the index has that."""
    text = (ROOT / "README.md").read_text()
    assert len(text.split()) <= 600
    assert text.count("](") <= 20
    assert max(map(len, text.splitlines())) <= 120


def test_decisions_are_one_page_each_and_listed() -> None:
    """At most forty are in force, each of 200 words or fewer, and the index has them all."""
    *decisions, index = sorted((ROOT / "docs" / "decisions").iterdir())
    assert len(decisions) <= 40
    assert [page.name for page in decisions if len(page.read_text().split()) > 200] == []
    assert re.findall(r"\((0.*?\.md)\)", index.read_text()) == [page.name for page in decisions]


def test_the_index_names_every_page() -> None:
    """Each is found from there, the decisions as a folder."""
    index = ROOT / "docs" / "index.md"
    pages = {page for page in (ROOT / "docs").rglob("*.md") if page != index and page.parent.name != "decisions"}
    linked = {(index.parent / target).resolve() for target in re.findall(r"\]\(([^)#:]+)", index.read_text())}
    assert pages - linked == set()


def test_pictures_are_small_and_shown() -> None:
    """Each is in a page, and a clone does not grow by megabytes."""
    text = "".join(page.read_text() for page in PAGES)
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert picture.stat().st_size < 150_000, picture.name
        assert f"pictures/{picture.name})" in text


def test_the_picture_of_a_comment_is_of_its_markdown() -> None:
    """Tables and folded parts become what a pull request's page makes of them."""
    html = take_pictures.as_github_shows((ROOT / "tests/golden/many/comment.md").read_text())
    assert html.count("<table>") == 1
    assert html.count("<details>") == 2
    assert "| --- |" not in html


def shown(page: Path) -> Iterator[list[str]]:
    """The command lines that a page shows, as words."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                yield shlex.split(line[2:], comments=True)


def test_shown_commands_can_be_parsed() -> None:
    """Every `model-accuracy-eval …` in the documentation names commands and options that exist."""
    seen = 0
    for words in (words for page in PAGES for words in shown(page) if words[0] == "model-accuracy-eval"):
        arguments = [word for word in words[1:] if word != "…"]
        context: click.Context = main.make_context("model-accuracy-eval", list(arguments))
        command: click.Command = main
        rest = arguments
        while isinstance(command, click.Group):
            _, found, rest = command.resolve_command(context, rest)
            assert found is not None
            command = found
        command.make_context(command.name, list(rest), parent=context)
        seen += 1
    assert seen >= 8


def test_the_help_keeps_its_lines() -> None:
    """Examples stand one below the other, and no mark of the formatter shows."""
    told = CliRunner().invoke(main, ["--help"]).output
    assert "\\b" not in told
    assert "\n  model-accuracy-eval demo  " in told


def test_the_help_of_run_is_short_unless_all_is_asked_for() -> None:
    """A newcomer sees what first runs need, and how to see the rest."""
    short, whole = (CliRunner().invoke(main, ["run", option]).output for option in ("--help", "--help-all"))
    names = {f"--{setting.name}" for setting in table()} - {"--adapter"}
    shown = names.intersection(re.findall(r"--[a-z-]+", "\n".join(re.findall(r"^  .{,40}", short, re.MULTILINE))))
    assert {"--endpoint", "--datasets", "--gate"} <= shown
    assert len(shown) <= 15
    assert "--help-all" in short
    assert names <= set(re.findall(r"--[a-z-]+", whole))


def test_datasets_are_found_by_words() -> None:
    """All of the words, in any letter case; a match says its size and source; none is an error of usage."""
    found = CliRunner().invoke(main, ["tasks", "list", "Grade-School", "calculator"])
    assert re.findall(r"^  (\w+)", found.output, re.MULTILINE) == ["gsm8k_tools"]
    assert "1,319 rows, github:openai/grade-school-math, MIT" in found.output
    none = CliRunner().invoke(main, ["tasks", "list", "gsm8k", "klingon"])
    assert (none.exit_code, "'gsm8k' and 'klingon'" in none.output) == (2, True)


def test_make_targets_that_are_shown_exist() -> None:
    """Every `make x` in the documentation is a target of the Makefile."""
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told = {
        word
        for page in PAGES
        for word in re.findall(r"\bmake (demo|test|check|format|bench|docs|golden|lock|\w+)`", page.read_text())
    }
    assert {"demo", "test"} <= {words[1] for words in shown(ROOT / "README.md") if words[0] == "make"}
    assert told <= targets


def test_ci_calls_the_readmes_test_command() -> None:
    """What newcomers type is what continuous integration runs."""
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text()


def test_every_command_setting_and_dataset_is_documented() -> None:
    """The reference pages name all of them."""
    reference = {page.name: page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md")}
    assert [setting.name for setting in table() if f"| `{setting.name}` |" not in reference["settings.md"]] == []
    assert [name for name in TASKS if f"| `{name}` |" not in reference["datasets.md"]] == []
    assert [name for name in COMMANDS if f"## `model-accuracy-eval {name}`" not in reference["commands.md"]] == []


def test_the_documented_run_folder_is_the_real_one() -> None:
    """Names in the page are those that the code writes."""
    page = (ROOT / "docs/reference/run-folder.md").read_text()
    for name in ("deploy.log", "_failed.jsonl", "report.html", "run.json", "manifest.sha256", "summary_<stamp>"):
        assert name in page


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """The command behind `make demo` ends well, and its table has the lines of the README's (figures may differ by machine)."""
    done = command.run("demo", "--out", tmp_path, "--port", free_port())
    assert done.code == 0, done.err
    readme = (ROOT / "README.md").read_text()
    rows = [line.partition(".")[0][:-2] for line in done.out.splitlines() if line.startswith("demo_arithmetic  ")]
    assert len(rows) == 4
    assert [row for row in rows if row not in readme] == []
    assert max(map(len, done.out.split("\n\n")[1].splitlines())) <= 80
    assert "demo_arithmetic: 500 of 500 samples answered." in readme
