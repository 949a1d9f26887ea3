"""A workspace that somebody else made: its links lead out of it, and its files are no files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Run

SECRET = "a secret of somebody else's"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder outside of the workspace, with a secret in it."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "secret.py").write_text(SECRET)
    return place


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "link", ["9.3-encoder-vs-decoder/masks", "9.3-encoder-vs-decoder", "backups", "backups/masks"]
)
def test_reset_writes_nothing_through_a_folder_that_leads_out(
    kata: Run, folder: Path, elsewhere: Path, link: str
) -> None:
    assert kata("start", "masks").code == 0
    (folder / "9.3-encoder-vs-decoder/masks/masks.py").write_text("mine = 1\n")
    place = folder / link
    target = elsewhere / "there"
    if place.exists():
        place.rename(target)
    else:
        place.parent.mkdir(exist_ok=True)
        target.mkdir()
    place.symlink_to(target)
    before = contents(elsewhere)
    kata("reset", "masks").refused("leads out of")
    assert contents(elsewhere) == before


@pytest.mark.parametrize("link", ["9.3-encoder-vs-decoder/masks", "9.3-encoder-vs-decoder"])
def test_start_writes_nothing_through_a_folder_that_leads_out(
    kata: Run, folder: Path, elsewhere: Path, link: str
) -> None:
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(elsewhere)
    before = contents(elsewhere)
    for words in (("masks",), ("masks", "--notebook")):
        kata("start", *words).refused("leads out of")
    assert contents(elsewhere) == before


@pytest.mark.parametrize(("option", "link"), [("--vscode", ".vscode"), ("--actions", ".github")])
def test_files_for_an_editor_are_not_written_through_a_link(
    kata: Run, folder: Path, elsewhere: Path, option: str, link: str
) -> None:
    (folder / link).symlink_to(elsewhere)
    before = contents(elsewhere)
    kata("start", "masks", option).refused("leads out of")
    assert contents(elsewhere) == before


@pytest.mark.parametrize("name", ["masks.py", "README.md", "masks.ipynb"])
def test_a_link_is_backed_up_as_a_link(kata: Run, folder: Path, elsewhere: Path, name: str) -> None:
    assert kata("start", "masks", *(["--notebook"] if name.endswith("b") else [])).code == 0
    path = folder / "9.3-encoder-vs-decoder/masks" / name
    path.unlink()
    path.symlink_to(elsewhere / "secret.py")
    assert kata("reset", "masks").code == 0
    assert not path.is_symlink()
    (backup,) = (folder / "backups").rglob(name)
    assert os.readlink(backup) == str(elsewhere / "secret.py")
    assert (elsewhere / "secret.py").read_text() == SECRET


def test_nothing_is_read_through_a_link_that_leads_out(kata: Run, folder: Path, elsewhere: Path) -> None:
    assert kata("start", "masks").code == 0
    path = folder / "9.3-encoder-vs-decoder/masks/masks.py"
    path.unlink()
    path.symlink_to(elsewhere / "secret.py")
    for words in (("check", "masks"), ("check",), ("try", "masks")):
        ran = kata(*words)
        assert ran.code == 2
        assert "leads out of" in ran.err
        assert SECRET not in ran.text
    progress = folder / "kata-progress.json"
    progress.rename(elsewhere / "progress.json")
    progress.symlink_to(elsewhere / "progress.json")
    assert "leads out of" in kata("list").err


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_an_error_and_never_a_wait(kata: Run, folder: Path, kind: str) -> None:
    """Of the progress, a roster, times, a course: the error names the file and what was expected."""
    assert kata("start", "masks").code == 0
    (folder / "class" / "ada").mkdir(parents=True)
    (folder / "class" / "ada" / "masks.py").write_text("x = 1\n")

    def put(name: str) -> Path:
        path = folder / name
        path.unlink(missing_ok=True)
        os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
        return path

    tried = {
        "times.csv": ("grade", "class", "--only", "masks", "--times", "times.csv"),
        "changes.csv": ("gradebook", "adjust-all", "changes.csv"),
        "course.toml": ("gradebook", "show", "--course", "course.toml"),
    }
    for name, words in tried.items():
        path = put(name)
        ran = kata(*words)
        assert ran.code != 0
        assert name in ran.err or "gradebook" in ran.err
        path.unlink()
    (folder / "course.toml").write_text('name = "x"\nroster = "roster.csv"\n')
    put("roster.csv")
    ran = kata("grade", "class", "--only", "masks")
    assert (ran.code, "roster.csv" in ran.err, f"a {kind}" in ran.err) == (2, True, True), ran.err
    if kind == "pipe":
        put("kata-progress.json")
        ran = kata("check", "masks")
        assert (ran.code, "kata-progress.json" in ran.err, "a pipe" in ran.err) == (2, True, True), ran.err
