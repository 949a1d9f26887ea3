"""At full under root a worker is a user of its own, or no worker: that it stays root is not an option."""

from __future__ import annotations

import errno
import os
import select
from pathlib import Path
from typing import Any

import pytest

from grader.engine import sandbox
from grader.engine.host.launcher import ForkLauncher, WorkerConfig
from grader.engine.sandbox import capabilities, full, libc
from grader.engine.sandbox.limits import ResourceLimits
from grader.engine.sandbox.namespaces import in_child
from grader.engine.sandbox.read_paths import View
from grader.errors import MachineFault

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes workers other users")


def refuse(*_: object) -> int:
    raise OSError(errno.EINVAL, "no maps of owners here")


@pytest.fixture
def at_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a machine that offers full: found out before anything fails."""
    monkeypatch.delenv("KATA_ISOLATION", raising=False)
    monkeypatch.setattr(capabilities, "_offers_full", False)
    if sandbox.offered() != "full":
        pytest.skip("this machine does not offer full")


def without_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    copy: Any = libc.copy_tree

    def only_plain(source: str, attributes: int = 0, owners: int | None = None) -> int:
        return refuse() if owners is not None else copy(source, attributes)

    monkeypatch.setattr(libc, "copy_tree", only_plain)


@pytest.mark.slow
def test_where_files_keep_their_owner_the_worker_ends(
    at_full: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_maps(monkeypatch)
    launcher = ForkLauncher()
    try:
        process = launcher.launch(WorkerConfig(read=(str(tmp_path),), memory_bytes=None))
        select.select([process.output], [], [], 60)
        said = os.read(process.output, 4096).decode()
        assert process.end(60) == 1
    finally:
        launcher.close()
    assert f"could not be confined to 'full': owners of files cannot be mapped below {tmp_path}" in said


@pytest.mark.slow
def test_where_no_map_can_be_made_none_is_started(
    at_full: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(full, "_make_owners_map", refuse)
    launcher = ForkLauncher()
    try:
        with pytest.raises(MachineFault, match="No worker could be started: no maps of owners here"):
            launcher.launch(WorkerConfig(read=(str(tmp_path),), memory_bytes=None))
    finally:
        launcher.close()


def test_a_machine_without_maps_does_not_offer_full(monkeypatch: pytest.MonkeyPatch) -> None:
    without_maps(monkeypatch)
    assert sandbox.probe().level != "full"


def test_a_library_list_that_is_renewed_while_a_class_is_graded_costs_no_worker(
    at_full: None, tmp_path: Path
) -> None:
    (tmp_path / "anchor").mkdir()
    listed = tmp_path / "ld.so.cache"
    listed.write_text("as it was")

    def grade() -> int:
        shared = full.prepare(tmp_path / "anchor", View((listed,)))
        assert shared is not None
        (tmp_path / "newer").write_text("renewed")
        (tmp_path / "newer").replace(listed)
        box = full.open_sandbox(shared, 0, ())

        def live() -> int:
            box.enter((), Path("/scratch"), ResourceLimits(), cuda=False)
            with pytest.raises(OSError, match="Read-only"):
                listed.write_text("a submission's")
            box.become_user()
            return listed.read_text() == "as it was"

        return in_child(live)

    assert in_child(lambda: libc.unshare(libc.CLONE_NEWPID) == 0 and in_child(grade))
