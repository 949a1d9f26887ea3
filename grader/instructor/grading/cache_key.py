"""What a mark depends on besides the submission: digests of katas, seeds from the gradebook's nonce."""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib.metadata
import platform

from grader import __version__
from grader.catalogue import Kata
from grader.catalogue.given import blocks_in, given_files
from grader.catalogue.load import KATA_FILE
from grader.instructor.grading.messages import Setup

POOL = 4
"""Draws of the visible checks of a kata: what is right is known after a few submissions, and a table of it is long."""
SEEDS = 2**53
"""Seeds are below this: too many to try out, and still a whole number in every JSON reader."""


def kata_digest(kata: Kata) -> str:
    """Return a digest of everything in the pack that this kata's marks depend on, the same wherever the pack lies.

    That is what grading reads: the kata's data, its stub, checks and fingerprints, what learners and checks are given,
    the reference and the hidden checks, and other Python files next to the checks or in their unit, which these could
    import. Prose, demos, runs, pictures and what systems leave in folders are not read.
    """
    files = {
        "data": kata.folder / KATA_FILE,
        "stub": kata.stub,
        "checks": kata.checks,
        "speed checks": kata.speed_checks,
        "fingerprints": kata.fingerprints,
        "calibration": kata.calibration,
        "solution": kata.solution,
        **{f"form {name}": path for name, path in kata.form_files(kata.turned).items()},
        "hidden checks": kata.hidden_checks,
        **(
            {"adapter": kata.adapter.file, "course's solution": kata.adapter.reference}
            if kata.adapter
            else {}
        ),
        **{f"support {path.name}": path for path in kata.support},
        # A hand-in that has these is told so, whichever kata they are given to.
        **{f"blocks {place}": path for place, path in enumerate(blocks_in(kata.unit.pack))},
    }
    read = {*files.values(), *kata.given, kata.demo, kata.real}
    files |= {
        f"{where} {path.name}": path
        for where, folder in (("next to", kata.folder), ("unit", kata.unit.folder))
        for path in folder.glob("*.py")
        if path not in read and not path.name.startswith(".")
    }
    total = hashlib.sha256()
    # The role counts, not the place: two machines may have the pack in different folders.
    for role, path in sorted(files.items()):
        if path is not None and path.is_file():
            total.update(hashlib.sha256(role.encode()).digest())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    for name, data in sorted(given_files(kata).items()):
        total.update(hashlib.sha256(f"given {name}".encode()).digest())
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()


def seeds_for(nonce: bytes, kata: str, digest: str, fixed: int | None, tries: int = 0) -> tuple[int, int]:
    """Return the seeds of the visible and of the hidden checks for one content: equal content gets equal inputs.

    Nobody sees what hidden checks draw, so that all have the same. Of visible checks a learner sees inputs that fail:
    there are some draws, among which the content chooses, and nobody can choose by it.

    Args:
        nonce: the gradebook's secret.
        kata: the slug.
        digest: of what was handed in; empty where nothing could be read.
        fixed: what somebody asked for instead.
        tries: how often the content could not be graded: what failed for its draw must not fail for ever.
    """
    if fixed is not None:
        return fixed, fixed

    def number(*parts: str) -> int:
        # Keyed: without the gradebook's secret nobody can try out at home what will be drawn.
        text = "\0".join((kata, *parts))
        return int.from_bytes(hmac.digest(nonce, text.encode(), "sha256")[:8], "big") % SEEDS

    if tries:
        return number(digest, str(tries)), number("hidden", digest, str(tries))
    return number("visible", str(number(digest) % POOL)), number("hidden")


def terms_of(setup: Setup, kata: str, seeds: tuple[int, int]) -> str:
    """Return a digest of everything but the submission; equal terms give equal marks."""
    parts = (
        setup.katas[kata],
        *map(str, seeds),
        repr(setup.timeout_s),
        setup.device,
        str(setup.require_isolation),
        # Another torch rounds differently, another Kata may judge differently: both are graded anew.
        *versions().values(),
        *(["perf"] if setup.perf else []),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions that marks depend on, without importing torch."""
    return {"kata": __version__, "torch": _torch(), "python": platform.python_version()}


@functools.cache
def _torch() -> str:
    return importlib.metadata.version("torch")  # reads files, and is asked for every submission
