"""The corpus of hostile submissions, handed in where a Gradescope bundle grades them: none gets what it does not earn.

CI hands a few in, to the first of two bundles; `make everything` all of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import completed
from tests.handin.gradescope import Gradescope, set_up
from tests.hostile.entries import HONEST, MODULES, Entry, entries, honest
from tests.hostile.room import NAP, SECRET, make_pack

CORPUS = entries()
HALLS = (("insertion-sort",), ("masks", "layer-norm"))
"""The toy kata without an operator policy, and katas of ours: two bundles, as packs make two."""
SAMPLE = ("forge/result_files", "forge/exit_zero_in_call", "forge/print_a_report", "read/search_the_disk")
"""What a bundle alone decides: who writes the results, who ends first, what is printed, and what can be read there."""
FOUND = SECRET + "of-the-bundle"
"""What stands in every answer and hidden check of a bundle, and in nothing that a learner may read."""

pytestmark = [
    pytest.mark.gate,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="Gradescope runs as root"),
    pytest.mark.xdist_group("hostile-on-gradescope"),  # a bundle is set up once
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Hand out what is graded."""
    whole = metafunc.config.getoption("--everything")
    katas = [kata for hall in (HALLS if whole else HALLS[:1]) for kata in hall]
    if "entry" in metafunc.fixturenames:
        every = [entry for entry in CORPUS if entry.kata in katas]
        chosen = every if whole else [entry for entry in every if entry.id in SAMPLE]
        metafunc.parametrize("entry", chosen, ids=lambda entry: entry.id)
    if "slug" in metafunc.fixturenames:
        metafunc.parametrize("slug", katas)


@dataclass
class Hall:
    """An autograder, and what it must not lose."""

    autograder: Gradescope
    variables: dict[str, str]
    names: dict[str, dict[str, str]]
    """By kata, what the corpus calls its checks, by how results.json names them."""
    untouched: str

    def earned(self, results: dict[str, Any], entry: Entry) -> set[str]:
        """Return which checks give points, one of another kata by its title."""
        known = self.names[entry.kata]
        tests = [test for test in results.get("tests", []) if test["score"]]
        assert results["score"] == pytest.approx(sum(test["score"] for test in tests))
        assert all(0 < test["score"] <= test["max_score"] for test in tests)
        assert {test["status"] for test in tests} <= {"passed"}
        return {known.get(test["name"].partition(" ")[2], test["name"]) for test in tests}


@pytest.fixture(scope="module")
def hall_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Hall]:
    """Return where a kata is graded; set up when it is first asked for."""
    place = tmp_path_factory.mktemp("hostile")
    plain = {
        name: value for name, value in os.environ.items() if name not in ("KATA_PACKS", "KATA_SOLUTIONS")
    }

    @cache
    def made(katas: tuple[str, ...]) -> Hall:
        packs = {} if len(katas) > 1 else {"KATA_PACKS": str(make_pack(place, FOUND, only=katas[0]))}
        bundle = place / f"{katas[0]}.zip"
        command = ["pack", "bundle", "gradescope", *katas, "--online", "--no-perf", "--out", str(bundle)]
        kata(*command, cwd=place, variables=plain | packs)
        autograder = set_up(bundle, tmp_path_factory.mktemp("autograder"))
        for file in (autograder.source / "pack" / "solutions").glob("*/*/*.py"):
            file.write_text(f'{file.read_text()}\n\nKEPT_FROM_LEARNERS = "{FOUND}"\n')
        hall = Hall(autograder, plain | packs, {slug: {} for slug in katas}, _digest(autograder.root))
        for slug in katas:
            hall.names[slug] = _names(slug, place / slug, hall)
        return hall

    return lambda slug: made(next(katas for katas in HALLS if slug in katas))


def kata(*arguments: str, cwd: Path, variables: dict[str, str]) -> str:
    done = completed([sys.executable, "-m", "grader", *arguments], cwd=cwd, env=variables)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def _names(slug: str, folder: Path, hall: Hall) -> dict[str, str]:
    folder.mkdir()
    for name, content in honest(slug).items():
        (folder / name).write_bytes(content)
    told = kata("check", f"{MODULES[slug]}.py", "--json", cwd=folder, variables=hall.variables)
    found = {check["name"]: check["id"] for check in json.loads(told)["katas"][0]["checks"]}
    (hidden,) = (hall.autograder.source / "pack" / "solutions").glob(f"*/{slug}/hidden_checks.py")
    tests = re.findall(r'aspect="(\w+)".*?^def (test_\w+)', hidden.read_text(), re.MULTILINE | re.DOTALL)
    return found | {
        f"hidden check {number} ({aspect})": name for number, (aspect, name) in enumerate(tests, 1)
    }


def _digest(root: Path) -> str:
    """Return the digest of what no submission may change: the bundle, and Kata itself."""
    found = hashlib.sha256()
    places = (
        root / "run_autograder",
        *sorted((root / "source").rglob("*")),
        *sorted((root / "kata").rglob("*.py")),
    )
    for path in places:
        if path.is_file() and path.suffix != ".pyc":
            found.update(str(path).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def _survivors(root: Path) -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if NAP in line or str(root) in line:
                yield line


def test_it_gets_no_more_than_its_answer_earns(hall_of: Callable[[str], Hall], entry: Entry) -> None:
    hall = hall_of(entry.kata)
    root = hall.autograder.root
    results = hall.autograder.grade(entry.files)
    assert hall.earned(results, entry) <= entry.expected("confined").earns
    assert FOUND not in json.dumps(results)
    if "tests" in results:
        told = {one["kata"]: one["isolation"] for one in results["extra_data"]["kata"]}
        assert told[entry.kata] in ("confined", "none")
    assert [path.name for path in (root / "results").iterdir()] == ["results.json"]
    assert not list(_survivors(root))
    assert _digest(root) == hall.untouched


def test_the_answer_without_tricks_earns_what_the_corpus_says(
    hall_of: Callable[[str], Hall], slug: str
) -> None:
    """So that a bundle which gives nothing to anybody would be seen."""
    one = next(entry for entry in CORPUS if entry.kata == slug)
    results = hall_of(slug).autograder.grade(honest(slug))
    assert "tests" in results, results
    assert hall_of(slug).earned(results, one) == HONEST[slug]
