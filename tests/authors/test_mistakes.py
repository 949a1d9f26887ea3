"""A mistake is what differs: it is read, merged into what it differs from, and refused where it no longer applies."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader.author.pairs import paired
from grader.catalogue import Kata, load_pack
from grader.engine.mistakes.mistakes import Mistake, mistakes, slow_answers
from grader.errors import PackError
from tests.conftest import Run
from tests.timing.handmade import Handmade

RIGHT = '''"""Sums."""

import math
from typing import Any

UNIT = 1.0


# What all of it rests on.
def total(numbers: Any) -> float:
    """Add them up."""
    start = 0.0  # nothing yet
    for number in numbers:
        start = start + number
    if not math.isfinite(start):
        # Infinity is no sum.
        raise ValueError("infinite")
    return start  # a float


class Counter(dict):
    """Count things."""

    step = 1

    @property
    def size(self) -> int:
        return len(self)

    def count(self, thing: Any) -> None:
        if thing not in self:
            self[thing] = 0
        self[thing] = self[thing] + self.step


def mean(numbers: Any) -> float:
    return total(numbers) / len(numbers) * UNIT
'''
SAYS = "your sum is wrong"
SLOW = """
    mistake(
        "twice",
        "your sum is wrong",
        total="start = 0.0 -> start = -0.0",
        fails=["test_total"],
    )
"""


@pytest.fixture
def made(tmp_path: Path) -> Handmade:
    made = Handmade(tmp_path)
    (made.answers / "sums.py").write_text(RIGHT)
    (made.answers / "mutants").mkdir()
    (made.answers / "slow" / "looped.py").unlink()  # of other sums
    return made


def kata_of(made: Handmade) -> Kata:
    [kata] = load_pack(made.pack).katas
    return kata


def write(
    made: Handmade,
    body: str = "",
    edits: str = "",
    topic: str = "topic",
    name: str = "wrong",
    says: str = SAYS,
) -> Path:
    """Add a mistake to a topic: keywords and what comes below it."""
    path = made.answers / "mutants" / f"{topic}.py"
    before = path.read_text() if path.exists() else '"""A topic."""\n'
    path.write_text(f'{before}\nmistake("{name}", "{says}", {edits})\n\n{body}\n')
    return path


def only(made: Handmade) -> Mistake:
    [mistake] = mistakes(kata_of(made))
    return mistake


def text_of(made: Handmade, body: str = "", edits: str = "") -> str:
    """Return what is merged of a mistake; it must load."""
    write(made, body, edits)
    text = only(made).text
    exec(compile(text, "merged", "exec"), {"__name__": "merged"})
    return text


def refused(made: Handmade) -> str:
    with pytest.raises(PackError) as refusal:
        mistakes(kata_of(made))
    return f"{refusal.value.message} {refusal.value.hint}"


# --- reading ---


def test_a_topic_is_read_in_any_order_and_its_mistakes_have_names_and_sentences(made: Handmade) -> None:
    one = write(made, "UNIT = 2.0", name="doubled-unit", says='your unit is " "two')
    write(made, "UNIT = 3.0", 'unnamed="why"', topic="another", name="broken")
    broken, doubled = mistakes(kata_of(made))
    assert (broken.name, doubled.name) == ("broken", "doubled_unit")
    assert (broken.unnamed, doubled.unnamed) == ("why", None)
    assert doubled.say == "your unit is two"
    assert (doubled.path, doubled.line) == (one, 3)
    assert doubled.source.data.decode() == doubled.text
    assert doubled.source.path.name == "doubled_unit.py"


def test_what_follows_a_mistake_up_to_the_next_belongs_to_it(made: Handmade) -> None:
    path = write(made, "UNIT = 2.0", name="doubled")
    path.write_text(f'{path.read_text()}\n@mistake("seven", "{SAYS}")\ndef total(numbers):\n    return 7\n')
    write(made, "def half():\n    return UNIT / 2", 'mean="UNIT -> half()"', name="halved")
    doubled, halved, seven = mistakes(kata_of(made))
    assert doubled.text == RIGHT.replace("UNIT = 1.0", "UNIT = 2.0")
    assert seven.changed == {"total"}
    assert halved.changed == {"mean"}
    assert halved.text.index("def half") < halved.text.index("def mean")


def test_a_mistake_above_a_definition_is_one_with_the_definition_below_it(made: Handmade) -> None:
    write(made, "# Seven.\n@once\ndef total(numbers):\n    return 7\n\ndef once(call):\n    return call")
    path = made.answers / "mutants" / "topic.py"
    below = only(made).text
    path.write_text(path.read_text().replace(f'mistake("wrong", "{SAYS}", )\n\n# Seven.\n@once', "TOTAL"))
    path.write_text(path.read_text().replace("TOTAL", f'@mistake("wrong", "{SAYS}")\n# Seven.\n@once'))
    assert only(made).text == below
    assert "# Seven.\n@once\ndef total(numbers):\n    return 7\n" in below


def test_slow_answers_are_kept_in_the_same_way(made: Handmade) -> None:
    made.slow("looped", SLOW)
    [slow] = slow_answers(kata_of(made))
    assert (slow.name, slow.fails) == ("twice", ("test_total",))
    assert slow.text == RIGHT.replace("start = 0.0  # nothing yet", "start = -0.0")


def test_a_waste_may_show_on_one_kind_of_device_alone(made: Handmade) -> None:
    made.slow("looped", SLOW)
    [everywhere] = slow_answers(kata_of(made))
    made.slow("looped", SLOW.replace('fails=["test_total"],', 'fails=["test_total"], told_on="cpu"'))
    [there] = slow_answers(kata_of(made))
    kinds = ("cpu", "cuda", "xpu")
    assert [everywhere.is_told_on(kind) for kind in kinds] == [True, True, True]
    assert [there.is_told_on(kind) for kind in kinds] == [True, False, False]
    assert there.text == everywhere.text


@pytest.mark.parametrize("words", ["", 'fails=["test_total"], told_on="gpu"'])
def test_a_slow_answer_says_where_it_is_slow(made: Handmade, words: str) -> None:
    made.slow("looped", SLOW.replace('fails=["test_total"],', words))
    with pytest.raises(PackError, match=r"looped\.py, line 1: twice does not say where it is slow"):
        slow_answers(kata_of(made))


def test_what_is_merged_into_may_be_an_alternative(made: Handmade) -> None:
    made.alternative("built_in", "def total(numbers):\n    return sum(numbers)\n")
    write(made, "def total(numbers):\n    return -sum(numbers)", 'base="alternatives/built_in.py"')
    assert only(made).text == "def total(numbers):\n    return -sum(numbers)\n"


# --- merging definitions ---


def test_a_function_is_replaced_where_it_stands_with_its_comment(made: Handmade) -> None:
    text = text_of(made, "# Seven it is.\ndef total(numbers):\n    return 7.0  # always")
    a, b = RIGHT.index("# What all"), RIGHT.index("\n\n\nclass")
    assert text == RIGHT[:a] + "# Seven it is.\ndef total(numbers):\n    return 7.0  # always" + RIGHT[b:]


def test_a_constant_is_replaced(made: Handmade) -> None:
    assert text_of(made, "UNIT = 2.0") == RIGHT.replace("UNIT = 1.0", "UNIT = 2.0")


def test_of_a_class_only_what_is_named_is_replaced(made: Handmade) -> None:
    text = text_of(
        made, "class Counter:\n    step = 2\n\n    @property\n    def size(self):\n        return 0"
    )
    assert text == RIGHT.replace("step = 1", "step = 2").replace(
        "def size(self) -> int:\n        return len(self)", "def size(self):\n        return 0"
    )


def test_a_class_may_get_other_bases(made: Handmade) -> None:
    text = text_of(made, "class Counter(dict, Any):\n    pass".replace("dict, Any", "list"))
    assert text == RIGHT.replace("class Counter(dict)", "class Counter(list)")


def test_what_is_new_stands_before_what_follows_it_or_at_the_end(made: Handmade) -> None:
    text = text_of(
        made,
        "HALF = 0.5\n\ndef half(number):\n    return number * HALF\n\n"
        "def total(numbers):\n    return half(sum(numbers)) + late()\n\n"
        "class Counter:\n    def double(self):\n        return self.double\n\n"
        "def late():\n    return 0.0",
    )
    order = [
        text.index(word)
        for word in (
            "UNIT =",
            "HALF =",
            "def half",
            "def total",
            "class Counter",
            "def count",
            "def double",
            "def mean",
            "def late",
        )
    ]
    assert order == sorted(order)
    assert text.endswith("\n\n\ndef late():\n    return 0.0\n")


def test_a_method_may_override_what_is_inherited(made: Handmade) -> None:
    body = "class Counter:\n    def clear(self):\n        pass\n\n    def __len__(self):\n        return 7"
    assert "def __len__" in text_of(made, body)


def test_of_what_stands_at_the_end_of_a_class_and_of_the_module_each_stays_in_its_place(
    made: Handmade,
) -> None:
    (made.answers / "sums.py").write_text("class Counter(dict):\n    step = 1\n")
    body = "class Counter:\n    def clear(self):\n        late()\n\n"
    body += "def late():\n    pass\n\ndef later():\n    late(later)"
    assert text_of(made, body) == (
        "class Counter(dict):\n    step = 1\n\n    def clear(self):\n        late()\n"
        "\n\ndef late():\n    pass\n\n\ndef later():\n    late(later)\n"
    )


def test_what_is_deleted_goes_with_its_decorator(made: Handmade) -> None:
    text = text_of(made, "class Counter:\n    del size\n\ndef total(numbers):\n    return 0.0\n\ndel mean")
    assert "@property" not in text
    assert "def mean" not in text


def test_an_import_stands_after_those_of_the_base(made: Handmade) -> None:
    text = text_of(made, "from operator import add as plus\n\ndef total(numbers):\n    return plus(*numbers)")
    assert "from typing import Any\nfrom operator import add as plus\n\nUNIT" in text


def test_a_text_of_several_lines_keeps_its_lines(made: Handmade) -> None:
    text = text_of(made, 'def total(numbers):\n    """Say\n    so."""\n    return len("""a\n  b\n    c""")')
    [total] = [node for node in ast.parse(text).body if getattr(node, "name", "") == "total"]
    assert isinstance(total, ast.FunctionDef)
    assert isinstance(total.body[-1], ast.Return)
    assert ast.literal_eval(total.body[-1].value.args[0]) == "a\n  b\n    c"  # type: ignore[union-attr]


# --- merging lines ---


def diff(name: str, *lines: str) -> str:
    return "\n".join([f'{name}="""', *(line and f"    {line}" for line in lines), '"""'])


def test_a_part_of_a_line_is_replaced_and_its_comment_goes(made: Handmade) -> None:
    assert text_of(made, edits='total="0.0 -> 1.0"') == RIGHT.replace("0.0  # nothing yet", "1.0")


def test_a_part_of_a_line_is_taken_away(made: Handmade) -> None:
    assert text_of(made, edits='mean=" * UNIT ->"') == RIGHT.replace(" * UNIT", "")


def test_parts_of_several_lines_and_of_one_line_are_replaced(made: Handmade) -> None:
    text = text_of(made, edits='total=["start = 0.0 -> first = 1.0", "return start -> return number"]')
    text = text.replace("first = 1.0", "start = 0.0  # nothing yet")
    assert text.replace("return number", "return start  # a float") == RIGHT
    (made.answers / "mutants" / "topic.py").unlink()
    text = text_of(made, edits='mean=["total(numbers) -> 1.0", "UNIT -> 2.0"]')
    assert text == RIGHT.replace("total(numbers) / len(numbers) * UNIT", "1.0 / len(numbers) * 2.0")


def test_a_part_of_a_constant_and_of_a_class_is_replaced(made: Handmade) -> None:
    text = text_of(made, edits='UNIT="1.0 -> 2.0", Counter="self[thing] = 0 -> self[thing] = 1"')
    assert text == RIGHT.replace("UNIT = 1.0", "UNIT = 2.0").replace("[thing] = 0", "[thing] = 1")


def test_parts_of_a_class_are_replaced_next_to_its_methods(made: Handmade) -> None:
    body = "class Counter:\n    @property\n    def size(self):\n        return 0"
    text = text_of(made, body, 'Counter="step = 1 -> step = 2"')
    assert text == RIGHT.replace("step = 1", "step = 2").replace(
        "def size(self) -> int:\n        return len(self)", "def size(self):\n        return 0"
    )


def test_lines_of_a_function_are_replaced_and_the_others_stay(made: Handmade) -> None:
    text = text_of(
        made, edits=diff("total", "- start = start + number", "+ start = (", "+     start - number", "+ )")
    )
    new = "start = (\n            start - number\n        )"
    assert text == RIGHT.replace("start = start + number", new)


def test_lines_beside_a_new_one_say_where_it_belongs(made: Handmade) -> None:
    text = text_of(
        made,
        edits=diff(
            "total",
            "+ numbers = list(numbers)",
            "  start = 0.0",
            "",
            "      start = start + number",
            "+ start = 2 * start",
        ),
    )
    new = RIGHT.replace("    start = 0.0 ", "    numbers = list(numbers)\n    start = 0.0 ")
    assert text == new.replace("start + number\n", "start + number\n    start = 2 * start\n")


def test_lines_of_a_method_its_decorator_and_its_head_can_be_replaced(made: Handmade) -> None:
    lines = ("- @property", "- def size(self) -> int:", "+ def size(self, more=0):")
    text = text_of(made, edits=diff("Counter", *lines))
    assert text == RIGHT.replace("    @property\n    def size(self) -> int:", "    def size(self, more=0):")


def test_a_diff_may_be_indented_and_hold_an_empty_line(made: Handmade) -> None:
    text = text_of(
        made,
        edits=diff(
            "total", "-         start = 0.0", "+         start = 0.0", "+", "+         start = -start"
        ),
    )
    assert "    start = 0.0\n\n    start = -start\n    for number" in text


def test_a_line_may_be_taken_away_and_places_are_found_in_what_the_base_has(made: Handmade) -> None:
    text = text_of(
        made,
        edits=diff(
            "total",
            "- start = 0.0",
            "",
            "- for number in numbers:",
            "-     start = start + number",
            "+ start = 0.0",
            "+ start = math.fsum(numbers)",
        ),
    )
    assert "    start = 0.0\n    start = math.fsum(numbers)\n    if not" in text
    (made.answers / "mutants" / "topic.py").unlink()
    assert "start" not in text_of(made, edits='mean="UNIT -> 1", total="- start = 0.0"').partition("for")[0]


# --- what is refused ---


REFUSED = {
    "a name that is not there": (
        "def totl(numbers):\n    return 7",
        "wrong defines totl, which sums.py has not and nothing uses",
    ),
    "a method that is not there": (
        "class Counter:\n    def _tally(self):\n        return 7",
        "defines _tally, which sums.py has not",
    ),
    "an import that nothing uses": ("import os\n\nUNIT = 2.0", "defines os, which sums.py has not"),
    "what the base has": (
        "def mean(numbers):\n    '''Say so.'''\n    return total(numbers) / len(numbers) * UNIT",
        "has mean as sums.py has it",
    ),
    "a constant that the base has": ("UNIT = 1.0", "has UNIT as sums.py has it"),
    "nothing at all": ("pass", "wrong changes nothing"),
    "nothing of a class": ("class Counter:\n    pass", "wrong changes nothing"),
    "a deletion of what is not there": (
        "del median",
        "deletes median, which sums.py does not define. There is UNIT, total, Counter, mean",
    ),
    "a statement": ("if True:\n    UNIT = 2.0", "holds what is not a definition"),
    "two names at once": ("UNIT = STEP = 2.0", "holds what is not a definition"),
    "two statements on a line": ("UNIT = 2.0; STEP = 3.0", "has two statements on one line"),
    "a name that nothing defines": (
        "def mean(numbers):\n    return mass(numbers)",
        "uses mass, which nothing defines",
    ),
    "a name that was deleted": ("del total", "uses total, which nothing defines"),
}
REFUSED_EDITS = {
    "what is not there": ('total="start = 1.0 -> start = 2.0"', "total in sums.py has not: start = 1.0"),
    "what is there twice": (
        'total="start + -> start -", mean="numbers -> x"',
        "mean in sums.py has more than once: numbers",
    ),
    "nothing": ('total=" -> start"', "total in sums.py has not: nothing"),
    "two arrows": ('total="0.0 -> 1.0 -> 2.0"', "has two arrows for total"),
    "one place twice": ('total=["start = 0.0 -> start = 1.0", "= 0.0 -> = 2.0"]', "changes one place twice"),
    "a name that is not there": (
        'totl="0.0 -> 1.0"',
        "changes totl, which sums.py does not define. There is UNIT",
    ),
    "a name twice": ('UNIT="1.0 -> 2.0"', "changes one place twice"),
    "what fails": ('fails=["test_total"]', "changes fails, which sums.py does not define"),
    "no text": ("total=3", "this is not a text"),
    "a line that is not there": (
        diff("total", "- start = 1.0", "+ start = 2.0"),
        "changes what total in sums.py has not: start = 1.0",
    ),
    "a line that is there twice": (
        diff("total", "+ print()", "  start = 0.0", "", "- start", "+ stop"),
        "has not: start",
    ),
    "lines that do not stand together": (
        diff("total", "- start = 0.0", "- return start", "+ return 0.0"),
        "has not: start = 0.0 / return start",
    ),
    "lines of another depth": (
        diff("total", "  for number in numbers:", "- start = start + number"),
        "has not: for number in numbers",
    ),
    "a new line without a place": (diff("total", "+ start = 1.0"), "has not: nothing"),
    "lines without marks": (diff("total", "start = 1.0"), "has no diff for total"),
    "lines that stay": (diff("total", "- start = 0.0", "+ start  =  0.0"), "leaves total as it is"),
    "no Python": (
        diff("total", "- for number in numbers:", "+ for number of numbers:"),
        "makes no valid Python of sums.py",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", REFUSED)
def test_a_mistake_that_does_not_apply_is_refused_and_named(made: Handmade, what: str) -> None:
    body, words = REFUSED[what]
    path = write(made, body)
    told = refused(made)
    assert words in told
    assert f"{path}, line " in told
    assert "wrong" in told


@pytest.mark.slow
@pytest.mark.parametrize("what", REFUSED_EDITS)
def test_an_edit_that_does_not_apply_is_refused_and_named(made: Handmade, what: str) -> None:
    edits, words = REFUSED_EDITS[what]
    path = write(made, "UNIT = 3.0" if what == "a name twice" else "", edits)
    told = refused(made)
    assert words in told
    assert f"{path}, line " in told


def test_a_line_that_is_there_twice_needs_a_neighbour(made: Handmade) -> None:
    twice = RIGHT.replace(
        "    return start  # a float", "    start = start\n    start = start\n    return start"
    )
    (made.answers / "sums.py").write_text(twice)
    write(made, edits=diff("total", "- start = start", "+ start = -start"))
    assert "changes what total in sums.py has more than once: start = start" in refused(made)
    (made.answers / "mutants" / "topic.py").unlink()
    write(made, edits=diff("total", "- start = start", "+ start = -start", "  return start"))
    assert "    start = start\n    start = -start\n    return start\n" in only(made).text


def test_an_edit_of_the_reference_touches_the_mistakes_that_replace_its_lines_and_all_of_these(
    made: Handmade,
) -> None:
    write(made, edits='total="start = 0.0 -> start = 1.0"', name="from-one")
    write(made, edits=diff("total", "- start = start + number", "+ start = number"), name="last-alone")
    write(made, edits='total="start + number -> start - number"', name="subtracted")
    write(made, "UNIT = 2.0", name="doubled")
    assert len(mistakes(kata_of(made))) == 4
    (made.answers / "sums.py").write_text(RIGHT.replace("start = start + number", "start += number"))
    told = refused(made)
    assert "last-alone changes what total" in told
    assert "subtracted changes what total" in told
    assert "from-one" not in told
    assert "doubled" not in told


@pytest.mark.parametrize(
    "words", ["", '"wrong"', '"wrong", " "', '"wrong", "your sum", "is wrong"', '"wrong", 3']
)
def test_a_mistake_has_to_say_what_it_is(made: Handmade, words: str) -> None:
    path = made.answers / "mutants" / "topic.py"
    path.write_text(f'"""A topic."""\n\nmistake({words})\n\nUNIT = 2.0\n')
    told = refused(made)
    assert f"{path}, line 3: this " in told
    assert "does not say what it is. Begin with its name" in told or "is not a text" in told


def test_a_name_is_words_joined_by_hyphens(made: Handmade) -> None:
    write(made, "UNIT = 2.0", name="Two_Units")
    assert "line 3: Two_Units is not a name of a mistake. Write lower-case words" in refused(made)


def test_two_mistakes_are_joined_where_they_change_other_words(made: Handmade) -> None:
    write(made, "UNIT = 2.0", name="unit")
    write(made, edits=diff("total", "- start = start + number", "+ start = start - number"), name="sign")
    write(made, edits=diff("total", "- start = start + number", "+ start = number"), name="last")
    write(made, "UNIT = 2.0", 'mean="total(numbers) / len(numbers) * UNIT -> UNIT"', name="mean")
    write(made, edits=diff("total", "- start = start + number", "+ start = start + 2 * number"), name="twice")
    last, mean, sign, twice, unit = mistakes(kata_of(made))
    both = paired(unit, sign)
    assert both == RIGHT.replace("UNIT = 1.0", "UNIT = 2.0").replace("start + number", "start - number")
    assert both == paired(sign, unit)
    assert paired(last, sign) is None  # the same words of a line
    assert paired(twice, sign) == RIGHT.replace("start + number", "start - 2 * number")
    assert paired(unit, mean) == mean.text  # what both change alike is no quarrel


def test_two_mistakes_have_two_names(made: Handmade) -> None:
    write(made, "UNIT = 2.0")
    write(made, "UNIT = 3.0", topic="zoo")
    assert "zoo.py, line 3: wrong is the name of a mistake in topic.py, line 3, too" in refused(made)


def test_a_base_is_a_right_answer_of_the_kata(made: Handmade) -> None:
    write(made, "UNIT = 2.0", 'base="sum.py"')
    assert "line 3: wrong has the base sum.py, which is not there. There is sums.py" in refused(made)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"""A topic."""\n', "holds no mistake"),
        ("", "holds no mistake"),
        ('"""A topic."""\n\nimport os\n', "line 3: this is before every mistake"),
        ('"""A topic."""\n\nclass wrong:\n    UNIT = 2.0\n', "line 3: this is before every mistake"),
        ("class wrong:\n    def :\n", "line 2: not valid Python"),
        ("class wrong:\n    x = '\xff'\n", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_topic_is_refused(made: Handmade, text: str, words: str) -> None:
    path = made.answers / "mutants" / "odd.py"
    path.write_bytes(text.encode("latin-1"))
    told = refused(made)
    assert words in told
    assert str(path) in told


# --- printed whole ---


def test_a_mistake_is_printed_as_a_whole_module(
    made: Handmade, kata: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(made, "UNIT = 2.0")
    monkeypatch.setenv("KATA_PACKS", str(made.pack))
    assert kata("pack", "mistake", "sums", "wrong").out == RIGHT.replace("UNIT = 1.0", "UNIT = 2.0")
    made.slow("looped", f'mistake("so-slowly", "{SAYS}", fails=["test_total"])\n\nUNIT = 3.0\n')
    assert "UNIT = 3.0" in kata("pack", "mistake", "sums", "so_slowly").out
    assert "UNIT = 3.0" in kata("pack", "mistake", "sums", "so-slowly").out


def test_a_mistake_that_is_not_there_is_a_usage_error(
    made: Handmade, kata: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(made, "UNIT = 2.0")
    monkeypatch.setenv("KATA_PACKS", str(made.pack))
    kata("pack", "mistake", "sums", "wrng").refused(
        "There is no mistake wrng of sums here. Did you mean wrong?", "There are: wrong."
    )


def test_a_class_may_begin_with_what_is_decorated(made: Handmade) -> None:
    text = text_of(made, "class Counter:\n    @property\n    def size(self) -> int:\n        return 0")
    assert "    @property\n    def size(self) -> int:\n        return 0\n" in text
    assert text.count("@property") == 1
