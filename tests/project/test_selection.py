"""What is left out of a run is what it says: samples by the commit, records of the very files, walks that changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import record, selection

ROOT = Path(__file__).parents[2]


class Item:
    """A test as the selection sees it."""

    def __init__(self, nodeid: str, *marks: str) -> None:
        self.nodeid = nodeid
        self.marks = marks

    def get_closest_marker(self, name: str) -> Any:
        return name if name in self.marks else None


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of its own: what a walk is about, and a record."""
    for part in record.WALKS["authors"]:
        target = tmp_path / part
        if (ROOT / part).is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / part).read_bytes())
        else:
            target.mkdir(parents=True)
            (target / "module.py").write_text("one = 1\n")
    monkeypatch.setattr(record, "ROOT", tmp_path)
    monkeypatch.setattr(record, "RECORD", tmp_path / "gate.json")
    return tmp_path


def test_a_walk_is_repeated_when_a_file_of_it_changes(copied: Path) -> None:
    assert not record.walked("authors")
    record.keep("walks", "authors", record.digest_of_walk("authors"))
    assert record.walked("authors")
    page = copied / "docs/authors.md"
    page.write_text(page.read_text() + "more\n")
    assert not record.walked("authors")


def test_a_new_file_of_a_walk_counts_and_a_cache_does_not(copied: Path) -> None:
    before = record.digest_of_walk("authors")
    cache = copied / "grader/packs/__pycache__"
    cache.mkdir()
    (cache / "module.pyc").write_bytes(b"1")
    assert record.digest_of_walk("authors") == before
    (copied / "grader/packs/another.py").write_text("")
    assert record.digest_of_walk("authors") != before


def test_what_no_longer_exists_is_forgotten(copied: Path) -> None:
    record.RECORD.write_text(json.dumps({"walks": {"gone": {"digest": "1"}}}))
    record.keep("walks", "demo", "2", commands=7)
    [(name, entry)] = record.kept("walks").items()
    assert (name, entry["digest"], entry["commands"]) == ("demo", "2", 7)


def test_a_kata_without_a_record_here_or_before_has_changed(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: dict[str, Any] = {"katas": {"masks": {"digest": "now"}}}
    monkeypatch.setattr(record, "katas", lambda: {"masks": None})
    monkeypatch.setattr(record, "_git", lambda *_: json.dumps(before))
    assert record.changed("katas", "masks", "now")  # nothing is recorded here
    record.keep("katas", "masks", "now")
    assert not record.changed("katas", "masks", "now")
    before["katas"]["masks"]["digest"] = "then"
    assert record.changed(
        "katas", "masks", "now"
    )  # recorded here, by whoever changed it: all of it runs once more
    monkeypatch.setattr(record, "_git", lambda *_: "")
    assert record.changed("katas", "masks", "now")


def test_a_sample_is_the_same_for_a_commit_and_reaches_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"mistake {number}" for number in range(20)]
    seen: set[str] = set()
    for commit in range(60):
        monkeypatch.setenv(record.DRAW, f"commit {commit}")
        drawn = record.sample("masks", names)
        assert drawn == record.sample("masks", names[::-1])[::-1]
        assert len(drawn) == record.SAMPLE
        seen.update(drawn)
    assert seen == set(names)


def test_a_kata_that_changed_is_always_drawn(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slugs = [f"kata-{number}" for number in range(9)]
    monkeypatch.setattr(record, "digest_of_kata", lambda slug: "now")
    monkeypatch.setattr(record, "katas", lambda: dict.fromkeys(slugs))
    monkeypatch.setenv(record.DRAW, "a commit")
    assert all(record.drawn(slug) for slug in slugs)  # nothing is recorded
    for slug in slugs:
        record.keep("katas", slug, "now")
    chosen = [slug for slug in slugs if record.drawn(slug)]
    assert len(chosen) == record.KATAS
    [changed, *_] = [slug for slug in slugs if slug not in chosen]
    record.keep("katas", changed, "then")
    assert {slug for slug in slugs if record.drawn(slug)} == {*chosen, changed}


def test_quick_keeps_a_few_cases_of_everything_that_is_not_slow() -> None:
    items: list[Any] = [Item(f"a.py::test_many[{number}]") for number in range(10)]
    items += [Item("a.py::test_one"), Item("a.py::test_long", "slow"), Item("a.py::test_pack[x]", "gate")]
    items += [Item("a.py::test_way", "slow", "core")]
    everything = set(items)
    left_out = selection.choose_quick(items)
    assert set(items) | set(left_out) == everything
    assert sum("test_many" in item.nodeid for item in items) == selection.CASES
    assert [item.nodeid for item in items if "many" not in item.nodeid] == [
        "a.py::test_one",
        "a.py::test_way",
    ]


def test_of_a_slow_test_as_many_cases_run_as_it_has_time_for_and_each_has_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    costs = {"many": selection.SHARE_S / 3, "long": selection.SHARE_S * 4, "all": 99.0, "core": 99.0}
    monkeypatch.setattr(selection, "slow", lambda: {f"a.py::test_{name}": s for name, s in costs.items()})
    monkeypatch.setattr(record, "touched", frozenset)

    def items() -> list[Any]:
        marks = {"all": ["entire"], "core": ["core"]}
        return [
            Item(f"a.py::test_{name}[{number}]", *marks.get(name, []))
            for name in (*costs, "fast")
            for number in range(9)
        ]

    seen: Counter[str] = Counter()
    for commit in range(400):
        monkeypatch.setenv(record.DRAW, f"commit {commit}")
        chosen = items()
        left_out = selection.choose_drawn(chosen, "light")
        assert sorted(item.nodeid for item in [*chosen, *left_out]) == sorted(i.nodeid for i in items())
        count = Counter(selection.name_of(item.nodeid)[len("a.py::test_") :] for item in chosen)
        assert count.pop("long", 0) in (0, 1)
        assert count == {"many": 3, "all": 9, "core": 9, "fast": 9}
        seen.update(item.nodeid for item in chosen)
    assert seen.keys() == {item.nodeid for item in items()}
    assert 60 <= sum(count for nodeid, count in seen.items() if "long" in nodeid) <= 140  # of 400 a quarter


def test_a_test_that_takes_very_long_has_its_turn_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "slow", lambda: {"a.py::test_long": selection.SHARE_S * 1e6})
    monkeypatch.setattr(record, "touched", frozenset)
    ran = 0
    for commit in range(400):
        monkeypatch.setenv(record.DRAW, f"commit {commit}")
        chosen: list[Any] = [Item("a.py::test_long")]
        selection.choose_drawn(chosen, "light")
        ran += len(chosen)
    assert 8 <= ran <= 36  # of 400 one in twenty


def test_what_a_commit_changes_is_tested_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [
        "tests/a/test_one.py::test_long",
        "tests/a/test_two.py::test_long",
        "tests/b/test_one.py::test_long",
    ]
    monkeypatch.setattr(selection, "slow", lambda: dict.fromkeys(ids, 1e6))
    monkeypatch.setattr(record, "has_turn", lambda what, chance: False)
    for changed, expected in (
        ("tests/a/test_two.py", ids[1:2]),
        ("grader/a/part.py\ndocs/page.md", ids[:2]),
        ("README.md", []),
    ):
        monkeypatch.setattr(record, "_git", lambda *_, changed=changed: changed)
        record.touched.cache_clear()
        chosen: list[Any] = [Item(one) for one in ids]
        selection.choose_drawn(chosen, "light")
        assert [item.nodeid for item in chosen] == expected
    record.touched.cache_clear()


def test_of_a_slow_test_of_every_kata_those_run_that_are_looked_at_or_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slugs = [f"kata-{number}" for number in range(9)]
    monkeypatch.setattr(selection, "slow", lambda: {"a.py::test_each": 9.0})
    monkeypatch.setattr(record, "katas", lambda: dict.fromkeys(slugs))
    monkeypatch.setattr(record, "drawn", lambda slug: slug in ("kata-1", "kata-2"))
    monkeypatch.setattr(record, "touched", frozenset)
    monkeypatch.setattr(record, "in_full", lambda gate, slug: gate == "changed" and slug == "kata-8")
    for gate, expected in (("light", "12"), ("changed", "128")):
        chosen: list[Any] = [Item(f"a.py::test_each[{slug}]") for slug in slugs]
        selection.choose_drawn(chosen, gate)
        assert [item.nodeid[-2] for item in chosen] == list(expected)


def test_who_names_cases_gets_them() -> None:
    """More of them than the test has time for."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    test = "tests/policy/test_breaches.py::test_a_breach_fails_the_check_that_names_it_and_no_other"
    named = [f"{test}[nn.Sequential]", f"{test}[torch.layer_norm]"]
    done = subprocess.run([*command, *named], cwd=ROOT, capture_output=True, text=True, check=False)
    assert all(one in done.stdout for one in named), done.stdout


def test_a_test_is_slow_by_what_it_took_and_stays_so_in_between() -> None:
    between = (selection.SLOW_S + selection.FAST_S) / 2
    took = {
        "new": 2 * selection.SLOW_S,
        "mended": selection.FAST_S / 2,
        "as before": between,
        "still fast": between,
        "about the same": 1.1,
        "dearer": 3.0,
    }
    before = {"mended": 1.0, "as before": between, "not run": 1.0, "about the same": 1.0, "dearer": 1.0}
    assert selection.slow_after(took, before) == {
        "new": 2 * selection.SLOW_S,
        "as before": between,
        "not run": 1.0,
        "about the same": 1.0,
        "dearer": 3.0,
    }


def test_what_tests_share_is_a_part_of_each_whoever_set_it_up() -> None:
    """Else the first would be slow, in the next run the second, and at last all of them."""
    bill = selection.Bill()
    for case, own, set_up in (("first[1]", 0.1, {"shared": 0.6}), ("first[2]", 0.2, {}), ("second", 0.1, {})):
        report: Any = SimpleNamespace(nodeid=case, user_properties=[("cost", (own, set_up, ["shared"]))])
        bill.pytest_runtest_logreport(report)
    assert bill.tests() == pytest.approx({"first": 0.4, "second": 0.3})


def test_what_a_process_started_counts() -> None:
    before = selection.spent()
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    assert selection.spent() - before >= 0.15


def test_a_name_is_one_of_a_test_in_a_group_too() -> None:
    ids = ["a.py::test_one", "a.py::test_one@group", "a.py::test_one[b@c]", "a.py::test_one[b@c]@group"]
    assert {selection.name_of(one) for one in ids} == {"a.py::test_one"}


def test_what_is_recorded_as_slow_exists() -> None:
    for test in selection.slow():
        file, _, name = test.partition("::")
        assert f"def {name.rpartition('::')[2]}(" in (ROOT / file).read_text(), test


def test_the_longest_begin() -> None:
    items: list[Any] = [Item("a.py::test_one"), Item("b.py::test_cases[1]", "slow")]
    items += [Item("b.py::test_cases[2]", "slow"), Item("c.py::test_long", "slow")]
    selection.longest_first(items)
    assert [item.nodeid[0] for item in items] == ["c", "b", "b", "a"]


def test_a_module_is_left_once() -> None:
    """What the tests of a module share is made anew each time that pytest comes back to it."""
    items: list[Any] = [Item(f"{module}.py::test_long", "slow") for module in "ab"]
    items += [Item(f"{module}.py::test_cases[{number}]", "slow") for number in range(2) for module in "ab"]
    selection.longest_first(items)
    assert [item.nodeid[0] for item in items] == ["a"] * 3 + ["b"] * 3


def test_a_group_runs_in_one_process(tmp_path: Path) -> None:
    """What it begins with is then made once: pytest-xdist parts groups without a word where it does not fit pytest."""
    (tmp_path / "test_group.py").write_text(
        "import os, pathlib, pytest\n"
        "@pytest.mark.xdist_group('one')\n"
        "@pytest.mark.parametrize('case', range(8))\n"
        "def test_case(case):\n"
        "    pathlib.Path(f'process-{os.getpid()}').touch()\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        "--dist",
        "loadgroup",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert len(list(tmp_path.glob("process-*"))) == 1
