"""Which tests run, and in which order: markers, the core of everything for `make quick`, the longest first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

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
    "xdist_group(name)": "runs in one process of a run with the others of that name",
}
FOLDERS = {"hostile": "hostile", "isolation": "isolation", "sandbox": "isolation", "timing": "timing"}
"""Tests of these folders have this marker."""
FIXTURES = {"postgres": "postgres", "postgres_where": "postgres", "browser": "browser"}
"""And tests that ask for these."""
CASES = 3
"""Of a test with many cases, so many are quick: drawn, as everything that is sampled."""


SLOW = Path(__file__).with_name("slow.txt")
"""Tests, without their cases, that `--record-slow` found slow."""
SLOW_S, FAST_S = 0.3, 0.15
"""A test is slow from here on, and no longer from there down: between them it stays what it was."""


class Stopwatch:
    """Notes what each test takes with what it sets up, the slowest of its cases, and writes down which are slow."""

    def __init__(self) -> None:
        self._cases: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test to what it took."""
        if not report.skipped:
            self._cases[report.nodeid] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        """Write the list anew; what did not run stays as it was."""
        took: dict[str, float] = {}
        for case, seconds in self._cases.items():
            test = case.partition("[")[0]
            took[test] = max(seconds, took.get(test, 0.0))
        SLOW.write_text("".join(f"{test}\n" for test in sorted(slow_after(took, slow()))))


def slow_after(took: Mapping[str, float], before: frozenset[str]) -> frozenset[str]:
    """Return which tests are slow after a run in which some took so many seconds."""
    fast = {test for test, seconds in took.items() if seconds < FAST_S}
    return before - fast | {test for test, seconds in took.items() if seconds >= SLOW_S}


@cache
def slow() -> frozenset[str]:
    """Return the tests that are recorded as slow."""
    return frozenset(SLOW.read_text().split())


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
    cases: dict[str, list[str]] = defaultdict(list)
    for item in items:
        cases[_test(item)].append(item.nodeid)
    chosen = {one for test, ids in cases.items() for one in record.sample(test, ids, CASES)}
    left_out = [item for item in items if not (item.nodeid in chosen and _is_quick(item))]
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]
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
    return item.nodeid.partition("[")[0]


def _is_quick(item: pytest.Item) -> bool:
    return not _is_slow(item) or item.get_closest_marker("core") is not None


def _is_slow(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("slow", "gate", "postgres", "browser"))
