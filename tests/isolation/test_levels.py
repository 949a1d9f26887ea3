"""Which level is chosen, what is refused for want of one, and that no worker claims more than it has."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.engine import sandbox
from grader.engine.sandbox import capabilities, full, landlock, libc, limits, seccomp
from grader.engine.sandbox.levels import LEVELS, forced
from grader.engine.worker import process
from grader.errors import UsageError
from tests.isolation.conftest import Lab


@pytest.fixture(autouse=True)
def not_found_out_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "_offers_full", False)


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
        sandbox.offered()


@pytest.mark.slow
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
        sandbox.offered()
    monkeypatch.delenv("KATA_ISOLATION")
    assert sandbox.require("confined").level == "confined"
    assert sandbox.offered() == "confined"


@pytest.mark.slow
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


def test_the_weakest_counts() -> None:
    assert sandbox.weakest("full", "confined", "full") == "confined"
    assert sandbox.weakest("process", "none") == "none"
    assert not sandbox.reaches("none", "process")


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["namespaces", "mounts", "the sandbox"])
def test_what_is_refused_lowers_the_level_that_is_promised_and_the_rest_holds(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing == "namespaces":
        monkeypatch.setattr(libc, "unshare", lambda flags: 1)
    else:
        monkeypatch.setattr(libc, "mount" if missing == "mounts" else "move_root", refuse)
    lab = Lab(None, None)
    try:
        submission = lab.open("def read():\n    return open('/etc/passwd').read()\n", expect="confined")
        assert "PermissionError" in submission("read").text
        submission.close()
        assert not Path(f"/proc/{submission.pid}").exists()
    finally:
        lab.close()


def refuse(*_: object, **__: object) -> Any:
    raise PermissionError(1, "Operation not permitted")


def refuse_in_a_worker(variables: Mapping[str, str]) -> None:
    if variables.get("USER") == "submission":
        refuse()


def errno_of(*_: object, **__: object) -> int:
    return 1


STEPS: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "a pid namespace for the zygote": (sandbox, "renew_processes", lambda: False),
    "mounts for all workers": (sandbox, "prepare", lambda anchor, view: None),
    "the environment": (sandbox, "replace_environment", refuse_in_a_worker),
    "inherited descriptors": (process, "_rewire", refuse),
    "namespaces": (full.Sandbox, "_enter", refuse),
    "a mount": (libc, "copy_tree", refuse),
    "the new root": (libc, "move_root", refuse),
    "read-only": (libc, "make_read_only", refuse),
    "a user of its own": (full.Sandbox, "become_user", refuse),
    "limits": (limits, "_lower", refuse),
    "no_new_privs": (libc, "prctl", errno_of),
    "Landlock": (landlock, "restrict", refuse),
    "capabilities": (libc, "drop_capabilities", errno_of),
    "seccomp": (seccomp, "restrict", refuse),
}


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_worker_below_the_promised_level_reads_no_submission(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    if sandbox.probe().level != "full":
        pytest.skip("full is not offered here")
    monkeypatch.setattr(sandbox, "offered", lambda: "full")
    monkeypatch.setattr(*STEPS[step])
    lab = Lab(None, None)
    try:
        mark = lab.folder / "own" / "mark"
        _, _, _, failed = lab.ask("open", "answer", f"open({str(mark)!r}, 'w').write('ran')\n", {})
        assert failed is not None
        assert failed.error == "MachineFault"
        assert not mark.exists()
    finally:
        lab.close()


@pytest.mark.slow
def test_a_gpu_s_driver_finds_its_own_processes_and_no_others(shut_in: Lab) -> None:
    source = """
        import os
        def maps():
            return open('/proc/self/maps').read(8)
        def others():
            return [pid for pid in range(1, os.getpid() + 9) if pid != os.getpid() and os.path.exists(f'/proc/{pid}')]
    """
    neighbour = shut_in.open("x = 1", "neighbour", device="cuda")
    submission = shut_in.open(source, "gpu", device="cuda")
    assert submission("maps").error is None
    assert submission("others").value == []
    neighbour.close()
    view = Path(f"/proc/{submission.pid}/root")
    assert (view / "sys/devices").is_dir()
    assert not (view / "etc/passwd").exists()
    for device in Path("/dev").glob("nvidia*"):
        assert (view / device.relative_to("/")).exists()
    submission.close()


@pytest.mark.slow
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


@pytest.mark.slow
def test_root_s_workers_are_not_root_where_only_root_may_read_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if os.geteuid() != 0 or sandbox.probe().level != "full":
        pytest.skip("only root at full has workers with users of their own")
    before = os.umask(0o077)
    try:
        python = tmp_path / "python"
        python.mkdir()
        (python / "version").write_text("3")
        view = sandbox.python_view()
        places = (*view.places, python)
        monkeypatch.setattr(sandbox, "python_view", lambda hidden=(): sandbox.View(places, view.hidden))
        lab = Lab("full", None)
    finally:
        os.umask(before)
    try:
        submission = lab.open(
            f"import os\ndef f():\n    return open({str(python / 'version')!r}).read(), os.getuid()\n"
        )
        text, user = submission("f").value
        assert text == "3"
        assert user >= full._FIRST_USER
    finally:
        lab.close()
