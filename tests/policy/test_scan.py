"""The source as a witness: it speaks where it is certain, and is silent everywhere else."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz_sources import run
from grader.host.scan import MAX_SCANNED, called, examined
from grader.host.source import Source
from grader.notebooks import place_of
from tests.policy.frames import filled
from tests.policy.test_breaches import UNDOING

FORBID = ("torch.nn.functional.gelu", "torch.nn.GELU", "aten::_addmm_activation")
GELU = {"torch.nn.functional.gelu"}


def scan(text: str, file: str = "answer.py") -> dict[str, int]:
    return called(Source(Path(file), textwrap.dedent(text).encode()), ("f", "Net"), FORBID)


CERTAIN = {
    "an attribute": "import torch\ndef f(x): return torch.nn.functional.gelu(x)",
    "a module's name": "import torch.nn.functional as F\ndef f(x): return F.gelu(x)",
    "from": "from torch.nn import functional as F\ndef f(x): return F.gelu(x)",
    "from, renamed": "from torch.nn.functional import gelu as g\ndef f(x): return g(x)",
    "inside the function": "def f(x):\n    from torch.nn.functional import gelu\n    return gelu(x)",
    "imported twice": "import torch\nimport torch\ndef f(x): return torch.nn.functional.gelu(x)",
    "an alias": "import torch\ng = torch.nn.functional.gelu\ndef f(x): return g(x)",
    "a local alias": "import torch\ndef f(x):\n    nn = torch.nn\n    g = nn.functional.gelu\n    return g(x)",
    "getattr": "import torch.nn.functional as F\ndef f(x): return getattr(F, 'ge' 'lu')(x)",
    "getattr of a sum": "import torch.nn.functional as F\ndef f(x): return getattr(F, 'ge' + 'lu', None)(x)",
    "importlib": "import importlib\ndef f(x): return importlib.import_module('torch.nn.functional').gelu(x)",
    "from importlib": "from importlib import import_module as i\ndef f(x): return i('torch.nn.functional').gelu(x)",
    "__import__": "def f(x): return __import__('torch').nn.functional.gelu(x)",
    "sys.modules": "import sys\ndef f(x): return sys.modules['torch'].nn.functional.gelu(x)",
    "vars": "import torch.nn.functional as F\ndef f(x): return vars(F)['gelu'](x)",
    "torch.ops": "import torch\ndef f(x): return torch.ops.aten.gelu.default(x)",
    "torch._refs": "import torch._refs\ndef f(x): return torch._refs.nn.functional.gelu(x)",
    "a class's forward": "import torch\ndef f(x): return torch.nn.functional.gelu.__call__(x)",
    "a helper": "import torch\ndef g(x): return torch.nn.functional.gelu(x)\ndef f(x): return g(x)",
    "a helper's helper": "import torch\ndef g(x): return k(x)\ndef k(x): return torch._C._nn.gelu(x)\nf = g",
    "a table": "import torch\ntable = torch.nn.functional.gelu(torch.ones(3))\ndef f(x): return table[x]",
    "a method": "import torch\nclass Net:\n    def forward(self, x): return torch.nn.functional.gelu(x)",
    "in a loop, a with and a try": """
        import torch
        def f(x):
            with torch.no_grad():
                for _ in range(2):
                    try:
                        x = torch.nn.functional.gelu(x)
                    finally:
                        pass
            return x""",
    "after a check of the arguments": """
        import torch
        def f(x):
            if x is None:
                raise ValueError
            return torch.nn.functional.gelu(x)""",
    "in an argument": "import torch\ndef f(x): return abs(sum([torch.nn.functional.gelu(x)]))",
}
SILENT = {
    "never called": "from torch.nn.functional import gelu\ndef f(x): return x",
    "handed on": "import torch.nn.functional as F\ndef f(x): return isinstance(x, type(F.gelu))",
    "its own": "def gelu(x): return x\ndef f(x): return gelu(x)",
    "its own, after torch's": "from torch.nn.functional import gelu\ndef gelu(x): return x\ndef f(x): return gelu(x)",
    "a parameter": "import torch.nn.functional as F\ndef f(x, F): return F.gelu(x)",
    "a keyword parameter": "import torch.nn.functional as F\ndef f(x, *, F=None): return F.gelu(x)",
    "a loop's name": "import torch.nn.functional as F\ndef f(x):\n    for F in x:\n        F.gelu(x)",
    "of another package": "import mytorch as torch\ndef f(x): return torch.nn.functional.gelu(x)",
    "relative": "from .torch import gelu\ndef f(x): return gelu(x)",
    "of a module of that name": "import torch\ndef f(x): return torch.tools.gelu.help(x)",
    "unreached": "import torch\ndef g(x): return torch.nn.functional.gelu(x)\ndef f(x): return x",
    "under a condition": "import torch\ndef f(x):\n    if x: return torch.nn.functional.gelu(x)\n    return x",
    "in one branch of an expression": "import torch\ndef f(x): return x if x else torch.nn.functional.gelu(x)",
    "behind or": "import torch\ndef f(x): return x or torch.nn.functional.gelu(x)",
    "in an assertion": "import torch\ndef f(x):\n    assert torch.nn.functional.gelu(x) is x\n    return x",
    "after the return": "import torch\ndef f(x):\n    return x\n    torch.nn.functional.gelu(x)",
    "in a lambda": "import torch\ndef f(x):\n    g = lambda: torch.nn.functional.gelu(x)\n    return x",
    "in a text": "def f(x):\n    '''torch.nn.functional.gelu(x)'''\n    return 'torch.nn.functional.gelu(x)'",
    "in the other names": "import torch\nif __name__ == '__main__': torch.nn.functional.gelu(1)\ndef f(x): return x",
    "no Python": "def f(x: return torch.nn.functional.gelu(x)",
    "NUL": "def f(x): return 1\0",
    "too deep": "import torch\ndef f(x): return " + "(" * 5000 + "x" + ")" * 5000,
    "deep in operators": "import torch\ndef f(x): return " + "-" * 50_000 + "x",
    "deep in attributes": "import torch\ndef f(x): return torch" + ".nn" * 20_000 + ".gelu(x)",
    "too long": "import torch\ndef f(x): return torch.nn.functional.gelu(x)\n" + "#" * MAX_SCANNED,
    "names in a circle": "a = b\nb = a\ndef f(x): return a(x)\ndef g(x): return f(x)",
}


@pytest.mark.parametrize("name", CERTAIN)
def test_a_certain_call_is_told(name: str) -> None:
    assert set(scan(CERTAIN[name])) == GELU


@pytest.mark.parametrize("name", SILENT)
def test_what_is_not_certain_is_not_told(name: str) -> None:
    assert scan(SILENT[name]) == {}


def test_the_line_of_the_first_call_is_told() -> None:
    text = "import torch.nn as nn\n\n\ndef f(x):\n    return nn.GELU()(x) + nn.functional.gelu(x)\n"
    assert scan(text) == {"torch.nn.functional.gelu": 5, "torch.nn.GELU": 5}


def test_a_notebook_is_read_cell_by_cell() -> None:
    cells = ["import torch.nn.functional as F\n%time 1", "def f(x):\n    return F.gelu(x)", "def broken("]
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    assert scan(json.dumps(notebook), "answer.ipynb") == {"torch.nn.functional.gelu": place_of(2, 2)}
    assert scan('{"cells": 3}', "answer.ipynb") == {}


@pytest.mark.parametrize("name", UNDOING)
def test_the_attempts_to_undo_are_put_to_the_recorder_alone(name: str) -> None:
    source = Source(Path("feed_forward.py"), filled(*UNDOING[name]).encode())
    assert called(source, ("gelu",), FORBID) == {}


@given(st.text(alphabet="torch.nfuialge()=:\n \t'F,def class import as from if[]{}@*", max_size=200))
def test_any_text_is_read_without_a_stumble(text: str) -> None:
    scan("import torch.nn.functional as F\n" + text)


@pytest.mark.parametrize("count", [500, 1000])
def test_names_that_one_statement_binds_cost_a_few_steps_each(count: int) -> None:
    names = ", ".join(f"a{number}" for number in range(count))
    text = f"import torch\n{names} = range({count})\ndef f(x): return [{names}]\n"
    found, steps = examined(Source(Path("answer.py"), text.encode()), ("f",), FORBID)
    assert found == {}
    assert steps < 40 * count


@pytest.mark.slow
def test_generated_sources_are_read_without_a_stumble_and_within_their_steps() -> None:
    assert run(seed=3, count=60)["sources"] == 120
