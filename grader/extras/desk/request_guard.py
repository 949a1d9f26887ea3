"""Who may ask: the browser that came with the secret, from a page of ours, on this machine. Nobody else."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.api import whole_number

ENTER = "/enter"
"""Where the secret is exchanged for a cookie."""
LARGEST = 1 << 20
"""Bytes of a form; longer ones are refused."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # Not `no-referrer`: with it browsers send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# A page that goes on by itself: after a redirect, a browser that came from elsewhere keeps a strict cookie back.
_ENTERED = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Kata desk</title>'
    '<meta http-equiv="refresh" content="0;url=/"></head><body><p><a href="/">Go to the desk</a></p></body></html>'
)


class Guard:
    """Lets through what comes from the desk's own pages, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.secret = secrets.token_urlsafe(32)
        """What the address holds; exchanged for a cookie."""
        self._app = app
        self._session = secrets.token_urlsafe(32)
        self._cookie = f"kata-desk-{port}"  # a browser shares cookies between all ports of a host
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or have the desk answer."""
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])  # no desk page opens a socket

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        answer = self._refused(scope) or self._entered(scope)
        await (answer or self._app)(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.getlist("host")
        if len(host) != 1 or host[0] not in self._hosts:
            return PlainTextResponse("This desk does not serve the host name that was asked for.", 421)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("The desk only shows pages and accepts forms.", 405)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and scope["path"] != ENTER:
            return _forbidden("Another site asked for this page.")
        if scope["method"] == "POST":
            if headers.getlist("origin") != [f"http://{host[0]}"]:
                return _forbidden("This form does not come from a page of the desk.")
            if headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
                return _forbidden("This is not a form of the desk.")
            length = whole_number(headers.get("content-length", ""))
            if length is None or length > LARGEST:
                return PlainTextResponse("This form is too long.", 413)
        return None

    def _entered(self, scope: Scope) -> Response | None:
        if scope["path"] == ENTER and scope["method"] == "GET":
            given = scope["query_string"].removeprefix(b"key=")
            if not secrets.compare_digest(given, self.secret.encode()):
                return _forbidden("This is not the address that kata desk printed.")
            answer = HTMLResponse(_ENTERED)
            answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict")
            return answer
        cookies = [
            cookie_parser(header).get(self._cookie, "") for header in Headers(scope=scope).getlist("cookie")
        ]
        if not any(secrets.compare_digest(cookie.encode(), self._session.encode()) for cookie in cookies):
            return _forbidden("Open the address that kata desk printed: it lets this browser in.")
        return None


def _forbidden(why: str) -> Response:
    return PlainTextResponse(why, 403)
