"""9.8.1 The block of today's models: RMSNorm, grouped-query attention with rotary positions, SwiGLU.

B batch, T new positions, S all positions so far, D = d_model, H query heads, G heads of keys and values, d = D / H the
width of a head, V the size of the vocabulary. Nothing in here has a bias.

`story.py` and `story.safetensors` next to this file hold the weights of a trained model for your ModernLM. Checking
brings both along; attention may be torch's own or yours.

References: Zhang and Sennrich 2019 (arXiv:1910.07467); Ainslie et al. 2023 (arXiv:2305.13245); Su et al. 2021
(arXiv:2104.09864); Shazeer 2020 (arXiv:2002.05202); Touvron et al. 2023 (arXiv:2302.13971).

First step: `RMSNorm.__init__`, as the lesson says under that heading; `kata check modern-block -k test_norm_parameter`
then shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn


class RMSNorm(nn.Module):
    """Divide each position by its root mean square, and scale each column.

    Args:
        d_model: D.
        eps: added to the mean of the squares, under the root.

    Attributes:
        weight: nn.Parameter [D], ones at first; the only parameter.
    """

    weight: nn.Parameter

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        # TODO: one parameter [D].
        raise NotImplementedError("RMSNorm.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise the last axis.

        Args:
            x: [.., D], any number of axes in front; left as it is.

        Returns:
            [.., D] in the dtype of x. Squares, mean and root are computed in float32 at least, whatever the dtype of x;
            for float64, in float64.
        """
        # TODO: square x [.., D] first, in float32 or wider: what would the square of 300 be in float16?
        raise NotImplementedError("RMSNorm.forward")


class GroupedQueryAttention(nn.Module):
    """Causal attention with rotary positions, in which groups of query heads share keys and values.

    Args:
        d_model: D.
        num_heads: H; ValueError when it does not divide d_model.
        num_kv_heads: G; ValueError when it does not divide num_heads.

    Attributes:
        w_q, w_k, w_v, w_o: nn.Linear without a bias: D to D, D to G · d, D to G · d, D to D.
    """

    w_q: nn.Linear
    w_k: nn.Linear
    w_v: nn.Linear
    w_o: nn.Linear

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        # TODO: d = D / H; check both divisions first.
        raise NotImplementedError("GroupedQueryAttention.__init__")

    def forward(
        self, x: torch.Tensor, cache: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Let each position look at itself and at those before it.

        Args:
            x: [B, T, D]. Without a cache the whole sequence; with one, the positions that follow those of the cache.
            cache: None, or what the latest call returned; left as it is.

        Returns:
            (output [B, T, D], cache). The cache is a pair (keys, values) of all positions so far, each [B, G, S, d]: a
            head that is shared is kept once.
        """
        # TODO: first queries [B, H, T, d], and keys and values [B, G, T, d]. At which position are the new ones? Which
        # head of keys and values does query head h read?
        raise NotImplementedError("GroupedQueryAttention.forward")


class ModernLM(nn.Module):
    """A decoder-only language model of these parts.

    Args:
        vocab_size: V.
        d_model, num_heads, num_kv_heads: as above.
        d_ff: the inner width of each layer's feed-forward network.
        num_layers: how many layers, each with parameters of its own.
        max_len: the longest text, in case you keep a table of angles; rotary positions need none.

    Attributes:
        tokens: nn.Embedding [V, D].
        layers: nn.ModuleList. Each layer has norm1 (RMSNorm), attention (GroupedQueryAttention), norm2 (RMSNorm) and
            feed_forward, whose parts are gate, linear1 (D to d_ff) and linear2 (d_ff to D): nn.Linear without a bias.
        norm: RMSNorm, after the last layer.
        head: nn.Linear without a bias, D to V.

    These are all the parameters. Make any buffer with persistent=False: the trained weights hold none.
    """

    tokens: nn.Embedding
    layers: nn.ModuleList
    norm: RMSNorm
    head: nn.Linear

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        num_kv_heads: int,
        d_ff: int,
        num_layers: int,
        max_len: int,
    ) -> None:
        super().__init__()
        # TODO: a layer and its feed-forward network are classes of your own, with the names above.
        raise NotImplementedError("ModernLM.__init__")

    def forward(self, tokens: torch.Tensor, cache: list | None = None) -> tuple[torch.Tensor, list]:
        """Score the next token at every position.

        Args:
            tokens: int [B, T]. Without a cache the whole text; with one, only what is new since.
            cache: None, or what the latest call returned; left as it is.

        Returns:
            (logits [B, T, V], cache). The cache is a list with the pair of each layer's attention.
        """
        # TODO: embed to [B, T, D]; then layer by layer, each with its own pair of the cache.
        raise NotImplementedError("ModernLM.forward")
