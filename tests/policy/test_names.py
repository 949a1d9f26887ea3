"""The syntax tree as a witness: what required parts name is told, with its line; tests of one's own are free."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.engine.host.limits import Terms
from grader.engine.host.names import MAX_CODE, TOO_MUCH, NamesFound, read_names
from grader.engine.host.source import Source

FORBID = ("normalisation", "transformer", "optimizer", "builtins.sorted")


def read(text: str, folder: Path = Path("/nowhere"), file: str = "answer.py", **more: object) -> NamesFound:
    source = Source(folder / file, textwrap.dedent(text).encode())
    return read_names(source, Terms("answer", ("f", "Net"), forbid=FORBID, **more))  # type: ignore[arg-type]


F = "import torch.nn.functional as F\n"
NN = "from torch import nn\n"
NORM, LAYER = "torch.nn.functional.layer_norm", "torch.nn.TransformerEncoderLayer"
USED = {
    "an attribute": ("import torch\ndef f(x): return torch.nn.functional.layer_norm(x)", NORM, 2),
    "from, renamed": ("from torch.nn.functional import layer_norm as g\ndef f(x): return g(x)", NORM, 2),
    "everything imported": ("from torch.nn.functional import *\ndef f(x): return layer_norm(x)", NORM, 2),
    "imported inside": (
        "def f(x):\n    from torch.nn.functional import layer_norm\n    return layer_norm(x)", NORM, 3),
    "imported where something else is imported, too": (
        "try:\n    from torch.nn.functional import layer_norm as g\nexcept ImportError:\n    from mine import g\n"
        "def f(x): return g(x)",
        NORM,
        5,
    ),
    "an alias": (F + "g = F.layer_norm\ndef f(x): return g(x)", NORM, 2),
    "an alias that is taken back later": (
        "from torch.nn.functional import layer_norm as a\nb = a\na = None\ndef f(x): return b(x)",
        NORM,
        2,
    ),
    "a local alias of a module": (
        "import torch\ndef f(x):\n    n = torch.nn\n    return n.functional.layer_norm(x)", NORM, 4),
    "a module as a default": (F + "def f(x, n=F): return n.layer_norm(x)", NORM, 2),
    "names in a circle": (
        "from torch import nn as m\nn = m\nm = n\ndef f(x): return n.LayerNorm(m)",
        "torch.nn.LayerNorm",
        4,
    ),
    "one of two": (
        "import torch\nn = torch.nn if torch else None\ndef f(x): return n.functional.layer_norm(x)", NORM, 3),
    "getattr of a text": (F + "def f(x): return getattr(F, 'layer' + '_norm')(x)", NORM, 2),
    "getattr of a text with a name": (
        F + "NAME = f'layer_norm'\ndef f(x): return getattr(F, NAME)(x)", NORM, 3),
    "importlib": (
        "import importlib as i\ndef f(x): return i.import_module('torch.nn.functional').layer_norm(x)", NORM, 2),
    "__import__": ("def f(x): return __import__('torch').nn.functional.layer_norm(x)", NORM, 1),
    "sys.modules": ("import sys\ndef f(x): return sys.modules['torch'].nn.functional.layer_norm(x)", NORM, 2),
    "vars": (F + "def f(x): return vars(F)['layer_norm'](x)", NORM, 2),
    "__dict__": (F + "def f(x): return F.__dict__['layer_norm'](x)", NORM, 2),
    "all that a module has": (
        F + "own = [v for k, v in vars(F).items() if k[:5] == 'layer']\ndef f(x): return own[0](x)",
        "torch.nn.functional.__dict__.items", 2),
    "all subclasses": (
        NN + "def f(x): return nn.Module.__subclasses__()", "torch.nn.Module.__subclasses__", 2),
    "all subclasses of one's own": ("def f(x): return type(x).__mro__[1].__subclasses__()",
        "builtins.type.__subclasses__", 1),
    "all modules": (
        "import sys\ndef f(x): return [m for m in sys.modules.values()]", "sys.modules.values", 2),
    "the method of a class": (
        NN + "def f(x): return nn.LayerNorm.forward(x, x)", "torch.nn.LayerNorm.forward", 2),
    "where it is written": ("import torch\ndef f(x): return torch.nn.modules.normalization.LayerNorm(4)(x)",
        "torch.nn.modules.normalization.LayerNorm", 2),
    "the operator": (
        "import torch\ndef f(x): return torch.native_layer_norm(x)", "torch.native_layer_norm", 2),
    "a relative": (
        F + "def f(x): return F.local_response_norm(x, 3)", "torch.nn.functional.local_response_norm", 2),
    "as a function instead of a class": ("from torch.optim import adamw\ndef f(x): adamw.adamw(x)",
        "torch.optim.adamw.adamw", 2),
    "a private helper": (F + "def f(x): return F._in_projection(x)", "torch.nn.functional._in_projection", 2),
    "an operator by a text": (
        "import torch\ndef f(x): return torch.ops.mine.bend(x)", "torch.ops.mine.bend", 2),
    "a helper": (
        F + "def g(x): return k(x)\ndef k(x): return F.layer_norm(x)\ndef f(x): return g(x)", NORM, 3),
    "a base": (NN + "Base = nn.TransformerEncoderLayer\nclass Net(Base): pass", LAYER, 2),
    "a decorator": (
        NN + "class Net(nn.Module):\n    @nn.TransformerEncoderLayer\n    def g(self): pass", LAYER, 3),
    "an object made while loading": (NN + "layer = nn.TransformerEncoderLayer(4, 2)\nclass Net:\n"
        "    def forward(self, x): return layer(x)", LAYER, 2),
    "a script of it": (
        "import torch\ns = torch.jit.script(torch.nn.functional.layer_norm)\ndef f(x): return s(x)", NORM, 2),
    "a table": (
        NN + "table = {}\ntable['a'] = nn.TransformerEncoderLayer\ndef f(x): return table['a'](x)", LAYER, 3),
    "a list": (
        NN + "table = []\ntable.append(nn.TransformerEncoderLayer)\ndef f(x): return table[0](x)", LAYER, 3),
    "a register": (NN + "table = []\ndef keep(g):\n    table.append(g)\n    return g\n@keep\ndef g(x):\n"
        "    return nn.TransformerEncoderLayer(x)\ndef f(x): return table[0](x)", LAYER, 8),
    "put in by a function": (
        NN + "table = []\ndef keep(g): table.append(g)\nkeep(nn.TransformerEncoderLayer)\n"
        "def f(x): return table[0](x)", LAYER, 4),
    "a global of a function": (NN + "def g():\n    global h\n    h = nn.TransformerEncoderLayer\ng()\n"
        "def f(x): return h(x)", LAYER, 4),
    "a method that is replaced": (F + "class Net: pass\nNet.forward = F.layer_norm", NORM, 3),
    "setattr": (F + "class Net: pass\nsetattr(Net, 'forward', F.layer_norm)", NORM, 3),
    "globals": (F + "globals()['Net'] = F.layer_norm", NORM, 2),
    "a module's __getattr__": (NN + "def __getattr__(name): return nn.TransformerEncoderLayer", LAYER, 2),
    "a lambda": (F + "f = lambda x: F.layer_norm(x)", NORM, 2),
    "under a condition": (F + "def f(x):\n    if x: return F.layer_norm(x)\n    return x", NORM, 3),
    "hidden by a comprehension": (F + "def f(x):\n    [F for F in ()]\n    return F.layer_norm(x)", NORM, 4),
    "a built-in": ("def f(x): return sorted(x)", "builtins.sorted", 1),
    # --- anywhere in the file ---
    "make_fx": (
        "from torch.fx.experimental.proxy_tensor import make_fx", "torch.fx.experimental.proxy_tensor.make_fx", 1),
    "a trace": ("import torch\nt = torch.jit.trace(len, ())", "torch.jit.trace", 2),
    "an export": ("import torch\ndef test(): torch.export.export(0)", "torch.export.export", 2),
    "linearize": ("from torch import func\ndef test(): func.linearize(0)", "torch.func.linearize", 2),
    "dynamo": ("import torch\ndef test(): torch._dynamo.export(0)", "torch._dynamo.export", 2),
    "torch._refs": ("import torch._refs as refs", "torch._refs", 1),
    "torch._C": ("import torch\nc = torch._C._nn", "torch._C._nn", 2),
    "layers for quantization": ("from torch.ao.nn import quantizable", "torch.ao.nn.quantizable", 1),
    "ctypes": ("import ctypes", "ctypes", 1),
    "the grader": ("import grader.engine.worker.policy", "grader.engine.worker.policy", 1),
}  # fmt: skip
FREE = {
    "never used": "from torch.nn.functional import layer_norm\ndef f(x): return x",
    "imported with what is used": "from torch.nn import LayerNorm, Linear\ndef f(x): return Linear(2, 2)(x)",
    "its own": "def layer_norm(x): return x\ndef f(x): return layer_norm(x)",
    "its own, after torch's": "from torch.nn.functional import layer_norm\n"
        "def layer_norm(x): return x\ndef f(x): return layer_norm(x)",
    "its own by assignment, after torch's": "from torch.nn.functional import layer_norm\n"
        "def own(x): return x\nlayer_norm = own\ndef f(x): return layer_norm(x)",
    "its own, after all of torch's": "from torch.nn.functional import *\n"
        "def layer_norm(x): return x\ndef f(x): return layer_norm(x)",
    "its own attribute": "class Net:\n    def forward(self, x): return self.layer_norm(x) + self.LayerNorm.adam",
    "its own class of that name": F + "class F:\n    layer_norm = abs\ndef f(x): return F.layer_norm(x)",
    "a parameter": F + "def f(x, F): return F.layer_norm(x)",
    "of another package": "import mytorch as torch\ndef f(x): return torch.nn.functional.layer_norm(x)",
    "a test": F + "def f(x): return x\ndef test(x): assert f(x) == F.layer_norm(x)\ntest(1)",
    "a test at module level": F + "class Net: pass\nout = F.layer_norm(0)\nassert Net()(1) == out\n"
        "for x in range(3):\n    out = F.layer_norm(x)\nNet().load(F.layer_norm(1))\nf(F.layer_norm(2))\n"
        "def f(x):\n    out = x\n    return out",
    "a test for main": F + "def f(x): return x\nif __name__ == '__main__':\n    print(F.layer_norm(f(1)))",
    "asked for its type": NN + "def f(x): return isinstance(x, (nn.Linear, nn.LayerNorm))",
    "an annotation": NN + "def f(x: nn.LayerNorm) -> nn.LayerNorm:\n    y: nn.LayerNorm = x\n    return y",
    "a text": "def f(x):\n    '''torch.nn.functional.layer_norm(x)'''\n    return 'torch.nn.LayerNorm'",
    "old style": NN + "class Net(nn.Module):\n    def __init__(self): nn.Module.__init__(self)",
    "colab": "import sys\nCOLAB = 'google.colab' in sys.modules\ndef f(x): return x",
    "one's own module": "import sys\nsys.modules[__name__].__dict__\ndef f(x): return x",
    "faster loops": "import torch\ndef f(x): torch._foreach_mul_(x, 2)",
    "a setting of the compiler": "import torch._dynamo\ntorch._dynamo.config.suppress_errors = True\n"
        "def f(x): return x",
    "a script": "import torch\n@torch.jit.script\ndef g(x: torch.Tensor): return x\ndef f(x): return g(x)",
    "collected rubbish": "import gc\ngc.collect()\ndef f(x): return x",
    "no Python": "def f(x: return torch.nn.functional.layer_norm(x)",
    "names in a circle": "a = b\nb = a\ndef f(x): return a(x)\ndef g(x): return f(x)",
}  # fmt: skip
UNCLEAR = {
    "a module kept in an attribute": (
        NN
        + "class Net:\n    def g(self): self.n = nn\n    def f(self): return self.n.TransformerEncoderLayer",
        "torch.nn is handed on as a whole",
    ),
    "getattr": (F + "def f(x): return getattr(F, x)(x)", "torch.nn.functional is asked for a name"),
    "import": ("import importlib\ndef f(x): return importlib.import_module(x)", "a module is imported"),
    "exec": ("exec('def f(x): return x')", "a text is run as code"),
    "eval": ("def f(x): return eval('x')", "a text is run as code"),
    "a module handed on": (
        F + "def g(n): return n.layer_norm\ndef f(x): return g(F)",
        "handed on as a whole",
    ),
}
MUCH = {
    "deep operators": "def f(x): return " + "-" * 50_000 + "x",
    "deep attributes": "import torch\ndef f(x): return torch" + ".nn" * 20_000 + ".gelu(x)",
    "long": "def f(x): return x\n" + "#" * MAX_CODE,
    "many meanings": "import torch\n"
    + "".join(f"if torch: a = torch.x{n}\n" for n in range(100))
    + "def f(x): return a.b",
}


@pytest.mark.parametrize("name", USED)
def test_what_a_required_part_names_is_told_with_its_line(name: str) -> None:
    text, full, line = USED[name]
    assert read(text).used == {full: f"line {line}"}


@pytest.mark.parametrize("name", FREE)
def test_what_no_required_part_reaches_is_free(name: str) -> None:
    assert read(FREE[name]) == NamesFound()


@pytest.mark.parametrize("name", UNCLEAR)
def test_what_nobody_can_read_is_pointed_out_and_is_no_use(name: str) -> None:
    text, what = UNCLEAR[name]
    reading = read(text)
    assert reading.used == {}
    assert what in "".join(reading.unclear)


@pytest.mark.parametrize("name", MUCH)
def test_what_cannot_be_read_to_its_end_is_a_use(name: str) -> None:
    assert read(MUCH[name]).used == {TOO_MUCH: ""}


def test_files_beside_are_read_as_far_as_they_are_reached_and_not_given(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(F + "def norm(x): return F.layer_norm(x)\ndef other(x): return x\n")
    for imports in ("from helper import norm", "from helper import *", "from .helper import norm"):
        assert read(f"{imports}\ndef f(x): return norm(x)", tmp_path).used == {NORM: "helper.py, line 2"}
    assert read("import helper\ndef f(x): return helper.norm(x)", tmp_path).used == {
        NORM: "helper.py, line 2"
    }
    assert read("from helper import other, norm\ndef f(x): return other(x)", tmp_path) == NamesFound()
    given = tmp_path / "given"
    given.mkdir()
    (given / "helper.py").touch()
    assert read("from helper import norm\ndef f(x): return norm(x)", tmp_path, given=given) == NamesFound()


def test_a_notebook_is_read_cell_by_cell() -> None:
    cells = [F + "%time 1", "def f(x):\n    return F.layer_norm(x)", "def broken("]
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})
    assert read(notebook, file="answer.ipynb").used == {NORM: "cell 2, line 2"}
    assert read('{"cells": 3}', file="answer.ipynb") == NamesFound()


@given(st.text(alphabet="torch.nfuialge()=:\n \t'F,def class import as from if[]{}@*", max_size=200))
def test_any_text_is_read_without_a_stumble(text: str) -> None:
    read(F + text)


def test_the_first_place_of_a_name_is_told_and_names_come_in_order() -> None:
    text = F + NN + "def f(x):\n    y = nn.GroupNorm(1, 2), F.layer_norm(x)\n    return y, F.layer_norm(x)\n"
    assert list(read(text).used.items()) == [("torch.nn.GroupNorm", "line 4"), (NORM, "line 4")]
