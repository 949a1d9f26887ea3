"""Honest additions to right answers of every kata that excludes something: no point is lost, nobody is accused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import Kata, load_pack
from grader.engine.runner.suite import Options, Suite, suites_of
from grader.report.report import KataReport

pytestmark = pytest.mark.slow
KATAS = {
    kata.slug: kata for kata in load_pack(Path(__file__).parents[2] / "katas").katas if kata.policy.forbid
}
HEAD = """

import torch
import torch.nn.functional as F
from torch import nn

"""
ADDITIONS = {
    "the version of torch": "version, place = torch.__version__, torch.__file__",
    "an optimizer": "tuned = torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)",
    "a compiled test": "@torch.compile\ndef doubled(x):\n    return 2 * x\nassert doubled(torch.ones(1)) == 2",
    "a function that is never compiled": "@torch.compiler.disable\ndef plain(x):\n    return x\nplain(torch.ones(1))",
    "a script of something harmless": (
        "@torch.jit.script\ndef halved(x: torch.Tensor) -> torch.Tensor:\n    return x / 2\nhalved(torch.ones(1))"
    ),
}
SELF_TESTS = {
    "attention": "F.scaled_dot_product_attention(*torch.ones(3, 1, 2, 4))",
    "heads": "nn.MultiheadAttention(4, 2)(*torch.ones(3, 2, 1, 4))",
    "transformer": "nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)(torch.ones(1, 2, 4))",
    "normalisation": "F.layer_norm(torch.ones(2, 4), (4,)), nn.LayerNorm(4)(torch.ones(4))",
    "gelu": "F.gelu(torch.ones(2)), nn.GELU()(torch.ones(2))",
    "optimizer": "torch.optim.AdamW([nn.Parameter(torch.ones(2))]).step()",
    "schedule": "torch.optim.lr_scheduler.ConstantLR(torch.optim.Adam([nn.Parameter(torch.ones(2))]))",
    "clipping": "nn.utils.clip_grad_norm_([nn.Parameter(torch.ones(2))], 1.0)",
}
"""By family: a use of it in a test of one's own."""


def additions(kata: Kata) -> str:
    """Return all of them: who is accused of one is accused of all together."""
    tests = "".join(
        f"\n_expected = {SELF_TESTS[family]}\ndef test_{family}():\n    return {SELF_TESTS[family]}\ntest_{family}()\n"
        for family in kata.policy.forbid
    )
    return HEAD + "\n".join(ADDITIONS.values()) + tests


def compiled(kata: Kata) -> str:
    """Return lines that compile what the kata asks for: functions, and what modules compute."""
    lines = [HEAD]
    for name in kata.required:
        lines.append(
            f"if not isinstance({name}, type):\n    {name} = torch.compile({name})\n"
            f"elif 'forward' in vars({name}):\n    {name}.forward = torch.compile(dynamic=True)({name}.forward)\n"
        )
    return "".join(lines)


def graded(kata: Kata, text: str, folder: Path, launcher: Any) -> KataReport:
    """Grade a file, without the checks that train."""
    file = folder / f"{kata.module}.py"
    file.write_text(text)

    def check(suites: dict[str, Suite]) -> KataReport:
        suite = suites[kata.slug]
        quick = tuple(item for item in suite.items if not suite.info(item).trained)
        return Suite(kata, suite.plugin, quick, complete=True, rest=()).check(
            file, launcher, Options(name=False)
        )

    with suites_of([kata], hidden=True) as suites:
        return check(suites)


def complaints(report: KataReport) -> list[str]:
    wrong = [f"{check.id}: {check.message}" for check in report.checks if check.points < check.max_points]
    return wrong if report.checks else [str(report.message)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("slug", KATAS)
def test_additions_that_are_no_answer_cost_nothing(slug: str, tmp_path: Path, launcher: Any) -> None:
    kata = KATAS[slug]
    assert kata.solution is not None
    report = graded(kata, kata.solution.read_text() + additions(kata), tmp_path, launcher)
    assert complaints(report) == []
    assert report.score > 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize("slug", KATAS)
def test_an_answer_that_is_compiled_keeps_its_points_and_is_said_to_run_uncompiled(
    slug: str, tmp_path: Path, launcher: Any
) -> None:
    kata = KATAS[slug]
    assert kata.solution is not None
    report = graded(kata, kata.solution.read_text() + compiled(kata), tmp_path, launcher)
    assert complaints(report) == []
    assert (report.output or "").count("runs uncompiled") == 1
    assert not any("uncompiled" in (check.output or "") for check in report.checks)


def test_what_nobody_can_read_costs_nothing_and_is_pointed_out(tmp_path: Path, launcher: Any) -> None:
    kata = KATAS["masked-attention"]
    assert kata.solution is not None
    text = kata.solution.read_text()
    assert text.count("math.sqrt(") == 1, "the reference has changed: read its root in another way"
    text = text.replace(
        "/ math.sqrt(", "* getattr(torch, ''.join(['a', 'bs']))(torch.ones(())).item() / math.sqrt("
    )
    report = graded(kata, text, tmp_path, launcher)
    assert complaints(report) == []
    line = 1 + text[: text.index("getattr(")].count("\n")
    assert report.look_at == [f"torch is asked for a name that is made at run time (line {line})"]
