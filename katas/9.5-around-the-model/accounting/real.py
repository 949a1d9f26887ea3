"""A real model's file counted: SmolLM2's tensors next to what the learner's functions say of its sizes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import smollm2
from safetensors import safe_open

from demo import LENGTHS, Config, parts, shares
from grader.learner.demos.exhibits import Exhibit, bars, table

try:
    from mine import flops, parameters
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import flops, parameters

NEEDS = ("smollm2",)
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Count the file, and compare."""
    step("counting", 0, 1)
    with safe_open(f"{data['smollm2']}/model.safetensors", "pt") as file:
        shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
    counted: Counter[str] = Counter()
    for name, shape in shapes.items():
        counted[name.split(".")[-2] if name.startswith("layers.") else name.split(".")[0]] += math.prod(shape)
    layers = 1 + max(int(name.split(".")[1]) for name in shapes if name.startswith("layers."))
    inner = shapes["layers.0.feed_forward.gate.weight"][0]
    config = Config(*shapes["tokens.weight"], layers, smollm2.HEADS, smollm2.SHARED, inner, gated=True)
    total, yours = sum(counted.values()), parameters(config)
    rows = [[name, f"{size:,}"] for name, size in counted.most_common()]
    rows += [["all in the file", f"{total:,}"], ["parameters(config)", f"{yours:,}"]]
    equal = "Both are the same, to the last number." if total == yours else f"They differ by {abs(total - yours):,}."
    step("counting", 1, 1)
    own_parts, at = parts(config), [shares(config, tokens) for tokens in LENGTHS]
    return [
        table("What is in the file, and what its sizes say", ["tensors", "numbers"], rows, note=equal),
        bars("Where its parameters are", list(own_parts), {"share": [size / yours for size in own_parts.values()]},
             y_axis="share", note=f"Its sizes: {config}."),
        bars("Where a text's operations are", [f"{tokens:,} tokens" for tokens in LENGTHS],
             {part: [share[part] for share in at] for part in at[0]}, y_axis="share",
             note=f"1,024 tokens take {flops(config, 1024):,} operations."),
    ]  # fmt: skip
