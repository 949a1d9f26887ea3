"""Which tests run, and in which order: markers, the core of everything for `make quick`, the longest first."""

from __future__ import annotations

import contextlib
import os
from collections import Counter, defaultdict
from collections.abc import Generator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import record

MARKERS = {
    "slow": "takes long, as tests/slow.txt says; not in make quick",
    "core": "in make quick all the same: the way of a whole command",
    "gate": "grades answers of our katas",
    "hostile": "hands in what means harm",
    "isolation": "looks at what a worker is kept from",
    "postgres": "needs a PostgreSQL server, which it starts itself",
    "browser": "needs Chromium",
    "timing": "times what workers do",
    "entire": "it runs with all its cases, however long they take",
    "xdist_group(name)": "runs in one process of a run with the others of that name",
}
FOLDERS = {"hostile": "hostile", "isolation": "isolation", "sandbox": "isolation", "timing": "timing"}
"""Tests of these folders have this marker."""
FIXTURES = {
    "postgres": "postgres",
    "postgres_where": "postgres",
    "browser": "browser",
    "entry_at": "entire",  # the hostile submissions: what is graded where is chosen there
    "shown": "entire",  # the demos draw for themselves which of them run
}
"""And tests that ask for these."""
CASES = 3
"""Of a test with many cases, so many are quick: drawn, as everything that is sampled."""


SLOW = Path(__file__).with_name("slow.txt")
"""Tests, without their cases, that `--record-slow` found slow, and what their dearest case costs in seconds."""
SLOW_S, FAST_S = 0.15, 0.08
"""A test is slow from here on, and no longer from there down: between them it stays what it was."""
SAME = 1.5
"""A cost is written anew when it is so many times what it was, or a part of it: no two runs find the same."""
SHARE_S = 0.12
"""Of a slow test as many cases run as take so long together; one that takes longer has its turn so much more seldom."""
TURN = 1 / 20
"""But no test more seldom than this."""


def spent() -> float:
    """Return the processor time of this process and all that it started, by which a busy machine changes nothing."""
    times: dict[int, float] = {}
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # one that ended meanwhile
            values = stat.read_text().rpartition(") ")[2].split()
            process = int(stat.parent.name)
            parents[process] = int(values[1])
            times[process] = sum(map(int, values[11:15])) / os.sysconf(
                "SC_CLK_TCK"
            )  # reaped children included
    own = {os.getpid()}
    while found := {process for process, parent in parents.items() if parent in own} - own:
        own |= found
    return sum(times[process] for process in own) if times else sum(os.times()[:4])  # elsewhere than Linux


class Meter:
    """Notes what each test costs, apart from what it set up for others as well."""

    def __init__(self) -> None:
        self._shared: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Note what a fixture costs that outlives its test."""
        if fixturedef.scope == "function":
            return (yield)
        before, within = spent(), sum(self._shared.values())
        try:
            return (yield)
        finally:
            within = sum(self._shared.values()) - within
            self._shared[_fixture(fixturedef)] = spent() - before - within

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Give the test's last report what was noted."""
        self._shared, self._before = {}, spent()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Only the last report says it: what it costs to tear down is in it."""
        report = yield
        if call.when == "teardown":
            own = spent() - self._before - sum(self._shared.values())
            asked = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009 - has no public name
            shared = [_fixture(one[-1]) for one in asked if one[-1].scope != "function"]
            report.user_properties.append(("cost", (max(own, 0.0), self._shared, shared)))
        return report


class Bill:
    """What the tests of a run cost: each what it took, and its part of what it shares with others."""

    def __init__(self) -> None:
        self._own: dict[str, float] = {}
        self._asked: dict[str, list[str]] = {}
        self._shared: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take down what a test cost."""
        for name, value in report.user_properties:
            if name == "cost":
                own, set_up, self._asked[report.nodeid] = value
                self._own[report.nodeid] = own
                for fixture, seconds in set_up.items():
                    self._shared[fixture] = max(seconds, self._shared.get(fixture, 0.0))

    def tests(self) -> dict[str, float]:
        """Return what each test costs: the dearest of its cases."""
        users = Counter(fixture for asked in self._asked.values() for fixture in asked)
        took: dict[str, float] = {}
        for case, own in self._own.items():
            part = sum(self._shared.get(one, 0.0) / users[one] for one in self._asked[case])
            test = name_of(case)
            took[test] = max(own + part, took.get(test, 0.0))
        return took

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the list of slow tests anew; what did not run stays as it was."""
        total = sum(self._own.values()) + sum(self._shared.values())
        terminalreporter.write_line(f"processor time of the tests: {total:.0f} s")
        after = slow_after(self.tests(), slow())
        SLOW.write_text("".join(f"{test} {seconds:.2g}\n" for test, seconds in sorted(after.items())))


def slow_after(took: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """Return which tests are slow, and what they cost, after a run in which some took so many seconds."""
    after = dict(before)
    for test, seconds in took.items():
        if seconds < FAST_S:
            after.pop(test, None)
        elif test in before and before[test] / SAME < seconds < before[test] * SAME:
            continue
        elif test in before or seconds >= SLOW_S:
            after[test] = seconds
    return after


def _fixture(definition: pytest.FixtureDef[Any]) -> str:
    return f"{definition.baseid}::{definition.argname}"


@cache
def slow() -> dict[str, float]:
    """Return the tests that are recorded as slow, and the seconds that the dearest of their cases costs."""
    lines = (line.rpartition(" ") for line in SLOW.read_text().splitlines())
    return {test: float(seconds) for test, _, seconds in lines}


def mark(items: list[pytest.Item]) -> None:
    """Give each test the markers of its folder, and of what it asks for."""
    for item in items:
        if _test(item) in slow():
            item.add_marker("slow")
        if (name := FOLDERS.get(item.path.parent.name)) is not None:
            item.add_marker(name)
        asked = {FIXTURES[name] for name in getattr(item, "fixturenames", ()) if name in FIXTURES}
        if "postgresql" in item.nodeid.partition("[")[2].rstrip("]").split("-"):  # a case of `where`
            asked.add("postgres")
        for one in asked:
            item.add_marker(one)


def choose_quick(items: list[pytest.Item]) -> list[pytest.Item]:
    """Leave what is quick in the list, and return what was left out: what is slow, and cases beyond a few."""
    chosen = _drawn(items, dict.fromkeys(map(_test, items), CASES))
    return _leave([item for item in items if item.nodeid in chosen and _is_quick(item)], items)


def choose_drawn(items: list[pytest.Item], gate: str) -> list[pytest.Item]:
    """Leave of each slow test what the commit draws of it in the list, and return the others.

    Where the cases are our katas, those stay that this commit looks at closely, or that have changed. All of it stays
    of what is marked `entire` or `core`, and of what the commit itself changes.
    """
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if _test(item) in slow() or item.get_closest_marker("gate") is not None:
            tests[_test(item)].append(item)

    @cache
    def looked_at(slug: str) -> bool:
        return record.drawn(slug) or record.in_full(gate, slug)

    touched = record.touched()
    left_out = set()
    for test, cases in tests.items():
        if any(_is_entire(item) for item in cases) or touched & {_module(cases[0]), _folder(cases[0])}:
            continue
        if {_case(item) for item in cases} <= record.katas().keys():
            left_out |= {item for item in cases if not looked_at(_case(item))}
        else:
            share = SHARE_S / slow().get(test, SHARE_S)
            count = round(share) if share >= 1 else int(record.has_turn(test, max(share, TURN)))
            chosen = _drawn(cases, {test: count})
            left_out |= {item for item in cases if item.nodeid not in chosen}
    return _leave([item for item in items if item not in left_out], items)


def _drawn(items: list[pytest.Item], counts: Mapping[str, int]) -> set[str]:
    """Return the cases that the commit draws of these tests."""
    cases: dict[str, list[str]] = defaultdict(list)
    for item in items:
        cases[_test(item)].append(item.nodeid)
    return {one for test, count in counts.items() for one in record.sample(test, cases[test], count)}


def _leave(kept: list[pytest.Item], items: list[pytest.Item]) -> list[pytest.Item]:
    """Leave these in the list, and return the others."""
    staying = set(kept)
    left_out = [item for item in items if item not in staying]
    items[:] = kept
    return left_out


def longest_first(items: list[pytest.Item]) -> None:
    """Begin with what is slow, single tests before the cases of one: at the end nobody should wait for one of them.

    Those of a module stay together: pytest makes what a module shares anew each time it comes back to it.
    """
    cases = Counter(map(_test, items))
    fewest: dict[str, int] = {}
    for item in filter(_is_slow, items):
        fewest[_module(item)] = min(cases[_test(item)], fewest.get(_module(item), len(items)))

    def order(item: pytest.Item) -> tuple[bool, int, str, int]:
        if not _is_slow(item):
            return (True, 0, "", 0)
        return (False, fewest[_module(item)], _module(item), cases[_test(item)])

    items.sort(key=order)


def _module(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _test(item: pytest.Item) -> str:
    return name_of(item.nodeid)


def _folder(item: pytest.Item) -> str:
    return _module(item).rpartition("/")[0]


def _is_entire(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("entire", "core"))


def _case(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[2].rpartition("]")[0]


def name_of(nodeid: str) -> str:
    """Return a test without its case, and without the group that pytest-xdist writes behind."""
    return nodeid.partition("[")[0].partition("@")[0]


def _is_quick(item: pytest.Item) -> bool:
    return not _is_slow(item) or item.get_closest_marker("core") is not None


def _is_slow(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("slow", "gate", "postgres", "browser"))
