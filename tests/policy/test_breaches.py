"""Ways to use what a kata excludes: it is not there, whatever asks for it, and earns next to nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = pytest.mark.slow

LN = "F.layer_norm(x, shape, weight, bias, eps)"

RIGHT: dict[str, tuple[str, ...]] = {
    # --- by another name ---
    "plainly": ("layer-norm", f"return {LN}"),
    "getattr of a name made at run time": (
        "layer-norm",
        'return getattr(F, "".join(["mron_reyal"[::-1]]))(x, shape, weight, bias, eps)',
    ),
    "eval of a text": ("layer-norm", f"return eval({LN!r})"),
    "torch.layer_norm": ("layer-norm", "return torch.layer_norm(x, shape, weight, bias, eps)"),
    "torch._VF": ("layer-norm", "return torch._VF.layer_norm(x, shape, weight, bias, eps)"),
    "torch.ops, a packet": ("layer-norm", "return torch.ops.aten.layer_norm(x, shape, weight, bias, eps)"),
    "an operator found by its schema": (
        "layer-norm",
        'call = torch._C._jit_get_operation("aten::layer_norm")[0]\nreturn call(x, shape, weight, bias, eps)',
    ),
    "sent to the kernel of the CPU": (
        "layer-norm",
        """
        class Straight(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, shape, eps):
                keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
                out, mean, rstd = torch.ops.aten.native_layer_norm.default.redispatch(keys, x, shape, None, None, eps)
                ctx.save_for_backward(out, rstd)
                return out
            @staticmethod
            def backward(ctx, g):
                out, rstd = ctx.saved_tensors
                return rstd * (g - g.mean(-1, True) - out * (g * out).mean(-1, True)), None, None
        """,
        "return Straight.apply(x, shape, eps) * weight + bias",
    ),
    "a kernel asked for": (
        "layer-norm",
        'kernel = torch.library.get_kernel("aten::layer_norm", "CPU")',
        """
        keys = torch._C._dispatch_keys(x)
        return kernel.call_boxed(keys, x, list(shape), weight, bias, eps)
        """,
    ),
    "a kernel below the dispatcher, by a graph written as text": (
        "layer-norm",
        """
        norm = torch._C._create_function_from_graph("norm", torch._C.parse_ir('''
        graph(%x : Tensor, %w : Tensor, %b : Tensor, %n : int[], %eps : float):
          %c : bool = prim::Constant[value=0]()
          %y : Tensor = prim::MKLDNNLayerNorm(%x, %n, %w, %b, %eps, %c)
          return (%y)'''))
        class Theirs(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight, bias, eps):
                ctx.save_for_backward(x, weight)
                ctx.eps, size = eps, x.shape[-1]
                flat = [t.detach().float().contiguous().to_mkldnn() for t in (x.reshape(-1, size), weight, bias)]
                return norm(*flat, [size], eps).to_dense().to(x.dtype).reshape(x.shape)
            @staticmethod
            def backward(ctx, g):
                x, weight = ctx.saved_tensors
                r = torch.rsqrt(x.var(-1, correction=0, keepdim=True) + ctx.eps)
                y, h = (x - x.mean(-1, keepdim=True)) * r, g * weight
                dx = r * (h - h.mean(-1, keepdim=True) - y * (h * y).mean(-1, keepdim=True))
                return dx, (g * y).reshape(-1, x.shape[-1]).sum(0), g.reshape(-1, x.shape[-1]).sum(0), None
        """,
        "return Theirs.apply(x, weight, bias, eps)",
    ),
    "the static runtime, by a graph written as text": (
        "layer-norm",
        """
        graph = torch._C.parse_ir('''graph(%x : Tensor, %n : int[], %w : Tensor, %b : Tensor):
          %one : bool = prim::Constant[value=1]()
          %eps : float = prim::Constant[value=1e-05]()
          %y : Tensor = aten::layer_norm(%x, %n, %w, %b, %eps, %one)
          return (%y)''')
        torch._C._fuse_to_static_module(graph, 1)
        norm = torch._C._create_function_from_graph("norm", graph)
        """,
        "return norm(x, list(shape), weight, bias)",
    ),
    "in place": ("feed-forward", "return torch.ops.aten.gelu_(x.clone())"),
    # --- inside something else ---
    "nn.LayerNorm without parameters": (
        "layer-norm",
        "return nn.LayerNorm(shape, eps, elementwise_affine=False, dtype=x.dtype)(x) * weight + bias",
    ),
    "a module that was made beforehand": ("feed-forward", "bend = nn.GELU()", "return bend(x)"),
    "a script": (
        "feed-forward",
        "@torch.jit.script\ndef scripted(x: torch.Tensor) -> torch.Tensor:\n    return torch.nn.functional.gelu(x)",
        "return scripted(x)",
    ),
    "a trace": (
        "feed-forward",
        "traced = torch.jit.trace(lambda x: F.gelu(x), torch.ones(2), check_trace=False)",
        "return traced(x)",
    ),
    "an fx graph": ("feed-forward", "graph = torch.fx.symbolic_trace(nn.GELU())", "return graph(x)"),
    "a custom operator": (
        "feed-forward",
        """
        @torch.library.custom_op("answer::bend", mutates_args=())
        def bend(x: torch.Tensor) -> torch.Tensor:
            return F.gelu(x)
        def slope(ctx, g):
            density = torch.exp(-ctx.x**2 / 2) / math.sqrt(2 * math.pi)
            return g * (0.5 * (1 + torch.erf(ctx.x / 2**0.5)) + ctx.x * density)
        bend.register_autograd(slope, setup_context=lambda ctx, inputs, output: setattr(ctx, "x", inputs[0]))
        """,
        "return bend(x)",
    ),
    "a library of its own": (
        "feed-forward",
        """
        library = torch.library.Library("mine", "DEF")
        library.define("bend(Tensor x) -> Tensor")
        library.impl("bend", lambda x: F.gelu(x), "CompositeImplicitAutograd")
        """,
        "return torch.ops.mine.bend(x)",
    ),
    "another thread": (
        "feed-forward",
        "from concurrent.futures import ThreadPoolExecutor",
        "with ThreadPoolExecutor(1) as pool:\n    return pool.submit(F.gelu, x).result()",
    ),
    "vmap": ("feed-forward", "return torch.vmap(F.gelu)(x.reshape(-1, 1)).reshape(x.shape)"),
    "a class of torch's below one's own": (
        "layer-norm",
        """
        class Below(nn.LayerNorm):
            pass
        """,
        "norm = Below(shape, eps, dtype=x.dtype)\nreturn norm(x) * weight + bias",
    ),
    "attention, plainly": ("self-attention", "return F.scaled_dot_product_attention(q, k, v)"),
    "attention, a kernel of its own": (
        "self-attention",
        """
        fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        return fused(q[:, None], k[:, None], v[:, None])[0][:, 0]
        """,
    ),
    "attention under a back end": (
        "self-attention",
        "from torch.nn.attention import SDPBackend, sdpa_kernel",
        "with sdpa_kernel(SDPBackend.MATH):\n    return F.scaled_dot_product_attention(q, k, v)",
    ),
    "attention of another name, in a file that is named for it": (
        "self-attention",
        """
        from torch._inductor.fx_passes.fuse_attention import _sfdp_pattern_1 as attend
        one = torch.eye(v.shape[1], dtype=q.dtype, device=q.device)
        return attend(q, k, one, q.shape[-1] ** 0.5) @ v
        """,
    ),
    "attention, masked": (
        "masked-attention",
        "return F.scaled_dot_product_attention(query, key, value, mask), weights_of(query, key, mask)",
    ),
    # --- by a relative, or where torch writes it down again ---
    "a base class": (
        "encoder-layer",
        """
        Base = vars(nn)["TransformerEncoderLayer"]
        class Other(Base):
            pass
        """,
        "Other(4, 2)",
    ),
    # --- for nothing, or somewhere else ---
    "a result that is thrown away": ("layer-norm", f"{LN}\nreturn own(x, shape, weight, bias, eps)"),
    "in what a gradient calls": (
        "layer-norm",
        """
        class Own(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()
            @staticmethod
            def backward(ctx, g):
                F.layer_norm(g, g.shape[-1:])
                return g
        """,
        "return own(Own.apply(x), shape, weight, bias, eps)",
    ),
    "in a thread that began while loading": (
        "layer-norm",
        """
        import queue, threading
        asked, answers = queue.Queue(), queue.Queue()
        def work():
            while True:
                answers.put(F.layer_norm(*asked.get()))
        threading.Thread(target=work, daemon=True).start()
        """,
        """
        asked.put((x.detach(), shape))
        answers.get()
        return own(x, shape, weight, bias, eps)
        """,
    ),
    "on a tensor without numbers": (
        "layer-norm",
        'F.layer_norm(x.to("meta"), shape)\nreturn own(x, shape, weight, bias, eps)',
    ),
    "in inference mode": (
        "layer-norm",
        """
        with torch.inference_mode():
            F.layer_norm(x.detach().clone(), shape)
        return own(x, shape, weight, bias, eps)
        """,
    ),
    "under autocast": (
        "self-attention",
        """
        with torch.autocast("cpu", torch.bfloat16):
            F.scaled_dot_product_attention(q, k, v)
        return own(q, k, v)
        """,
    ),
    "only where the check does not look": (
        "layer-norm",
        f"return own(x, shape, weight, bias, eps) if x.shape[-1] == 6 else {LN}",
    ),
    "nn.MultiheadAttention": (
        "masked-attention",
        """
        nn.MultiheadAttention(4, 2)(*torch.ones(3, 5, 4).unbind(0))
        return own(query, key, value, mask), weights_of(query, key, mask)
        """,
    ),
    "F.multi_head_attention_forward": (
        "masked-attention",
        """
        again = torch.jit.script(F.multi_head_attention_forward)
        from torch.nn.functional import multi_head_attention_forward as heads
        """,
        """
        w, b = torch.ones(12, 4), torch.ones(12)
        q = torch.ones(3, 2, 4)
        heads(q, q, q, 4, 2, w, b, None, None, False, 0.0, w[:4], b[:4], training=False, need_weights=True)
        return own(query, key, value, mask), weights_of(query, key, mask)
        """,
    ),
    "the fast path of an encoder layer": (
        "masked-attention",
        "layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()",
        """
        with torch.no_grad():
            layer(torch.ones(1, 2, 4))
        return own(query, key, value, mask), weights_of(query, key, mask)
        """,
    ),
    "nn.TransformerEncoderLayer": ("encoder-layer", "nn.TransformerEncoderLayer(x.shape[-1], 1)"),
    "an encoder that was made while loading": (
        "encoder-layer",
        "kept = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)",
        "kept(torch.ones(1, 2, 4))",
    ),
    "an encoder that nobody constructed": (
        "encoder-layer",
        """
        import pickle
        kept = pickle.dumps(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True))
        """,
        "pickle.loads(kept)(torch.ones(1, 2, 4))",
    ),
    # --- another operator that computes it ---
    "batch norm over the other axis": (
        "layer-norm",
        """
        rows = x.reshape(-1, x.shape[-1])
        scaled = F.batch_norm(rows.mT, None, None, training=True, eps=eps).mT
        return scaled.reshape(x.shape) * weight + bias
        """,
    ),
    "rms norm of what is centred": (
        "layer-norm",
        "return F.rms_norm(x - x.mean(-1, keepdim=True), shape, weight, eps) + bias",
    ),
    "a formula of torch's in Python": (
        "layer-norm",
        "return torch._refs.native_layer_norm(x, shape, weight, bias, eps)[0]",
    ),
    "the table of formulas": (
        "layer-norm",
        "from torch._decomp import core_aten_decompositions, decomposition_table",
        """
        formula = decomposition_table[torch.ops.aten.native_layer_norm.default]
        return formula(x, list(shape), weight, bias, eps)[0]
        """,
    ),
    "gelu out of its own gradient": (
        "feed-forward",
        """
        slope = torch.ops.aten.gelu_backward(torch.ones_like(x), x)
        return x * (slope - x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi))
        """,
    ),
    "oneDNN's attribute": (
        "feed-forward",
        """
        column = x.detach().float().reshape(-1, 1)
        torch.ops.mkldnn._linear_pointwise(column, torch.eye(1), None, "gelu", [], "none")
        return own(x)
        """,
    ),
    "the static runtime": (
        "feed-forward",
        """
        class Bend(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return F.gelu(x)
        frozen = torch.jit.freeze(torch.jit.script(Bend()).eval())
        """,
        """
        try:
            torch._C._jit_to_static_module(frozen._c)(x.detach())
        except RuntimeError:
            pass
        return own(x)
        """,
    ),
    "the fuser of scripts": (
        "feed-forward",
        """
        try:
            torch._C._jit_set_te_must_use_llvm_cpu(False)
        except RuntimeError:
            pass
        """,
        "return own(x)",
    ),
    "attention for ONNX": (
        "self-attention",
        """
        import importlib
        importlib.import_module("torch.onnx.ops").attention(q, k, v, q_num_heads=1, kv_num_heads=1)
        return own(q, k, v)
        """,
    ),
    "the formula of flexible attention": (
        "self-attention",
        "from torch._higher_order_ops.flex_attention import math_attention",
        """
        try:
            math_attention(q, k, v, None, (), 1.0, {})
        except Exception:
            pass
        return own(q, k, v)
        """,
    ),
    "the fused heads": (
        "masked-attention",
        """
        w, b, q = torch.ones(12, 4), torch.ones(12), torch.ones(1, 2, 4)
        with torch.no_grad():
            torch._native_multi_head_attention(q, q, q, 4, 2, w, b, w[:4], b[:4])
        return own(query, key, value, mask), weights_of(query, key, mask)
        """,
    ),
}

HIDDEN = 'return getattr(F, "ge" + chr(108) + "u")(x)'
"""A call under a name that is made while it runs."""

UNDOING: dict[str, tuple[str, str]] = {
    "registered again, with what was there": (
        """
        before = torch.library.get_kernel("aten::gelu", "CPU")
        again = torch.library.Library("aten", "IMPL")
        def call(keys, x, **more): return before.call_boxed(keys, x, **more)
        again.impl("gelu", call, "CPU", with_keyset=True, allow_override=True)
        """,
        HIDDEN,
    ),
    "the library taken down": (
        """
        import gc
        for thing in gc.get_objects():
            if isinstance(thing, torch.library.Library) and thing.ns == "aten" and thing.kind == "IMPL":
                thing._destroy()
            elif type(thing) is torch._C._DispatchModule:
                thing.reset()
        """,
        HIDDEN,
    ),
    "the recorder patched": (
        """
        import os
        import grader.engine.worker.policy as policy
        import grader.engine.wire.uses as uses
        os.write = lambda number, data: len(data)
        for module in (policy, uses):
            for name, value in list(vars(module).items()):
                if callable(value) and getattr(value, "__module__", "") == module.__name__:
                    setattr(module, name, lambda *a, **k: None)
        """,
        HIDDEN,
    ),
    "every function of the recorder made silent": (
        """
        import gc
        def silent(*a, **k): pass
        for thing in gc.get_objects():
            if type(thing) is type(silent) and thing.__code__.co_name in ("note", "line"):
                try:
                    thing.__code__ = (lambda *a, **k: None).__code__
                except ValueError:
                    pass
        """,
        HIDDEN,
    ),
    "what decides whether it is away, found by the frames outside": (
        """
        import sys
        def open_it():
            frame = sys._getframe()
            while frame is not None:
                policy = getattr(frame.f_locals.get("self"), "_policy", None)
                if policy is not None:
                    type(policy).holds = property(lambda self: False, lambda self, value: None)
                frame = frame.f_back
        """,
        "open_it()\nreturn F.gelu(x)",
    ),
    "the kernel in a frame of the refusal": (
        """
        def kernel():
            try:
                F.gelu(torch.zeros(1))
            except RuntimeError as error:
                at = error.__traceback__
                while at:
                    if "kernel" in at.tb_frame.f_locals:
                        return at.tb_frame.f_locals["kernel"], at.tb_frame.f_locals["keys"]
                    at = at.tb_next
        """,
        "call, keys = kernel()\nreturn call(keys, x)",
    ),
    "the record closed": ("import os\nos.closerange(4, 64)", HIDDEN),
    "the record led elsewhere": (
        """
        import contextlib, os
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 4)
        """,
        HIDDEN,
    ),
    "the record led elsewhere for a moment": (
        "import contextlib, os",
        """
        with contextlib.suppress(OSError):
            kept = os.dup(4)
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 4)
        y = getattr(F, "ge" + chr(108) + "u")(x)
        with contextlib.suppress(OSError, NameError):
            os.dup2(kept, 4)
        return y
        """,
    ),
    "the record filled": (
        "import contextlib, os, struct",
        """
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(4, struct.pack("<HQ", 0xFFFF, 1) * 3)
        return getattr(F, "ge" + chr(108) + "u")(x)
        """,
    ),
    "a table made when the grader asks for the name": (
        """
        import sys, types
        H, TABLE = 1e-3, {}
        class Module(types.ModuleType):
            def __getattribute__(self, name):
                if name == "gelu" and not TABLE:
                    grid = torch.arange(-12.0, 12.0, H, dtype=torch.float64)
                    TABLE["y"] = getattr(F, "ge" + chr(108) + "u")(grid)
                return super().__getattribute__(name)
        sys.modules[__name__].__class__ = Module
        """,
        """
        at = (x.double().clamp(-11.9, 11.9) + 12) / H
        low = at.detach().floor().long()
        y = TABLE["y"][low] + (at - low) * (TABLE["y"][low + 1] - TABLE["y"][low])
        return torch.where(x > 11, x, y.to(x.dtype))
        """,
    ),
    "the recorder's variables changed while it runs": (
        """
        import sys
        def trace(frame, event, argument):
            for name in frame.f_locals:
                if name in ("note", "record", "write"):
                    frame.f_locals[name] = lambda *a: None
            return trace
        """,
        """
        sys.settrace(trace)
        try:
            return getattr(F, "ge" + chr(108) + "u")(x)
        finally:
            sys.settrace(None)
        """,
    ),
}
BREACHES = RIGHT | {name: ("feed-forward", *code) for name, code in UNDOING.items()}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group(f"breaches-{slug}"))
        for name, (slug, *_) in BREACHES.items()
    ],
)
def test_what_is_excluded_is_not_there(graded: Any, name: str) -> None:
    report = graded(BREACHES, name)
    assert report.status not in ("pass", "in_progress"), report.message
    # Where only gelu may not use it, the network may: its checks say nothing of this.
    within = BREACHES[name][0] == "feed-forward"
    rest = [one for one in report.checks if not within or ("gelu" in one.id and "network" not in one.id)]
    # What was left out while loading is one slip, which costs half of the points at most.
    assert sum(one.points for one in rest) <= sum(one.max_points for one in rest) / 2, report.checks
    said = " ".join(filter(None, (report.message, *(one.message for one in rest))))
    told = "excluded in this kata|used torch|torch.ops is for given blocks|NameError|no attribute"
    assert re.search(told, said), said
