"""What every kata of ours must have, read from its files: nothing here runs a submission."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from grader.author.gate import decisive_checks
from grader.catalogue import load_pack
from grader.catalogue.markdown import PICTURE
from grader.engine.mistakes.mistakes import Mistake, mistakes
from grader.engine.mistakes.recognise import Fingerprints

ROOT = Path(__file__).resolve().parents[2]
PACK = load_pack(ROOT / "katas")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache  # every check of a file asks for the tree of the whole file
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@dataclass(frozen=True)
class Check:
    name: str
    title: str
    points: float
    trained: bool
    needs: tuple[str, ...]
    follows: tuple[str, ...]
    stand_ins: tuple[str, ...]
    body: ast.FunctionDef


@dataclass(frozen=True)
class Content:
    """The files of one kata."""

    folder: Path
    solution: Path

    @cached_property
    def data(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "kata.toml").read_text(encoding="utf-8"))

    @property
    def module(self) -> str:
        return f"{self.data['module']}.py"

    @cached_property
    def stub(self) -> ast.Module:
        return parse(self.folder / self.module)

    @cached_property
    def reference(self) -> ast.Module:
        return parse(self.solution / self.module)

    @cached_property
    def given(self) -> dict[str, ast.AST]:
        """The classes of the stub that are whole: their methods do what those of the reference do."""
        theirs = defined(self.reference)
        return {
            name: node
            for name, node in defined(self.stub).items()
            if isinstance(node, ast.ClassDef)
            and name in theirs
            and code_lines(node) == code_lines(theirs[name])
        }

    @cached_property
    def checks(self) -> list[Check]:
        return read_checks(self.folder / "checks.py")

    @cached_property
    def hidden(self) -> list[Check]:
        return read_checks(self.solution / "hidden_checks.py")

    @cached_property
    def mistakes(self) -> list[Mistake]:
        return mistakes(next(kata for kata in PACK.katas if kata.folder == self.folder))

    @cached_property
    def decisive(self) -> dict[str, str]:
        return decisive_checks(next(kata for kata in PACK.katas if kata.folder == self.folder))

    def python(self, kind: str) -> list[Path]:
        return sorted((self.solution / kind).glob("*.py"))


def read_checks(path: Path) -> list[Check]:
    """Return the checks of a file, as their decorators state them."""
    checks = []
    for node in parse(path).body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        calls = [d for d in node.decorator_list if isinstance(d, ast.Call) and ast.unparse(d.func) == "check"]
        assert len(calls) == 1, f"{path}: {node.name} has no single @check"
        stated = {keyword.arg: keyword.value for keyword in calls[0].keywords}
        points, trained = (getattr(stated.get(key), "value", None) for key in ("points", "trained"))
        checks.append(
            Check(
                node.name,
                (ast.get_docstring(node) or "").partition("\n")[
                    0
                ],  # as written: it may hold numbers of the file
                1.0 if points is None else points,
                bool(trained),
                *(_named(stated.get(key)) for key in ("needs", "follows", "stand_ins")),
                node,
            )
        )
    return checks


def _named(value: ast.expr | None) -> tuple[str, ...]:
    """Return the names in a list, or the one that stands alone."""
    parts = value.elts if isinstance(value, ast.List) else [value] if value is not None else []
    return tuple(part.id if isinstance(part, ast.Name) else ast.literal_eval(part) for part in parts)


def signatures(tree: ast.Module) -> dict[str, str]:
    """Return the public functions and methods of a module, with parameters and annotations as text."""
    found = {}
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            found[node.name] = signature(node)
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, FUNCTIONS):
                    found[f"{node.name}.{method.name}"] = signature(method)
    return {name: text for name, text in found.items() if not re.search(r"(^|\.)_(?!_)", name)}


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return f"({ast.unparse(node.args)}) -> {ast.unparse(node.returns) if node.returns else None}"


def defined(tree: ast.Module) -> dict[str, ast.AST]:
    """Return the functions and classes of a module by name."""
    return {node.name: node for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


def function(tree: ast.Module, name: str) -> ast.arguments | None:
    """Return the parameters of `f` or `C.m`, also where C inherits m from a class of the same file."""
    owner, _, method = name.rpartition(".")
    known = defined(tree)
    if not owner:
        node = known.get(name)
        return node.args if isinstance(node, FUNCTIONS) else None
    waiting = [owner]
    while waiting:
        cls = known.get(waiting.pop(0))
        if not isinstance(cls, ast.ClassDef):
            continue
        for node in cls.body:
            if isinstance(node, FUNCTIONS) and node.name == method:
                return node.args
        waiting += [base.id for base in cls.bases if isinstance(base, ast.Name)]
    return None


def complaint(own: ast.arguments, wanted: ast.arguments) -> str | None:
    """Say why not every call that the stub allows can be made; nothing when all can."""
    if own.vararg and own.kwarg:
        return None
    positional, asked = [*own.posonlyargs, *own.args], [*wanted.posonlyargs, *wanted.args]
    if [a.arg for a in positional[: len(asked)]] != [a.arg for a in asked]:
        return f"takes {[a.arg for a in positional]}, not {[a.arg for a in asked]}"
    ours, theirs = defaults(own), defaults(wanted)
    for name, default in theirs.items():
        if name not in ours:
            return f"has no {name}"
        if ours[name] != default:
            return f"{name} is {ours[name]} by default, not {default}"
    if extra := [name for name in ours if name not in theirs and ours[name] is None]:
        return f"also insists on {extra}"
    return None if own.vararg or not wanted.vararg else f"has no *{wanted.vararg.arg}"


def defaults(arguments: ast.arguments) -> dict[str, str | None]:
    """Return each parameter with its default as text, None where it has to be given."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(positional) - len(arguments.defaults))
    pairs = [
        *zip(positional, [*missing, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {parameter.arg: ast.unparse(default) if default else None for parameter, default in pairs}


def plain(text: str) -> str:
    """Return a text on one line, without emphasis."""
    return " ".join(text.replace("*", "").split())


def questions(text: str) -> list[str]:
    """Return what reflect.md asks."""
    return [plain(found) for found in re.findall(r"^## (.*)$", text, re.M)]


def meaning(text: str) -> str:
    """Return what a module does: its code without docstrings, comments and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def code_lines(tree: ast.AST) -> list[str]:
    """Return the statements of all bodies, one line each, without spaces; signatures and imports are no secret."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            for statement in ast.walk(node):
                simple = isinstance(statement, ast.Assign | ast.Return | ast.AugAssign | ast.Expr)
                if simple and not (
                    isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                ):
                    lines.append(squeeze(ast.unparse(statement)))
    return lines


def squeeze(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')


def names_asked(path: Path, check: Check) -> set[str]:
    """Return the attributes of `submission` that a check judges, itself or through helpers of the file.

    What explains a failure judges nothing: `with supposing(…)`.
    """
    helpers = {
        node.name: node for node in parse(path).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    asked: set[str] = set()
    waiting, seen = [check.body], {check.name}
    while waiting:
        body = waiting.pop()
        explained = {
            part
            for node in ast.walk(body)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "supposing"
            for part in ast.walk(node)
        }
        for node in ast.walk(body):
            if node in explained:
                continue
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "submission"
            ):
                asked.add(node.attr)
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
            if called == "getattr" and ast.unparse(node).startswith("getattr(submission, "):
                # By a name from a table of the file.
                asked |= {str(part.value) for part in ast.walk(parse(path)) if isinstance(part, ast.Constant)}
            if called in helpers and called not in seen:
                seen.add(called)
                waiting.append(helpers[called])
    return asked


CONTENTS = [
    Content(path.parent, ROOT / "solutions" / path.parent.relative_to(ROOT / "katas"))
    for path in sorted((ROOT / "katas").glob("*/*/kata.toml"))
]


@pytest.fixture(params=CONTENTS, ids=lambda content: content.folder.name)
def content(request: pytest.FixtureRequest) -> Content:
    found: Content = request.param
    return found


def test_there_are_katas() -> None:
    numbers = {content.data["number"]: content.folder.name for content in CONTENTS}
    assert len(numbers) == len(CONTENTS)
    assert {"9.1.1": "self-attention", "9.2.1": "positional-encoding"}.items() <= numbers.items()
    assert {"9.3.1": "masks", "9.3.5": "encoder-layer"}.items() <= numbers.items()


def test_pictures_of_a_unit_fit_a_terminal() -> None:
    for path in sorted((ROOT / "katas").glob("*/README.md")):
        for block in re.findall(r"^```\w*\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S):
            wide = [line for line in block.splitlines() if len(line) > 78]
            assert not wide, path


def test_the_lesson_of_a_unit_tells_of_each_of_its_katas() -> None:
    for content in CONTENTS:
        unit = (content.folder.parent / "README.md").read_text(encoding="utf-8")
        assert f"**{content.data['number']} {content.folder.name}.**" in unit


def test_what_helps_before_comes_before_in_the_longest_course() -> None:
    """The recommended order, which is that of the numbers but for what waits for a later kata."""
    weeks = tomllib.loads((ROOT / "katas" / "course-14.toml").read_text("utf-8"))["assignments"].values()
    order = [slug for week in weeks for slug in week["katas"]]
    assert sorted(order) == sorted(content.folder.name for content in CONTENTS)
    for content in CONTENTS:
        for other in content.data.get("after", ()):
            assert order.index(other) < order.index(content.folder.name), (
                f"{content.folder.name} after {other}"
            )


def test_points_follow_the_work() -> None:
    for content in CONTENTS:
        worth = content.data["points"] / content.data["minutes"]
        assert 0.2 <= worth <= 0.6, (
            f"{content.folder.name}: {worth:.2f} points a minute, where 0.4 is the rule"
        )


@pytest.mark.slow
def test_minutes_follow_the_rule_within_a_third() -> None:
    """The rule of docs/authors-reference.md."""
    far = []
    for content in CONTENTS:
        lesson = (content.folder / "README.md").read_text(encoding="utf-8")
        words = len(lesson.replace(section(lesson, "Go further"), "").split())
        code = meaning((content.solution / content.module).read_text(encoding="utf-8"))
        lines = sum(1 for line in code.splitlines() if line)
        mistakes_to_make = len(Fingerprints.load(content.folder / "fingerprints.json.xz").mutants)
        rule = words / 150 + 1.5 * lines + 0.3 * mistakes_to_make
        if content.folder.parent.name == "9.9-capstones":
            continue  # their hours are runs, which the rule leaves out
        if abs(content.data["minutes"] - rule) > rule / 3:
            far.append(f"{content.folder.name}: {content.data['minutes']}, by the rule {rule:.0f}")
    assert far == []


# --- what a learner gets ---


@pytest.mark.slow
def test_the_stub_has_the_parameters_of_the_reference(content: Content) -> None:
    for name in signatures(content.stub):
        own, wanted = function(content.reference, name), function(content.stub, name)
        assert own is not None, name
        assert wanted is not None
        assert defaults(own) == defaults(wanted), name


def test_the_stub_defines_what_is_required(content: Content) -> None:
    assert set(content.data["required"]) == defined(content.stub).keys() - content.given.keys()


def test_every_body_of_the_stub_guides_and_then_raises(content: Content) -> None:
    source = (content.folder / content.module).read_text(encoding="utf-8")
    whole = {node for given in content.given.values() for node in ast.walk(given)}
    for node in ast.walk(content.stub):
        if not isinstance(node, FUNCTIONS) or node in whole:
            continue
        last = node.body[-1]
        assert isinstance(last, ast.Raise), node.name
        assert isinstance(last.exc, ast.Call), node.name
        assert ast.unparse(last.exc.func) == "NotImplementedError", node.name
        assert last.exc.args, f"{node.name}: the exception says nothing"
        assert "# TODO" in (ast.get_source_segment(source, node) or ""), f"{node.name} has no TODO"


def test_the_stub_documents_every_function_and_class(content: Content) -> None:
    for node in ast.walk(content.stub):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.name != "__init__":
            assert ast.get_docstring(node), f"{node.name} has no docstring"


def test_hints_come_in_three_tiers(content: Content) -> None:
    text = (content.folder / "hints.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.M) == ["1", "2", "3"]
    tiers = re.split(r"^## .*$", text, flags=re.M)[1:]
    for tier in tiers:
        assert len(tier.split()) > 30
        assert "```" not in tier, "a hint is words, not a listing"


def test_no_line_of_the_reference_stands_in_what_a_learner_gets(content: Content) -> None:
    given = {line for node in content.given.values() for line in code_lines(node)}
    long_lines = [line for line in code_lines(content.reference) if len(line) >= 24 and line not in given]
    assert long_lines
    for name in ("hints.md", "README.md", content.module):
        text = squeeze((content.folder / name).read_text(encoding="utf-8"))
        assert [line for line in long_lines if line in text] == [], name


def test_the_lesson_names_what_to_write(content: Content) -> None:
    lesson = (content.folder / "README.md").read_text(encoding="utf-8")
    heading = lesson.splitlines()[0]
    assert heading == f"# {content.data['number']} {content.data['title']}"
    for name in content.data["required"]:
        assert name in lesson


FORM = ("In short", "The problem", "The idea", "Words of the field", "Pitfalls", "What you write", "First step",
        "Reflect", "Takeaways", "You are ready when", "Go further", "Look further")  # fmt: skip
"""The sections of every lesson, in this order; "The idea" may say more, and others may come after it."""
IN_SHORT = ("You write", "Why it matters", "You need", "At the end", "Time")


def section(lesson: str, heading: str) -> str:
    """Return the text below a heading of the second level, up to the next one."""
    found = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", lesson, re.M | re.S)
    assert found, f"the lesson has no section {heading}"
    return found[1]


def items(text: str) -> list[str]:
    """Return the items of a list, each on one line."""
    return [" ".join(item.split()) for item in re.split(r"^- ", text, flags=re.M)[1:]]


@pytest.mark.slow
def test_all_lessons_have_one_form(content: Content) -> None:
    lesson = (content.folder / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", lesson, re.M)
    assert [name for name in headings if name.startswith(FORM)] == [
        name if name != "The idea" else next((one for one in headings if one.startswith(name)), name)
        for name in FORM
    ]
    assert headings[:2] == list(FORM[:2])
    assert headings[-4:] == list(FORM[-4:])
    assert re.search(r"^###? A worked example", lesson, re.M)
    assert re.findall(r"^- \*\*(.*):\*\* ", section(lesson, "In short"), re.M) == list(IN_SHORT)
    assert 4 <= len(items(section(lesson, "Takeaways"))) <= 8
    ready = items(section(lesson, "You are ready when"))
    assert 4 <= len(ready) <= 6
    assert all(item.startswith("[ ] ") for item in ready)


def test_the_lesson_has_a_figure_for_those_who_see_it_and_those_who_do_not(content: Content) -> None:
    shown = PICTURE.findall((content.folder / "README.md").read_text(encoding="utf-8"))
    assert shown
    for words, name in shown:
        assert len(plain(words)) >= 40
        assert "<title>" in (content.folder / name).read_text(encoding="utf-8")


def test_the_lesson_says_how_long_it_takes(content: Content) -> None:
    """In two places, so that they are compared."""
    lesson = (content.folder / "README.md").read_text(encoding="utf-8")
    assert f"about {content.data['minutes']} minutes" in section(lesson, "In short")


def test_what_to_read_next_has_a_year_a_title_and_an_address(content: Content) -> None:
    lesson = (content.folder / "README.md").read_text(encoding="utf-8")
    works = items(section(lesson, "Look further"))
    for work in works:
        assert re.match(r"[^*]+ \d{4}, \*[^*]+\*[^*]*: .+\]\(https://[^)\s]+\)$", work), work
        number = re.search(r"\[arXiv:(\S+)\]\((.*)\)", work)
        assert number is None or number[2] == f"https://arxiv.org/abs/{number[1]}"
    papers = [work for work in works if "https://arxiv.org/" in work]
    assert 0 < len(papers) < len(works), "papers, and something to open or try"


def test_the_lesson_asks_what_is_answered_after_a_pass(content: Content) -> None:
    lesson = (content.folder / "README.md").read_text(encoding="utf-8")
    asked = re.search(r"^## Reflect$(.*?)(?=^## |\Z)", lesson, re.M | re.S)
    assert asked, "the lesson has no section Reflect"
    text = plain(asked[1])
    found = questions((content.folder / "reflect.md").read_text(encoding="utf-8"))
    assert len(found) >= 3
    for number, question in enumerate(found, 1):
        assert f"{number}. {question}" in text


def test_pictures_of_the_lesson_fit_a_terminal(content: Content) -> None:
    lesson = (content.folder / "README.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```\w*\n(.*?)^```", lesson, re.M | re.S):
        wide = [line for line in block.splitlines() if len(line) > 78]  # of 80 columns, with the frame
        assert not wide


# --- checks ---


@pytest.mark.slow
def test_names_and_titles_of_checks_are_unique(content: Content) -> None:
    every = [*content.checks, *content.hidden]
    assert len({check.name for check in every}) == len(every)
    assert len({check.title for check in every}) == len(every)


@pytest.mark.slow
def test_checks_draw_from_a_generator_that_they_name(content: Content) -> None:
    """Torch's global one stands wherever earlier work left it: inputs would not be the same on every run."""
    drawing = {"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial"}
    drawing |= {f"{name}_like" for name in ("rand", "randn", "randint")}
    for path in (*content.folder.glob("*checks.py"), *content.solution.glob("*checks.py")):
        for node in ast.walk(parse(path)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            module, name = ast.unparse(node.func.value), node.func.attr
            if module == "torch" and name in drawing:
                named = {keyword.arg for keyword in node.keywords}
                assert "generator" in named, f"{path.name}:{node.lineno}: {ast.unparse(node)}"


@pytest.mark.slow
def test_a_check_needs_only_earlier_ones(content: Content) -> None:
    before: set[str] = set()
    for check in (*content.checks, *content.hidden):
        assert {*check.needs, *check.follows} <= before, check.name
        before.add(check.name)


@pytest.mark.slow
def test_each_required_name_is_asked_for_without_conditions(content: Content) -> None:
    path = content.folder / "checks.py"
    asked = set().union(*(names_asked(path, check) for check in content.checks if not check.needs))
    assert set(content.data["required"]) <= asked


@pytest.mark.slow
def test_nobody_stands_in_for_what_a_check_judges(content: Content) -> None:
    for file, checks in (("checks.py", content.checks), ("hidden_checks.py", content.hidden)):
        path = (content.folder if file == "checks.py" else content.solution) / file
        for check in checks:
            assert set(check.stand_ins) <= set(content.data["required"]), check.name
            assert not set(check.stand_ins) & names_asked(path, check), check.name


# --- solutions ---


@pytest.mark.slow
def test_alternatives_can_be_called_as_the_stub_can(content: Content) -> None:
    for path in content.python("alternatives"):
        tree = parse(path)
        assert set(content.data["required"]) <= defined(tree).keys(), path.name
        for name in signatures(content.stub):
            own, wanted = function(tree, name), function(content.stub, name)
            assert wanted is not None
            if own is None:  # made in another way: the checks, which every alternative passes, call it
                assert "." in name, f"{path.name} has no function {name}"
            else:
                assert complaint(own, wanted) is None, f"{path.name}: {name} {complaint(own, wanted)}"


@pytest.mark.sampled(2)
@pytest.mark.slow
def test_no_two_solutions_are_the_same_code(content: Content) -> None:
    files = [content.solution / content.module, *content.python("alternatives")]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    texts |= {mistake.name: mistake.text for mistake in content.mistakes}
    meanings = {name: meaning(text) for name, text in texts.items()}
    for (one, its), (other, theirs) in combinations(meanings.items(), 2):
        assert its != theirs, f"{one} and {other}"


@pytest.mark.sampled(9)
@pytest.mark.slow
def test_every_mistake_is_said_to_the_learner_in_a_sentence_of_its_own(content: Content) -> None:
    sentences = {mistake.say for mistake in content.mistakes}
    for sentence in sentences:
        assert re.fullmatch(r"your [^\n]{15,110}[^.\s]", sentence)
    assert len(sentences) == len(content.mistakes)


@pytest.mark.slow
def test_a_topic_begins_with_what_is_right(content: Content) -> None:
    for path in (*content.python("mutants"), *content.python("slow")):
        assert len((ast.get_docstring(parse(path)) or "").split()) >= 8, path


@pytest.mark.slow
def test_every_visible_check_is_failed_by_some_mutant_or_is_a_contract(content: Content) -> None:
    fingerprints = Fingerprints.load(content.folder / "fingerprints.json.xz")
    failed = {check for mutant in fingerprints.mutants.values() for check in mutant.checks}
    # What a refusal leaves of an answer has no numbers to keep; the gate tries that these fail as they say.
    failed |= {*content.decisive.values()} & {check.name for check in content.checks if not check.trained}
    # What a trained model returns hangs on the processor, so checks that train leave no fingerprint. A contract is
    # failed by saboteurs, which the gate hands in.
    owed = {check.name for check in content.checks if not (check.trained or check.name.endswith("promises"))}
    assert owed == {name for name in failed if not name.endswith("promises")}


def test_a_units_lesson_leads_to_the_next_unit() -> None:
    lessons = {unit.number: unit.folder / "README.md" for unit in PACK.units}
    numbers = sorted(lessons, key=lambda number: [int(part) for part in number.split(".")])
    lost = [
        number
        for number, after in pairwise(numbers)
        if f"unit {after}" not in " ".join(lessons[number].read_text(encoding="utf-8").lower().split())
    ]
    assert lost == []
