"""Make questions about many hand-ins: a program of its own, whose workers are forked from memory that holds no marks.

It reads a list of tasks from standard input, and answers each in a frame.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import msgspec

from grader.api import frames, start_launcher


class HandInToAsk(msgspec.Struct, frozen=True):
    """A hand-in to ask about."""

    kata: str
    file: str
    who: str
    wanted: int


def main() -> None:
    """Answer every task, in order: with questions, or with a sentence why there are none."""
    launcher = start_launcher(many=True)
    from grader.api import Catalogue, KataError, Unreadable, read_source, suites_of
    from grader.extras.questions.quiz import QuizQuestion, ask

    tasks = frames.Decoder(list[HandInToAsk]).decode(sys.stdin.buffer.read())

    with contextlib.closing(launcher):
        wanted = {task.kata for task in tasks}
        katas = [kata for kata in Catalogue.discover().katas if kata.slug in wanted]
        if not katas:
            return
        with suites_of(katas) as suites:
            for task in tasks:
                answer: list[QuizQuestion] | str
                try:
                    source = read_source(Path(task.file))
                    answer = ask(suites[task.kata], launcher, source, task.who, task.wanted)
                except (KataError, Unreadable) as error:
                    answer = error.message
                frames.write_frame(sys.stdout.buffer, frames.encode(answer))


if __name__ == "__main__":
    main()
