"""File names for learners: readable, safe on every system, and never shared by two of them."""

from __future__ import annotations

import hashlib
import re
import unicodedata

READABLE = 40
"""Letters of a learner's identity that a file name repeats."""

_OTHER = re.compile(r"[^a-z0-9]+")


def file_stem(learner: str) -> str:
    """Return a file name without suffix for a learner's identity.

    It is made of small letters, digits and hyphens alone, is at most 73 characters long, and ends in 128 bits of the
    identity's SHA-256, so that what looks alike (`Ada`, `ada`, `a/da`) still has a file of its own.

    >>> file_stem("../Zoë")
    'zoe-8840d1f49662e9e8074fdc9974c5f4a4'
    """
    digest = hashlib.sha256(learner.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    plain = unicodedata.normalize("NFKD", learner[: 4 * READABLE]).encode("ascii", "ignore").decode().lower()
    readable = _OTHER.sub("-", plain)[:READABLE].strip("-")
    return f"{readable or 'learner'}-{digest}"
