"""Pre-norm and post-norm as two methods; what sublayers give is added in place, to tensors of its own."""

from __future__ import annotations

from functools import partial, reduce

from blocks import FeedForward, LayerNorm, MultiHeadAttention
from torch import Tensor, nn
from torch.nn.functional import dropout as drop


class EncoderLayer(nn.Module):
    """The order of the norms is chosen once, at construction."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        self.p = dropout
        self.add_module("norm2", LayerNorm(d_model))
        self.add_module("feed_forward", FeedForward(d_model, d_ff, activation=activation, dropout=dropout))
        self.add_module("norm1", LayerNorm(d_model))
        self.add_module("attention", MultiHeadAttention(d_model=d_model, num_heads=num_heads))
        self._run = self._pre if norm_first else self._post

    def _attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return drop(self.attention(x, mask=mask), self.p, self.training)

    def _feed(self, x: Tensor) -> Tensor:
        return drop(self.feed_forward(x), p=self.p, training=self.training)

    def _pre(self, x: Tensor, mask: Tensor | None) -> Tensor:
        middle = self._attend(self.norm1(x), mask)
        middle += x
        output = self._feed(self.norm2(middle))
        output += middle
        return output

    def _post(self, x: Tensor, mask: Tensor | None) -> Tensor:
        middle = self.norm1(self._attend(x, mask).add(x))
        return self.norm2(self._feed(middle).add(middle))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let each position look at the others, then transform each by itself."""
        return self._run(x, mask)


class Encoder(nn.Module):
    """A fold of the stream over the layers."""

    def __init__(
        self,
        num_layers: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        make = partial(EncoderLayer, d_model, num_heads, d_ff, dropout, norm_first, activation)
        self.layers = nn.ModuleList([make() for _ in range(num_layers)])
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send x through all layers."""
        return self.norm(reduce(lambda stream, layer: layer(stream, mask), self.layers, x))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
