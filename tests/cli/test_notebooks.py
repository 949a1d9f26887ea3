"""A kata in a notebook: real kernels run real cells, and the verdict is that of the terminal."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any, get_args
from xml.etree import ElementTree

import pytest

from grader.catalogue import Catalogue
from grader.cli.learner import notebook
from grader.cli.learner.cells import should_judge_cells
from grader.report import markup
from grader.report.json_text import json_text
from grader.report.report import CheckStatus, KataReport, KataStatus, ReportSet
from tests.conftest import KATA, Run
from tests.pages import builders, demo_class
from tests.standby.conftest import Place, a_place, wait_for

ROOT = Path(__file__).parents[2]
RIGHT = (ROOT / "solutions" / "9.3-encoder-vs-decoder" / "masks" / "masks.py").read_text()
WRONG = "def causal_mask(seq_len, *, device=None):\n    return torch.ones(seq_len, seq_len).triu().bool()"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A process stands by for these notebooks, as it does for people's."""
    with a_place() as made:
        yield made


@pytest.fixture
def warm(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is run asks that process, or leaves it behind."""
    monkeypatch.delenv("KATA_WARM")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place.folder))


@pytest.fixture
def play(folder: Path, warm: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Run cells in a kernel of their own, and return the outputs of each."""
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    monkeypatch.setenv("IPYTHONDIR", str(folder / ".ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder / ".runtime"))

    def run(*cells: str) -> list[Any]:
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        where = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(book, timeout=300, allow_errors=True, resources=where).execute()
        return [cell.outputs for cell in book.cells]

    return run


def only(outputs: Any, kind: str) -> str:
    """Return one kind of what a cell showed as its result, of which there is one."""
    (output,) = [one for one in outputs if "data" in one]
    return str(output["data"][kind])


@pytest.mark.nightly
def test_what_was_run_is_judged_with_the_marks_of_the_terminal(
    play: Callable[..., list[Any]], kata: Run, folder: Path, place: Place
) -> None:
    outputs = play(
        RIGHT,
        "import kata\nkata.check('masks')",
        "%kata list",  # a verdict names commands of `%kata`: it is there
        "1 / 0",
        WRONG,
        "%kata check masks -v",
        "%kata try masks",
        "tuple(yours.shape), tuple(expected.shape)",
        "%kata hint masks",
        "%kata check nothing-of-that-name",
        "verdict = kata.check('masks'); (verdict.score, verdict.max_score, verdict.passed)",
        "%kata show masks",
        "%kata show masks --stub",
    )
    assert "10/10 points   ✔ passed" in only(outputs[1], "text/plain")
    assert "%kata solution masks" in only(outputs[1], "text/plain")
    assert "9.3.1" in str(outputs[2])
    wrong = only(outputs[5], "text/plain")
    page = only(outputs[5], "text/html")
    (folder / "masks.py").write_text(RIGHT + "\n\n" + WRONG)
    wait_for(place.standing)
    terminal = kata("check", "masks.py", "-v", "--json").json["katas"][0]
    assert f"{terminal['score']:g}/{terminal['max_score']:g} points" in wrong
    for check in terminal["checks"]:
        assert check["name"] in " ".join(wrong.split())
    assert "<svg" not in page  # a picture is text, as in the terminal
    assert "<script" not in page
    assert "expected" in page
    assert "seq_len, yours, expected, difference" in str(outputs[6])
    assert len(outputs[6]) == 1
    assert only(outputs[7], "text/plain") == "((4, 4), (4, 4))"
    assert "hint 1 of 3" in only(outputs[8], "text/markdown")
    assert "no unit or kata" in str(outputs[9]).lower() or "error" in str(outputs[9])
    assert only(outputs[10], "text/plain") == f"({terminal['score']}, {terminal['max_score']}, False)"
    lesson = only(outputs[11], "text/markdown")
    assert lesson.startswith("# 9.3.1")
    assert "](data:image/svg+xml;base64," in lesson
    assert only(outputs[12], "text/markdown").startswith("```python")


@pytest.mark.nightly
def test_a_kernel_starts_no_interpreter_where_a_process_stands_by(
    play: Callable[..., list[Any]], place: Place
) -> None:
    # In the kernel: when that ends, it ends the command that is about to leave a process behind.
    awaited = "import time\nfrom grader.cli.warm_process import standing_by\nwhile not standing_by(): time.sleep(0.05)"
    if not place.standing():
        play(RIGHT, "import kata\nkata.check('masks')", awaited)
    patient = """
        import kata, sys
        from grader.cli.learner import notebook
        notebook._start = None  # nothing else is started
        client = sys.modules[notebook.begin.__module__]
        client.PATIENCE_S = client.START_S = 240  # however busy the machine is
        kata.check("masks")
    """
    outputs = play(RIGHT, dedent(patient))
    assert "10/10 points   ✔ passed" in only(outputs[1], "text/plain")


@pytest.mark.parametrize("indent", [-1, 2])
def test_a_verdict_is_there_before_its_command_has_ended_its_workers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, indent: int
) -> None:
    """A command that has told its document and then waits for whoever opens the pipe."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    document = json_text(ReportSet(score=0, max_score=1, katas=[failed("wrong {\n}\n")]), indent=indent)
    told = "print(sys.stdin.read(), file=sys.stderr, flush=True); print(sys.argv[2], flush=True); open(sys.argv[1])"

    def start(arguments: Any, **streams: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", f"import sys; {told}", str(pipe), document]
        return subprocess.Popen(command, encoding="utf-8", **streams)

    monkeypatch.setattr(notebook, "_start", start)
    assert notebook._ask(["check"], b"cells") == (f"{document}\n", "cells\n")
    pipe.open("w").close()


@pytest.mark.nightly
def test_a_message_names_the_cell_by_the_number_beside_it(play: Callable[..., list[Any]]) -> None:
    raises = "def causal_mask(seq_len, *, device=None):\n    return torch.ones(seq_len).reshape(3, 7)"
    outputs = play("1", RIGHT, "2", raises, "import kata\nkata.check('masks')")
    assert "masks.ipynb, cell 4, line 2" in only(outputs[4], "text/plain")


@pytest.mark.nightly
def test_a_notebook_that_was_started_holds_lesson_stub_and_check(
    play: Callable[..., list[Any]], kata: Run, folder: Path
) -> None:
    import nbformat

    assert kata("start", "masks", "--notebook").code == 0
    (file,) = folder.rglob("masks.ipynb")
    assert file.with_name("figure.svg").read_text().startswith("<svg")  # where its first cell looks for it
    book = nbformat.read(file, as_version=4)
    kinds = [cell.cell_type for cell in book.cells]
    assert kinds[:2] == ["markdown", "markdown"]
    assert book.cells[0].source == (ROOT / "katas/9.3-encoder-vs-decoder/masks/README.md").read_text()
    assert book.cells[-1].source.endswith("%kata check masks")
    code = [cell.source for cell in book.cells if cell.cell_type == "code"]
    outputs = play(*code, code[-1])
    for shown in outputs[-2:]:  # run again, it says nothing of the extension
        assert [one.output_type for one in shown] == ["execute_result"]
        assert "not started" in only(shown, "text/plain")
    progress = json.loads((folder / "kata-progress.json").read_text())
    assert progress["katas"]["masks"]["status"] == "not_started"


class Shell:
    """A notebook's shell that has run these cells."""

    def __init__(self, *cells: str) -> None:
        import kata

        self.history_manager = SimpleNamespace(input_hist_raw=("", *cells))
        self.magics: dict[str, Any] = {}
        self.names: dict[str, Any] = {}
        kata.load_ipython_extension(self)

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        self.magics[name] = function

    def push(self, names: dict[str, Any]) -> None:
        self.names |= names


@pytest.mark.nightly
def test_nothing_that_was_run_is_an_answer_so_what_is_saved_is_judged(
    kata: Run, folder: Path, warm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.cli.learner.notebook import NotebookVerdict

    assert kata("start", "masks").code == 0
    shell = Shell("x = 1", "%kata check masks")
    monkeypatch.chdir(folder)
    verdict = shell.magics["kata"]("check masks -q")
    assert isinstance(verdict, NotebookVerdict)
    assert "No cell that you ran defines" in repr(verdict)
    assert verdict.reports[0].status == "not_started"


FILLED = "def causal_mask(seq_len, *, device=None):\n    return TABLE[seq_len]"
CELLS = [
    "from __future__ import annotations\nclass Box:\n    def twice(self) -> Box: ...",
    f"%%time\n{RIGHT}",
    "TABLE = {}\nfor n in range(9):\n    TABLE[n] = causal_mask(n)",
    FILLED,
    "from functools import partial\ndef own(dtype, *masks): return all(masks)\ncombine_masks = partial(own, None)",
    "%%writefile other.py\ndef padding_mask(): ...",
]


@pytest.mark.nightly
def test_what_is_saved_and_what_was_run_are_told_alike(
    kata: Run, folder: Path, warm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    made = [{"cell_type": "code", "source": cell} for cell in CELLS]
    (folder / "masks.ipynb").write_text(json.dumps({"cells": made, "nbformat": 4}))
    saved = kata("check", "masks.ipynb", "--json").json["katas"][0]
    live = Shell(*CELLS).magics["kata"]("check masks").reports[0]
    told = {check["id"]: check.get("message") for check in saved["checks"]}
    assert {check.id: check.message for check in live.checks} == told
    assert (live.status, live.score) == (saved["status"], saved["score"])
    lines = told["test_causal_shape"].splitlines()
    assert "  `causal_mask` is defined twice: cells 2 and 4; the last counts" in lines
    assert any(line.startswith("  cell 3, line 3 changes TABLE and was left out") for line in lines)


@pytest.mark.slow
def test_a_setting_is_named_and_stays_with_its_own_kata(kata: Run, folder: Path) -> None:
    here = ROOT / "solutions" / "9.3-encoder-vs-decoder" / "layer-norm" / "layer_norm.py"
    setting = "import torch\ntorch.set_default_dtype(torch.float64)"
    (folder / "layer_norm.py").write_text(here.read_text().replace("import torch", setting, 1))
    (folder / "masks.py").write_text(RIGHT)
    reports = {one["kata"]: one for one in kata("check", str(folder), "--json").json["katas"]}
    told = [one["message"] for one in reports["layer-norm"]["checks"] if one["status"] == "fail"]
    (line,) = [n for n, text in enumerate(here.read_text().splitlines(), 2) if text == "import torch"]
    assert any(f"line {line}, torch.set_default_dtype(torch.float64), holds for all" in text for text in told)
    assert reports["masks"]["status"] == "pass"


def test_a_magic_that_hides_the_answer_is_named_live() -> None:
    masks = Catalogue.discover().resolve_one("masks")
    assert should_judge_cells(masks, [f"%%capture\n{RIGHT}"])[0]
    chosen, told = should_judge_cells(masks, ["1", f"%%writefile masks.py\n{RIGHT}"])
    assert not chosen
    assert "cell 2 begins with %%writefile and was left out" in told


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("line", ["try", "try -k causal_values", "try test_causal_values"])
@pytest.mark.parametrize("before", ["kata start masks", "%kata check masks"])
def test_without_an_id_what_was_run_is_looked_at_too(
    kata: Run,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    line: str,
    before: str,
) -> None:
    shell = Shell(RIGHT, WRONG, f"%kata {line}")
    if before.startswith("%"):  # outside a workspace the latest verdict says which kata is meant
        monkeypatch.chdir(folder)
        assert not shell.magics["kata"]("check masks").passed
    else:
        assert kata("start", "masks").code == 0
    shell.magics["kata"](line)
    assert set(shell.names) == {"seq_len", "yours", "expected", "difference"}
    assert "Checked: the cells that you ran" in capfd.readouterr().out


@pytest.mark.nightly
def test_stdin_is_judged_as_if_it_were_saved(
    kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(text: str, *arguments: str) -> Any:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return kata("check", *arguments, "--stdin")

    assert given(RIGHT, "masks", "--json").json["katas"][0]["status"] == "pass"  # no workspace is needed
    assert kata("start", "9.3").code == 0
    ran = given(RIGHT, "masks", "--json").json["katas"][0]
    assert (ran["status"], Path(ran["file"]).name) == ("pass", "masks.py")
    assert given(RIGHT, "9.3").code == 2
    assert "is empty" in given(" ", "masks").text
    broken = given(RIGHT.replace("zeros(mask.shape", "zeros(mask.shap"), "masks").text
    assert "torch.zeros(mask.shap," in broken.split("AttributeError")[0]  # not the line of the file on disk


def failed(message: str) -> KataReport:
    return builders.row(checks=[builders.failed(message=message)]).report


def test_what_a_submission_says_is_text() -> None:
    page = markup.verdict_html([failed("called  f()\nraised  <script>alert('&')</script> \x1b]0;x\x07")])
    assert "<script" not in page
    assert "&lt;script" in page
    assert "\x1b" not in page
    ElementTree.fromstring(page)


def test_text_is_readable_on_white_and_on_near_black() -> None:
    for page, ink in (((255, 255, 255), (0, 0, 0)), ((17, 17, 17), (255, 255, 255))):
        for colour in markup.COLOURS:
            text = tuple(
                round(markup.PAGE * a + (1 - markup.PAGE) * b) for a, b in zip(ink, colour, strict=True)
            )
            assert contrast(text, page) >= 4.5, (colour, page)  # what WCAG 2 asks at level AA: of text
    told = re.findall(r"(?<![-\w])color:([^;\"]+)", markup.verdict_html([failed("called  f()")]))
    codes = ["#" + bytes(colour).hex() for colour in markup.COLOURS]
    assert set(told) <= {*codes, *(f"color-mix(in srgb,currentColor 30%,{code})" for code in codes)}
    assert told


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.slow
def test_what_a_terminal_says_stands_in_the_page_line_by_line() -> None:
    """Every message of a kata's catalogued mistakes, pictures among them, and every status."""
    masks = demo_class.known(Catalogue.discover().resolve_one("masks"))
    told = [text for found in masks.mistakes.values() for text in found.values()]
    reports = [*map(failed, told), *(every_status(status) for status in get_args(KataStatus))]
    text = markup.verdict_text(reports, verbose=True)
    page = ElementTree.fromstring(markup.verdict_html(reports, verbose=True))
    shown = "".join(page.itertext()).strip("\n")
    heads = [line for line in text.splitlines() if re.search(r"expected +yours$", line)]
    assert len(heads) > 10
    assert [line for line in shown.splitlines() if re.search(r"expected +yours$", line)] == heads
    assert shown.split() == text.split()  # the page breaks lines where it ends
    assert max(map(len, shown.splitlines())) > markup.WIDTH


def every_status(status: Any) -> KataReport:
    checks = [
        builders.check(
            f"{one} check",
            status=one,
            message=f"what is said of {one}",
            likely="a named mistake",
            output="printed\n",
        )
        for one in get_args(CheckStatus)
    ]
    said = {"message": f"why it is {status}", "output": "printed while it loads\n", "todo": ["causal_mask"]}
    return builders.row(status=status, checks=checks, **said).report


def luminance(colour: tuple[int, int, int]) -> float:
    parts = [(c / 255 / 12.92) if c / 255 <= 0.03928 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.slow
def test_what_a_pass_leads_to_is_said_before_the_document(stub: Path, folder: Path) -> None:
    """A notebook reads the remarks as soon as it has the document."""
    stub.write_text(RIGHT)
    cells = notebook.as_notebook([RIGHT])
    command = [str(KATA), "check", "masks", "--json", "--cells"]
    told = subprocess.run(
        command, cwd=folder, input=cells, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    ).stdout.decode()
    remarks, document = told.split('{"', 1)
    assert "Is it fast, too?  kata check masks --perf" in remarks
    assert "See it at work:  kata demo masks" in remarks
    assert "Next:  kata start masked-attention" in remarks
    assert re.search(r"1 of \d+ katas, 10 of [\d.]+ points", remarks)
    assert document.rstrip().endswith("}")
