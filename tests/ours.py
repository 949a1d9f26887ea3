"""Our own pack, as tests see it: its katas, those with checks of speed, and its demos."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from grader.catalogue import Kata, load_pack

ROOT = Path(__file__).parents[1]


@cache
def katas() -> dict[str, Kata]:
    """Return our katas by name, from this tree: what is installed may have no solutions."""
    return {kata.slug: kata for kata in load_pack(ROOT / "katas").katas}


def timed() -> list[str]:
    """Return the katas that have checks of speed, by name."""
    return [slug for slug, kata in katas().items() if kata.speed_checks is not None]


def demos() -> dict[str, Path]:
    """Return our demos by the kata or unit that they are of."""
    return {path.parent.name: path for path in sorted((ROOT / "katas").rglob("demo.py"))}


def module(path: Path) -> Any:
    """Run a file as a module of its own, and return it."""
    spec = importlib.util.spec_from_file_location(f"module_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


MASKS = (ROOT / "solutions" / "9.3-encoder-vs-decoder" / "masks" / "masks.py").read_text(encoding="utf-8")
"""The reference of masks."""


def masks(body: str) -> str:
    """Return the reference of masks in which `causal_mask` alone has another body."""
    return f"{MASKS}\n\ndef causal_mask(seq_len, *, device=None):\n    {body}\n"


OWN = """
def combine_masks(*masks):
    # Mine: counted, not multiplied.
    votes = sum(mask.to(torch.int64) for mask in torch.broadcast_tensors(*masks))
    needed = torch.full_like(votes, len(masks))
    return torch.eq(votes, needed).logical_and(votes.gt(0) | needed.eq(0))


def additive_mask(mask, dtype=torch.float32):
    bias = torch.empty(mask.shape, dtype=dtype, device=mask.device)
    bias[mask] = 0.0
    bias[~mask] = torch.tensor(float("-inf"), dtype=dtype)
    return bias.contiguous()
"""
"""An answer to masks that nobody else would write."""
