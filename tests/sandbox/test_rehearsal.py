"""What a process that stands by tries ahead, its forks do not try again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import sandbox
from grader.sandbox import full, namespaces
from grader.sandbox.namespaces import in_child

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What these tests find out is nobody else's."""
    monkeypatch.setattr(full, "_granted", False)
    yield
    namespaces.allowed.cache_clear()


def test_what_was_tried_ahead_is_what_is_found_now(tmp_path: Path) -> None:
    found = in_child(lambda: "net" in sandbox.enter_namespaces() and sandbox.can_live(tmp_path))
    sandbox.rehearse_ahead()
    assert in_child(lambda: "net" in sandbox.enter_namespaces() and sandbox.can_live(tmp_path)) == found


def test_a_fork_tries_nothing_that_was_tried_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.rehearse_ahead()
    expected = sandbox.can_live(tmp_path)
    if not expected:
        pytest.skip("no sandboxes here: nothing is remembered")

    def refuse(*_: object) -> None:
        raise AssertionError("tried again")

    monkeypatch.setattr(full, "rehearse", refuse)
    monkeypatch.setattr(namespaces, "_attempt", refuse)
    assert sandbox.can_live(tmp_path) == expected
    assert in_child(lambda: len(sandbox.enter_namespaces())) >= 2 * expected


def test_what_was_refused_once_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full, "rehearse", lambda anchor: False)
    monkeypatch.setattr(namespaces, "_attempt", list)
    sandbox.rehearse_ahead()
    monkeypatch.setattr(full, "rehearse", lambda anchor: True)
    monkeypatch.setattr(namespaces, "_attempt", lambda: ["net"])
    assert sandbox.can_live(tmp_path)
    assert namespaces.allowed(0) != 0
