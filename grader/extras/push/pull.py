"""What another system knows about hand-ins: when each came in, who has more time, who hands in together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from grader.api import Gradebook, Person, UnusedTime, UsageError, events, set_teams, words_in
from grader.extras.push.courses import Account, Client, RemoteHandIn, RemoteWork, account_of
from grader.extras.push.push import PushTarget

_DAY = timedelta(days=1)


@dataclass
class Pulled:
    """What is known of one assignment, as the gradebook is going to have it."""

    target: PushTarget
    katas: Sequence[str]
    times: dict[int, datetime] = field(default_factory=dict)
    """By the number of a hand-in."""
    unused: list[UnusedTime] = field(default_factory=list)
    more_days: dict[str, float] = field(default_factory=dict)
    """By learner."""
    teams: dict[str, list[str]] | None = None
    """Members by name; None where everybody hands in alone."""

    @property
    def of(self) -> str:
        """The assignment or the kata."""
        return self.target.column.kata


def pull(book: Gradebook, client: Client, targets: Sequence[PushTarget]) -> list[Pulled]:
    """Ask for everything; nothing is written yet, so that a pull that ends half-way changes nothing.

    Raises:
        RemoteError: the system refuses a call, which is named, or cannot be reached.
        UsageError: nobody of the class is in the course there.
    """
    accounts = client.accounts()
    learner_of = _learners(book, accounts, client.columns)
    if not learner_of:
        raise UsageError(
            f"Nobody of the class is in this course in {client.title}: it may be another course.",
            "See its address: kata course check",
        )
    names = {account.id: account.name or account.id for account in accounts}
    found = []
    for target in targets:
        work = client.work(target.assignment)
        pulled = Pulled(target, list(target.column.katas or [target.column.kata]))
        _times(book, client.title, work, learner_of, names, pulled)
        _extensions(book, work, learner_of, pulled)
        if work.teams is not None:
            pulled.teams = {
                name: [learner_of[member] for member in members if member in learner_of]
                for name, members in work.teams.items()
            }
        found.append(pulled)
    return found


def write(book: Gradebook, title: str, found: Sequence[Pulled], author: str) -> None:
    """Write down what was pulled. Again, it changes nothing."""
    recording = book.start_run({"pull": title})
    for pulled in found:
        recording.record_times(pulled.times, title)
        recording.record_unused_times(_source(title, pulled.target), pulled.katas, pulled.unused)
    recording.finish()
    for pulled in found:
        made = events.Provenance(author=author, comment=_reason(title))
        earlier = {
            extend.learner: extend
            for extend in book.standing(events.Extend)
            if extend.of == pulled.of and extend.made.comment == made.comment
        }
        for learner, extend in earlier.items():
            if pulled.more_days.get(learner or "") != extend.days:
                book.undo(extend.id, author=author, comment=made.comment)
        for learner, days in pulled.more_days.items():
            if learner not in earlier or earlier[learner].days != days:
                book.decide(events.Extend(learner=learner, of=pulled.of, days=days, made=made))
        if pulled.teams is not None:
            set_teams(book, pulled.of, pulled.teams, made)


def _reason(title: str) -> str:
    return f"{title} says so"


def _source(title: str, target: PushTarget) -> str:
    return f"{title}, {target.title}"


def _learners(book: Gradebook, accounts: Sequence[Account], columns: Sequence[str]) -> dict[str, str]:
    """Return the learner of each account: by address and numbers, then by a name that one alone has on either side."""
    found: dict[str, str] = {}
    people = {name: book.course.person(name) or Person(learner=name, name=name) for name in book.learners()}
    for learner, person in people.items():
        if (account := account_of(person, accounts, columns)) is not None:
            found.setdefault(account.id, learner)
    left = [account for account in accounts if account.id not in found]
    taken = set(found.values())
    by_name: dict[str, list[str]] = {}
    for learner, person in people.items():
        by_name.setdefault(_words(person.name or learner), []).append(learner)
    often = Counter(_words(account.name) for account in accounts)
    for account in left:
        same = by_name.get(_words(account.name), [])
        if account.name and len(same) == often[_words(account.name)] == 1 and same[0] not in taken:
            found[account.id] = same[0]
    return found


def _words(name: str) -> str:
    return " ".join(sorted(words_in(name)))


def _times(
    book: Gradebook,
    title: str,
    work: RemoteWork,
    learner_of: Mapping[str, str],
    names: Mapping[str, str],
    pulled: Pulled,
) -> None:
    """Find out which hand-in each time is of."""
    every: dict[str, list[RemoteHandIn]] = {}
    for hand_in in work.hand_ins:
        every.setdefault(hand_in.account, []).append(hand_in)
    for account, theirs in every.items():
        newest = max(theirs, key=lambda hand_in: hand_in.at)
        learner = learner_of.get(account)
        reason = "nobody" if learner is None else _unused(book, learner, theirs, pulled)
        if reason is not None:
            pulled.unused.append(
                UnusedTime(
                    kata="",
                    source=_source(title, pulled.target),
                    line=0,
                    name=learner or names.get(account, account),
                    at=newest.at,
                    reason="nobody" if reason == "nobody" else "download",
                )
            )


def _unused(book: Gradebook, learner: str, theirs: Collection[RemoteHandIn], pulled: Pulled) -> str | None:
    """Give a learner's hand-ins their times; return why the newest time was not used."""
    newest = max(theirs, key=lambda hand_in: hand_in.at)
    used = False
    for _, given in book.handed_in(learner, pulled.katas).values():
        own = [hand_in for hand_in in given if hand_in.digest and not hand_in.by]
        # By the number that the system gave the file: it is in the name that the download has it under.
        named = {
            hand_in.id: at
            for hand_in in own
            for at, files in ((remote.at, remote.files) for remote in theirs)
            if any(f"_{file}_" in (hand_in.origin or "") for file in files)
        }
        if own and not any(remote.files for remote in theirs):
            last = max(own, key=lambda hand_in: hand_in.arrived)
            # What came in there after the download was made cannot be what is in it.
            if newest.at <= last.arrived_at:
                named[last.id] = newest.at
        unknown = {hand_in.id for hand_in in own if hand_in.submitted_at is None}
        pulled.times |= {number: at for number, at in named.items() if number in unknown}
        used = used or newest.at in named.values()
    return None if used else "download"


def _extensions(book: Gradebook, work: RemoteWork, learner_of: Mapping[str, str], pulled: Pulled) -> None:
    """Find out who has more time than the course gives to everybody."""
    due = next((due for kata in pulled.katas if (due := book.course.due.get(kata)) is not None), None)
    zone = book.course.timezone
    for account, until in work.due_of.items():
        learner = learner_of.get(account)
        if due is None or learner is None or until <= due:
            continue
        # By the clock on the wall, as days are counted everywhere: a clock change is not more time.
        there, here = (at.astimezone(zone).replace(tzinfo=None) for at in (until, due))
        pulled.more_days[learner] = round((there - here) / _DAY, 6)


def lines(found: Sequence[Pulled]) -> Iterator[str]:
    """Yield what was found, a line for each assignment."""
    for pulled in found:
        what = [(len(pulled.times), "time"), (len(pulled.more_days), "extension")]
        what += [(len(pulled.teams), "team")] if pulled.teams is not None else []
        what += [(len(pulled.unused), "time not used")] if pulled.unused else []
        yield f"{pulled.target.title}   " + ", ".join(
            f"{count} {_plural(word, count)}" for count, word in what
        )


def _plural(word: str, count: int) -> str:
    first, *rest = word.split(" ")
    return " ".join((first if count == 1 else f"{first}s", *rest))
