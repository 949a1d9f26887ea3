"""Real exceptions of torch and Python: each is shown in its own words, and what is said about it is true."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import torch

from grader.engine.checks.text import WHOLE, clean
from tests.running.conftest import Bench

pytestmark = pytest.mark.slow
LINES = [
    tuple(part.strip() for part in line.partition(" ## ")[::2])
    for line in Path(__file__).with_name("exceptions.txt").read_text(encoding="utf-8").splitlines()
]
"""Code that raises, and what is said to be likely: in each line the sentence has been compared with the exception."""


def first_line(code: str) -> str:
    """Return how the exception begins that this code raises here."""
    try:
        eval(code, {"torch": torch, "math": math, "x": torch.randn(4, 3)})
    except Exception as error:
        return clean(f"{type(error).__name__}: {error}".splitlines()[0], WHOLE)
    raise AssertionError(f"{code} raises nothing")


def test_exceptions_are_shown_in_their_own_words(bench: Bench) -> None:
    bench.checks(
        "".join(
            f"@check(aspect='values')\ndef test_{number}(submission, draw):\n    '{number}'\n"
            f"    submission.thing_{number}(draw.normal(row=4, column=3))\n\n"
            for number in range(len(LINES))
        )
    )
    bodies = (f"def thing_{number}(x):\n    return {code}\n\n" for number, (code, _) in enumerate(LINES))
    report = bench.check("import math\nimport torch\n\n" + "".join(bodies))
    assert len(report.checks) == len(LINES) > 200
    for (code, likely), check in zip(LINES, report.checks, strict=True):
        # No line of the submission says `raise`: whatever torch has not implemented, this is written.
        assert (code, check.status, check.misconception) == (code, "error", None)
        assert first_line(code) in (check.message or "")
        # Of some of these lines nothing needs x, and this is said where nothing else is.
        said = re.sub(r"^line \d+, |^.* never reads its argument x$", "", check.likely or "")
        assert (code, said) == (code, likely)
