"""Canvas and Moodle as their public documentation describes them, as far as marks go: served by this process."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token-that-nobody-may-see"
PER_PAGE = 2
"""So few, that what is read comes in pages."""


class Lms:
    """What is in the system, and what was asked of it."""

    def __init__(self) -> None:
        self.url = ""
        self.marks: dict[str, float | None] = {}
        """By account."""
        self.accounts: dict[str, dict[str, str]] = {}
        self.max_points = 10.0
        self.excused: set[str] = set()
        self.deducted: dict[str, float] = {}
        self.workflow = 0
        self.handed_in: list[tuple[str, str, str]] = []
        """An account, a moment in ISO 8601, and the number of the file, each for one attempt; the newest last."""
        self.more_time: dict[str, str] = {}
        """By account, until when."""
        self.groups: dict[str, list[str]] = {}
        """Accounts by the group's name."""
        self.forbidden = ""
        """Part of the path, or the function, that the token has no right to."""
        self.refused: set[str] = set()
        """Accounts whose mark nobody may set."""
        self.asked: list[str] = []
        """Paths, or functions; never what was in a body."""
        self.given: list[tuple[str, float]] = []
        self.break_at: int | None = None
        """Which request, from 1 on, gets no answer."""
        self.kill: int | None = None
        """The process that is ended at that request, in place of an answer."""
        self.hold: threading.Event | None = None
        """At that request nothing happens until it is set."""
        self.break_after = False
        """Do what is asked first."""

    @property
    def breaks(self) -> bool:
        return len(self.asked) == self.break_at

    def set_mark(self, account: str, points: float) -> None:
        self.marks[account] = points
        self.given.append((account, points))


class _Handler(BaseHTTPRequestHandler):
    lms: Lms

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, document: Any, status: int = 200, **headers: str) -> None:
        body = json.dumps(document).encode()
        if self.lms.breaks:
            if self.lms.kill is not None:
                os.kill(self.lms.kill, signal.SIGKILL)
            if self.lms.hold is not None:
                self.lms.hold.wait()
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def form(self) -> dict[str, str]:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        return {name: values[0] for name, values in parse_qs(body).items()}

    def noted(self, what: str) -> bool:
        """Note a request; return whether it is carried out."""
        self.lms.asked.append(what)
        return not self.lms.breaks or self.lms.break_after


class Canvas(_Handler):
    """https://canvas.instructure.com/doc/api: Users, Assignments, Submissions; pages by `Link` headers."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        self.noted(address.path)
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self.answer(
                {"errors": [{"message": "Invalid access token."}]}, 401, **{"WWW-Authenticate": "Bearer"}
            )
        if self.lms.forbidden and self.lms.forbidden in address.path:
            return self.answer({"errors": [{"message": "user not authorized"}]}, 403)
        query, groups = parse_qs(address.query), list(self.lms.groups.items())
        match address.path.split("/")[3:]:
            case ["courses", "7"]:
                return self.answer({"id": 7, "name": "Transformers"})
            case ["courses", "7", "search_users"]:
                assert query["enrollment_type[]"] == ["student"]
                return self.pages(
                    [{"id": int(id_), **more} for id_, more in self.lms.accounts.items()], query
                )
            case ["courses", "7", "assignments", "501"]:
                return self.answer(
                    {
                        "id": 501, "course_id": 7, "name": "Week 1", "points_possible": self.lms.max_points,
                        "group_category_id": 9 if groups else None,
                    }
                )  # fmt: skip
            case ["courses", "7", "groups"]:
                every = [
                    {"id": n, "name": name, "group_category_id": 9} for n, (name, _) in enumerate(groups)
                ]
                return self.pages([*every, {"id": 99, "name": "Others", "group_category_id": 8}], query)
            case ["groups", number, "users"]:
                return self.answer([{"id": int(id_)} for id_ in groups[int(number)][1]])
            case ["courses", "7", "assignments", "501", "overrides"]:
                return self.answer(
                    [
                        {
                            "id": 3,
                            "assignment_id": 501,
                            "course_id": 7,
                            "student_ids": [int(id_)],
                            "due_at": at,
                        }
                        for id_, at in self.lms.more_time.items()
                    ]
                )
            case ["courses", "7", "assignments", "501", "submissions"]:
                return self.pages([self.submission(id_) for id_ in self.lms.accounts], query)
            case ["courses", "7", "assignments", "501", "submissions", id_] if id_ in self.lms.accounts:
                return self.answer(self.submission(id_))
        self.answer({"errors": [{"message": "The specified resource does not exist."}]}, 404)

    def do_PUT(self) -> None:
        given, id_ = self.form(), self.path.rpartition("/")[2]
        if id_ in self.lms.refused:
            return self.answer({"errors": [{"message": "The specified resource does not exist."}]}, 404)
        if self.noted(f"PUT {self.path}"):
            assert self.headers["Authorization"] == f"Bearer {TOKEN}"
            self.lms.set_mark(id_, float(given["submission[posted_grade]"]))
        self.answer(self.submission(id_))

    def submission(self, id_: str) -> dict[str, Any]:
        entered, taken = self.lms.marks.get(id_), self.lms.deducted.get(id_)
        score = None if entered is None else entered - (taken or 0)
        history = [
            {"user_id": int(id_), "submitted_at": at, "attachments": [{"id": int(file)}] if file else []}
            for account, at, file in self.lms.handed_in
            if account == id_
        ]
        return {
            "id": 9000 + int(id_), "user_id": int(id_), "assignment_id": 501, "score": score,
            "points_deducted": taken, "excused": id_ in self.lms.excused, "submission_history": history,
        }  # fmt: skip

    def pages(self, every: list[Any], query: dict[str, list[str]]) -> None:
        page = int(query.get("page", ["1"])[0])
        links = {}
        if page * PER_PAGE < len(every):
            path = urlsplit(self.path).path
            more = "&".join(f"{name}={value}" for name, (value, *_) in query.items() if name != "page")
            links["Link"] = f'<{self.lms.url}{path}?page={page + 1}&{more}>; rel="next"'
        self.answer(every[(page - 1) * PER_PAGE : page * PER_PAGE], **links)


class Moodle(_Handler):
    """https://docs.moodle.org/dev/Web_service_API_functions, by the REST protocol. An error has status 200."""

    def do_POST(self) -> None:
        assert self.path == "/moodle/webservice/rest/server.php"
        given = self.form()
        does = self.noted(given["wsfunction"])
        if given["wstoken"] != TOKEN:
            return self.answer(
                {"exception": "moodle_exception", "errorcode": "invalidtoken", "message": "Invalid token"}
            )
        assert given["moodlewsrestformat"] == "json"
        if self.lms.forbidden and self.lms.forbidden in given["wsfunction"]:
            return self.answer(
                {
                    "exception": "webservice_access_exception",
                    "errorcode": "accessexception",
                    "message": "Access",
                }
            )
        groups = list(self.lms.groups.items())
        match given["wsfunction"]:
            case "core_enrol_get_enrolled_users":
                assert given["courseid"] == "12"
                return self.answer([{"id": int(id_), **more} for id_, more in self.lms.accounts.items()])
            case "mod_assign_get_assignments":
                one = {
                    "id": 33, "cmid": 501, "course": 12, "name": "Week 1", "grade": self.lms.max_points,
                    "markingworkflow": self.lms.workflow,
                }  # fmt: skip
                assert given["courseids[0]"] == "12"
                return self.answer({"courses": [{"id": 12, "assignments": [one]}], "warnings": []})
            case "mod_assign_get_submissions":
                last = {
                    account: int(datetime.fromisoformat(at).timestamp())
                    for account, at, _ in self.lms.handed_in
                }
                whose = {id_: number for number, (_, ids) in enumerate(groups, 1) for id_ in ids}
                submissions = [
                    {
                        "userid": 0 if account in whose else int(account), "groupid": whose.get(account, 0),
                        "status": "submitted", "timemodified": at,
                    }
                    for account, at in last.items()
                ]  # fmt: skip
                return self.answer({"assignments": [{"assignmentid": 33, "submissions": submissions}]})
            case "mod_assign_get_user_flags":
                flags = [
                    {"userid": int(id_), "extensionduedate": int(datetime.fromisoformat(at).timestamp())}
                    for id_, at in self.lms.more_time.items()
                ]
                return self.answer({"assignments": [{"assignmentid": 33, "userflags": flags}]})
            case "core_group_get_group_members":
                return self.answer(
                    [{"groupid": n, "userids": list(map(int, ids))} for n, (_, ids) in enumerate(groups, 1)]
                )
            case "core_group_get_course_groups":
                return self.answer([{"id": n, "name": name} for n, (name, _) in enumerate(groups, 1)])
            case "mod_assign_get_grades":
                assert given["assignmentids[0]"] == "33"
                grades = [
                    {"userid": int(id_), "attemptnumber": 0, "grade": f"{-1 if mark is None else mark:.5f}"}
                    for id_, mark in self.lms.marks.items()
                ]
                some = [{"assignmentid": 33, "grades": grades}] if grades else []
                return self.answer({"assignments": some, "warnings": []})
            case "mod_assign_save_grade":
                assert (given["assignmentid"], given["applytoall"]) == ("33", "0")
                if given["userid"] in self.lms.refused:
                    return self.answer(
                        {
                            "exception": "moodle_exception",
                            "errorcode": "usernotincourse",
                            "message": "Not enrolled",
                        }
                    )
                if does:
                    self.lms.set_mark(given["userid"], float(given["grade"]))
                return self.answer(None)
        self.answer({"exception": "webservice_access_exception", "message": "Access control exception"})


@contextmanager
def serving(kind: type[_Handler]) -> Iterator[Lms]:
    lms = Lms()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (kind,), {"lms": lms}))
    lms.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield lms
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
