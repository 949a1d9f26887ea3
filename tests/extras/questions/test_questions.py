"""`kata questions`: about the learner's own code, with one right option each, the same whenever they are asked for."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from grader.engine.runner.suite import RunConfig, Suite, suites_of
from grader.extras.questions.own_code import OwnCode, edits_of
from tests import ours
from tests.conftest import Run

pytestmark = pytest.mark.slow
QUIZZED = ["masks", "feed-forward", "layer-norm", "byte-pairs", "sampling"]


def solved(kata: Run, slug: str, folder: Path) -> Path:
    """Start a kata and write its reference into the file; return that."""
    assert kata("start", slug).code == 0
    one = ours.katas()[slug]
    [file] = folder.rglob(f"{one.module}.py")
    assert one.solution is not None
    file.write_bytes(one.solution.read_bytes())
    return file


def quizzed(kata: Run, *arguments: object) -> list[dict[str, Any]]:
    done = kata("questions", *arguments, "--json").done()
    found: list[dict[str, Any]] = done.json["questions"]
    return found


@pytest.mark.nightly
def test_the_same_code_gets_the_same_questions_and_another_name_others(kata: Run, folder: Path) -> None:
    solved(kata, "masks", folder)
    mine = quizzed(kata, "masks")
    assert mine == quizzed(kata, "masks")
    assert len(mine) == 5
    assert all(len(set(one["options"])) == 4 and one["right"] in range(4) for one in mine)
    quizzes = [mine, *(quizzed(kata, "masks", "--as", name) for name in ("ada", "bo", "cleo"))]
    # Nobody knows what a function returns for values that are not shown.
    results = [one["text"] for quiz in quizzes for one in quiz if one["kind"] == "result"]
    assert results
    assert not [text for text in results if "int64 [" in text or "bool [" in text]
    of_all = [{one["text"] for one in quiz} for quiz in quizzes]
    shared = [len(one & another) for one, another in combinations(of_all, 2)]
    assert sum(shared) / len(shared) < len(mine) / 5


def test_a_change_is_one_that_somebody_might_write() -> None:
    code = OwnCode(
        b"def attend(q: Tensor, k: Tensor, size: int, *, device: str | None = None):\n"
        b"    return ones(size, device=device) * (q @ k).softmax(-1)\n\n\n"
        b"class Maker:\n"
        b"    def square(self, a, b):\n"
        b"        return self.square(a - 1, b)\n"
    )
    lines = {edit.shown for edit in edits_of(code)}
    assert "return ones(size, device=device) * (k @ k).softmax(-1)" in lines
    assert "return self.square(b - 1, b)" in lines
    assert not [line for line in lines if "ones(device" in line or "q @ size" in line or "sqrt" in line]
    assert "return ones(size) * (q @ k).softmax(-1)" not in lines


def test_off_a_terminal_the_answers_are_not_told(kata: Run, folder: Path) -> None:
    solved(kata, "masks", folder)
    done = kata("questions", "masks", "-n", 2).done()
    assert re.findall(r"^ {3}([a-d])  ", done.out, re.MULTILINE) == list("abcdabcd")
    assert "   a  [[True, False, False, False],\n       [True, True, False, False],\n" in done.out  # as rows
    assert not any(one["why"] in done.out for one in quizzed(kata, "masks", "-n", 2))


def test_what_does_not_pass_is_not_asked_about(kata: Run, folder: Path) -> None:
    file = solved(kata, "masks", folder)
    file.write_text(file.read_text().replace("key <= query", "key < query").replace("!= pad_id", "== pad_id"))
    kata("questions", "masks").refused("questions are about what passes")
    file.write_text("def causal_mask(:\n")
    assert "is not a Python module" in kata("questions", "masks").err


def test_what_a_module_says_of_its_own_values_is_bounded(kata: Run, folder: Path) -> None:
    file = solved(kata, "masks", folder)
    file.write_text(
        file.read_text() + '\n\ndef _kata_take():\n    return [[0, ["\\x1b" * 9999]], ["x", 1], 7]\n'
    )
    for one in quizzed(kata, "masks"):
        assert max(map(len, (one["text"], *one["options"]))) < 1000


@pytest.mark.gate
@pytest.mark.parametrize("slug", QUIZZED)
def test_the_option_that_is_right_is_right_and_the_others_are_not(
    slug: str, kata: Run, folder: Path, launcher: Any
) -> None:
    file = solved(kata, slug, folder)
    asked = [one for one in quizzed(kata, slug, "-n", 8) if one["kind"] in ("edit", "purpose")]
    assert asked
    text = file.read_text()

    def fails(suite: Suite, line: int, becomes: str, title: str) -> list[bool]:
        """Return whether a check fails, on three seeds, with a line written by hand."""
        lines = text.split("\n")
        lines[line - 1] = re.match(r"\s*", lines[line - 1])[0] + becomes  # type: ignore[index]
        [name] = [item.name for item in suite.items if suite.info(item).title == title]
        return [
            suite.select({name})
            .check(file, launcher, RunConfig(seed=seed, name=False), content="\n".join(lines).encode())
            .checks[0]
            .status
            != "pass"
            for seed in range(3)
        ]

    def examine(suites: dict[str, Suite]) -> None:
        for one in asked:
            change = re.match(r"Line (\d+) (?:becomes\n(.*)\n|is taken away)", one["text"])
            for place, option in enumerate(one["options"]):
                if one["kind"] == "edit":
                    number, becomes = re.match(r"line (\d+): `(.*)`$", option).groups()  # type: ignore[union-attr]
                    title = re.search("“(.*)”", one["text"])[1]  # type: ignore[index]
                else:
                    assert change is not None
                    number, becomes, title = change[1], change[2] or "pass", option
                ends = fails(suites[slug], int(number), becomes, title)
                assert ends == [place == one["right"]] * 3, (one, option)

    with suites_of([ours.katas()[slug]]) as suites:
        examine(suites)


@pytest.mark.nightly
def test_an_instructor_gets_pages_without_answers_and_quizzes_with_them(kata: Run, folder: Path) -> None:
    solution = ours.katas()["masks"].solution
    assert solution is not None
    for learner, source in (("ada", solution), ("bob", solution.parent / "alternatives" / "loops.py")):
        (folder / "class" / learner).mkdir(parents=True)
        (folder / "class" / learner / "masks.py").write_bytes(source.read_bytes())
    assert kata("grade", "class").code == 0
    done = kata("gradebook", "questions", "masks", "-n", "3", "--json").done()
    assert done.json == {"schema": 1, "folder": "kata-report", "learners": 2, "quizzes": 2}
    report = folder / "kata-report"
    keys = (report / "quizzes" / "keys.csv").read_text().splitlines()[1:]
    assert [line.split(",")[:3] for line in keys] == [
        [who, "masks", str(number)] for who in ("ada", "bob") for number in (1, 2, 3)
    ]
    for quiz in report.glob("quizzes/masks-*.txt"):
        marked = re.findall(r"^(\*?)([a-d])\)  ", quiz.read_text(), re.MULTILINE)
        assert len(marked) == 12
        right = [line.split(",")[4] for line in keys if line.split(",")[0] in quiz.name]
        assert [letter for star, letter in marked if star] == right
    for sheet in report.glob("questions/*.html"):
        assert sheet.read_text().count("☐") == 12
        assert "why" not in sheet.read_text()
    assert kata("gradebook", "questions", "layer-norm").code == 2
    answered = folder / "answered.csv"
    chosen = [line.split(",")[4] for line in keys]
    chosen[0] = "" if chosen[0] == "a" else "A"
    rows = [f"{','.join(line.split(',')[:5])},{letter}" for line, letter in zip(keys, chosen, strict=True)]
    answered.write_text("\n".join(["learner,kata,question,kind,right,answer", *rows, ""]))
    record = ("gradebook", "quiz-results", answered, "--costs", 0.5, "--author", "kim")
    done = kata(*record).done()
    assert "ada, masks: -0.5  1 of 3 questions about one's own code wrong, 0.5 each" in done.out
    assert "1 with all answers right" in done.err
    assert "0 changed, 1 already recorded" in kata(*record).err
    assert "kim: 1 of 3 questions" in kata("gradebook", "history", "ada", "masks").out
    answered.write_text(answered.read_text().replace(",A\n", ",x\n").replace(",\n", ",x\n"))
    assert "'x' is not one of a, b, c and d" in kata(*record).err
