"""Write what systems would give: rosters, bulk downloads with the mess that comes in them, tables of times."""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from benchmarks.a_term.script import ZONE, Download, HandIn, Learner, Script, due

Files = dict[str, str | bytes]
"""By path."""
Layout = Callable[[Download, dict[str, Learner]], Iterator[tuple[str, str | bytes]]]
_OWN_TIMES = frozenset({"canvas", "gradescope", "blackboard", "nbgrader", "brightspace", "sakai"})
"""Downloads without a table of times next to them; Canvas has none."""
_STRANGER = Learner("visitor-from-abroad", "Visitor", "Abroad", 999_000, "")


def module(week: int) -> str:
    """Return what a week's module is called; the kata's name is the same."""
    return f"sort{week:02}"


def rosters(script: Script, folder: Path) -> list[Path]:
    """Write the class as Canvas and Moodle have it."""
    canvas = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section"], ["    Points Possible"]]
    canvas += [
        [f"{p.last}, {p.first}", str(p.number), f"S{p.number}", p.login, p.section] for p in script.learners
    ]
    canvas.append(["Student, Test", "1", "", "testing", "A"])
    moodle = [["First name", "Surname", "Username", "ID number", "Email address"]]
    moodle += [[p.first, p.last, p.login, f"S{p.number}", p.email] for p in script.learners]
    return [_table(folder / "canvas-roster.csv", canvas), _table(folder / "moodle-roster.csv", moodle)]


def write(script: Script, step: Download, folder: Path) -> tuple[Path, Path | None]:
    """Write a download into `folder`; return it, and the table of times that the system has with it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    people = {one.login: one for one in (*script.learners, _STRANGER)}
    files = dict(_LAYOUTS[step.layout](step, people))
    files |= {"__MACOSX/._x": "", ".DS_Store": b"\0\1"}
    if step.layout == "class zipped twice":
        files = {"week.zip": _zipped(files)}
    name = f"week{step.week:02}{'-late' if step.late else ''}"
    if step.week % 2 or "zip" in step.layout:
        target = folder / f"{name}.zip"
        target.write_bytes(_zipped(files))
    else:
        target = folder / name
        for name, content in files.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return target, _times(step, people, folder)


def _content(one: HandIn) -> Iterator[tuple[str, str | bytes]]:
    """Yield the files that somebody uploaded."""
    name = module(one.week)
    if one.answered:
        yield "answers.md", "## 1. Why?\nIt holds one number aside.\n"
    if one.form == "unreadable":
        yield "work.zip", _zipped({f"{name}.py": one.text})[:-30]
    else:
        yield (f"{name}_final_v3.py" if one.form == "wrong name" else f"{name}.py"), one.text


def _folders(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        login = one.whose[0]
        called = step.called.get(login, login)
        if hash_of(login) % 3 == 0 and one.form == "plain":
            packed = {f"week/{name}": content for name, content in _content(one)}
            yield f"{called}.zip", _zipped({**packed, "__MACOSX/x": ""})
            continue
        for name, content in _content(one):
            yield f"{called}/{module(step.week)}/{name}", content
        yield f"{called}/notes.txt", "thoughts"
    for login in step.empty_handed:
        yield f"{login}/.keep", ""
    yield "readme.txt", "who put this here?"


def _canvas(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for place, one in enumerate(step.hand_ins):
        person = people[one.whose[0]]
        short = "".join(letter for letter in f"{person.last}{person.first}".lower() if letter.isalnum())
        if person.login in step.called:
            short = "newname" + short  # the number stays
        late = "_LATE" if place % 5 == 0 else ""
        for name, content in _content(one):
            stem, dot, ending = name.rpartition(".")
            again = "-1" if place % 7 == 0 and one.form == "plain" else ""
            yield f"{short}{late}_{person.number}_{700_000 + place}_{stem}{again}{dot}{ending}", content
    for login in step.empty_handed:
        person = people[login]
        yield f"{person.last.lower()}{person.first.lower()}_{person.number}_text.html", "<p>see my mail</p>"


def _moodle(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        person = people[one.whose[0]]
        for name, content in _content(one):
            yield f"{_moodle_name(step, person)}_{person.number + 5}_assignsubmission_file_/{name}", content
    for login in step.empty_handed:
        person = people[login]
        start = f"{_moodle_name(step, person)}_{person.number + 5}_assignsubmission_onlinetext_"
        yield f"{start}/onlinetext.html", "<p>see my mail</p>"


def _moodle_name(step: Download, person: Learner) -> str:
    return person.name.upper() if person.login in step.called else person.name


def _gradescope(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    told = ["---"]
    for place, one in enumerate(step.hand_ins):
        told += [f"submission_{place + 1}:", "  :submitters:"]
        for login in one.whose:
            person = people[login]
            email = person.email.upper() if login in step.called else person.email
            told += [f"  - :name: {person.name}", f"    :sid: S{person.number}", f"    :email: {email}"]
        told += [f"  :created_at: {one.at:%Y-%m-%d %H:%M:%S.000000000 Z}", "  :score: 0.0"]
        for name, content in _content(one):
            yield f"submission_{place + 1}/{name}", content
    yield "submission_metadata.yml", "\n".join(told) + "\n"


def _blackboard(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        person = people[one.whose[0]]
        start = f"Homework {step.week}_{person.login}_attempt_{one.at.astimezone(ZONE):%Y-%m-%d-%H-%M-%S}"
        yield f"{start}.txt", f"Name: {person.name} ({person.login})\nAssignment: Homework {step.week}\n"
        for name, content in _content(one):
            yield f"{start}_{name}", content


def _nbgrader(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        login = one.whose[0]
        start = f"submitted/{step.called.get(login, login)}/week{step.week}"
        for name, content in _content(one):
            yield f"{start}/{name}", content
        yield f"{start}/timestamp.txt", f"{one.at.astimezone(ZONE):%Y-%m-%d %H:%M:%S.%f} {ZONE.key}"


def _brightspace(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for place, one in enumerate(step.hand_ins):
        person = people[one.whose[0]]
        at = one.at.astimezone(ZONE)
        said = f"{at:%b} {at.day}, {at.year} {at.hour % 12 or 12}{at:%M} {at:%p}"
        for name, content in _content(one):
            yield (
                f"{person.number + 7}-{800_000 + place} - {_moodle_name(step, person)} - {said}/{name}",
                content,
            )
    yield "index.html", "<html>"


def _in_a_folder(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for name, content in _folders(step, people):
        yield f"Week {step.week}/{name}", content


def _zips(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        login = one.whose[0]
        packed = _zipped({f"work/{name}": content for name, content in _content(one)})
        yield f"Week {step.week}/{step.called.get(login, login)}.zip", packed


def _repositories(before: str, *more: str) -> Layout:
    """Return a layout of clones, called after the assignment and the learner."""

    def layout(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
        wrapper = f"week{step.week}{'_submissions_2026_05_09_T_14_30_45' if more else '-submissions'}"
        for one in step.hand_ins:
            login = one.whose[0]
            for name, content in (*_content(one), *((file, "{}") for file in more)):
                yield f"{wrapper}/{before}{step.week}-{step.called.get(login, login)}/{name}", content

    return layout


def _ilias(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    """Late files of teams are marked as such; the others have a folder each."""
    for place, one in enumerate(step.hand_ins):
        person = people[one.whose[0]]
        login = step.called.get(person.login, person.login)
        team, late = "", ""
        if step.layout == "ilias teams":
            team, late = f"Team {place // 2 + 10}/", "Late Submission - " * (one.at > due(step.week))
        for name, content in _content(one):
            home = f"{person.last}_{person.first}_{login}_{person.number}"
            yield f"Blatt_{step.week}/Abgaben/{team}{home}/{late}{name}", content


def _sakai(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        person = people[one.whose[0]]
        login = step.called.get(person.login, person.login)
        start = f"Week {step.week}/{person.last}, {person.first}({login})"
        yield f"{start}/timestamp.txt", f"{one.at:%Y%m%d%H%M%S}000"
        yield f"{start}/Feedback Attachment(s)/{module(step.week)}.py", "the tutor's"
        for name, content in _content(one):
            yield f"{start}/Submission attachment(s)/{name}", content


def _openolat(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        person = people[one.whose[0]]
        start = f"gta/{person.last}_{person.first}_{step.called.get(person.login, person.login)}"
        yield f"{start}/1_task/{module(step.week)}.py", "the task"
        for name, content in _content(one):
            yield f"{start}/2_submissions/{name}", content


def _teams(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        who = people[one.whose[0]].name
        yield f"Submitted files/{who}/Week {step.week}/Version 1/{module(step.week)}.py", "old"
        yield f"Working files/{who}/Week {step.week}/{module(step.week)}.py", "a draft"
        for name, content in _content(one):
            yield f"Submitted files/{who}/Week {step.week}/Version 2/{name}", content


def _google(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for one in step.hand_ins:
        for name, content in _content(one):
            yield f"{_moodle_name(step, people[one.whose[0]])} - {name}", content


def _groups(step: Download, people: dict[str, Learner]) -> Iterator[tuple[str, str | bytes]]:
    for place, one in enumerate(step.hand_ins):
        for login in one.whose:
            person = people[login]
            for name, content in _content(one):
                start = f"Team {place}-{_moodle_name(step, person)}_{person.number + 5}"
                yield f"{start}_assignsubmission_file_/{name}", content


_LAYOUTS: dict[str, Layout] = {
    "class zipped": _in_a_folder,
    "class zipped twice": _in_a_folder,
    "zips in a zip": _zips,
    "github classroom": _repositories("week"),
    "classroom 50": _repositories("cs-week", "result.json"),
    "ilias": _ilias,
    "ilias teams": _ilias,
    "sakai": _sakai,
    "openolat": _openolat,
    "teams": _teams,
    "google classroom": _google,
    "moodle groups": _groups,
    "folders": _folders,
    "canvas": _canvas,
    "gradescope": _gradescope,
    "moodle": _moodle,
    "blackboard": _blackboard,
    "nbgrader": _nbgrader,
    "brightspace": _brightspace,
}


def _times(step: Download, people: dict[str, Learner], folder: Path) -> Path | None:
    """Write the table that tells when, where the download itself does not and somebody has one."""
    if not step.timed or (step.layout in _OWN_TIMES and step.layout != "canvas"):
        return None
    everybody = [(people[login], one.at) for one in step.hand_ins for login in one.whose]
    if step.layout.startswith("moodle"):
        rows = [["Identifier", "Full name", "Email address", "Status", "Last modified (submission)"]]
        for person, moment in everybody:
            at = moment.astimezone(ZONE)
            said = f"{at:%A}, {at.day} {at:%B} {at.year}, {at.hour % 12 or 12}:{at:%M} {at:%p}"
            rows.append([f"Participant {person.number + 5}", person.name, person.email, "Submitted", said])
        return _table(folder / "worksheet.csv", rows)
    rows = [["learner", "kata", "submitted_at"]]
    for person, moment in everybody:
        at = moment.astimezone(ZONE).replace(tzinfo=None) if _unfolded(moment) else moment
        rows.append([person.login, module(step.week), at.isoformat()])
    return _table(folder / "times.csv", rows)


def _unfolded(at: datetime) -> bool:
    """Whether a local time means one moment: not in the hour that comes twice."""
    local = at.astimezone(ZONE)
    return local.replace(fold=0).utcoffset() == local.replace(fold=1).utcoffset()


def hash_of(text: str) -> int:
    """Return a number that is the same in every process."""
    return sum(place * ord(letter) for place, letter in enumerate(text, 1))


def _table(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def _zipped(files: Files) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()
