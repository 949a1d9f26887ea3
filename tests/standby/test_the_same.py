"""What the warm process does cannot be told from the cold way: output byte for byte, exit code, what is written."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.standby.conftest import PATIENCE_S, RIGHT, WRONG, Place, alike, wait_for, write

pytestmark = pytest.mark.slow

LOUD = RIGHT + "print('Grüße', end='')\nimport sys\nprint('pytest' in sys.modules, 'click' in sys.modules)\n"
CASES: dict[str, tuple[list[str], str, dict[str, str], bytes]] = {
    "passes": (["check"], RIGHT, {}, b""),
    "fails": (["check", "insertion-sort"], WRONG, {}, b""),
    "narrow": (["check", "-v"], WRONG, {"COLUMNS": "50"}, b""),
    "not Unicode": (["check", "-v"], LOUD, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, b""),
    "prints": (["check", "-v"], LOUD, {}, b""),
    "one check": (["check", "-k", "empty"], WRONG, {}, b""),
    "no such check": (["check", "-k", "nothing"], RIGHT, {}, b""),
    "no expression": (["check", "-k", "and and"], RIGHT, {}, b""),
    "stops": (["check", "-x", "-q"], WRONG, {}, b""),
    "json": (["check", "--json", "--seed", "7"], WRONG, {}, b""),
    "lines": (["check", "--format", "vscode"], WRONG, {}, b""),
    "junit": (["check", "--format", "junit"], WRONG, {}, b""),
    "does not load": (["check"], "def insertion_sort(:\n", {}, b""),
    "ends itself": (["check"], RIGHT + "import os\nos._exit(7)\n", {}, b""),
    "help": (["check", "--help"], RIGHT, {}, b""),
    "no such option": (["check", "--nothing"], RIGHT, {}, b""),
    "no such kata": (["check", "insertion-sorb"], RIGHT, {}, b""),
    "debugger": (["check", "--pdb"], WRONG, {}, b"p 6 * 7\nc\nc\nc\n"),
    "prompt": (["try"], WRONG, {}, b"yours\n1 / 0\nimport sys; sys.exit(3)\n"),
    "nothing to try": (["try"], RIGHT, {}, b""),
    "no demo": (["demo", "insertion-sort"], RIGHT, {}, b""),
    "no isolation": (["check", "--json"], RIGHT, {"KATA_ISOLATION": "process"}, b""),
    "no such level": (["check"], RIGHT, {"KATA_ISOLATION": "perfect"}, b""),
    "fresh interpreters": (["check"], RIGHT, {"KATA_LAUNCHER": "spawn"}, b""),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", CASES)
def test_a_command_says_and_leaves_the_same(place: Place, workspace: Path, case: str) -> None:
    arguments, source, variables, given = CASES[case]
    served = place.warmed(workspace).served
    write(workspace, source)
    twin = workspace.with_name("twin")
    shutil.copytree(workspace, twin)
    # In the same folder, one after the other: its name is printed.
    cold = place.run(*arguments, cwd=workspace, warm=False, given=given, env=variables)
    left = written(workspace)
    shutil.rmtree(workspace)
    twin.rename(workspace)
    warm = place.run(*arguments, cwd=workspace, given=given, env=variables)
    assert alike(warm) == alike(cold)
    assert written(workspace) == left
    usual = not variables.get("LC_ALL")  # another locale is another process's
    assert place.warmed(workspace).served == served + usual


def written(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: re.sub(rb"\d\d:\d\d:\d\d", b"", data) for name, data in found.items()}


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("mkdir gone; cd gone; rmdir ../gone; {}", 2),
        ("{} | true", None),
        ("{} > /dev/full", None),
        ("{} >&-", None),
        ("{} <&-", None),
        ("(umask 077; {})", 0),
    ],
)
def test_a_folder_that_is_gone_and_streams_that_are_not_usual(
    place: Place, workspace: Path, shell: str, code: int | None
) -> None:
    place.warmed(workspace)
    line = "set -o pipefail; " + shell.format('"$@" check')
    told = []
    for warm in (False, True):
        process = subprocess.run(
            ["bash", "-c", line, "sh", *place.command()],
            cwd=workspace, env=place.env(warm), capture_output=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        told.append((process.returncode, process.stdout, process.stderr))
    assert told[0] == told[1]
    assert code is None or told[1][0] == code


@pytest.mark.nightly
def test_on_a_terminal_it_is_as_wide_and_as_colourful(place: Place, workspace: Path) -> None:
    place.warmed(workspace)
    write(workspace, WRONG)
    cold, warm = (on_a_terminal(place, workspace, warm=warm) for warm in (False, True))
    assert warm == cold
    assert b"\x1b[" in warm
    lines = re.sub(rb"\x1b\[[0-9;]*m", b"", warm).splitlines()
    assert 50 < max(len(line.decode()) for line in lines if b"repeat" not in line) <= 60


def on_a_terminal(place: Place, folder: Path, *, warm: bool) -> bytes:
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 20, 60, 0, 0))
    process = place.start(
        "check", cwd=folder, warm=warm, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True, env={"TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(PATIENCE_S) == 1
    return shown


SLOW = "import time, pathlib\n" + RIGHT.replace("    done = []\n", "    time.sleep(60)\n    done = []\n")


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_the_same_way(place: Place, workspace: Path, number: int) -> None:
    place.warmed(workspace)
    write(workspace, SLOW)
    cold, warm = (interrupted(place, workspace, number, warm=warm) for warm in (False, True))
    assert warm == cold


@pytest.mark.nightly
def test_a_signal_ends_it_though_whoever_left_the_warm_process_was_started_to_ignore_it(
    place: Place, workspace: Path
) -> None:
    place.end()
    place.warmed(workspace, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    write(workspace, SLOW)
    assert interrupted(place, workspace, signal.SIGHUP, warm=True)[0] == -signal.SIGHUP
    place.end()


def interrupted(place: Place, folder: Path, number: int, *, warm: bool) -> Any:
    process = place.start(
        "check", "--timeout", "50", cwd=folder, warm=warm, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"TMPDIR": str(folder)},
        # `nohup` and shells in the background have some signals ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # fmt: skip
    # A worker has a scratch folder: by then it runs.
    wait_for(lambda: list(folder.glob("kata-*/")) or process.poll() is not None)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def test_who_is_killed_takes_the_run_along(place: Place, workspace: Path) -> None:
    place.warmed(workspace)
    write(workspace, SLOW)

    def running() -> int:
        return sum(one.running for one in place.standing())  # those of other tests may stand by, too

    with place.start(
        "check", "--timeout", "50", cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_for(lambda: running() == 1)
        process.kill()
    wait_for(lambda: running() == 0)


@pytest.mark.nightly
def test_a_verdict_is_never_one_of_another_content(place: Place, workspace: Path) -> None:
    """Edits of the same length in the same second, of the submission and of the pack: content decides."""
    pack = workspace.parent / "pack"
    shutil.copytree(Path(place.variables["KATA_PACKS"]), pack)
    checks = pack / "1.1-sorting" / "insertion-sort" / "checks.py"
    original = checks.read_text()
    file = workspace / "1.1-sorting" / "insertion-sort" / "insertion_sort.py"
    place.warmed(workspace)
    right, wrong = RIGHT, RIGHT.replace("<=", ">=")
    other = original.replace("[1, 2, 3]", "[3, 2, 1]")
    for number in range(12):
        ascending, kept = number % 2 == 0, number % 3 != 0
        for path, text in ((file, right if ascending else wrong), (checks, original if kept else other)):
            path.write_text(text)
            os.utime(path, (1_700_000_000, 1_700_000_000))
        ran = place.run("check", "-k", "three", "--json", cwd=workspace, env={"KATA_PACKS": str(pack)})
        status = json.loads(ran.out)["katas"][0]["checks"][0]["status"]
        assert status == ("pass" if ascending == kept else "fail"), number
