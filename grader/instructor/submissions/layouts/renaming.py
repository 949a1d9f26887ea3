"""For systems that say in a file's name whose it is: names taken apart, files of one learner together.

A system writes who it is first, then a mark, then what the learner called the file. So the leftmost mark is the
system's, and what comes after it can never change whose the file is. A learner's own name comes before it, though:
where a second mark follows, either the file's name or the learner's imitates one, and nobody gets the file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from grader.instructor.submissions.claims import Claim, Claims
from grader.instructor.submissions.entry import Entry


@dataclass(frozen=True)
class Renamed:
    """A file or folder name that a learning-management system made, taken apart."""

    learner: str
    """As the gradebook shall know them."""
    key: str
    """What tells the learner from others within the system."""
    original: str | None
    """The file's name before the system renamed it; None for a folder, or for the system's own note."""
    number: str = ""
    """Canvas: the attachment; Blackboard: the attempt's time. A later one is greater."""
    late: bool = False
    """Canvas says so."""
    doubtful: bool = False
    """The system's mark is in it more than once: a learner wrote one of them, and it is not known which."""


TWO_READINGS = "can be read in two ways, because the system's mark is in it twice"


def claimed_by_learner(
    system: str, parsed: dict[Entry, Renamed], claims: Claims
) -> Iterator[tuple[Claim, list[Entry]]]:
    """Yield each learner's claim, with the entries that are theirs."""
    together: dict[str, list[Entry]] = defaultdict(list)
    for entry, made in parsed.items():
        if made.doubtful:
            claims.nobody(system, entry.name, TWO_READINGS)
        else:
            together[made.key].append(entry)
    for key, entries in together.items():
        claim = claims.of(system, key, parsed[entries[0]].learner, key)
        claim.ids[system] = key
        yield claim, entries
