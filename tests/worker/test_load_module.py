"""A submission loads as Python would load it."""

from __future__ import annotations

import gzip
import os
import py_compile
from pathlib import Path
from typing import Any

import pytest

from grader.engine.checks.raised import describe_raised
from grader.engine.host.errors import SubmissionRaised, WorkerDied, WorkerTimeout
from grader.engine.host.source import Unreadable, source_of
from grader.engine.worker import loader


def test_it_is_a_registered_module_and_not_main(examine: Any) -> None:
    answer = examine("""
        import sys
        name, file, package = __name__, __file__, __package__
        registered = sys.modules[__name__].__dict__ is globals()
        main = False
        if __name__ == "__main__":
            main = True
        def bare():
            return sys.modules["answer"].__dict__ is globals()
    """).submission
    assert answer.name == "submission.answer"
    assert answer.file.endswith("answer.py")
    assert answer.package == "submission"
    assert answer.registered
    assert not answer.main
    assert answer.bare()


def test_dataclasses_enums_pickles_and_annotations_work(examine: Any) -> None:
    answer = examine("""
        from __future__ import annotations
        import enum, pickle, typing
        from dataclasses import dataclass, field

        @dataclass
        class Config:
            width: int = 3
            names: list[str] = field(default_factory=list)

        class Kind(enum.Enum):
            A = 1

        class Pair(typing.NamedTuple):
            x: int
            y: Config

        def again():
            return pickle.loads(pickle.dumps(Config(5))).width

        def hints():
            return str(typing.get_type_hints(Pair)["y"].__name__)
    """).submission
    assert answer.Config(4).width == 4
    assert answer.again() == 5
    assert answer.hints() == "Config"
    assert answer.Kind.A.value == 1


@pytest.mark.parametrize(
    "line",
    [
        "from .helper import f",
        "from helper import f",
        "import helper; f = helper.f",
        "from . import helper; f = helper.f",
    ],
)
def test_a_helper_beside_it_is_found(examine: Any, tmp_path: Path, line: str) -> None:
    (tmp_path / "helper.py").write_text("def f():\n    return 'helped'\n")
    assert examine(f"{line}\n").submission.f() == "helped"


def test_a_package_and_data_beside_it_are_found(examine: Any, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("from .inner import VALUE\n")
    (tmp_path / "parts" / "inner.py").write_text("VALUE = 7\n")
    (tmp_path / "words.txt").write_text("a b c")
    answer = examine("""
        from pathlib import Path
        from parts import VALUE
        WORDS = (Path(__file__).parent / "words.txt").read_text().split()
    """).submission
    assert answer.VALUE == 7
    assert answer.WORDS == ["a", "b", "c"]


def test_what_is_given_comes_before_what_lies_beside(examine: Any, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "blocks.py").write_text("ORIGIN = 'given'\n")
    (tmp_path / "blocks.py").write_text("ORIGIN = 'learner'\n")
    assert examine("from blocks import ORIGIN\n", given=given).submission.ORIGIN == "given"


@pytest.mark.parametrize(
    "source",
    [
        "\ufeffTEXT = 'ünï'\n".encode(),
        "# -*- coding: latin-1 -*-\nTEXT = 'ünï'\n".encode("latin-1"),
        "#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nTEXT = 'ünï'\n".encode("cp1252"),
        "TEXT = 'ünï'\r\n".encode(),
        "TEXT = 'ünï'\r".encode(),
        "TEXT = 'ünï'".encode(),
    ],
    ids=[
        "byte order mark",
        "latin-1",
        "cp1252",
        "carriage returns and newlines",
        "carriage returns",
        "no last newline",
    ],
)
def test_encodings_and_line_ends(examine: Any, source: bytes) -> None:
    assert examine(source).submission.TEXT == "ünï"


@pytest.mark.slow
def test_a_window_to_draw_in_is_no_obstacle(examine: Any) -> None:
    pytest.importorskip("matplotlib")
    text = "import matplotlib.pyplot as plt\ndef f(x):\n    plt.plot([x])\n    plt.show()\n    return x\n"
    opened = examine(text)
    assert (opened.submission.f(3), opened.output()) == (3, "")


@pytest.mark.parametrize("name", ["torch.py", "numpy.py", "random.py", "abc.py", "helper.py"])
def test_a_file_beside_it_with_a_library_s_name_harms_nobody(examine: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("raise RuntimeError('the wrong file')\n")
    answer = examine("import torch, numpy, random, abc\ndef f():\n    return torch.ones(2)\n").submission
    assert answer.f().tolist() == [1, 1]


def test_nothing_is_written_beside_it(examine: Any, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("x = 1\n")
    examine("from .helper import x\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answer.py", "helper.py"]


@pytest.mark.parametrize("name", ["helper.py", "parts/__init__.py"])
def test_what_python_compiled_of_a_former_content_is_not_read(
    examine: Any, tmp_path: Path, name: str
) -> None:
    """Python goes by size and whole seconds: an edit of one letter within the second keeps both."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    for content in ("x = 1\n", "x = 2\n"):
        file.write_text(content)
        os.utime(file, (1_700_000_000, 1_700_000_000))
        if content == "x = 1\n":
            py_compile.compile(str(file))
    before = sorted(tmp_path.rglob("*.pyc"))
    assert len(before) == 1
    what = name.partition(".")[0].partition("/")[0]
    assert examine(f"from {what} import x\n").submission.x == 2
    assert sorted(tmp_path.rglob("*.pyc")) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "type_name", "line"),
    [
        ("x = 1\nx = = 2\n", "SyntaxError", 2),
        ("def f(:\n    pass\n", "SyntaxError", 1),
        ("if True:\nx = 1\n", "IndentationError", 2),
        ("def f():\n\tif 1:\n        x = 1\n", "TabError", 3),
        ("x = 'never closed\n", "SyntaxError", 1),
        ("import no_such_module\n", "ModuleNotFoundError", 1),
        ("from torch import no_such_name\n", "ImportError", 1),
        ("\n\nraise ValueError('at import')\n", "ValueError", 3),
        ("def f(): return f()\nf()\n", "RecursionError", 1),
        ("import sys\nsys.exit(0)\n", "SystemExit", 2),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt", 1),
        ("from __future__ import braces\n", "SyntaxError", 1),
    ],
)
def test_what_fails_while_loading_is_told_with_its_line(
    examine: Any, source: str, type_name: str, line: int
) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        examine(source)
    assert caught.value.type_name == type_name
    assert caught.value.frames[-1].line == line
    assert caught.value.frames[-1].file == "answer.py"


def test_a_syntax_error_points_at_its_place(examine: Any) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        examine("class A:\n    def f(self):\n        return 1 +* 2\n")
    frame = caught.value.frames[0]
    assert frame.text == "return 1 +* 2"
    assert frame.text[frame.column - 1] == "*"


PYTHON = "import torch\n\ndef f(x):\n    return x\n"
MERGED = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n"
BOOK = '{\n "cells": [], "nbformat": 4, "x": null\n}'
TAR = b"f.py".ljust(257, b"\0") + b"ustar\x0000"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"
OTHER_THAN_NAMED: dict[str, tuple[bytes, str, str]] = {
    "a notebook": (BOOK.encode(), ".py", "a notebook: hand it in as answer.ipynb"),
    "Python": (PYTHON.encode(), ".ipynb", "Python and is not a notebook: hand it in as answer.py"),
    "a page": (b"\xef\xbb\xbf \n<!DOCTYPE html><p>Log in", ".py", "web page"),
    "a page as a notebook": (b"<html>", ".ipynb", "web page"),
    "a pointer": (LFS, ".py", "git lfs pull"),
    "a pointer as a notebook": (LFS, ".ipynb", "git lfs pull"),
    "zip": (b"PK\x03\x04\x14\0", ".py", "zip archive: unpack it"),
    "gzip": (gzip.compress(b"x"), ".ipynb", "gzip archive"),
    "tar": (TAR, ".py", "tar archive"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0", ".py", "picture"),
    "a merge": (f"y = 1\n{MERGED}".encode(), ".py", r"unfinished merge \(line 2\)"),
    "one mark of a merge": (b"y = 1\n>>>>>>> other\n", ".py", r"unfinished merge \(line 2\)"),
    "a merge in a notebook": (
        BOOK.replace(" ", MERGED, 1).encode(),
        ".ipynb",
        r"unfinished merge \(line 2\)",
    ),
    "UTF-16": (PYTHON.encode("utf-16"), ".py", "UTF-16: save it as UTF-8"),
    "UTF-16 without a mark": (PYTHON.encode("utf-16-be"), ".py", "UTF-16"),
    "UTF-16 as a notebook": (BOOK.encode("utf-16"), ".ipynb", "UTF-16"),
    "Latin-1": (b"x = 1\ny = '\xe4\xf6'\n", ".py", "line 2 holds the byte 0xe4 (ä".replace("(", r"\(")),
    "Latin-1 called UTF-8": (b"# coding: utf-8\n# \xe9\n", ".py", "line 2 holds the byte 0xe9"),
    "Latin-1 in a notebook": (b'{\n"cells": ["\xe4"]}', ".ipynb", "line 2 holds the byte 0xe4"),
}


@pytest.mark.parametrize(("content", "ending", "words"), OTHER_THAN_NAMED.values(), ids=OTHER_THAN_NAMED)
def test_what_is_no_source_is_known_by_its_first_bytes(content: bytes, ending: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words) as caught:
        source_of(Path(f"answer{ending}"), content)
    assert caught.value.message.count(". ") == 0  # one sentence


@pytest.mark.parametrize(
    "content",
    [
        f'"""\n{MERGED}"""\n'.encode(),
        b"# coding: latin-1\nx = '\xe4'\n",
        b"\xef\xbb\xbf" + PYTHON.encode(),
        b'x = {"cells": 1}\n',
    ],
)
def test_source_that_looks_like_something_else_is_source(content: bytes) -> None:
    assert source_of(Path("answer.py"), content).data == content


def test_what_a_word_processor_left_is_told(examine: Any) -> None:
    for source, words in (("x = “a”\n", "word processor"), ("if 1:\n\u00a0x = 1\n", "type it again")):
        with pytest.raises(SubmissionRaised) as caught:
            examine(source)
        assert words in describe_raised(caught.value)[-1]
    with pytest.raises(SubmissionRaised) as caught:
        examine(b"\xef\xbb\xbf# coding: latin-1\nx = 1\n")
    assert caught.value.frames == ()  # it says line 0
    assert "save the file as UTF-8" in describe_raised(caught.value)[-1]


def test_files_next_to_it_are_found_and_may_be_changed(examine: Any, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "vocab.txt").write_text("a b")
    (tmp_path / "data" / "w.txt").write_text("c")
    source = """
        words = open("vocab.txt").read()
        def f():
            with open("vocab.txt", "a") as file:
                file.write(" d")
            return words, open("data/w.txt").read(), open("vocab.txt").read()
    """
    assert examine(source).submission.f() == ("a b", "c", "a b d")
    assert (tmp_path / "vocab.txt").read_text() == "a b"


def test_too_much_next_to_it_is_not_copied(examine: Any, tmp_path: Path) -> None:
    for number in range(loader.MAX_BESIDE + 10):
        (tmp_path / f"n{number}.txt").touch()
    source = "import os\ndef f(): return len(os.listdir('.'))"
    assert examine(source).submission.f() == loader.MAX_BESIDE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("open('Vocab.txt')", "vocab.txt: upper and lower case count"),
        ("open('/home/ada/vocab.txt')", "vocab.txt: open it by that name alone"),
        (r"open('C:\\ada\\vocab.txt')", "vocab.txt: open it by that name alone"),
        ("open('vocabs.txt')", "vocab.txt: is that meant?"),
        ("open('other')", "files are looked for next to what you hand in"),
        ("from helper import g", "Helper.py: upper and lower case count"),
        ("from .helper import g", "Helper.py: upper and lower case count"),
        ("import tools.more", "tools.ipynb: a notebook or a folder is not a module"),
        ("from ..helper import g", "keep it next to your file, and import it with one dot"),
        ("import dotted", "import without the dot here, or with one there"),
        (
            "from dotted.helper import g",
            "dotted is a file: import what is next to it without dotted and the dot",
        ),
        ("from common.helper import g", "common is neither installed here nor next to what you hand in"),
        ("import random\nrandom.mine()", "random is the library's here, and not random.py next to it"),
        ("from random import mine", "random is the library's here, and not random.py next to it"),
    ],
)
def test_what_nearly_fits_is_told(examine: Any, tmp_path: Path, line: str, told: str) -> None:
    for name in ("vocab.txt", "Helper.py", "tools.ipynb", "random.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "dotted.py").write_text("from .random import mine\n" if line == "import dotted" else "")
    with pytest.raises(SubmissionRaised) as caught:
        examine(f"{line}\n")
    assert told in describe_raised(caught.value)[-1]


def test_a_line_that_calls_itself_without_end_is_told_once(examine: Any) -> None:
    with pytest.raises(SubmissionRaised) as caught:
        examine("def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\n").submission.f(1)
    assert [frame.line for frame in caught.value.frames] == [2, 4]
    assert "calls itself without end" in describe_raised(caught.value)[-1]


@pytest.mark.slow
def test_nothing_is_compiled(examine: Any) -> None:
    source = """
        import torch, torch._dynamo
        @torch._dynamo.optimize("inductor")
        def f(x):
            return (torch.ones(2) + x).tolist()
    """
    assert examine(source).submission.f(1) == [2, 2]


def test_the_process_ending_while_loading_is_told(examine: Any) -> None:
    with pytest.raises(WorkerDied, match="exit code 4"):
        examine("import os\nos._exit(4)\n")
    with pytest.raises(WorkerTimeout):
        examine("while True: pass\n", check_timeout_s=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"x = 1\n\0y = 2\n", r"NUL bytes \(the first in line 2\)"),
        (b"#" * (5 << 20), r"5\.0 MB; source of at most 2 MB"),
    ],
)
def test_a_file_that_cannot_be_source_is_not_sent(examine: Any, content: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        examine(content)
