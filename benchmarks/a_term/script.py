"""The script of a term: who is in the class, what they hand in and when, what is downloaded, what people decide.

Plain data, drawn from a seed. It imports nothing of Kata; neither does the oracle that reads it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Europe/Berlin")
FIRST_DUE = datetime(2026, 9, 28, 18, 0)
"""By the course's clock; one assignment a week. After the fourth the clock is put back, and there is a long break."""
BREAK_AFTER, BREAK = 4, timedelta(weeks=21)
"""In the week after it the clock is put forward."""
LAYOUTS = (
    ("folders", "class zipped"),
    ("canvas", "canvas"),
    ("gradescope", "moodle groups"),
    ("classroom 50", "classroom 50"),
    ("ilias", "sakai"),
    ("blackboard", "brightspace"),
    ("class zipped twice", "zips in a zip"),
    ("nbgrader", "github classroom"),
    ("moodle", "openolat"),
    ("teams", "google classroom"),
    ("ilias teams", "moodle"),
    ("brightspace", "nbgrader"),
)
"""In turn: how a week's first download looks, and the one when late work is in."""
LATE_TIMES = (1, 2)
"""Weeks in which a table says afterwards when things were handed in: first of the late work, then of all."""
BY_NAME = frozenset({"teams", "google classroom", "brightspace"})
"""Names alone say who somebody is: two of one name are not told apart."""
BY_LOGIN = frozenset({"folders", "class zipped", "class zipped twice", "zips in a zip", "nbgrader"})
"""People's folders are called as they like."""

# The course's rules, as `course.toml` has them.
GRACE = timedelta(minutes=15)
PERCENT_PER_DAY, MOST_PERCENT = 10, 50
LATE_DAYS = 2
CLOSES_AFTER_DAYS = 6
MODES = ("newest", "best", "chosen")

Mode = Literal["newest", "best", "chosen"]
Kind = Literal["right", "drops", "descending", "stub", "broken"]
Form = Literal["plain", "wrong name", "unreadable"]


@dataclass(frozen=True)
class Learner:
    """Somebody in the class."""

    login: str
    first: str
    last: str
    number: int
    section: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def email(self) -> str:
        return f"{self.login}@example.org"


@dataclass(frozen=True)
class HandIn:
    """What somebody handed in for a week's kata; `whose` are several where they worked together."""

    whose: tuple[str, ...]
    week: int
    at: datetime
    kind: Kind
    text: str
    form: Form = "plain"
    answered: bool = False
    """With written answers, which nobody marks."""


@dataclass(frozen=True)
class Download:
    """One bulk download: of everybody the newest until then."""

    week: int
    layout: str
    hand_ins: tuple[HandIn, ...]
    called: dict[str, str] = field(default_factory=dict)
    """By login, what the download calls somebody instead."""
    empty_handed: tuple[str, ...] = ()
    """Who is in it without a file that counts."""
    late: bool = False
    """The week's second one."""
    timed: bool = True
    """It is known when things were handed in."""
    stopped: bool = False
    """Grading is stopped in the middle, marks are exported, and the same command goes on."""


@dataclass(frozen=True)
class Decision:
    """What somebody typed about one learner."""

    kind: Literal["adjust", "override", "revoke", "choose", "extend", "take", "alias"]
    login: str
    week: int
    why: str
    points: float = 0.0
    days: int = 0
    name: str = ""
    at: datetime | None = None
    """`choose`: of what was handed in then."""
    by: str = "kim"


@dataclass(frozen=True)
class Together:
    """Decisions about points that come as a table."""

    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Mend:
    """The check of a week's kata that was wrong is mended, and what is stored graded again."""

    week: int


@dataclass(frozen=True)
class Copy:
    """The gradebook is copied."""


@dataclass(frozen=True)
class Loss:
    """The laptop is lost; the copy is taken from here on, and what was done since is done again."""


@dataclass(frozen=True)
class EndOfWeek:
    """The marks are looked at."""

    week: int


Step = Download | Decision | Together | Mend | Copy | Loss | EndOfWeek


@dataclass(frozen=True)
class Script:
    """A whole term."""

    weeks: int
    learners: tuple[Learner, ...]
    visitor: str
    """Not in any roster, and hands in all the same."""
    steps: tuple[Step, ...]
    mended: int
    """The week whose check is wrong until it is mended."""
    copied: tuple[tuple[int, str, str], ...]
    """Week, who copied, from whom."""


def due(week: int) -> datetime:
    """Return when a week's assignment is due, in UTC."""
    pause = BREAK if week > BREAK_AFTER else timedelta()
    return (FIRST_DUE + timedelta(weeks=week - 1) + pause).replace(tzinfo=ZONE).astimezone(UTC)


def mode(week: int) -> Mode:
    """Return which attempt counts."""
    return MODES[(week - 1) % len(MODES)]  # type: ignore[return-value]


def layouts(week: int) -> tuple[str, str]:
    """Return the layouts of a week's downloads."""
    return LAYOUTS[(week - 1) % len(LAYOUTS)]


_FIRST = [
    "Ada",
    "Alan",
    "Barbara",
    "Chloë",
    "Dennis",
    "Edsger",
    "Fatima",
    "Grace",
    "Hedy",
    "Ivan",
    "Jörg",
    "Katherine",
    "Leslie",
    "Mei",
    "Niklaus",
    "Olga",
    "Peter",
    "Radia",
    "Sofia",
    "Tim",
]
_LAST = [
    "Abel",
    "Borg",
    "Curie",
    "Diaz",
    "Eiffel",
    "Franklin",
    "Gauß",
    "Hopper",
    "Ito",
    "Jemison",
    "Kowalski",
    "Lovelace",
    "Meitner",
    "Noether",
    "Okafor",
    "Perlman",
    "Quine",
    "Rao",
    "Shannon",
    "Turing",
]


def draw(learners: int = 300, weeks: int = 12, seed: int = 0) -> Script:
    """Draw a term. Whatever its size, everything that can happen happens to somebody."""
    return _Drawing(learners, weeks, random.Random(seed)).script()


_ROLES = {
    "late": 0.10,
    "later": 0.03,
    "resubmitted": 0.10,
    "touched": 0.04,
    "within grace": 0.03,
    "after closing": 0.03,
    "closed improvement": 0.03,
    "absent": 0.05,
    "wrong name": 0.03,
    "unreadable": 0.02,
    "then unreadable": 0.02,
    "renamed": 0.03,
    "misspelled": 0.03,
    "together": 0.06,
    "copies": 0.05,
    "extended": 0.03,
    "appeals": 0.03,
    "overruled": 0.02,
    "mistaken": 0.02,
    "tabled": 0.04,
}
"""Of a week's learners; the others hand in once, in time."""
_ANSWERING = ("plain", "copies", "together", "appeals", "touched", "tabled")
_SMALL = 16
"""A class that is smaller takes the roles in turn, week after week."""


class _Drawing:
    def __init__(self, learners: int, weeks: int, chance: random.Random) -> None:
        self._chance = chance
        self._weeks = weeks
        self._learners = tuple(self._class(learners))
        self._namesakes = [self._learners[place].login for place in (1, -2) if learners > 3]
        """Two of one name, who both hand in, where the system tells them apart."""
        self._gone = {one.login for one in self._learners[: max(1, learners // 50)]}
        """They never hand anything in."""
        self._aliases: set[str] = set()
        self._copied: list[tuple[int, str, str]] = []

    def _class(self, count: int) -> Iterator[Learner]:
        names = [(first, last) for last in _LAST for first in _FIRST]
        self._chance.shuffle(names)
        chosen = [names[place % len(names)] for place in range(count)]
        if count > 2:
            chosen[-1] = chosen[0]  # two of one name
        if count > 3:
            chosen[-2] = chosen[1]  # and two more
        for place, (first, last) in enumerate(chosen):
            login = f"{first[:1].lower()}{chr(97 + place % 26)}{chr(97 + place // 26 % 26)}{1000 + 7 * place}"
            yield Learner(login, first, last, 20_000 + 13 * place, "AB"[place % 2])

    def script(self) -> Script:
        mended = max(1, round(self._weeks * 2 / 3))
        lost = max(2, round(self._weeks / 2))
        steps: list[Step] = []
        for week in range(1, self._weeks + 1):
            one = self._week(week)
            if week == mended:
                one.insert(one.index(EndOfWeek(week)), Mend(week))
            steps += one
            if week == lost - 1:
                steps.append(Copy())
            if week == lost:
                steps.append(Loss())
        return Script(
            self._weeks, self._learners, "visitor-from-abroad", tuple(steps), mended, tuple(self._copied)
        )

    def _roles(self, week: int) -> dict[str, str]:
        there = [one.login for one in self._learners if one.login not in self._gone]
        self._chance.shuffle(there)
        names: list[str] = []
        if len(there) < _SMALL:
            every = list(_ROLES)
            start = (week - 1) * len(there)
            names = [every[(start + place) % len(every)] for place in range(len(there))]
        else:
            for role, share in _ROLES.items():
                names += [role] * max(1, round(share * len(there)))
        names += ["plain"] * (len(there) - len(names))
        roles = dict(zip(there, names, strict=False))
        apart = BY_NAME.isdisjoint(layouts(week))
        return roles | dict(
            zip(self._namesakes, ("later", "within grace") if apart else ("absent",) * 2, strict=False)
        )

    def _week(self, week: int) -> list[Step]:
        roles = self._roles(week)
        given: list[HandIn] = []
        decisions: list[Step] = []
        called: dict[str, str] = {}
        tabled: list[Decision] = []
        written: dict[str, str] = {}
        plain = sorted(login for login, role in roles.items() if role == "plain") or sorted(roles)
        for login, role in sorted(roles.items()):
            moments = self._moments(week, role)
            kinds = self._kinds(role, len(moments))
            for version, (at, kind) in enumerate(zip(moments, kinds, strict=True)):
                text = answer(week, kind, f"{login} {0 if role == 'touched' else version}")
                written.setdefault(login, text)
                form: Form = "plain"
                if role == "wrong name":
                    form = "wrong name"
                elif role == "unreadable" or (role == "then unreadable" and version):
                    form = "unreadable"
                # Of the last week's questions half the class answers.
                answered = week == self._weeks and role in _ANSWERING and int(login[3:]) % 2 == 0
                given.append(HandIn((login,), week, at, kind, text, form, answered))
            self._decide(login, role, week, moments, called, decisions, tabled)
        given = self._together(week, roles, given)
        given = self._copies(week, roles, given, plain)
        if week == 1:
            given.append(
                HandIn(
                    ("visitor-from-abroad",),
                    1,
                    due(1) - timedelta(hours=3),
                    "right",
                    answer(1, "right", "visitor"),
                )
            )
        twin = self._learners[-1]
        if week == 1 and [one.name for one in self._learners].count(twin.name) > 1:
            # Who is also called so is gone; where a download has names alone, somebody must say who is meant.
            decisions.append(Decision("alias", twin.login, week, "the other one is gone", name=twin.name))
        if tabled:
            decisions.append(Together(tuple(tabled)))
        timed = week not in LATE_TIMES
        first = replace(self._download(week, 0, given, called, roles), timed=timed)
        second = replace(self._download(week, 1, given, called, roles), timed=timed, late=True)
        again = [first] if any(isinstance(one, Decision) and one.kind == "take" for one in decisions) else []
        chosen = [one for one in decisions if isinstance(one, Decision) and one.kind == "choose"]
        before = [one for one in decisions if one not in chosen]
        begun = replace(first, stopped=week % 3 == 1)
        steps: list[Step] = [begun, *before, *again, second, *chosen, EndOfWeek(week)]
        for one in () if timed else (second, first):
            steps += [replace(one, timed=True), EndOfWeek(week)]
        return steps

    def _moments(self, week: int, role: str) -> list[datetime]:
        at = due(week)
        early = at - timedelta(minutes=self._chance.randrange(60, 6000))
        late = at + timedelta(minutes=self._chance.randrange(16, 2 * 1440 - 60))
        later = at + timedelta(minutes=self._chance.randrange(2 * 1440 + 60, CLOSES_AFTER_DAYS * 1440 - 90))
        closed = at + timedelta(minutes=self._chance.randrange(CLOSES_AFTER_DAYS * 1440 + 90, 9 * 1440 - 60))
        return {
            "late": [late],
            "later": [later],
            "resubmitted": [early, later],
            "touched": [early, later],
            "within grace": [at + timedelta(minutes=15)],
            "after closing": [closed],
            "closed improvement": [early, closed],
            "absent": [],
            "then unreadable": [early, later],
            "extended": [later],
            "appeals": [early, later],
        }.get(role, [early])

    def _kinds(self, role: str, count: int) -> list[Kind]:
        if role == "copies":
            return ["right"] * count
        if role == "touched":
            return [self._chance.choice(("right", "drops"))] * count
        if role == "resubmitted" and self._chance.random() < 0.7:
            return [self._chance.choice(("drops", "descending", "stub", "broken")), "right"]
        kinds: tuple[Kind, ...] = ("right", "drops", "descending", "stub", "broken")
        return self._chance.choices(kinds, (60, 20, 10, 6, 4), k=count)

    def _decide(
        self,
        login: str,
        role: str,
        week: int,
        moments: Sequence[datetime],
        called: dict[str, str],
        decisions: list[Step],
        tabled: list[Decision],
    ) -> None:
        if role == "wrong name":
            decisions.append(Decision("take", login, week, "asked by mail"))
        elif role == "renamed" and login not in self._aliases and BY_LOGIN.issuperset(layouts(week)):
            self._aliases.add(login)
            called[login] = f"work-of-no-{login[1:3]}-{week}"
            decisions.append(Decision("alias", login, week, "told in the exercise class", name=called[login]))
        elif role == "misspelled":
            called[login] = login.upper()
        elif role == "extended":
            decisions.append(Decision("extend", login, week, "was ill", days=self._chance.choice((1, 3, 7))))
        elif role == "appeals":
            decisions.append(Decision("choose", login, week, "the one she means", at=moments[0]))
        elif role == "overruled":
            points = self._chance.choice((0.0, 2.5, 4.0, 6.0))
            decisions.append(Decision("override", login, week, "graded by hand", points=points))
            decisions.append(Decision("adjust", login, week, "and half a point", points=0.5, by="lee"))
        elif role == "mistaken":
            decisions.append(Decision("adjust", login, week, "the check was ours", points=1.5))
            decisions.append(Decision("revoke", login, week, "meant for somebody else"))
        elif role == "tabled":
            points = self._chance.choice((-1.0, 0.5, 1.0))
            tabled.append(Decision("adjust", login, week, "the second question", points=points))

    def _together(self, week: int, roles: dict[str, str], given: list[HandIn]) -> list[HandIn]:
        """Pair those who work together, where the system knows groups."""
        if "gradescope" not in layouts(week):
            return given
        pairs = sorted(login for login, role in roles.items() if role == "together")
        whose = {one: (one, other) for one, other in zip(pairs[::2], pairs[1::2], strict=False)}
        partners = {other for _, other in whose.values()}
        return [
            replace(one, whose=whose.get(one.whose[0], one.whose))
            for one in given
            if one.whose[0] not in partners
        ]

    def _copies(
        self, week: int, roles: dict[str, str], given: list[HandIn], plain: Sequence[str]
    ) -> list[HandIn]:
        """Let some hand in what somebody else wrote, half of them with other names in it."""
        sources = [
            one for one in given if one.whose[0] in plain and one.kind == "right" and one.form == "plain"
        ]
        made = []
        for one in given:
            if roles.get(one.whose[0]) == "copies" and len(one.whose) == 1:
                other = next((source for source in sources if source.whose != one.whose), None)
                if other is not None:
                    sources = sources[1:] or sources
                    text = other.text
                    if self._chance.random() < 0.5:
                        text = (
                            text.replace("ordered", "hand").replace("value", "card").replace("note", "memo")
                        )
                    one = replace(one, text=text, kind=other.kind)
                    self._copied.append((week, one.whose[0], other.whose[0]))
            made.append(one)
        return made

    def _download(
        self, week: int, again: int, given: list[HandIn], called: dict[str, str], roles: dict[str, str]
    ) -> Download:
        taken = due(week) + timedelta(days=9 if again else 2)
        newest: dict[tuple[str, ...], HandIn] = {}
        for one in given:
            if one.at <= taken and (one.whose not in newest or newest[one.whose].at < one.at):
                newest[one.whose] = one
        empty = tuple(login for login, role in sorted(roles.items()) if role == "absent")
        return Download(week, layouts(week)[again], tuple(newest.values()), dict(called), empty)


_ANSWERS: dict[Kind, str] = {
    "right": """
def insertion_sort(values):
    ordered = []
    for value in values:
        ordered.insert(sum(1 for other in ordered if other <= value), value)
    return ordered
""",
    "drops": """
def insertion_sort(values):
    ordered = []
    for value in values:
        if value not in ordered:
            ordered.insert(sum(1 for other in ordered if other < value), value)
    return ordered
""",
    "descending": """
def insertion_sort(values):
    ordered = []
    for value in values:
        ordered.insert(sum(1 for other in ordered if other >= value), value)
    return ordered
""",
    "stub": """
def insertion_sort(values):
    raise NotImplementedError
""",
    "broken": """
def insertion_sort(values:
    return values
""",
}
_STATEMENTS = (
    "note = {a} * len(values) + {b}",
    "note = [value % {a} for value in values if value > {b}]",
    "note = dict(zip(values, range({a}, {b})))",
    "note = max(values, default={a}) - min(values, default={b})",
    "note = (len(values) // {a}, not values)",
    "note = ' '.join(str(value) for value in values[{a}:{b}])",
    "note = {{value: value ** {a} for value in values[:{b}]}}",
    "note = sum(value for value in values if value < {a}) or {b}",
    "note = any(value == {a} for value in values) and len(values) > {b}",
    "note = tuple(reversed(values))[{a}:] + ({b},)",
)


def answer(week: int, kind: Kind, who: str) -> str:
    """Return a module: an answer of a kind, and something that nobody else wrote."""
    chance = random.Random(f"{week} {who}")
    lines = [
        line.format(a=chance.randrange(2, 99), b=chance.randrange(2, 99))
        for line in chance.sample(_STATEMENTS, 8)
    ]
    own = "\n    ".join(lines)
    return f'"""Week {week}."""\n{_ANSWERS[kind]}\n\ndef look(values):\n    {own}\n    return note\n\n\n# {who}\n'
