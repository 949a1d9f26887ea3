"""Whatever a folder or a file holds: a message that helps, the right status and exit code, and nothing lost."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from tests import ours
from tests.conftest import Run


def check(kata: Run, *arguments: str) -> tuple[dict[str, Any], str]:
    """Check twice, for a person and as JSON; return the report and the text, whose codes must agree."""
    told = kata("check", "masks", *arguments)
    data = kata("check", "masks", "--json", *arguments)
    assert data.err == ""
    report: dict[str, Any] = data.json["katas"][0]
    assert told.code == data.code == (0 if report["status"] == "pass" else 1)
    return report, told.text


# --- where ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("7.9", "7.9"),
        ("maskss", "Did you mean"),
        ("masked-atention", "masked-attention"),
        ("nothing/here.py", "no such file or folder"),
    ],
)
def test_an_unknown_kata_or_path(kata: Run, stub: Path, what: str, words: str) -> None:
    kata("check", what).refused(words)


def test_a_folder_that_is_no_workspace(kata: Run, folder: Path) -> None:
    for arguments in ((), ("masks",), ("--json",)):
        kata("check", *arguments).refused("not in a kata workspace", "kata start")


def test_a_folder_that_is_gone(kata: Run, folder: Path) -> None:
    folder.rmdir()
    kata("check").refused("no longer exists")


def test_a_file_of_no_kata(kata: Run, folder: Path) -> None:
    (folder / "mask.py").write_text("x = 1\n")
    kata("check", "mask.py").refused("Did you mean masks.py")


# --- the file ---


def test_a_deleted_stub_is_missing(kata: Run, stub: Path) -> None:
    stub.unlink()
    report, text = check(kata)
    assert report["status"] == "missing"
    assert "masks.py is not there" in text
    assert "kata start masks" in text
    assert kata("start", "masks").code == 0
    assert stub.exists()


def test_a_renamed_stub_is_missing(kata: Run, stub: Path) -> None:
    other = stub.rename(stub.with_name("my_masks.py"))
    report, text = check(kata)
    assert report["status"] == "missing"
    assert "my_masks.py" in text  # the likely reason lies beside
    assert other.exists()


def test_a_stub_that_is_a_folder(kata: Run, stub: Path) -> None:
    stub.unlink()
    stub.mkdir()
    (stub / "kept").write_text("x")
    report, text = check(kata)
    assert report["status"] == "error"
    assert "masks.py is a folder" in text
    assert (stub / "kept").exists()


def test_a_stub_that_is_a_pipe_does_not_hang(kata: Run, stub: Path) -> None:
    stub.unlink()
    os.mkfifo(stub)
    report, text = check(kata)
    assert report["status"] == "error"
    assert "not a regular file" in text


def test_a_stub_that_is_a_broken_link(kata: Run, stub: Path) -> None:
    stub.unlink()
    stub.symlink_to("nowhere.py")
    report, text = check(kata)
    assert report["status"] == "missing"
    assert "masks.py" in text


def without_powers() -> None:
    """Let root, too, be refused what a file's mode forbids: drop CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""
    libc = ctypes.CDLL(None)
    for power in (1, 2):
        libc.prctl(24, power, 0, 0, 0)


@pytest.mark.nightly
def test_a_stub_that_may_not_be_read(kata_process: Run, folder: Path) -> None:
    assert kata_process("start", "masks", cwd=folder).code == 0
    stub = folder / "9.3-encoder-vs-decoder" / "masks" / "masks.py"
    stub.chmod(0)
    ran = kata_process("check", "masks", "--json", cwd=folder, preexec_fn=without_powers)
    assert (ran.code, ran.err) == (1, "")
    assert ran.json["katas"][0]["status"] == "error"
    assert "masks.py cannot be read: permission denied" in ran.json["katas"][0]["message"]
    assert stat.S_IMODE(stub.stat().st_mode) == 0


CONTENTS: dict[str, tuple[bytes, str, list[str]]] = {
    "empty": (b"", "error", ["masks.py is empty"]),
    "blank": (b"\n  \n", "error", ["masks.py is empty"]),
    "only a comment": (b"# soon\n", "fail", ["no `bidirectional_mask`"]),
    "5 MB": (b"# " + b"x" * (5 << 20), "error", ["5.0 MB", "at most 2 MB"]),
    "not UTF-8": (
        b"a = 1\nname = '\xe4'\n",
        "error",
        ["masks.py is not UTF-8", "line 2", "save it as UTF-8"],
    ),
    "UTF-16": ("x = 1\n".encode("utf-16"), "error", ["masks.py is saved as UTF-16"]),
    "an export": (b"import torch\n!ls\n", "error", ["line 2", "was exported from a notebook"]),
    "NUL bytes": (b"a = 1\nb\0 = 2\n", "error", ["NUL bytes", "line 2"]),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "error", ["is a picture"]),
    "a syntax error": (
        b"import torch\n\ndef causal_mask(seq_len):\n    return torch.ones(seq_len, seq_len).tril((\n",
        "error",
        ["masks.py does not load", "masks.py, line 4", "was never closed", "    ^"],
    ),
    "a missing colon": (
        b"def causal_mask(n)\n    pass\n",
        "error",
        ["line 1", "expected ':'", "def causal_mask(n)"],
    ),
    "mixed tabs": (b"def f():\n\tif 1:\n        pass\n", "error", ["line 3", "TabError"]),
    "a module that does not exist": (
        b"import torch\nimport torchh\n",
        "error",
        ["masks.py, line 2", "import torchh", "No module named 'torchh'"],
    ),
    "an exception": (
        b"import torch\nx = torch.ones(2) @ torch.ones(3)\n",
        "error",
        ["line 2", "RuntimeError"],
    ),
    "sys.exit": (b"import sys\nsys.exit(0)\n", "error", ["line 2", "SystemExit", "leave them out"]),
    "os._exit": (b"import os\nos._exit(0)\n", "error", ["while it was imported", "exit code 0"]),
    "a crash": (
        b"import ctypes\nctypes.string_at(0)\n",
        "error",
        ["while it was imported", "segmentation fault"],
    ),
    "recursion": (b"def f():\n    return f()\nf()\n", "error", ["RecursionError", "line 2"]),
    "a loop": (b"while True:\n    pass\n", "timeout", ["did not finish loading within 0.4 s"]),
    "a loop that catches all": (
        b"while True:\n    try:\n        while True: pass\n    except BaseException: pass\n",
        "timeout",
        ["did not finish loading"],
    ),
    "input": (b"name = input('who? ')\n", "error", ["line 1", "EOF", "nobody is here to answer"]),
}


@pytest.mark.sampled(5)
@pytest.mark.slow
@pytest.mark.parametrize(("content", "status", "words"), CONTENTS.values(), ids=CONTENTS)
def test_a_file_that_does_not_load(
    kata: Run, stub: Path, content: bytes, status: str, words: list[str]
) -> None:
    stub.write_bytes(content)
    report, text = check(kata, *(("--timeout", "0.4") if status == "timeout" else ()))
    assert report["status"] == status
    assert report["score"] == 0
    assert report["max_score"] == 10
    for word in words:
        assert word in text
    assert stub.read_bytes() == content


def test_the_caret_stands_under_the_mistake(kata: Run, stub: Path) -> None:
    stub.write_text("def f():\n        return 1 +* 2\n")
    _, text = check(kata)
    lines = text.splitlines()
    place = next(index for index, line in enumerate(lines) if "return 1 +* 2" in line)
    assert lines[place].index("*") == lines[place + 1].index("^")


# --- what it does when it is called ---

BODIES: dict[str, tuple[str, str, list[str]]] = {
    "missing": ("pass\ndel causal_mask", "fail", ["masks.py has no `causal_mask`"]),
    "no longer written": ("raise NotImplementedError", "todo", ["not written yet", "masks.py, line"]),
    "a wrong signature": (
        "pass\ndef causal_mask():\n    pass",
        "error",
        ["TypeError", "causal_mask(seq_len="],
    ),
    "None": ("return None", "fail", ["None", "want a tensor"]),
    "a list": ("return [[True] * seq_len] * seq_len", "fail", ["list"]),
    "an array": (
        "import numpy; return numpy.tril(numpy.ones((seq_len, seq_len), bool))",
        "fail",
        ["numpy.ndarray"],
    ),
    "a wrong shape": (
        "return torch.ones(seq_len, seq_len + 1, dtype=torch.bool)",
        "fail",
        ["wrong shape", "got [6, 7]", "want [query 6, key 6]"],
    ),
    "a wrong dtype": ("return torch.ones(seq_len, seq_len).tril()", "fail", ["float32", "bool"]),
    "a tensor subclass": (
        "return torch.ones(seq_len, seq_len).tril().bool().as_subclass(type('Mine', (torch.Tensor,), {}))",
        "pass",  # its values are what counts
        [],
    ),
    "a billion elements": ("return torch.zeros(1).expand(10**9)", "fail", ["1000000000", "MB"]),
    "a sparse tensor": ("return torch.eye(seq_len).to_sparse()", "fail", ["sparse", "dense"]),
    "an exception": (
        "return torch.ones(2) @ torch.ones(seq_len)",
        "error",
        ["RuntimeError", "line", "in causal_mask"],
    ),
    "sys.exit": ("import sys; sys.exit(1)", "error", ["SystemExit"]),
    "os._exit": ("import os; os._exit(0)", "error", ["causal_mask(seq_len=6)", "exit code 0"]),
    "a crash": (
        "import ctypes; ctypes.string_at(0)",
        "error",
        ["causal_mask(seq_len=6)", "segmentation fault"],
    ),
    "an abort": ("import os; os.abort()", "error", ["abort"]),
    "recursion": ("return causal_mask(seq_len)", "error", ["RecursionError"]),
    "a loop": (
        "while True: pass",
        "timeout",
        ["in causal_mask", "while True: pass", "no answer within 0.4 s"],
    ),
    "a loop that catches all": (
        "\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
        "timeout",
        ["no answer within 0.4 s"],
    ),
    "all the memory": (
        "return torch.ones(10**9)",
        "error",
        ["causal_mask(seq_len=6)", "it asked for more than 2048 MB of memory"],
    ),
    "a bomb of text": (
        "print('x' * 10**6); raise ValueError('m' * 10**6)",
        "error",
        ["ValueError", "more bytes"],
    ),
    "escape sequences": ("raise ValueError('\\x1b[2J\\x1b]0;owned\\x07')", "error", ["ValueError"]),
}


@pytest.mark.sampled(8)
@pytest.mark.slow
@pytest.mark.parametrize(("body", "status", "words"), BODIES.values(), ids=BODIES)
def test_a_call_that_goes_wrong(kata: Run, stub: Path, body: str, status: str, words: list[str]) -> None:
    stub.write_text(source := ours.masks(body))
    timeout = ("--timeout", "0.4") if status == "timeout" else ()
    report, text = check(kata, "-k", "test_causal_shape", *timeout)
    (only,) = report["checks"]
    assert only["status"] == status
    said = " ".join(text.split())
    for word in words:
        assert word in said
    assert "\x1b" not in text
    assert "\x07" not in text
    assert max(map(len, text.splitlines())) < 300
    assert stub.read_text() == source


@pytest.mark.slow
def test_one_bad_function_costs_only_its_own_checks(kata: Run, stub: Path) -> None:
    stub.write_text(ours.masks("import os; os._exit(3)"))
    report, text = check(kata)
    assert report["status"] == "fail"
    assert 0 < report["score"] < report["max_score"]
    assert "exit code 3" in text


@pytest.mark.slow
def test_not_a_number_is_told_before_values(kata: Run, stub: Path) -> None:
    stub.write_text(
        ours.MASKS
        + "\n\ndef additive_mask(mask, dtype=torch.float32):\n    return torch.zeros(mask.shape) / 0\n"
    )
    report, text = check(kata, "-k", "test_additive_values")
    assert report["checks"][0]["status"] == "fail"
    assert "NaN" in text


@pytest.mark.nightly
def test_two_hundred_megabytes_of_prints(kata: Run, stub: Path) -> None:
    flood = "\n    for _ in range(200):\n        print('y' * 999_999)\n    return torch.ones(seq_len, seq_len).tril()"
    stub.write_text(ours.masks(flood))
    report, text = check(kata, "-k", "test_causal_shape")
    (only,) = report["checks"]
    assert only["status"] == "fail"
    assert len(only["output"]) < 20_000
    assert re.search(r"1\d\d,\d{3},\d{3} more bytes", text)
    assert len(text) < 10_000


@pytest.mark.slow
def test_everything_that_dies_is_an_error(kata: Run, stub: Path) -> None:
    names = ("bidirectional_mask", "causal_mask", "padding_mask", "combine_masks", "additive_mask")
    stub.write_text("import os\n" + "".join(f"def {name}(*a, **k): os._exit(1)\n" for name in names))
    assert check(kata)[0]["status"] == "error"


# --- the disk ---


@pytest.mark.slow
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_loses_nothing(
    kata: Run, stub: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    stub.write_text(ours.MASKS)
    progress = folder / "kata-progress.json"
    before = progress.read_bytes()

    def refuse(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        told = kata("check", "masks")
        data = kata("check", "masks", "--json")
    assert (told.code, data.code) == (3, 3)
    assert "10/10 points" in told.out  # the verdict is out before anything is saved
    assert data.json["katas"][0]["status"] == "pass"
    assert "No space left on device" in told.text
    assert progress.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        "9.3-encoder-vs-decoder",
        "AGENTS.md",
        "contract.md",
        "kata-progress.json",
    ]
    assert kata("check", "masks").code == 0
    assert json.loads(progress.read_text())["katas"]["masks"]["status"] == "pass"


def test_no_room_for_a_worker_is_our_fault(kata: Run, stub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    ran = kata("check", "masks")
    assert ran.code == 3
    assert "No worker could be started" in ran.text


# --- the same in a process of its own ---


def test_a_file_beside_answers_or_marks_is_not_run(kata: Run, folder: Path) -> None:
    (folder / "masks.py").write_text("print(open('gradebook.sqlite').read())\n")
    (folder / "gradebook.sqlite").touch()
    kata("check", "masks.py").refused("may read all of its folder")
    (folder / "mine").mkdir()
    (folder / "masks.py").rename(folder / "mine" / "masks.py")
    assert kata("check", "mine/masks.py").code == 1


@pytest.mark.slow
def test_of_what_python_warns_nothing_is_said_in_the_terminal(kata_process: Run, stub: Path) -> None:
    stub.write_text(ours.MASKS + "\n\ndef warned(x):\n" + "    x is 1\n" * 200)
    ran = kata_process("check", "masks", cwd=stub.parent).done()
    assert len(ran.err.splitlines()) < 20
