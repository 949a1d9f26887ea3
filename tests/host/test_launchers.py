"""Both ways to get a worker give the same thing: forked from a zygote, or a fresh interpreter."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.engine.host.errors import SubmissionRaised, WorkerDied, WorkerTimeout
from grader.engine.host.launcher import ForkLauncher, SpawnLauncher, default_launcher
from grader.errors import UsageError
from grader.malloc import UNWRITTEN
from tests.conftest import Borrowed, open_submission

SOURCE = """
    import os, sys, time
    import torch

    print("hello from", __name__)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2))
        def forward(self, x):
            return x * self.w

    def leave(code):
        os._exit(code)

    def loop():
        while True:
            pass

    def crash():
        import ctypes
        ctypes.string_at(0)

    def environment():
        return dict(os.environ), os.getcwd(), sys.argv, sys.stdin.read()

    def read(path):
        return open(path).read()

    def orphan():
        if os.fork() == 0:
            if os.fork() == 0:
                os.setsid()
                while True:
                    time.sleep(60)
            os._exit(0)
        return os.getpid()
"""


@pytest.fixture(scope="module", params=["fork", "spawn"])
def either(
    request: pytest.FixtureRequest, launcher: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    own = launcher if request.param == "fork" else Borrowed(SpawnLauncher())
    folder = tmp_path_factory.mktemp(request.param)
    opened = open_submission(own, folder / "answer.py", SOURCE, submission_timeout_s=600.0)
    yield opened
    opened.session.close()


@pytest.mark.slow
def test_calls_gradients_prints_and_errors(either: Any) -> None:
    assert either.output() == "hello from submission.answer\n"
    model = either.submission.Model()
    x = torch.ones(2, requires_grad=True)
    (model(x) * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert model.w.grad.tolist() == [3, 3]
    with pytest.raises(SubmissionRaised, match="TypeError"):
        either.submission.Model(1, 2)


@pytest.mark.nightly
def test_what_takes_long_to_import_is_there_before_the_submission(either: Any, tmp_path: Path) -> None:
    launcher = either.session._launcher
    source = """
        import sys
        before = [name in sys.modules for name in ("colorsys", "no_such_module")]
    """
    names = ("colorsys", "no_such_module")
    opened = open_submission(launcher, tmp_path / "preloaded.py", source, preload=names)
    try:
        assert opened.submission.before == [True, False]
    finally:
        opened.session.close()


@pytest.mark.slow
def test_the_environment_is_empty_and_the_folder_a_scratch_one(either: Any) -> None:
    either.begin()  # its time began with the first test
    variables, folder, arguments, standard_input = either.submission.environment()
    assert set(variables) <= {
        *("PATH", "HOME", "TMPDIR", "USER", "LANG", "LC_CTYPE", "OMP_NUM_THREADS", "TORCHDYNAMO_DISABLE")
    }
    assert Path(folder).name.startswith("kata-")
    assert arguments == ["submission"]
    assert standard_input == ""


def test_the_disk_is_closed_where_the_kernel_can(either: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("42")
    if either.session.isolation == "process":
        pytest.skip("this kernel cannot confine a process")
    with pytest.raises(SubmissionRaised, match=r"PermissionError|FileNotFoundError"):
        either.submission.read(str(secret))


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "arguments", "words"),
    [("leave", (9,), "exit code 9"), ("crash", (), "segmentation fault"), ("loop", (), None)],
)
def test_every_end_is_told_and_survived(
    either: Any, call: str, arguments: tuple[int, ...], words: str | None
) -> None:
    either.begin(0, 0.3 if call == "loop" else None)
    scratch = Path(either.submission.environment()[1])
    function = getattr(either.submission, call)
    with pytest.raises(WorkerTimeout if call == "loop" else WorkerDied, match=words):
        function(*arguments)
    assert not scratch.exists()
    either.begin(1)
    assert either.submission.Model().w.tolist() == [1, 1]


def test_nothing_outlives_a_session(launcher: Any, tmp_path: Path) -> None:
    opened = open_submission(launcher, tmp_path / "answer.py", SOURCE)
    try:
        pid = opened.submission.orphan()
    except SubmissionRaised:
        pytest.skip("forks are refused, so there are no orphans")
    scratch = Path(opened.submission.environment()[1])
    opened.session.close()
    assert not Path(f"/proc/{pid}").exists()
    answers = [path for path in Path("/proc").glob("[0-9]*/cwd") if _leads_to(path, scratch)]
    assert answers == []


def _leads_to(link: Path, folder: Path) -> bool:
    try:
        return os.readlink(link).startswith(str(folder))
    except OSError:
        return False


@pytest.mark.slow
def test_descriptors_do_not_pile_up(launcher: Any, tmp_path: Path) -> None:
    counts = []
    for _ in range(4):
        opened = open_submission(launcher, tmp_path / "answer.py", SOURCE)
        with pytest.raises(WorkerDied):
            opened.submission.leave(0)
        opened.begin(1)
        opened.session.close()
        gc.collect()  # what earlier tests left for it to close
        counts.append(len(os.listdir("/proc/self/fd")))
    assert counts[1] == counts[3]


def test_workers_live_side_by_side(launcher: Any, tmp_path: Path) -> None:
    first = open_submission(
        launcher, tmp_path / "one.py", "import os\nvalue = 1\ndef folder():\n    return os.getcwd()\n"
    )
    second = open_submission(
        launcher, tmp_path / "two.py", "import os\nvalue = 2\ndef folder():\n    return os.getcwd()\n"
    )
    assert (first.submission.value, second.submission.value) == (1, 2)
    assert first.submission.folder() != second.submission.folder()
    first.session.close()
    assert second.submission.value == 2
    second.session.close()


def test_the_variable_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LAUNCHER", "spawn")
    assert isinstance(default_launcher(), SpawnLauncher)
    monkeypatch.setenv("KATA_LAUNCHER", "teleport")
    with pytest.raises(UsageError, match="fork or spawn"):
        default_launcher()


def test_a_zygote_that_ended_is_our_fault(tmp_path: Path) -> None:
    from grader.errors import EngineError

    launcher = ForkLauncher()
    launcher.close()
    with pytest.raises(EngineError):
        open_submission(launcher, tmp_path / "answer.py", SOURCE)


@pytest.mark.nightly
def test_what_a_kata_preloads_stays_with_it(either: Any, tmp_path: Path) -> None:
    launcher = either.session._launcher
    source = "import sys\nthere = [name in sys.modules for name in ('wave', 'sndhdr')]\n"

    def there(*preload: str) -> list[bool]:
        opened = open_submission(launcher, tmp_path / "answer.py", source, preload=preload)
        try:
            found: list[bool] = opened.submission.there
        finally:
            opened.session.close()
        return found

    launcher.prepare(("wave",))  # as a command does that goes on meanwhile
    assert there() == [False, False], "a kata that asked for nothing"
    assert there("wave") == [True, False]
    assert there("wave", "sndhdr") == [True, True]
    assert there("wave") == [True, False]


FORGETFUL = """
    import torch

    SIZES = (1, 7, 64, 257, 5_000, 1_000_000)

    def scribble():
        for size in SIZES:
            torch.randn(size)

    def found():
        return [torch.empty(size).view(torch.uint8).unique().tolist() for size in SIZES]

    def found_after_much_else():
        found = set()
        for round in range(300):
            kept = [torch.randn(size) for size in SIZES[:4] for _ in range(round % 5)]
            del kept
            found |= {int(byte) for size in SIZES[:4] for byte in torch.empty(size).view(torch.uint8).unique()}
        return sorted(found)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ForkLauncher, SpawnLauncher])
def test_memory_that_nobody_wrote_is_the_same_in_every_run(kind: Any, tmp_path: Path) -> None:
    own = kind(fill_memory=True)
    opened = open_submission(own, tmp_path / "answer.py", FORGETFUL)
    try:
        opened.submission.scribble()
        assert opened.submission.found() == [[UNWRITTEN]] * 6
        if kind is SpawnLauncher:  # not even small blocks are given out as they were freed
            assert opened.submission.found_after_much_else() == [UNWRITTEN]
    finally:
        opened.session.close()
        own.close()
