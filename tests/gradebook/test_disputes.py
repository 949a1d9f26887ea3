"""A learner disputes a mark by a line of the feedback: it comes back as it was made, or is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.instructor.gradebook.row_types import Key
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions.submission import Bundle, Submission
from tests.conftest import Run
from tests.pages.builders import failed, row

WHO = "ada l."


@pytest.fixture
def line(kata: Run, folder: Path) -> str:
    """What the feedback of a failing mark says to send."""
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        run = book.start_run({})
        bundle = Bundle("masks.py", {"masks.py": b"# mine"})
        run.record(
            Submission(learner=WHO, kata="masks", bundle=bundle),
            Key(bundle.digest, "terms"),
            row(WHO, checks=[failed()]).report,
        )
        run.finish()
    kata("report", "--feedback-only").done()
    (page,) = Path("kata-report/feedback").glob("*.md")
    found = re.search(r"^kata-dispute ada%20l\. masks \d+ [0-9a-f]{24}:$", page.read_text(), re.MULTILINE)
    assert found is not None
    assert found[0] in page.with_suffix(".html").read_text()
    return found[0]


def test_a_line_with_a_reason_becomes_a_dispute_once(kata: Run, line: str, folder: Path) -> None:
    mail = Path("mail.txt")
    mail.write_text(
        f"Dear all,\n\n> {line} the third check asks for\n> more than the lesson says\n\nBest, Ada\n"
    )
    ran = kata("gradebook", "dispute", "mail.txt").done()
    said = "the third check asks for more than the lesson says"
    assert f"ada l., masks: disputed: {said}" in ran.out
    assert "1 recorded, 0 already there" in ran.err
    assert f"disputed   ada l.: {said}" in kata("gradebook", "rulings").out
    assert "0 recorded, 1 already there" in kata("gradebook", "dispute", "mail.txt").err
    kata("report", "--feedback-only").done()
    (page,) = Path("kata-report/feedback").glob("*.md")
    assert "Dispute, open" in page.read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("masks", "layer-norm"), "mail.txt:2: this line was altered"),
        (("ada%20l.", "bob"), "mail.txt:2: this line was altered"),
        ((" masks 1 ", " masks 2 "), "mail.txt:2: this line was altered"),
        (("kata-dispute", "kata-dispute x"), "mail.txt:2: this line was altered"),
        (("reason", ""), "mail.txt:2: ada l. gives no reason"),
        (("kata-dispute", "dispute"), "there is no line that begins with kata-dispute"),
    ],
)
def test_an_altered_line_is_refused(
    kata: Run, line: str, folder: Path, change: tuple[str, str], said: str
) -> None:
    Path("mail.txt").write_text(f"\n{line} reason".replace(*change))
    kata("gradebook", "dispute", "mail.txt").refused(said)
    assert "no decisions" in kata("gradebook", "rulings").err
