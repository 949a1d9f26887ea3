"""Bundles: what a learner gets, what an instructor gets, and what must never leak."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import DISTRIBUTION, __version__
from grader.author.build import build
from grader.catalogue import load_pack
from grader.errors import PackError
from tests.authors.courses import write_course
from tests.authors.speedy import hurry
from tests.conftest import completed

KATA = Path("katas/1.1-means/weighted-mean")
SOLUTION = Path("solutions/1.1-means/weighted-mean")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return write_course(tmp_path / "course")


def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_learners_get_everything_but_the_solutions(course: Path, tmp_path: Path) -> None:
    pack = load_pack(course / "katas")
    learner = build(pack, tmp_path / "dist", "learner")
    inside = names(learner.path)
    assert {
        f"kata_pack_course/{KATA}/{name}" for name in ("weighted_mean.py", "checks.py", "README.md")
    } <= inside
    assert not [name for name in inside if "solutions" in name or "mutants" in name or "hidden" in name]
    with zipfile.ZipFile(learner.path) as opened:  # `kata` is somebody else's project
        (metadata,) = (opened.read(name).decode() for name in inside if name.endswith("/METADATA"))
    assert f"Requires-Dist: {DISTRIBUTION}>={__version__}\n" in metadata
    instructor = names(build(pack, tmp_path / "dist", "instructor").path)
    assert f"kata_pack_course_instructor/{SOLUTION}/hidden_checks.py" in instructor
    assert {
        name.replace("kata_pack_course", "kata_pack_course_instructor", 1)
        for name in inside
        if "/katas/" in name
    } <= instructor


def test_learners_get_what_speed_is_measured_with_and_no_slow_answer(course: Path, tmp_path: Path) -> None:
    hurry(course / KATA, course / SOLUTION)
    pack = load_pack(course / "katas")
    inside = names(build(pack, tmp_path / "dist", "learner").path)
    assert {f"kata_pack_course/{KATA}/{name}" for name in ("speed_checks.py", "baseline.py")} <= inside
    assert not [name for name in inside if "slow" in name]
    instructor = names(build(pack, tmp_path / "dist", "instructor").path)
    assert f"kata_pack_course_instructor/{SOLUTION}/slow/entry_by_entry.py" in instructor


def test_the_same_pack_gives_the_same_bytes(course: Path, tmp_path: Path) -> None:
    pack = load_pack(course / "katas")
    one = build(pack, tmp_path / "a", "learner").path.read_bytes()
    assert one == build(pack, tmp_path / "b", "learner").path.read_bytes()


@pytest.mark.slow
def test_an_installed_bundle_stands_beside_ours(course: Path, tmp_path: Path) -> None:
    wheel = build(load_pack(course / "katas"), tmp_path / "dist", "instructor").path
    site = tmp_path / "site-packages"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(install, check=True, capture_output=True)
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r}); sys.argv = ['kata', 'list']; "
        "from grader.cli.main import main; main()"
    )
    listed = completed([sys.executable, "-c", code], check=True, cwd=tmp_path).stdout
    assert "weighted-mean" in listed
    assert "masked-attention" in listed


def _copy_of_the_reference(course: Path) -> None:
    (course / KATA / "example.py").write_bytes((course / SOLUTION / "weighted_mean.py").read_bytes())


def _link_into_the_solutions(course: Path) -> None:
    (course / KATA / "example.py").symlink_to(course / SOLUTION / "alternatives" / "einsum.py")


def _body_in_the_lesson(course: Path) -> None:
    body = (course / SOLUTION / "weighted_mean.py").read_text().split("-> Tensor:", 1)[1]
    lesson = course / KATA / "README.md"
    lesson.write_text(f"{lesson.read_text()}\n```python\n{body}```\n")


def _answer_as_stub(course: Path) -> None:
    (course / KATA / "helper.py").write_text(
        "import torch\n\ndef other(x, weights):\n"
        "    total = weights.expand(x.shape).sum(-1)  # changed comment\n"
        "    safe = torch.where(total == 0, torch.ones_like(total), total)\n"
        "    return (x * weights).sum(-1) / safe\n"
    )


def _slow_answer_as_baseline(course: Path) -> None:
    hurry(course / KATA, course / SOLUTION)
    slow = course / SOLUTION / "slow" / "entry_by_entry.py"
    (course / KATA / "baseline.py").write_bytes(slow.read_bytes())


def _body_of_a_slow_answer(course: Path) -> None:
    hurry(course / KATA, course / SOLUTION)
    slow = (course / SOLUTION / "slow" / "entry_by_entry.py").read_text()
    (course / KATA / "baseline.py").write_text(slow[slow.index("def ") :].replace("weighted_mean", "mean"))


@pytest.mark.parametrize(
    ("leak", "words"),
    [
        (_slow_answer_as_baseline, "equals"),
        (_body_of_a_slow_answer, "holds a function of the slow answer entry_by_entry of"),
        (_copy_of_the_reference, "equals"),
        (_link_into_the_solutions, "leads into the solutions"),
        (_body_in_the_lesson, "holds a function of the reference"),
        (_answer_as_stub, "holds a function of the reference"),
    ],
)
def test_a_leak_is_refused(course: Path, tmp_path: Path, leak: Callable[[Path], None], words: str) -> None:
    leak(course)
    with pytest.raises(PackError, match=words):
        build(load_pack(course / "katas"), tmp_path / "dist", "learner")
    assert not (tmp_path / "dist").exists() or not list((tmp_path / "dist").iterdir())


def test_a_baseline_may_be_built_like_the_reference(course: Path, tmp_path: Path) -> None:
    hurry(course / KATA, course / SOLUTION)
    same = (
        "\n\nclass Scale:\n    def __init__(self, width, height, depth):\n"
        "        self.width, self.height, self.depth = width + height, height + depth, depth + width\n"
    )
    for path in (course / KATA / "baseline.py", course / SOLUTION / "weighted_mean.py"):
        path.write_text(path.read_text() + same)
    assert build(load_pack(course / "katas"), tmp_path / "dist", "learner").files
    lesson = course / KATA / "README.md"
    lesson.write_text(lesson.read_text() + same)
    with pytest.raises(PackError, match="holds a function of the reference"):
        build(load_pack(course / "katas"), tmp_path / "dist", "learner")


@pytest.mark.slow
def test_our_own_pack_leaks_nothing(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    assert build(load_pack(root / "katas"), tmp_path, "learner").files > 10


def test_a_kata_that_is_there_is_not_overwritten(course: Path, kata: Callable[..., object]) -> None:
    stub = course / KATA / "weighted_mean.py"
    stub.write_text("mine")
    ran = kata("pack", "new", course / "katas", "--number", "1.1.1", "--slug", "weighted-mean")
    assert (ran.code, stub.read_text()) == (2, "mine")  # type: ignore[attr-defined]
    assert "already exists" in ran.text  # type: ignore[attr-defined]
