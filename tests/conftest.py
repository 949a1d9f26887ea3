"""What tests of every area share: one zygote for all of them, sessions over handmade submissions, the command line."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest
from click.testing import CliRunner

from grader.commands import COMMANDS
from grader.devices import accelerator_here

T = TypeVar("T")
TESTS = Path(__file__).parent
TINY = TESTS / "packs" / "tiny"
KATA = Path(sys.executable).with_name("kata")

_WITH_WORKERS = (
    "authors", "host", "running", "wire", "worker", "checks", "cli",
    "demos", "devices", "hostile", "katas", "policy", "questions", "timing",
)  # fmt: skip
_NEED = {
    "desk": ["exports/test_assign.py", "grading/test_instructors_term.py", "pages/test_already_deducted.py"],
    "similar": ["extras/desk/test_alike.py", "grading/test_instructors_term.py"],
}
"""By extra, the tests of other things that need it as well."""
collect_ignore = [file for name, files in _NEED.items() if name not in COMMANDS for file in files]
_SLOW_FILE = re.compile(r"^pytestmark = \[?pytest\.mark\.(slow|gate)\b", re.MULTILINE)
_launchers: list[Any] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `make everything` and `make pictures` ask for."""
    parser.addoption("--everything", action="store_true", help="nothing is sampled: all of every kata's gate")
    parser.addoption("--pictures", metavar="FOLDER", type=Path, help="store how every page looks there")


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C mean what it does on a terminal: a shell that runs the tests in the background has it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["KATA_WARM"] = "0"  # no test leaves a process behind but those that are about it
    hypothesis.settings.register_profile("kata", deadline=None)  # else an example is late on a busy machine
    hypothesis.settings.load_profile("kata")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave unread what is slow as a whole where only fast tests are run: to import tests is a third of that time."""
    if "not slow" not in config.option.markexpr or not collection_path.match("test_*.py"):
        return None
    return True if _SLOW_FILE.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Split off the zygote before the first test module that could import a check."""
    if isinstance(collector, pytest.Module) and collector.path.parent.name in _WITH_WORKERS:
        _fork_once()


def pytest_itemcollected(item: pytest.Item) -> None:
    """What is marked `nightly` is slow, which nobody has to say."""
    if item.get_closest_marker("nightly"):
        item.add_marker("slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of what is sampled; begin with what is slow: nobody should wait for one of them at the end."""
    if not config.getoption("everything"):
        cases: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if item.get_closest_marker("sampled"):
                cases[item.nodeid.partition("[")[0]].append(item)
        kept: set[pytest.Item] = set()
        for those in cases.values():
            mark = those[0].get_closest_marker("sampled")
            assert mark is not None
            kept |= set(evenly(those, *mark.args))
        left_out = {item for one in cases.values() for item in one} - kept
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))
    items.sort(key=lambda item: not any(map(item.get_closest_marker, ("gate", "slow"))))


def pytest_unconfigure() -> None:
    while _launchers:
        _launchers.pop().close()


def _fork_once() -> Any:
    if not _launchers:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        import torch

        torch.set_num_threads(1)  # no thread may exist when the zygote forks
        from grader.engine.host.launcher import ForkLauncher

        _launchers.append(ForkLauncher())
    return _launchers[0]


def evenly(names: Sequence[T], most: int, first: int = 0) -> Sequence[T]:
    """Return so many at the most, always the same: by their places, evenly far from each other."""
    return names[first :: -(-len(names) // most) or 1]


class Borrowed:
    """A launcher that survives whoever closes it."""

    def __init__(self, lender: Any) -> None:
        self.name = lender.name
        self.prepare = lender.prepare
        self.launch = lender.launch
        self.reap = lender.reap

    def close(self) -> None:
        """Leave it open for the next test."""


@pytest.fixture(scope="session")
def launcher() -> Any:
    """Workers forked from the one zygote of this test run: 10 ms each instead of an import of torch."""
    if sys.platform != "linux":
        pytest.skip("workers are forked on Linux only")
    return Borrowed(_fork_once())


@pytest.fixture
def explicit_gradients(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What this process will have given torch's `backward` or `grad` beside scalars: it imports sympy for the first."""
    import torch

    found: list[object] = []
    make: Callable[..., Any] = torch.autograd._make_grads

    def making(outputs: Any, gradients: Any, **options: Any) -> Any:
        found.extend(gradient for gradient in gradients if gradient is not None)
        return make(outputs, gradients, **options)

    monkeypatch.setattr(torch.autograd, "_make_grads", making)
    return found


@pytest.fixture(scope="session")
def everything(pytestconfig: pytest.Config) -> bool:
    """Whether nothing is sampled: `make everything`."""
    return bool(pytestconfig.getoption("everything"))


@pytest.fixture
def picture(pytestconfig: pytest.Config) -> Callable[[Any, str], None]:
    """Store how a page looks in its window's width and colours, under a name, where `make pictures` asks for it."""
    into = pytestconfig.getoption("pictures")

    def store(page: Any, name: str) -> None:
        if into is not None:
            scheme = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'")
            file = into / f"{name}-{page.viewport_size['width']}-{scheme}.png"
            page.screenshot(path=file, full_page=True)

    return store


@pytest.fixture(scope="session")
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, Callable[[], bytes]], bytes]:
    """Make something once in a test run, whichever of its processes asks first: `shared("name", make)`."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if hasattr(request.config, "workerinput") else own) / "shared"
    folder.mkdir(exist_ok=True)

    def find(name: str, make: Callable[[], bytes]) -> bytes:
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            kept = folder / name
            if not kept.exists():
                made = make()
                kept.write_bytes(made)
            return kept.read_bytes()

    return find


@dataclass
class Opened:
    """A submission under examination, as a check sees it."""

    session: Any
    submission: Any
    calls: Any

    def begin(self, seed: int = 0, timeout_s: float | None = None) -> None:
        """Start the next check."""
        self.calls.clear()
        self.session.begin(seed, timeout_s)

    def output(self) -> str:
        """Return what was printed since the last time."""
        text: str = self.session.take_output()
        return text


Examine = Callable[..., Opened]


def open_submission(launcher: Any, path: Path, source: str | bytes, **terms: Any) -> Opened:
    """Write a submission, start a worker for it and begin a check."""
    from grader.engine.host.calls import Calls
    from grader.engine.host.remote import RemoteSubmission
    from grader.engine.host.session import Session
    from grader.engine.host.source import Terms, read_source

    path.write_bytes(source if isinstance(source, bytes) else textwrap.dedent(source).encode())
    device = terms.pop("device", "cpu")
    own = Terms(**{"module": path.stem, "required": (), **terms})
    session = Session(launcher, read_source(path), own, device=device)
    calls = Calls()
    opened = Opened(session, RemoteSubmission(session, calls), calls)
    try:
        opened.begin()
    except BaseException:
        session.close()
        raise
    return opened


@pytest.fixture
def examine(launcher: Any, tmp_path: Path) -> Iterator[Examine]:
    """Open submissions given as source text: `examine("def f(x): return x").submission.f(1)`."""
    opened: list[Opened] = []

    def examine(source: str | bytes, name: str = "answer.py", **terms: Any) -> Opened:
        own = terms.pop("launcher", launcher)
        opened.append(open_submission(own, tmp_path / name, source, **terms))
        return opened[-1]

    yield examine
    for one in opened:
        one.session.close()


@pytest.fixture
def accelerator() -> str:
    """An accelerator of this machine."""
    found = accelerator_here()
    if found is None:
        pytest.skip("there is no accelerator")
    return found.name


class Printed(str):
    """What a command printed; words are found in it however its lines are wrapped.

    Where they are hangs on how long a name is, such as that of a test's folder.
    """

    def __contains__(self, words: str) -> bool:  # type: ignore[override]
        return super().__contains__(words) or words in " ".join(self.split())


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: Printed
    err: Printed

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON document and nothing else."""
        return json.loads(self.out)

    @property
    def text(self) -> Printed:
        """Everything that a person sees, checked for what nobody should."""
        assert "Traceback" not in self.err
        assert "internal error" not in self.err
        return Printed(self.out + self.err)

    def done(self) -> Ran:
        """Assert that it ended well."""
        assert self.code == 0, self.text
        return self

    def refused(self, *words: str) -> None:
        """Assert that it was not done, as what was typed is wrong: that is said in these words, and nothing printed."""
        assert (self.code, self.out) == (2, ""), self.text
        for said in words:
            assert said in self.text


Run = Callable[..., Ran]
"""Runs a command: what `kata` and `kata_process` are."""


@pytest.fixture
def kata(launcher: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process, with workers of the shared zygote: `kata("check", "masks")`."""

    def run(*arguments: object) -> Ran:
        from grader.cli.main import cli

        for command in {"check", "questions"} & {*COMMANDS}:
            module = COMMANDS[command].partition(":")[0]
            monkeypatch.setattr(f"{module}.start_launcher", lambda **_: launcher)
        capfd.readouterr()
        code: Any = 0
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        out, err = capfd.readouterr()
        return Ran(code or 0, Printed(out), Printed(err))

    return run


def invoke(*arguments: object) -> Ran:
    """Run a command that needs no worker in this process."""
    from grader.cli.main import cli

    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    return Ran(done.exit_code, Printed(done.stdout), Printed(done.stderr))


def completed(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and keep what it prints."""
    return subprocess.run(command, capture_output=True, text=True, **{"check": False, **options})


@pytest.fixture
def kata_process() -> Run:
    """Run the installed command in a process of its own: `kata_process("check", cwd=folder)`."""

    def run(*arguments: object, cwd: Path, env: dict[str, str] | None = None, **extra: Any) -> Ran:
        command = [str(KATA), *map(str, arguments)]
        done = completed(command, cwd=cwd, env={**os.environ, **(env or {})}, timeout=120, **extra)
        return Ran(done.returncode, Printed(done.stdout), Printed(done.stderr))

    return run


@pytest.fixture(scope="session")
def _warm_place() -> Iterator[Path]:
    """Where the warm processes of this run stand by; the first command that could use one leaves it there."""
    if sys.platform != "linux":
        pytest.skip("commands are kept warm on Linux only")
    folder = Path(tempfile.mkdtemp(prefix="kata-w-"))  # short: the name of a socket has 108 bytes at most
    yield folder
    from grader.cli.warm_process import end_all

    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("XDG_RUNTIME_DIR", str(folder))
        end_all()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def kept_warm(_warm_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that are run as processes import torch once for all of them; `tests/standby` is about that."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(_warm_place))
    for name in ("KATA_WARM", "CI"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def _state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Which workspaces are one's own is noted for this run alone."""
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to start katas in; it is the current one."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.delenv("KATA_PACKS", raising=False)
    monkeypatch.delenv("KATA_SOLUTIONS", raising=False)
    return home


@pytest.fixture
def stub(kata: Run, folder: Path) -> Path:
    """The stub of masks, just started."""
    assert kata("start", "masks").code == 0
    return folder / "9.3-encoder-vs-decoder" / "masks" / "masks.py"


BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; where there is none, a machine that tests for everybody must not pass silently."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        reason = "no Chromium on this machine (Debian: apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        opened = tool.chromium.launch(executable_path=found, args=BROWSER_FLAGS, headless=True)
        yield opened
        opened.close()


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """Look at an address in a window of its own; at the end only its own was asked for, and nothing complained."""
    contexts, heard = [], []

    def open_at(address: str, width: int = 1200, own: str | None = None, **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda told: heard.append(f"console: {told.text}"))
        page.on("pageerror", lambda error: heard.append(f"error: {error}"))
        # That the browser asks before it leaves a page is for a test to answer.
        page.on("dialog", lambda it: it.type == "beforeunload" or heard.append(f"dialog: {it.message}"))

        def asked(request: Any) -> None:
            if request.url != address and not (own and request.url.startswith(own)):
                heard.append(request.url)

        page.on("request", asked)
        page.goto(address)
        return page

    yield open_at
    for context in contexts:
        context.close()
    # A desk answers 404 where a test asks for what is not there, and 400 to a form that it refuses.
    assert [told for told in heard if not re.match("console: .*40[04]", told)] == []
