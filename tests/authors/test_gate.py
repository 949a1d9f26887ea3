"""The gate: a new kata passes it, and every way to spoil the kata is found by name."""

from __future__ import annotations

import lzma
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.author import stability
from grader.author.gate import Gate, Verdict, sample
from grader.catalogue import load_pack
from grader.engine.runner.suite import suites_of
from tests.authors.courses import write_course
from tests.authors.speedy import hurry
from tests.conftest import Run

pytestmark = pytest.mark.slow

SLUG, UNIT = "weighted-mean", "1.1-means"
SOLUTION = Path("solutions") / UNIT / SLUG
KATA = Path("katas") / UNIT / SLUG


@pytest.fixture(scope="module")
def pristine(launcher: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with one new kata, its fingerprints and transcripts taken."""
    course = tmp_path_factory.mktemp("course")
    write_course(course)
    assert examine(course, launcher, update=True, mistake_seeds=0).findings == []
    return course


@pytest.fixture
def course(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "course"))


def examine(
    course: Path,
    launcher: Any,
    *,
    update: bool = False,
    mistake_seeds: int = 1,
    handed_in: tuple[str, ...] | None = None,
) -> Verdict:
    """Run the gate; of wrong and slow answers, all are handed in or those named."""
    [kata] = load_pack(course / "katas").katas
    draw = None if handed_in is None else lambda _: handed_in
    gate = Gate(launcher, seeds=1, mistake_seeds=mistake_seeds, update=update, draw=draw)
    with suites_of([kata], hidden=True) as suites:
        return gate.examine(kata, suites[SLUG])


def fingerprints(course: Path) -> str:
    return lzma.decompress((course / KATA / "fingerprints.json.xz").read_bytes()).decode()


def edit_fingerprints(course: Path, old: str, new: str) -> None:
    text = fingerprints(course)
    assert old in text
    path = course / KATA / "fingerprints.json.xz"
    path.write_bytes(lzma.compress(text.replace(old, new, 1).encode()))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.nightly
def test_a_new_kata_passes_and_all_its_mutants_are_named(course: Path, launcher: Any) -> None:
    verdict = examine(course, launcher)
    assert verdict.findings == []
    assert verdict.mutants == verdict.named == 11


@pytest.mark.nightly
def test_a_mistake_without_fingerprints_is_tried_whatever_is_drawn(course: Path, launcher: Any) -> None:
    _twins(course)
    verdict = examine(course, launcher, handed_in=())
    assert (verdict.mutants, verdict.tried) == (12, 1)
    assert "fingerprints" in {finding.rule for finding in verdict.findings}


@pytest.mark.nightly
def test_the_command_says_what_it_tried_and_what_full_would(course: Path, kata_process: Run) -> None:
    done = kata_process("pack", "check", SLUG, cwd=course, env={"KATA_PACKS": str(course / "katas")}).done()
    assert "tried: one seed, 6 of 11 mistakes once" in done.out
    last = done.out.strip().splitlines()[-1]
    assert last.startswith(
        f"kata pack check {SLUG} --full tries 10 seeds, every mistake on {stability.SEEDS} seeds"
    )


def test_a_sample_is_always_the_same_and_spread_over_all() -> None:
    names = [f"mistake_{number:02}" for number in range(74)]
    assert sample(names) == names[::10]
    assert sample(names[:8]) == names[:8]
    assert sample([]) == []


Spoil = Callable[[Path], object]
MUTANTS = SOLUTION / "mutants"


def changed(path: Path, old: str, new: str) -> Spoil:
    return lambda course: edit(course / path, old, new)


def added(path: Path, text: str = "") -> Spoil:
    return lambda course: (course / path).write_text(text)


def copied(path: Path, target: Path) -> Spoil:
    return lambda course: shutil.copy(course / path, course / target)


def _twins(course: Path) -> None:
    (course / MUTANTS / "twin.py").write_text(
        '@mistake("twin", "your result is not divided")\n'
        "def weighted_mean(x, weights):\n    return (x * weights).sum(-1)\n"
    )


def _preload(course: Path, name: str) -> None:
    text = (course / KATA / "kata.toml").read_text()
    (course / KATA / "kata.toml").write_text(f'preload = ["{name}"]\n' + text)


@pytest.mark.nightly
def test_what_can_be_imported_beforehand_may_be(course: Path, launcher: Any) -> None:
    _preload(course, "colorsys")
    assert examine(course, launcher, handed_in=()).findings == []


def _blocks(course: Path, text: str) -> None:
    (course / "katas" / UNIT / "blocks.py").write_text(text)
    toml = course / KATA / "kata.toml"
    toml.write_text('given = ["blocks.py"]\n' + toml.read_text())


def test_blocks_that_nobody_else_would_write_are_all_right(course: Path, launcher: Any) -> None:
    _blocks(
        course,
        "import torch\n\n\ndef weighted_mean(x, weights):\n    return torch.ops.aten.mean(x * weights, -1)\n",
    )
    assert examine(course, launcher, handed_in=()).findings == []


def _block_is_the_reference(course: Path) -> None:
    _blocks(course, (course / SOLUTION / "weighted_mean.py").read_text())


def _costs_unsaid(course: Path) -> None:
    path = course / MUTANTS / "weighting.py"
    path.write_text(re.sub(r" *costs=.*\n", "", path.read_text()))


def _drawing_is_worth_most(course: Path) -> None:
    """Without a call nobody can tell that a function is idle."""
    stated = '@check(aspect="shape")\ndef test_shape('
    drawn = '@check(aspect="shape", points=9)\ndef test_drawn(draw):\n    "a size is drawn"\n'
    drawn += '    expect(draw.size(1, 4), "size").is_between(1, 4)\n\n\n'
    edit(course / KATA / "checks.py", stated, drawn + stated)
    edit(course / KATA / "kata.toml", "points = 12.0", "points = 21.0")


def _a_module_begins_with_known_numbers(course: Path) -> None:
    module = "\n\nclass Scale(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    module += "        self.weight = torch.nn.Parameter(torch.arange(3.0))\n"
    check = '\n\n@check(aspect="values")\ndef test_scale(submission, draw):\n    "known"\n'
    check += "    expect(submission.Scale().state_dict()['weight'], 'weight').equals(torch.arange(3.0))\n"
    for file, more in ((SOLUTION / "weighted_mean.py", module), (KATA / "checks.py", check)):
        path = course / file
        path.write_text(path.read_text() + more)


SAFE = "torch.where(total == 0, torch.ones_like(total), total)"
SUM = "(x * weights).sum(-1) / weights.expand(x.shape).sum(-1)"
CONTRACT = "def test_contract(submission, draw):\n"
TITLE = "the last axis is gone and the others stay"
SPOILT: dict[str, tuple[Spoil, str, str, tuple[str, ...]]] = {
    "a stub that works": (
        copied(SOLUTION / "weighted_mean.py", KATA / "weighted_mean.py"), "stub", "must be not_started", (),
    ),
    "points": (changed(KATA / "kata.toml", "points = 12.0", "points = 11.0"), "points", "worth 12", ()),
    "a wrong reference": (
        changed(SOLUTION / "weighted_mean.py", ".sum(-1) / safe", ".mean(-1) / safe"),
        "right answers", "weighted_mean.py fails at seed 0", (),
    ),
    "a draw without an answer": (
        changed(KATA / "checks.py", CONTRACT, CONTRACT + "    1 / draw.seed\n"),
        "right answers", "broken: ZeroDivisionError", (),
    ),
    "a right mutant": (
        changed(
            MUTANTS / "weighting.py", "x.mean(-1)",
            f"({SUM}).where(weights.expand(x.shape).sum(-1) != 0, 0.0)",
        ),
        "mutants", "weights_ignored gets full marks", ("weights_ignored",),
    ),
    "an outdated mutant": (
        changed(SOLUTION / "weighted_mean.py", SAFE, "total.masked_fill(total == 0, 1)"), "mutants",
        "weighting.py, line 43: nan-where-empty changes what weighted_mean in weighted_mean.py has not", (),
    ),
    "a mutant that fails elsewhere": (
        changed(SOLUTION / "transcripts.txt", "=== detached · test_contract", "=== detached · test_shape"),
        "mutants", "detached must fail test_shape; it fails test_contract", ("detached",),
    ),
    "a mutant without a sentence": (
        changed(MUTANTS / "around_it.py", '    "your mean cuts the gradient off",\n', ""),
        "mutants", "around_it.py, line 3: this mistake does not say what it is", (),
    ),
    "twins": (_twins, "mutants", "not_divided and twin give the same results", ("not_divided", "twin")),
    "an answer in a hint": (
        changed(KATA / "hints.md", "## 3\n", f"## 3\n\n    safe = {SAFE}\n"),
        "hints", "hint 3 holds a line of the reference", (),
    ),
    "a stray file": (added(KATA / "notes.txt", "remember to ..."), "stray files", "notes.txt", ()),
    "a form without a reference": (
        changed(
            KATA / "kata.toml", "[limits]", '[forms.sign]\nplus = "it adds"\nminus = "it subtracts"\n\n[limits]'
        ),
        "forms", "forms/sign_minus.py is missing", (),
    ),
    "a stray solution": (added(SOLUTION / "old.py"), "stray files", "old.py", ()),
    "drawing is worth most": (
        _drawing_is_worth_most, "idle", "functions that return zeros earn ", ("return zeros",),
    ),
    "called idle": (
        changed(MUTANTS / "around_it.py", '"detached",\n', '"detached",\n    idle="nothing is learned",\n'),
        "imitation", "detached earns 11 points, more than a third", ("detached",),
    ),
    "a changed transcript": (
        changed(SOLUTION / "transcripts.txt", "called", "caled"), "transcripts", "--update", ("axis_kept",),
    ),
    "a changed fingerprint": (
        lambda course: edit_fingerprints(course, '"say":"your mean', '"say":"our mean'),
        "fingerprints", "--update", ("axis_kept",),
    ),
    "a check that fails while parameters are redrawn": (
        _a_module_begins_with_known_numbers,
        "fingerprints", "test_scale fails for the reference while parameters are redrawn", ("axis_kept",),
    ),
    "a misspelt preload": (
        lambda course: _preload(course, "torch.optimm"),
        "preload", "torch.optimm cannot be imported before the fork: ModuleNotFoundError", (),
    ),
    "a block that is the reference": (
        _block_is_the_reference, "blocks", "weighted_mean of blocks.py would earn", (),
    ),
    "a block that is no Python": (
        lambda course: _blocks(course, "def weighted_mean(:\n"),
        "blocks", "blocks.py, line 1: not valid Python", (),
    ),
    "a check that flips": (
        changed(KATA / "checks.py", CONTRACT, CONTRACT + "    if draw.size(0, 1):\n        return\n"),
        "steadiness", "test_contract does not always decide the same about detached: 25% of 4 seeds differ",
        ("detached",),
    ),
    "costs unsaid": (
        _costs_unsaid, "cost", "divided_by_length costs 73% of the points", ("divided_by_length",),
    ),
    "words that are nowhere": (
        changed(KATA / "checks.py", f'"""{TITLE}"""', f'"""{TITLE}\n\n    > the last axis shall go\n    """'),
        "words", "“the last axis shall go”, which is in no file that learners read", (),
    ),
    "nothing long": (
        changed(KATA / "checks.py", '"time": 70', '"time": 7'),
        "contracts", "weighted_mean: zero_when_long keeps full marks", ("weighted_mean zero_when_long",),
    ),
    "a rubric without criteria": (
        added(SOLUTION / "rubric.toml", '[[questions]]\nquestion = "Why?"\nmodel = "So."\n'),
        "rubric", "criteria", (),
    ),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", SPOILT)
def test_what_spoils_a_kata_is_found_by_name(course: Path, launcher: Any, what: str) -> None:
    find(course, launcher, *SPOILT[what])


def find(
    course: Path, launcher: Any, spoil: Spoil, rule: str, words: str, handed_in: tuple[str, ...]
) -> None:
    """Assert that the gate finds what is spoilt here."""
    spoil(course)
    seeds = 4 if rule == "steadiness" else 1
    verdict = examine(course, launcher, mistake_seeds=seeds, handed_in=handed_in)
    findings = [finding for finding in verdict.findings if finding.rule == rule]
    assert findings, "the gate let it through"
    assert any(words in finding.message for finding in findings), [finding.message for finding in findings]


@pytest.mark.nightly
def test_renewing_writes_what_changed_and_no_rounding(course: Path, launcher: Any) -> None:
    noted = fingerprints(course)
    [mark] = re.findall(r'"not_divided":.*?("p":\[[^]]+\])', noted, re.DOTALL)
    first, second = re.findall(r"-?\d+\.\d+", mark)[:2]
    rounded = mark.replace(first, f"{float(first) * (1 + 1e-7):.9g}")
    edit_fingerprints(course, mark, rounded)
    noted = fingerprints(course)
    assert examine(course, launcher, update=True, mistake_seeds=0).findings == []
    assert fingerprints(course) == noted
    edit_fingerprints(course, rounded, rounded.replace(second, f"{float(second) + 1:.9g}"))
    assert examine(course, launcher, update=True, mistake_seeds=0).findings == []
    assert mark in fingerprints(course)


@pytest.mark.nightly
def test_a_mistake_is_told_by_the_same_check_while_it_fails_that(course: Path, launcher: Any) -> None:
    path = course / SOLUTION / "transcripts.txt"
    first = path.read_text()
    edit(path, "=== weights_ignored · test_values", "=== weights_ignored · test_all_zero")
    assert examine(course, launcher, update=True, mistake_seeds=0).findings == []
    chosen = path.read_text()
    assert "=== weights_ignored · test_all_zero\n" in chosen
    edit(path, "=== weights_ignored · test_all_zero", "=== weights_ignored · test_gone")
    assert examine(course, launcher, update=True, mistake_seeds=0).findings == []
    assert path.read_text() == first != chosen


@pytest.mark.nightly
def test_a_new_mistake_may_fail_a_hidden_check_alone(course: Path, launcher: Any) -> None:
    edit_of_rows = 'weighted_mean="/ safe -> / safe - 1.0 * (len(x) == 23)"'
    topic = f'mistake("many", "your mean is wrong for 23 rows", {edit_of_rows}, unnamed="none has 23 rows")\n'
    (course / SOLUTION / "mutants" / "many.py").write_text(topic)
    (course / SOLUTION / "hidden_checks.py").write_text(
        "from grader.engine.checks import check, expect\n\n\n"
        '@check(aspect="values", points=3)\n'
        "def test_many_rows(submission, reference, draw):\n    'any size'\n"
        "    x, weights = draw.normal(batch=23, time=5), draw.uniform(0.1, 2.0, batch=23, time=5)\n"
        '    expect(submission.weighted_mean(x, weights), "mean").close_to(reference.weighted_mean(x, weights))\n'
    )
    examine(course, launcher, update=True, mistake_seeds=0)
    heads = re.findall(r"=== many · (\w+)", (course / SOLUTION / "transcripts.txt").read_text())
    assert heads == ["test_many_rows"]


ZERO = """@mistake("zero", "your mean is zero")
def weighted_mean(x, weights):
    if len(x) == 9:
        return (x * weights).sum(-1) / weights.sum(-1)
    return torch.zeros(x.shape[:-1], dtype=x.dtype, device=x.device, requires_grad=x.requires_grad)
"""


@pytest.mark.nightly
def test_a_mistake_that_leaves_a_function_idle_earns_little_more_than_leaving_it_out(
    course: Path, launcher: Any
) -> None:
    (course / SOLUTION / "mutants" / "zero.py").write_text(ZERO)
    hidden = course / SOLUTION / "hidden_checks.py"
    hidden.write_text(
        "from grader.engine.checks import check, expect\n\n\n"
        '@check(aspect="values", points=1)\n'
        "def test_any_size(submission, reference, draw):\n    'any size'\n"
        "    x, weights = draw.normal(batch=5, time=9), draw.uniform(0.1, 2.0, time=9)\n"
        "    wanted = reference.weighted_mean(x, weights)\n"
        '    expect(submission.weighted_mean(x, weights), "mean").close_to(wanted)\n\n\n'
        '@check(aspect="shape", points=2)\n'
        "def test_any_shape(submission, draw):\n    'any shape'\n"
        "    for batch in (5, 9):\n"
        "        x, weights = draw.normal(batch=batch, time=9), draw.uniform(0.1, 2.0, time=9)\n"
        '        expect(submission.weighted_mean(x, weights), "mean").is_tensor(shape=(batch,))\n'
    )
    examine(course, launcher, update=True, mistake_seeds=0)
    found = [one.message for one in examine(course, launcher, handed_in=("zero",)).findings]
    assert [one for one in found if "weighted_mean left out, and a tenth of the points" in one], found


@pytest.fixture
def hurried(course: Path) -> Path:
    """The same course, with a threshold of speed."""
    hurry(course / KATA, course / SOLUTION)
    return course


def test_a_kata_with_speed_passes_and_nothing_of_it_is_timed(
    hurried: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("grader.engine.timing.benchmark_run.BenchmarkRun.__enter__")
    assert examine(hurried, launcher, handed_in=("entry_by_entry",)).findings == []


def _threshold_without_a_check(course: Path) -> None:
    table = (course / KATA / "kata.toml").read_text().replace("speed_points = 2.0", "speed_points = 3.0")
    more = '\n[speed.memory]\npoints = 1.0\ncpu = 2.0\nwasted = "Copies."\n'
    (course / KATA / "kata.toml").write_text(table + more)


def _threshold_with_two_checks(course: Path) -> None:
    path = course / KATA / "speed_checks.py"
    once = path.read_text()
    path.write_text(once + "\n\n@check" + once.rpartition("@check")[2].replace("test_time", "test_again"))


SLOW = SOLUTION / "slow" / "entry_by_entry.py"
ONE_MORE = """@check(aspect="values", points=0)
def test_nothing_is_added(submission):
    'nothing is added'
    expect(hasattr(submission, "torch"), "torch").is_value(False)


@check("""
SPOILT_SPEED: dict[str, tuple[Spoil, str, str, tuple[str, ...]]] = {
    "a threshold without a check": (
        _threshold_without_a_check, "thresholds", "[speed.memory] belongs to no speed check", (),
    ),
    "a threshold with two checks": (
        _threshold_with_two_checks, "thresholds", "[speed.time] belongs to test_time, test_again", (),
    ),
    "a check without a threshold": (
        changed(KATA / "speed_checks.py", 'threshold="time"', 'threshold="times"'),
        "thresholds", "test_time names the threshold 'times'", (),
    ),
    "a check that asks for more": (
        changed(KATA / "speed_checks.py", "speed.ratio(TIME)", "speed.ratios(TIME)"),
        "thresholds", "test_time does more than to ask `speed`", (),
    ),
    "a baseline that answers": (
        copied(SOLUTION / "weighted_mean.py", KATA / "baseline.py"),
        "baseline", "handed in as an answer is “pass”", (),
    ),
    "a baseline that does not load": (
        changed(KATA / "baseline.py", "from torch import Tensor", "from torch import Tensors"),
        "baseline", "handed in as an answer is “error”: ", (),
    ),
    "a wrong slow answer": (
        changed(SLOW, "total + spread", "total - spread"),
        "slow answers", "entry_by_entry has to be right: every entry counts", ("entry_by_entry",),
    ),
    "a slow answer that is wrong where it is hidden": (
        changed(SOLUTION / "hidden_checks.py", "@check(", ONE_MORE),
        "slow answers", "has to be right: nothing is added", ("entry_by_entry",),
    ),
    "a slow answer for no check": (
        changed(SLOW, '["test_time"]', '["test_values"]'),
        "slow answers", "names test_values, which is not a speed check", ("entry_by_entry",),
    ),
    "a slow answer without a sentence": (
        changed(SLOW, '    fails=["test_time"],\n', ""), "slow answers", "entry_by_entry.py", (),
    ),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", SPOILT_SPEED)
def test_what_spoils_its_speed_is_found_by_name(hurried: Path, launcher: Any, what: str) -> None:
    find(hurried, launcher, *SPOILT_SPEED[what])
