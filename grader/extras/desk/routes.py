"""Which address shows or does what. Names of learners, katas and files are data in a query, never parts of a path."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from grader.api import (
    STATUS_STYLES,
    Catalogue,
    ConflictError,
    KataError,
    UsageError,
    environment_of,
    whole_number,
)
from grader.api import TEMPLATES as REPORT
from grader.extras.desk.actions import ACTIONS, OF_ANSWERS, Form
from grader.extras.desk.look_alikes import SIMILAR, LookAlikes, alike_pairs, clusters, verdicts
from grader.extras.desk.queries import DeskReader, Filter, LogFilter, MarkPage
from grader.extras.desk.request_guard import LARGEST
from grader.extras.desk.sheets import Sheets

TEMPLATES = Path(__file__).parent / "templates"
MOST_FIELDS = 5000
"""Of a form: a class that somebody ticks one by one."""
PAIRS = 50
"""Pairs of look-alikes that a page shows line by line."""
_QUERY = re.compile(r"[!-~]*")


class Desk:
    """The pages, over one gradebook."""

    def __init__(
        self, reader: DeskReader, sheets: Sheets, look_alikes: LookAlikes, catalogue: Catalogue
    ) -> None:
        self.reader = reader
        self._sheets = sheets
        self._actions: dict[str, Callable[[Form], int | None]] = {
            **{name: partial(action, reader) for name, action in ACTIONS.items()},
            **{name: partial(action, reader, sheets) for name, action in OF_ANSWERS.items()},
        }
        self._pages: dict[str, Callable[..., str]] = {
            "/": self._start,
            "/class": self._class,
            "/mark": self._mark,
            "/written": self._written,
            "/answer": self._answer,
            "/problems": self._problems,
            "/groups": self._groups,
            "/items": self._items,
            "/disputes": self._disputes,
            "/alike": self._alike,
            "/log": self._log,
        }
        """Each is given what its address asks for; after an error also what was typed, and why it was not written."""
        self._look_alikes = look_alikes
        self._catalogue = catalogue
        self._environment = environment_of(TEMPLATES, *([SIMILAR.TEMPLATES] if SIMILAR else []))
        self._environment.globals.update(
            course=reader.course, author=reader.author, when=reader.local_time, looks=STATUS_STYLES,
            title=reader.lessons.title, word=reader.anonymity.pseudonym, name=reader.anonymity.name,
            decided=reader.decided,
        )  # fmt: skip
        style = (REPORT / "style.css").read_text("utf-8") + (TEMPLATES / "desk.css").read_text("utf-8")
        self._files = {
            "desk.css": (style, "text/css"),
            "desk.js": ((TEMPLATES / "desk.js").read_text("utf-8"), "text/javascript"),
        }

    def warm(self) -> None:
        """Read the class, compare answers and make templates, so that the first page is as fast as the others."""
        self._sheets.places(Filter())
        for name in self._environment.list_templates(extensions=["html"]):
            if name.startswith("desk/"):
                self._environment.get_template(name)

    def app(self) -> Starlette:
        """Return the application; `Guard` stands before it."""
        routes = [
            Route(path, partial(self._get, show), methods=["GET"]) for path, show in self._pages.items()
        ]
        routes.append(Route("/static/{name}", self._static, methods=["GET"]))
        routes.append(Route("/do/{action}", self._post, methods=["POST"]))
        handlers: Mapping[Any, Any] = {HTTPException: self._nothing_there}
        return Starlette(routes=routes, exception_handlers=handlers)

    # Pages

    def _start(self, query: Mapping[str, str], **more: Any) -> str:
        return self._page(
            "start.html", overview=self.reader.overview(), troubles=self.reader.troubles(),
            problems=len(self.reader.problems()), **more,
        )  # fmt: skip

    def _class(self, query: Mapping[str, str], **more: Any) -> str:
        chosen = Filter.of(query)
        found = self.reader.class_page(chosen)
        choices = self.reader.choices(found.sections)
        return self._page("class.html", chosen=chosen, list=found, choices=choices, **more)

    def _mark(self, query: Mapping[str, str], **more: Any) -> str:
        chosen = Filter.of(query)
        mark = MarkPage(self.reader, query, chosen)
        known = {slug: found for slug, found in self._look_alikes.known().items() if slug == mark.row.kata}
        settled = verdicts(self.reader.book) if known else {}
        alike = [pair for pair in alike_pairs(known, settled) if mark.row.learner in pair.learners]
        return self._page(
            "mark.html", chosen=chosen, mark=mark, line=whole_number(query.get("line", "")),
            file=query.get("file", ""), alike=alike, **more,
        )  # fmt: skip

    def _written(self, query: Mapping[str, str], **more: Any) -> str:
        chosen = Filter.of(query)
        return self._page("sheets.html", chosen=chosen, page=self._sheets.page(chosen), **more)

    def _answer(self, query: Mapping[str, str], **more: Any) -> str:
        chosen = Filter.of(query)
        return self._page("answer.html", chosen=chosen, page=self._sheets.answer(query, chosen), **more)

    def _disputes(self, query: Mapping[str, str], **more: Any) -> str:
        return self._page("disputes.html", threads=self.reader.disputes(), **more)

    def _log(self, query: Mapping[str, str], **more: Any) -> str:
        wanted = LogFilter.of(query)
        return self._page("log.html", events=self.reader.log(wanted), wanted=wanted, **more)

    def _problems(self, query: Mapping[str, str], **more: Any) -> str:
        every = self.reader.taking.every
        # What somebody took has been decided once it is graded: then one key takes it back.
        taken = self.reader.just(max((taking.progress.number for taking in every), default=0) or None)
        if taken is not None and more.get("just") is None:
            more |= {"just": taken, "was": "/problems"}
        return self._page("problems.html", problems=self.reader.problems(), every=every, **more)

    def _groups(self, query: Mapping[str, str], **more: Any) -> str:
        katas = self.reader.book.katas()
        slug = query.get("kata", "") or (katas[0] if katas else "")
        if slug and slug not in katas:
            raise UsageError(f"There is no kata {slug} here with hand-ins to compare.")
        found = self.reader.groups(slug) if slug else []
        shown = next((group for group in found if group.id == query.get("group")), None)
        word = shown and self.reader.anonymity.pseudonym(shown.members[0].learner, slug)
        mark = word and MarkPage(self.reader, {"learner": word, "of": slug}, Filter())
        return self._page("groups.html", katas=katas, kata=slug, groups=found, shown=shown, mark=mark, **more)

    def _items(self, query: Mapping[str, str], **more: Any) -> str:
        chosen = Filter.of(query)
        return self._page("items.html", chosen=chosen, items=self.reader.items(chosen), **more)

    def _alike(self, query: Mapping[str, str], **more: Any) -> str:
        reader, slug = self.reader, query.get("kata", "")
        katas = [kata for name in reader.book.katas() if (kata := self._catalogue.kata(name)) is not None]
        kata = next((kata for kata in katas if kata.slug == slug), None)
        if slug and kata is None:
            raise UsageError(f"There is no kata {slug} here with hand-ins to compare.")
        state, known = reader.state, self._look_alikes.known
        found = self._look_alikes.findings(kata, state(slug)) if kata is not None else None
        done = found is not None if kata is not None else self._look_alikes.all(katas, state)
        settled, hides = verdicts(reader.book), reader.anonymity.hides
        named = {slug: findings for slug, findings in known().items() if not hides(slug)}
        # Apart: two who are alike in both would be called by their names next to their numbers.
        unnamed = {slug: findings for slug, findings in known().items() if hides(slug)}
        apart = (alike_pairs(unnamed, settled), alike_pairs(named, settled))
        pairs = [pair for some in apart for pair in some]
        # Too little of them is somebody's own for a pair, as in a short kata whose reference differs in one line.
        copied = [
            name
            for name, findings in known().items()
            if any(same.learners > 1 and not same.known for same in findings.identical)
        ]
        section = None
        if kata is not None and found is not None and not isinstance(found, str):
            here = [pair.katas[slug] for pair in pairs if slug in pair.katas]
            section = SIMILAR.section_of(
                replace(found, pairs=tuple(here)), kata.title, PAIRS, partial(self._side, slug)
            )
        return self._page(
            "alike.html", katas=[kata.slug for kata in katas], kata=slug, section=section, pairs=pairs, most=PAIRS,
            clusters=[cluster for some in apart for cluster in clusters(some)], compared=len(known()), copied=copied,
            words=SIMILAR and SIMILAR.WORDS, waits=not done, trouble=found if isinstance(found, str) else None,
            **more,
        )  # fmt: skip

    def _side(self, kata: str, side: Any) -> tuple[str, str]:
        """Return what a hand-in is called, and where it is: its learner's own number names the attempt."""
        number = f", attempt {side.attempt}" if side.attempt is not None else ""
        called = self.reader.anonymity
        where = urlencode(
            {"learner": called.pseudonym(side.learner, kata), "of": kata, "number": side.attempt or ""}
        )
        return f"{called.name(side.learner, kata)}{number}", f"/mark?{where}"

    # How they are answered

    async def _get(self, show: Callable[[Mapping[str, str]], str], request: Request) -> Response:
        query = dict(request.query_params)
        try:
            return HTMLResponse(await run_in_threadpool(partial(self._shown, show, query)))
        except KataError as error:
            return HTMLResponse(self._trouble(error), 404 if isinstance(error, UsageError) else 500)

    def _shown(self, show: Callable[..., str], query: Mapping[str, str]) -> str:
        was = query.get("was", "")
        just = self.reader.just(whole_number(query.get("just", "")))
        return show(query, just=just, was=was if self._is_page(was) else "")

    async def _post(self, request: Request) -> Response:
        name = request.path_params["action"]
        action = self._actions.get(name)
        if action is None:
            raise HTTPException(404)
        form = await _form(request)
        back = form.get("back", "/")
        here = form.get("here", back)  # where a form goes on to another page
        if not (self._is_page(back) and self._is_page(here)):
            raise HTTPException(400)
        try:
            number = await run_in_threadpool(action, form)
            self.reader.everybody.invalidate()
        except KataError as error:
            self.reader.everybody.invalidate()
            status = 409 if isinstance(error, ConflictError) else 400
            return HTMLResponse(await run_in_threadpool(self._again, here, error, form, name), status)
        if number is not None:  # the next page says what was decided, and takes it back with one key
            back += f"{'&' if '?' in back else '?'}{urlencode({'just': number, 'was': here})}"
        return RedirectResponse(back, 303)

    def _again(self, back: str, error: KataError, form: Form, action: str) -> str:
        """Show the page that a form came from once more: what was typed, and why it was not written."""
        path, _, query = back.partition("?")
        try:
            return self._pages[path](dict(parse_qsl(query)), error=error, typed={**form, "do": action})
        except KataError:
            return self._trouble(error, typed=form)

    def _is_page(self, address: str) -> bool:
        """Tell whether a form may lead there afterwards: it is a page of ours."""
        path, _, query = address.partition("?")
        return path in self._pages and _QUERY.fullmatch(query) is not None

    async def _static(self, request: Request) -> Response:
        content, kind = self._files.get(request.path_params["name"], (None, None))
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=kind)

    async def _nothing_there(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        page = self._trouble(UsageError("There is no such page."))
        return HTMLResponse(page, status)

    def _trouble(self, error: KataError, **more: Any) -> str:
        return self._page("trouble.html", error=error, **more)

    def _page(self, template: str, **values: Any) -> str:
        values = {
            "error": None,
            "typed": {},
            "just": None,
            "was": "",
            "chosen": Filter(),
            "waiting": self.reader.waiting(),
            **values,
        }
        return self._environment.get_template(f"desk/{template}").render(values)


async def _form(request: Request) -> dict[str, str]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise HTTPException(413)
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="replace", max_num_fields=MOST_FIELDS
        )
    except ValueError as error:
        raise HTTPException(400) from error
    return dict(pairs)
