"""9.3.7 A decoder-only language model: predict the next token, and write by doing it again and again.

B batch, T length, D = d_model, V the size of the vocabulary, H heads. A boolean mask is True where attention is
allowed; rows are queries, columns are keys.

Build it from `blocks`, or from scratch. Checking brings blocks.py along; to read it, `kata start decoder-lm --given`.
Only the names below are fixed: what your model is made of, and what its cache looks like, is up to you.

Two stages, each a result by itself: the model and `next_token_loss`; then `generate`, with a cache. `kata check` shows
which of them are done.

References: Radford et al. 2018 (GPT) and 2019 (GPT-2); Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.3.

First step: `next_token_loss`, as the lesson says under that heading; `kata check decoder-lm -k scored` then shows that
it is right.
"""

from __future__ import annotations

from typing import Any

import torch
from blocks import FeedForward, LayerNorm, MultiHeadAttention, causal_mask, scaled_dot_product_attention  # noqa: F401
from torch import nn


class DecoderLM(nn.Module):
    """Embeddings, num_layers causal layers, and a linear head that scores every token as the next one.

    Args:
        vocab_size: V; tokens are 0 to V - 1.
        d_model: D, the width of the vectors between layers.
        num_heads: H of each layer's attention.
        d_ff: the inner width of each layer's feed-forward network.
        num_layers: how many layers, each with parameters of its own.
        max_len: the longest text, prompt and continuation together.
        dropout: share of activations that is dropped in train mode.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 128,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        # TODO: design the model. Attention has to give out its keys and values, so that a cache can keep them: does
        #       that take a layer class of your own?
        raise NotImplementedError("DecoderLM.__init__")

    def forward(self, tokens: torch.Tensor, cache: Any = None) -> tuple[torch.Tensor, Any]:
        """Score the next token at every position.

        Args:
            tokens: int [B, T]. Without a cache the whole text; with one, only what is new since.
            cache: None, or what the latest call returned: whatever you need to remember of the text so far.

        Returns:
            (logits [B, T, V], cache). logits[:, t] scores what follows tokens[:, t], and depends on that token and
            those before it, in their order. The cache is for the call that continues this text.
        """
        # TODO: begin without a cache. Then decide what it holds: with it, the logits must be those of the whole text.
        raise NotImplementedError("DecoderLM.forward")


def next_token_loss(logits: torch.Tensor, tokens: torch.Tensor, pad_id: int | None = None) -> torch.Tensor:
    """Average how surprised the model is by each next token.

    Args:
        logits: [B, T, V], what the model made of these very tokens.
        tokens: int [B, T], T at least 2.
        pad_id: targets that are this token do not count; None: all count.

    Returns:
        A scalar: the mean of -log p(tokens[b, t + 1]) under softmax(logits[b, t]), over all targets that count.
    """
    # TODO: which logits have a target, which tokens are targets, and over how many of them is the mean taken?
    raise NotImplementedError("next_token_loss")


def generate(
    model: nn.Module,
    prompt: torch.Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    eos_id: int | None = None,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Continue every row of the prompt.

    Args:
        model: any module whose forward(tokens, cache=None) gives (logits, cache) as above; its cache may be of another
            kind than yours, so hand it back as it is, or do without.
        prompt: int [B, T].
        max_new_tokens: n, how many tokens to append at most.
        temperature: 0 takes the best token; otherwise draw from softmax(logits / temperature).
        top_k: draw from the k most likely tokens only; None, or k > V, from all.
        eos_id: the token that ends a row: it is kept, and what follows in this row is eos_id too; None: no such token.
        generator: where all chance comes from; None: torch's global one.

    Returns:
        int [B, T + n]: the prompt and what follows; shorter if all rows have ended. The model is in eval mode while it
        writes. Grad mode and the model's train/eval mode are afterwards what they were before. If the model raises,
        they are restored as well.
    """
    # TODO: the loop, the choice of a token, rows that have ended, and modes that are as before afterwards. Begin
    #       with temperature 0 and one row.
    raise NotImplementedError("generate")
