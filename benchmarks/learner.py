"""How long a learner waits: `kata check`, `kata watch`, a notebook, the light commands, the boundary.

    python benchmarks/learner.py            everything, a few minutes
    python benchmarks/learner.py --quick    a look, under a minute
    python benchmarks/learner.py --write    and rewrite what docs/benchmarks.md has of it, part by part

What is compared is measured in turns (A B A B …) in one run, so that whatever else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import runpy
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from operator import truediv
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from table import Figures, arguments, publish, spread, verdict

from grader.catalogue import Catalogue, Kata
from grader.cli.warm_process import end_all, running_daemons
from grader.machine import processor_time

if TYPE_CHECKING:
    from grader.engine.host.launcher import Launcher

ROOT = Path(__file__).resolve().parent.parent
KATA = Path(sys.executable).with_name("kata")
PATIENCE_S = 60

WARM_S, WARM_PART, IDLE_S = 0.3, 0.3 / 1.4, 5.0
FIRST_LINE_S, WATCH_RATIO, LIGHT_S, BOUNDARY_MS = 0.2, 0.15, 0.25, 1.0
"""The goals."""


def main() -> None:
    """Measure, print, and write when asked to."""
    chosen = _arguments()
    rounds = 3 if chosen.quick else chosen.rounds
    CHOSEN.update(chosen.katas)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # learners keep what Python compiled
    katas = f" --katas {' '.join(chosen.katas)}" if chosen.katas else ""
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as name:
        folder = Path(name)
        for part in chosen.only:
            how = f"measured with `python benchmarks/learner.py --only {part} --rounds {rounds}{katas}`"
            publish(
                PARTS[part](folder / part, rounds),
                "benchmarks.md",
                f"learner, {part}",
                write=chosen.write,
                how=how,
            )


# A whole check, cold, with a watch that is already running ----------------------------------------------------------


@dataclass
class Waits:
    """What was measured of one kata, in seconds."""

    cold: list[float] = field(default_factory=list)
    first_line: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    verdict: list[float] = field(default_factory=list)
    watch: list[float] = field(default_factory=list)


def cold(folder: Path, rounds: int) -> list[Figures]:
    """Measure `kata check` and `kata watch` in turns, each kata with its reference as the answer."""
    katas = alone()
    waits = {kata.slug: Waits() for kata in katas}
    space = _workspace(folder, katas)
    with ExitStack() as stack:
        stack.enter_context(_warm_processes_in(folder))
        _stand_by(space, katas[0])
        watches = {kata.slug: stack.enter_context(_watching(space, kata)) for kata in katas}
        for number in range(rounds + 1):
            _progress("whole checks", number, rounds)
            for kata in katas:
                file = _file(space, kata)
                whole = _timed_check(space, kata)
                warm = _timed_check(space, kata, warm=True)
                again = watches[kata.slug](file, number)
                if number:  # the first round only warms the caches
                    one = waits[kata.slug]
                    one.cold.append(whole.end)
                    one.warm.append(warm.end)
                    one.verdict.append(warm.verdict)
                    one.first_line.append(whole.first_line)
                    one.watch.append(again)
        again_table = _warm_table(waits)
    against, watching = _cold_tables()
    for kata in katas:
        one = waits[kata.slug]
        ours, watch = map(statistics.median, (one.cold, one.watch))
        first = statistics.median(one.first_line)
        against.rows.append(
            [
                kata.slug,
                spread(one.cold),
                spread(one.first_line, 3),
                verdict(first, FIRST_LINE_S),
            ]
        )
        watching.rows.append(
            [
                kata.slug,
                spread(one.watch, 3),
                spread(one.cold),
                f"{watch / ours:.3f}",
                verdict(watch / ours, WATCH_RATIO),
            ]
        )
    return [against, again_table, watching]


@contextmanager
def _warm_processes_in(folder: Path) -> Iterator[None]:
    """Let warm processes stand by in a folder and nowhere else, and end them."""
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    try:
        yield
    finally:
        end_all()


def _stand_by(space: Path, kata: Kata) -> None:
    """Leave a warm process running, as a first check does, and wait until it answers."""
    _timed_check(space, kata, warm=True)
    _wait_for_warm_process()


def _wait_for_warm_process() -> None:
    until = time.monotonic() + 120
    while not running_daemons():
        if time.monotonic() > until:
            raise SystemExit("no warm process came to stand by; is KATA_WARM or CI set?")
        time.sleep(0.1)


def _warm_table(waits: dict[str, Waits]) -> Figures:
    table = Figures(
        "`kata check` of one kata, when a process stands by",
        "The same command as above, in the same turns, after a first one has left its warm process running: to the "
        f"verdict, and to the end of the process. {WARM_S:g} s were asked for where cold takes 1.4 s, which is "
        f"{WARM_PART:.2f} of it. " + _what_stands_by(),
        [
            "kata",
            "to the verdict",
            f"≤ {WARM_S:g} s",
            "of cold",
            f"≤ {WARM_PART:.2f}",
            "to the end",
        ],
    )
    for slug, one in waits.items():
        part = statistics.median(map(truediv, one.verdict, one.cold))
        judged, end = map(statistics.median, (one.verdict, one.warm))
        table.rows.append(
            [
                slug,
                spread(one.verdict, 3),
                verdict(judged, WARM_S),
                f"{part:.2f}",
                verdict(part, WARM_PART),
                f"{end:.3f} s",
            ]
        )
    return table


def _what_stands_by() -> str:
    """Return what the warm process takes, after all that it was asked."""
    one = running_daemons()[0]
    used = processor_time(one.pid) or 0.0
    time.sleep(IDLE_S)
    idle = (processor_time(one.pid) or 0.0) - used
    rollup = Path(f"/proc/{one.pid}/smaps_rollup").read_text()
    kept = {line.split()[0]: int(line.split()[1]) / 1024 for line in rollup.splitlines()[1:]}
    return (
        f"It takes {kept['Pss:']:.0f} MB of memory ({kept['Rss:']:.0f} MB with all of what it shares), and in "
        f"{IDLE_S:g} s without a command {idle * 1000:.1f} ms of processor time."
    )


def _cold_tables() -> tuple[Figures, Figures]:
    return (
        Figures(
            "`kata check` of one kata, cold",
            "Whole processes, timed from outside. The first line is the first byte on stderr. Median, and the middle "
            "half of the runs.",
            [
                "kata",
                "`kata check`",
                "first line",
                f"≤ {FIRST_LINE_S:g} s",
            ],
        ),
        Figures(
            "`kata watch`, from save to verdict",
            "The file is replaced as an editor does it; the verdict is the line that `kata watch --json` prints. "
            "The ratio is to `kata check` of the same kata in the same run.",
            ["kata", "save to verdict", "`kata check`, cold", "ratio", f"≤ {WATCH_RATIO:g}"],
        ),
    )


def alone() -> tuple[Kata, ...]:
    """Return the katas whose checks need no file next to them."""
    return tuple(kata for kata in Catalogue.discover().katas if not (kata.given or kata.support))


def _workspace(folder: Path, katas: tuple[Kata, ...]) -> Path:
    """Make a workspace in which every kata has its reference for an answer."""
    folder.mkdir()
    for unit in {kata.unit.number for kata in katas}:
        subprocess.run([KATA, "start", unit], cwd=folder, check=True, capture_output=True)
    for kata in katas:
        if kata.solution is None:
            raise SystemExit(f"there is no solution of {kata.slug} here, so nothing to measure with")
        shutil.copy(kata.solution, _file(folder, kata))
    return folder


def _file(space: Path, kata: Kata) -> Path:
    return space / kata.unit.folder.name / kata.slug / f"{kata.module}.py"


@dataclass(frozen=True)
class Timed:
    """Seconds of one `kata check`: to the first byte on stderr, to the verdict on stdout, to the end of the process."""

    first_line: float
    verdict: float
    end: float


def _timed_check(space: Path, kata: Kata, *, warm: bool = False) -> Timed:
    """Time one `kata check`."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [KATA, "check", kata.slug],
        cwd=space,
        env={**os.environ, "KATA_WARM": "" if warm else "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stderr.read(1)
    first = time.perf_counter() - began
    told = b""
    while b"passed" not in told and (part := process.stdout.read(1 << 16)):
        told += part
    judged = time.perf_counter() - began
    process.communicate()
    if process.wait() != 0:
        raise SystemExit(f"kata check {kata.slug} does not pass its reference")
    return Timed(first, judged, time.perf_counter() - began)


@contextmanager
def _watching(space: Path, kata: Kata) -> Iterator[Callable[[Path, int], float]]:
    """Run `kata watch` in the background; yield what saves the file and returns the seconds to the verdict."""
    process = subprocess.Popen(
        [KATA, "watch", kata.slug, "--json"],
        cwd=space,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
    assert process.stdout is not None
    lines = process.stdout

    def next_line() -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([lines], [], [], PATIENCE_S)[0]:
                raise SystemExit(f"kata watch {kata.slug} says nothing")
            part = lines.read(1 << 20)
            if not part:
                raise SystemExit(f"kata watch {kata.slug} ended")
            line += part
        return line

    def save(file: Path, number: int) -> float:
        time.sleep(random.uniform(0.1, 0.4))  # people do not save in step with anything
        draft = file.with_name(f".{file.name}.new")
        draft.write_bytes(file.read_bytes().partition(b"\n# saved ")[0] + b"\n# saved %d\n" % number)
        began = time.perf_counter()
        os.replace(draft, file)
        report = json.loads(next_line())
        waited = time.perf_counter() - began
        if report["status"] != "pass":
            raise SystemExit(f"kata watch {kata.slug} does not pass its reference")
        return waited

    try:
        next_line()
        yield save
    finally:
        process.terminate()
        process.wait()


# A notebook ----------------------------------------------------------------------------------------------------------


def notebook(folder: Path, rounds: int) -> list[Figures]:
    """Measure `%kata check` in a kernel of its own, each kata with its reference in a cell."""
    katas = tuple(kata for kata in alone() if not CHOSEN or kata.slug in CHOSEN)
    space = _workspace(folder, katas)
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    table = Figures(
        "`%kata check` in a notebook",
        "From the request to run the cell to the verdict's HTML, as the notebook's server gets both from the kernel, "
        "which is a new one for each kata; the answer is run anew before each check, as one runs a cell after an edit. "
        "*The first time* nothing stands by. A page adds what a browser takes to show it. "
        f"{WARM_S:g} s were asked for where `kata check` takes 1.4 s cold.",
        [
            "kata",
            "`kata check`, cold",
            "the first time",
            "again",
            f"≤ {WARM_S:g} s",
            "of cold",
            f"≤ {WARM_PART:.2f}",
        ],
    )
    with _warm_processes_in(folder):
        for kata in katas:
            end_all()
            cold, again = [], []
            with _kernel(folder) as verdict_after:
                first = verdict_after(kata, 0)
                _wait_for_warm_process()
                for number in range(1, rounds + 1):
                    _progress(f"cells that check {kata.slug}", number, rounds)
                    cold.append(_timed_check(space, kata).end)
                    again.append(verdict_after(kata, number))
            ours, part = statistics.median(again), statistics.median(map(truediv, again, cold))
            table.rows.append(
                [
                    kata.slug,
                    f"{statistics.median(cold):.2f} s",
                    f"{first:.2f} s",
                    spread(again, 3),
                    verdict(ours, WARM_S),
                    f"{part:.2f}",
                    verdict(part, WARM_PART),
                ]
            )
    return [table]


@contextmanager
def _kernel(folder: Path) -> Iterator[Callable[[Kata, int], float]]:
    """Start a kernel; yield what runs a kata's reference in it and returns the seconds that its check then takes."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(folder))

    def run(code: str) -> tuple[float, str]:
        """Return the seconds until the cell's result came, and its HTML."""
        came, html = math.nan, ""

        def hear(message: dict[str, Any]) -> None:
            nonlocal came, html
            kind, content = message["msg_type"], message["content"]
            if kind == "error":
                raise SystemExit("\n".join(content["traceback"]))
            if kind in ("execute_result", "display_data") and "text/html" in content["data"]:
                came, html = time.perf_counter() - began, content["data"]["text/html"]

        began = time.perf_counter()
        client.execute_interactive(code, timeout=PATIENCE_S, output_hook=hear)
        return came, html

    def verdict_after(kata: Kata, number: int) -> float:
        assert kata.solution is not None
        run(kata.solution.read_text() + f"\n# run {number}\n")
        took, html = run(f"%kata check {kata.slug}")
        if "passed" not in html:
            raise SystemExit(f"%kata check {kata.slug} does not pass its reference")
        return took

    try:
        run("%load_ext kata")
        yield verdict_after
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# Commands that need no tensors ---------------------------------------------------------------------------------------


def light(folder: Path, rounds: int) -> list[Figures]:
    """Measure the commands that never import torch, with the output they give on a terminal."""
    katas = alone()
    folder.mkdir()
    space = _workspace(folder / "space", katas)
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "100"}
    slug, unit = katas[0].slug, katas[0].unit.number
    commands = [[], ["list"], ["show", slug], ["start", unit], ["hint", slug]]
    taken: list[list[float]] = [[] for _ in commands]
    for number in range(4 * rounds + 1):
        _progress("light commands", number, 4 * rounds)
        for command, times in zip(commands, taken, strict=True):
            where = space
            if command[:1] == ["start"]:
                where = folder / f"start-{number}"
                where.mkdir()
            began = time.perf_counter()
            subprocess.run([KATA, *command], cwd=where, env=environment, check=True, capture_output=True)
            if number:
                times.append(time.perf_counter() - began)
    table = Figures(
        "Commands that need no tensors",
        "Whole processes, timed from outside, with the colours and rendering of a terminal. `start` writes a fresh "
        "workspace each time. None of them imports torch or numpy.",
        ["command", "takes", f"≤ {LIGHT_S:g} s"],
    )
    for command, times in zip(commands, taken, strict=True):
        name = " ".join(["kata", *command])
        table.rows.append([f"`{name}`", spread(times, 3), verdict(statistics.median(times), LIGHT_S)])
    return [table]


# What the boundary adds ----------------------------------------------------------------------------------------------

SIZES = {"1 KB": 1 << 8, "64 KB": 1 << 14, "256 KB": 1 << 16, "1 MB": 1 << 18}
"""float32 elements."""
ANSWER = "def shifted(x):\n    return x + 1\n"


def boundary(folder: Path, rounds: int) -> list[Figures]:
    """Measure the same calls and the same checks in this process and through the boundary."""
    from grader.engine.host.bootstrap import start_launcher

    launcher = start_launcher()  # before anything else is loaded, as `kata check` does
    try:
        folder.mkdir()
        return [_calls(folder, launcher, 40 * rounds)]
    finally:
        launcher.close()


def _calls(folder: Path, launcher: Launcher, repetitions: int) -> Figures:
    import torch

    from grader.engine.host.calls import Calls
    from grader.engine.host.remote import RemoteSubmission
    from grader.engine.host.session import Session
    from grader.engine.host.source import Terms, read_source

    file = folder / "answer.py"
    file.write_text(ANSWER)
    source, terms = (
        read_source(file),
        Terms("answer", ("shifted",), check_timeout_s=600, submission_timeout_s=3600),
    )
    table = Figures(
        "One call through the boundary",
        "A check that calls a function with one float32 tensor and gets one of the same size back: look-up, call, "
        "answer. *Both ways* sends a gradient as well: the tensor requires grad, and `backward` of a random cotangent "
        "follows. In process means the plain function.",
        [
            "tensor",
            "in process",
            "boundary",
            "adds",
            "both ways: in process",
            "boundary",
            "adds",
            f"≤ {BOUNDARY_MS:g} ms",
        ],
    )
    session, calls = Session(launcher, source, terms), Calls()
    inside: Callable[[torch.Tensor], torch.Tensor] = runpy.run_path(str(file))["shifted"]
    with closing(session):
        session.begin(0)
        remote = RemoteSubmission(session, calls)

        def across(x: torch.Tensor) -> torch.Tensor:
            calls.clear()  # as between checks
            result: torch.Tensor = remote.shifted(x)
            return result

        for name, count in SIZES.items():
            x, cotangent = torch.randn(count), torch.randn(count)
            _progress(f"calls with {name}", repetitions, repetitions)
            pairs = [_in_turns(repetitions, lambda x=x: inside(x), lambda x=x: across(x))]  # type: ignore[misc]
            x = x.requires_grad_()

            def both(
                call: Callable[[torch.Tensor], torch.Tensor],
                x: torch.Tensor = x,
                cotangent: torch.Tensor = cotangent,
            ) -> None:
                x.grad = None
                call(x).backward(cotangent)  # type: ignore[no-untyped-call]

            pairs.append(_in_turns(repetitions, lambda: both(inside), lambda: both(across)))
            cells = [name]
            for here, there in pairs:
                cells += [f"{here:.3f} ms", f"{there:.3f} ms", f"{there - here:.2f} ms"]
            table.rows.append([*cells, verdict(max(there - here for here, there in pairs), BOUNDARY_MS)])
    return table


def _in_turns(repetitions: int, *functions: Callable[[], object]) -> tuple[float, ...]:
    """Return the median milliseconds of functions, called in turns."""
    times: tuple[list[float], ...] = tuple([] for _ in functions)
    for number in range(repetitions + 3):
        for function, own in zip(functions, times, strict=True):
            began = time.perf_counter()
            function()
            if number >= 3:
                own.append((time.perf_counter() - began) * 1000)
    return tuple(statistics.median(own) for own in times)


# ---------------------------------------------------------------------------------------------------------------------

ROUNDS = 11
PARTS: dict[str, Callable[[Path, int], list[Figures]]] = {
    "cold": cold,
    "notebook": notebook,
    "light": light,
    "boundary": boundary,
}
CHOSEN: set[str] = set()
"""The katas of the notebook's part; all where none is named."""


def _arguments() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="how often whole processes are run (default %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="3 rounds: a look, no figures to quote")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=f"of {', '.join(PARTS)}"
    )
    parser.add_argument(
        "--katas", nargs="+", default=[], metavar="KATA", help="of which the notebook is measured"
    )
    return parser.parse_args()


def _progress(what: str, done: int, whole: int) -> None:
    if sys.stderr.isatty():
        print(
            f"\r\x1b[K{what}: {done} of {whole}",
            end="\n" if done == whole else "",
            file=sys.stderr,
            flush=True,
        )
    else:
        print(f"{what}: {done} of {whole}", file=sys.stderr)


if __name__ == "__main__":
    main()
