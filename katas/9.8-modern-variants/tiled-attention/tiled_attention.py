"""9.8.5 Tiled attention: softmax attention whose matrix of weights is never stored, forward and backward.

Tq queries, Tk keys, D width of a query or key, Dv width of a value. `[..]` stands for any number of axes. The scores
are S = q·k / √D, natural logarithms and exponentials everywhere, and the weights P a softmax of each query's scores.

References: Milakov and Gimelshein 2018 (arXiv:1805.02867), a softmax in one pass; Rabe and Staats 2021
(arXiv:2112.05682), attention in pieces; Dao et al. 2022 (arXiv:2205.14135), algorithms 1 and 4; Dao 2023
(arXiv:2307.08691), one division at the end, and the logsumexp that is kept for the backward pass.

First step: `tiled_attention` for a single tile, as the lesson says under that heading;
`kata check tiled-attention -k test_one_tile` then shows that it is right.
"""

from __future__ import annotations

import torch


def tiled_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool = False, block: int = 64
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attend tile by tile, with a running maximum and a running sum for each query.

    A tile is at most `block` queries against at most `block` keys, and no more scores than one tile's, for all leading
    axes, exist at a time: never a matrix [Tq, Tk]. The result does not depend on `block`, but for rounding.

    Args:
        query: [.., Tq, D], with any number of axes in front.
        key: [.., Tk, D], with the same axes in front; Tk may be 0.
        value: [.., Tk, Dv], with the same axes in front.
        causal: query i sees the keys 0 to i + Tk - Tq, so the last query sees all keys. A tile whose keys none of its
            queries sees is left out: what is in it, even NaN, is never looked at.
        block: how many queries and keys are in a tile, 1 or more; it need not divide the lengths, and may be larger.

    Returns:
        (output [.., Tq, Dv], logsumexp [.., Tq]). The logsumexp is the logarithm of the sum of exp(S) over the keys
        that a query sees. A query that sees no key has the output 0 and the logsumexp -inf. The output has the dtype of
        the query. Sums are computed in float32 at least; the logsumexp stays so: float32 in half precision as well.

    No gradient need flow through this function: gradients come from `tiled_backward`.

    Raises:
        ValueError: block is below 1, or sizes do not fit: query and key in D, key and value in Tk, all three in the
            axes in front. The message names the value and what was expected.
    """
    # TODO 1: refuse.
    # TODO 2: for a tile of queries, what is known before the first key? A maximum, a sum, a weighted sum of values.
    # TODO 3: for each tile of keys that they see: scores, then the new maximum. By which factor is what was summed
    #         under the old maximum too large? What if both maxima are -inf?
    # TODO 4: after the last tile: divide, once; the logsumexp from sum and maximum.
    raise NotImplementedError("tiled_attention")


def tiled_backward(
    grad: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    output: torch.Tensor,
    logsumexp: torch.Tensor,
    causal: bool = False,
    block: int = 64,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the gradients of query, key and value, from tiles that are computed once more.

    With Δ the sum of grad · output over each query's Dv numbers:

        P = exp(S - logsumexp),  dP = grad · valueᵀ,  dS = P · (dP - Δ),

    from which dq = dS · key / √D, dk = dSᵀ · query / √D and dv = Pᵀ · grad. No more than one tile of these exists at a
    time, and tiles that no query sees are left out, as in `tiled_attention`. These formulas are yours to write:
    torch.autograd is not used.

    Args:
        grad: [.., Tq, Dv], the gradient of the output; the logsumexp receives none.
        query, key, value, causal, block: as `tiled_attention` had them; block may be another.
        output, logsumexp: what it returned. P is computed from this logsumexp, and Δ from this output.

    Returns:
        (dq [.., Tq, D], dk [.., Tk, D], dv [.., Tk, Dv]), in the dtypes of query, key and value; sums are computed in
        float32 at least. A query that sees no key has the gradient 0 and adds nothing to dk and dv; a key that no query
        sees has the gradients 0.

    Raises:
        ValueError: as `tiled_attention`.
    """
    # TODO 1: refuse; compute Δ, one number for each query.
    # TODO 2: for each tile that is seen: P again. What are its rows where the logsumexp is -inf?
    # TODO 3: its share of dq, of dk and of dv. Which of the three gets shares from which tiles?
    raise NotImplementedError("tiled_backward")
