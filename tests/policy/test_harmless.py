"""Honest additions to right answers of every kata: no point is lost, nobody is accused."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.catalogue import Kata, load_pack
from grader.catalogue.given import blocks_in
from grader.engine.runner.suite import RunConfig, Suite, suites_of
from grader.report.report import KataReport
from tests.ours import ROOT

pytestmark = pytest.mark.slow
EVERY = {kata.slug: kata for kata in load_pack(Path(__file__).parents[2] / "katas").katas}
KATAS = {slug: kata for slug, kata in EVERY.items() if kata.policy.forbid}
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
    "loss": "F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]))",
    "softmax": "nn.Softmax(0)(torch.ones(2).log_softmax(0))",
}
"""By family: a use of it in a test of one's own."""


def additions(kata: Kata) -> str:
    """Return all of them: who is accused of one is accused of all together."""
    tests = "".join(
        f"\n_expected = {SELF_TESTS[family]}\ndef test_{family}():\n    return {SELF_TESTS[family]}\ntest_{family}()\n"
        # Later statements need what one that is refused would have left.
        f"_{family} = []\nfor _ in range(2):\n    _{family}.append({SELF_TESTS[family]})\n"
        f"print(max(map(str, _{family})))\nassert len(_{family}) == 2\n"
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
            file, launcher, RunConfig(name=False)
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


INSIDE = """
import gc, io, sys
import torch.distributed as dist
from torch import nn

_TABLE = [{table}]

class _Saves:
    def save(self, path):
        with open(path, "w") as file:
            file.write("saved")

def _is_main():
    return not dist.is_initialized() or dist.get_rank() == 0

def _export(model, x):
    torch.onnx.export(model, x, "model.onnx")

_once = []
def _honest():
    if _once:
        return
    _once.append(gc.collect())
    nn.init._calculate_fan_in_and_fan_out(torch.ones(2, 3))
    assert getattr(nn, "".join(["Lin", "ear"])) is vars(nn)["Linear"] and "torch" in sys.modules
    assert nn.Module.__subclasses__() and _is_main()
    assert "aten::tril of torch.ops.aten" != "blocks.py"
    _Saves().save("saved.txt")
    torch._assert(True, "holds")
    io.StringIO("import torch._refs")
"""
"""What honest answers had in them that lost all their points."""


class _Calls(ast.NodeTransformer):
    """Lets every required function, and the methods of every required class, begin with a call of `_honest`."""

    def __init__(self, required: Collection[str]) -> None:
        self.required = required

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        for part in node.body if node.name in self.required else ():
            self._begin(part)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._begin(node) if node.name in self.required else node

    def _begin(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.FunctionDef):
            has_words = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
            node.body.insert(int(has_words), ast.parse("_honest()").body[0])
        return node


@pytest.mark.gate
@pytest.mark.sampled(3)
@pytest.mark.parametrize("slug", EVERY)
def test_what_only_could_be_used_costs_nothing_inside_required_parts(
    slug: str, tmp_path: Path, launcher: Any
) -> None:
    kata = EVERY[slug]
    assert kata.solution is not None
    tree = _Calls(kata.required).visit(ast.parse(kata.solution.read_text()))
    text = ast.unparse(ast.fix_missing_locations(tree)) + HEAD + INSIDE.format(table="1, " * 50_000)
    # Flat beside it what a later kata is given, as in a folder that a whole unit was worked in.
    (tmp_path / "blocks.py").write_bytes(next((ROOT / "katas").glob("*/blocks.py")).read_bytes())
    report = graded(kata, text, tmp_path, launcher)
    assert complaints(report) == []
    assert report.look_at is msgspec.UNSET


def test_what_may_lead_around_costs_nothing_and_is_pointed_out(tmp_path: Path, launcher: Any) -> None:
    kata = KATAS["masked-attention"]
    assert kata.solution is not None
    text = kata.solution.read_text() + "\nimport ctypes, gc, helper\ngc.get_objects()\n"
    (tmp_path / "helper.py").write_text("import re\nre.compile('eval')\nkept = eval('3')\n")
    # Names of one's own, a library that looks at frames, and what is imported and never asked.
    text += (
        "import logging\nlogging.getLogger('a').debug('b')\ndef get_referrers(compile):\n    return compile\n"
    )
    report = graded(kata, text + "get_referrers(compile=3)\n", tmp_path, launcher)
    assert complaints(report) == []
    at = text[: text.index("gc.get_objects()")].count("\n") + 1
    assert report.look_at == [
        f"eval may lead around “from scratch” (line {at - 1})",
        f"gc.get_objects may lead around “from scratch” (line {at})",
    ]


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("ctypes", "import numpy.ctypeslib as n\nn.ctypes.CDLL(None)"),
        ("tb_frame", "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    error.__traceback__.tb_frame"),
        ("gc.get_objects", "import gc\ngetattr(gc, 'get_' 'objects')()\nget_objects = None"),
    ],
)
def test_what_ran_is_pointed_out_however_it_is_written(
    name: str, statement: str, tmp_path: Path, launcher: Any
) -> None:
    kata = KATAS["masked-attention"]
    assert kata.solution is not None
    (tmp_path / "part").mkdir()
    (tmp_path / "part/__init__.py").touch()
    (tmp_path / "part/inner.py").write_text(
        "import contextlib\nwith contextlib.suppress(OSError):\n"
        + statement.replace("\n", "\n    ").join(("    ", "\n"))
    )
    report = graded(kata, f"{kata.solution.read_text()}\nimport part.inner\n", tmp_path, launcher)
    assert complaints(report) == []
    assert any(said.startswith(f"{name} may") for said in report.look_at or ()), report.look_at


def test_functions_of_the_given_blocks_are_pointed_out(tmp_path: Path, launcher: Any) -> None:
    kata = EVERY["masks"]
    assert kata.solution is not None
    [blocks, *_] = blocks_in(kata.unit.pack)
    future = "from __future__ import annotations\n"
    texts = (path.read_text().replace(future, "") for path in (blocks, kata.solution))
    report = graded(kata, "\n".join((future, *texts)), tmp_path, launcher)
    assert complaints(report) == []
    assert any("functions are those of the given blocks" in said for said in report.look_at or ())
