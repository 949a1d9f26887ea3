"""Honest answers that mention, define or resemble what is excluded: no check is lost."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.slow

OWN_NORM = "return own(x, shape, weight, bias, eps)"
OWN_ATTENTION = "return own(query, key, value, mask), weights_of(query, key, mask)"

HONEST: dict[str, tuple[str, ...]] = {
    "a function called layer_norm": (
        "layer-norm",
        "def layer_norm(x, shape, weight, bias, eps):\n    return own(x, shape, weight, bias, eps)",
        "return layer_norm(x, shape, weight, bias, eps)",
    ),
    "a parameter called F": (
        "layer-norm",
        """
        class Tools:
            layer_norm = staticmethod(own)
        def through(F, *arguments):
            return F.layer_norm(*arguments)
        """,
        "return through(Tools, x, shape, weight, bias, eps)",
    ),
    "a method called layer_norm": (
        "layer-norm",
        "class Norms:\n    def layer_norm(self, *arguments):\n        return own(*arguments)\ntorch_like = Norms()",
        "return torch_like.layer_norm(x, shape, weight, bias, eps)",
    ),
    "comments and texts": (
        "layer-norm",
        '"""Unlike F.layer_norm(x, shape) and torch.nn.LayerNorm(4), this one is ours."""\nNOTE = "F.layer_norm(x)"',
        "# return F.layer_norm(x, shape, weight, bias, eps)\n" + OWN_NORM,
    ),
    "imported and never used": (
        "layer-norm",
        "from torch.nn import LayerNorm as TorchLayerNorm\nfrom torch.nn.functional import layer_norm, gelu",
        OWN_NORM,
    ),
    "asked for its type": ("layer-norm", "assert not isinstance(self, nn.LayerNorm)\n" + OWN_NORM),
    "a test that nothing calls": (
        "layer-norm",
        """
        def test_mine():
            x = torch.randn(2, 3)
            assert torch.allclose(LayerNorm(3)(x), F.layer_norm(x, (3,)))
        if __name__ == "__main__":
            test_mine()
        """,
        OWN_NORM,
    ),
    "a script of torch's that is only compared with, while loading": (
        "feed-forward",
        "bend = torch.jit.script(nn.GELU())\nassert torch.allclose(own(torch.ones(2)), bend(torch.ones(2)))",
        "return own(x)",
    ),
    "variance and mean of torch's": (
        "layer-norm",
        """
        variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
        return (x - mean) * torch.rsqrt(variance + eps) * weight + bias
        """,
    ),
    "gelu of torch's in the network alone": ("feed-forward", "return own(x)"),
    "nn.GELU in the network alone": (
        "feed-forward",
        "activations = {'gelu': nn.GELU(), 'relu': nn.ReLU()}",
        "return own(x)",
    ),
    "gelu by the normal distribution": ("feed-forward", "return x * torch.special.ndtr(x)"),
    "used while loading, in a test that the name of a variable seems to lead to": (
        "layer-norm",
        """
        x = torch.linspace(-2, 2, 6).reshape(2, 3)
        centred = F.layer_norm(x, (3,))
        variance = nn.LayerNorm(3)(x)
        assert torch.allclose(own(x, (3,), 1.0, 0.0, 1e-5), centred, atol=1e-5)
        """,
        "centred = x - x.mean(-1, keepdim=True)\n" + OWN_NORM,
    ),
    "attention of torch's in a test while loading": (
        "masked-attention",
        """
        sample = torch.randn(3, 2, 4)
        heads = nn.MultiheadAttention(4, 2, batch_first=True)
        expected, _ = heads(sample, sample, sample)
        assert torch.allclose(
            own(sample, sample, sample, None), F.scaled_dot_product_attention(sample, sample, sample), atol=1e-5
        )
        """,
        OWN_ATTENTION,
    ),
    "an encoder of torch's that is only compared with, while loading": (
        "encoder-layer",
        "kept = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1)(torch.ones(1, 2, 4))",
        "",
    ),
    "a class called MultiheadAttention": (
        "masked-attention",
        "class MultiheadAttention(nn.Module):\n    pass\nkept = MultiheadAttention()",
        OWN_ATTENTION,
    ),
    "its own scaled_dot_product_attention, called": (
        "masked-attention",
        "if query is None:\n    return scaled_dot_product_attention(query, key, value)\n" + OWN_ATTENTION,
    ),
    "other operators of torch's": (
        "self-attention",
        """
        scores = torch.baddbmm(q.new_zeros(()), q, k.mT, alpha=q.size(-1) ** -0.5)
        return torch.einsum("bqk,bkd->bqd", scores.softmax(-1), v)
        """,
    ),
    "norm and attention of torch's, where they are allowed": (
        "encoder-layer",
        "F.scaled_dot_product_attention(x, x, x), F.layer_norm(x, x.shape[-1:]), nn.MultiheadAttention(4, 1)",
    ),
    # --- named, or there for nothing ---
    "a graph that is recorded while loading": (
        "layer-norm",
        """
        from torch.fx.experimental.proxy_tensor import make_fx
        graph = make_fx(lambda x: F.layer_norm(x, x.shape))(torch.ones(4))
        """,
        "return own(x, shape, weight, bias, eps)",
    ),
    "under a condition that never holds": (
        "layer-norm",
        "DEBUG = False",
        "if DEBUG:\n    assert torch.allclose(x, F.layer_norm(x, shape))\nreturn own(x, shape, weight, bias, eps)",
    ),
    "what attention is made of": (
        "masked-attention",
        """
        F._in_projection_packed(*torch.ones(3, 2, 4), torch.ones(12, 4))
        return own(query, key, value, mask), weights_of(query, key, mask)
        """,
    ),
    "attention for quantization": (
        "masked-attention",
        "import torch.ao.nn.quantizable as written",
        "return own(query, key, value, mask), weights_of(query, key, mask)",
    ),
    "torch's own library, called": (
        "feed-forward",
        """
        import contextlib, ctypes, pathlib
        with contextlib.suppress(AttributeError):
            library = ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"))
            library._ZN2at3cpu4geluERKNS_6TensorEN3c1017basic_string_viewIcEE
        return own(x)
        """,
    ),
    "operators counted": (
        "layer-norm",
        "from torch.utils.flop_counter import FlopCounterMode",
        "with FlopCounterMode(display=False):\n    return own(x, shape, weight, bias, eps)",
    ),
    "a dispatch mode of one's own": (
        "layer-norm",
        """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Log(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                return func(*args, **(kwargs or {}))
        """,
        "with Log():\n    return own(x, shape, weight, bias, eps)",
    ),
    "some results kept for the way back": (
        "layer-norm",
        """
        import functools
        from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
        def kept(context, operator, *args, **kwargs):
            return CheckpointPolicy.PREFER_RECOMPUTE
        contexts = functools.partial(create_selective_checkpoint_contexts, kept)
        """,
        "return checkpoint(own, x, shape, weight, bias, eps, use_reentrant=False, context_fn=contexts)",
    ),
    "a shape found with fake tensors": (
        "layer-norm",
        "from torch._subclasses.fake_tensor import FakeTensorMode",
        """
        with FakeTensorMode():
            assert (torch.ones(2, 3) + 1).shape == (2, 3)
        return own(x, shape, weight, bias, eps)
        """,
    ),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_answer_loses_nothing(graded: Any, name: str) -> None:
    report = graded(HONEST, name)
    assert [f"{check.id}: {check.message}" for check in report.checks if check.status != "pass"] == []
    assert report.status == "pass"
    assert any(check.aspect == "scratch" for check in report.checks)
