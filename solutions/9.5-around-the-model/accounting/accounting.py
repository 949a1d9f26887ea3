"""Accounting: what a language model costs in parameters, products and bytes.

References: Kaplan et al. 2020 (arXiv:2001.08361), operations of a transformer; Hoffmann et al. 2022 (arXiv:2203.15556),
the loss as a function of parameters and tokens.
"""

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


def parameters(config: Config) -> int:
    """Count the numbers that a model learns."""
    norm = config.d_model * (2 if config.norm == "layer" else 1)
    layer = 2 * norm + sum(m * k + config.bias * k for m, k in _matrices(config))
    tables = config.vocab_size * (1 if config.tied else 2) + config.learned_positions
    return tables * config.d_model + config.num_layers * layer + norm


def flops(config: Config, tokens: int, backward: bool = False) -> int:
    """Count the operations of matrix products."""
    _expect(tokens >= 0, f"tokens is {tokens}: it should be at least 0")
    matrices = config.num_layers * sum(m * k for m, k in _matrices(config)) + config.d_model * config.vocab_size
    pairs = config.num_layers * 2 * tokens * tokens * config.d_model
    return 2 * (tokens * matrices + pairs) * (3 if backward else 1)


def training_bytes(config: Config, batch: int, dtype: str, optimizer: str) -> int:
    """Count the bytes that a step of training needs."""
    _expect(batch >= 0, f"batch is {batch}: it should be at least 0")
    _expect(dtype in BYTES, f"dtype is {dtype!r}: it should be one of {[*BYTES]}")
    _expect(optimizer in STATE, f"optimizer is {optimizer!r}: it should be one of {[*STATE]}")
    size, shared = BYTES[dtype], _matrices(config)[1][1]
    state = 2 * size + (4 if size == 2 else 0) + 4 * STATE[optimizer]
    layer = 6 * config.d_model + 2 * shared + (3 if config.gated else 2) * config.d_ff
    token = config.num_layers * layer + 2 * config.d_model + config.vocab_size
    return parameters(config) * state + batch * token * size


def cache_bytes(config: Config, batch: int, tokens: int, dtype: str) -> int:
    """Count the bytes of a full key/value cache."""
    _expect(batch >= 0 and tokens >= 0, f"batch {batch}, tokens {tokens}: at least 0 is expected")
    _expect(dtype in BYTES, f"dtype is {dtype!r}: it should be one of {[*BYTES]}")
    shared = _matrices(config)[1][1]
    return 2 * config.num_layers * shared * tokens * batch * BYTES[dtype]


def mfu(flops: int | float, seconds: float, peak: float) -> float:
    """Return which part of a device's operations went into the model."""
    _expect(flops >= 0 and seconds > 0 and peak > 0, f"flops {flops}, seconds {seconds}, peak {peak}: too small")
    return flops / seconds / peak


def fit(n: list[float], d: list[float], loss: list[float]) -> tuple[float, float, float, float, float]:
    """Find the law L = E + A / n^alpha + B / d^beta."""
    _expect(len(n) == len(d) == len(loss), f"{len(n)} n, {len(d)} d, {len(loss)} losses: not as many")
    for value in (*n, *d, *loss):
        _expect(0 < value < math.inf, f"there is {value}: all numbers should be positive and finite")
    _expect(len({*zip(n, d, strict=True)}) >= 5, f"{len(n)} runs: five different ones are needed")
    _expect(min(len({*n}), len({*d})) >= 3, f"{len({*n})} n, {len({*d})} d: three are needed")
    logs, losses = torch.tensor([n, d], dtype=torch.float64).log(), torch.tensor(loss, dtype=torch.float64)
    middle = logs.mean(1, keepdim=True)
    x, y = logs - middle
    _expect((x @ y) ** 2 < (1 - 1e-9) * (x @ x) * (y @ y), f"d is a power of n in all {len(n)} runs")
    best, width, side = torch.full((2,), 0.6), 0.55, torch.linspace(-1, 1, 15, dtype=torch.float64)
    for _ in range(30):
        powers = (best + width * torch.cartesian_prod(side, side)).clamp(min=0.02)
        falling = (-powers[..., None] * (logs - middle)).exp()
        # Divided by the loss: what is squared is the relative error.
        terms = torch.cat([torch.ones_like(falling[:, :1]), falling], 1) / losses
        solved = torch.linalg.solve(terms @ terms.mT, terms.sum(-1, keepdim=True))
        place = (solved.mT @ terms - 1).square().sum((1, 2)).argmin()
        best, width = powers[place], width / 2
    E, *scales = solved[place, :, 0].tolist()
    A, B = (scale * math.exp(power) for scale, power in zip(scales, (best * middle[:, 0]).tolist(), strict=True))
    return E, A, best[0].item(), B, best[1].item()


def _matrices(config: Config) -> list[tuple[int, int]]:
    """Return inputs and outputs of each linear layer in a layer; refuse what is not a Config."""
    D, H, G, F = config.d_model, config.num_heads, config.num_kv_heads, config.d_ff
    _expect(
        min(config.vocab_size, D, config.num_layers, H, G, F, config.learned_positions + 1) >= 1,
        f"{config}: sizes of at least 1 are expected",
    )
    _expect(D % H == 0, f"num_heads is {H}: it should divide d_model, {D}")
    _expect(H % G == 0, f"num_kv_heads is {G}: it should divide num_heads, {H}")
    _expect(config.norm in ("rms", "layer"), f"norm is {config.norm!r}, not 'rms' or 'layer'")
    shared = G * (D // H)
    return [(D, D), (D, shared), (D, shared), (D, D), (D, F), (F, D), *[(D, F)] * config.gated]


def _expect(holds: bool, what: str) -> None:
    """Raise ValueError unless something holds."""
    if not holds:
        raise ValueError(what)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
