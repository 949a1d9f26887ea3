"""Bundles for hand-in systems, unpacked and run as those systems run them."""

from __future__ import annotations

import compileall
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import answers, ours
from tests.conftest import TESTS, Ran, completed, invoke
from tests.handin.gradescope import Gradescope, set_up

ROOT = TESTS.parent
TINY, SOLUTIONS = TESTS / "packs" / "tiny", TESTS / "packs" / "solutions"
REFERENCE = SOLUTIONS / "1.1-sorting" / "insertion-sort" / "insertion_sort.py"
DESCENDING = "def insertion_sort(values):\n    return sorted(values)[::-1]\n"
CLASSROOM = {
    "CLASSROOM": "ml-2026",
    "ASSIGNMENT": "sorting",
    "SUBMISSION_TAG": "submit/2026-11-20T10-00-00Z-abc1234",
    "COMMIT_URL": "https://example.org/ada/sorting/commit/abc1234",
    "RELEASE_URL": "https://example.org/ada/sorting/releases/tag/submit",
}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bundles")]  # what they unpack is made once


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A pack of somebody's own, with its solutions beside it."""
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(TINY, course / "katas")
    shutil.copytree(SOLUTIONS, course / "solutions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KATA_PACKS", str(course / "katas"))
        yield course


@pytest.fixture(scope="module")
def bundles(packs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    compileall.compile_dir(ROOT / "grader" / "handin", quiet=1)  # as pip does when it installs a wheel
    folder = tmp_path_factory.mktemp("bundles")
    found = {}
    for system in ("gradescope", "classroom50", "actions"):
        for what in ("insertion-sort", "masks"):
            found[f"{system} {what}"] = folder / f"{system}-{what}.zip"
            done = made(system, what, "--online", "--no-perf", "--out", str(found[f"{system} {what}"]))
            assert done.code == 0, done.text
    return found


def made(*arguments: str) -> Ran:
    return invoke("pack", "bundle", *arguments)


def contents(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what is in an archive, and in the wheels that are in it."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for name in opened.namelist():
            yield name, opened.read(name)
            if name.endswith(".whl"):
                yield from contents(opened.read(name))


@pytest.mark.nightly
@pytest.mark.parametrize("system", ["classroom50", "actions"])
def test_nothing_hidden_is_in_a_bundle_that_learners_can_read(bundles: dict[str, Path], system: str) -> None:
    for what, solutions in (("insertion-sort", SOLUTIONS), ("masks", ROOT / "solutions")):
        secret = {
            path.read_bytes() for path in solutions.rglob("*") if path.is_file() and path.stat().st_size
        }
        found = dict(contents(bundles[f"{system} {what}"].read_bytes()))
        assert not [name for name, data in found.items() if data in secret]
        assert not [
            name for name in found if name.endswith("hidden_checks.py") or "solutions" in name.split("/")
        ]
        assert any(
            name.endswith("insertion-sort/checks.py" if what != "masks" else "masks/checks.py")
            for name in found
        )


@pytest.mark.nightly
def test_the_same_katas_make_the_same_bytes(bundles: dict[str, Path], tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    assert made("classroom50", "insertion-sort", "--out", str(again)).code == 0
    before, after = (
        dict(contents(path.read_bytes())) for path in (bundles["classroom50 insertion-sort"], again)
    )
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name] and "wheels/" not in name] == []


def test_katas_of_two_packs_make_two_bundles(packs: Path, tmp_path: Path) -> None:
    made("actions", "masks", "insertion-sort", "--out", str(tmp_path / "both.zip")).refused(
        "belong to several packs: transformers, tiny"
    )
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_named(packs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    made("gradescope", "insertion-sort", "--wheels", "empty").refused("empty holds no wheels")
    made("gradescope", "insertion-sort", "--python", "three").refused("--python three: this is not a version")
    shutil.copytree(packs / "katas", tmp_path / "alone" / "katas")
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "alone" / "katas"))
    made("gradescope", "insertion-sort", "--online").refused("no solutions here of insertion-sort")
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "alone"}


@pytest.mark.parametrize("online", [True, False])
def test_setup_asks_an_index_only_where_the_bundle_says_so(packs: Path, tmp_path: Path, online: bool) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "torch-1-py3-none-any.whl").touch()
    where = ["--online"] if online else ["--wheels", str(tmp_path / "wheels")]
    assert made("gradescope", "insertion-sort", *where, "--out", str(tmp_path / "it.zip")).code == 0
    source = tmp_path / "autograder" / "source"
    with zipfile.ZipFile(tmp_path / "it.zip") as archive:
        archive.extractall(source)
    python = tmp_path / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    python.parent.mkdir()
    python.write_text(
        '#!/bin/sh\necho "$@" >> "$TOLD"\n[ "$2" = venv ] || exit 0\nmkdir -p "$3/bin"\ncp "$0" "$3/bin/python"\n'
    )
    python.chmod(0o755)
    variables = {"PATH": f"{python.parent}:{os.environ['PATH']}", "TOLD": str(tmp_path / "told")}
    subprocess.run(["bash", str(source / "setup.sh")], env=variables, check=True)
    asked = (tmp_path / "told").read_text() + (source / "requirements.txt").read_text()
    assert f"-r {source}/requirements.txt" in asked
    assert ("--no-index" in asked) is not online


@pytest.mark.nightly
@pytest.mark.parametrize("what", ["insertion-sort", "masks", None])
def test_a_workflow_checks_as_it_says(
    bundles: dict[str, Path], packs: Path, tmp_path: Path, what: str | None
) -> None:
    """Its own steps, of a bundle and of `kata start --actions`; other people's are left out, and what installs."""
    variables = without_ours()
    kata = Path(sys.executable).with_name("kata")
    if what is None:
        start = [str(kata), "start", "masks", "--actions"]
        subprocess.run(start, cwd=tmp_path, env=variables, check=True, capture_output=True)
    else:
        with zipfile.ZipFile(bundles[f"actions {what}"]) as archive:
            archive.extractall(tmp_path)
    name = {"insertion-sort": "insertion_sort.py", None: "9.3-encoder-vs-decoder/masks/masks.py"}.get(
        what, "masks.py"
    )
    (tmp_path / name).write_text("def nothing(:\n")
    text = (tmp_path / ".github/workflows/kata.yml").read_text()
    assert "@" not in text.replace("@v", "")
    job = yaml.safe_load(text)["jobs"]["check"]
    install, shut_in, *steps = [step for step in job["steps"] if "uses" not in step]
    wanted = "tensor-kata" if what is None else "--find-links .kata/wheels -r .kata/requirements.txt"
    assert f"uv pip install --torch-backend=cpu {wanted}" in install["run"]
    assert shut_in["run"].startswith("sudo ")
    variables |= {
        name: value.replace("${{ github.workspace }}", str(tmp_path))
        for name, value in job.get("env", {}).items()
    }
    variables |= {
        "PATH": f"{kata.parent}:{os.environ['PATH']}", "CI": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }  # fmt: skip
    found = [completed(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=variables) for step in steps]
    assert [one.returncode for one in found] == [1, 0]
    assert f"::error file={name},line=1," in found[0].stdout
    assert "does not load" in (tmp_path / "summary").read_text()


@pytest.fixture(scope="module")
def gradescope(bundles: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Gradescope:
    return set_up(bundles["gradescope insertion-sort"], tmp_path_factory.mktemp("autograder"))


def graded(gradescope: Gradescope, source: str) -> dict[str, Any]:
    return gradescope.grade({"insertion_sort.py": source.encode()})


root_only = pytest.mark.skipif(os.geteuid() != 0, reason="Gradescope runs as root")


@pytest.mark.nightly
@root_only
def test_gradescope_gives_the_marks_that_kata_grade_gives(
    gradescope: Gradescope, packs: Path, tmp_path: Path
) -> None:
    answers = {"ada": REFERENCE.read_text(), "bob": DESCENDING, "cyd": "def insertion_sort(values:\n"}
    for learner, source in answers.items():
        (tmp_path / "class" / learner).mkdir(parents=True)
        (tmp_path / "class" / learner / "insertion_sort.py").write_text(source)
    variables = {**os.environ, "KATA_PACKS": str(packs / "katas")}
    command = [sys.executable, "-m", "grader", "grade", "class", "--only", "insertion-sort", "--json", "-"]
    done = completed(command, cwd=tmp_path, env=variables)
    marks = {report["learner"]: report["score"] for report in map(json.loads, done.stdout.splitlines())}
    found = {learner: graded(gradescope, source) for learner, source in answers.items()}
    assert {learner: one["score"] for learner, one in found.items()} == marks
    ada = found["ada"]
    assert (ada["score"], ada["max_score"]) == (5, 5)
    (hidden,) = (test for test in ada["tests"] if test["visibility"] == "hidden")
    assert (hidden["name"], "output" in hidden) == ("1.1.1 hidden check 1 (values)", False)
    (told,) = ada["extra_data"]["kata"]
    assert told["kata"] == "insertion-sort"
    assert told["isolation"] == "confined"
    assert isinstance(told["seed"], int)
    assert "got 3  want 1" in "".join(test.get("output", "") for test in found["bob"]["tests"])
    assert "line 1" in found["cyd"]["output"]


@pytest.mark.nightly
@root_only
def test_a_submission_that_writes_the_results_earns_nothing(gradescope: Gradescope) -> None:
    """Where this one keeps them; the corpus tries the rest (`test_hostile_on_gradescope.py`)."""
    place = gradescope.root / "results" / "results.json"
    found = graded(
        gradescope, f"try:\n    open({str(place)!r}, 'w').write('{{}}')\nexcept OSError:\n    pass\n"
    )
    assert (found["score"], found["max_score"]) == (0, 5)
    assert "hidden_checks" not in json.dumps(found)


@root_only
def test_where_the_autograder_fails_nobody_gets_a_mark_by_it(gradescope: Gradescope) -> None:
    settings = gradescope.root / "source" / "bundle.json"
    kept = settings.read_text()
    try:
        settings.write_text(kept.replace("insertion-sort", "no-such-kata"))
        found = graded(gradescope, REFERENCE.read_text())
    finally:
        settings.write_text(kept)
    assert found["score"] == 0
    assert "was not graded: the autograder itself failed" in found["output"]
    assert "tests" not in found


def in_classroom_50(bundle: Path, checkout: Path) -> dict[str, Any]:
    """Run a bundle as Classroom 50 does, in a checkout; return its result, and leave what `kata check` said to it."""
    unpacked, python = checkout.parent / "bundle", checkout.parent / "python"
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(unpacked)
    said = checkout.parent / "said.json"
    python.write_text(
        f'#!/bin/sh\n"{sys.executable}" "$@" >"{said}"\nstatus=$?\ncat "{said}"\nexit $status\n'
    )
    python.chmod(0o755)
    program = f"import runpy, sys; sys.executable = {str(python)!r}; runpy.run_path(sys.argv[1], run_name='__main__')"
    done = completed(
        [sys.executable, "-I", "-c", program, str(unpacked / "autograder.py")],
        cwd=checkout,
        env=without_ours() | CLASSROOM,
    )
    assert done.returncode == 0, done.stderr
    result = dict(json.loads((checkout / "result.json").read_text()))
    for key in ("score", "max-score"):
        assert result[key] == sum(test[key] for test in result["tests"])
        assert {type(test[key]) for test in result["tests"]} == {int}
    return result


def without_ours() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("KATA_")}


@pytest.mark.nightly
def test_classroom_50_gets_its_result_from_a_checkout(bundles: dict[str, Path], tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "homework").mkdir(parents=True)
    (checkout / "homework" / "insertion_sort.py").write_text(DESCENDING)
    for trap in ("json.py", "grader.py", "subprocess.py"):  # a learner's files are called as they like
        (checkout / trap).write_text("raise SystemExit('imported')\n")
    result = in_classroom_50(bundles["classroom50 insertion-sort"], checkout)
    assert result["schema"] == "classroom50/result/v1"
    assert result["review"] == result["commit"] == CLASSROOM["COMMIT_URL"]
    assert result["max-score"] == 4
    assert 0 <= result["score"] < 4
    assert all(set(test) == {"test-name", "passed", "score", "max-score"} for test in result["tests"])
    (checkout / "homework" / "insertion_sort.py").unlink()
    (missing,) = in_classroom_50(bundles["classroom50 insertion-sort"], checkout)["tests"]
    assert (missing["test-name"], missing["score"], missing["max-score"]) == (
        "1.1.1 insertion-sort: not handed in",
        0,
        4,
    )


@pytest.mark.gate
@pytest.mark.nightly
@pytest.mark.parametrize("verdict", ["right", "wrong"])
def test_classroom_50_gives_the_points_that_kata_check_gives(
    packs: Path, tmp_path: Path, verdict: str
) -> None:
    """Of every kata, in whole points: half points are what its whole numbers would lose."""
    bundle, checkout = tmp_path / "all.zip", tmp_path / "checkout"
    assert made("classroom50", *ours.katas(), "--out", str(bundle)).code == 0
    checkout.mkdir()
    for kata in ours.katas().values():
        answer = (answers.right if verdict == "right" else answers.wrong)(kata)[0]
        (checkout / f"{kata.module}.py").write_text(answer.text)
    result = in_classroom_50(bundle, checkout)
    reports = json.loads((tmp_path / "said.json").read_text())["katas"]
    parts = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["parts"]
    assert parts == 2
    assert len(reports) == len(ours.katas())
    for report in reports:
        tests = [test for test in result["tests"] if test["test-name"].startswith(f"{report['number']} ")]
        assert sum(test["score"] for test in tests) == report["score"] * parts, report["kata"]
        assert sum(test["max-score"] for test in tests) == report["max_score"] * parts, report["kata"]
    assert (result["score"] == result["max-score"]) is (verdict == "right")


@pytest.mark.nightly
@pytest.mark.parametrize(("written", "parts"), [("points=0.5", 2), ("points=0.29", 100)])
def test_points_are_counted_in_the_fewest_parts(
    packs: Path, tmp_path: Path, written: str, parts: int
) -> None:
    """A total of whole points says nothing of the checks that it is made of."""
    shutil.copytree(TINY, tmp_path / "katas")
    checks = tmp_path / "katas" / "1.1-sorting" / "insertion-sort" / "checks.py"
    checks.write_text(re.sub(r"points=[\d.]+", written, checks.read_text(), count=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KATA_PACKS", str(tmp_path / "katas"))
        assert made("classroom50", "insertion-sort", "--out", str(tmp_path / "it.zip")).code == 0
    with zipfile.ZipFile(tmp_path / "it.zip") as archive:
        assert json.loads(archive.read("bundle.json"))["parts"] == parts


@pytest.mark.nightly
@root_only
@pytest.mark.parametrize(
    ("files", "meant"),
    [
        ({}, ""),
        (
            {"week 1/a/sorting.py": REFERENCE.read_bytes(), "week 1/b/x.py": b""},
            "; was submission/week 1/a/sorting.py meant?",
        ),
    ],
)
def test_what_is_absent_or_has_another_name_is_missing_and_the_autograder_did_not_fail(
    gradescope: Gradescope, files: dict[str, bytes], meant: str
) -> None:
    found = gradescope.grade(files)
    assert (found["score"], found["max_score"]) == (0, 5)
    assert f"There is no insertion_sort.py or insertion_sort.ipynb{meant}" in found["output"]


@pytest.mark.nightly
@root_only
def test_folders_of_one_submission_are_not_a_class(gradescope: Gradescope) -> None:
    files = {f"{name}/insertion_sort.py": REFERENCE.read_bytes() for name in ("sorting", "old sorting")}
    found = gradescope.grade(files)
    assert found["score"] == 5, found["output"]
