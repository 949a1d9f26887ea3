"""Canvas and Moodle over their public interfaces: who is in a course, what marks an assignment has there, giving one.

They are asked through a course's page, whose address is the one in the browser. The token goes into a header or the
body of a request to that host, never into an address: servers and proxies log those.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, NamedTuple

from grader.api import KataError, Person, UsageError

TIMEOUT_S = 60
HOW_IT_GOES_ON = "Nothing is lost: the same command goes on from here."
"""True of marks, of which each that was set is recorded, as of questions, which change nothing."""


class RemoteError(KataError):
    """The other system cannot be reached, or refuses."""


class MarkRefusedError(RemoteError):
    """Raised where one mark is refused, and others need not be: somebody left the course, or may not be marked."""


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
    name: str = ""


class RemoteHandIn(NamedTuple):
    """Something that was handed in there."""

    account: str
    at: datetime
    files: tuple[str, ...] = ()
    """The numbers of its files, as names in a download have them; none where a system does not write them."""


class RemoteWork(NamedTuple):
    """What a system knows of the hand-ins for an assignment."""

    hand_ins: list[RemoteHandIn]
    due_of: dict[str, datetime]
    """By account, until when, where it is not what holds for everybody."""
    teams: dict[str, list[str]] | None
    """Accounts by the team's name; None where everybody hands in alone."""


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
def asking(title: str, base: str, what: str = "", *, of_mark: bool = False) -> Iterator[None]:
    """Turn what goes wrong over there into an error of ours. Neither answers nor requests are in it: a token may be.

    Args:
        title: the system's.
        base: where it is.
        what: what is asked for.
        of_mark: it is about one mark alone.

    Raises:
        RemoteError: the system cannot be reached, or refuses.
        MarkRefusedError: it refuses one mark.
    """
    import requests
    from canvasapi.exceptions import (
        BadRequest,
        CanvasException,
        Conflict,
        Forbidden,
        InvalidAccessToken,
        RateLimitExceeded,
        ResourceDoesNotExist,
        Unauthorized,
        UnprocessableEntity,
    )

    where = host_of(base)
    refused = {
        BadRequest: "400, bad request",
        Unauthorized: "401, not allowed",
        Forbidden: "403, forbidden",
        ResourceDoesNotExist: "404, not found",
        Conflict: "409, conflict",
        UnprocessableEntity: "422, cannot be processed",
    }
    try:
        yield
    # These two before CanvasException, which both of them are.
    except InvalidAccessToken as error:
        raise RemoteError(
            f"{title} does not accept the token for {where}.", "Make a new one there."
        ) from error
    except tuple(refused) as error:
        if of_mark and not isinstance(error, RateLimitExceeded):
            raise MarkRefusedError(f"{title} refuses it ({refused[type(error)]})") from error
        if not isinstance(error, ResourceDoesNotExist):
            purpose = f" to show {what}" if what else ""
            raise RemoteError(
                f"{title} refuses{purpose} ({refused[type(error)]}).", HOW_IT_GOES_ON
            ) from error
        raise UsageError(f"{title} does not have {what or 'this course'}, or hides it from you.") from error
    except CanvasException as error:
        purpose = f" to show {what}" if what else ""
        raise RemoteError(f"{title} refuses{purpose}: {type(error).__name__}.", HOW_IT_GOES_ON) from error
    except requests.RequestException as error:
        raise RemoteError(f"{where} cannot be reached: {type(error).__name__}.", HOW_IT_GOES_ON) from error


@dataclass
class CanvasCourse:
    """A course in Canvas, through canvasapi."""

    base: str
    number: str
    token: str = field(repr=False)
    _assignments: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    title = "Canvas"
    # No @: a name and a password before the host would be sent, shown and kept.
    address = re.compile(r"(?P<base>(?P<scheme>https?)://[^/@?#]+)/courses/(?P<course>[0-9]+)")
    example = "https://canvas.example.edu/courses/1234"
    decimals = 2
    """To how many places it keeps marks."""
    # Of the roster, the surest first. Names are not among them: two may share one.
    columns = ("canvas_id", "sis_user_id", "sis_login_id", "learner")

    @cached_property
    def _course(self) -> Any:
        from canvasapi.course import Course
        from canvasapi.requester import Requester

        requester = Requester(self.base, self.token)
        # It has no option for it, and without one a server that is silent would hold a push forever.
        session = requester._session
        session.request = partial(session.request, timeout=TIMEOUT_S)
        return Course(requester, {"id": int(self.number)})

    def accounts(self) -> list[Account]:
        """Return the course's students; the test student is not among them."""
        with asking(self.title, self.base, "who is in this course"):
            return [
                Account(
                    str(user.id),
                    lowered(
                        canvas_id=user.id,
                        sis_user_id=getattr(user, "sis_user_id", None),
                        # Both are told only to teachers who may see logins.
                        sis_login_id=getattr(user, "login_id", None),
                        learner=getattr(user, "login_id", None),
                    ),
                    getattr(user, "name", None) or "",
                )
                for user in self._course.get_users(enrollment_type=["student"])
            ]

    def assignment(self, number: str) -> RemoteAssignment:
        """Return an assignment by its number."""
        with asking(self.title, self.base, f"an assignment {number} in this course"):
            found = self._assignment(number)
            return RemoteAssignment(number, str(found.name), found.points_possible)

    def work(self, assignment: RemoteAssignment) -> RemoteWork:
        """Return what is known of the hand-ins for an assignment."""
        there = self._assignment(assignment.id)
        with asking(self.title, self.base, f"the submissions of assignment {assignment.id}"):
            every = [
                attempt
                for submission in there.get_submissions(include=["submission_history"])
                for attempt in getattr(submission, "submission_history", None) or [vars(submission)]
            ]
        hand_ins = [
            RemoteHandIn(
                str(attempt["user_id"]),
                _moment(attempt["submitted_at"]),
                tuple(str(file["id"]) for file in attempt.get("attachments") or ()),
            )
            for attempt in every
            if attempt.get("submitted_at")
        ]
        category, teams, members = getattr(there, "group_category_id", None), None, {}
        if category:
            with asking(self.title, self.base, "the groups of this course"):
                groups = [
                    group
                    for group in self._course.get_groups()
                    if getattr(group, "group_category_id", None) == category
                ]
                members = {str(group.id): [str(user.id) for user in group.get_users()] for group in groups}
            teams = {str(group.name): members[str(group.id)] for group in groups}
        due_of: dict[str, datetime] = {}
        with asking(self.title, self.base, f"who has more time for assignment {assignment.id}"):
            for override in there.get_overrides():
                until = getattr(override, "due_at", None)
                whose = [str(number) for number in getattr(override, "student_ids", None) or ()]
                if group := getattr(override, "group_id", None):
                    whose += members.get(str(group), [])
                if section := getattr(override, "course_section_id", None):
                    students = self._course.get_section(section, include=["students"]).students or ()
                    whose += [str(student["id"]) for student in students]
                if until:
                    at = _moment(until)
                    due_of |= {account: max(at, due_of.get(account, at)) for account in whose}
        return RemoteWork(hand_ins, due_of, teams)

    def marks(self, assignment: RemoteAssignment) -> dict[str, RemoteMark]:
        """Return everybody's mark, by account; who is missing has none."""
        with asking(self.title, self.base, f"the marks of assignment {assignment.id}"):
            every = self._assignment(assignment.id).get_submissions()
            return {str(submission.user_id): _canvas_mark(submission) for submission in every}

    def give(
        self, assignment: RemoteAssignment, account: str, points: float, over: RemoteMark
    ) -> RemoteMark | None:
        """Set a mark unless there is another by now. Canvas has no way to do both in one request."""
        there = self._assignment(assignment.id)
        with asking(self.title, self.base, of_mark=True):
            submission = there.get_submission(int(account))
            if (found := _canvas_mark(submission)) != over:
                return found
            submission.edit(submission={"posted_grade": f"{points:.{self.decimals}f}"})
        # A redirect would have made a question of it, which changes nothing and is answered all the same.
        if _canvas_mark(submission).points != points:
            raise RemoteError(f"{self.title} did not take the mark of account {account}.", HOW_IT_GOES_ON)
        return None

    def _assignment(self, number: str) -> Any:
        if number not in self._assignments:
            self._assignments[number] = self._course.get_assignment(int(number))
        return self._assignments[number]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _canvas_mark(submission: Any) -> RemoteMark:
    # `score` is what is left after Canvas's own late policy; what was entered is what we compare with.
    score, taken = submission.score, getattr(submission, "points_deducted", None) or 0.0
    return RemoteMark(
        None if score is None else round(score + taken, CanvasCourse.decimals),
        bool(getattr(submission, "excused", False)),
    )


class MoodleRefusal(RemoteError):
    """Raised where Moodle answers a function with an exception of its own."""

    def __init__(self, function: str, reason: str, code: str) -> None:
        super().__init__(
            f"Moodle refuses {function}: {reason}", f"A token's service must allow it. {HOW_IT_GOES_ON}"
        )
        self.reason, self.code = reason, code


# Of `lib/externallib.php` and `webservice/lib.php`: what is wrong with a token or the site, whomever a mark is for.
_OF_TOKEN = (
    "invalidtoken", "accessexception", "servicenotavailable", "requireloginerror", "sitemaintenance", "nopermissions",
    "errorcoursecontextnotvalid", "None",
)  # fmt: skip


@dataclass
class MoodleCourse:
    """A course in Moodle, through its web services with the REST protocol.

    The token's service needs the four functions that are called below.
    """

    base: str
    number: str
    token: str = field(repr=False)
    title = "Moodle"
    # No @: a name and a password before the host would be sent, shown and kept.
    address = re.compile(
        r"(?P<base>(?P<scheme>https?)://[^/@?#]+(?:/[^@?#]+)?)/course/view\.php\?(?:.*&)?id=(?P<course>[0-9]+)"
    )
    example = "https://moodle.example.edu/course/view.php?id=12"
    decimals = 5
    columns = ("username", "id_number", "moodle_id", "email", "learner")

    def accounts(self) -> list[Account]:
        """Return who is enrolled; teachers too, whom no roster names."""
        return [
            Account(
                str(user["id"]),
                lowered(
                    username=user.get("username"),
                    id_number=user.get("idnumber"),
                    moodle_id=user.get("idnumber") or user.get("username"),
                    email=user.get("email"),
                    learner=user.get("username"),
                ),
                user.get("fullname") or "",
            )
            for user in self._call("core_enrol_get_enrolled_users", courseid=self.number)
        ]

    def assignment(self, number: str) -> RemoteAssignment:
        """Return an assignment by the number in its address, which is not the one that marks go by."""
        courses = self._call("mod_assign_get_assignments", **{"courseids[0]": self.number})["courses"]
        every = [assignment for course in courses for assignment in course["assignments"]]
        found = next((assignment for assignment in every if str(assignment["cmid"]) == number), None)
        if found is None:
            raise UsageError(
                f"Moodle has no assignment {number} in this course.",
                "The number is in its address: …/mod/assign/view.php?id=NUMBER",
            )
        # Each mark would have to say the next state of the workflow, and people decide that over there.
        refusal = "has a marking workflow" if found.get("markingworkflow") else ""
        points = float(found["grade"])  # below 0 it is the number of a scale
        return RemoteAssignment(str(found["id"]), found["name"], points if points >= 0 else None, refusal)

    def work(self, assignment: RemoteAssignment) -> RemoteWork:
        """Return what is known of the hand-ins for an assignment. Moodle tells the newest of each alone."""
        of = {"assignmentids[0]": assignment.id}
        handed_in = [
            submission
            for part in self._call("mod_assign_get_submissions", **of)["assignments"]
            for submission in part["submissions"]
            if submission.get("status") == "submitted"
        ]
        teams, members = None, {}
        if groups := sorted({int(entry["groupid"]) for entry in handed_in if entry.get("groupid")}):
            parameters = {f"groupids[{place}]": number for place, number in enumerate(groups)}
            members = {
                int(group["groupid"]): [str(user) for user in group["userids"]]
                for group in self._call("core_group_get_group_members", **parameters)
            }
            names = {
                int(group["id"]): str(group["name"])
                for group in self._call("core_group_get_course_groups", courseid=self.number)
            }
            teams = {names.get(number, f"group {number}"): members.get(number, []) for number in groups}
        hand_ins = [
            RemoteHandIn(account, datetime.fromtimestamp(int(submission["timemodified"]), UTC))
            for submission in handed_in
            for account in (
                members.get(int(submission["groupid"]), [])
                if submission.get("groupid")
                else [str(submission["userid"])]
            )
        ]
        flags = self._call("mod_assign_get_user_flags", **of)["assignments"]
        due_of = {
            str(flag["userid"]): datetime.fromtimestamp(int(flag["extensionduedate"]), UTC)
            for part in flags
            for flag in part["userflags"]
            if flag.get("extensionduedate")
        }
        return RemoteWork(hand_ins, due_of, teams)

    def marks(self, assignment: RemoteAssignment) -> dict[str, RemoteMark]:
        """Return everybody's mark, by account; who is missing has none."""
        answer = self._call("mod_assign_get_grades", **{"assignmentids[0]": assignment.id})
        # -1: there is a row, and no mark yet.
        return {
            str(grade["userid"]): RemoteMark(points if (points := float(grade["grade"])) >= 0 else None)
            for part in answer["assignments"]
            for grade in part["grades"]
        }

    def give(
        self, assignment: RemoteAssignment, account: str, points: float, over: RemoteMark
    ) -> RemoteMark | None:
        """Set a mark, of the latest attempt and of nobody else in a group, unless there is another by now."""
        found = self.marks(assignment).get(account, NO_MARK)  # no function tells one alone
        if found != over:
            return found
        try:
            self._call(
                "mod_assign_save_grade",
                assignmentid=assignment.id,
                userid=account,
                grade=f"{points:.{self.decimals}f}",
                attemptnumber=-1,
                addattempt=0,
                workflowstate="",
                applytoall=0,
            )
        except MoodleRefusal as error:
            if error.code in _OF_TOKEN:
                raise
            raise MarkRefusedError(f"Moodle refuses it: {error.reason}") from error
        return None

    def _call(self, function: str, **given: object) -> Any:
        import requests

        form = {"wstoken": self.token, "wsfunction": function, "moodlewsrestformat": "json", **given}
        with asking(self.title, self.base):
            # No redirects: after one a mark would be asked for instead of set, and the token be somewhere else.
            answer = requests.post(
                f"{self.base}/webservice/rest/server.php",
                data=form,
                timeout=TIMEOUT_S,
                allow_redirects=False,
            )
            if answer.status_code != 200:
                raise RemoteError(
                    f"Moodle answered {function} with status {answer.status_code}.", HOW_IT_GOES_ON
                )
            found = answer.json()
        if isinstance(found, dict) and "exception" in found:
            reason = found.get("message") or found.get("errorcode")
            raise MoodleRefusal(function, str(reason), str(found.get("errorcode")))
        return found


Client = CanvasCourse | MoodleCourse
"""A course in another system."""
_COURSES: dict[str, type[CanvasCourse] | type[MoodleCourse]] = {
    "canvas": CanvasCourse,
    "moodle": MoodleCourse,
}
_HERE = ("127.0.0.1", "localhost", "::1")


def system_of(address: str) -> str:
    """Return which system a course's page is in.

    Raises:
        UsageError: it is not a course's page in any.
    """
    for name, kind in _COURSES.items():
        if kind.address.match(address):
            return name
    raise UsageError(
        f"{address}: this is not the address of a course in Canvas or Moodle.",
        f"Open the course there and take the address from the browser: {CanvasCourse.example}",
    )


def open_course(system: str, address: str, token: str) -> Client:
    """Return a course in Canvas or Moodle; nothing is asked yet.

    Raises:
        UsageError: the address is not that of a course's page there, or is not encrypted.
    """
    kind = _COURSES[system]
    found = kind.address.match(address)
    if found is None:
        raise UsageError(
            f"{address}: this is not the address of a course in {kind.title}.",
            f"Open the course there and take the address from the browser: {kind.example}",
        )
    if found["scheme"] != "https" and host_of(address) not in _HERE:
        raise UsageError(f"{address}: marks and a token go over https alone.", "Write https://…")
    return kind(found["base"], found["course"], token)
