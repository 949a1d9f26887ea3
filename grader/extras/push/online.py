"""Systems over their public interfaces: who is in a course, what marks an assignment has there, giving one.

They are asked through a course's page, whose address is the one in the browser. The token goes into a header or the
body of a request to that host, never into an address: servers and proxies log those.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from grader.api import KataError, Person, UsageError

TIMEOUT_S = 60
HOW_IT_GOES_ON = "What was sent is recorded: the same command goes on from here."


class RemoteError(KataError):
    """The other system cannot be reached, or refuses."""


class RemoteMark(NamedTuple):
    """The mark that somebody has there."""

    points: float | None = None
    """None: no mark yet."""
    excused: bool = False
    """Somebody there decided that none is needed."""


NO_MARK = RemoteMark()


class RemoteAssignment(NamedTuple):
    """An assignment there."""

    id: str
    title: str
    max_points: float | None
    refusal: str = ""
    """Why no mark may be given from outside."""


@dataclass(frozen=True)
class Account:
    """Somebody in the course there."""

    id: str
    known_as: Mapping[str, str]
    """By column of the roster, in lower case."""


class Client(Protocol):
    """A course in another system."""

    title: str
    decimals: int
    """To how many places it keeps marks."""

    @property
    def columns(self) -> Sequence[str]:
        """Of the roster, by which people are found, the surest first. Names are not among them: two may share one."""
        ...

    def accounts(self) -> list[Account]:
        """Return who takes part."""
        ...

    def assignment(self, number: str) -> RemoteAssignment:
        """Return the assignment that has this number in its address."""
        ...

    def marks(self, assignment: RemoteAssignment) -> dict[str, RemoteMark]:
        """Return everybody's mark, by account; who is missing has none."""
        ...

    def give(
        self, assignment: RemoteAssignment, account: str, points: float, over: RemoteMark
    ) -> RemoteMark | None:
        """Set a mark; where another one than `over` is there by now, return that, and set nothing."""
        ...


def account_of(person: Person, accounts: Sequence[Account], columns: Sequence[str]) -> Account | None:
    """Return who somebody of the roster is there: by the first column that exactly one account agrees with."""
    for column in columns:
        value = person.cell(column).casefold()
        found = [account for account in accounts if value and account.known_as.get(column) == value]
        # Never the first of several: a mark for somebody else is worse than none.
        if len(found) == 1:
            return found[0]
    return None


def host_of(address: str) -> str:
    """Return the host of an address; empty where it has none."""
    return urllib.parse.urlsplit(address).hostname or ""


def lowered(**values: object) -> dict[str, str]:
    """Return what somebody is known as, by column, without what is empty."""
    return {column: str(value).casefold() for column, value in values.items() if value}


@contextmanager
def asking(title: str, base: str, what: str = "") -> Iterator[None]:
    """Turn what goes wrong over there into an error of ours. Neither answers nor requests are in it: a token may be.

    Raises:
        RemoteError: the system cannot be reached, or refuses.
    """
    import requests
    from canvasapi.exceptions import CanvasException, InvalidAccessToken, ResourceDoesNotExist

    where = host_of(base)
    try:
        yield
    # These two before CanvasException, which both of them are.
    except InvalidAccessToken as error:
        raise RemoteError(
            f"{title} does not accept the token for {where}.", "Make a new one there."
        ) from error
    except ResourceDoesNotExist as error:
        raise UsageError(f"{title} does not have {what or 'this course'}, or hides it from you.") from error
    except CanvasException as error:
        raise RemoteError(f"{title} refuses: {type(error).__name__}.", HOW_IT_GOES_ON) from error
    except requests.RequestException as error:
        raise RemoteError(f"{where} cannot be reached: {type(error).__name__}.", HOW_IT_GOES_ON) from error
