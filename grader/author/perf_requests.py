"""What speed checks ask for: they are called with a `speed` that only notes it, and nothing is asked of anybody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import Kata
from grader.engine.runner.plugin import collected, info_of, threshold_of, wants
from grader.engine.timing.work import PerfRequest
from grader.errors import PackError

FORMS = frozenset({"ratio", "growth", "roofline", "memory", "memory_exponent"})
"""What `speed` has for a speed check to ask."""


def demands_of(katas: Sequence[Kata]) -> list[PerfRequest]:
    """Return what the speed checks of these katas ask for, kata by kata, in the order of the files.

    Launch the zygote before: from here on this process knows expected values.

    Raises:
        PackError: the checks cannot be collected, or one of them does more than to ask `speed`.
    """
    files = {kata.speed_checks: kata for kata in katas if kata.speed_checks is not None}
    if not files:
        return []

    with collected(list[Path](files)) as plugin:
        return [
            demand
            for kata in files.values()
            for item in plugin.items
            if files[item.path] is kata and info_of(item).threshold is not None
            for demand in _demands_of_check(item, kata)
        ]


def _demands_of_check(item: pytest.Item, kata: Kata) -> list[PerfRequest]:
    info, noted = info_of(item), _Noted()
    threshold_of(item, kata)
    try:
        assert isinstance(item, pytest.Function)
        item.obj(speed=noted, **wants(item).parameters)
    except Exception as error:
        raise PackError(
            f"{item.path}: {item.name} does more than to ask `speed`.\n{error}",
            "A speed check is one line: speed.ratio(WORK), or another form.",
        ) from error
    return [
        PerfRequest(kata, item.name, info.title, info.threshold, form, work)  # type: ignore[arg-type]
        for form, work in noted.works
    ]


class _Noted:
    """Stands for `speed`: every form is a method that notes the work."""

    def __init__(self) -> None:
        self.works: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Callable[[Any], None]:
        if name not in FORMS:
            raise AttributeError(f"`speed` has no {name}")
        return lambda work: self.works.append((name, work))
