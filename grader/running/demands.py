"""What speed checks ask for, found out without asking it of anybody: a stand-in for `speed` that only notes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from grader.catalogue import Kata
from grader.errors import PackError
from grader.host.calls import Calls, Outcomes
from grader.host.source import Source, read_source
from grader.running.kata_terms import terms_for
from grader.running.plugin import CheckContext, KataPlugin, collect, info_of, threshold_of
from grader.timing.benchmark_run import Setting
from grader.timing.work import Demand, Work

if TYPE_CHECKING:
    import pytest

    from grader.host.launcher import Launcher
    from grader.timing.speed import Speed

FORMS = frozenset({"ratio", "growth", "roofline", "memory", "memory_exponent"})


def demands_of(katas: Sequence[Kata]) -> list[Demand]:
    """Return what the speed checks of these katas ask for, kata by kata, in the order of the files.

    Launch the zygote before: from here on this process knows expected values.

    Raises:
        PackError: the checks cannot be collected, or one of them does more than to ask `speed`.
    """
    files = {kata.speed_checks: kata for kata in katas if kata.speed_checks is not None}
    if not files:
        return []

    def ask(plugin: KataPlugin[Any, Any], items: list[pytest.Item]) -> list[Demand]:
        return [
            demand
            for kata in files.values()
            for item in items
            if files[item.path] is kata and info_of(item).threshold is not None
            for demand in _asked(plugin, item, kata)
        ]

    return collect(list[Path](files), ask, lambda found: found)


def setting_of(
    kata: Kata, source: Source, launcher: Launcher, device: str, calls: Calls | None = None
) -> Setting:
    """Return what arenas of a submission are made of, on the kata's terms; `calls` is where its calls are noted."""
    baseline = read_source(kata.baseline)
    return Setting(launcher, source, baseline, terms_for(kata), calls or Calls(), device)


def _asked(plugin: KataPlugin[Any, Any], item: pytest.Item, kata: Kata) -> list[Demand]:
    info = info_of(item)
    threshold_of(item, kata)
    noted = _Noted()
    outcome = plugin.run(item, CheckContext(_Nobody(), given_speed=cast("Speed", noted)))
    if outcome.status != "pass":
        raise PackError(
            f"{item.path}: {item.name} does more than to ask `speed`.\n{outcome.message}",
            "A speed check is one line: speed.ratio(WORK), or another form.",
        )
    return [
        Demand(kata, item.name, info.title, info.threshold, form, work)  # type: ignore[arg-type]
        for form, work in noted.asked
    ]


class _Noted:
    """The stand-in: every form is a method that notes the work."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Work]] = []

    def __getattr__(self, name: str) -> Callable[[Work], None]:
        if name not in FORMS:
            raise AttributeError(f"`speed` has no {name}")
        return lambda work: self.asked.append((name, work))


class _Nobody:
    """There is no submission: a speed check has no use for one."""

    folder: Path | None = None

    isolation = "none"
    submission: Any = None

    def __init__(self) -> None:
        self.calls = Calls()
        self.outcomes = Outcomes()

    def begin(self, seed: int, *, alike: bool = False) -> None: ...

    def understand(self, error: BaseException) -> BaseException:
        return error

    def rest(self) -> None: ...

    def take_output(self) -> str:
        return ""

    def rests_on_policy(self) -> bool:
        return False

    def asked_uses(self) -> bool:
        return False

    def uses(self) -> list[str]:
        return []

    def observed(self) -> Sequence[Any]:
        return ()

    def asked(self) -> Sequence[str]:
        return ()
