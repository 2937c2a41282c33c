"""The pictures of the documentation, taken anew from real runs: `python -m docs.take_pictures`. Needs Chromium.

The comment is the Markdown that the action would post, shown in the colours and sizes of a pull request's page.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser import Tab, find_chromium, opened  # noqa: E402
from tests.waiting import free_port  # noqa: E402

from model_accuracy_eval import evaluate  # noqa: E402
from model_accuracy_eval.records import Identity, Outcome, Report  # noqa: E402
from model_accuracy_eval.records.report import ModelVerdict  # noqa: E402
from model_accuracy_eval.report import comment, languages, markdown  # noqa: E402
from model_accuracy_eval.report.endings import CONCLUSIONS  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
WEIGHTS = Path("example-adapter/weights")
DATASET = "demo_arithmetic"
PROBLEM = 4
LARGEST = 150_000
"""Bytes of a picture."""
_LIST = "document.getElementById('problems-title').scrollIntoView({ behavior: 'instant' })"
_SIGNS = {"❌": ("✗", "#d1242f"), "✅": ("✓", "#1a7f37"), "❔": ("?", "#9a6700")}
"""Drawn here, because not every machine has a font with them."""
_STYLE = """
body { margin: 0; background: #fff; color: #1f2328; font: 14px/1.5 "Noto Sans", Helvetica, Arial, sans-serif; }
.frame { margin: 16px; border: 1px solid #d0d7de; border-radius: 6px; overflow: hidden; }
.who { background: #f6f8fa; border-bottom: 1px solid #d0d7de; padding: 8px 16px; color: #59636e; }
.who b { color: #1f2328; } .text { padding: 16px; }
h3 { font-size: 1.25em; margin: 0 0 16px; } p, ul, table, details { margin: 0 0 12px; } ul { padding-left: 2em; }
table { border-collapse: collapse; } th, td { border: 1px solid #d0d7de; padding: 6px 13px; }
tr:nth-child(2n) { background: #f6f8fa; }
code { background: #818b981f; border-radius: 6px; padding: .2em .4em; font-size: 85%; } a { color: #0969da; }
"""


ABOUT = Identity(repository="acme/adapter", commit="2f0c7d91ab34", label="vllm-api-stream-chat")


PORT = free_port()


def run(folder: Path, model: Path, baseline: str | None = None) -> Report:
    """The bundled example adapter with these weights."""
    return evaluate(
        adapter="example-adapter",
        model=str(model),
        datasets=[DATASET],
        baseline=baseline,
        gate=["*: drop <= 2 vs baseline"] if baseline else [f"{DATASET}: avg@5 >= 60"],
        port=PORT,
        out=str(folder),
    )


def with_a_mistake(folder: Path) -> Path:
    """The same weights with another base of the rotary positions, a mistake that adapters make."""
    copy = folder / "other-weights"
    shutil.copytree(WEIGHTS, copy)
    config = json.loads((copy / "config.json").read_text())
    config["rope_theta"] *= 4
    (copy / "config.json").write_text(json.dumps(config))
    return copy


def joint(**reports: Report) -> Outcome:
    """The verdict about models of these names, as their last job has it."""
    rows = [
        ModelVerdict(
            name,
            "required",
            ending.conclusion,
            ending.exit_code,
            f"{DATASET}: avg@5 {figure:.2f}",
            languages.with_gates(ending.sentence, report.gates),
        )
        for name, report in reports.items()
        for ending, figure in [(report.outcome, report.dataset_results[0].rows[0].value or 0.0)]
    ]
    told = ", ".join(f"{row.name}: {languages.say(CONCLUSIONS[row.conclusion].words).lower()}" for row in rows)
    last = rows[-1]
    return Outcome(
        conclusion=last.conclusion, exit_code=last.exit_code, stage="publish", sentence=f"{told}.", models=tuple(rows)
    )


def as_github_shows(body: str) -> str:
    """A page with the comment, as a reader of the pull request sees it."""
    text = MarkdownIt("gfm-like", {"linkify": False}).render(body)
    for emoji, (sign, colour) in _SIGNS.items():
        text = text.replace(emoji, f'<b style="color: {colour}">{sign}</b>')
    who = '<p class="who"><b>github-actions</b> bot commented</p>'
    frame = f'<div class="frame">{who}<div class="text">{text}</div></div>'
    return f'<!doctype html><meta charset="utf-8"><style>{_STYLE}</style>{frame}'


def take(tab: Tab, address: str, name: str, *, ready: str, width: int = 1280, height: int = 0) -> None:
    tab.look(width=width, height=height or 100)  # one that is measured is as high as it has to be
    tab.open(address)
    tab.wait(ready)
    if not height:
        tab.look(width=width, height=int(tab.get("document.documentElement.scrollHeight")))
    file = PICTURES / name
    tab.picture(file)
    if file.stat().st_size > LARGEST:
        raise SystemExit(f"{file} has {file.stat().st_size:,} bytes; {LARGEST:,} are allowed.")
    sys.stdout.write(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes\n")


def main() -> None:
    os.chdir(ROOT)  # so that the pictures show no more than the names that the tutorial types
    with tempfile.TemporaryDirectory() as name, opened(find_chromium(), Path(name)) as tab:
        folder = Path(name)
        base = run(folder / "base", WEIGHTS)
        page = (Path(base.outcome.folder or "") / "report.html").as_uri()
        listed = f"!document.getElementById('explorer').hidden && ({_LIST}, true)"
        take(tab, page, "page-problems.png", ready=listed, height=760)
        panel = "document.querySelector('dialog').open"
        take(tab, f"{page}#{DATASET}/{PROBLEM}/0", "page-reply.png", ready=panel, height=800)

        mistaken = with_a_mistake(folder)
        worse = run(folder / "worse", mistaken, base.outcome.folder)
        ready = "document.readyState === 'complete'"

        def take_comment(result: Report | Outcome, name: str) -> None:
            body = comment.as_comment(result, identity=ABOUT)
            for path, shown in ((folder, "/weights"), (ROOT / "example-adapter", "/adapter")):
                body = body.replace(str(path), shown).replace(
                    markdown.text(str(path)), shown
                )  # the paths of no machine
            (folder / "comment.html").write_text(as_github_shows(body))
            take(tab, (folder / "comment.html").as_uri(), name, ready=ready, width=980)

        take_comment(worse, "comment.png")
        take_comment(joint(small=base, large=worse), "comment-models.png")
        with languages.reading("zh"):
            in_chinese = run(folder / "zh", mistaken, base.outcome.folder)
            take_comment(joint(small=base, large=in_chinese), "comment-models-zh.png")


if __name__ == "__main__":
    main()
