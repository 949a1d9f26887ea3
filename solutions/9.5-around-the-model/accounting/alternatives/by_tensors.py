"""The same from a list of tensors; the law by Gauss and Newton's steps in logarithms, from several beginnings."""

import math
from dataclasses import asdict, dataclass, replace

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


def tensors(c: Config) -> dict[str, tuple[int, ...]]:
    """List every tensor by name, as a checkpoint does."""
    for name, value in asdict(c).items():
        if isinstance(value, int) and value < (0 if name in ("learned_positions", "gated", "bias", "tied") else 1):
            raise ValueError(f"{name}={value}, expected a positive int")
    if c.d_model % c.num_heads or c.num_heads % c.num_kv_heads or c.norm not in {"rms", "layer"}:
        raise ValueError(f"{c}: expected d_model % num_heads == num_heads % num_kv_heads == 0, norm rms or layer")
    D, F, kv = c.d_model, c.d_ff, c.d_model // c.num_heads * c.num_kv_heads
    found: dict[str, tuple[int, ...]] = {"tokens.weight": (c.vocab_size, D), "positions": (c.learned_positions, D)}
    outputs = {"w_q": (D, D), "w_k": (kv, D), "w_v": (kv, D), "w_o": (D, D), "linear1": (F, D), "linear2": (D, F)}
    if c.gated:
        outputs["gate"] = (F, D)
    for norm in ("layer.norm1", "layer.norm2", "norm"):
        found[f"{norm}.weight"] = (D,)
        if c.norm == "layer":
            found[f"{norm}.bias"] = (D,)
    for name, shape in outputs.items():
        found[f"layer.{name}.weight"] = shape
        if c.bias:
            found[f"layer.{name}.bias"] = shape[:1]
    if not c.tied:
        found["head.weight"] = (c.vocab_size, D)
    return found


def parameters(config: Config) -> int:
    """Add up their sizes, those of a layer for each layer."""
    return sum(
        math.prod(shape) * (config.num_layers if name.startswith("layer.") else 1)
        for name, shape in tensors(config).items()
    )


def flops(config: Config, tokens: int, backward: bool = False) -> int:
    """Multiply each token by each matrix of an untied model, then all queries by all keys, and back."""
    if tokens < 0:
        raise ValueError(f"tokens={tokens}, expected 0 or more")
    total = 0
    for name, shape in tensors(replace(config, tied=False)).items():
        if len(shape) == 2 and name not in ("tokens.weight", "positions"):
            total += 2 * tokens * math.prod(shape) * (config.num_layers if "layer." in name else 1)
    head = config.d_model // config.num_heads
    for _ in ("scores", "averages"):
        total += config.num_layers * config.num_heads * 2 * tokens * head * tokens
    return total + 2 * total if backward else total


def training_bytes(config: Config, batch: int, dtype: str, optimizer: str) -> int:
    """Add up what is kept of each parameter, and what of each token."""
    if batch < 0:
        raise ValueError(f"batch={batch}, expected 0 or more")
    try:
        width, moments = BYTES[dtype], STATE[optimizer]
    except KeyError as error:
        raise ValueError(f"{error} is unknown, expected one of {[*BYTES]} and one of {[*STATE]}") from error
    N = parameters(config)
    total = N * width + N * width + N * 4 * moments
    if dtype != "float32":
        total += 4 * N
    kv = tensors(config)["layer.w_k.weight"][0]
    kept = [config.d_model] * 6 + [kv] * 2 + [config.d_ff] * 2 + [config.d_ff] * config.gated
    return total + width * batch * (sum(kept) * config.num_layers + 2 * config.d_model + config.vocab_size)


def cache_bytes(config: Config, batch: int, tokens: int, dtype: str) -> int:
    """Multiply the shapes of one layer's keys and values."""
    if batch < 0 or tokens < 0:
        raise ValueError(f"batch={batch}, tokens={tokens}, expected 0 or more")
    if dtype not in BYTES:
        raise ValueError(f"dtype={dtype}, expected one of {[*BYTES]}")
    width = tensors(config)["layer.w_v.weight"][0]
    keys = values = (batch, tokens, width)
    return (math.prod(keys) + math.prod(values)) * config.num_layers * BYTES[dtype]


def mfu(flops: int | float, seconds: float, peak: float) -> float:
    """Divide what was needed by what was possible."""
    if flops < 0:
        raise ValueError(f"flops={flops}, expected 0 or more")
    if not (seconds > 0 and peak > 0):
        raise ValueError(f"seconds={seconds}, peak={peak}, expected both above 0")
    return float(flops / (seconds * peak))


def fit(n: list[float], d: list[float], loss: list[float]) -> tuple[float, float, float, float, float]:
    """Take damped steps from nine beginnings, and keep the best end."""
    if len({len(n), len(d), len(loss)}) > 1:
        raise ValueError(f"lengths {len(n)}, {len(d)} and {len(loss)}, expected equal ones")
    if wrong := [value for value in [*n, *d, *loss] if not (value > 0 and math.isfinite(value))]:
        raise ValueError(f"{wrong[0]}, expected a positive finite number")
    if len(set(zip(n, d, strict=True))) < 5 or min(len(set(n)), len(set(d))) < 3:
        raise ValueError(f"{len(n)} runs, expected five different ones of three n and three d")
    points, wanted = (torch.tensor(values, dtype=torch.float64).log() for values in ([n, d], loss))
    middle = points.mean(1, keepdim=True)
    points = (points - middle).T
    spread = torch.linalg.svdvals(points / points.norm(dim=0))
    if spread[1] < 1e-4 * spread[0]:
        raise ValueError(f"{len(n)} runs on one line, expected some next to it")
    ends = [_descend(points, wanted, alpha, beta) for alpha in (0.2, 0.4, 0.8) for beta in (0.2, 0.4, 0.8)]
    _, (e, a, alpha, b, beta) = min(ends)
    return math.exp(e), math.exp(a + alpha * middle[0]), alpha, math.exp(b + beta * middle[1]), beta


def _descend(points: torch.Tensor, wanted: torch.Tensor, alpha: float, beta: float) -> tuple[float, list[float]]:
    """Return the sum of squares and the numbers where Levenberg and Marquardt's steps end."""
    p = torch.tensor([-0.3, -1.0, alpha, -1.0, beta], dtype=torch.float64)
    p[[0, 1, 3]] += wanted.min()

    def terms(p):
        return torch.stack([p[0].expand(len(points)), p[1] - p[2] * points[:, 0], p[3] - p[4] * points[:, 1]])

    damping, error = 1e-2, (terms(p).logsumexp(0) - wanted).square().sum()
    for _ in range(200):
        shares = terms(p).softmax(0)
        slopes = torch.stack([shares[0], shares[1], -shares[1] * points[:, 0], shares[2], -shares[2] * points[:, 1]], 1)
        square, off = slopes.T @ slopes, terms(p).logsumexp(0) - wanted
        step = torch.linalg.solve(square + damping * square.diagonal().diag() + 1e-15 * torch.eye(5), slopes.T @ off)
        then = (terms(p - step).logsumexp(0) - wanted).square().sum()
        damping *= 0.2 if then < error else 4
        p, error = (p - step, then) if then < error else (p, error)
    return error.item(), p.tolist()
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
