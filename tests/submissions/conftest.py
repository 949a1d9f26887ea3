"""A class's hand-ins made of a few lines, over the pack that is shipped."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalogue import Kata, load_pack
from grader.instructor.lms.find import find_learners
from grader.instructor.submissions import Submission

PACK = Path(__file__).parents[2] / "katas"

Files = dict[str, bytes | str]


@pytest.fixture(scope="session")
def katas() -> list[Kata]:
    """Return 9.3.1 masks and 9.3.2 masked-attention."""
    return [kata for kata in load_pack(PACK).katas if kata.slug in {"masks", "masked-attention"}]


@pytest.fixture
def read(tmp_path: Path, katas: list[Kata]) -> Callable[..., dict[tuple[str, str], Submission]]:
    """Return a function that reads a class: (learner, kata) to submission."""

    def read_class(root: Path = tmp_path) -> dict[tuple[str, str], Submission]:
        found = {}
        for learner in find_learners(root, katas).learners:
            rows = learner.submissions(katas)
            assert [row.kata for row in rows] == [kata.slug for kata in katas]
            found.update({(row.learner, row.kata): row for row in rows})
        return found

    return read_class


def lay(root: Path, files: Files) -> Path:
    """Write files, with their folders; a name that ends in `/` is a folder."""
    for name, content in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def zipped(files: Files) -> bytes:
    """Return a zip of the files, in their order."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def tarred(files: Files, mode: str = "w:gz") -> bytes:
    """Return a tar of the files, in their order."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def content(row: Submission) -> dict[str, bytes]:
    """Return a submission's files; fails with its message when it has none."""
    assert row.bundle is not None, row.message
    assert row.status == "found"
    assert row.bundle.main in row.bundle.files
    return row.bundle.files
