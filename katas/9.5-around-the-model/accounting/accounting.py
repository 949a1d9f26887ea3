"""9.5.5 Accounting: what a language model costs in parameters, products and bytes, known before it is built.

V words, L layers, D = d_model, H query heads, G heads of keys and values, F = d_ff, N parameters, T tokens. Nothing is
built or trained here: all but `mfu` and `fit` are whole numbers, and stay exact however large they are.

References: Kaplan et al. 2020 (arXiv:2001.08361), operations of a transformer; Hoffmann et al. 2022 (arXiv:2203.15556),
the loss as a function of parameters and tokens.

First step: `mfu`, as the lesson says under that heading; `kata check accounting -k test_mfu` then shows that it is
right.
"""

from dataclasses import dataclass

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of a number, for each dtype that there is here."""
STATE = {"sgd": 0, "momentum": 1, "adamw": 2}
"""How many numbers an optimizer keeps for each parameter, for each optimizer that there is here."""


@dataclass(frozen=True)
class Config:
    """The sizes of a decoder-only model. It is given; the lesson says which tensors it stands for.

    Functions that take a Config raise ValueError if one of its sizes is below 1 (`learned_positions`: below 0), if
    `num_heads` does not divide `d_model`, if `num_kv_heads` does not divide `num_heads`, or if `norm` is unknown.
    """

    vocab_size: int
    """V, the rows of the embedding."""
    d_model: int
    """D, the width."""
    num_layers: int
    """L."""
    num_heads: int
    """H, query heads of D / H columns each."""
    num_kv_heads: int
    """G, heads of keys and values of D / H columns each; H / G query heads share one."""
    d_ff: int
    """F, the width inside the feed-forward network."""
    learned_positions: int = 0
    """P, the rows of a learned table of positions. 0: rotary positions, which have no parameters."""
    gated: bool = False
    """Whether the feed-forward network has a gate (SwiGLU): three matrices in place of two."""
    bias: bool = False
    """Whether each linear layer inside the layers has a bias. The unembedding never has one."""
    norm: str = "rms"
    """"rms": a norm has a scale of D numbers; "layer": it has a shift of D numbers, too."""
    tied: bool = True
    """Whether the unembedding is the embedding itself, and not a matrix of its own."""


GPT2 = Config(50257, 768, 12, 12, 12, 3072, learned_positions=1024, bias=True, norm="layer")
SMOLLM2 = Config(49152, 576, 30, 9, 3, 1536, gated=True)


def parameters(config: Config) -> int:
    """Count the numbers that a model learns, each once.

    Args:
        config: the model's sizes.

    Returns:
        N, an exact int.

    Raises:
        ValueError: the Config is one that its docstring refuses.
    """
    # TODO 1: refuse what the docstring of Config refuses; say which value it has, and what was expected.
    # TODO 2: one layer: two norms, four projections (how wide are keys and values?), two or three matrices.
    # TODO 3: all layers, and what is there once: embedding, positions, the last norm, an unembedding that is not tied.
    raise NotImplementedError("parameters")


def flops(config: Config, tokens: int, backward: bool = False) -> int:
    """Count the operations of the matrix products in which one text is read, all of it at once.

    A product of [m, k] and [k, n] has 2·m·k·n. Nothing else counts: neither biases nor norms, softmax, positions, or
    reading rows of an embedding.

    Args:
        config: the model's sizes.
        tokens: T, at least 0; it may be more than the learned positions. Logits are computed for all of them.
        backward: whether the backward pass is included, which has twice the operations of the forward pass.

    Returns:
        an exact int: the forward pass, or three times as much. Scores and averages are counted for all T·T pairs of
        positions, although a causal mask uses only half of them.

    Raises:
        ValueError: the Config is refused, or tokens is negative.
    """
    # TODO 1: each weight matrix of the layers, and the unembedding (tied or not), is a product for each token.
    # TODO 2: queries meet keys, and weights meet values: two more products in each head, which grow with T·T.
    # TODO 3: backward.
    raise NotImplementedError("flops")


def training_bytes(config: Config, batch: int, dtype: str, optimizer: str) -> int:
    """Count the bytes that a step of training needs: weights, gradients, optimizer, activations.

    Weights and gradients have the dtype. If that has 2 bytes, a copy of the weights in float32 is kept as well (the
    master weights). What the optimizer keeps is always float32. Activations have the dtype: for each token of the
    batch L·(6·D + 2·G·D/H + 2·F) + 2·D + V numbers, where gated 3·F in place of 2·F.

    Args:
        config: the model's sizes.
        batch: the number of tokens in a batch, of all its texts together; at least 0.
        dtype: one of BYTES.
        optimizer: one of STATE.

    Returns:
        an exact int.

    Raises:
        ValueError: the Config is refused, batch is negative, or dtype or optimizer is unknown.
    """
    # TODO 1: refuse what is unknown; say what there is.
    # TODO 2: bytes of each parameter: itself, its gradient, a copy where one is kept, the optimizer's numbers.
    # TODO 3: bytes of each token, as the rule above has them.
    raise NotImplementedError("training_bytes")


def cache_bytes(config: Config, batch: int, tokens: int, dtype: str) -> int:
    """Count the bytes of a full key/value cache.

    Args:
        config: the model's sizes.
        batch: the number of texts, at least 0.
        tokens: the length of each of them, at least 0.
        dtype: one of BYTES, that of the cache.

    Returns:
        an exact int.

    Raises:
        ValueError: the Config is refused, batch or tokens is negative, or dtype is unknown.
    """
    # TODO: keys and values, of every layer, of each head that has its own.
    raise NotImplementedError("cache_bytes")


def mfu(flops: int | float, seconds: float, peak: float) -> float:
    """Return which part of a device's operations went into the model: its utilization (MFU).

    Args:
        flops: what the model needed, at least 0.
        seconds: how long that took, above 0.
        peak: what the device can do in a second, above 0.

    Returns:
        a Python float: 1.0 if no operation was wasted.

    Raises:
        ValueError: flops is negative, or seconds or peak is not positive.
    """
    # TODO: refuse what cannot be; then operations per second, as a share of the peak.
    raise NotImplementedError("mfu")


def fit(n: list[float], d: list[float], loss: list[float]) -> tuple[float, float, float, float, float]:
    """Find the law L = E + A / n^alpha + B / d^beta that runs of training follow.

    Any method will do. Of runs without noise all five numbers should be right to 1%. Where each loss is off by some
    0.3%, and there are some fifty runs over three decades or more of n and of d, E should be right to 3% and each
    exponent to 0.05, and at each run the law should be within 1% of the true one.

    Args:
        n: the parameters of each run, all positive, 10^5 to 10^13.
        d: the tokens that each run was trained on, all positive, 10^5 to 10^15.
        loss: what each of them reached in the end, all positive.

    Returns:
        (E, A, alpha, B, beta), Python floats. The runs are such that all five are positive, and alpha and beta are
        from 0.1 to 1.

    Raises:
        ValueError: the lists differ in length; a number is not positive, or not finite; or the runs leave the law
            open: fewer than five different (n, d), fewer than three different n or three different d, or all (log n,
            log d) on one line, as with d = 20·n.
    """
    # TODO 1: refuse; name the value, and what was expected.
    # TODO 2: for given alpha and beta, E, A and B are the least squares of a linear problem: solve it.
    # TODO 3: look for the alpha and beta that leave the least, in a grid, then in ever finer ones around the best.
    raise NotImplementedError("fit")
