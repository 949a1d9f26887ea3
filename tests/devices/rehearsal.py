"""All of the engine that mentions a device, on the pretended one. test_rehearsal.py runs this in its own process."""

from __future__ import annotations

import copy
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.catalogue import Catalogue, load_pack
from grader.checks.raised import describe_raised
from grader.devices import Device
from grader.errors import UsageError
from grader.host.endings import SubmissionRaised, WorkerTimeout
from grader.host.source import read_source
from grader.packs.calibrate import machine
from grader.reports.report import KataReport
from grader.running.demands import demands_of, setting_of
from grader.running.suite import Options, with_suites
from grader.timing import benchmark_run
from grader.timing.speed import MEMORY
from grader.worker import calibration_kernel
from tests.calibrated import as_if_measured
from tests.conftest import Examine, Ran

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "tests" / "hostile" / "speed"
ON = Options(device="pretend")
there: Any = Device("pretend").module


# --- the device itself: if it is no good, nothing here says anything ---


def test_it_says_what_it_is() -> None:
    assert str(torch.ones(2, device="pretend").device) == "pretend:0"
    assert "pretended" in Device("pretend").describe()
    assert "pretended" in machine("pretend")
    with pytest.raises(UsageError, match="there is pretend:0"):
        Device("pretend:3").require()


def test_what_lies_there_meets_nothing_that_lies_elsewhere() -> None:
    x = torch.ones(2, 3, device="pretend")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + torch.ones(2, 3)
    with pytest.raises(TypeError, match="can't convert pretend:0 device type tensor to numpy"):
        x.numpy()
    with pytest.raises(RuntimeError, match="Expected a 'pretend' device type for generator but found 'cpu'"):
        torch.rand(3, device="pretend", generator=torch.Generator())


def test_a_model_learns_there_what_it_learns_on_the_cpu() -> None:
    def trained(device: str) -> torch.Tensor:
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Embedding(7, 8),
            torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True),
            torch.nn.LayerNorm(8),
        ).to(device)
        tokens = (torch.arange(12).view(2, 6) % 7).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        for _ in range(3):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(tokens)[:, -1], tokens[:, 0]).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        return model(tokens).detach().cpu()

    torch.testing.assert_close(trained("pretend"), trained("cpu"))


def test_what_lies_there_is_copied_whole() -> None:
    model = torch.nn.Linear(3, 2).to("pretend")
    model(torch.ones(1, 3, device="pretend")).sum().backward()
    other = copy.deepcopy(model)
    assert other.weight.device.type == "pretend"
    before = model.weight.detach().cpu().clone()
    with torch.no_grad():
        other.weight.zero_()
    assert torch.equal(model.weight.detach().cpu(), before)
    rows = torch.arange(6.0, device="pretend").view(2, 3)[1]  # a view keeps its place in what is copied
    assert copy.deepcopy(rows).tolist() == [3.0, 4.0, 5.0]


def test_streams_and_events_tell_when_work_is_done() -> None:
    begin, end = there.Event(enable_timing=True), there.Event(enable_timing=True)
    begin.record()
    there._sleep(50_000_000)
    end.record()
    assert not end.query()  # it was handed in, and nobody has waited
    there.synchronize()
    assert end.query()
    assert begin.elapsed_time(end) >= 50


def test_memory_is_counted_and_given_back() -> None:
    before = there.memory_allocated()
    there.reset_peak_memory_stats()
    x = torch.ones(1 << 20, device="pretend")
    view, copy = x[::2], x + 1
    del x
    assert there.memory_allocated() - before == 2 << 22  # the view keeps what it looks at
    del view, copy
    assert there.memory_allocated() == before
    assert there.max_memory_allocated() - before == 2 << 22


# --- workers ---

SOURCE = """
    import torch
    def mixed(x):
        return x + torch.ones(x.shape)
    def much(x):
        return torch.empty(1 << 28, device=x.device)
    def hang(x):
        torch.pretend._sleep(10**15)
        return x
    def roll(x):
        return torch.rand(3, device=x.device)
    def fused(x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])
"""


@pytest.fixture
def answer(examine: Examine) -> Any:
    return examine(SOURCE, device="pretend", gpu_bytes=64 << 20, forbid=("torch.nn.functional.layer_norm",))


X = torch.ones(2, 3, device="pretend")


def told(call: Callable[[], Any]) -> str:
    with pytest.raises(SubmissionRaised) as raised:
        call()
    return "\n".join(describe_raised(raised.value))


def test_a_tensor_made_on_the_cpu_is_told_as_that(answer: Any) -> None:
    text = told(lambda: answer.submission.mixed(X))
    assert "Expected all tensors to be on the same device" in text
    assert "your code made a tensor on cpu" in text


def test_too_much_memory_is_told_as_that(answer: Any) -> None:
    text = told(lambda: answer.submission.much(X))
    assert "OutOfMemoryError: pretend out of memory" in text
    assert "it used more than 64 MB of the device's memory" in text


def test_a_kernel_that_never_ends_is_a_time_out(answer: Any) -> None:
    answer.begin(0, 1.0)
    with pytest.raises(WorkerTimeout):
        answer.submission.hang(X)
    answer.begin(1)
    assert answer.submission.mixed  # another worker is there


def test_every_check_has_its_own_random_numbers(answer: Any) -> None:
    drawn = []
    for seed in (5, 5, 6):
        answer.begin(seed)
        drawn.append(answer.submission.roll(X).tolist())
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_is_excluded_is_noticed_there(answer: Any) -> None:
    assert answer.session.forbidden_uses() == []
    answer.submission.fused(X)
    assert answer.session.forbidden_uses() == ["torch.ops.aten.layer_norm (line 13)"]


def test_a_yardstick_measures_there() -> None:
    calibration_kernel.copy(1 << 12, "pretend")
    calibration_kernel.product(16, "pretend")
    assert calibration_kernel.echo(X, 5).device.type == "pretend"


# --- our own katas ---

SOME = {
    "encoder-layer": "gradients or from_scratch",
    "classifier": "test_gradients or from_scratch",
    "decoder-lm": "cache or generator",
}


@pytest.mark.parametrize("slug", [kata.slug for kata in Catalogue.discover().katas])
def test_a_reference_holds_there(slug: str, launcher: Any) -> None:
    """All checks of the small katas; of the large, whose models take thousands of operators, some of each kind."""
    kata = Catalogue.discover().resolve_one(slug)
    assert kata.solution is not None

    def examine(suites: dict[str, Any]) -> KataReport:
        suite = suites[slug].but_for(suites[slug].trained())
        return suite.check(kata.solution, launcher, ON)  # type: ignore[no-any-return]

    report = with_suites([kata], examine, hidden=True, keyword=SOME.get(slug))
    assert report.device == "pretend"
    assert [(check.id, check.message) for check in report.checks if check.status != "pass"] == []
    assert report.checks


# --- what is timed ---


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small pack with thresholds of speed, and where it lies."""
    monkeypatch.setattr(benchmark_run, "MOST_CALLS", 1)
    monkeypatch.setenv("KATA_LOCKS", str(tmp_path))
    pack = Path(shutil.copytree(ROWS / "pack", tmp_path / "pack"))
    checks = pack / "1.1-rows" / "rows" / "speed_checks.py"
    few = checks.read_text().replace("rows: 128, 512)", "rows: 128, 64)")
    checks.write_text(few)  # a loop over 64 rows, all of it in Python here, is slow enough
    monkeypatch.setenv("KATA_PACKS", str(pack))
    shutil.copy(ROWS / "waste.py", tmp_path)
    return pack


def timed(pack: Path, answer: str, launcher: Any, keyword: str) -> KataReport:
    [kata] = load_pack(pack).katas
    file = Path(shutil.copy(ROWS / "answers" / f"{answer}.py", pack.parent / "rows.py"))
    return with_suites([kata], lambda s: s["rows"].check(file, launcher, ON), speed=True, keyword=keyword)


@pytest.mark.parametrize(("answer", "verdict"), [("fast", "pass"), ("slow", "fail")])
def test_speed_is_shown_there_and_marks_nobody(answer: str, verdict: str, rows: Path, launcher: Any) -> None:
    as_if_measured(rows / "1.1-rows" / "rows", "cuda")  # on another kind, for the same number
    report = timed(rows, answer, launcher, "test_values or test_time")
    values, speed = report.checks
    assert (values.status, speed.status, speed.points) == ("pass", "skipped", 0.0)
    assert "shown, not marked" in (speed.message or "")
    assert "(pretend)" in (speed.message or "")
    assert speed.speed
    assert speed.speed.verdict == verdict
    assert (report.status, report.max_score, report.device) == ("pass", values.max_points, "pretend")


def test_a_peak_is_what_the_submission_took_of_the_device(rows: Path, launcher: Any) -> None:
    """Neither the contexts of drivers, nor the baseline, nor what the grader itself has there."""
    found = {}
    for answer in ("fast", "greedy"):
        _, speed = timed(rows, answer, launcher, "test_values or test_memory").checks
        assert speed.speed
        found[answer] = speed.speed.value
    assert 1 < found["fast"] < 14 < found["greedy"] < 400


def test_what_our_katas_time_can_be_done_there(launcher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each speed check at the first size of a GPU, its answers looked at by the check; 9.3.7's model is too large."""
    monkeypatch.setattr(benchmark_run, "WARM_S", 60.0)  # whether it is slow here is nothing to go by
    katas = [kata for kata in Catalogue.discover().katas if kata.speed_checks and kata.slug != "decoder-lm"]
    tried = set()
    for demand in demands_of(katas):
        if demand.threshold.cuda is None:
            continue
        assert demand.kata.solution is not None
        setting = setting_of(demand.kata, read_source(demand.kata.solution), launcher, "pretend")
        size = demand.work.sizes_on("cuda")[0]
        with benchmark_run.BenchmarkRun(setting) as run:
            if demand.form in MEMORY:  # the baseline has no part in it
                run.submission_turn(demand.work, size, 60.0)
            else:
                run.warm(demand.work, size)
        tried.add(demand.kata.slug)
    assert tried == {kata.slug for kata in katas}


# --- a class ---

RIGHT = """
    import torch
    from torch import nn

    class Rows(nn.Module):
        def __init__(self, width):
            super().__init__()
        def forward(self, x):
            centred = x - x.mean(-1, keepdim=True)
            return centred / ((centred * centred).mean(-1, keepdim=True) + 1e-5).sqrt()
"""
ON_THE_CPU = RIGHT.replace(
    "x - x.mean(-1, keepdim=True)", "x - x.mean(-1, keepdim=True) + torch.zeros(len(x), 1)"
)


def test_a_class_is_graded_there_and_every_mark_says_so(
    rows: Path, tmp_path: Path, kata_process: Callable[..., Ran]
) -> None:
    """Two grading processes at once, timing too: they wait for each other's turn on the one device."""
    for name, source in {"ada": RIGHT, "bob": ON_THE_CPU, "cy": RIGHT}.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "rows.py").write_text(textwrap.dedent(source))
    where = {"KATA_PACKS": str(rows), "KATA_LOCKS": str(tmp_path)}
    command = (
        "grade",
        "class",
        "--only",
        "rows",
        "--device",
        "pretend",
        "--perf",
        "-j",
        "2",
        "--json",
        "out.jsonl",
        "--gradebook",
        "pretend.sqlite",
    )
    ran = kata_process(*command, cwd=tmp_path, env=where)
    assert ran.code == 0, ran.text
    assert "pretended: no accelerator computed this" in ran.err
    reports = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(r["learner"], r["status"], r["score"], r["max_score"]) for r in reports] == [
        ("ada", "pass", 1.0, 1.0),
        ("bob", "fail", 0.0, 1.0),
        ("cy", "pass", 1.0, 1.0),
    ]
    assert "your code made a tensor on cpu" in reports[1]["checks"][0]["message"]
    assert {r["device"] for r in reports} == {"pretend"}
    for report in reports:
        assert report["versions"]["device"].startswith("pretended: ")
        for check in report["checks"]:
            if check["aspect"] == "performance":
                assert check["points"] == 0.0
    with sqlite3.connect(tmp_path / "pretend.sqlite") as book:
        assert set(book.execute("select device from attempts")) == {("pretend",)}
    assert sorted(path.name for path in tmp_path.glob("kata-pretend*")) == [
        "kata-pretend-0-device.lock",
        "kata-pretend-0-turn.lock",
    ]
    assert not list(tmp_path.glob("kata-cpu*"))


SLOW = '''
    """you loop over rows: one expression does all of them

    Fails: test_time
    """

    import torch
    from torch import nn

    class Rows(nn.Module):
        def __init__(self, width):
            super().__init__()
        def forward(self, x):
            rows = []
            for row in x:
                centred = row - row.mean()
                rows.append(centred / ((centred * centred).mean() + 1e-5).sqrt())
            return torch.stack(rows)
'''


def test_what_needs_a_gpu_runs_from_end_to_end(rows: Path, tmp_path: Path) -> None:
    """`make gpu`, for one kata with one threshold."""
    kata = rows / "1.1-rows" / "rows"
    about = (kata / "kata.toml").read_text().replace("speed_points = 4.0", "speed_points = 1.0")
    (kata / "kata.toml").write_text(about.partition("[speed.growth]")[0])
    checks = (kata / "speed_checks.py").read_text().split("\n\n\n@check(")
    (kata / "speed_checks.py").write_text(
        "\n\n\n@check(".join([checks[0], *(one for one in checks if "def test_time(" in one)]) + "\n"
    )
    answers = tmp_path / "solutions" / "1.1-rows" / "rows"
    (answers / "slow").mkdir(parents=True)
    (answers / "rows.py").write_text(textwrap.dedent(RIGHT))
    (answers / "slow" / "looped.py").write_text(textwrap.dedent(SLOW))
    page = ROOT / "docs" / "performance.md"
    before = page.read_bytes()
    ran = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "gpu.py", "rows"],
        env={**os.environ, "KATA_SOLUTIONS": str(tmp_path / "solutions")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("pretend: pretended: no accelerator computed this")
    assert "1.1.1 rows: pass" in ran.stdout
    assert "on pretend" in ran.stdout
    assert (
        "a pretended accelerator, no GPU" in ran.stdout.split("1.1.1 rows: pass")[1]
    )  # what the figures depend on
    assert page.read_bytes() == before
    assert not (kata / "calibration.json").read_text().count("pretend")
