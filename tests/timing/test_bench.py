"""`kata bench`: times of everybody at every size, whatever the answer is like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from grader.timing import bench as engine
from tests.timing.handmade import ASKS, BASELINE, RIGHT, SLOW, WRONG, Handmade

pytestmark = pytest.mark.slow

SIZES = [25_000, 50_000, 100_000]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Handmade:
    pack = Handmade(tmp_path)
    monkeypatch.setenv("KATA_PACKS", str(pack.pack))
    monkeypatch.setenv("KATA_LOCKS", str(tmp_path))
    return pack


@pytest.fixture
def bench(
    made: Handmade, folder: Path, kata: Callable[..., Any], launcher: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Bench an answer: `bench(SOURCE, "--json")`."""
    monkeypatch.setattr("grader.cli.bench.start_launcher", lambda **_: launcher)
    monkeypatch.setattr(engine, "TURNS", 2)

    def run(answer: str, *arguments: object) -> Any:
        (folder / "sums.py").write_text(answer)
        return kata("bench", folder / "sums.py", *arguments)

    return run


def test_times_of_everybody_at_every_size(bench: Callable[..., Any], folder: Path) -> None:
    ran = bench(RIGHT, "--json")
    assert ran.code == 0, ran.text
    (work,) = ran.json["works"]
    assert [point["size"] for point in work["sizes"]] == SIZES
    for point in work["sizes"]:
        assert point["yours_s"] > 0
        assert point["baseline_s"] > 0
        assert point["fused_s"] > 0
        assert point["ratio"] == pytest.approx(point["yours_s"] / point["baseline_s"])
        assert point["limit_s"] is None or point["limit_s"] < point["baseline_s"]
        assert point["peak_bytes"] is None
    assert (work["wrong"], work["stopped"]) == (None, None)
    assert work["checks"] == [
        {
            "id": "test_total",
            "name": "no loop over numbers",
            "threshold": "total",
            "form": "ratio",
            "at": 8.0,
        }
    ]
    assert ran.json["files"] == [str(folder / "kata-bench" / "sums" / "total.svg")]
    assert ElementTree.parse(ran.json["files"][0]).getroot().tag.endswith("svg")


def test_a_table_a_plot_and_a_picture_for_people(bench: Callable[..., Any], tmp_path: Path) -> None:
    ran = bench(RIGHT, "--out", tmp_path / "pictures")
    assert ran.code == 0
    assert "1.1.1 sums: no loop over numbers" in ran.out
    assert "at most 8 times the baseline's time is allowed" in ran.out
    header = next(line.split() for line in ran.out.splitlines() if line.startswith("numbers"))
    assert header[:4] == ["numbers", "yours", "baseline", "fused"]
    assert header[-1] == "yours/baseline"
    assert "milliseconds by numbers" in ran.out
    assert "ff fused" in ran.out
    assert (tmp_path / "pictures" / "total.svg").is_file()


def test_wrong_answers_have_times(bench: Callable[..., Any]) -> None:
    ran = bench(WRONG, "--json")
    assert ran.code == 0
    (work,) = ran.json["works"]
    assert work["wrong"] == "the sum is wrong"
    assert all(point["yours_s"] > 0 for point in work["sizes"])
    assert "the answers are wrong" in bench(WRONG).out


@pytest.mark.parametrize("value", ["'many'", "lambda: n", "None"])
def test_answers_of_another_kind_have_times(bench: Callable[..., Any], value: str) -> None:
    (work,) = bench(f"def total(n):\n    return {value}\n", "--json").json["works"]
    assert "could not use it" in work["wrong"]
    assert work["sizes"][-1]["ratio"] is not None


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("def total(n):\n    raise NotImplementedError\n", "not written yet"),
        ("def total(n):\n    return n.sin()\n", "AttributeError"),
        ("import os\n\n\ndef total(n):\n    os._exit(3)\n", "your code "),
        ("import torch\n\n\ndef total(n):\n    return torch.eye(2).to_sparse()\n", "sparse"),
        (SLOW, "stopped after 0.001 s"),
    ],
)
def test_what_does_not_run_is_said_and_the_baseline_shown(
    bench: Callable[..., Any], answer: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if answer is SLOW:
        monkeypatch.setattr(engine, "PATIENCE_S", 0.001)
    ran = bench(answer, "--json")
    assert ran.code == 0, ran.text
    (work,) = ran.json["works"]
    assert says in work["stopped"]
    assert all(point["baseline_s"] > 0 for point in work["sizes"])
    assert "not measured to the end" in bench(answer).text


@pytest.mark.parametrize(
    ("answer", "says"), [("1 / 0\n", "ZeroDivisionError"), ("def total(\n", "SyntaxError")]
)
def test_what_does_not_load_is_said(bench: Callable[..., Any], answer: str, says: str) -> None:
    ran = bench(answer)
    assert ran.code == 0
    assert says in ran.text


def test_memory_is_shown_where_a_check_asks_for_it(made: Handmade, bench: Callable[..., Any]) -> None:
    made.checks(ASKS.replace("speed.ratio", "speed.memory_exponent"))
    ran = bench(RIGHT, "--json")
    (work,) = ran.json["works"]
    assert all(point["peak_bytes"] > 0 for point in work["sizes"])
    assert "your memory" in bench(RIGHT).out


def test_checks_of_the_same_work_are_measured_once(made: Handmade, bench: Callable[..., Any]) -> None:
    made.toml("cpu = 8.0")
    made.checks(ASKS + ASKS.replace("test_total", "test_growth").replace("speed.ratio", "speed.growth"))
    (work,) = bench(RIGHT, "--json").json["works"]
    assert [check["form"] for check in work["checks"]] == ["ratio", "growth"]


def test_without_a_fused_operator_there_is_no_column(made: Handmade, bench: Callable[..., Any]) -> None:
    checks = made.folder / "speed_checks.py"
    checks.write_text(checks.read_text().replace("    fused=lambda kata, n: kata.torch_total(n),\n", ""))
    assert "fused" not in bench(RIGHT).out


def test_a_fused_operator_that_fails_is_the_packs_fault(made: Handmade, bench: Callable[..., Any]) -> None:
    (made.folder / "baseline.py").write_text(BASELINE.replace("torch_total", "another_name"))
    ran = bench(RIGHT)
    assert ran.code == 3
    assert "baseline.py" in ran.text
    assert "torch_total" in ran.text


def test_what_cannot_be_measured_is_named(made: Handmade, folder: Path, bench: Callable[..., Any]) -> None:
    assert bench("").code == 2
    (made.folder / "speed_checks.py").unlink()
    toml = made.folder / "kata.toml"
    toml.write_text(toml.read_text().partition("\n[speed")[0].replace("speed_points = 1.0\n", ""))
    ran = bench(RIGHT)
    assert ran.code == 2
    assert "There are no speed checks in that." in ran.text
