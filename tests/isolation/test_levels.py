"""Which level is chosen, what is refused for want of one, and that no worker claims more than it has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from grader import sandbox
from grader.errors import EngineError, UsageError
from grader.sandbox import libc
from grader.sandbox.levels import LEVELS, forced
from tests.isolation.conftest import Lab


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container, or where an ordinary user may make none: the kernel answers EPERM."""
    monkeypatch.setattr(libc, "unshare", lambda flags: 1)


def test_the_variable_names_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KATA_ISOLATION", raising=False)
    assert forced() is None
    for level in LEVELS:
        monkeypatch.setenv("KATA_ISOLATION", level)
        assert forced() == level
    monkeypatch.setenv("KATA_ISOLATION", "total")
    with pytest.raises(UsageError, match="'total'; it must be full, confined or process"):
        sandbox.strongest_wanted()


def test_full_where_there_is_none_is_refused_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, no_namespaces: None
) -> None:
    with pytest.raises(
        UsageError, match="'full' is required, but this machine offers only 'confined'"
    ) as caught:
        sandbox.require("full")
    assert "user.max_user_namespaces" in (caught.value.hint or "")
    monkeypatch.setenv("KATA_ISOLATION", "full")
    with pytest.raises(UsageError, match="'full' is required"):
        sandbox.strongest_wanted()
    monkeypatch.delenv("KATA_ISOLATION")
    assert sandbox.require("confined").level == "confined"
    assert sandbox.strongest_wanted() == "full"  # to be tried; nothing is promised


def test_a_level_that_is_held_back_is_no_stronger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_ISOLATION", "process")
    with pytest.raises(UsageError, match="KATA_ISOLATION limits workers to 'process'"):
        sandbox.require("confined")
    assert sandbox.require("process").level in LEVELS


def test_mounts_that_are_refused_are_said_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(libc, "mount", refuse)
    found = sandbox.probe()
    assert (found.level, found.cells, found.network_namespaces) == ("confined", False, True)
    assert any("mounts are refused" in sentence and "SYS_ADMIN" in sentence for sentence in found.missing)


def test_a_worker_below_the_level_that_is_asked_for_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_ISOLATION", "full")
    with pytest.raises(EngineError, match="reached isolation 'confined'"):
        sandbox.insist("confined")
    sandbox.insist("full")
    monkeypatch.delenv("KATA_ISOLATION")
    sandbox.insist("process")


def test_the_weakest_counts() -> None:
    assert sandbox.weakest("full", "confined", "full") == "confined"
    assert sandbox.weakest("process", "none") == "none"
    assert not sandbox.reaches("none", "process")


@pytest.mark.parametrize("missing", ["namespaces", "mounts", "the sandbox"])
def test_what_is_refused_lowers_the_level_and_the_rest_holds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise PermissionError(1, "Operation not permitted")

    if missing == "namespaces":
        monkeypatch.setattr(libc, "unshare", lambda flags: 1)
    elif missing == "mounts":
        monkeypatch.setattr(libc, "mount", refuse)
    else:  # the zygote thinks that it can, and the worker cannot
        monkeypatch.setattr(libc, "move_root", refuse)
        monkeypatch.setattr(sandbox, "can_live", lambda anchor: True)
    lab = Lab(None, None)
    try:
        submission = lab.open("def read():\n    return open('/etc/passwd').read()\n", expect="confined")
        assert "PermissionError" in submission("read").text
        submission.close()
        assert not Path(f"/proc/{submission.pid}").exists()
    finally:
        lab.close()


@pytest.mark.slow
def test_a_gpu_s_driver_finds_its_own_processes_and_no_others(shut_in: Lab) -> None:
    submission = shut_in.open(
        "def maps():\n    return open('/proc/self/maps').read(8)\n", "gpu", device="cuda"
    )
    assert submission("maps").error is None
    view = Path(f"/proc/{submission.pid}/root")
    assert {path.name for path in (view / "proc").iterdir() if path.name.isdigit()} == {"1", "2"}
    assert (view / "sys/devices").is_dir()
    assert not (view / "etc/passwd").exists()
    for device in Path("/dev").glob("nvidia*"):
        assert (view / device.relative_to("/")).exists()
    submission.close()


def test_other_owners_files_are_readable_where_they_are_given(shut_in: Lab) -> None:
    """An instructor who grades as root has folders of mode 0700 that belong to learners."""
    if shut_in.user is not None or os.geteuid() != 0:
        pytest.skip("only root reads what belongs to others")
    given = shut_in.folder / "given"
    given.mkdir(mode=0o700)
    (given / "helper.py").write_text("VALUE = 7\n")
    (given / "helper.py").chmod(0o600)
    for path in (given, given / "helper.py"):
        os.chown(path, 12345, 12345)
    submission = shut_in.open("import helper\ndef f():\n    return helper.VALUE\n", "user", given=given)
    assert submission("f").value == 7
    submission.close()
