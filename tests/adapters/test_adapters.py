"""Adapters: what they say, what is wrong with them, and who is charged for what a shim raises."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch

from grader.author.adapt import begin
from grader.catalogue import Catalogue, Kata
from grader.engine.mistakes.recognise import SCHEMA, SEED, Fingerprints, MutantSignatures, fingerprint
from grader.engine.runner.suite import RunConfig, suites_of
from grader.errors import PackError, UsageError
from grader.report.report import CheckReport, KataReport
from tests import ours
from tests.conftest import Run
from tests.pack_files import write_kata, write_pack, write_unit

CHECKS = '''import torch
from grader.checks import check, expect

@check(aspect="values", points=2)
def test_scaled(submission, draw):
    """scaled"""
    x = draw.normal(row=3)
    expect(submission.scale(x, 2.0), "scaled", axes="row").close_to(2 * x)

@check(aspect="values")
def test_layer(submission, draw):
    """a layer"""
    layer = submission.Layer(3)
    assert sorted(layer.state_dict()) == ["key.bias", "key.weight", "query.bias", "query.weight"]
    state = {name: torch.randn(value.shape) for name, value in layer.state_dict().items()}
    layer.load_state_dict(state)
    x = draw.normal(row=2, column=3).requires_grad_()
    y = layer(x)
    queries, keys = x @ state["query.weight"].T + state["query.bias"], x @ state["key.weight"].T + state["key.bias"]
    expect(y, "y", axes="row column").close_to(queries * keys)
    y.sum().backward()
    expect(layer.query.bias.grad, "gradient of query.bias", axes="column").close_to(keys.sum(0))

@check(aspect="values")
def test_other(submission):
    """another"""
    expect(submission.other(), "other").equals(1)
'''
STUB = """def scale(x, by):
    raise NotImplementedError("scale")


class Layer:
    def __init__(self, width):
        raise NotImplementedError("Layer.__init__")


def other():
    raise NotImplementedError("other")
"""
ADAPT = """name = "their-course"
title = "Their course"

[katas.thing]
theirs = ["src/work.py"]

[katas.thing.parameters.Layer]
query = "joined[0/2]"
key = "joined[1/2]"
"""
SHIM = """def scale(x, by):
    return theirs.multiply(x, by).reshape(x.shape)


class Layer(Adapted):
    def build(self, width):
        return theirs.Block({"width": width})

    def forward(self, x):
        return self.theirs(x)
"""
WORK = """import torch
from src.helper import times

LIMIT = "their own"

def multiply(x, factor):
    return times(x, factor)


class Block(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.joined = torch.nn.Linear(config["width"], 2 * config["width"])

    def forward(self, x):
        queries, keys = self.joined(x).chunk(2, -1)
        return queries * keys
"""
HELPER = "def times(x, factor):\n    return x * factor\n"


class Course:
    """A pack of one kata, an adapter of it, and a learner's folder in the course's layout."""

    def __init__(self, root: Path, launcher: Any, patch: pytest.MonkeyPatch) -> None:
        pack = write_pack(root / "pack", "things")
        self.kata_folder = write_kata(write_unit(pack, "1.1", "things"), "1.1.1", "thing")
        (self.kata_folder / "kata.toml").write_text(
            'number = "1.1.1"\ntitle = "Thing"\nsummary = "A thing."\nmodule = "thing"\n'
            'required = ["scale", "Layer", "other"]\n'
            '[forms.scale]\ncolumns = "columns are scaled"\nrows = "rows are scaled"\n'
        )
        (self.kata_folder / "thing.py").write_text(STUB)
        (self.kata_folder / "checks.py").write_text(CHECKS)
        self.adapter, self.handed_in = root / "adapters" / "their-course", root / "ada"
        self.solution = root / "adapters" / "solutions" / "their-course"
        self.adapter.mkdir(parents=True)
        self.write(ADAPT, SHIM)
        self.hand_in(self.handed_in)
        self._launcher = launcher
        patch.setenv("KATA_PACKS", f"{pack}:{self.adapter}")

    def write(self, adapt: str = ADAPT, shim: str = SHIM) -> None:
        (self.adapter / "adapt.toml").write_text(adapt)
        (self.adapter / "thing.py").write_text(shim)

    def hand_in(self, folder: Path, work: str = WORK, helper: str = HELPER) -> None:
        (folder / "src").mkdir(parents=True, exist_ok=True)
        (folder / "src" / "work.py").write_text(work)
        (folder / "src" / "helper.py").write_text(helper)

    @property
    def kata(self) -> Kata:
        return Catalogue.discover().resolve_one("thing")

    def check(self, *, hidden: bool = False) -> KataReport:
        kata = self.kata
        with suites_of([kata], hidden=hidden) as suites:
            return suites["thing"].check(self.handed_in / kata.answer, self._launcher, RunConfig())

    def checked(self, **changed: str) -> dict[str, CheckReport]:
        """Return the checks of a hand-in with other files, by name."""
        self.hand_in(self.handed_in, **changed)
        return {check.id: check for check in self.check().checks}

    def refused(self, adapt: str = ADAPT, shim: str = SHIM) -> str:
        """Return the error about an adapter with these files."""
        self.write(adapt, shim)
        with pytest.raises(PackError) as error:
            self.check()
        return f"{error.value.message} {error.value.hint or ''}"


@pytest.fixture
def course(tmp_path: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch) -> Course:
    return Course(tmp_path, launcher, monkeypatch)


def test_what_the_shim_lacks_is_not_asked(course: Course) -> None:
    report = course.check()
    assert (report.status, report.score, report.max_score) == ("pass", 3.0, 3.0)
    assert [check.id for check in report.checks] == ["test_scaled", "test_layer"]
    assert course.kata.points == 3.0


def test_not_asked_leaves_checks_and_points_out(course: Course) -> None:
    course.write(ADAPT.replace('py"]\n', 'py"]\nnot_asked = ["test_scaled"]\n', 1))
    report = course.check()
    assert ([check.id for check in report.checks], report.max_score) == (["test_layer"], 1.0)


def test_messages_have_the_learners_file_line_and_names(course: Course) -> None:
    found = course.checked(helper="def times(x, factor):\n    return x * factorr\n")["test_scaled"]
    assert found.status == "error"
    assert "which uses your multiply" in (found.message or "")
    assert "src/work.py, line 7 in multiply" in (found.message or "")
    assert "src/helper.py, line 2 in times" in (found.message or "")
    assert "thing.py" not in (found.message or "")


def test_wrong_values_are_told_with_the_learners_name(course: Course) -> None:
    found = course.checked(helper="def times(x, factor):\n    return x + factor\n")["test_scaled"]
    assert (found.status, found.points) == ("fail", 0.0)
    assert "which uses your multiply" in (found.message or "")


def test_messages_spell_arguments_and_parameters_as_the_learner_does(course: Course) -> None:
    course.write(shim=SHIM.replace("theirs.multiply(x, by)", "theirs.multiply(x, factor=by)"))
    found = course.checked(
        work=WORK.replace("return queries * keys", "return queries.detach() * keys"),
        helper="def times(x, factor):\n    return x + factor\n",
    )
    assert "which uses your multiply, where by is your factor\n" in (found["test_scaled"].message or "")
    assert "which uses your Block, where query is your joined[0/2]\n" in (found["test_layer"].message or "")


@pytest.mark.parametrize(
    ("shim", "named"),
    [
        ("return theirs.allowed()", "hides-nothing"),
        ("return theirs.filled(torch.zeros(3, 3)) > -1", None),
        ("scores = theirs.filled(torch.zeros(3, 3))\n    return ~scores.isneginf()", None),
    ],
    ids=["handed on", "compared", "by a function"],
)
def test_no_mistake_is_named_by_a_mask_that_the_shim_reads_off(
    course: Course, shim: str, named: str | None
) -> None:
    every = torch.ones(3, 3, dtype=torch.bool)
    (course.kata_folder / "checks.py").write_text(
        "import torch\nfrom grader.checks import check, expect\n\n"
        '@check(aspect="values")\ndef test_mask(submission):\n    """a mask"""\n'
        '    expect(submission.other(), "mask", axes="query key").equals(torch.eye(3) > 0)\n'
    )
    known = MutantSignatures("your mask hides nothing", {"test_mask": fingerprint([every])})
    prints = Fingerprints(SCHEMA, SEED, {"hides_nothing": known})
    (course.kata_folder / "fingerprints.json.xz").write_bytes(prints.encode())
    course.write(shim=f"import torch\n\n\ndef other():\n    {shim}\n\n\n{SHIM}")
    filled = "def filled(scores):\n    return scores.masked_fill(torch.ones(3, 3).triu(1) > 0, 0.0)\n"
    found = course.checked(work=f"{WORK}\ndef allowed():\n    return torch.ones(3, 3) > 0\n\n{filled}")
    assert (found["test_mask"].status, found["test_mask"].misconception) == ("fail", named)


@pytest.mark.parametrize(
    "work",
    [
        WORK.replace("def multiply(x, factor):\n    return times(x, factor)\n", ""),
        WORK.replace("return times(x, factor)", "raise NotImplementedError"),
    ],
    ids=["missing", "stub"],
)
def test_what_is_missing_is_not_started(course: Course, work: str) -> None:
    found = course.checked(work=work)["test_scaled"]
    assert found.status == "todo"
    assert "not written yet: `multiply`" in (found.message or "")


def test_a_layout_that_differs_is_the_learners(course: Course) -> None:
    found = course.checked(work=WORK.replace("joined", "both"))["test_layer"]
    assert (found.status, found.points) == ("error", 0.0)
    assert (
        "Block has no parameter joined, which the course's layout has; it has both.weight, both.bias"
        in str(found.message)
    )


def test_arguments_that_do_not_fit_are_the_learners(course: Course) -> None:
    found = course.checked(work=WORK.replace("def multiply(x, factor)", "def multiply(x)"))["test_scaled"]
    assert (found.status, found.points) == ("error", 0.0)
    assert "multiply() takes 1 positional argument" in (found.message or "")


def test_a_shim_that_raises_costs_nothing(course: Course) -> None:
    course.write(shim=SHIM.replace(".reshape(x.shape)", ".reshape(7)"))
    report = course.check()
    assert (report.score, report.max_score) == (1.0, 1.0)
    message = str(report.checks[0].message)
    assert "its points are not counted" in message
    assert "thing.py, line 2" in message


def test_a_shim_that_takes_other_arguments_costs_nothing(course: Course) -> None:
    course.write(shim=SHIM.replace("def scale(x, by):", "def scale(x, by, more):"))
    report = course.check()
    assert (report.score, report.max_score) == (1.0, 1.0)
    assert "its points are not counted" in str(report.checks[0].message)


def test_a_shim_that_raises_for_the_solution_costs_nothing_when_graded(course: Course) -> None:
    course.hand_in(course.solution)
    course.write(shim=SHIM.replace(".reshape(x.shape)", ".reshape(7)"))
    report = course.check(hidden=True)
    assert (report.score, report.max_score) == (1.0, 1.0)


def test_who_makes_a_shim_raise_is_charged(course: Course) -> None:
    course.hand_in(course.solution)
    course.hand_in(course.handed_in, helper="def times(x, factor):\n    return None\n")
    report = course.check(hidden=True)
    assert (report.score, report.max_score) == (1.0, 3.0)
    message = str(report.checks[0].message)
    assert "'NoneType' object has no attribute 'reshape'" in message
    assert "thing.py" not in message


def test_grading_needs_the_courses_solution(course: Course) -> None:
    with pytest.raises(
        PackError, match=r"the course's own solution is missing, .*solutions/their-course/src/work.py"
    ):
        course.check(hidden=True)


def test_texts_are_given(course: Course) -> None:
    course.write(
        ADAPT.replace('py"]\n', 'py"]\ngiven = { LIMIT = "ours" }\n', 1),
        SHIM.replace("theirs.multiply(x, by)", "theirs.multiply(x, by if theirs.LIMIT == 'ours' else 7)"),
    )
    assert course.check().status == "pass"


def test_a_learners_file_may_have_the_name_of_the_shim(course: Course) -> None:
    (course.handed_in / "thing.py").write_text("def scale(x, by):\n    return None\n")
    assert course.check().status == "pass"


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("katas.thing", "katas.think"), 4, "not a kata that is installed. Did you mean thing"),
        (('py"]\n', 'py"]\nnot_asked = ["test_scale"]\n'), None, "test_scale"),
        (('py"]\n', 'py"]\nallow = ["optimizer"]\n'), 6, "which thing does not exclude; it excludes nothing"),
        (
            ("parameters.Layer", "parameters.Leyer"),
            7,
            "which thing.py does not define; it defines scale, Layer",
        ),
        (
            ('py"]\n', 'py"]\nconventions = { scale = "rows", sign = "minus" }\n'),
            6,
            "names sign, which is not a convention of the kata; there is scale.",
        ),
        (
            ('py"]\n', 'py"]\n\n[katas.thing.conventions]\nscale = "diagonal"\n'),
            8,
            "asks scale for diagonal, which is not a form of it; there is columns, rows.",
        ),
        (('course"\n\n', 'course"\nrequires = ["no_such_package"]\n\n'), 3, "which is not installed here"),
        (('"src/work.py"', '"../work.py"'), None, "the path of a Python file"),
        (('query = "joined[0/2]"', 'query = "joined["'), None, "where the course's class has it"),
        (('py"]\n', 'py"]\nasked = []\n'), None, "the key `katas"),
    ],
)
def test_bad_adapters(course: Course, change: tuple[str, str], line: int | None, words: str) -> None:
    (course.kata_folder.parents[1].parent / "solutions" / "1.1-things" / "thing").mkdir(parents=True)
    hidden = course.kata_folder.parents[1].parent / "solutions" / "1.1-things" / "thing" / "hidden_checks.py"
    hidden.write_text(CHECKS.replace("test_", "test_hidden_"))
    text = ADAPT.replace(*change)
    assert text != ADAPT
    message = course.refused(text)
    assert words in message
    assert "adapt.toml" in message
    assert line is None or f"adapt.toml, line {line}:" in message


def test_an_adapter_without_a_shim(course: Course) -> None:
    (course.adapter / "thing.py").unlink()
    with pytest.raises(PackError, match=r"adapt.toml, line 4: thing.py is missing"):
        Catalogue.discover()


def test_two_adapters_of_one_kata(course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "adapt.toml").write_text(ADAPT)
    (other / "thing.py").write_text(SHIM)
    monkeypatch.setenv("KATA_PACKS", f"{course.kata_folder.parents[1]}:{course.adapter}:{other}")
    with pytest.raises(PackError, match="thing is adapted by"):
        Catalogue.discover()


def test_a_shim_that_asks_while_it_loads(course: Course) -> None:
    assert (
        "thing.py, line 1: EarlyUseError: a shim asks for theirs.multiply inside its functions"
        in course.refused(shim=f"theirs.multiply\n{SHIM}")
    )


@pytest.mark.slow
def test_start_check_and_grade_take_the_layout_as_it_is(
    course: Course, kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.handed_in)
    started = kata("start", "thing")
    assert "src/work.py" in started.done().text
    assert not (course.handed_in / "1.1-things" / "thing" / "thing.py").exists()
    assert kata("check", "thing", "--json").done().json["score"] == 3.0
    assert kata("check", "src/work.py", "--json").done().json["score"] == 3.0
    kata("reset", "thing").refused("which Kata did not write")
    course.hand_in(course.solution)
    course.hand_in(tmp_path / "class" / "ada")
    course.hand_in(tmp_path / "class" / "ben", helper="def times(x, factor):\n    return x\n")
    monkeypatch.chdir(tmp_path)
    kata("grade", "class", "--json", "reports.jsonl", "-j", "1").done()
    reports = [json.loads(line) for line in (tmp_path / "reports.jsonl").read_text().splitlines()]
    assert {report["learner"]: report["score"] for report in reports} == {"ada": 3.0, "ben": 1.0}


def test_start_elsewhere(course: Course, tmp_path: Path) -> None:
    from grader.learner.workspace import Workspace, start

    with pytest.raises(UsageError, match=r"your course's file for 1\.1\.1 thing is not there"):
        start([course.kata], Workspace(tmp_path))


@pytest.mark.slow
def test_pack_adapt_begins_and_lists(
    course: Course, kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.hand_in(course.solution, WORK.replace("multiply", "scale"))
    folder = tmp_path / "new-course"
    folder.mkdir()
    monkeypatch.setenv("KATA_PACKS", str(course.kata_folder.parents[1]))
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(folder)
    ran = kata("pack", "adapt", str(course.solution), "--kata", "thing")
    assert ran.code == 3
    assert "line 9: src/work.py of" in ran.text  # Layer is called otherwise
    assert "has no Layer; there is Block, LIMIT, scale." in ran.text
    assert "or delete the function if the course does not ask for it" in ran.text
    shim = folder / "thing.py"
    shim.write_text(
        shim.read_text().replace("theirs.Layer", "theirs.Block").replace("theirs.other", "theirs.times")
    )
    out = kata("pack", "adapt", str(course.solution)).done().out
    assert "thing: 1 checks hold, 2 of 4 points; 2 are not asked" in out
    assert 'not_asked = ["test_layer", "test_other"]' in (folder / "adapt.toml").read_text()
    again = (folder / "adapt.toml").read_text()
    assert "Nothing new" in kata("pack", "adapt", str(course.solution)).done().out
    assert (folder / "adapt.toml").read_text() == again


@pytest.mark.parametrize("slug", ours.katas())
def test_a_new_shim_takes_what_the_stub_takes(
    slug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kata = ours.katas()[slug]
    monkeypatch.setitem(sys.modules, "blocks", MagicMock())
    (tmp_path / "solution.py").write_text("")
    begin(tmp_path, kata, tmp_path)
    shim = ours.module(tmp_path / f"{kata.module}.py")
    stub = ours.module(kata.stub)
    for name in kata.required:
        own = inspect.signature(getattr(stub, name), eval_str=False).parameters.values()
        made = inspect.signature(getattr(shim, name)).parameters.values()
        assert [(each.name, each.kind, each.default) for each in made] == [
            (each.name, each.kind, each.default) for each in own
        ], name


def test_pack_adapt_where_no_adapter_is(
    course: Course, kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path)
    ran = kata("pack", "adapt", str(course.handed_in), "--into", "new")
    assert ran.code == 2
    assert f"{tmp_path / 'new'}: there is no adapt.toml." in ran.text
    assert "kata pack adapt SOLUTION --kata ID --into new" in ran.text


@pytest.mark.slow
def test_pack_adapt_says_how_to_see_what_fails(
    course: Course, kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.hand_in(
        course.solution, WORK.replace("multiply", "scale").replace("Block", "Layer"), "times = 7\n"
    )
    course.solution.joinpath("src", "work.py").open("a").write("\nother = None\n")
    folder = tmp_path / "new course"
    folder.mkdir()
    monkeypatch.setenv("KATA_PACKS", str(course.kata_folder.parents[1]))
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(folder)
    ran = kata("pack", "adapt", str(course.solution), "--kata", "thing")
    assert ran.code == 3
    found = re.search(r"See all of it: cd (.+) && export KATA_PACKS=(.+) && kata check thing", ran.text)
    assert found is not None
    place, packs = (shlex.split(word)[0] for word in found.groups())
    monkeypatch.chdir(place)
    monkeypatch.setenv("KATA_PACKS", packs)
    checked = kata("check", "thing")
    assert checked.code == 1
    assert "'int' object is not callable" in checked.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"src/work.py"', '"src/works.py"'), "adapt.toml, line 5: src/works.py is not in"),
        (('"joined[0/2]"', '"both[0/2]"'), "adapt.toml, line 8: Block has no parameter both"),
        (('"joined[0/2]"', '"joined[0/4]"'), "adapt.toml, line 8: Block.joined.weight has 6 rows"),
    ],
)
def test_pack_adapt_refuses_what_the_solution_lacks(
    course: Course, kata: Run, change: tuple[str, str], words: str
) -> None:
    course.hand_in(course.solution)
    course.write(ADAPT.replace(*change))
    ran = kata("pack", "adapt", str(course.solution), "--into", str(course.adapter))
    assert ran.code == 3
    assert words in ran.text
