"""Logs of capstones: `runs.py` puts them into the module, and `logs.py` says which line cannot be read."""

from __future__ import annotations

import ast
import math
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.engine.checks.failure import CheckFailure
from tests import ours

UNIT = ours.ROOT / "katas" / "9.9-capstones"
CAPSTONES = sorted(slug for slug, kata in ours.katas().items() if kata.unit.folder == UNIT)
LOGS = runpy.run_path(str(UNIT / "logs.py"))


@pytest.fixture(params=CAPSTONES)
def slug(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def runs_of(slug: str) -> dict[str, Any]:
    return runpy.run_path(str(UNIT / slug / "runs.py"))


def log_of(slug: str) -> str:
    """Return the log that the reference hands in."""
    solution = ours.katas()[slug].solution
    assert solution is not None
    tree = ast.parse(solution.read_text(encoding="utf-8"))
    (log,) = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)
              and ast.unparse(node.targets[0]) == "LOG"]  # fmt: skip
    return str(log)


def test_a_log_is_put_behind_the_code_and_replaced_by_the_next(slug: str, tmp_path: Path) -> None:
    runs, module = runs_of(slug), tmp_path / "module.py"
    code = 'def training_log():\n    """Return LOG."""\n    return LOG\n'
    module.write_text(code)
    for loss in (4.0, 3.5):
        rows = [(step, loss, 0.01) for step in range(1, runs["STEPS"] + 1)]
        runs["put"]("\n".join([runs["HEADER"], *runs["lines_of"]("base", rows)]) + "\n", module)
    text = module.read_text()
    assert text.startswith(code)
    assert text.count("LOG = ") == 1
    log = LOGS["read"](runpy.run_path(str(module))["training_log"](), runs["RUNS"])
    assert [step for step, _, _ in log["base"][1]] == list(runs["LOGGED"])
    assert {loss for _, loss, _ in log["base"][1]} == {3.5}


def test_the_log_of_the_reference_is_whole(slug: str) -> None:
    runs = runs_of(slug)
    log = LOGS["whole"](log_of(slug), runs["RUNS"], runs["LOGGED"])
    assert {run: seed for run, (seed, _) in log.items()} == {
        run: runs["seed_of"](run) for run in runs["RUNS"]
    }


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("base,1,2,3.9", "line 3 of the log  has 4 cells, not 5"),
        ("base,1,2,low,0.1", "line 3 of the log  has no number as its loss: 'low'"),
        ("base,1,2,nan,0.1", "line 3 of the log  has a number that cannot be"),
        ("base,1,1,4.0,0.1", "line 3 of the log  goes back to step 1"),
        ("base,2,2,4.0,0.1", "line 3 of the log  has another seed"),
        ("mine,1,2,4.0,0.1", "line 3 of the log  has no run of the lesson: 'mine'"),
        pytest.param("base,1,2,4.0,0.1\n" * 10_000, "at most 60,000", id="long"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(bad: str, said: str) -> None:
    text = f"{LOGS['HEADER']}\nbase,1,1,4.0,0.1\n{bad}\n"
    with pytest.raises(CheckFailure) as failed:
        LOGS["read"](text, {"base": {}})
    assert said in str(failed.value)


def test_base_runs_of_one_seed_are_named(slug: str) -> None:
    runs = runs_of(slug)["RUNS"]
    LOGS["expect_seeds_of_their_own"](LOGS["read"](log_of(slug), runs))
    log = LOGS["read"](log_of(slug).replace("base-4,4,", "base-4,2,"), runs)
    with pytest.raises(CheckFailure, match="the same seed  base-2 and base-4"):
        LOGS["expect_seeds_of_their_own"](log)


# --- what our model answers say of our own log: computed from the log ---


class Ends:
    """Losses of a log's runs at their ends, or at one step: how far are they from the base runs?"""

    def __init__(self, slug: str, step: int | None = None) -> None:
        runs = runs_of(slug)
        log = LOGS["whole"](log_of(slug), runs["RUNS"], runs["LOGGED"])
        self.loss = {
            run: runs["end_of"](rows) if step is None else next(loss for at, loss, _ in rows if at == step)
            for run, (_, rows) in log.items()
        }
        base = [loss for run, loss in self.loss.items() if run.startswith("base")]
        self.mean, self.low, self.high = sum(base) / len(base), min(base), max(base)
        self.spread = self.high - self.low

    def away(self, run: str) -> float:
        """Return how many spreads a run is above the mean of the base runs."""
        return (self.loss[run] - self.mean) / self.spread

    def claims(self) -> list[str]:
        """Return the runs that are more than three spreads away."""
        return [run for run in self.loss if abs(self.away(run)) > 3]

    def table(self) -> str:
        """Return the table that `reflect.md` shows."""
        lines = ["run                      end   from the mean   in spreads"]
        for run, loss in self.loss.items():
            lines.append(f"{run:20} {loss:7.4f} {loss - self.mean:+15.4f} {self.away(run):+12.1f}")
        lines.append(f"base runs: mean {self.mean:.4f}, spread {self.spread:.4f}")
        lines.append(f"more than three spreads away: {', '.join(self.claims()) or 'none'}")
        return "```text\n" + "\n".join(lines) + "\n```"


def answers(slug: str) -> str:
    return (UNIT / slug / "reflect.md").read_text(encoding="utf-8")


def test_model_answers_show_where_the_runs_of_our_log_ended(slug: str) -> None:
    assert Ends(slug).table() in answers(slug)


def says(slug: str, *phrases: str) -> None:
    text = " ".join(answers(slug).split())
    assert [phrase for phrase in phrases if phrase not in text] == []


def test_the_language_models_answers_are_those_of_our_log() -> None:
    end, ten = Ends("language-model-capstone"), Ends("language-model-capstone", step=10)
    loss, ablations = end.loss, [run for run in end.loss if not run.startswith("base")]
    assert end.claims() == []
    assert len(ablations) == 6
    two = abs(loss["base"] - loss["base-2"])
    assert sum(abs(loss[run] - loss["base"]) > two for run in ablations) == 4
    assert loss["norm-last-no-warmup"] == min(loss.values())
    assert 1 < (loss["no-warmup"] - loss["norm-last-no-warmup"]) / end.spread < 2
    depths = ("one-layer", "four-layers")
    assert max(abs(end.away(run)) for run in depths) < 0.5 > abs(end.away(depths[0]) - end.away(depths[1]))
    assert ten.claims() == ["no-warmup", "norm-last-no-warmup"]
    model = runpy.run_path(str(ours.katas()["language-model-capstone"].solution))["LanguageModel"]
    sizes = [sum(p.numel() for p in model(57, num_layers=layers).parameters()) for layers in (1, 2, 4)]
    says(
        "language-model-capstone",
        f"end between {end.low:.3f} and {end.high:.3f}, so a claim needs {3 * end.spread:.3f} nats",
        f"ended at {loss['norm-last']:.3f} with warm-up and at {loss['norm-last-no-warmup']:.3f} without",
        f"without warm-up at {loss['no-warmup']:.3f}",
        f"are {loss['no-warmup'] - loss['norm-last-no-warmup']:.3f} apart, and that is still less than two",
        f"which are {two:.3f} apart, four of the six ablations",
        f"{loss['no-positions']:.3f} is {loss['no-positions'] - end.mean:.3f} nats above the mean of the base runs, "
        f"{end.away('no-positions'):.1f} spreads",
        f"one layer ended at {loss['one-layer']:.3f}, the two layers of the base runs at {end.mean:.3f} in the mean, "
        f"four at {loss['four-layers']:.3f}, all of them less than half a spread apart",
        "{:,}, {:,} and {:,} parameters".format(*sizes),
        f"are at {ten.mean:.3f} in the mean, with a spread of {ten.spread:.3f}; no-warmup is at "
        f"{ten.loss['no-warmup']:.3f} and norm-last-no-warmup at {ten.loss['norm-last-no-warmup']:.3f}, "
        f"{-ten.away('no-warmup'):.0f} and {-ten.away('norm-last-no-warmup'):.0f} spreads below",
        f"norm-last-no-warmup {-end.away('norm-last-no-warmup'):.1f} spreads below",
    )
    assert round(end.away("no-warmup"), 1) == 1.0


def test_what_other_lessons_say_of_warm_up_is_so_in_our_log() -> None:
    end = Ends("language-model-capstone")
    assert end.loss["norm-last-no-warmup"] == min(end.loss.values())
    assert end.loss["no-warmup"] == max(end.loss.values())
    assert max(abs(away) for away in map(end.away, ("norm-last-no-warmup", "no-warmup"))) < 1.05
    for lesson, said in (
        ("9.3-encoder-vs-decoder/encoder-layer", "post-norm without a warm-up ended lowest of all runs, by less than a "
         "change of the seed makes"),
        ("9.5-around-the-model/optimizer", "it seems to end worse without one, and four seeds do not decide it"),
    ):  # fmt: skip
        assert said in " ".join((UNIT.parent / lesson / "README.md").read_text(encoding="utf-8").split())


@pytest.mark.nightly
def test_what_the_demo_of_layer_norm_finds_is_what_lessons_say_of_it() -> None:
    """Six layers: post-norm learns nothing without warm-up and something with it, pre-norm learns at once."""
    folder = UNIT.parent / "9.3-encoder-vs-decoder"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setitem(sys.modules, "mine", ours.module(folder / "blocks.py"))
        demo = ours.module(folder / "layer-norm" / "demo.py")
    ends = {name: sum(demo._train(kind, warm_up)[-5:]) / 5 for name, kind, warm_up in (
        ("pre", "pre-norm", 1), ("post", "post-norm", 1), ("warmed", "post-norm", demo.STEPS // 2),
    )}  # fmt: skip
    guess = math.log(demo.TOKENS)
    assert ends["pre"] < 0.5 < ends["warmed"] < guess - 0.5
    assert ends["post"] > guess - 0.2


def test_the_translators_answers_are_those_of_our_log() -> None:
    end, ten = Ends("translator-capstone"), Ends("translator-capstone", step=10)
    loss = end.loss
    assert end.claims() == ["no-positions", "four-layers"]
    norms = ("norm-last", "norm-last-no-warmup", "no-warmup")
    assert max(abs(end.away(run)) for run in norms) < 1
    assert round(loss["norm-last-no-warmup"] / end.high, 1) == 0.3
    assert round(end.high / end.low) == 2
    assert round(loss["four-layers"] / end.mean) == 11
    assert "no-warmup" in ten.claims()
    says(
        "translator-capstone",
        f'end between {end.low:.4f} and {end.high:.4f}; norm="last" ended at {loss["norm-last"]:.4f} with warm-up and '
        f'at {loss["norm-last-no-warmup"]:.4f} without, norm="first" without warm-up at {loss["no-warmup"]:.4f}',
        f"That {loss['norm-last-no-warmup']:.4f} is a third of {end.high:.4f} means nothing",
        f"{loss['no-positions'] - end.mean:.4f} nats a word, {end.away('no-positions'):.0f} times the spread: a claim",
        f"Four layers ended at {loss['four-layers']:.4f}, eleven times the mean of the base runs and "
        f"{end.away('four-layers'):.0f} spreads away: a claim",
        f"Two layers ended at {loss['two-layers']:.4f}, {end.away('two-layers'):.1f} spreads away, which is not",
        f"at step 10 no-warmup is at {ten.loss['no-warmup']:.3f}, the base runs are at {ten.mean:.3f} in the mean with "
        f"a spread of {ten.spread:.3f}",
        f"At the end no-warmup is {end.away('no-warmup'):.1f} spreads from their mean",
    )


def test_what_the_rule_of_evidence_lets_pass(slug: str) -> None:
    """Runs of one kind: how often one more of them is called an effect, by the distance of two and by our rule."""
    base = torch.randn(200_000, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    run = torch.randn(200_000, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    spread = base.amax(1) - base.amin(1)
    by_two = ((run - base[:, 0]).abs() > (base[:, 1] - base[:, 0]).abs()).double().mean()
    by_four = ((run - base.mean(1)).abs() > 3 * spread).double().mean()
    assert float(by_two) == pytest.approx(0.5, abs=0.005)
    assert float(by_four) == pytest.approx(0.01, abs=0.003)
    lesson = " ".join((UNIT / slug / "README.md").read_text(encoding="utf-8").split())
    assert "further from the first base run than the second one does is one half" in lesson
    assert "let a change without effect pass about once in a hundred times" in lesson
