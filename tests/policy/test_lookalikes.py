"""Honest answers that mention, define or resemble what is excluded: no check is lost."""

from __future__ import annotations

from typing import Any

import pytest

OWN_NORM = "return own(x, shape, weight, bias, eps)"
OWN_ATTENTION = "return own(query, key, value, mask), weights_of(query, key, mask)"

HONEST: dict[str, tuple[str, str, str]] = {
    "a function called layer_norm": (
        "layer-norm",
        "def layer_norm(x, shape, weight, bias, eps):\n    return own(x, shape, weight, bias, eps)",
        "return layer_norm(x, shape, weight, bias, eps)",
    ),
    "its own F": (
        "layer-norm",
        "class F:\n    layer_norm = staticmethod(own)",
        "return F.layer_norm(x, shape, weight, bias, eps)",
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
    "asked for its type": (
        "layer-norm",
        "",
        "assert not isinstance(self, nn.LayerNorm)\n" + OWN_NORM,
    ),
    "a name that is bound again": (
        "layer-norm",
        "from torch.nn.functional import layer_norm\nlayer_norm = own",
        "return layer_norm(x, shape, weight, bias, eps)",
    ),
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
    "a comparison that is switched off": (
        "layer-norm",
        "DEBUG = False",
        "if DEBUG:\n    assert torch.allclose(x, F.layer_norm(x, shape))\n" + OWN_NORM,
    ),
    "variance and mean of torch's": (
        "layer-norm",
        "",
        """
        variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
        return (x - mean) * torch.rsqrt(variance + eps) * weight + bias
        """,
    ),
    "batch norm over the other axis": (
        "layer-norm",
        "",
        """
        rows = x.reshape(-1, x.shape[-1])
        scaled = F.batch_norm(rows.mT, None, None, training=True, eps=eps).mT
        return scaled.reshape(x.shape) * weight + bias
        """,
    ),
    "gelu of torch's in the network alone": ("feed-forward", "", "return own(x)"),
    "nn.GELU in the network alone": (
        "feed-forward",
        "activations = {'gelu': nn.GELU(), 'relu': nn.ReLU()}",
        "return own(x)",
    ),
    "a table of a look-up name": (
        "feed-forward",
        'names = {"gelu": "torch.nn.functional.gelu"}\nassert names["gelu"].endswith("gelu")',
        "return own(x)",
    ),
    "gelu by the normal distribution": (
        "feed-forward",
        "",
        "return x * torch.special.ndtr(x)",
    ),
    "compared with torch's while loading": (
        "feed-forward",
        "sample = torch.linspace(-3, 3, 7)\nassert torch.allclose(own(sample), F.gelu(sample), atol=1e-6)",
        "return own(x)",
    ),
    "a class called MultiheadAttention": (
        "masked-attention",
        "class MultiheadAttention(nn.Module):\n    pass\nkept = MultiheadAttention()",
        OWN_ATTENTION,
    ),
    "its own scaled_dot_product_attention, called": (
        "masked-attention",
        "",
        "if query is None:\n    return scaled_dot_product_attention(query, key, value)\n" + OWN_ATTENTION,
    ),
    "other operators of torch's": (
        "self-attention",
        "",
        """
        scores = torch.baddbmm(q.new_zeros(()), q, k.mT, alpha=q.size(-1) ** -0.5)
        return torch.einsum("bqk,bkd->bqd", scores.softmax(-1), v)
        """,
    ),
    "a class called Transformer": (
        "encoder-layer",
        "class TransformerEncoderLayer(nn.Module):\n    pass\nkept = TransformerEncoderLayer()",
        "",
    ),
    "norm and attention of torch's, where they are allowed": (
        "encoder-layer",
        "",
        "F.scaled_dot_product_attention(x, x, x), F.layer_norm(x, x.shape[-1:]), nn.MultiheadAttention(4, 1)",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_answer_loses_nothing(graded: Any, name: str) -> None:
    report = graded(HONEST, name)
    assert [f"{check.id}: {check.message}" for check in report.checks if check.status != "pass"] == []
    assert report.status == "pass"
    assert any(check.aspect == "scratch" for check in report.checks)
