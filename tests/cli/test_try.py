"""`kata try` and `--pdb`: the failing call at hand, in the learner's own process, without an answer in it."""

from __future__ import annotations

import io
import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from grader.engine.runner.failure_context import FailureContext, talk
from grader.engine.runner.outcome import Outcome
from tests import ours
from tests.authors.courses import write_course
from tests.conftest import KATA, Run, completed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_warm")]
SOLUTIONS = Path(__file__).parents[2] / "solutions" / "9.3-encoder-vs-decoder"
WRONG = ours.masks("ones = torch.ones(seq_len, seq_len, device=device)\n    return ones.tril(1).bool()")
NORM = """
import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        middle = x.mean(-1, keepdim=True)
        spread = x.std(-1, keepdim=True)
        return (x - middle) / (spread + self.eps) * self.weight + self.bias
"""


@pytest.fixture
def unit(kata: Run, folder: Path) -> Path:
    """The folder of a unit with two katas that were just started."""
    assert kata("start", "masks").code == kata("start", "layer-norm").code == 0
    return folder / "9.3-encoder-vs-decoder"


def typed(folder: Path, arguments: list[str], lines: list[str]) -> str:
    """Run a command, type lines into it, and return what it printed; it must have ended well or with a failed check."""
    done = subprocess.run(
        [KATA, *arguments], cwd=folder, input="".join(f"{line}\n" for line in lines), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize(
    "arguments", [[], ["test_causal_values"], ["masks", "-k", "test_causal_values"]], ids=str
)
def test_inputs_yours_expected_and_the_difference_have_their_names(unit: Path, arguments: list[str]) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    progress = (unit.parent / "kata-progress.json").read_bytes()
    text = typed(
        unit.parent,
        ["try", *arguments],
        [
            "print('inputs', seq_len, 'same', yours is mask)",
            "print('wrong', int(difference.sum()), bool((yours != expected).equal(difference)))",
            "print('again', causal_mask(seq_len).equal(yours))",
        ],
    )
    assert "each query sees itself and the keys before it, nothing later" in text
    assert "first difference  mask[query 0, key 1]" in text
    assert "  likely  your causal mask" in text, "as check says it"
    for said in ("inputs 4 same True", "wrong 3 True", "again True"):
        assert said in text
    assert (unit.parent / "kata-progress.json").read_bytes() == progress


@pytest.mark.parametrize("arguments", [["try", "masks"], ["check", "masks", "--pdb"]], ids=str)
def test_it_may_be_typed_in_any_folder_and_writes_to_none(unit: Path, arguments: list[str]) -> None:
    (unit / "masks" / "masks.py").write_text(
        WRONG + "\nopen('answers.md').read()\nopen('made.txt', 'w').close()\n"
    )
    (unit / "layer-norm" / "answers.md").write_text("My answers.")
    before = {path: path.read_bytes() for path in unit.parent.rglob("*") if path.is_file()}
    text = typed(unit / "layer-norm", arguments, ["q"] if "--pdb" in arguments else [])
    assert "causal_mask" in text
    after = {path: path.read_bytes() for path in unit.parent.rglob("*") if path.is_file()}
    assert {path.name for path in after if before.get(path) != after[path]} <= {"kata-progress.json"}
    assert before.keys() == after.keys()


@pytest.mark.nightly
def test_of_a_module_the_instance_and_its_input_are_there(unit: Path) -> None:
    (unit / "layer-norm" / "layer_norm.py").write_text(NORM)
    text = typed(
        unit.parent,
        ["try", "layer-norm", "-k", "values"],
        ["print('same', module(x).equal(yours), tuple(expected.shape) == tuple(x.shape))"],
    )
    assert "called  LayerNorm(" in text
    assert "same True True" in text


@pytest.mark.nightly
def test_no_answer_is_in_the_process(unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    text = typed(
        unit.parent,
        ["try"],
        [
            "import sys, gc",
            "files = [getattr(m, '__file__', None) or '' for m in sys.modules.values()]",
            "print('modules', [f for f in files if 'solutions' in f or 'hidden_checks' in f])",
            "codes = [f.__code__.co_filename for f in gc.get_objects() if type(f) is type(lambda: 0)]",
            "print('functions', [c for c in codes if '/solutions/' in c or 'hidden_checks' in c])",
        ],
    )
    assert "modules []" in text
    assert "functions []" in text


@pytest.mark.nightly
def test_pdb_stops_where_the_wrong_value_was_returned(unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    for arguments in (["check", "masks", "--pdb"], ["try", "--pdb"]):
        text = typed(
            unit.parent, arguments, ["p 'mine', ones.shape, seq_len", "p 'diff', int(difference.sum())", "q"]
        )
        assert "-> return ones.tril(1).bool()" in text
        assert "('mine', torch.Size([4, 4]), 4)" in text
        assert "('diff', 3)" in text
    (unit / "layer-norm" / "layer_norm.py").write_text(NORM)
    text = typed(
        unit.parent, ["check", "layer-norm", "--pdb", "-k", "values"], ["p 'mine', spread.shape", "q"]
    )
    assert "forward()\n-> return (x - middle)" in text
    assert "('mine', torch.Size(" in text


@pytest.mark.nightly
def test_quitting_the_debugger_ends_its_stops_and_the_check_goes_on(unit: Path) -> None:
    wrong = "\n\ndef bidirectional_mask(seq_len, *, device=None):\n    return torch.zeros(seq_len, seq_len).bool()\n"
    (unit / "masks" / "masks.py").write_text(WRONG + wrong)
    text = typed(unit.parent, ["check", "masks", "--pdb"], ["q"])
    assert text.count("(Pdb)") == 1
    assert "FAIL 9.3.1" in text


def test_pdb_shows_the_line_of_a_notebooks_cell(kata: Run, folder: Path) -> None:
    import nbformat

    assert kata("start", "masks", "--notebook").code == 0
    file = folder / "9.3-encoder-vs-decoder" / "masks" / "masks.ipynb"
    book = nbformat.read(file, as_version=4)
    book.cells.insert(-1, nbformat.v4.new_code_cell(WRONG))
    nbformat.write(book, file)
    text = typed(folder, ["try", "masks", "-k", "test_causal_values", "--pdb"], ["q"])
    assert "masks.ipynb, cell " in text
    assert "-> return ones.tril(1).bool()" in text


@pytest.mark.nightly
def test_what_raised_is_there_and_pdb_stops_at_its_line(unit: Path) -> None:
    broken = WRONG.replace("return ones.tril(1).bool()", "return ones @ torch.ones(99)")
    (unit / "masks" / "masks.py").write_text(broken)
    text = typed(unit.parent, ["try"], ["print('it', type(error).__name__, seq_len)"])
    assert "it RuntimeError 6" in text
    text = typed(unit.parent, ["try", "--pdb"], ["p 'here', ones.shape", "q"])
    assert "-> return ones @ torch.ones(99)" in text
    assert "('here', torch.Size([6, 6]))" in text


@pytest.mark.nightly
def test_a_breakpoint_without_a_debugger_says_what_to_type(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG.replace("    ones =", "    breakpoint()\n    ones ="))
    text = kata("check", "masks").text
    assert "kata check --pdb -k test_causal_shape\n" in text  # with the check's own name
    text = typed(
        unit.parent, ["check", "masks", "--pdb", "-k", "test_causal_values"], ["p 'there', seq_len", "c"] * 9
    )
    assert "('there', 4)" in text


@pytest.mark.nightly
def test_where_nothing_is_wrong_there_is_nothing_to_look_at(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(ours.MASKS)
    ran = kata("try", "masks").done()
    assert "Nothing is wrong" in ran.out
    ran = kata("try", "layer-norm")
    assert ran.code == 1
    assert "Nothing is written yet" in ran.out
    kata("try", "test_no_such_check").refused("No check matches 'test_no_such_check'")


def test_a_failure_says_how_to_look_at_it(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    assert "look    kata try masks -k test_causal_values" in kata("check", "masks").out


@pytest.mark.nightly
def test_what_is_raised_in_the_repl_has_nothing_to_do_with_the_check(unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    done = completed([KATA, "try", "masks"], cwd=unit.parent, input="nope\n")
    assert "NameError: name 'nope' is not defined" in done.stderr
    assert "During handling" not in done.stderr
    assert "plugin.py" not in done.stderr


@pytest.fixture
def hurried(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reference of a kata whose checks may take half a second, as a learner's file."""
    course = write_course(folder / "course")
    settings = next(course.glob("katas/*/weighted-mean/kata.toml"))
    limits = re.sub(r"(?m)^check_timeout_s.*\n", "", settings.read_text())
    settings.write_text(limits.replace("[limits]\n", "[limits]\ncheck_timeout_s = 0.5\n"))
    monkeypatch.setenv("KATA_PACKS", str(course / "katas"))
    answer = folder / "weighted_mean.py"
    answer.write_text(next(course.glob("solutions/*/weighted-mean/weighted_mean.py")).read_text())
    return answer


@pytest.mark.nightly
def test_a_call_that_never_ends_is_broken_off_and_at_hand(hurried: Path) -> None:
    # An `except` of the learner's does not keep it going.
    hurried.write_text(
        "def weighted_mean(x, weights):\n"
        "    try:\n        while True: pass\n    except Exception: pass\n"
        "    while True: pass\n"
    )
    text = typed(
        hurried.parent, ["try", str(hurried), "--trust"], ["print('input', x.shape == weights.shape)"]
    )
    assert "called  weighted_mean(x, weights)" in text
    assert "is there a loop that never ends?" in text
    assert "input True" in text


def test_a_file_that_never_loads_says_so(hurried: Path) -> None:
    hurried.write_text("while True: pass\n")
    assert "did not finish loading within" in typed(hurried.parent, ["try", str(hurried), "--trust"], [])


def test_a_debugger_has_all_the_time(hurried: Path) -> None:
    source = hurried.read_text()
    body = source.index("    ", source.index("def weighted_mean"))
    hurried.write_text(source[:body] + "    breakpoint()\n" + source[body:])
    text = typed(
        hurried.parent,
        ["try", str(hurried), "--trust"],
        ["import time; time.sleep(1)", "p 'went', 'on'", "q"],
    )
    assert "('went', 'on')" in text
    assert "no answer within" not in text


@pytest.mark.nightly
def test_ctrl_c_says_which_call_it_broke_off(unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(
        ours.MASKS + "\n\ndef bidirectional_mask(seq_len, *, device=None):\n    while True: pass\n"
    )
    with subprocess.Popen(
        [KATA, "try", "masks"], cwd=unit.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        assert "masks" in running.stderr.readline()
        time.sleep(3)  # until the call has begun
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130
    line = len((unit / "masks" / "masks.py").read_text().splitlines())
    assert f"interrupted in bidirectional_mask, at line {line} of masks.py" in said
    assert "Traceback" not in said


def test_a_long_name_does_not_run_into_its_value(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(prompt: str = "") -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", leave)
    told = {"lr": 0.1, "weight_decay": 0.5, "normalized_shape": 3}
    talk(FailureContext("t", Outcome("fail", ["m"]), told, {}, None))
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.split() and line.split()[0] in told]
    assert [line.split()[1:] for line in shown] == [["0.1"], ["0.5"], ["3"]]
    assert len({len(line) - len(line.split()[1]) for line in shown}) == 1


MARKS = "from pathlib import Path\nPath({mark!r}).touch()\n"


@pytest.mark.parametrize("words", [["try"], ["check", "--pdb"], ["try", "--pdb"]], ids=" ".join)
@pytest.mark.parametrize("way", ["elsewhere", "up and down", "another workspace"])
def test_a_strangers_file_does_not_run_in_this_process_unasked(
    kata: Run, unit: Path, tmp_path: Path, words: list[str], way: str
) -> None:
    mark, stranger = tmp_path / "mark", tmp_path / "stranger"
    stranger.mkdir()
    file = stranger / "masks.py"
    file.write_text(MARKS.format(mark=str(mark)))
    if way == "another workspace":
        (stranger / "kata-progress.json").write_text("{}")
    where = Path("..", "stranger", "masks.py") if way == "up and down" else file
    ran = kata(words[0], where, *words[1:])
    assert ran.code == 2
    assert "not in your workspace" in " ".join(ran.err.split())
    assert "--trust" in ran.err
    assert not mark.exists()


def test_who_agrees_has_it_run(unit: Path, tmp_path: Path) -> None:
    file = tmp_path / "masks.py"
    file.write_text(WRONG)
    text = typed(unit.parent, ["try", str(file), "--trust"], ["print('it', type(seq_len).__name__)"])
    assert "it int" in text


@pytest.fixture
def clone(kata: Run, unit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a workspace that was not begun at its place; it leaves a mark where it runs unconfined."""
    shutil.copytree(unit.parent, tmp_path / "clone")
    file = tmp_path / "clone" / unit.name / "masks" / "masks.py"
    mark = f"try:\n    open({str(tmp_path / 'mark')!r}, 'w')\nexcept OSError:\n    pass\n"
    file.write_text(mark + WRONG.replace("from __future__ import annotations", ""))
    monkeypatch.chdir(tmp_path / "clone")
    return file


@pytest.mark.parametrize("words", [["try"], ["check", "--pdb"], ["try", "--pdb"]], ids=" ".join)
def test_a_workspace_that_was_not_begun_here_is_asked_about(
    kata: Run, clone: Path, tmp_path: Path, words: list[str]
) -> None:
    ran = kata(*words)
    assert ran.code == 2
    assert f"{tmp_path / 'clone'} was not begun here" in " ".join(ran.err.split())
    assert "say so: --trust" in ran.err
    assert not (tmp_path / "mark").exists()


def test_to_start_another_kata_in_it_does_not_make_it_ones_own(kata: Run, clone: Path) -> None:
    (clone.parents[2] / "kata-progress.json").unlink()
    assert kata("start", "feed-forward").code == 0
    assert kata("try", "masks").code == 2


def test_what_the_check_saw_is_printed_of_any_workspace(kata: Run, clone: Path, tmp_path: Path) -> None:
    ran = kata("try", "masks", "-k", "test_causal_values", "--json").done()
    values = json.loads(ran.out)["failure"]["values"]
    assert values.keys() == {"seq_len", "yours", "expected", "difference"}
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("answer", ["y", "n"])
def test_it_is_asked_once(
    kata: Run, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    terminal = io.StringIO(f"{answer}\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert kata("try", "masks").code == (0 if answer == "y" else 2)
    assert (tmp_path / "mark").exists() is (answer == "y")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert kata("try", "masks").code == (0 if answer == "y" else 2)


def test_who_trusts_it_is_asked_no_more_until_it_is_moved(
    kata: Run, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert kata("try", "masks", "--trust").code == 0
    assert kata("try", "masks").code == 0
    (tmp_path / "clone").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    assert kata("try", "masks").code == 2


def test_where_notes_cannot_be_kept_it_is_asked_each_time(
    kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.chdir(tmp_path / "here")
    assert kata("start", "masks").code == 0
    assert kata("try", "masks").code == 2


@pytest.mark.parametrize("command", [["demo", "masks"], ["run", "encoder-layer"]], ids=" ".join)
def test_where_nothing_confines_workers_a_demo_asks_as_well(
    kata: Run, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    progress = clone.parents[2] / "kata-progress.json"
    done = json.loads(progress.read_text())
    done["katas"]["masks"]["status"] = "pass"
    progress.write_text(json.dumps(done))
    monkeypatch.setenv("KATA_ISOLATION", "process")
    ran = kata(*command)
    assert ran.code == 2
    assert "was not begun here" in " ".join(ran.err.split())
    assert not (tmp_path / "mark").exists()
