"""`kata grade` as an instructor uses it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from grader.cli.instructor import on_gradescope
from grader.commands import EXTRAS
from grader.errors import EngineError
from tests.conftest import KATA, TINY, Ran, Run
from tests.grading.conftest import CRASHES, EXITS, LOOPS, MODULE, OTHER, RIGHT, STUB, WRONG, Hand

ONLY = ("--only", "insertion-sort")
BUNDLE = '{"katas": [{"kata": "insertion-sort"}], "perf": false, "marks_speed": false}'


def reports(ran: Ran) -> dict[str, dict[str, Any]]:
    """Return the reports of `--json -` by learner."""
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert len({report["learner"] for report in found}) == len(found)
    return {report["learner"]: report for report in found}


@pytest.mark.slow
def test_a_class(kata: Run, hand_in: Hand, warm: Path) -> None:
    hand_in("ada", RIGHT)
    hand_in("bob", OTHER)
    hand_in("cy", WRONG)
    hand_in("di", STUB)
    hand_in("ed", None)
    hand_in("flo", EXITS)
    hand_in("gus", CRASHES)
    hand_in("hal", "def insertion_sort(:\n")
    ran = kata("grade", "submissions", *ONLY, "--json", "-", "-j", "1").done()
    found = reports(ran)
    statuses = {learner: report["status"] for learner, report in found.items()}
    assert statuses == {
        "ada": "pass",
        "bob": "pass",
        "cy": "fail",
        "di": "not_started",
        "ed": "missing",
        "flo": "error",
        "gus": "error",
        "hal": "error",
    }
    assert list(found) == sorted(found)
    # By name, with the reason, where everybody looks; not only as a count.
    listed = ran.err.partition("The checks could not judge:")[2]
    assert f"hal, insertion-sort: {MODULE} does not load. SyntaxError: invalid syntax" in listed
    assert "flo, insertion-sort: " in listed
    assert "gus, insertion-sort: " in listed
    for report in found.values():
        assert report["schema"] == 1
        assert report["max_score"] == found["ada"]["score"] > 0
        assert report["kata"] == "insertion-sort"
    assert any(check["hidden"] for check in found["ada"]["checks"])
    assert "line 1" in found["hal"]["message"]
    assert (warm / "gradebook.sqlite").is_file()


@pytest.mark.slow
def test_the_summary_counts_everybody_and_says_what_to_do_next(kata: Run, hand_in: Hand) -> None:
    hand_in("ada", RIGHT)
    hand_in("di", STUB)
    ran = kata("grade", "submissions", *ONLY, "-j", "1")
    assert "2 rows in gradebook.sqlite: 1 passed, 1 not started." in ran.out
    assert "kata report" in ran.out
    assert "insertion-sort" in ran.out


@pytest.mark.slow
def test_again_grades_only_what_changed(kata: Run, hand_in: Hand) -> None:
    hand_in("ada", RIGHT)
    hand_in("cy", WRONG)
    kata("grade", "submissions", *ONLY, "-j", "1")
    hand_in("cy", RIGHT)
    ran = kata("grade", "submissions", *ONLY, "-j", "1")
    assert "1 passed, 1 unchanged" in ran.out
    ran = kata("grade", "submissions", *ONLY, "--force", "-j", "1", "--json", "-")
    assert "2 passed" in ran.err
    assert {report["status"] for report in reports(ran).values()} == {"pass"}


@pytest.mark.slow
def test_a_mark_does_not_hang_on_when_it_was_made(kata: Run, hand_in: Hand) -> None:
    hand_in("ada", WRONG)
    first = kata("grade", "submissions", *ONLY, "-j", "1", "--json", "-")
    again = kata("grade", "submissions", *ONLY, "--force", "-j", "1", "--json", "-")

    def lasting(ran: Ran) -> dict[str, Any]:
        report = reports(ran)["ada"]
        return {**report, "duration_s": 0}

    assert lasting(first) == lasting(again)


@pytest.mark.slow
def test_only_a_learner(kata: Run, hand_in: Hand) -> None:
    hand_in("ada", RIGHT)
    hand_in("bob", WRONG)
    ran = kata("grade", "submissions", *ONLY, "--only", "bob", "-j", "1", "--json", "-")
    assert set(reports(ran)) == {"bob"}
    kata("grade", "submissions", "--only", "bbo", "-j", "1").refused("Did you mean bob?")


@pytest.mark.nightly
def test_only_a_learner_by_another_name_and_what_comes_next_keeps_the_course(
    kata: Run, hand_in: Hand, warm: Path
) -> None:
    (warm / "rules.toml").write_text('name = "C"\n')
    course = ("--course", "rules.toml", "-j", "1")
    hand_in("ada", RIGHT)
    hand_in("zo\u00eb", WRONG)  # one character
    ran = kata("grade", "submissions", *ONLY, *course)
    assert "kata gradebook show --course rules.toml" in ran.out
    told = ("--comment", "her name", "--course", "rules.toml")
    kata("gradebook", "alias", "ada", "countess", "--ahead", *told)
    for name, learner in (("countess", "ada"), ("zoe\u0308", "zo\u00eb")):  # two characters
        ran = kata("grade", "submissions", *ONLY, "--only", name, *course, "--json", "-")
        assert set(reports(ran)) == {learner}


@pytest.mark.slow
def test_fail_under(kata: Run, hand_in: Hand) -> None:
    hand_in("ada", RIGHT)
    assert kata("grade", "submissions", *ONLY, "-j", "1", "--fail-under", "100").code == 0
    hand_in("bob", WRONG)
    assert kata("grade", "submissions", *ONLY, "-j", "1", "--fail-under", "90").code == 1
    assert kata("grade", "submissions", *ONLY, "-j", "1").code == 0


@pytest.mark.nightly
def test_fail_under_weighs_katas_as_the_course_does(
    kata: Run, hand_in: Hand, warm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_PACKS", f"{TINY}{os.pathsep}{TINY.parents[2] / 'katas'}")
    hand_in("ada", RIGHT)  # all of insertion-sort, nothing of the other
    chosen = [*ONLY, "--only", "masks"]

    def under(percent: str, ours: float, other: float) -> int:
        (warm / "course.toml").write_text(
            f"name = 'A course'\n[weights]\ninsertion-sort = {ours}\nmasks = {other}\n"
        )
        ran = kata("grade", "submissions", *chosen, "-j", "1", "--fail-under", percent)
        assert ran.code < 2, ran.text
        return ran.code

    assert under("60", 9, 0.1) == 0
    assert under("60", 0.1, 9) == 1


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "how", [KeyboardInterrupt(), EngineError("The grading processes are gone.")], ids=["Ctrl-C", "engine"]
)
def test_the_reports_are_left_however_grading_ends(
    kata: Run, hand_in: Hand, warm: Path, monkeypatch: pytest.MonkeyPatch, how: BaseException
) -> None:
    from grader.instructor.gradebook.recording import Recording

    for learner in ("ada", "bob", "cy"):
        hand_in(learner, RIGHT)
    record, count = Recording.record, 0

    def stops(*given: Any) -> None:
        nonlocal count
        count += 1
        if count == 3:
            raise how
        record(*given)

    monkeypatch.setattr(Recording, "record", stops)
    ran = kata("grade", "submissions", *ONLY, "-j", "1", "--json", "reports.jsonl")
    assert ran.code == (130 if isinstance(how, KeyboardInterrupt) else 3), ran.text
    assert "reports.jsonl holds what was graded until then" in ran.err
    if isinstance(how, KeyboardInterrupt):
        assert "stopped: what was graded so far is in" in ran.err
        assert "the same command goes on from there" in ran.err
    left = [json.loads(line)["learner"] for line in (warm / "reports.jsonl").read_text().splitlines()]
    assert left == ["ada", "bob"]


@pytest.mark.slow
def test_a_notebook_is_graded_as_a_module_is(kata: Run, hand_in: Hand, warm: Path) -> None:
    import nbformat

    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell("!pip install x"), nbformat.v4.new_code_cell(RIGHT)]
    hand_in("nora", None)
    nbformat.write(notebook, warm / "submissions" / "nora" / "insertion_sort.ipynb")
    hand_in("otto", None)
    (warm / "submissions" / "otto" / "insertion_sort.ipynb").write_text("{ no json")
    found = reports(kata("grade", "submissions", *ONLY, "-j", "1", "--json", "-"))
    assert found["nora"]["status"] == "pass"
    assert found["otto"]["status"] == "error"
    assert "insertion_sort.ipynb" in found["otto"]["message"]


@pytest.mark.slow
@pytest.mark.parametrize("files", [{}, {"insertionsort.py": RIGHT}, {"notes/why.txt": "x"}])
def test_a_wrong_name_on_gradescope_is_missing_and_no_failure(warm: Path, files: dict[str, str]) -> None:
    for name, text in ({"../source/bundle.json": BUNDLE, "../results/x": ""} | files).items():
        file = warm / "root" / "submission" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (warm / "root" / "submission").mkdir(exist_ok=True)
    assert on_gradescope.main([str(warm / "root")]) == 0
    results = json.loads((warm / "root" / "results" / "results.json").read_text())
    assert "There is no insertion_sort.py" in json.dumps(results)


@pytest.mark.nightly
def test_a_loop_costs_its_own_time_and_nobody_else(kata: Run, hand_in: Hand) -> None:
    hand_in("ada", RIGHT)
    hand_in("lou", LOOPS)
    hand_in("zed", RIGHT)
    found = reports(kata("grade", "submissions", *ONLY, "-j", "2", "--timeout", "1", "--json", "-"))
    assert {who: report["status"] for who, report in found.items()} == {
        "ada": "pass",
        "lou": "timeout",
        "zed": "pass",
    }


@pytest.mark.slow
def test_json_goes_to_a_file_whole(kata: Run, hand_in: Hand, warm: Path) -> None:
    hand_in("ada", RIGHT)
    ran = kata("grade", "submissions", *ONLY, "-j", "1", "--json", "reports.jsonl").done()
    assert "1 passed" in ran.out
    assert json.loads((warm / "reports.jsonl").read_text())["learner"] == "ada"
    ran = kata("grade", "submissions", *ONLY, "-j", "1", "--json", "submissions")
    assert ran.code == 3
    assert "cannot be written" in ran.text


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda folder: None, 2, "submissions"),
        (lambda folder: (folder / "submissions").mkdir(), 2, "no learner"),
        (lambda folder: (folder / "submissions").write_text("x"), 2, "submissions"),
    ],
    ids=["absent", "empty", "no archive"],
)
def test_nothing_to_grade(
    kata: Run, warm: Path, make: Callable[[Path], object], code: int, words: str
) -> None:
    make(warm)
    ran = kata("grade", "submissions", *ONLY)
    assert ran.code == code
    assert words in ran.text
    assert not (warm / "gradebook.sqlite").exists()


def test_too_little_isolation_is_refused_before_anything_runs(
    kata: Run, hand_in: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in("ada", RIGHT)
    monkeypatch.setenv("KATA_ISOLATION", "process")
    kata("grade", "submissions", *ONLY, "--require-isolation", "full").refused(
        "KATA_ISOLATION limits workers to 'process'"
    )
    assert not Path("gradebook.sqlite").exists()


@pytest.mark.slow
def test_a_run_beside_a_run_is_refused(kata: Run, hand_in: Hand) -> None:
    from grader.instructor.gradebook.store import Gradebook

    hand_in("ada", RIGHT)
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        book.start_run({})
        ran = kata("grade", "submissions", *ONLY, "-j", "1")
    assert ran.code == 3
    assert "gradebook.sqlite" in ran.text
    assert kata("grade", "submissions", *ONLY, "-j", "1").code == 0


def test_a_scheduler_without_the_extra(kata: Run, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in("ada", RIGHT)
    monkeypatch.delitem(EXTRAS, "grade --scheduler", raising=False)
    ran = kata("grade", "submissions", *ONLY, "--scheduler", "tcp://127.0.0.1:1")
    assert ran.code == 2
    assert "needs the extra cluster" in ran.err


@pytest.mark.nightly
def test_killed_at_any_moment_it_goes_on_from_there(hand_in: Hand, warm: Path, kata: Run) -> None:
    for number in range(30):
        hand_in(f"learner {number}", [RIGHT, OTHER, WRONG, STUB][number % 4] + f"\n# {number}\n")
    command = [str(KATA), "grade", "submissions", *ONLY, "-j", "2"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while rows(warm) < 5:
        with suppress(subprocess.TimeoutExpired):
            raise AssertionError(f"it ended by itself with {running.wait(0.05)}")
    running.kill()
    running.wait()
    kept = rows(warm)
    assert kept >= 5
    ran = kata("grade", "submissions", *ONLY, "-j", "1", "--json", "-").done()
    assert f"{kept} unchanged" in ran.err or rows(warm) == kept
    resumed = {who: (report["status"], report["score"]) for who, report in reports(ran).items()}
    (warm / "gradebook.sqlite").unlink()
    for beside in warm.glob("gradebook.sqlite-*"):
        beside.unlink()
    fresh = reports(kata("grade", "submissions", *ONLY, "-j", "1", "--json", "-"))
    assert resumed == {who: (report["status"], report["score"]) for who, report in fresh.items()}


@pytest.mark.slow
def test_a_gradebook_that_goes_away_in_mid_run_keeps_what_it_has(
    kata: Run, hand_in: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.instructor.gradebook.errors import GradebookError
    from grader.instructor.gradebook.recording import Recording

    for learner in ("ada", "bob", "cy"):
        hand_in(learner, RIGHT)
    before, recorded = Recording.record, []

    def record(self: Recording, *arguments: Any) -> None:
        if recorded:
            raise GradebookError("the server went away", "Start it, then the same command goes on.")
        recorded.append(before(self, *arguments))

    monkeypatch.setattr(Recording, "record", record)
    ran = kata("grade", "submissions", *ONLY, "-j", "1")
    assert ran.code == 3
    assert "the server went away" in ran.text
    monkeypatch.setattr(Recording, "record", before)
    assert "2 passed, 1 unchanged" in kata("grade", "submissions", *ONLY, "-j", "1").out


def rows(folder: Path) -> int:
    """Count the attempts in the gradebook, as long as there is none yet too."""
    file = folder / "gradebook.sqlite"
    if not file.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            return int(database.execute("select count(*) from attempts").fetchone()[0])
    except sqlite3.Error:
        return 0
