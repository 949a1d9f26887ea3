"""`kata check`: what it prints, what it returns, what it remembers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from grader.report.report import CheckReport, CheckStatus, KataReport, KataStatus, ReportSet
from tests import ours
from tests.conftest import Run

SOLUTIONS = Path(__file__).parents[2] / "solutions" / "9.3-encoder-vs-decoder"
RIGHT, WRONG = ours.MASKS, ours.masks("return torch.ones(seq_len, seq_len).triu().bool()")


@pytest.fixture
def unit(kata: Run, folder: Path) -> Path:
    """The folder of the unit that was just started."""
    assert kata("start", "9.3").code == 0
    return folder / "9.3-encoder-vs-decoder"


class StrictReport(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A kata's object, with nothing but what the contract promises and the few fields beyond."""

    schema: int
    learner: str | None
    kata: str
    number: str
    status: KataStatus
    score: float
    max_score: float
    seed: int
    device: str
    isolation: str
    duration_s: float
    versions: dict[str, str]
    message: str | None
    file: str | None
    output: str | None
    todo: list[str]
    speed: dict[str, float] | None = None
    """Only where speed was asked about."""
    first: str | None = None
    """Only where the failing check to begin with is not the first."""
    left_out: int | None = None
    """Only where not all was asked about."""
    stages: list[dict[str, Any]] | None = None
    """Only of a long kata that is being written."""
    look_at: list[str] | None = None
    """Only where a person should look at the file."""
    checks: list[StrictCheck]


class StrictCheck(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A check's object."""

    name: str
    id: str
    aspect: str
    hidden: bool
    status: CheckStatus
    points: float
    max_points: float
    message: str | None
    location: dict[str, int] | None
    misconception: str | None
    likely: str | None
    output: str | None
    speed: dict[str, Any] | None = None
    """Of speed checks alone."""
    same_mistake: str | None = None
    redrawn: int | msgspec.UnsetType = msgspec.UNSET
    """Only where a hidden check was judged by the reference with a mistake that is deducted elsewhere."""


class StrictSet(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The whole answer."""

    schema: int
    score: float
    max_score: float
    katas: list[StrictReport]


@pytest.mark.slow
def test_json_is_one_document_of_the_promised_form(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    ran = kata("check", "--json", "--seed", "7")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.count("\n") == 1
    answer = msgspec.json.decode(ran.out.encode(), type=StrictSet)
    assert answer.schema == 1
    masks, attention, *_ = answer.katas
    assert (masks.kata, masks.number, masks.status, masks.seed, masks.learner) == (
        "masks",
        "9.3.1",
        "fail",
        7,
        None,
    )
    assert attention.status == "not_started"
    assert answer.score == sum(report.score for report in answer.katas)
    assert answer.max_score == sum(report.max_score for report in answer.katas)
    for report in answer.katas:
        assert report.score == sum(check.points for check in report.checks)
        assert report.max_score == sum(check.max_points for check in report.checks)
        assert set(report.versions) >= {"kata", "torch", "python"}
        assert report.isolation in ("full", "confined", "process", "none")
    first = next(check for check in masks.checks if check.status == "fail")
    assert first.points == 0
    assert first.message
    assert first.location is not None


def test_the_model_and_the_contract_name_the_same_fields() -> None:
    for model, theirs in ((KataReport, StrictReport), (CheckReport, StrictCheck), (ReportSet, StrictSet)):
        assert set(model.__struct_fields__) == set(theirs.__struct_fields__)
    judged = {"pass", "fail", "error", "timeout"}
    assert set(get_args(KataStatus)) == judged | {"in_progress", "not_started", "missing", "not_graded"}
    assert set(get_args(CheckStatus)) == judged | {"todo", "skipped"}


@pytest.mark.slow
def test_results_on_stdout_and_progress_on_stderr(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    ran = kata("check")
    assert ran.err.startswith("checking masks, masked-attention")
    assert "checking" not in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.slow
def test_the_first_failure_in_full_and_a_line_for_each_other_kata(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    text = kata("check").text
    assert text.count("FAIL 9.3.1") == 1
    assert "called  causal_mask(seq_len=4)" in text
    assert "not started  9.3.2 masked-attention" in text
    assert "kata hint masks" in text
    assert "0 of " in text


@pytest.mark.slow
def test_the_repeat_line_repeats_just_that_check(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    text = kata("check", "masks", "--seed", "3").out
    line = next(line for line in text.splitlines() if line.strip().startswith("repeat"))
    words = line.split()[1:]
    assert words[:3] == ["kata", "check", "masks"]
    assert words[-2:] == ["--seed", "3"]
    again = kata(*words[1:])
    block, others, _ = text[text.index("FAIL") :].partition("  others  ")
    assert others  # of which there are none in what is repeated
    assert again.out[again.out.index("FAIL") :] == block


@pytest.mark.slow
def test_quiet_verbose_and_fail_fast(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(WRONG)
    quiet = kata("check", "-q")
    assert quiet.err == ""
    assert len(quiet.out.splitlines()) == 1 + sum(path.is_dir() for path in unit.iterdir())  # and the sum
    (unit / "masks" / "masks.py").write_text(
        WRONG + "\n\ndef padding_mask(tokens, pad_id=0):\n    return None\n"
    )
    verbose = kata("check", "-v", "masks").text
    normal = kata("check", "masks").text
    assert verbose.count("called  ") > normal.count("called  ") == 1
    stopped = kata("check", "-x", "masks", "--json").json["katas"][0]
    assert [check["status"] for check in stopped["checks"]].count("fail") == 1
    assert stopped["checks"][-1]["status"] == "fail"


@pytest.mark.slow
def test_a_keyword_picks_checks_and_one_without_any_is_a_mistake(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(RIGHT)
    ran = kata("check", "masks", "-k", "padding and not values", "--json").done()
    checks = ran.json["katas"][0]["checks"]
    assert "test_padding_shape" in [check["id"] for check in checks]
    assert all("padding" in check["id"] + check["name"] and "values" not in check["id"] for check in checks)
    by_title = kata("check", "-k", "itself", "--json").json["katas"]
    assert by_title
    kata("check", "-k", "nonsense").refused("No check matches -k 'nonsense'")
    assert "test_causal_values" in kata("check", "masks", "-v").text  # where it is told to look
    kata("check", "-k", "and or").refused("-k")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [("--seed", "-1"), ("--seed", "x"), ("--timeout", "0"), ("--nonsense",), ("a", "b")], ids=str
)
def test_a_wrong_option_is_usage(kata: Run, unit: Path, arguments: tuple[str, ...]) -> None:
    kata("check", *arguments).refused("kata check --help")


@pytest.mark.slow
def test_a_file_a_folder_and_an_id_mean_the_same(
    kata: Run, unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = unit / "masks" / "masks.py"
    file.write_text(RIGHT)
    for what in (file, file.parent, "9.3.1", "masks"):
        ran = kata("check", what, "--json").done()
        assert [report["kata"] for report in ran.json["katas"]] == ["masks"]
    monkeypatch.chdir(file.parent)
    assert kata("check").code == 0
    elsewhere = unit.parent.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "masks.py").write_text(WRONG)
    monkeypatch.chdir(elsewhere)
    ran = kata("check", "masks.py")
    assert ran.code == 1
    assert "kata check masks.py -k" in ran.text  # the repeat line means the same file


@pytest.mark.nightly
def test_progress_remembers_whole_checks_only(kata: Run, unit: Path) -> None:
    def entry() -> dict[str, Any]:
        found: dict[str, Any] = json.loads((unit.parent / "kata-progress.json").read_text())["katas"]["masks"]
        return found

    file = unit / "masks" / "masks.py"
    kata("check")
    assert (entry()["attempts"], entry()["status"]) == (0, "not_started")
    file.write_text(WRONG)
    kata("check", "masks", "-k", "padding")
    kata("check", "masks", "-x")
    assert entry()["attempts"] == 0
    kata("check", "masks", "--json")
    assert (entry()["attempts"], entry()["status"], entry()["passed"]) == (1, "fail", None)
    best = entry()["best"]
    assert best > 0
    file.write_text(RIGHT)
    kata("check", "masks")
    assert (entry()["attempts"], entry()["status"], entry()["best"]) == (2, "pass", 10)
    passed = entry()["passed"]
    file.write_text("x =")
    kata("check", "masks")
    assert (entry()["status"], entry()["best"], entry()["passed"]) == ("error", 10, passed)


def test_a_file_elsewhere_does_not_change_progress(kata: Run, unit: Path, tmp_path: Path) -> None:
    before = (unit.parent / "kata-progress.json").read_bytes()
    other = tmp_path / "masks.py"
    other.write_text(RIGHT)
    assert kata("check", other).code == 0
    assert (unit.parent / "kata-progress.json").read_bytes() == before


def test_a_pass_says_what_may_follow(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.py").write_text(RIGHT)
    text = kata("check", "masks").text
    assert "10/10 points" in text
    assert "kata solution masks" in text
    assert "FAIL" not in text


@pytest.mark.slow
def test_the_reference_and_the_alternatives_pass_with_any_seed(kata: Run, unit: Path) -> None:
    for seed in (1, 2):
        for file in [
            SOLUTIONS / "masks" / "masks.py",
            *sorted((SOLUTIONS / "masks" / "alternatives").glob("*.py")),
        ]:
            (unit / "masks" / "masks.py").write_text(file.read_text())
            assert kata("check", "masks", "--seed", seed, "-q").code == 0, file


@pytest.mark.slow
def test_a_notebook_is_checked_as_a_module_is(kata: Run, folder: Path) -> None:
    import nbformat

    assert kata("start", "masks", "--notebook").code == 0
    file = folder / "9.3-encoder-vs-decoder" / "masks" / "masks.ipynb"
    assert kata("check", "masks", "--json").json["katas"][0]["status"] == "not_started"
    notebook = nbformat.read(file, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("%matplotlib inline\n!ls\nraise RuntimeError('scratch')"))
    notebook.cells.append(nbformat.v4.new_code_cell(WRONG))
    nbformat.write(notebook, file)
    wrong = kata("check", "masks")
    assert wrong.code == 1
    assert "called  causal_mask(seq_len=4)" in wrong.text
    notebook.cells[-1].source = RIGHT
    nbformat.write(notebook, file)
    assert kata("check").code == 0
    notebook.cells[-1].source = RIGHT + "\ndef causal_mask(n):\n    return 1 +* 2\n"
    nbformat.write(notebook, file)
    broken = kata("check")
    assert broken.code == 1
    assert (
        f"masks.ipynb, cell {sum(cell.cell_type == 'code' for cell in notebook.cells)}, line" in broken.text
    )
    file.write_text("{")
    broken = kata("check", "--json").json["katas"][0]
    assert broken["status"] == "error"
    assert "it is not JSON" in broken["message"]


def test_a_module_and_a_notebook_side_by_side_are_refused(kata: Run, unit: Path) -> None:
    (unit / "masks" / "masks.ipynb").write_text("{}")
    kata("check", "masks").refused("exists twice")


@pytest.mark.slow
def test_debugging_in_one_process_keeps_nothing(
    kata: Run, unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops: list[str] = []
    monkeypatch.setattr(
        "pdb.Pdb.interaction", lambda _, frame, trace: stops.append(trace.tb_frame.f_code.co_name)
    )
    (unit / "masks" / "masks.py").write_text(ours.masks("raise ValueError('stop here')"))
    before = (unit.parent / "kata-progress.json").read_bytes()
    ran = kata("check", "masks", "--pdb", "-k", "test_causal_shape")
    assert ran.code == 1
    assert stops == ["causal_mask"]
    assert "ValueError: stop here" in ran.text
    assert "in causal_mask" in ran.text
    (unit / "masks" / "masks.py").write_text("x = = 1\n")
    ran = kata("check", "masks", "--pdb")
    assert ran.code == 1
    assert "masks.py does not load" in ran.text
    assert (unit.parent / "kata-progress.json").read_bytes() == before


@pytest.mark.slow
def test_the_first_words_come_before_torch(kata_process: Run, folder: Path) -> None:
    assert kata_process("start", "masks", cwd=folder).code == 0
    ran = kata_process("check", cwd=folder, env={"PYTHONPROFILEIMPORTTIME": "1"})
    torch_begins = re.search(r"\|\s+torch\b", ran.err)
    assert torch_begins is not None
    assert ran.err.index("checking masks") < torch_begins.start()


@pytest.mark.slow
def test_a_forged_environment_changes_nothing(kata: Run, unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options and plugins of the learner's own pytest are not ours, nor is a conftest beside an answer."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only -p no_such_plugin")
    (unit / "masks" / "conftest.py").write_text("raise SystemExit(0)\n")
    (unit.parent / "pytest.ini").write_text("[pytest]\naddopts = --co\n")
    (unit / "masks" / "masks.py").write_text(WRONG)
    assert kata("check", "masks").code == 1
    (unit / "masks" / "masks.py").write_text(RIGHT)
    assert kata("check", "masks").code == 0


@pytest.mark.nightly
def test_both_launchers_agree(kata_process: Run, folder: Path) -> None:
    assert kata_process("start", "masks", cwd=folder).code == 0
    (folder / "9.3-encoder-vs-decoder" / "masks" / "masks.py").write_text(WRONG)
    reports = []
    for launcher in ("fork", "spawn"):
        ran = kata_process("check", "--json", cwd=folder, env={"KATA_LAUNCHER": launcher})
        assert ran.code == 1
        report = ran.json["katas"][0]
        reports.append(
            {key: value for key, value in report.items() if key not in ("duration_s", "isolation")}
        )
    assert reports[0] == reports[1]
    kata_process("check", cwd=folder, env={"KATA_LAUNCHER": "teleport"}).refused("fork or spawn")


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "timed"), [("layer-norm", True), ("byte-pairs", False)])
def test_perf_says_where_there_is_no_speed_to_check(kata: Run, folder: Path, slug: str, timed: bool) -> None:
    assert kata("start", slug).code == 0
    said = "there are no speed checks here; --perf changes nothing"
    assert (said in kata("check", slug, "--perf").err) is not timed
    assert said not in kata("check", slug).err
    assert said not in kata("check", slug, "--perf", "-q").err


@pytest.mark.slow
def test_half_of_a_long_kata_is_a_result(kata: Run, folder: Path) -> None:
    assert kata("start", "rotary-positions").code == 0
    file = folder / "9.2-positional-encoding" / "rotary-positions" / "rotary_positions.py"
    right = SOLUTIONS.parent.joinpath(*file.parts[-3:]).read_text()
    unwritten = "\n\ndef alibi_bias(*given, **named):\n    raise NotImplementedError\n"
    file.write_text(f"{right}{unwritten}")
    told = kata("check", "rotary-positions")
    assert [line.split()[1] for line in told.out.splitlines() if "stage" in line] == [
        "passed",
        "passed",
        "to",
    ]
    stages = kata("check", "rotary-positions", "--json").json["katas"][0]["stages"]
    assert [stage["done"] for stage in stages] == [True, True, False]
    assert stages[2]["parts"] == ["alibi_slopes", "alibi_bias"]
    late = right.replace(
        "def relative_buckets(", "def relative_buckets(*given, **named):\n    return given[0]\n\n\ndef other("
    )
    file.write_text(late)
    lines = [line for line in kata("check", "rotary-positions").out.splitlines() if "stage" in line]
    assert [line.split()[1] for line in lines] == ["passed", "failed", "passed"]  # it is written, and wrong
    stages = kata("check", "rotary-positions", "--json").json["katas"][0]["stages"]
    assert [stage["done"] for stage in stages] == [True, False, True]
    file.write_text(right)
    assert "stages" not in kata("check", "rotary-positions", "--json").json["katas"][0]
