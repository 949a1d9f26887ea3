"""Who may ask the desk: one browser, with the secret, from a page of ours, on this machine."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.extras.desk import made_class
from tests.extras.desk.conftest import Open, Running

pytestmark = pytest.mark.slow

PAGES = ("/", "/class", "/mark?learner=ada.0000&of=masks", "/disputes", "/alike", "/log", "/static/desk.js")


@pytest.fixture(scope="module")
def desk(running: Open, tmp_path_factory: pytest.TempPathFactory) -> Running:
    folder = tmp_path_factory.mktemp("guarded")
    return running(made_class.make(folder, 2), folder)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", PAGES)
def test_without_the_secret_there_is_nothing(desk: Running, path: str) -> None:
    wrong = desk.cookie[:-1] + ("a" if desk.cookie[-1] != "a" else "b")
    for cookie in ("", wrong, desk.cookie.partition("=")[0] + "=", f"other={desk.secret}"):
        answer = desk.ask("GET", path, cookie=cookie or "x=y")
        assert answer.status == 403
        assert "ada" not in answer.text
    assert desk.ask("GET", path).status == 200


@pytest.mark.parametrize("key", ["", "key=", "key=x", "x={secret}", "key={secret}x", "key=%00"])
def test_a_wrong_secret_gets_no_cookie(desk: Running, key: str) -> None:
    answer = desk.ask("GET", "/enter?" + key.format(secret=desk.secret), cookie="x=y")
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_the_cookie_is_for_this_site_alone_and_no_script_sees_it(desk: Running) -> None:
    answer = desk.ask("GET", f"/enter?key={desk.secret}", cookie="x=y")
    said = answer.headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    assert desk.secret not in answer.headers["set-cookie"]
    assert "location" not in answer.headers, (
        "the page goes on by itself: a strict cookie outlives no redirect"
    )


@pytest.mark.parametrize(
    "host", ["", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}"]
)
def test_another_host_is_refused(desk: Running, host: str) -> None:
    """A name of somebody else's that leads here is how a site reaches what is local (DNS rebinding)."""
    answer = desk.ask("GET", "/", Host=host.format(port=desk.port))
    assert answer.status in (400, 421)
    assert "ada" not in answer.text


@pytest.mark.parametrize(
    "origin", ["", "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:{port}"]
)
def test_a_form_from_elsewhere_writes_nothing(desk: Running, origin: str) -> None:
    before = desk.mark()
    form = "learner=ada.0000&of=masks&points=5&comment=x&back=/log&version=1"
    answer = desk.ask("POST", "/do/adjust", form, Origin=origin.format(port=desk.port))
    assert answer.status == 403
    assert desk.mark() == before


def test_what_another_site_asks_for_is_refused(desk: Running) -> None:
    for site in ("cross-site", "same-site"):
        assert desk.ask("GET", "/", Sec_Fetch_Site=site).status == 403
    assert desk.ask("GET", "/", Sec_Fetch_Site="same-origin").status == 200
    kind = "text/plain"
    assert desk.ask("POST", "/do/adjust", "points=5", Content_Type=kind).status == 403
    assert desk.ask("PUT", "/").status == 405
    assert desk.ask("GET", "/do/adjust").status == 405
    assert desk.ask("POST", "/do/adjust", "x=y", Content_Length=str(2 << 20)).status == 413
    assert desk.ask("POST", "/do/rm", "back=/").status == 404


@pytest.mark.parametrize(
    "path",
    [
        "/static/../routes.py", "/static/..%2froutes.py", "/static/%2e%2e/%2e%2e/guard.py", "/static//etc/passwd",
        "/../../etc/passwd", "/static/desk/mark.html", "//evil.example/", "/static/desk.js%00", "/gradebook.sqlite",
    ],
)  # fmt: skip
def test_no_path_leads_to_a_file(desk: Running, path: str) -> None:
    answer = desk.ask("GET", path)
    assert answer.status == 404
    assert "root:" not in answer.text
    assert "def " not in answer.text


@pytest.mark.parametrize(
    "back", ["//evil.example", "https://evil.example", "/\\evil.example", "/mark\r\nX: y", "javascript:0"]
)
def test_a_form_leads_back_to_a_page_of_ours_alone(desk: Running, back: str) -> None:
    answer = desk.do("dispute", comment="x", back=back)
    assert answer.status == 400
    assert "location" not in answer.headers


def test_every_answer_has_the_headers(desk: Running) -> None:
    for path in (*PAGES, "/nowhere"):
        for cookie in (desk.cookie, "x=y"):
            headers = desk.ask("GET", path, cookie=cookie).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert headers["cache-control"] == "no-store"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
            assert "server" not in headers


def test_no_page_holds_a_script_or_a_style_of_its_own(desk: Running) -> None:
    for path in PAGES[:-1]:
        page = desk.page(path)
        assert page.count("<script") == page.count('<script src="/static/desk.js" defer></script>') == 1
        assert "<style" not in page
        assert " style=" not in page
        assert "onclick" not in page


def test_a_marker_is_served_while_others_hold_connections_and_ask_nothing(desk: Running) -> None:
    begun = b"GET / HTTP/1.1\r\nHost: 127.0.0.1"
    unread = b"POST /do/adjust HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf a"
    with contextlib.ExitStack() as held:
        for number in range(200):
            line = held.enter_context(socket.create_connection(("127.0.0.1", desk.port), timeout=30))
            line.sendall((b"", begun, unread)[number % 3])
        for _ in range(3):
            assert desk.ask("GET", "/").status == 200
        assert desk.do("dispute", comment="x", of="masks").status == 303


@pytest.mark.parametrize("number", ["\N{SUPERSCRIPT TWO}", "9" * 5000, "x"])
def test_a_number_in_an_address_that_is_none_is_left_out(desk: Running, number: str) -> None:
    for name in ("page", "line", "attempt", "diff"):
        desk.mark(**{name: number})
    desk.page("/class", page=number)
    assert desk.do("choose", attempt=number, version=0, comment="x").status == 400


def test_it_listens_on_this_machine_alone(desk: Running) -> None:
    addresses = {one[4][0] for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"}:
        if not str(address).startswith("127."):
            with (
                pytest.raises(ConnectionRefusedError),
                socket.create_connection((address, desk.port), timeout=2),
            ):
                pass


def test_ctrl_c_closes_it(running: Open, tmp_path: Path) -> None:
    code, said = running(made_class.make(tmp_path, 1), tmp_path).close()
    assert code == 0
    assert "everything is in the gradebook" in said
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_told(desk: Running, kata_process: Run, tmp_path: Path) -> None:
    kata_process(
        "desk", "--port", desk.port, "--no-browser", "--gradebook", desk.where, cwd=tmp_path
    ).refused(f"Port {desk.port}")
