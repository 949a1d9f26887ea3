"""What a mark depends on besides the submission: digests of katas, seeds from the gradebook's nonce."""

from __future__ import annotations

import hashlib
import hmac
import importlib.metadata
import platform

from grader import __version__
from grader.catalogue import Kata
from grader.catalogue.given import blocks_in, given_files
from grader.grading.task import Setup

SEEDS = 2**53
"""Seeds are below this: too many to try out, and still a whole number in every JSON reader."""
_PROSE = {"README.md", "hints.md", "demo.py", "reflections.md"}
"""What learners read or watch; no mark depends on it."""


def kata_digest(kata: Kata) -> str:
    """Return a digest of everything in the pack that this kata's marks depend on."""
    files = [path for path in kata.folder.iterdir() if path.is_file() and path.name not in _PROSE]
    extra = (*kata.support, *blocks_in(kata.unit.pack), kata.solution, kata.hidden_checks)
    files += [path for path in extra if path is not None]
    total = hashlib.sha256()
    for path in sorted({path.resolve() for path in files}, key=lambda path: (path.name, str(path))):
        if path.suffix != ".pyc":
            total.update(hashlib.sha256(path.name.encode()).digest())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    for name, data in sorted(given_files(kata).items()):
        total.update(hashlib.sha256(name.encode()).digest())
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()


def seed_for(nonce: bytes, kata: str, fixed: int | None) -> int:
    """Return the seed of a kata in this gradebook: the same for every learner, unknown before it is made."""
    if fixed is not None:
        return fixed
    return int.from_bytes(hmac.digest(nonce, kata.encode(), "sha256")[:8], "big") % SEEDS


def terms_of(setup: Setup, kata: str, seed: int) -> str:
    """Return a digest of everything but the submission; equal terms give equal marks."""
    parts = (
        setup.katas[kata],
        str(seed),
        repr(setup.timeout_s),
        setup.device,
        str(setup.require_isolation),
        *versions().values(),
        *(["perf"] if setup.perf else []),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions that marks depend on, without importing torch."""
    return {
        "kata": __version__,
        "torch": importlib.metadata.version("torch"),
        "python": platform.python_version(),
    }
