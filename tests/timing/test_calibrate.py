"""Thresholds between measured answers: what is proposed, what is refused, what the page gets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.author.calibrate import (
    PAGE,
    Calibrated,
    Calibrator,
    markdown,
    read_page,
    record,
    rows,
    write_page,
)
from grader.author.perf_requests import demands_of
from grader.catalogue import Catalogue, Kata
from grader.engine.checks.failure import CheckFailure, Failure
from grader.engine.timing.benchmark_run import TurnTimeout
from grader.engine.timing.speed import Round, Speed
from grader.errors import PackError, UsageError
from tests.conftest import Run
from tests.ours import katas as our_katas
from tests.timing.handmade import ASKS, RIGHT, SLOW, Handmade
from tests.timing.steps import tell_times

pytestmark = pytest.mark.slow

Canned = dict[str, Any]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Handmade:
    pack = Handmade(tmp_path)
    monkeypatch.setenv("KATA_PACKS", str(pack.pack))
    monkeypatch.setenv("KATA_SOLUTIONS", str(pack.solutions))
    monkeypatch.setenv("KATA_LOCKS", str(tmp_path))
    return pack


def the_kata() -> Kata:
    return Catalogue.discover().resolve_one("sums")


@pytest.fixture
def found(made: Handmade, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Calibrated]:
    """Calibrate with rounds that are told instead of measured: by answer, a value, value and anchor, or an end."""

    def calibrate(device: str = "cpu", **told: Any) -> Calibrated:
        def rounds(self: Speed, form: str, work: object, count: int) -> Iterator[Round]:
            value = told[self.setting.submission.path.stem]
            if isinstance(value, Exception):
                raise value
            value, anchored = value if isinstance(value, tuple) else (value, None)
            for shift in range(count):
                yield Round(value * (1 + 0.001 * (shift - count // 2)), False, anchored)

        monkeypatch.setattr(Speed, "rounds", rounds)
        launcher: Any = None
        return Calibrator(launcher, device=device).calibrate([the_kata()])

    return calibrate


def refused(calibrated: Calibrated) -> list[str]:
    return [finding.rule for finding in calibrated.findings]


# --- what speed checks ask for ---


def test_demands_are_read_without_a_submission(made: Handmade) -> None:
    (demand,) = demands_of([the_kata()])
    assert (demand.check, demand.name, demand.form) == ("test_total", "total", "ratio")
    assert demand.title == "no loop over numbers"
    assert demand.threshold.cpu == 8.0
    assert demand.work.sizes_on("cpu")[-1] == 100_000


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("speed.fastest(WORK)", "fastest"),
        ("speed.ratio(WORK)\n    fail('and more')", "and more"),
    ],
)
def test_a_speed_check_that_does_more_than_to_ask_is_broken(made: Handmade, body: str, says: str) -> None:
    made.checks(ASKS.replace("speed.ratio(WORK)", body))
    with pytest.raises(PackError, match=says):
        demands_of([the_kata()])


# --- the threshold among what was measured ---


def test_a_threshold_with_room_on_both_sides_holds(made: Handmade, found: Callable[..., Calibrated]) -> None:
    made.alternative("other")
    made.slow("worse", SLOW.replace("looped", "worse"))
    calibrated = found(sums=1.0, other=2.0, looped=50.0, worse=90.0)
    assert refused(calibrated) == []
    (one,) = calibrated.thresholds
    assert (one.kata, one.name, one.check, one.form) == ("sums", "total", "test_total", "ratio")
    assert one.slowest_accepted is not None
    assert one.fastest_slow is not None
    assert (one.slowest_accepted.answer, one.fastest_slow.answer) == ("other", "looped")
    assert one.slowest_accepted.value == 2.0
    assert len(one.slowest_accepted.rounds) == 7
    assert one.proposed == pytest.approx(10.0)
    assert (one.room_below, one.room_above) == (pytest.approx(4.0), pytest.approx(6.25))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("told", "rules", "says"),
    [
        ({"sums": 7.0, "looped": 50.0}, ["headroom"], "×1.14 below it"),
        ({"sums": 7.0, "looped": 50.0}, ["headroom"], "18.7 would have ×2.67 on both sides"),
        ({"sums": 1.0, "looped": 9.0}, ["headroom"], "×1.12 above it"),
        ({"sums": 7.0, "looped": 9.0}, ["headroom", "headroom"], "no number has more than ×1.13"),
        (
            {"sums": 8.5, "looped": 50.0},
            ["right answers"],
            "sums is over the threshold: 8.5 where 8 is the threshold",
        ),
        ({"sums": 1.0, "looped": 3.0}, ["slow answers"], "looped is not over the threshold: 3 where 8"),
        (
            {"sums": CheckFailure(Failure("values", ("it is wrong",))), "looped": 50.0},
            ["right answers"],
            "sums cannot be measured: it is wrong",
        ),
    ],
)
def test_what_is_refused(found: Callable[..., Calibrated], told: Canned, rules: list[str], says: str) -> None:
    calibrated = found(**told)
    assert refused(calibrated) == rules
    assert any(says in finding.message for finding in calibrated.findings), calibrated.findings
    assert all("total (test_total)" in finding.message for finding in calibrated.findings)
    assert rows(calibrated)[0][-1].startswith("refused: ")


@pytest.fixture
def graded_on_a_gpu(made: Handmade, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold counts on a GPU as well."""
    monkeypatch.setattr("grader.author.calibrate.machine", lambda _: "a GPU")
    made.toml("cpu = 8.0\ncuda = 8.0")
    made.checks("WORK.sizes['cuda'] = (1, 2, 4)\n" + ASKS)


@pytest.mark.usefixtures("graded_on_a_gpu")
def test_less_room_is_asked_on_a_gpu(found: Callable[..., Calibrated]) -> None:
    assert refused(found("cuda", sums=6.0, looped=50.0)) == []
    assert refused(found("cuda", sums=6.6, looped=50.0)) == ["headroom"]


@pytest.mark.usefixtures("graded_on_a_gpu")
def test_a_slow_answer_that_does_not_show_on_a_device_is_not_measured_there(
    made: Handmade, found: Callable[..., Calibrated]
) -> None:
    made.slow("hidden", SLOW.replace("looped", "hidden").replace('_total"]', '_total"], told_on="cpu"'))
    assert refused(found("cuda", sums=1.0, looped=50.0, hidden=2.0)) == []
    assert refused(found("cpu", sums=1.0, looped=50.0, hidden=2.0)) == ["slow answers"]


def test_a_threshold_that_is_not_graded_here_is_left_out(
    made: Handmade, found: Callable[..., Calibrated]
) -> None:
    made.toml("cuda = 8.0")
    calibrated = found(sums=1.0, looped=50.0)
    assert (calibrated.thresholds, calibrated.ungraded) == ([], ["sums total"])


def test_a_slow_answer_has_to_name_a_speed_check(made: Handmade, found: Callable[..., Calibrated]) -> None:
    made.slow("looped", SLOW.replace("test_total", "test_values"))
    calibrated = found(sums=1.0, looped=50.0)
    assert refused(calibrated) == ["slow answers", "slow answers"]
    assert "looped names test_values, which is not a speed check" in calibrated.findings[0].message
    assert "no slow answer names this check" in calibrated.findings[1].message
    made.slow("looped", RIGHT)
    assert "before every mistake" in found(sums=1.0).findings[0].message


def test_an_answer_that_is_cut_off_is_beyond_the_threshold(found: Callable[..., Calibrated]) -> None:
    calibrated = found(sums=1.0, looped=TurnTimeout(8.0))
    assert refused(calibrated) == []
    (one,) = calibrated.thresholds
    assert one.fastest_slow is not None
    assert one.fastest_slow.cut_off
    assert rows(calibrated)[0][5] == "> 80 (looped)"
    assert refused(found(sums=TurnTimeout(8.0), looped=50.0)) == ["right answers"]


@pytest.mark.nightly
def test_of_the_limit_that_is_reached_more_is_better(
    made: Handmade, found: Callable[..., Calibrated]
) -> None:
    made.toml("cpu = 0.1")
    made.checks(ASKS.replace("speed.ratio", "speed.roofline"))
    calibrated = found(sums=0.4, looped=0.01)
    assert refused(calibrated) == []
    (one,) = calibrated.thresholds
    assert one.proposed == pytest.approx(math.sqrt(0.4 * 0.01))
    assert (one.room_below, one.room_above) == (pytest.approx(4.0), pytest.approx(10.0))
    assert refused(found(sums=0.12, looped=0.01)) == ["headroom"]
    assert refused(found(sums=0.4, looped=0.2)) == ["slow answers"]


def test_room_between_exponents_is_room_in_what_they_stand_for(
    made: Handmade, found: Callable[..., Calibrated]
) -> None:
    """Four times the size: the exponents 0 and 2 are a factor of 16 apart, whose middle is 1."""
    made.toml("cpu = 1.2")
    made.checks(ASKS.replace("speed.ratio", "speed.memory_exponent"))
    calibrated = found(sums=0.0, looped=2.0)
    assert refused(calibrated) == []
    (one,) = calibrated.thresholds
    assert one.proposed == pytest.approx(1.0)
    assert (one.room_below, one.room_above) == (pytest.approx(4**1.2), pytest.approx(4**0.8))
    assert refused(found(sums=1.0, looped=2.0)) == ["headroom"]


def test_an_anchor_catches_what_is_slow_at_every_size(
    made: Handmade, found: Callable[..., Calibrated]
) -> None:
    made.toml("cpu = 3.0\nanchor = 4.0")
    made.checks(ASKS.replace("speed.ratio", "speed.growth"))
    calibrated = found(sums=(1.0, 1.1), looped=(1.0, 60.0))
    assert refused(calibrated) == []
    (one,) = calibrated.thresholds
    assert one.proposed is None
    assert one.room_above == pytest.approx(15.0)
    assert "first size 60 times the baseline" in rows(calibrated)[0][5]
    assert refused(found(sums=(1.0, 3.5), looped=(9.0, 1.0))) == ["headroom"]


def test_without_speed_checks_there_is_nothing_to_calibrate(made: Handmade) -> None:
    made.toml("cpu = 8.0")
    (made.folder / "speed_checks.py").unlink()
    toml = made.folder / "kata.toml"
    toml.write_text(toml.read_text().partition("\n[speed")[0].replace("speed_points = 1.0\n", ""))
    launcher: Any = None
    with pytest.raises(UsageError, match="no speed checks"):
        Calibrator(launcher).calibrate([the_kata()])


# --- the page ---


def keep(page: Path, found: Calibrated) -> None:
    record(found, [the_kata()])
    write_page(page, found.device, [the_kata()])


def test_what_was_measured_is_kept_beside_the_kata_and_counts(
    made: Handmade, found: Callable[..., Calibrated]
) -> None:
    assert not the_kata().is_measured("total", "cpu")
    record(found(sums=1.0, looped=50.0), [the_kata()])
    assert the_kata().is_measured("total", "cpu")
    assert not the_kata().is_measured("total", "cuda")
    made.toml("cpu = 8.5")  # of this number nothing is known
    assert not the_kata().is_measured("total", "cpu")
    record(found(sums=1.0, looped=5.0), [the_kata()])
    assert not the_kata().is_measured("total", "cpu")  # it was refused


def test_the_page_of_our_own_katas_is_what_is_kept_beside_them() -> None:
    katas = list(our_katas().values())
    for kind in ("cpu", "cuda"):
        before, after = read_page(ROOT / "docs" / "performance.md", kind)
        text = (ROOT / "docs" / "performance.md").read_text()
        table = text[len(before) : len(text) - len(after)].strip()
        assert table == (markdown(kind, katas) if any(kind in kata.measured for kata in katas) else "")
    counted = {(k.slug, name) for k in katas for name, one in k.speed.items() if one.cpu is not None}
    assert counted == {(k.slug, name) for k in katas for name in k.speed if k.is_measured(name, "cpu")}


def test_the_page_is_begun_and_renewed(tmp_path: Path, found: Callable[..., Calibrated]) -> None:
    page = tmp_path / "docs" / "performance.md"
    keep(page, found(sums=1.0, looped=50.0))
    first = page.read_text()
    assert first.startswith("# Performance\n")
    assert (
        "| 1.1.1 sums | total | ratio | 1 (sums) | 8 | 50 (looped) | 7.07 | ×8.00 / ×6.25 | holds |" in first
    )
    assert "`kata pack calibrate --rounds " in first
    assert "torch 2" in first
    page.write_text(first + "\nWritten by somebody else.\n")
    keep(page, found(sums=1.0, looped=70.0))
    second = page.read_text()
    assert "70 (looped)" in second
    assert "50 (looped)" not in second
    assert second.endswith("Written by somebody else.\n")
    assert second.count("<!-- calibration cpu -->") == second.count("<!-- /calibration cpu -->") == 1
    assert "<!-- calibration cuda -->\n<!-- /calibration cuda -->" in second


def test_a_page_without_marks_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("/calibration cpu", ""))
    read_page(page, "cuda")
    with pytest.raises(UsageError, match="no marks"):
        read_page(page, "cpu")
    assert "Performance" in page.read_text()


# --- the command, with real workers ---


@pytest.fixture
def calibrate(kata: Run, launcher: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr("grader.engine.host.bootstrap.start_launcher", lambda **_: launcher)
    tell_times(monkeypatch, lambda source, _: 1.0 if "math.sin" in source else 1e-3)
    return lambda *arguments: kata("pack", "calibrate", *arguments)


@pytest.mark.nightly
def test_the_command_measures_and_writes(
    made: Handmade, calibrate: Callable[..., Any], tmp_path: Path
) -> None:
    page = tmp_path / "performance.md"
    ran = calibrate("sums", "--rounds", 9, "--write", page, "--json")
    assert ran.code == 0, ran.text
    (one,) = ran.json["thresholds"]
    assert [reading["answer"] for reading in one["accepted"]] == ["sums"]
    assert [len(reading["rounds"]) for reading in one["accepted"]] == [9]
    assert one["slow"][0]["value"] > one["threshold"] > one["accepted"][0]["value"] > 0
    assert ran.json["findings"] == []
    assert "`kata pack calibrate --rounds 9 --device cpu` on " in page.read_text()


def test_the_command_refuses(made: Handmade, calibrate: Callable[..., Any], tmp_path: Path) -> None:
    about = '"looped", "you waste nothing", fails=["test_total"]'
    made.slow("looped", f'mistake({about}, total=".sum() -> .sum().clone()")\n')
    ran = calibrate("sums", "--rounds", 1)
    assert ran.code == 1
    assert "sums: slow answers" in ran.text
    assert "looped is not over" in ran.text
    page = tmp_path / "page.md"
    page.write_text("# No marks\n")
    assert calibrate("sums", "--write", page).code == 2
    assert page.read_text() == "# No marks\n"
