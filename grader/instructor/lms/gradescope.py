"""Gradescope: folders `submission_N`, and next to them a file that says whose each is and when it was handed in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

from grader.data_files import UnreadableSubmission
from grader.instructor.lms.person import Cells, Found, Person, filled, full_name, is_student, turned
from grader.instructor.lms.system import Download, Roster, System, SystemName, Times
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.learner import LearnerFolder

METADATA = "submission_metadata.yml"

_MAX_METADATA = 256 << 20


def _in_roster(cells: Cells) -> Person | None:
    """The course's roster: `First Name, Last Name, SID, Email, Role, Section` or `Name, SID, Email, …`."""
    if not is_student(cells):
        return None
    name = cells.get("name") or cells.get("full_name") or full_name(cells)
    return Person(
        learner=cells["email"] or cells["sid"],
        name=turned(name),
        email=cells["email"],
        section=cells.get("section") or cells.get("sections", ""),
        other=filled(cells, "sid"),
    )


def _who(cells: Cells) -> Found:
    name = cells.get("name") or f"{cells.get('first_name', '')} {cells.get('last_name', '')}".strip()
    return Found(cells["email"], {"email": cells["email"], "sid": cells.get("sid", ""), "name": name})


@dataclass
class _Handin:
    """One submission in the metadata."""

    submitters: list[dict[str, str]] = field(default_factory=list)
    """`name`, `email` and `sid`, as far as they are given."""
    created_at: datetime | None = None


class Gradescope(System):
    """Gradescope."""

    name = "gradescope"
    title = "Gradescope"
    rosters = (Roster(frozenset({"sid", "email"}), _in_roster),)
    times = Times("submission_time", _who)
    logins = ("sid",)
    own_files = frozenset({METADATA})

    def folder(self, name: str) -> SystemName | None:
        """Take a folder's name apart; who it is, only the metadata says."""
        return SystemName(name, name) if re.fullmatch(r"submission_[0-9]+", name) else None

    def is_wrapper(self, name: str) -> bool:
        """Whether it is the folder around a whole export."""
        return re.fullmatch(r"assignment_[0-9]+_export", name) is not None

    def read(self, items: Sequence[Entry]) -> Download:
        """Say whose the folders are, as the metadata next to them has it."""
        found = Download()
        folders = [item for item in items if self.made(item) is not None]
        described = next((item for item in items if item.name == METADATA), None)
        if not folders or (described is None and len(folders) < len(items)):
            return found
        found.taken = {*folders, *([] if described is None else [described])}
        learners: dict[tuple[int, str], LearnerFolder] = {}
        shared: dict[tuple[int, str], list[Entry]] = {}
        known = _described(described, found.notes)
        for item in folders:
            handin = known.get(item.name, _Handin())
            who = [person for person in handin.submitters if person]
            for person in who or [{}]:
                # What a learner may choose must not stand for what somebody else is known by: an e-mail address as a
                # name.
                rank, identity = next(
                    (
                        (rank, person[by])
                        for rank, by in enumerate(("email", "sid", "name"))
                        if person.get(by)
                    ),
                    (3, item.name),
                )
                learner = learners.setdefault((rank, identity), LearnerFolder(identity, item.name, rank))
                source = self.title if handin.created_at else None
                place = item.handed_in(at=handin.created_at, time_source=source)
                (learner.places if len(who) < 2 else shared.setdefault((rank, identity), [])).append(place)
                learner.ids.update({**person, self.name: item.name})
                learner.notes += _doubts(
                    item.name, person, who, known=bool(known), more=len(learner.places) > 1
                )
        for key, places in shared.items():
            # If you hand in for a group you say who is in it. That must not stand against what somebody handed in
            # alone.
            if learners[key].places:
                names = ", ".join(place.name for place in places)
                learners[key].notes.append(f"named as a member of a group in {names}, which was left out")
            else:
                learners[key].places += places
        found.learners = list(learners.values())
        return found


def _doubts(
    folder: str, person: dict[str, str], who: list[dict[str, str]], *, known: bool, more: bool
) -> list[str]:
    """Return what the instructor should know of somebody's folder."""
    notes = []
    others = [other.get("name") or other.get("email", "?") for other in who if other is not person]
    if others:
        notes.append(f"handed in together with {', '.join(others)}")
    if not person and known:
        notes.append(f"{METADATA} does not say who handed in {folder}")
    if more:
        notes.append(f"handed in more than once, read together: {folder} is one")
    return notes


def _described(metadata: Entry | None, notes: list[str]) -> dict[str, _Handin]:
    """Return the submissions in the metadata; a note says why there are none."""
    numbered = "so learners are named by their submission numbers"
    if metadata is None:
        notes.append(f"{METADATA} is missing, {numbered}")
        return {}
    try:
        return _read(metadata.lines(_MAX_METADATA))
    except (UnreadableSubmission, OSError) as error:
        notes.append(f"{METADATA} cannot be read ({error}), {numbered}")
        return {}


def _read(text: Iterable[str]) -> dict[str, _Handin]:
    """Read `submission_metadata.yml`: for each `submission_N`, who handed it in and when."""
    # The file also holds what programs of learners printed, always indented further. So this reads the few
    # lines at their few indentations, and nothing else.
    found: dict[str, _Handin] = {}
    handin: _Handin | None = None
    inside = False
    for line in text:
        # Only the file's own keys begin a line: what a program printed is indented.
        if line[:1] not in {"", " ", "#", "-"}:
            name = re.fullmatch(r"[\"']?(submission_\d+)[\"']?:\s*", line)
            handin = _Handin() if name and name[1] not in found else None
            if name and handin is not None:
                found[name[1]] = handin
            inside = False
            continue
        if handin is None:
            continue
        key = re.fullmatch(r"  :(\w+): ?(.*)", line)
        if key:
            # The first list counts: a second one could only be printed by a learner's program.
            inside = key[1] == "submitters" and not handin.submitters
            if key[1] == "created_at" and handin.created_at is None:
                handin.created_at = _time(_scalar(key[2]))
            continue
        entry = re.fullmatch(r"(?:  |    )(- |  ):(name|email|sid): ?(.*)", line) if inside else None
        if entry:
            if entry[1] == "- " or not handin.submitters:
                handin.submitters.append({})
            value = _scalar(entry[3])
            if value:
                handin.submitters[-1].setdefault(entry[2], value)
    return found


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            # YAML's double quotes are those of JSON, but for `\x41`.
            value = json.loads(re.sub(r"\\x([0-9A-Fa-f]{2})", r"\\u00\1", text))
        except ValueError:
            return text[1:-1]
        return str(value)
    return "" if text in {"null", "~"} else text


def _time(text: str) -> datetime | None:
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?\s*(?:Z|UTC|([+-])(\d\d):?(\d\d))?", text.strip()
    )
    if not found:
        return None
    shift = timedelta(hours=int(found[4] or 0), minutes=int(found[5] or 0))
    zone = timezone(-shift if found[3] == "-" else shift) if shift < timedelta(hours=24) else UTC
    try:
        return datetime.fromisoformat(f"{found[1]} {found[2]}").replace(tzinfo=zone)
    except ValueError:
        return None
