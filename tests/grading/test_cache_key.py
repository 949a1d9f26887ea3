"""What a mark depends on: a digest of the kata that prose and strays do not change, wherever the pack lies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.catalogue import Kata, load_pack
from grader.instructor.grading.cache_key import POOL, kata_digest, seeds_for
from tests.conftest import TINY


def tiny(folder: Path) -> Kata:
    return next(kata for kata in load_pack(folder / TINY.name).katas if kata.slug == "insertion-sort")


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    shutil.copytree(TINY, tmp_path / "a" / TINY.name)
    shutil.copytree(TINY.parent / "solutions", tmp_path / "a" / "solutions")
    return tmp_path / "a"


@pytest.mark.parametrize(
    "name",
    ["reflect.md", "README.md", "hints.md", "demo.py", ".DS_Store", "Thumbs.db", "checks.py~", ".#checks.py",
     "picture.svg", "__pycache__/checks.cpython-311.pyc"],
)  # fmt: skip
def test_no_mark_depends_on_prose_demos_or_strays(packs: Path, name: str) -> None:
    kata = tiny(packs)
    before = kata_digest(kata)
    path = kata.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((path.read_bytes() if path.exists() else b"") + b"\n")
    assert kata_digest(tiny(packs)) == before


@pytest.mark.parametrize(
    "name",
    ["checks.py", "kata.toml", "insertion_sort.py", "helper.py", "../of_the_unit.py", "fingerprints.json.xz"],
)
def test_a_mark_depends_on_what_grading_reads(packs: Path, name: str) -> None:
    kata = tiny(packs)
    before = kata_digest(kata)
    path = kata.folder / name
    path.write_bytes((path.read_bytes() if path.exists() else b"") + b"\n")
    assert kata_digest(tiny(packs)) != before


def test_a_mark_depends_on_the_reference_and_the_hidden_checks(packs: Path) -> None:
    kata = tiny(packs)
    digests = [kata_digest(kata)]
    for path in (kata.solution, kata.hidden_checks):
        assert path is not None
        path.write_bytes(path.read_bytes() + b"\n")
        digests.append(kata_digest(tiny(packs)))
    assert len(set(digests)) == 3


def test_the_stub_and_the_reference_have_one_name_and_are_not_mixed_up(packs: Path) -> None:
    kata = tiny(packs)
    assert kata.solution is not None
    before = kata_digest(kata)
    stub, solution = kata.stub.read_bytes(), kata.solution.read_bytes()
    kata.stub.write_bytes(solution)
    kata.solution.write_bytes(stub)
    assert kata_digest(tiny(packs)) != before


def test_another_machine_has_the_pack_elsewhere(packs: Path, tmp_path: Path) -> None:
    before = kata_digest(tiny(packs))
    shutil.copytree(packs, tmp_path / "z" / "deeper")
    assert kata_digest(tiny(tmp_path / "z" / "deeper")) == before


def test_everybody_has_the_same_hidden_draws_and_one_of_a_few_visible_ones() -> None:
    seeds = [seeds_for(b"secret", "masks", f"content {number}", None) for number in range(400)]
    assert len({hidden for _, hidden in seeds}) == 1
    visible = [seed for seed, _ in seeds]
    assert len(set(visible)) == POOL
    assert max(visible.count(seed) for seed in visible) < 2 * len(visible) / POOL
    assert seeds[7] == seeds_for(b"secret", "masks", "content 7", None)
    assert set(visible).isdisjoint({hidden for _, hidden in seeds})
    for nonce, kata in ((b"another", "masks"), (b"secret", "layer-norm")):
        assert seeds_for(nonce, kata, "content 7", None)[1] != seeds[7][1]


def test_what_could_not_be_graded_gets_draws_of_its_own() -> None:
    first, again, other = (
        seeds_for(b"secret", "masks", content, None, tries)
        for content, tries in (("a", 0), ("a", 1), ("b", 1))
    )
    assert len({*first, *again, *other}) == 6


def test_a_seed_that_somebody_asked_for_is_everybodys() -> None:
    assert seeds_for(b"secret", "masks", "content", 7, 2) == (7, 7)
