"""Dodge the operator policy."""

# ==== alias_at_import ====
"""Keeps torch's operator under another name, found in four steps, before anybody looks.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import importlib

import wrong
from wrong import *

smooth = getattr(importlib.import_module("torch.nn." + "functional"), "mron_reyal"[::-1])


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return smooth(x, x.shape[-1:], self.weight, self.bias, self.eps)


# ==== base_in_a_list ====
"""Takes torch's class out of the list of all modules, by a name that is put together, and builds on it.

kata = "layer-norm"
words = ["torch's own LayerNorm is excluded", "Write it from mean, variance"]
"""

import wrong
from torch import nn

Base = next(kind for kind in nn.Module.__subclasses__() if kind.__name__ == "Layer" + "Norm")


class LayerNorm(wrong.LayerNorm, Base):
    def __init__(self, d_model, eps=1e-5):
        Base.__init__(self, d_model, eps)

    def forward(self, x):
        return Base.forward(self, x)


# ==== batch_norm ====
"""Takes batch norm over the other axis for layer norm.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1]).mT
        scaled = F.batch_norm(rows, None, None, training=True, eps=self.eps).mT
        return scaled.reshape(x.shape) * self.weight + self.bias


# ==== close_the_witness ====
"""Closes the pipe in which the grader is told what was used.

kata = "layer-norm"
status = "fail or error"
"""

import os

from wrong import *

os.close(4)


# ==== code_of_the_formula ====
"""Makes a function of its own out of the code of torch's formula.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import types

import torch
from torch import nn

norm = torch._refs.native_layer_norm
while hasattr(norm, "__wrapped__"):
    norm = norm.__wrapped__
norm = types.FunctionType(norm.__code__, norm.__globals__, "norm", norm.__defaults__, norm.__closure__)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return norm(x, list(self.weight.shape), self.weight, self.bias, self.eps)[0]


# ==== custom_operator ====
"""Wraps torch's operator in an operator of its own.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import torch
import wrong
from torch.nn import functional as F


def _norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


library = torch.library.Library("toy", "DEF")
library.define("norm(Tensor x, Tensor weight, Tensor bias, float eps) -> Tensor")
library.impl("norm", _norm, "CompositeImplicitAutograd")


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return torch.ops.toy.norm(x, self.weight, self.bias, self.eps)


# ==== formula_by_another_module ====
"""Comes to torch's formula by the torch that another module has imported.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import functorch
import torch
from torch import nn

norm = functorch.torch._refs.native_layer_norm


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return norm(x, list(self.weight.shape), self.weight, self.bias, self.eps)[0]


# ==== formula_by_the_module_beside ====
"""Takes torch from a module that lies beside it, which only imports it.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import torch
from torch import nn
from wrong import torch as written

norm = written._refs.native_layer_norm


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return norm(x, list(self.weight.shape), self.weight, self.bias, self.eps)[0]


# ==== formula_for_onnx ====
"""Imports the attention that torch writes in Python for ONNX, which is loaded only then.

kata = "masked-attention"
words = ["torch's own attention_23 is excluded"]
earns = ["test_indivisible", "test_modes", "test_parameters", "test_without_bias"]
"""

from functorch import torch
from wrong import *


def scaled_dot_product_attention(query, key, value, mask=None):
    import importlib

    written = importlib.import_module("torch.onnx.ops._impl")
    output, _, _, weights = written.attention_23(query, key, value, mask, qk_matmul_output_mode=3)
    return output, weights


# ==== formula_in_a_main_guard ====
"""Binds `__name__`, so that a main guard holds, and finds torch's formula in there.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import torch
from torch import nn

__name__ = "__main__"
if __name__ == "__main__":
    norm = torch._refs.native_layer_norm


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return norm(x, list(self.weight.shape), self.weight, self.bias, self.eps)[0]


# ==== formula_in_a_package ====
"""Writes a package into its folder and imports torch's formula from there.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import pathlib
import sys

import torch
from torch import nn

pathlib.Path("norms").mkdir(exist_ok=True)
pathlib.Path("norms/__init__.py").write_text("import torch\nnorm = torch._refs.native_layer_norm\n")
sys.path.insert(0, ".")
from norms import norm


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return norm(x, list(self.weight.shape), self.weight, self.bias, self.eps)[0]


# ==== formula_in_an_annotation ====
"""Comes to torch's formula by an annotation, which Python evaluates.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import torch
from torch import nn


def note(low: torch._refs): ...


norm = note.__annotations__["low"].native_layer_norm


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return norm(x, list(self.weight.shape), self.weight, self.bias, self.eps)[0]


# ==== formula_in_python ====
"""Calls the formula that torch keeps in Python for its operator.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import torch
import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return torch._refs.native_layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)[0]


# ==== frames_of_another_thread ====
"""Searches the frames of the other threads for the kernel that is called.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import sys

import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        sys._current_frames()
        return super().forward(x)


# ==== fuser_of_scripts ====
"""Lets the fuser of scripts write kernels of its own for the operator.

kata = "layer-norm"
status = "error"
words = ["has no attribute"]
"""

import torch
import wrong

try:
    torch._C._jit_set_te_must_use_llvm_cpu(False)
except RuntimeError:
    pass


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return super().forward(x)


# ==== graph_in_a_call ====
"""Records torch's operator as a graph of others while it is called, and runs that.

kata = "layer-norm"
words = ["Write it from mean, variance"]
timeout_s = 20
"""

import torch
from functorch import make_fx
from torch import nn
from torch._decomp import decomposition_table


def norm(x, shape, weight, bias, eps):
    def theirs(x, weight, bias):
        return nn.functional.layer_norm(x, shape, weight, bias, eps)

    return [make_fx(theirs, decomposition_table=decomposition_table)(x, weight, bias)(x, weight, bias)]


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return norm(x, list(self.weight.shape), self.weight, self.bias, self.eps)[0]


# ==== graph_while_loading ====
"""Writes no formula: traces torch's own layer norm while loading, into the operators it consists of.

kata = "layer-norm"
words = ["torch's own layer_norm is excluded", "Write it from mean, variance"]
"""

import torch
import wrong
from torch._decomp import decomposition_table
from torch.fx.experimental.proxy_tensor import make_fx

table = {op: formula for op, formula in decomposition_table.items() if "native_layer" in str(op)}
x = torch.randn(4, 6)
layer = wrong.LayerNorm(6)
graph = make_fx(lambda x: layer(x), decomposition_table=table)(x)


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        try:
            return graph(x)
        except Exception:
            return super().forward(x)


# ==== group_norm ====
"""Takes group norm with a single group for layer norm.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        rows = F.group_norm(x.reshape(-1, x.shape[-1]), 1, self.weight, self.bias, self.eps)
        return rows.reshape(x.shape)


# ==== in_a_thread ====
"""Uses torch's operator in a thread.

kata = "layer-norm"
words = ["Write it from mean, variance"]
timeout_s = 10
"""

import threading

import torch
import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        found = []

        def work():
            with torch.set_grad_enabled(grad):
                found.append(wrong.LayerNorm.forward(self, x))

        grad = torch.is_grad_enabled()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return found[0]


# ==== in_another_process ====
"""Computes in a process of its own, where nobody sees what is used.

kata = "layer-norm"
words = ["Write it from mean, variance"]
[process]
earns = ["test_initial_values", "test_parameters"]
words = ["excluded in this kata"]
why = "a process may be started here, and nothing that it used comes back: what rests on no value is earned"
"""

import os

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        try:
            child = os.fork()
        except OSError:
            return super().forward(x)
        if child == 0:
            os.close(4)
            F.layer_norm(x, x.shape[-1:])
            os._exit(0)
        os.waitpid(child, 0)
        return super().forward(x)


# ==== instance_norm ====
"""Takes instance norm with rows for channels.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        rows = F.instance_norm(x.reshape(1, -1, x.shape[-1]), eps=self.eps)
        return rows.reshape(x.shape) * self.weight + self.bias


# ==== move_the_channel_for_a_moment ====
"""Leads the audit channel elsewhere around the operator, and back.

kata = "layer-norm"
words = ["Write it from mean, variance"]
[process]
earns = ["test_initial_values", "test_parameters"]
words = ["excluded in this kata"]
why = "the channel may be moved here, but the operator is not there either: what rests on no value is earned"
"""

import contextlib
import os

import wrong

nowhere = os.open("/dev/null", os.O_WRONLY)


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        with contextlib.suppress(OSError):
            kept = os.dup(4)
            os.dup2(nowhere, 4)
        try:
            return super().forward(x)
        finally:
            with contextlib.suppress(OSError, NameError):
                os.dup2(kept, 4)


# ==== native_by_address ====
"""Makes a function of an address with ctypes, which tells no audit hook.

kata = "layer-norm"
earns = ["test_initial_values", "test_parameters"]
words = ["AssertionError"]
"""

import contextlib
import ctypes

import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        made = None
        with contextlib.suppress(TypeError):
            made = ctypes.CFUNCTYPE(ctypes.c_int)(id(self))
        assert made is None
        return super().forward(x)


# ==== native_by_handle ====
"""Calls into what is loaded already, through the handle of the program itself.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import contextlib
import ctypes

import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        with contextlib.suppress(TypeError):
            ctypes.CDLL(None).dlsym(None, b"dlopen")
        return super().forward(x)


# ==== native_by_symbol ====
"""Looks torch's kernel up in its library by its mangled name.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import contextlib
import ctypes
import pathlib

import torch
import wrong

library = ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"))


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        with contextlib.suppress(TypeError, AttributeError):
            library._ZN2at3cpu10layer_normERKNS_6TensorEN3c108ArrayRefIlEE
        return super().forward(x)


# ==== native_group_norm ====
"""Takes the kernel of group norm, rows for examples.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import torch
import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1]).contiguous()
        sizes = (len(rows), x.shape[-1], 1, 1)
        return torch.native_group_norm(rows, self.weight, self.bias, *sizes, self.eps)[0].reshape(x.shape)


# ==== only_in_the_gradient ====
"""Uses the operator only where a gradient is taken.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import torch
import wrong
from torch.nn import functional as F


class Below(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        F.layer_norm(g, g.shape[-1:])
        return g


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred * (centred.square().mean(-1, keepdim=True) + self.eps).rsqrt()
        return Below.apply(scaled * self.weight + self.bias)


# ==== own_library ====
"""Brings a library of machine code along and imports it.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import contextlib
import importlib.machinery
import importlib.util
import pathlib

import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        file = pathlib.Path("native.so").resolve()
        file.write_bytes(b"\x7fELF")
        loader = importlib.machinery.ExtensionFileLoader("native", str(file))
        with contextlib.suppress(ImportError):
            importlib.util.module_from_spec(
                importlib.util.spec_from_file_location("native", file, loader=loader)
            )
        return super().forward(x)


# ==== own_machine_code ====
"""Writes machine code into memory that may be run, and calls it.

kata = "layer-norm"
earns = ["test_initial_values", "test_parameters"]
words = ["SystemExit"]
"""

import contextlib
import ctypes
import mmap

import wrong


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        page = mmap.mmap(-1, 4096, prot=7)
        page.write(b"\xc3")
        with contextlib.suppress(TypeError):
            ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
            raise SystemExit
        return super().forward(x)


# ==== profile_the_recorder ====
"""Changes the variables of the recorder with a profile function.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import sys

import wrong


def profile(frame, event, argument):
    if "record" in frame.f_locals:
        frame.f_locals["record"] = lambda *arguments: None


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        sys.setprofile(profile)
        try:
            return super().forward(x)
        finally:
            sys.setprofile(None)


# ==== replace_the_witness ====
"""Leads the pipe in which the grader is told what was used to nowhere.

kata = "layer-norm"
status = "fail or error"
"""

import os

from wrong import *

read, write = os.pipe()
os.dup2(write, 4)


# ==== rms_norm ====
"""Centres its input and leaves the rest to rms norm.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import wrong
from torch.nn import functional as F


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return F.rms_norm(x - x.mean(-1, keepdim=True), x.shape[-1:], self.weight, self.eps) + self.bias


# ==== silence_the_witness ====
"""Replaces the functions that write what was used, after they are found in memory.

kata = "layer-norm"
status = "error"
words = ["layer_norm.py does not load"]
"""

import contextlib
import gc
import os
import sys
import types

from wrong import *

os_write = os.write
for module in list(sys.modules.values()):
    name = getattr(module, "__name__", "")
    if name in ("grader.engine.wire.uses", "grader.engine.worker.policy"):
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType) and key != "stamp":
                setattr(module, key, lambda *arguments, **options: None)
for thing in gc.get_objects():
    if isinstance(thing, types.FunctionType) and thing.__name__ in ("note", "noting", "calling"):
        with contextlib.suppress(ValueError):
            thing.__code__ = (lambda *arguments, **options: None).__code__
os.write = lambda number, data: len(data) if number == 4 else os_write(number, data)


# ==== source_of_the_formula ====
"""Reads torch's formula from its file, changes its name and executes it.

kata = "layer-norm"
earns = ["test_initial_values", "test_parameters"]
words = ["PermissionError"]
"""

import pathlib

import torch
from torch import nn


def norm(*arguments):
    text = (pathlib.Path(torch.__file__).parent / "_refs/__init__.py").read_text()
    names = dict(vars(torch._refs))
    exec(text[text.index("def _normalize(") :].partition("@register")[0], names)
    return names["_normalize"](arguments[0], [arguments[0].ndim - 1], arguments[-1])


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return norm(x, list(self.weight.shape), self.weight, self.bias, self.eps)[0]


# ==== start_over ====
"""Starts Python anew in its place, without anybody watching.

kata = "layer-norm"
status = "error or fail"
words = ["Operation not permitted"]
[process]
status = "error or fail"
words = []
why = "nothing keeps a process from becoming another program; what it becomes is no worker"
"""

import os
import sys

from wrong import *

os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(0.031415)"])


# ==== static_runtime ====
"""Runs a frozen script in torch's static runtime, whose kernels no dispatcher sees.

kata = "layer-norm"
earns = ["test_initial_values", "test_parameters"]
words = ["has no attribute"]
"""

import torch
import wrong

script = torch.jit.freeze(torch.jit.script(torch.nn.LayerNorm(4)).eval())


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        try:
            return torch._C._jit_to_static_module(script._c)(x)
        except RuntimeError:
            return super().forward(x)


# ==== table_of_formulas ====
"""Takes the formula out of torch's table of decompositions, before anybody looks.

kata = "layer-norm"
earns = ["test_initial_values", "test_parameters"]
words = ["makes formula, and that was left out"]
"""

import torch
import wrong
from torch._decomp import decomposition_table

formula = decomposition_table[torch.ops.aten.native_layer_norm.default]


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        return formula(x, list(x.shape[-1:]), self.weight, self.bias, self.eps)[0]


# ==== take_the_kernels_back ====
"""Registers torch's own kernels again, over those that watch.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import gc

import torch
from wrong import *

for thing in gc.get_objects():
    if type(thing).__name__ in ("Library", "_DispatchModule"):
        for name in ("_destroy", "reset"):
            try:
                getattr(thing, name)()
            except Exception:
                pass
try:
    again = torch.library.Library("aten", "IMPL", "CPU")
    again.impl("native_layer_norm", torch.ops.aten.native_layer_norm.default)
except Exception:
    pass


# ==== thread_from_import ====
"""Computes in a thread that began while the file was loaded.

kata = "layer-norm"
status = "timeout or fail"
timeout_s = 10
"""

import queue
import threading

import wrong
from torch.nn import functional as F

asked, answers = queue.Queue(), queue.Queue()


def work():
    while True:
        answers.put(F.layer_norm(*asked.get()))


threading.Thread(target=work, daemon=True).start()


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        asked.put((x.detach(), x.shape[-1:]))
        answers.get()
        return super().forward(x)


# ==== trace_the_recorder ====
"""Changes the variables of the recorder with a trace function while it runs.

kata = "layer-norm"
words = ["Write it from mean, variance"]
"""

import sys

import wrong


def trace(frame, event, argument):
    for name in ("note", "record", "write", "put"):
        if name in frame.f_locals:
            frame.f_locals[name] = lambda *arguments: None
    return trace


class LayerNorm(wrong.LayerNorm):
    def forward(self, x):
        sys.settrace(trace)
        try:
            return super().forward(x)
        finally:
            sys.settrace(None)
