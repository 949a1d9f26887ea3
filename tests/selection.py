"""Which tests run, and in which order: markers, the core of everything for `make quick`, the longest first."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from tests import record

MARKERS = {
    "slow": "takes more than a second alone; not in make quick",
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


def mark(items: list[pytest.Item]) -> None:
    """Give each test the markers of its folder, and of what it asks for."""
    for item in items:
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
    left_out = [item for item in items if item.nodeid not in chosen or _is_slow(item)]
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


def _is_slow(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("slow", "gate", "postgres", "browser"))
