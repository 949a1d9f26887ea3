"""`kata watch`, driven through a terminal: what is waited for is output, never time."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import ours
from tests.conftest import KATA, Run

pytestmark = pytest.mark.slow

RIGHT, WRONG = ours.MASKS, ours.masks("return torch.ones(seq_len, seq_len).triu().bool()")
PATIENCE_S = 60.0


class Screen:
    """A command that runs in a terminal of its own."""

    def __init__(self, *arguments: str, cwd: Path) -> None:
        self.terminal, self._far = pty.openpty()
        self.before = termios.tcgetattr(self._far)
        self._seen = ""
        self._process = subprocess.Popen(
            [str(KATA), *arguments],
            cwd=cwd,
            stdin=self._far,
            stdout=self._far,
            stderr=self._far,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "50"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def until(self, words: str) -> str:
        """Read until `words` are on the screen; return what came up to and with them."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := self._seen.find(words)) < 0:
            ended = self._process.poll() is not None
            if not select.select([self.terminal], [], [], 0 if ended else 0.2)[0]:
                if ended or time.monotonic() > deadline:
                    how = "it ended" if ended else "nothing came"
                    raise AssertionError(f"{how} before {words!r}; the screen:\n{self._seen}")
                continue
            data = os.read(self.terminal, 65_536)
            self._seen += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", data.decode("utf-8", "replace"))
        text, self._seen = self._seen[: found + len(words)], self._seen[found + len(words) :]
        return text

    def verdict(self) -> str:
        """Read on to the end of the last line: behind the verdict stands what is waited for."""
        return self.until("waiting for a save of ") + self.until(".py")

    def press(self, key: str) -> None:
        """Send a key, without Enter."""
        os.write(self.terminal, key.encode())

    def mode(self) -> list[Any]:
        """Return the terminal's settings."""
        return termios.tcgetattr(self._far)

    def signal(self, number: int) -> None:
        """Send a signal to the command."""
        self._process.send_signal(number)

    def end(self) -> int:
        """Wait for the command, reading what it still says; return its exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self._process.poll() is None and time.monotonic() < deadline:
            if select.select([self.terminal], [], [], 0.02)[0]:
                self._seen += os.read(self.terminal, 65_536).decode("utf-8", "replace")
        return self._process.wait(1)

    def close(self) -> None:
        """End whatever still runs."""
        self._process.kill()
        self._process.wait()
        os.close(self.terminal)
        os.close(self._far)


@pytest.fixture
def screen() -> Iterator[Callable[..., Screen]]:
    opened: list[Screen] = []

    def open_screen(*arguments: str, cwd: Path) -> Screen:
        opened.append(Screen(*arguments, cwd=cwd))
        return opened[-1]

    yield open_screen
    for one in opened:
        one.close()


@pytest.fixture
def unit(kata: Run, folder: Path) -> Path:
    assert kata("start", "9.3").code == 0
    return folder / "9.3-encoder-vs-decoder"


@pytest.mark.nightly
def test_saves_and_keys(screen: Callable[..., Screen], unit: Path) -> None:
    file = unit / "masks" / "masks.py"
    watching = screen("watch", cwd=unit)
    watching.until("checking masks, masked-attention")
    assert watching.mode()[3] & termios.ECHO == 0  # a key that is pressed while torch is imported is no text
    text = watching.verdict()
    assert "9.3.1 masks" in text
    assert "not started" in text
    assert "kata 1 of" in text
    assert "q quit" in text
    assert watching.mode()[3] & termios.ICANON == 0  # keys come without Enter

    file.write_text(WRONG)
    text = watching.verdict()
    assert "called  causal_mask(seq_len=4)" in text
    assert "waiting for a save of masks.py" in text

    # As editors save: a new file, moved over the old one.
    new = file.with_name("masks.py.new")
    new.write_text(RIGHT)
    new.replace(file)
    text = watching.until("Press n for masked-attention")
    assert "10/10 points" in text
    assert "masked-attention   0" not in text  # it does not go on by itself

    watching.verdict()
    watching.press("r")
    assert "9.3.1 masks" in watching.until("Press n for masked-attention")
    watching.verdict()
    watching.press("n")
    assert "9.3.2 masked-attention" in watching.verdict()
    file.write_text(WRONG)  # not in view: the next verdict is of the key, not of this save
    watching.press("h")
    watching.until("hint 1")
    assert "9.3.2 masked-attention" in watching.verdict()  # again the last line
    watching.press("p")
    assert "called  causal_mask(seq_len=4)" in watching.verdict()
    watching.press("v")
    text = watching.verdict()
    assert "9.3.1 masks" in text
    watching.press("x")  # no key of ours
    watching.press("q")
    assert watching.end() == 0
    assert watching.mode() == watching.before

    progress = json.loads((unit.parent / "kata-progress.json").read_text())["katas"]["masks"]
    assert progress["passed"]
    assert progress["status"] == "fail"


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["interrupt", "end of input"])
def test_leaving_restores_the_terminal(screen: Callable[..., Screen], unit: Path, how: str) -> None:
    watching = screen("watch", "masks", cwd=unit)
    assert "n next kata" in watching.verdict()
    watching.press("\x03" if how == "interrupt" else "\x04")
    assert watching.end() == 0
    assert watching.mode() == watching.before


@pytest.mark.nightly
def test_a_stop_from_outside_restores_the_terminal_too(screen: Callable[..., Screen], unit: Path) -> None:
    watching = screen("watch", "masks", cwd=unit)
    watching.verdict()
    watching.signal(signal.SIGTERM)
    assert watching.end() != 0
    assert watching.mode() == watching.before


@pytest.mark.nightly
def test_what_is_saved_while_it_starts_is_not_missed(screen: Callable[..., Screen], unit: Path) -> None:
    file = unit / "masks" / "masks.py"
    watching = screen("watch", "masks", cwd=unit)
    watching.until("checking masks")
    file.write_text(WRONG)
    watching.until("called  causal_mask(seq_len=4)")
    for text, words in (
        (RIGHT, "10/10 points"),
        ("x = = 1\n", "masks.py does not load"),
        (RIGHT, "10/10 points"),
    ):
        file.write_text(text)
        watching.until(words)
    file.unlink()
    watching.until("is not there")
    file.write_text(RIGHT)
    watching.until("10/10 points")


@pytest.mark.nightly
def test_a_kata_named_alone_goes_on_to_the_next(screen: Callable[..., Screen], unit: Path) -> None:
    (unit / "masked-attention" / "masked_attention.py").write_text("")
    (unit / "masks" / "masks.py").write_text(RIGHT)
    watching = screen("watch", "masks", cwd=unit)
    text = watching.until("Press n for masked-attention")
    assert "See it at work:  kata demo masks" in text
    watching.verdict()
    watching.press("n")
    assert "9.3.2 masked-attention" in watching.verdict()
    watching.press("q")
    assert watching.end() == 0


@pytest.mark.nightly
def test_the_last_kata_says_what_to_type(screen: Callable[..., Screen], unit: Path) -> None:
    other = unit.parent / "alone"
    other.mkdir()
    assert subprocess.run([str(KATA), "start", "masks", "--here"], cwd=other, check=True)
    (other / unit.name / "masks" / "masks.py").write_text(RIGHT)
    watching = screen("watch", "masks", cwd=other)
    watching.until("Next:  kata start masked-attention")
    watching.verdict()


@pytest.mark.nightly
def test_a_loop_is_given_up_when_a_better_file_is_saved(screen: Callable[..., Screen], unit: Path) -> None:
    file = unit / "masks" / "masks.py"
    file.write_text(RIGHT + "\n\ndef causal_mask(n):\n    while True: pass\n")
    watching = screen("watch", "masks", "--timeout", "0.5", cwd=unit)
    watching.until("no answer within 0.5 s")
    file.write_text(RIGHT)
    watching.until("10/10 points")


@pytest.mark.nightly
def test_json_is_one_report_a_line(unit: Path) -> None:
    file = unit / "masks" / "masks.py"
    with subprocess.Popen(
        [str(KATA), "watch", "masks", "--json"],
        cwd=unit,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "KATA_PACKS"},
    ) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        try:
            assert json.loads(watching.stdout.readline())["status"] == "not_started"
            for text, status in ((WRONG, "fail"), (RIGHT, "pass")):
                file.write_text(text)
                report = json.loads(watching.stdout.readline())
                assert (report["kata"], report["status"], report["schema"]) == ("masks", status, 1)
            watching.send_signal(signal.SIGINT)
            assert watching.wait(PATIENCE_S) == 0
            assert watching.stderr.read() == ""
        finally:
            watching.kill()


def test_nothing_to_watch_is_said(kata: Run, folder: Path) -> None:
    kata("watch").refused("not in a kata workspace")


def test_what_is_waited_for_is_said(screen: Callable[..., Screen], stub: Path) -> None:
    stub.write_text(ours.masks("while True:\n        pass"))
    checking = screen("check", "masks", "--timeout", "6", cwd=stub.parent)
    assert "a causal mask is boolean [T, T]" in checking.until(" s of 6")
    checking.until("is there a loop that never ends?")
    assert checking.end() == 1
