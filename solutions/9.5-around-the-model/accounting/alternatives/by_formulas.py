"""The same in closed formulas; the law by a simplex that walks over alpha and beta."""

import math
from dataclasses import dataclass

import numpy as np

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


def _head(c: Config) -> int:
    positive = (c.vocab_size, c.d_model, c.num_layers, c.num_heads, c.num_kv_heads, c.d_ff, c.learned_positions + 1)
    if min(positive) < 1:
        raise ValueError(f"{c}: sizes should be 1 or more")
    if c.d_model % c.num_heads or c.num_heads % c.num_kv_heads:
        raise ValueError(f"{c.d_model}, {c.num_heads} and {c.num_kv_heads}: each should be a multiple of the next")
    if c.norm != "rms" and c.norm != "layer":
        raise ValueError(f"norm {c.norm}: rms and layer are known")
    return c.d_model // c.num_heads


def _number(dtype, table=BYTES):
    found = table.get(dtype)
    if found is None:
        raise ValueError(f"{dtype} is none of {list(table)}")
    return found


def _natural(*numbers):
    for number in numbers:
        if number < 0:
            raise ValueError(f"{number} is negative, and 0 is the least")


def parameters(config):
    """V·D and what comes on top."""
    c, kv = config, config.num_kv_heads * _head(config)
    D, F, m = c.d_model, c.d_ff, 3 if c.gated else 2
    scale = 2 * D if c.norm == "layer" else D
    biases = 2 * D + 2 * kv + (m - 1) * F + D if c.bias else 0
    layer = 2 * D * D + 2 * D * kv + m * D * F + biases + 2 * scale
    head = 0 if c.tied else c.vocab_size * D
    return c.vocab_size * D + c.learned_positions * D + c.num_layers * layer + scale + head


def flops(config, tokens, backward=False):
    """2·T times all matrices, and 4·T²·D a layer."""
    _natural(tokens)
    c, kv = config, config.num_kv_heads * _head(config)
    per_token = 4 * c.d_model * (c.d_model + kv) + (6 if c.gated else 4) * c.d_model * c.d_ff
    once = c.num_layers * (per_token + 4 * tokens * c.d_model) * tokens + 2 * tokens * c.d_model * c.vocab_size
    return 3 * once if backward else once


def training_bytes(config, batch, dtype, optimizer):
    """16 bytes for each parameter, or fewer, and a line for each token."""
    _natural(batch)
    kv, width = config.num_kv_heads * _head(config), _number(dtype)
    each = {4: 8, 2: 8}[width] + 4 * _number(optimizer, STATE)
    inside = config.d_ff * (2 + int(config.gated))
    line = (6 * config.num_layers + 2) * config.d_model + config.num_layers * (2 * kv + inside) + config.vocab_size
    return each * parameters(config) + width * batch * line


def cache_bytes(config, batch, tokens, dtype):
    """Two tensors a layer."""
    _natural(batch, tokens)
    return batch * tokens * config.num_layers * 2 * config.num_kv_heads * _head(config) * _number(dtype)


def mfu(flops, seconds, peak):
    """Operations a second, of those that were possible."""
    if flops < 0 or min(seconds, peak) <= 0:
        raise ValueError(f"{flops}, {seconds} and {peak}: none should be negative, and only the first may be 0")
    rate = flops / seconds
    return float(rate / peak)


def fit(n, d, loss):
    """Let a simplex find alpha and beta; the rest is linear."""
    if len(n) != len(d) or len(d) != len(loss):
        raise ValueError(f"{len(n)}, {len(d)} and {len(loss)} numbers: there should be equally many")
    for value in (*n, *d, *loss):
        if not 0 < value < float("inf"):
            raise ValueError(f"{value}: numbers should be positive")
    if len({*zip(n, d, strict=True)}) < 5 or len(set(n)) < 3 or len(set(d)) < 3:
        raise ValueError(f"n {sorted(set(n))} and d {sorted(set(d))}: too few differ")
    x, y = np.log(n), np.log(d)
    if abs(np.corrcoef(x, y)[0, 1]) > 1 - 1e-10:
        raise ValueError(f"log d is a line over log n, from {x.min()} to {x.max()}")
    L = np.array(loss, dtype=float)

    def solved(alpha, beta):
        columns = np.stack([np.ones_like(x), np.exp(-alpha * (x - x[0])), np.exp(-beta * (y - y[0]))], 1) / L[:, None]
        size = np.linalg.norm(columns, axis=0)
        found = np.linalg.lstsq(columns / size, np.ones_like(L), rcond=None)[0] / size
        return found, float(((columns @ found - 1) ** 2).sum())

    def error(point):
        return solved(*point)[1] if min(point) > 0.01 and max(point) < 3 else math.inf

    starts = [np.array([0.15 + 0.2 * i, 0.15 + 0.2 * j]) for i in range(5) for j in range(5)]
    start = min(starts, key=error)
    simplex = [start, start + np.array([0.05, 0]), start + np.array([0, 0.05])]
    for _ in range(250):
        simplex.sort(key=error)
        best, good, worst = simplex
        middle = (best + good) / 2
        turned = 2 * middle - worst
        if error(turned) < error(best):
            further = 3 * middle - 2 * worst
            simplex[2] = further if error(further) < error(turned) else turned
        elif error(turned) < error(good):
            simplex[2] = turned
        else:
            inside = (middle + (turned if error(turned) < error(worst) else worst)) / 2
            simplex = [best, good, inside]
            if error(inside) >= error(worst):
                simplex[1:] = [(best + good) / 2, (best + worst) / 2]
    alpha, beta = map(float, min(simplex, key=error))
    E, a, b = map(float, solved(alpha, beta)[0])
    return E, a * n[0] ** alpha, alpha, b * d[0] ** beta, beta
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
