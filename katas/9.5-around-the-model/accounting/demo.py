"""Accounting live: where parameters and operations of known models are, at several lengths."""

from dataclasses import dataclass, replace

from grader.learner.demos.exhibits import Exhibit, bars, choice, lines, question

try:
    from mine import flops, parameters
except ImportError:  # the learner's do not pass yet: formulas take their place

    def parameters(config) -> int:  # type: ignore[no-untyped-def]
        """Count a model's numbers."""
        c, norms = config, 2 if config.norm == "layer" else 1
        shared, gates = c.d_model // c.num_heads * c.num_kv_heads, 3 if c.gated else 2
        biases = c.bias * (2 * c.d_model + 2 * shared + (gates - 1) * c.d_ff + c.d_model)
        layer = 2 * c.d_model * (c.d_model + shared) + gates * c.d_model * c.d_ff + 2 * norms * c.d_model + biases
        rows = c.vocab_size * (1 if c.tied else 2) + c.learned_positions + norms
        return rows * c.d_model + c.num_layers * layer

    def flops(config, tokens, backward=False) -> int:  # type: ignore[no-untyped-def]
        """Count a text's operations."""
        bare = replace(config, vocab_size=1, learned_positions=0, bias=False, norm="rms", tied=True)
        matrices = parameters(bare) - (2 + 2 * config.num_layers) * config.d_model + config.d_model * config.vocab_size
        once = 2 * tokens * (matrices + 2 * config.num_layers * tokens * config.d_model)
        return 3 * once if backward else once


@dataclass(frozen=True)
class Config:
    """The sizes of a model, as the kata gives them."""

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


LENGTHS = (128, 1024, 8192, 65536)
MODELS = {
    "GPT-2": Config(50257, 768, 12, 12, 12, 3072, 1024, False, True, "layer"),
    "GPT-2 XL": Config(50257, 1600, 48, 25, 25, 6400, 1024, False, True, "layer"),
    "SmolLM2-135M": Config(49152, 576, 30, 9, 3, 1536, gated=True),
    "your story model": Config(57, 96, 3, 6, 2, 256, gated=True, tied=False),
}


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [_places(), _estimate(), _question()]


def parts(config: Config) -> dict[str, int]:
    """Divide a model's parameters, by what they are when a size changes."""

    def more(**sizes: object) -> int:
        return parameters(replace(config, **sizes)) - parameters(config)  # type: ignore[arg-type]

    table = parameters(replace(config, tied=False)) - parameters(replace(config, tied=True))
    found = {"embedding": table, "unembedding": 0 if config.tied else table}
    found["positions"] = parameters(config) - parameters(replace(config, learned_positions=0))
    found["feed-forward"] = more(d_ff=config.d_ff + 1) * config.d_ff
    found["attention, norms"] = parameters(config) - sum(found.values())
    return found


def shares(config: Config, tokens: int) -> dict[str, float]:
    """Return which part of a text's operations is where."""
    whole = flops(config, tokens)
    pairs = flops(config, 2 * tokens) / 2 - whole  # of a text that is twice as long, half has them twice
    words = flops(replace(config, vocab_size=config.vocab_size + 1), tokens) - whole
    logits = words * config.vocab_size
    return {"layers' matrices": 1 - (pairs + logits) / whole, "logits": logits / whole, "pairs": pairs / whole}


def crossing(config: Config) -> int:
    """Return from how many tokens on the pairs have more than half."""
    low, high = 1, 10**7
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shares(config, middle)["pairs"] > 0.5 else (middle, high)
    return high


def _places() -> Exhibit:
    frames = {}
    for name, config in MODELS.items():
        own, at = parts(config), [shares(config, tokens) for tokens in LENGTHS]
        frames[name] = [
            bars("parameters", list(own), {"share": [value / parameters(config) for value in own.values()]},
                 y_axis="share", note=f"{parameters(config):,} parameters in all."),
            bars("operations of a text", [f"{tokens:,} tokens" for tokens in LENGTHS],
                 {part: [share[part] for share in at] for part in at[0]}, y_axis="share",
                 note=f"{flops(config, 1024):,} for 1,024 tokens. Pairs have more than half from {crossing(config):,} "
                 "tokens on."),
        ]  # fmt: skip
    return choice("Where parameters and operations are", "model", frames,
                  note="Pairs are attention's two products without weights: scores and averages.")  # fmt: skip


def _estimate() -> Exhibit:
    """Compare what a text takes with the usual estimate, 2·N·T."""
    lengths = [2**power for power in range(5, 18)]
    times = {name: [flops(config, tokens) / (2 * tokens * parameters(config)) for tokens in lengths]
             for name, config in MODELS.items()}  # fmt: skip
    shown = "; ".join(f"{name} {values[5]:.2f} and {values[-1]:.1f}" for name, values in times.items())
    return lines("Operations of a text, as multiples of 2·N·T", {name: (lengths, y) for name, y in times.items()},
                 x_axis="tokens", y_axis="times 2·N·T", log_x=True, log_y=True,
                 note=f"At {lengths[5]:,} and at {lengths[-1]:,} tokens: {shown}. The wider a model, the longer the "
                 "estimate holds.")  # fmt: skip


def _question() -> Exhibit:
    return question(
        "GPT-2 and SmolLM2-135M have about as many parameters. In which of them do pairs have more than half of the "
        "operations first, and which of its sizes is the reason?",
        seen="Where parameters and operations are",
        answer=f"In SmolLM2-135M, from {crossing(MODELS['SmolLM2-135M']):,} tokens on; in GPT-2 from "
        f"{crossing(MODELS['GPT-2']):,}. It is deep and narrow: pairs grow with L·D, matrices with L·D·D, so a narrow "
        "model reaches the length sooner. That its keys are shared changes no pair.",
    )
