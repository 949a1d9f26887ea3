"""Moodle: a folder for each learner, `Ada Lovelace_12345_assignsubmission_file_`, or files that begin like that."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from grader.instructor.lms.person import Cells, Found, Person, filled, full_name
from grader.instructor.lms.system import GradeFile, Identifier, Roster, System, SystemName, Times
from grader.instructor.submissions.entry import Entry
from grader.instructor.submissions.learner import LearnerFolder

# Looked for at every place, so that overlapping ones are seen as well.
_MARK = re.compile(r"(?=_(?P<id>[0-9]+)_assignsubmission_[a-z]+(?P<end>_|\Z))")
# "Upload multiple feedback files in a zip" takes the folders of the download, or files that begin so
# (docs.moodle.org, "Assignment activity").
_FEEDBACK = re.compile(r"(?P<mark>.+?_[0-9]+_assignsubmission_)[a-z]+_(?P<original>.*)", re.DOTALL)


# Moodle's language pack `de`: the grading worksheet, participants, grades.
_GERMAN = {
    "id": "identifier",
    "vollständiger_name": "full_name",
    "vorname": "first_name",
    "nachname": "last_name",
    "anmeldename": "username",
    "id_nummer": "id_number",
    "matrikelnummer": "id_number",
    "e_mail_adresse": "email_address",
    "gruppen": "groups",
    "zuletzt_geändert_(abgabe)": "last_modified_(submission)",
}
_GERMAN_MONTHS = {
    "Januar": "January", "Februar": "February", "März": "March", "Mai": "May", "Juni": "June", "Juli": "July",
    "Oktober": "October", "Dezember": "December",
}  # fmt: skip
# Without the day of the week: en `12 October 2026, 5:30 PM`, en_us `October 12, 2026, 5:30 PM`, de
# `12. Oktober 2026, 17:30`.
_TIMES = (
    "%d %B %Y, %I:%M %p",
    "%d %B %Y, %H:%M",
    "%B %d, %Y, %I:%M %p",
    "%B %d, %Y, %H:%M",
    "%d. %B %Y, %H:%M",
)
_WEEKDAY = re.compile(r"[^\W\d]+, (?=\d|[^\W\d]+ \d)")


def time_in_words(text: str) -> datetime | None:
    """Read a time as Moodle writes it, in English of either kind or in German; None for anything else."""
    words = re.sub(
        r"[^\W\d]+", lambda word: _GERMAN_MONTHS.get(word[0], word[0]), _WEEKDAY.sub("", text, count=1)
    )
    for form in _TIMES:
        with suppress(ValueError):
            return datetime.strptime(words, form)
    return None


def _participant(cells: Cells) -> str:
    """Return the number in `Participant 1001`, in any language."""
    return re.sub(r"^\D+", "", cells["identifier"])


def _person(cells: Cells, name: str, ids: dict[str, str], section: str = "") -> Person:
    ids |= filled(cells, "id_number", "username")
    email = cells.get("email_address", "")
    return Person(
        learner=ids.get("username") or ids.get("id_number") or email or name,
        name=name,
        email=email,
        section=section,
        moodle_id=ids.get("id_number") or ids.get("username", ""),
        other=ids,
    )


def _who(cells: Cells) -> Found:
    name = cells.get("full_name", "")
    ids = {"moodle": _participant(cells), "email": cells.get("email_address", ""), "name": name}
    return Found(name, ids | {"sid": cells.get("id_number", "")})


class Moodle(System):
    """Moodle."""

    name = "moodle"
    title = "Moodle"
    rosters = (
        # An assignment's grading worksheet: `Identifier, Full name, Email address, …`
        Roster(
            frozenset({"identifier", "full_name"}),
            lambda cells: _person(cells, cells["full_name"], {"moodle_participant": _participant(cells)}),
        ),
        # Participants or grades: `First name, Last name, ID number, …, Email address`
        Roster(
            frozenset({"first_name", "email_address"}),
            lambda cells: _person(cells, full_name(cells), {}, cells.get("groups", "")),
        ),
    )
    headings = _GERMAN
    times = Times("last_modified_(submission)", _who)
    logins = ("moodle_id", "id_number")
    identifiers = (
        Identifier(
            "moodle",
            "moodle_participant",
            "participant's number",
            "Moodle's participant number is the roster's",
        ),
    )
    # Moodle asks which column is whom (docs.moodle.org, "Grade import"; `grade/import/csv/classes/load_data.php`):
    # the teacher maps `Email address`, or `Identifier` to the username or ID number, and each kata to a grade item or
    # to a new one. Email addresses are compared letter for letter. A grade above 100 is refused unless the site allows
    # it; an empty cell is not a grade. Importing a feedback column replaces the grades in the same row: there is none.
    grades = GradeFile(
        ("Identifier", "Full name", "Email address"),
        lambda learner, name, person: (person.moodle_id or learner, name, person.email),
    )

    def file(self, name: str) -> SystemName | None:
        """Take a file's name apart."""
        marks = [found for found in _MARK.finditer(name) if found.start()]
        if not marks:
            return None
        first = marks[0]
        original = name[first.end("end") :] or None
        return SystemName(name[: first.start()], first["id"], original, doubtful=len(marks) > 1)

    folder = file  # they are called alike

    def resolved(self, named: dict[Entry, SystemName]) -> dict[Entry, SystemName]:
        """Tell people's names from their groups', which Moodle puts before all of them or before none: `Team 1-Ada`."""
        if not all("-" in made.learner for made in named.values()):
            return named
        return {
            item: replace(made, ids={self.name: made.key, "name": made.learner.partition("-")[2]})
            for item, made in named.items()
        }

    def places(self, item: Entry, made: SystemName, learner: LearnerFolder) -> None:
        """Add a file or folder; what was typed is for people."""
        if f"_{made.key}_assignsubmission_onlinetext" in item.name:
            learner.notes.append("a text was typed into Moodle; it is not read")
        super().places(item, made, learner)

    def feedback(self, part: str, *, last: bool) -> str | None:
        """Return a name that begins as the system's own; the leftmost one is, what follows a learner chose."""
        found = _FEEDBACK.fullmatch(part)
        return f"{found['mark']}file_{'' if found['original'] else '/'}feedback.html" if found else None
