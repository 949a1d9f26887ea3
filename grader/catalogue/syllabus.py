"""A pack's syllabuses: its katas in as many weeks as a course has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from grader.catalogue.file_types import SyllabusFile
from grader.catalogue.katas import Kata, Pack
from grader.data_files import read_data
from grader.errors import PackError, UsageError, did_you_mean

SYLLABUS_FILE = "syllabus.toml"


@dataclass(frozen=True)
class SyllabusWeek:
    """What a week is about, what is handed in at its end, and what else there is for who has time."""

    number: int
    title: str
    katas: tuple[Kata, ...]
    spare: tuple[Kata, ...]

    @property
    def minutes(self) -> int:
        """How long its katas take, as far as the pack says."""
        return sum(kata.minutes or 0 for kata in self.katas)

    @property
    def points(self) -> float:
        """What its katas are worth, hidden checks included."""
        return sum(kata.points + kata.hidden_points for kata in self.katas)

    def due(self, start: date) -> datetime:
        """Return the last minute of the week, in a course that starts on this day."""
        return datetime.combine(start + timedelta(days=7 * self.number - 1), time(23, 59))


@dataclass(frozen=True)
class Syllabus:
    """A course of some weeks over a pack."""

    pack: Pack
    weeks: tuple[SyllabusWeek, ...]

    @property
    def left_out(self) -> tuple[Kata, ...]:
        """The katas that are in no week, not even for who has time."""
        done = {kata for week in self.weeks for kata in (*week.katas, *week.spare)}
        return tuple(kata for kata in self.pack.katas if kata not in done)

    def page(self, name: str, start: date | None) -> str:
        """Return it as Markdown, for learners."""
        rows = [
            f"| {week.number} | {week.title} | {_named(week.katas)} | {week.minutes / 60:.1f} h | {week.points:g} | "
            + (f"{week.due(start):%Y-%m-%d} | " if start else "")
            + f"{_named(week.spare)} |"
            for week in self.weeks
        ]
        hours, points = (sum(getattr(week, of) for week in self.weeks) for of in ("minutes", "points"))
        due = ("due | ", "---|") if start else ("", "")
        left = _named(self.left_out)
        return "\n".join(
            [
                f"# {name}: {len(self.weeks)} weeks",
                "",
                f"| week | about | katas | takes | points | {due[0]}with time left |",
                f"|---|---|---|---|---|{due[1]}---|",
                *rows,
                "",
                f"In total, {hours / 60:.0f} hours of work and {points:g} points, hidden checks included. Begin a week "
                "with `kata show` of its first kata, and of its unit where a new one begins.",
                *(["", f"Left out: {left}."] if left else []),
                "",
            ]
        )


def find_syllabus(packs: Sequence[Pack], weeks: int) -> Syllabus:
    """Return the syllabus of so many weeks; of several packs that have one, the last one's: ours is the first.

    Raises:
        UsageError: there is none of that length.
        PackError: a file is broken, or names what is no kata, or one of them twice.
    """
    files = {pack: pack.root / SYLLABUS_FILE for pack in packs}
    found = {pack: read_data(path, SyllabusFile).weeks for pack, path in files.items() if path.is_file()}
    pack = next((pack for pack in reversed(found) if str(weeks) in found[pack]), None)
    if pack is None:
        lengths = ", ".join(map(str, sorted({int(length) for given in found.values() for length in given})))
        have = (
            f"There are syllabuses of {lengths} weeks."
            if lengths
            else f"A pack's {SYLLABUS_FILE} holds them."
        )
        raise UsageError(f"There is no syllabus of {weeks} weeks.", have)
    entries, where = found[pack][str(weeks)], f"{files[pack]}: `weeks.{weeks}`"
    if len(entries) != weeks:
        raise PackError(f"{where} has {len(entries)} weeks.")
    katas = {kata.slug: kata for kata in pack.katas}
    _refuse((slug for entry in entries for slug in (*entry.katas, *entry.spare)), katas, where)
    return Syllabus(
        pack,
        tuple(
            SyllabusWeek(
                number,
                entry.title,
                *(tuple(katas[slug] for slug in slugs) for slugs in (entry.katas, entry.spare)),
            )
            for number, entry in enumerate(entries, 1)
        ),
    )


def _refuse(slugs: Iterable[str], katas: dict[str, Kata], where: str) -> None:
    for slug, times in Counter(slugs).items():
        if slug not in katas:
            raise PackError(f"{where}: there is no kata {slug}.{did_you_mean(slug, list(katas))}")
        if times > 1:
            raise PackError(f"{where}: {slug} is listed {times} times.")


def _named(katas: Sequence[Kata]) -> str:
    return ", ".join(f"{kata.number} {kata.slug}" for kata in katas)
