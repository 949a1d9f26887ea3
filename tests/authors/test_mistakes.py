"""A mistake is what differs: it is read, merged into what it differs from, and refused where it no longer applies."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.author.pairs import paired
from grader.catalogue import Kata, load_pack
from grader.engine.mistakes.mistakes import Mistake, mistakes, slow_answers
from grader.errors import PackError
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
SAYS = '"""your sum is wrong\n\n    Fails: test_total\n    """'


@pytest.fixture
def made(tmp_path: Path) -> Handmade:
    made = Handmade(tmp_path)
    (made.answers / "sums.py").write_text(RIGHT)
    (made.answers / "mutants").mkdir()
    return made


def kata_of(made: Handmade) -> Kata:
    [kata] = load_pack(made.pack).katas
    return kata


def write(made: Handmade, body: str, topic: str = "topic", says: str = SAYS, name: str = "wrong") -> Path:
    lines = [line and f"    {line}" for line in body.strip("\n").splitlines()]
    path = made.answers / "mutants" / f"{topic}.py"
    before = path.read_text() if path.exists() else '"""A topic."""\n'
    path.write_text("\n".join([before, f"\nclass {name}:", f"    {says}", "", *lines, ""]))
    return path


def only(made: Handmade) -> Mistake:
    [mistake] = mistakes(kata_of(made))
    return mistake


def text_of(made: Handmade, body: str) -> str:
    """Return what is merged of a mistake; it must load."""
    write(made, body)
    text = only(made).text
    exec(compile(text, "merged", "exec"), {"__name__": "merged"})
    return text


def refused(made: Handmade) -> str:
    with pytest.raises(PackError) as refusal:
        mistakes(kata_of(made))
    return f"{refusal.value.message} {refusal.value.hint}"


# --- reading ---


def test_a_topic_is_read_in_any_order_and_its_mistakes_have_names_sentences_and_checks(
    made: Handmade,
) -> None:
    one = write(
        made,
        "UNIT = 2.0",
        name="doubled",
        says='"""your unit\n    is two\n\n    Fails: test_b, test_a\n    """',
    )
    write(
        made,
        "UNIT = 3.0",
        topic="another",
        name="broken",
        says=SAYS.replace('\n    "', '\n    Unnamed: why\n    "'),
    )
    broken, doubled = mistakes(kata_of(made))
    assert (broken.name, doubled.name) == ("broken", "doubled")
    assert (broken.unnamed, doubled.unnamed) == ("why", None)
    assert doubled.say == "your unit is two"
    assert doubled.fails == ("test_b", "test_a")
    assert (doubled.path, doubled.line) == (one, 4)
    assert doubled.source.data.decode() == doubled.text
    assert doubled.source.path.name == "doubled.py"


def test_a_file_may_be_a_mistake_as_a_whole(made: Handmade) -> None:
    path = made.answers / "mutants" / "elsewhere.py"
    path.write_text(
        '"""your program is another one\n\nFails: test_total\n"""\n\ndef total(numbers):\n    return 7\n'
    )
    mistake = only(made)
    assert (mistake.name, mistake.say) == ("elsewhere", "your program is another one")
    assert mistake.text == path.read_text()


def test_slow_answers_are_kept_in_the_same_way(made: Handmade) -> None:
    made.slow(
        "looped",
        f'class twice:\n    {SAYS}\n\n    total = """\n        - start = 0.0\n        + start = -0.0\n    """\n',
    )
    [slow] = slow_answers(kata_of(made))
    assert (slow.name, slow.text) == ("twice", RIGHT.replace("start = 0.0  # nothing yet", "start = -0.0"))


def test_a_waste_may_show_on_one_kind_of_device_alone(made: Handmade) -> None:
    body = 'class twice:\n    {says}\n\n    total = """\n        - start = 0.0\n        + start = -0.0\n    """\n'
    made.slow("looped", body.format(says=SAYS))
    [everywhere] = slow_answers(kata_of(made))
    made.slow(
        "looped", body.format(says=SAYS.replace("Fails: test_total", "Fails: test_total\n    Told on: cpu"))
    )
    [there] = slow_answers(kata_of(made))
    kinds = ("cpu", "cuda", "xpu")
    assert [everywhere.is_told_on(kind) for kind in kinds] == [True, True, True]
    assert [there.is_told_on(kind) for kind in kinds] == [True, False, False]
    assert there.text == everywhere.text


def test_what_is_merged_into_may_be_an_alternative(made: Handmade) -> None:
    made.alternative("built_in", "def total(numbers):\n    return sum(numbers)\n")
    write(
        made,
        "def total(numbers):\n    return -sum(numbers)",
        says=SAYS.replace("    Fails", "    Base: alternatives/built_in.py\n    Fails"),
    )
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
    assert ast.literal_eval(total.body[-1].value.args[0]) == "a\n      b\n        c"  # type: ignore[union-attr]


# --- merging lines ---


def diff(name: str, *lines: str) -> str:
    return "\n".join([f'{name} = """', *(line and f"    {line}" for line in lines), '"""'])


def test_lines_of_a_function_are_replaced_and_the_others_stay(made: Handmade) -> None:
    text = text_of(
        made, diff("total", "- start = start + number", "+ start = (", "+     start - number", "+ )")
    )
    new = "start = (\n            start - number\n        )"
    assert text == RIGHT.replace("start = start + number", new)


def test_lines_beside_a_new_one_say_where_it_belongs(made: Handmade) -> None:
    text = text_of(
        made,
        diff(
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
    text = text_of(
        made,
        "class Counter:\n"
        + "\n".join(
            "    " + line
            for line in diff(
                "size", "- @property", "- def size(self) -> int:", "+ def size(self, more=0):"
            ).splitlines()
        ),
    )
    assert text == RIGHT.replace("    @property\n    def size(self) -> int:", "    def size(self, more=0):")


def test_a_diff_may_be_indented_and_hold_an_empty_line(made: Handmade) -> None:
    text = text_of(
        made, diff("total", "-         start = 0.0", "+         start = 0.0", "+", "+         start = -start")
    )
    assert "    start = 0.0\n\n    start = -start\n    for number" in text


def test_a_line_may_be_taken_away_and_places_are_found_in_what_the_base_has(made: Handmade) -> None:
    text = text_of(
        made,
        diff(
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
    "a line that is not there": (
        diff("total", "- start = 1.0", "+ start = 2.0"),
        "changes lines that total in sums.py has not: start = 1.0",
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
    "a new line without a place": (diff("total", "+ start = 1.0"), "has not: none"),
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


def test_a_line_that_is_there_twice_needs_a_neighbour(made: Handmade) -> None:
    twice = RIGHT.replace(
        "    return start  # a float", "    start = start\n    start = start\n    return start"
    )
    (made.answers / "sums.py").write_text(twice)
    write(made, diff("total", "- start = start", "+ start = -start"))
    assert "changes lines that total in sums.py has more than once: start = start" in refused(made)
    (made.answers / "mutants" / "topic.py").unlink()
    write(made, diff("total", "- start = start", "+ start = -start", "  return start"))
    assert "    start = start\n    start = -start\n    return start\n" in only(made).text


def test_an_edit_of_the_reference_touches_the_mistakes_that_replace_its_lines_and_all_of_these(
    made: Handmade,
) -> None:
    write(made, diff("total", "- start = 0.0", "+ start = 1.0"), name="from_one")
    write(made, diff("total", "- start = start + number", "+ start = number"), name="last_alone")
    write(made, diff("total", "- start = start + number", "+ start = start - number"), name="subtracted")
    write(made, "UNIT = 2.0", name="doubled")
    assert len(mistakes(kata_of(made))) == 4
    (made.answers / "sums.py").write_text(RIGHT.replace("start = start + number", "start += number"))
    told = refused(made)
    assert "last_alone changes lines" in told
    assert "subtracted changes lines" in told
    assert "from_one" not in told
    assert "doubled" not in told


def test_a_mistake_has_to_say_what_it_is(made: Handmade) -> None:
    for says in ('"""your sum is wrong"""', '"""Fails: test_total"""', "..."):
        path = made.answers / "mutants" / "topic.py"
        path.unlink(missing_ok=True)
        write(made, "UNIT = 2.0", says=says)
        assert f"{path}, line 4: wrong does not say what it is. Its docstring is" in refused(made)


def test_a_misspelt_line_of_its_docstring_is_refused(made: Handmade) -> None:
    write(made, "UNIT = 2.0", says=SAYS.replace("    Fails", "    Unamed: why\n    Fails"))
    assert "line 4: wrong has a line in its docstring that nobody reads: Unamed: why" in refused(made)


def test_two_mistakes_are_joined_where_they_change_other_words(made: Handmade) -> None:
    write(made, "UNIT = 2.0", name="unit")
    write(made, diff("total", "- start = start + number", "+ start = start - number"), name="sign")
    write(made, diff("total", "- start = start + number", "+ start = number"), name="last")
    write(
        made,
        "UNIT = 2.0\n\n" + diff("mean", "- return total(numbers) / len(numbers) * UNIT", "+ return UNIT"),
        name="mean",
    )
    write(made, diff("total", "- start = start + number", "+ start = start + 2 * number"), name="twice")
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
    assert "zoo.py, line 4: wrong is the name of a mistake in topic.py, line 4, too" in refused(made)


def test_a_base_is_a_right_answer_of_the_kata(made: Handmade) -> None:
    write(made, "UNIT = 2.0", says=SAYS.replace("    Fails", "    Base: sum.py\n    Fails"))
    assert "line 4: wrong has the base sum.py, which is not there. There is sums.py" in refused(made)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"""A topic."""\n', "holds no mistake"),
        ("", "holds no mistake"),
        ('"""A topic."""\n\nimport os\n', "line 3: this stands outside of every mistake"),
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
    made: Handmade, kata: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(made, "UNIT = 2.0")
    monkeypatch.setenv("KATA_PACKS", str(made.pack))
    assert kata("pack", "mistake", "sums", "wrong").out == RIGHT.replace("UNIT = 1.0", "UNIT = 2.0")
    made.slow("looped", f"class slowly:\n    {SAYS}\n\n    UNIT = 3.0\n")
    assert "UNIT = 3.0" in kata("pack", "mistake", "sums", "slowly").out


def test_a_mistake_that_is_not_there_is_a_usage_error(
    made: Handmade, kata: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (made.answers / "slow" / "looped.py").unlink()
    write(made, "UNIT = 2.0")
    monkeypatch.setenv("KATA_PACKS", str(made.pack))
    ran = kata("pack", "mistake", "sums", "wrng")
    assert ran.code == 2
    assert "There is no mistake wrng of sums here. Did you mean wrong?" in ran.err
    assert "There are: wrong." in ran.err


def test_a_class_may_begin_with_what_is_decorated(made: Handmade) -> None:
    text = text_of(made, "class Counter:\n    @property\n    def size(self) -> int:\n        return 0")
    assert "    @property\n    def size(self) -> int:\n        return 0\n" in text
    assert text.count("@property") == 1
