"""What torch writes in Python: the function itself is without its code, so every road to it ends there."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

import pytest

from grader.engine.host.errors import SubmissionRaised
from tests.conftest import completed

pytestmark = pytest.mark.slow

NORM = ", [3], None, None, 1e-5)[0]"
ROADS = {
    "its name": "return torch._refs.native_layer_norm(x" + NORM,
    "another module's torch": "import functorch\nreturn functorch.torch._refs.native_layer_norm(x" + NORM,
    "what it wraps": "return torch._refs.native_layer_norm.__wrapped__(x" + NORM,
    "a helper of it": "return torch._refs._normalize(x, [1], 1e-5)[0]",
    "a table of formulas": """
        from torch._decomp import decomposition_table
        return decomposition_table[torch.ops.aten.native_layer_norm.default](x, [3], None, None, 1e-5)[0]
    """,
    "its code in another function": """
        norm = torch._refs.native_layer_norm
        while hasattr(norm, "__wrapped__"):
            norm = norm.__wrapped__
        return types.FunctionType(norm.__code__, norm.__globals__, "own")(x, [3], None, None, 1e-5)
    """,
    "a copy of the function": "import copy\nreturn copy.deepcopy(torch._refs.native_layer_norm)(x" + NORM,
    "a pickle": "import pickle\nreturn pickle.loads(pickle.dumps(torch._refs.native_layer_norm))(x" + NORM,
    "an unpickler": """
        import io, pickle
        return pickle.Unpickler(io.BytesIO(b"ctorch.optim\\nAdamW\\n.")).load()([x.requires_grad_()]).step()
    """,
    "a name that is resolved": """
        import pkgutil
        return pkgutil.resolve_name("torch.optim:AdamW")([x.requires_grad_()])
    """,
    "the module once more": "return importlib.reload(adam).Adam([x])",
    "the module imported again": """
        import sys
        del sys.modules["torch.optim.adamw"], sys.modules["torch.optim.adam"]
        from torch.optim.adam import Adam
        return Adam([x.requires_grad_()])
    """,
    "a copy of the module": """
        import importlib.util
        spec = importlib.util.spec_from_file_location("torch.optim.own", adam.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Adam([x.requires_grad_()])
    """,
    "the module as a program": """
        import runpy
        return runpy.run_path(adam.__file__)["Adam"]([x])
    """,
    "the loader's code": """
        from importlib.machinery import SourceFileLoader
        names = {"__name__": "torch.optim.own"}
        exec(SourceFileLoader("torch.optim.adam", adam.__file__).get_code("torch.optim.adam"), names)
        return names["Adam"]([x.requires_grad_()])
    """,
    "the loader's data": "return adam.__loader__.get_data(adam.__file__)",
    "a loader of one's own": """
        from importlib.machinery import SourceFileLoader
        class Own(SourceFileLoader):
            def source_to_code(self, data, path, **options):
                found.append(data)
                return compile("", path, "exec")
        found = []
        Own("torch.optim.own", adam.__file__).load_module()
        return check(b"".join(found).decode())
    """,
    "its source": "import inspect\nreturn check(inspect.getsource(torch.optim.Adam.step))",
    "its lines": "import linecache\nreturn check(''.join(linecache.getlines(adam.__file__)))",
    "its file": "return open(adam.__file__).read()",
    "its file, by the system": "import os\nreturn os.open(adam.__file__, os.O_RDONLY)",
    "its file under another name": """
        import os
        os.symlink(adam.__file__, "own.txt")
        return open("own.txt").read()
    """,
    "its file by a path that changes": """
        import io
        class Path:
            names = [adam.__file__, "own.txt"]
            def __fspath__(self):
                return self.names.pop(0) if len(self.names) > 1 else self.names[0]
        return io.FileIO(Path()).read()
    """,
    "its byte code": """
        import importlib.util, marshal
        return marshal.loads(open(importlib.util.cache_from_source(adam.__file__), "rb").read()[16:])
    """,
    "a file that is not loaded": "import os\nreturn open(os.path.join(torch.__path__[0], 'onnx/ops/_impl.py')).read()",
    "a module that is loaded late": """
        return importlib.import_module("torch.onnx.ops._impl").attention_23(*torch.ones(3, 1, 2, 4, 3))
    """,
    "the formula of a script": """
        q = torch.ones(2, 1, 3)
        heads = torch.jit.script(F.multi_head_attention_forward)
        w, b = torch.ones(9, 3), torch.ones(9)
        return heads(q, q, q, 3, 1, w, b, None, None, False, 0.0, w[:3], b[:3], need_weights=True)
    """,
    "below a class of one's own": """
        class Own(torch.optim.SGD):
            def __init__(self, parameters):
                torch.optim.Optimizer.__init__(self, parameters, {"lr": 1.0, "differentiable": False})
        return Own([x.requires_grad_()]).step()
    """,
    "an object without its making": "return nn.TransformerEncoder.forward(nn.Module.__new__(nn.TransformerEncoder), x)",
    "a schedule's formula": """
        here = types.SimpleNamespace(last_epoch=1, base_lrs=[1.0], T_max=4, eta_min=0.0)
        return torch.optim.lr_scheduler.CosineAnnealingLR._get_closed_form_lr(here)
    """,
    "a graph": """
        from torch.fx.experimental.proxy_tensor import make_fx
        return make_fx(lambda x: F.layer_norm(x, [3]))(x)(x)
    """,
    "a graph of symbols": "return torch.fx.symbolic_trace(nn.LayerNorm(3))(x)",
    "vmap": "return torch.vmap(lambda row: F.layer_norm(row, [3]))(x)",
    "compiled": "return torch.compile(F.layer_norm)(x, [3])",
    "all that there is": """
        import gc
        for thing in gc.get_objects():
            if getattr(thing, "__name__", "") == "native_layer_norm" and callable(thing):
                thing(x, [3], None, None, 1e-5)
    """,
    "the kernel": """
        kernel = torch.library.get_kernel("aten::native_layer_norm", "CPU")
        return kernel.call_boxed(torch._C._dispatch_keys(x), x, [3], None, None, 1e-5)
    """,
    "the kernel of another device": """
        kernel = torch.library.get_kernel("aten::native_layer_norm", "XLA")
        return kernel.call_boxed(torch._C._dispatch_keys(x), x, [3], None, None, 1e-5)
    """,
    "the library that takes it away, destroyed": """
        import gc
        for thing in gc.get_objects():
            if type(thing).__name__ in ("Library", "_DispatchModule"):
                getattr(thing, "_destroy", getattr(thing, "reset", None))()
        return F.layer_norm(x, [3])
    """,
    "per example": """
        import torch.nn.utils._expanded_weights.layer_norm_expanded_weights as written
        return written.LayerNormPerSampleGrad.forward(None, {}, x, [3])
    """,
    "where tests of torch's write it": """
        import torch.nested._internal.ops as written
        return written.native_layer_norm_default(None, x)
    """,
}
FORBID = ("normalisation", "optimizer", "schedule", "attention", "heads", "transformer")
HEAD = """
import importlib, types
import torch
import torch.nn.functional as F
adam = importlib.import_module("torch.optim.adam")
from torch import nn
def check(text):
    assert "addcdiv_(" in text, "nothing is in there"
    return text
def f(x):
"""


@pytest.mark.sampled(9)
@pytest.mark.parametrize("road", ROADS)
def test_every_road_leads_to_what_is_not_there(examine: Any, road: str) -> None:
    import torch

    opened = examine(HEAD + textwrap.indent(textwrap.dedent(ROADS[road]), "    "), forbid=FORBID)
    with pytest.raises(SubmissionRaised) as caught:
        print(road, "led to", opened.submission.f(torch.rand(2, 3)))
    said = str(caught.value)
    assert any(words in said for words in ("exclude", "nothing is in there", "not permitted")), said


USED = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ndef g(): return 1\n"


def test_a_statement_that_asks_for_it_while_loading_is_left_out(examine: Any) -> None:
    opened = examine(
        USED
        + "x = torch.ones(2, 3)\n"
        + "expected = F.layer_norm(x, [3]); kept = 3\n"
        + "print(expected.sum())\n"
        + "assert g() == expected.sum()\n"
        + "for _ in range(2):\n    theirs = nn.LayerNorm(3)(x)\n"
        + "def f(): return kept\n"
        + "def late(): return expected\n",
        forbid=FORBID,
    )
    assert opened.submission.f() == 3
    assert opened.session.forbidden_uses() == []
    said = opened.session.take_output()
    assert "line 6 was left out: torch's own layer_norm is excluded in this kata" in said
    assert said.count("\n") == 4
    with pytest.raises(SubmissionRaised) as caught:
        opened.submission.late()
    assert "line 6 makes expected, and that was left out: torch's own" in caught.value.hint


def test_so_it_is_in_files_next_to_it_and_in_packages(examine: Any, tmp_path: Any) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "helper.py").write_text(USED + "expected = F.layer_norm(torch.ones(2, 3), [3])\nkept = 3\n")
    (tmp_path / "parts/__init__.py").write_text(USED + "assert nn.LayerNorm(3) is None\nalso = 4\n")
    opened = examine(
        "from helper import kept\nfrom parts import also\ndef f(): return kept + also\n", forbid=FORBID
    )
    assert opened.submission.f() == 7


def test_what_nobody_asked_for_goes_on_working_with_everything_excluded(tmp_path: Any) -> None:
    """What torch builds on itself, and loads late: in a process of its own, since nothing of it can be taken back."""
    done = completed([sys.executable, "-I", "-c", HONEST], cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


HONEST = f"""
import sys
sys.path.insert(0, {sys.path[0]!r})
import copy, importlib
import torch
from torch import nn
import grader.engine.worker.serve
from grader.engine.host.policy import excluded_names
from grader.engine.wire.messages import Watch
from grader.engine.worker.policy import taken_away

excluded = excluded_names({(*FORBID, "gelu", "clipping")!r})
used = []
policy = taken_away(excluded)
policy.watch(
    Watch(path="/nowhere/x.py", root="/nowhere", excluded=excluded, blocks=True),
    lambda name, line: used.append(name),
)
for module in (
    "torch.onnx", "torch.onnx.ops", "torch.distributed", "torch.distributed.optim", "torch.distributed.tensor",
    "torch._dynamo", "torch.nn.attention.flex_attention", "torch.utils.flop_counter", "torch.export",
    "torch._decomp.decompositions_for_jvp", "torch.jit._shape_functions", "torch.nested._internal.ops",
):
    importlib.import_module(module)
x = torch.randn(2, 3, requires_grad=True)
torch.func.jvp(lambda x: torch.softmax(x, -1), (x,), (x,))
torch.vmap(torch.func.grad(lambda x: torch.log_softmax(x, -1).sum()))(x)
torch.func.hessian(lambda x: (torch.softmax(x, -1) ** 2).sum())(x)
torch.compiler.disable(lambda x: x)(x)
with torch.utils.flop_counter.FlopCounterMode(display=False):
    nn.Linear(3, 4)(x)
torch.utils.checkpoint.checkpoint(lambda x: x * 2, x, use_reentrant=False)
torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))(x)
torch.jit.script(nn.functional.relu)(x)


class Log(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {{}}))


with Log():
    nn.Linear(3, 4)(x).sum().backward()


class Own(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {{"lr": 1.0}})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.sub_(parameter.grad)


optimizer = Own([x])
optimizer.step()
optimizer.load_state_dict(optimizer.state_dict())
copy.deepcopy(nn.Sequential(nn.Linear(3, 3), nn.Dropout()))
torch.func.functional_call(nn.Linear(3, 3), dict(nn.Linear(3, 3).named_parameters()), (x,))
nn.Linear(3, 3, device="meta")(torch.ones(2, 3, device="meta"))
with torch._subclasses.fake_tensor.FakeTensorMode():
    nn.Sequential(nn.Linear(3, 3), nn.ReLU())(torch.ones(2, 3))
torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))(x)
nn.GRU(3, 4)(x[None])
nn.Conv1d(2, 2, 1)(x)
torch.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))(x)
torch.jit.trace(nn.Linear(3, 3), x)
torch.export.export(nn.Linear(3, 3), (x.detach(),))
assert (used, policy.refused) == ([], 0)
"""
