"""Accounting: what a language model costs in parameters, products and bytes.

References: Kaplan et al. 2020 (arXiv:2001.08361), operations of a transformer; Hoffmann et al. 2022 (arXiv:2203.15556),
the loss as a function of parameters and tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
STATE = {"sgd": 0, "momentum": 1, "adamw": 2}


@dataclass(frozen=True)
class Config:
    """The sizes of a decoder-only model."""

    vocab_size: int
    d_model: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    d_ff: int
    learned_positions: int = 0
    gated: bool = False
    bias: bool = False
    norm: str = "rms"
    tied: bool = True


GPT2 = Config(50257, 768, 12, 12, 12, 3072, learned_positions=1024, bias=True, norm="layer")
SMOLLM2 = Config(49152, 576, 30, 9, 3, 1536, gated=True)


def parameters(config: Config) -> int:
    """Count the numbers that a model learns."""
    norm = config.d_model * (2 if config.norm == "layer" else 1)
    layer = 2 * norm + sum(m * k + config.bias * k for m, k in _matrices(config))
    tables = config.vocab_size * (1 if config.tied else 2) + config.learned_positions
    return tables * config.d_model + config.num_layers * layer + norm


def flops(config: Config, tokens: int, backward: bool = False) -> int:
    """Count the operations of matrix products."""
    _expect_count("tokens", tokens)
    matrices = config.num_layers * sum(m * k for m, k in _matrices(config)) + config.d_model * config.vocab_size
    scores = config.num_layers * 2 * tokens * tokens * config.d_model
    return 2 * (tokens * matrices + scores) * (3 if backward else 1)


def training_bytes(config: Config, batch: int, dtype: str, optimizer: str) -> int:
    """Count the bytes that a step of training needs."""
    _expect_count("batch", batch)
    _expect_known("dtype", dtype, BYTES)
    _expect_known("optimizer", optimizer, STATE)
    size = BYTES[dtype]
    master = 4 if size == 2 else 0
    hidden = (3 if config.gated else 2) * config.d_ff
    layer = 6 * config.d_model + 2 * _shared(config) + hidden
    token = config.num_layers * layer + 2 * config.d_model + config.vocab_size
    return parameters(config) * (2 * size + master + 4 * STATE[optimizer]) + batch * token * size


def cache_bytes(config: Config, batch: int, tokens: int, dtype: str) -> int:
    """Count the bytes of a full key/value cache."""
    _expect_count("batch", batch)
    _expect_count("tokens", tokens)
    _expect_known("dtype", dtype, BYTES)
    return 2 * config.num_layers * _shared(config) * tokens * batch * BYTES[dtype]


def mfu(flops: int | float, seconds: float, peak: float) -> float:
    """Return which part of a device's operations went into the model."""
    if flops < 0 or seconds <= 0 or peak <= 0:
        raise ValueError(f"flops {flops} should be at least 0, seconds {seconds} and peak {peak} above 0")
    return flops / seconds / peak


def fit(n: list[float], d: list[float], loss: list[float]) -> tuple[float, float, float, float, float]:
    """Find the law L = E + A / n^alpha + B / d^beta."""
    x, y = _expect_runs(n, d, loss)
    losses = torch.tensor(loss, dtype=torch.float64)
    best, width, steps = (0.6, 0.6), 0.55, torch.linspace(-1, 1, 15, dtype=torch.float64)
    for _ in range(30):
        alpha, beta = ((middle + width * steps).clamp(min=0.02) for middle in best)
        alpha, beta = torch.cartesian_prod(alpha, beta).T[..., None]
        # Divided by the loss: what is squared is the relative error.
        terms = torch.stack([(0 * alpha * x).exp(), (-alpha * x).exp(), (-beta * y).exp()], -1) / losses[:, None]
        solved = torch.linalg.solve(terms.mT @ terms, terms.sum(1)[..., None])
        place = int((terms @ solved - 1).square().sum((1, 2)).argmin())
        best, width = (alpha[place].item(), beta[place].item()), width / 2
    E, a, b = solved[place, :, 0].tolist()
    middles = (sum(map(math.log, values)) / len(values) for values in (n, d))
    A, B = (scale * math.exp(power * middle) for scale, power, middle in zip((a, b), best, middles, strict=True))
    return E, A, best[0], B, best[1]


def _matrices(config: Config) -> list[tuple[int, int]]:
    """Return inputs and outputs of each linear layer in a layer; refuse what is not a Config."""
    for name, value in vars(config).items():
        if type(value) is int and value < (name != "learned_positions"):
            raise ValueError(f"{name} is {value}: it should be at least {int(name != 'learned_positions')}")
    D, H, G, F = config.d_model, config.num_heads, config.num_kv_heads, config.d_ff
    if D % H or H % G:
        raise ValueError(f"num_heads {H} should divide d_model {D}, and num_kv_heads {G} should divide num_heads")
    if config.norm not in ("rms", "layer"):
        raise ValueError(f"norm is {config.norm!r}: it should be 'rms' or 'layer'")
    shared = G * (D // H)
    return [(D, D), (D, shared), (D, shared), (D, D), (D, F), (F, D), *[(D, F)] * config.gated]


def _shared(config: Config) -> int:
    """Return how wide all keys of a position are together."""
    return _matrices(config)[1][1]


def _expect_count(name: str, value: int) -> None:
    if value < 0:
        raise ValueError(f"{name} is {value}: it should be at least 0")


def _expect_known(name: str, value: str, known: dict[str, int]) -> None:
    if value not in known:
        raise ValueError(f"{name} is {value!r}: it should be one of {', '.join(known)}")


def _expect_runs(n: list[float], d: list[float], loss: list[float]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logarithms of n and d around their means; refuse what leaves the law open."""
    if not len(n) == len(d) == len(loss):
        raise ValueError(f"{len(n)} n, {len(d)} d and {len(loss)} losses: there should be as many of each")
    for name, values in (("n", n), ("d", d), ("loss", loss)):
        for value in values:
            if not 0 < value < math.inf:
                raise ValueError(f"{name} has {value}: it should be positive and finite")
    runs = len({*zip(n, d, strict=True)})
    if runs < 5 or len({*n}) < 3 or len({*d}) < 3:
        raise ValueError(f"{runs} different runs of {len({*n})} n and {len({*d})} d: 5, 3 and 3 at least are needed")
    logs = torch.tensor([n, d], dtype=torch.float64).log()
    x, y = logs - logs.mean(1, keepdim=True)
    if (x @ y) ** 2 > (1 - 1e-9) * (x @ x) * (y @ y):
        raise ValueError("d depends on n as a power of it in all runs: some should be off that line")
    return x, y
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
