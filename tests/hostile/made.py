"""Submissions that no file in the corpus can hold as it is; each is a function named FAMILY_NAME."""

from __future__ import annotations

import ast
import json
from pathlib import Path

BLOCKS = (
    Path(__file__).parents[2].joinpath("katas/9.3-encoder-vs-decoder/blocks.py").read_text(encoding="utf-8")
)
WRONG = "from wrong import *\n"
Made = tuple[str, bytes]


def notebook(*cells: object, **more: object) -> bytes:
    """Return a notebook of code cells."""
    parts = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for source in cells
    ]
    return json.dumps({"cells": parts, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


def parser_nul() -> Made:
    """Ends the source for whoever reads text up to a NUL.

    status = "error"
    words = ["NUL bytes"]
    """
    return "insertion_sort.py", b"from wrong import *\n\0raise SystemExit\n"


def parser_byte_order_mark() -> Made:
    """Begins with a byte order mark, and with a coding line that contradicts it.

    status = "error"
    words = ["does not load"]
    """
    return "insertion_sort.py", b"\xef\xbb\xbf# -*- coding: latin-1 -*-\nfrom wrong import *\n"


def parser_hidden_in_utf7() -> Made:
    """Hides its code from whoever reads the file as UTF-8: its comment ends where another encoding says so.

    earns = ["test_empty"]
    """
    hidden = "\nprint('hidden')\n".encode("utf-7").replace(b"\n", b"+AAo-")
    return "insertion_sort.py", b"# coding: utf-7\n" + WRONG.encode() + b"# nothing " + hidden + b"\n"


def parser_encoding_that_does_not_exist() -> Made:
    """Names an encoding that nobody has, with escape sequences in it.

    status = "error"
    words = ["does not load"]
    """
    return "insertion_sort.py", b"# coding: kata-\x1b[2J-toy\n" + WRONG.encode()


def parser_no_text() -> Made:
    """Is no text at all: random bytes.

    status = "error"
    words = ["is not UTF-8"]
    """
    return "insertion_sort.py", bytes(number * 167 % 255 + 1 for number in range(5000))


def parser_million_lines() -> Made:
    """Has a million lines.

    earns = ["test_empty"]
    """
    return "insertion_sort.py", WRONG.encode() + b"\n" * 1_000_000


def parser_of_which_python_warns() -> Made:
    """Has four thousand lines of which Python warns whoever compiles them.

    earns = ["test_empty"]
    """
    return "insertion_sort.py", WRONG.encode() + b"def warned(x):\n" + b"    x is 1\n" * 4_000


def parser_endless_name() -> Made:
    """Imports a name of forty thousand parts, for which Python's parser takes gigabytes.

    status = "error"
    words = ["a name of hundreds of parts"]
    """
    return "insertion_sort.py", WRONG.encode() + b"def never():\n    import " + b"a." * 40_000 + b"b\n"


def parser_endless_name_hidden_by_an_encoding() -> Made:
    """Imports such a name, whose dots are dots in another encoding alone.

    status = "error"
    words = ["a name of hundreds of parts"]
    """
    name = b"a+AC4-" * 15_000
    return (
        "insertion_sort.py",
        b"# coding: utf-7\n" + WRONG.encode() + b"def never():\n    import " + name + b"b\n",
    )


def parser_one_long_line() -> Made:
    """Has one line of two million characters, in which it raises.

    status = "error"
    words = ["ValueError"]
    """
    return "insertion_sort.py", b"raise ValueError(" + b"1 ,  " * 380_000 + b")"


def parser_too_large() -> Made:
    """Is larger than any source that a person writes.

    status = "error"
    words = ["MB is read"]
    """
    return "insertion_sort.py", WRONG.encode() + b"# x\n" * (1 << 20)


def parser_brackets() -> Made:
    """Opens a hundred thousand brackets.

    kata = "layer-norm"
    status = "error"
    words = ["does not load"]
    """
    return "layer_norm.py", WRONG.encode() + b"x = " + b"(" * 90_000 + b")" * 9_000 + b"\n"


def parser_minus_signs() -> Made:
    """Negates a number fifty thousand times, for a parser that calls itself.

    kata = "layer-norm"
    status = "error"
    words = ["does not load"]
    """
    return "layer_norm.py", WRONG.encode() + b"x = " + b"-" * 50_000 + b"1\n"


def parser_long_chain() -> Made:
    """Has a chain of attributes, sums and alternatives that the compiler takes and a visitor may not.

    kata = "layer-norm"
    status = "fail or error"
    """
    chain = (
        "def chain(a):\n    return a"
        + ".a" * 900
        + "\n\n\ndef total(a):\n    return "
        + " + ".join(["a"] * 900)
    )
    ways = "\n\n\ndef way(a):\n    if a:\n        pass\n" + "    elif a:\n        pass\n" * 300
    return "layer_norm.py", f"{WRONG}{chain}{ways}".encode()


def parser_number_without_end() -> Made:
    """Holds an integer of a million digits, and a text that says so.

    status = "error"
    words = ["does not load"]
    """
    return "insertion_sort.py", WRONG.encode() + b"x = " + b"9" * 1_000_000 + b"\n"


def parser_power() -> Made:
    """Asks the compiler to compute constants that fill the memory.

    status = "fail or error or timeout"
    earns = ["test_empty"]
    timeout_s = 3
    """
    return (
        "insertion_sort.py",
        WRONG.encode() + b"x = lambda: (2**100000000, 'x' * 10**12, ((0,) * 4096) * 4096)\n",
    )


def parser_notebook_nested() -> Made:
    """Is a notebook of a hundred thousand nested lists.

    status = "error"
    words = ["does not load"]
    """
    return "insertion_sort.ipynb", b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def parser_notebook_of_magics() -> Made:
    """Is a notebook with a cell of twenty thousand magics, each of which makes a parser begin again.

    status = "timeout or error or fail"
    timeout_s = 0.5
    """
    return "insertion_sort.ipynb", notebook("%magic\n" * 20_000, "pass\n")


def parser_notebook_of_odd_cells() -> Made:
    """Is a notebook whose cells are of every type but the right one.

    earns = ["test_empty"]
    """
    odd = [None, 5, "cell", [], {}, {"cell_type": "code", "source": {"a": 1}}, {"cell_type": ["code"]}]
    cells = [*odd, {"cell_type": "code", "source": ["from wrong import *\n", 5, None]}]
    return "insertion_sort.ipynb", json.dumps({"cells": cells, "metadata": [], "nbformat": "x"}).encode()


def parser_notebook_that_repeats_keys() -> Made:
    """Is a notebook that names its cells twice, for parsers that disagree about which of them counts.

    earns = ["test_empty"]
    """
    good = notebook("def insertion_sort(values):\n    return sorted(values)\n")
    return "insertion_sort.ipynb", good[:-1] + b", " + notebook("from wrong import *\n")[1:]


def given_whole() -> Made:
    """Is the given blocks, byte for byte.

    kata = "masks"
    words = ["torch.ops is for given blocks, which are not an answer"]
    """
    return "masks.py", BLOCKS.encode()


def given_reformatted_and_reordered() -> Made:
    """Is the given blocks from the last to the first, without a comment, a docstring or an annotation.

    kata = "masks"
    words = ["torch.ops is for given blocks, which are not an answer"]
    """
    tree = ast.parse(BLOCKS)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            node.body = [
                part for part in node.body if not (isinstance(part, ast.Expr) and _is_text(part.value))
            ]
    head = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    parts = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return "masks.py", ast.unparse(ast.Module([*head, *reversed(parts)], [])).encode()


def given_padded() -> Made:
    """Hides the given blocks behind more code than anybody reads.

    kata = "masks"
    words = ["torch.ops is for given blocks, which are not an answer"]
    """
    return "masks.py", (
        "x = 1\n" * 60_000 + BLOCKS.replace("from __future__ import annotations", "")
    ).encode()


def given_notebook() -> Made:
    """Spreads the given blocks over the cells of a notebook.

    kata = "masks"
    words = ["torch.ops is for given blocks, which are not an answer"]
    """
    return "masks.ipynb", notebook(*BLOCKS.split("\n\n\n"))


def given_as_torch_s_own() -> Made:
    """Runs the given blocks under the name of a file of torch.

    kata = "masks"
    words = ["torch.ops is for given blocks, which are not an answer"]
    """
    run = f"exec(compile({BLOCKS!r}, torch.__file__, 'exec', dont_inherit=True))\n"
    return "masks.py", f"import torch\n{run}".encode()


def given_in_a_text() -> Made:
    """Keeps a given block in a text, and executes that.

    kata = "layer-norm"
    words = ["the submission used torch.ops.aten"]
    """
    return "layer_norm.py", f"exec({BLOCKS!r})\n".encode()


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def parser_line_of_blanks() -> Made:
    """Is a notebook with a line of 90,000 blanks, which looked like the beginning of a magic 90,000 times.

    kata = "layer-norm"
    """
    return "layer_norm.ipynb", notebook(" " * 90_000 + "$", WRONG)


def parser_number_in_a_notebook() -> Made:
    """Is a notebook with a number of 5,000 digits beside its cells, and one that is none.

    kata = "layer-norm"
    status = "error"
    words = ["thousands of digits"]
    """
    return "layer_norm.ipynb", notebook(WRONG, more=float("nan")).replace(
        b"{", b'{"n": ' + b"1" * 5000 + b", ", 1
    )
