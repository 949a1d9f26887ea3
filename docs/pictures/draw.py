"""Draw the pictures of README, docs/ and the lessons from what is printed, shown and computed: `make pictures`.

Each picture is drawn anew only if what it shows has changed: `digests.json` holds a digest of the command's text, or
of the files that a page is made from. `--check` says which are out of date, and needs no browser. The lessons' figures
(`lessons.py`) are small, and drawn every time.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from typing import Any

from lessons import FIGURES, drawn, place
from rich.text import Text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DIGESTS = HERE / "digests.json"
KATA = [sys.executable, "-m", "grader"]
MASKS = ROOT / "solutions" / "9.3-encoder-vs-decoder" / "masks" / "masks.py"
CLASS = {
    "ada": None, "bo": "causal_shifted_late", "cleo": "causal_inverted", "dov": None, "eun": "additive_inverted",
}  # fmt: skip
"""Learners of the class that the pages show, and the catalogued mistake of each."""
COLOURS = {1: "#f47067", 2: "#57ab5a", 3: "#c69026", 4: "#539bf5", 5: "#b083f0", 6: "#39c5cf"}
INK, PAPER, DIM = "#d4dae1", "#22272e", "#909dab"
SIZE, LINE, WIDTH = 14, 20, 8.43
"""Of a letter in a drawn terminal, in pixels; WIDTH is what all common monospaced fonts have at this size."""


def kata(*arguments: str, folder: Path, columns: int = 100) -> str:
    """Return what a command prints, with the codes for colours."""
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {
        "COLUMNS": str(columns),
        "FORCE_COLOR": "1",
        "KATA_WARM": "0",
        "TERM": "xterm-256color",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [*KATA, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout


def mistaken(name: str | None) -> str:
    """Return a hand-in for masks: right, or with one catalogued mistake."""
    if name is None:
        return MASKS.read_text(encoding="utf-8")
    return re.sub("\x1b\\[[0-9;]*m", "", kata("pack", "mistake", "masks", name, folder=ROOT))


def failing_check(folder: Path) -> str:
    """Return what `kata check masks` says of a causal mask that is shifted by one."""
    (folder / "masks.py").write_text(mistaken("causal_shifted_late"), encoding="utf-8")
    return kata("check", "masks.py", folder=folder)


def as_svg(command: str, output: str) -> str:
    """Draw a terminal: a title bar's dots, the command, and what it printed in its colours."""
    lines = [Text.from_ansi(line) for line in output.rstrip().splitlines()]
    rows = [_row(Text.assemble(("$ ", "dim"), (command, "bold")), 0)]
    rows += [_row(line, number) for number, line in enumerate(lines, start=1)]
    wide = round(max(len(line) for line in lines) * WIDTH + 40)
    high = (len(lines) + 1) * LINE + 52
    dots = "".join(f'<circle cx="{20 + 16 * i}" cy="18" r="5" fill="#545d68"/>' for i in range(3))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" role="img">\n'
        f"<title>{escape(command)}</title>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>{dots}\n'
        f'<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="{SIZE}" fill="{INK}">\n'
        + "\n".join(filter(None, rows))
        + "\n</g>\n</svg>\n"
    )


def _row(line: Text, number: int) -> str:
    """Return a line as SVG: every run of one style has its own column, whatever the font's width."""
    spans = []
    for segment in line.render(_console()):
        text, style = segment.text.rstrip("\n"), segment.style
        start = sum(len(one[0]) for one in spans)
        spans.append((text, start, style))
    y = 52 + number * LINE
    drawn = [
        f'<text x="{20 + start * WIDTH:.1f}" y="{y}" xml:space="preserve"{_look(style)}>{escape(text)}</text>'
        for text, start, style in spans
        if text.strip()
    ]
    return "".join(drawn)


def _console() -> Any:
    from rich.console import Console

    return Console(width=200, file=io.StringIO())


def _look(style: Any) -> str:
    if style is None:
        return ""
    colour = DIM if style.dim else None
    if style.color is not None and style.color.number is not None:
        colour = COLOURS.get(style.color.number % 8, colour)
    return (f' fill="{colour}"' if colour else "") + (' font-weight="bold"' if style.bold else "")


def screenshot(page: Any, name: str, *, last: str, height: int = 2000) -> None:
    """Store what the browser shows, light and dark, down to the end of the first element that `last` selects.

    So nothing is cut in the middle; if even that element is taller than `height`, it ends there. In as few
    colours as it needs.
    """
    from PIL import Image

    for scheme, path in (("light", HERE / f"{name}.png"), ("dark", HERE / f"{name}-dark.png")):
        page.emulate_media(color_scheme=scheme)
        end = page.evaluate("last => document.querySelector(last).getBoundingClientRect().bottom", last)
        clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": min(end + 5, height)}
        page.screenshot(path=str(path), clip=clip, full_page=True)
        Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)


SIZE_OF_PAGES = {"width": 980, "height": 900}


def draw_pages(folder: Path, wanted: Iterable[str]) -> None:
    """Play a small class, and store how its pages look in a browser."""
    from playwright.sync_api import sync_playwright

    for learner, mistake in CLASS.items():
        (folder / "class" / learner).mkdir(parents=True)
        (folder / "class" / learner / "masks.py").write_text(mistaken(mistake), encoding="utf-8")
    kata("grade", "class", "--only", "masks", "--seed", "1", folder=folder)
    kata("report", folder=folder)
    kata("demo", "masks", folder=folder)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium())
        page = browser.new_page(viewport=SIZE_OF_PAGES, device_scale_factor=1.5)
        for name in wanted:
            page.goto("about:blank")  # else what the last page forbids holds for HTML that is set, too
            PAGES[name][1](page, folder)
        browser.close()


def _chromium() -> str | None:
    from shutil import which

    return which("chromium") or which("chromium-browser") or which("google-chrome")


def _demo(page: Any, folder: Path) -> None:
    page.goto((folder / "kata-demo" / "masks" / "index.html").as_uri())
    screenshot(page, "demo", last=".panel")


def _report(page: Any, folder: Path) -> None:
    page.goto((folder / "kata-report" / "index.html").as_uri())
    screenshot(page, "report", last="body", height=700)


def _feedback(page: Any, folder: Path) -> None:
    [shown] = [
        one for one in (folder / "kata-report" / "feedback").glob("*.html") if one.name.startswith("bo")
    ]
    page.goto(shown.as_uri())
    screenshot(page, "feedback", last="body", height=700)


def _desk(page: Any, folder: Path) -> None:
    desk = subprocess.Popen(
        [*KATA, "desk", "--no-browser", "--author", "kim"],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert desk.stdout is not None
    try:
        [address] = re.findall(r"http://\S+", desk.stdout.readline())
        page.goto(address)
        page.goto(address.partition("/enter")[0] + "/mark?learner=bo&of=masks")
        page.set_viewport_size({"width": 1480, "height": 900})  # the lines of the stub, whole
        screenshot(page, "desk", last="body", height=900)
        page.set_viewport_size(SIZE_OF_PAGES)
    finally:
        desk.terminate()
        desk.wait()


def _notebook(page: Any, folder: Path) -> None:
    import nbclient
    import nbformat

    cells = [mistaken("causal_shifted_late"), "import kata\nkata.check('masks')"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    alone = folder / "notebook"
    alone.mkdir()
    where = {"metadata": {"path": str(alone)}}
    nbclient.NotebookClient(book, timeout=300, allow_errors=True, resources=where).execute()
    [html] = [
        output["data"]["text/html"]
        for output in book.cells[1].outputs
        if "text/html" in output.get("data", {})
    ]
    style = ":root{color-scheme:light dark}body{font:14px sans-serif;margin:24px}pre{padding:8px;border:1px solid #888}"
    code = f"<pre style='background:#8881'>{escape(cells[1])}</pre>"
    page.set_content(f"<style>{style}</style><main>{code}{html}</main>")
    screenshot(page, "notebook", last="main")


def _problems(page: Any, folder: Path) -> None:
    """Draw VS Code's list of problems with what its task's own pattern finds in the command's output."""
    alone = folder / "vscode"
    alone.mkdir()
    (alone / "masks.py").write_text(mistaken("causal_shifted_late"), encoding="utf-8")
    printed = kata("check", "masks.py", "--format", "vscode", folder=alone)
    [task, *_] = json.loads((ROOT / "grader" / VSCODE).read_text(encoding="utf-8"))["tasks"]
    found = re.findall(task["problemMatcher"]["pattern"]["regexp"], printed, re.MULTILINE)
    rows = "".join(
        f"<p><b style='color:#f14c4c'>&#8855;</b>&ensp;{escape(message)}"
        f"<i>&ensp;kata({escape(code)})&ensp;[Ln {line}, Col {column}]</i></p>"
        for _, line, column, _, message, code in found
    )
    page.set_content(
        "<style>body{font:13px/22px sans-serif;margin:0;padding:8px 16px;background:#fff;color:#333}"
        "@media(prefers-color-scheme:dark){body{background:#1e1e1e;color:#ccc}}"
        "p{margin:0}p+p+p{padding-left:36px;text-indent:-20px}i{color:#767676;font-style:normal}u{text-underline-offset:7px}</style>"
        f"<main><p><u>PROBLEMS</u> {len(found)}&emsp;OUTPUT&emsp;TERMINAL</p><p>&#8964; masks.py</p>{rows}</main>"
    )
    screenshot(page, "problems", last="main")


VSCODE = "learner/workspace/templates/tasks.json"
PAGES: dict[str, tuple[list[str], Callable[[Any, Path], None]]] = {
    "demo": (["learner/demos"], _demo),
    "report": (["instructor/html/templates"], _report),
    "feedback": (["instructor/html/templates"], _feedback),
    "desk": (["extras/desk/templates"], _desk),
    "notebook": (["report/markup.py"], _notebook),
    "problems": ([VSCODE], _problems),
}
"""By name, the files and folders of `grader/` that decide how a page looks, and how it is drawn."""


def digest_of(parts: Iterable[str]) -> str:
    """Return a digest of files and folders of grader/."""
    found = hashlib.sha256()
    for part in parts:
        path = ROOT / "grader" / part
        kinds = (".html", ".css", ".js", ".svg")
        files = [path] if path.is_file() else [one for one in sorted(path.rglob("*")) if one.suffix in kinds]
        if not files:
            raise FileNotFoundError(f"{path}: nothing there decides how a page looks")
        for file in files:
            found.update(file.read_bytes())
    return found.hexdigest()[:16]


def main() -> int:
    """Draw what has changed, or say so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="draw nothing; exit 1 if a picture is out of date"
    )
    check = parser.parse_args().check
    known = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        shown = as_svg("kata check masks", failing_check(Path(folder)))
    now = {"check": hashlib.sha256(shown.encode()).hexdigest()[:16]}
    now |= {name: digest_of(parts) for name, (parts, _) in PAGES.items()}
    stale = [name for name in now if known.get(name) != now[name]]
    figures = {kata: drawn(kata) for kata in FIGURES}
    stale += [
        k for k, text in figures.items() if not place(k).is_file() or place(k).read_text("utf-8") != text
    ]
    if check:
        print("\n".join(f"docs/pictures: {name} is out of date: make pictures" for name in stale), end="")
        return bool(stale)
    (HERE / "check.svg").write_text(shown, encoding="utf-8")
    for kata, text in figures.items():
        place(kata).write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        draw_pages(Path(folder), [name for name in stale if name in PAGES])
    DIGESTS.write_text(json.dumps(now, indent=1) + "\n")
    print("drawn:", *(stale or ["nothing: all are as they were"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
