"""What submissions could read is looked at before one is graded: answers are left out, everything else is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grader.catalogue.catalogue import answers
from grader.engine import sandbox
from grader.engine.sandbox import View
from grader.errors import UsageError


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages that workers read."""
    folder = tmp_path / "lib" / "site-packages"
    for name in ("numbers_lib", "courses/nlp/katas", "courses/nlp/solutions", "courses/tools"):
        (folder / name).mkdir(parents=True)
        (folder / name / "some.py").write_text("1")
    (folder / "courses/nlp/katas/pack.toml").write_text('name = "nlp"\ntitle = "N"\nversion = "1.0"\n')
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: None)
    monkeypatch.delenv("KATA_PACKS", raising=False)
    monkeypatch.delenv("KATA_SOLUTIONS", raising=False)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def name_pack(packages: Path, value: str) -> None:
    metadata = packages / "kata_pack-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text(f"[kata.packs]\nnlp = {value}\n")


def readable(view: View) -> set[str]:
    """Return what is granted one by one, by its name."""
    return {path.name for path in view.siblings}


def test_a_pack_with_answers_is_left_out_and_its_neighbours_are_not(packages: Path) -> None:
    name_pack(packages, "courses.nlp.katas")  # a namespace package: others have parts of it, too
    view = sandbox.python_view(answers())
    assert set(view.hidden) == {packages / "courses/nlp/katas", packages / "courses/nlp/solutions"}
    assert packages not in view.whole
    assert readable(view) == {"numbers_lib", "some.py", "tools", "kata_pack-1.0.dist-info"} - {"some.py"}
    assert {packages, packages / "courses", packages / "courses/nlp"} == set(view.listed)
    assert view.covers(packages / "courses/tools/some.py")
    assert not view.covers(packages / "courses/nlp/solutions/some.py")


def test_a_pack_without_answers_is_read_like_any_package(packages: Path) -> None:
    name_pack(packages, "courses.nlp.katas")
    (packages / "courses/nlp/solutions/some.py").unlink()
    (packages / "courses/nlp/solutions").rmdir()
    view = sandbox.python_view(answers())
    assert (view.hidden, view.siblings, view.listed) == ((), (), ())


def test_a_pack_that_no_entry_point_names_is_found(packages: Path) -> None:
    (packages / "courses/nlp").rename(packages / "kata_pack_nlp")
    assert set(answers()) == {packages / "kata_pack_nlp/katas", packages / "kata_pack_nlp/solutions"}


def test_a_link_grants_nothing_that_lies_elsewhere(packages: Path, tmp_path: Path) -> None:
    name_pack(packages, "courses.nlp.katas")
    (tmp_path / "checkout").mkdir()
    (packages / "linked").symlink_to(tmp_path / "checkout")
    (packages / "again").symlink_to(packages / "courses/nlp/solutions")
    view = sandbox.python_view(answers())
    assert not {"linked", "again"} & readable(view)


def test_answers_that_lie_behind_a_link_are_the_ones_it_leads_to(packages: Path, tmp_path: Path) -> None:
    (packages / "courses/nlp").rename(packages / "elsewhere")
    (tmp_path / "course").symlink_to(packages / "elsewhere")
    os.environ["KATA_PACKS"] = str(tmp_path / "course" / "katas")
    try:
        view = sandbox.python_view(answers())
    finally:
        del os.environ["KATA_PACKS"]
    assert packages / "elsewhere/solutions" in view.hidden


@pytest.mark.parametrize("what", ["gradebook", "course", "submissions", "link"])
def test_what_else_lies_among_packages_stops_everything(packages: Path, tmp_path: Path, what: str) -> None:
    secret = packages / f"{what}.sqlite"
    secret.touch()
    if what == "link":
        (tmp_path / "gradebook.sqlite").symlink_to(secret)
        secret = tmp_path / "gradebook.sqlite"
    with pytest.raises(UsageError, match=f"the {what}.* is below {packages}"):
        sandbox.refuse_exposed({secret: f"the {what}"}, sandbox.python_view(), "full")


def test_a_course_around_the_environment_is_no_obstacle(packages: Path, tmp_path: Path) -> None:
    (tmp_path / "gradebook.sqlite").touch()
    secrets = {tmp_path: "the course", tmp_path / "gradebook.sqlite": "the gradebook"}
    sandbox.refuse_exposed(secrets, sandbox.python_view(), "confined")


def test_where_files_cannot_be_confined_somebody_has_to_agree(tmp_path: Path) -> None:
    secrets = {tmp_path / "gradebook.sqlite": "the gradebook"}
    with pytest.raises(UsageError, match=r"can read what you can: the gradebook") as refusal:
        sandbox.refuse_exposed(secrets, sandbox.python_view(), "process")
    assert "--require-isolation process" in (refusal.value.hint or "")
    sandbox.refuse_exposed(secrets, sandbox.python_view(), "process", agreed=True)


def test_a_class_that_python_imports_from_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "class"
    environment = room / ".venv"
    (environment / "lib").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(environment))
    monkeypatch.setattr(sys, "path", [*sys.path, str(environment / "lib"), str(tmp_path)])
    sandbox.refuse_foreign_code(room)
    monkeypatch.setattr(sys, "path", [*sys.path, str(room)])
    with pytest.raises(UsageError, match="a learner's file could run as the grader"):
        sandbox.refuse_foreign_code(room)
