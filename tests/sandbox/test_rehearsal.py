"""What a process that stands by tries ahead, its forks do not try again."""

from __future__ import annotations

import pytest

from grader.engine import sandbox
from grader.engine.sandbox import capabilities

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """What these tests find out is nobody else's."""
    monkeypatch.setattr(capabilities, "_offers_full", False)
    monkeypatch.delenv("KATA_ISOLATION", raising=False)


def test_what_was_granted_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    if sandbox.offered() != "full":
        pytest.skip("not full here: nothing is remembered")

    def refuse() -> None:
        raise AssertionError("tried again")

    monkeypatch.setattr(capabilities, "probe", refuse)
    assert sandbox.offered() == "full"


def test_what_was_refused_once_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities.full, "probe_sandbox", lambda anchor: False)
    assert sandbox.offered() != "full"
    monkeypatch.undo()
    assert sandbox.offered() == sandbox.probe().level
