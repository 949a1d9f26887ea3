"""A pack is read from its folder, and one that is wrong is refused with file, key and what is allowed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.catalogue import load_pack
from grader.errors import PackError

Rewrite = Callable[[str, str], None]
TINY = Path(__file__).parents[1] / "packs" / "tiny"


def refusal(folder: Path) -> str:
    with pytest.raises(PackError) as caught:
        load_pack(folder)
    return caught.value.message


def test_units_and_katas_come_in_the_order_of_their_numbers(pack: Path) -> None:
    loaded = load_pack(pack)
    assert [unit.number for unit in loaded.units] == ["3.9", "3.10"]
    assert [kata.slug for kata in loaded.katas] == ["count-up", "count-down", "add-all"]
    kata = loaded.katas[1]
    assert (kata.module, kata.required) == ("count_down", ("count_down",))
    assert (kata.after, kata.points) == (("count-up",), 5)
    assert kata.unit.title == "Unit counting"
    assert kata.unit.pack is loaded
    assert kata.limits.check_timeout_s == 10


def test_a_pack_about_something_else_loads_with_its_solutions() -> None:
    kata = load_pack(TINY).katas[0]
    assert kata.signatures() == {"insertion_sort": ["values"]}
    assert kata.policy.forbid == ("builtins.sorted",)
    assert kata.solution is not None
    assert kata.solution.read_text().startswith('"""Sort numbers')
    assert kata.hidden_checks is not None
    assert [path.stem for path in kata.alternatives] == ["swaps"]
    assert [path.stem for path in kata.mutants] == ["order"]


def test_a_unit_has_mutants(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = tmp_path / "answers" / "3.9-counting"
    for name in ("mutants", "count-up/mutants"):
        (unit / name).mkdir(parents=True)
        (unit / name / "order.py").write_text("")
    monkeypatch.setenv("KATA_SOLUTIONS", str(unit.parent))
    kata = load_pack(pack).katas[0]
    assert kata.mutants == (unit / "mutants/order.py", unit / "count-up/mutants/order.py")


def test_without_a_solutions_folder_there_is_no_solution(pack: Path) -> None:
    loaded = load_pack(pack)
    kata = loaded.katas[0]
    assert loaded.solutions is None
    assert (kata.solution, kata.hidden_checks, kata.alternatives, kata.mutants) == (None, None, (), ())


def test_solutions_come_from_the_environment(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = tmp_path / "answers" / "3.9-counting" / "count-up" / "count_up.py"
    answer.parent.mkdir(parents=True)
    answer.write_text("")
    (tmp_path / "unrelated").mkdir()
    places = [str(tmp_path / "unrelated"), str(tmp_path / "answers")]
    monkeypatch.setenv("KATA_SOLUTIONS", os.pathsep.join(places))
    first, second, _ = load_pack(pack).katas
    assert first.solution == answer
    assert second.solution is None


def test_signatures_are_read_without_running_the_stub(kata_folder: Path, pack: Path) -> None:
    (kata_folder / "count_down.py").write_text(
        "raise SystemExit\n"
        "def count_down(start, /, step=1, *rest, device=None, **options): ...\n"
        "class Counter:\n"
        "    def __init__(self, start, bias=True): ...\n"
        "    def forward(self, x, mask=None): ...\n"
        "    def _private(self): ...\n"
        "    @staticmethod\n"
        "    def of(text): ...\n"
        "class Plain: ...\n"
    )
    assert load_pack(pack).katas[1].signatures() == {
        "count_down": ["start", "step", "*rest", "device", "**options"],
        "Counter": ["start", "bias"],
        "Counter.forward": ["x", "mask"],
        "Counter.of": ["text"],
        "Plain": [],
    }


def test_given_files_come_from_the_kata_then_the_unit_then_the_pack(
    pack: Path, kata_folder: Path, rewrite: Rewrite
) -> None:
    rewrite("points = 5", 'points = 5\ngiven = ["near.py", "middle.py", "far.py"]')
    (pack / "given").mkdir()
    for name in ("near.py", "middle.py", "far.py"):
        (pack / "given" / name).write_text("")
    for name in ("near.py", "middle.py"):
        (kata_folder.parent / name).write_text("")
    (kata_folder / "near.py").write_text("")
    given = load_pack(pack).katas[1].given
    assert given == (kata_folder / "near.py", kata_folder.parent / "middle.py", pack / "given" / "far.py")


def test_what_a_unit_gives_serves_later_units_and_no_earlier_ones(pack: Path, rewrite: Rewrite) -> None:
    later = pack / "3.10-adding" / "add-all" / "kata.toml"
    later.write_text(later.read_text().replace("points = 5", 'points = 5\ngiven = ["parts.py"]'))
    (pack / "3.9-counting" / "parts.py").write_text("")
    assert load_pack(pack).katas[2].given == (pack / "3.9-counting" / "parts.py",)
    rewrite("points = 5", 'points = 5\ngiven = ["sums.py"]')
    (pack / "3.10-adding" / "sums.py").write_text("")
    assert "sums.py, which is in none of" in refusal(pack)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('number = "3.9.2"', "number = 3", ["`number`", "expected `str`, got `int`"]),
        ('number = "3.9.2"', 'number = "three"', ["`number` must be a dotted number, e.g. 9.3.2"]),
        ('number = "3.9.2"', 'number = "4.1.1"', ["is 4.1.1", "under its unit 3.9", "allowed: 3.9.1"]),
        ('number = "3.9.2"', 'number = "3.9.2.1"', ["`number` is 3.9.2.1", "under its unit 3.9"]),
        ('title = "Do count-down"\n', "", ["the key `title` is missing (a sentence)"]),
        ('title = "Do', 'titel = "Do', ["`titel` is not known", "Did you mean `title`?", "Allowed: number"]),
        ("points = 5", "points = -1", ["`points`", "expected `float` >= 0.0"]),
        ("points = 5", "points = 5\n[limits]\nmemory_mb = 1", ["`limits.memory_mb`", "expected `int` >= 64"]),
        ("points = 5", "points = 5\n[limits]\nmemory = 1", ["`limits.memory` is not known", "memory_mb"]),
        (
            "points = 5",
            'points = 5\n[policy]\nforbid = ["X"]',
            ["`policy.forbid[0]` must be a family of torch"],
        ),
        (
            "points = 5",
            'points = 5\nstages = [{title = "One", parts = ["other"]}]',
            ["the parts of all `stages` are other", "wanted each name of `required` once: count_down"],
        ),
        ("points = 5", 'points = 5\nslug = "other"', ["`slug` is other", "folder is called count-down"]),
        ("points = 5", 'points = 5\nslug = "Not It"', ["`slug` must be lower-case words joined by hyphens"]),
        ("points = 5", 'points = 5\ngiven = ["x.py"]', ["`given` lists x.py, which is in none of"]),
        ("points = 5", 'points = 5\ngiven = ["../x.py"]', ["`given[0]` must be a file name without folders"]),
        ("points = 5", 'points = 5\ngiven = ["checks.py"]', ["`given` cannot list checks.py"]),
        ('["count-up"]', '["count-upp"]', ["names count-upp", "Did you mean count-up?", "Allowed: count-"]),
        ('["count-up"]', '["count-down"]', ["`after` names the kata itself"]),
        (
            '["count-up"]',
            '["count-up"]\n[policy]\nforbid = ["norms"]',
            ["names 'norms'", "there are attention, "],
        ),
        ('module = "count_down"', 'module = "count_up"', ["count_up.py: this file is missing", "the stub"]),
        ('module = "count_down"', 'module = "class"', ["`module` cannot be 'class'"]),
        ('module = "count_down"', 'module = "checks"', ["`module` cannot be 'checks'"]),
        ('required = ["count_down"]', "required = []", ["`required`", "length >= 1"]),
        ('required = ["count_down"]', 'required = ["down"]', ["`required` names down", "defines count_down"]),
        ("points = 5", "points = 5\nminutes = 0", ["`minutes`", "expected `int` >= 1"]),
        (
            "points = 5",
            'points = 5\ndifficulty = "tough"',
            ["`difficulty` must be one of: easy, hard, medium"],
        ),
        ("points = 5", "points = = 5", ["not valid TOML", "line 6"]),
    ],
)
def test_a_breach_names_file_key_and_what_is_allowed(
    pack: Path, rewrite: Rewrite, old: str, new: str, said: list[str]
) -> None:
    rewrite(old, new)
    message = refusal(pack)
    assert message.startswith(str(pack / "3.9-counting" / "count-down"))
    for words in said:
        assert words in message


SPEED = """points = 5
speed_points = 3
[speed.time]
points = 2
cpu = 1.5
wasted = "A loop."
[speed.memory]
points = 1
cuda = 2.0
anchor = 3.0
wasted = "A copy."
"""


@pytest.fixture
def timed(kata_folder: Path, rewrite: Rewrite) -> Path:
    """The kata, with two thresholds and what decides about them."""
    rewrite("points = 5\n", "")
    about = kata_folder / "kata.toml"
    about.write_text(about.read_text() + SPEED)
    for name in ("speed_checks.py", "baseline.py"):
        (kata_folder / name).write_text("")
    return kata_folder


def test_thresholds_of_speed_are_read(pack: Path, timed: Path) -> None:
    first, kata, _ = load_pack(pack).katas
    assert kata.speed_points == 3
    assert list(kata.speed) == ["time", "memory"]
    time, memory = kata.speed.values()
    assert (time.points, time.on("cpu"), time.on("cuda"), time.anchor) == (2, 1.5, None, 4.0)
    assert (memory.on("cpu"), memory.on("cuda"), memory.anchor) == (None, 2.0, 3.0)
    assert (kata.speed_checks, kata.baseline) == (timed / "speed_checks.py", timed / "baseline.py")
    assert (first.speed_points, first.speed, first.speed_checks) == (0, {}, None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("speed_points = 3", "speed_points = 4", ["`speed_points` says 4", "are worth 3 together"]),
        ("speed_points = 3\n", "", ["`speed_points` says 0", "are worth 3 together"]),
        ('wasted = "A loop."\n', "", ["`speed[...].wasted`", "missing"]),
        ("cpu = 1.5", "cpu = 0", ["`speed[...].cpu`", "> 0"]),
        ("cpu = 1.5", "gpu = 1.5", ["`speed[...].gpu` is not known"]),
        ("[speed.time]", '[speed."no name"]', ["speed"]),
    ],
)
def test_a_breach_of_speed_is_named(
    pack: Path, timed: Path, rewrite: Rewrite, old: str, new: str, said: list[str]
) -> None:
    rewrite(old, new)
    message = refusal(pack)
    assert message.startswith(str(timed / "kata.toml"))
    for words in said:
        assert words in message


def test_thresholds_that_nothing_decides_about_are_refused(pack: Path, timed: Path) -> None:
    (timed / "speed_checks.py").unlink()
    message = refusal(pack)
    assert "`speed` has thresholds, but there is no speed_checks.py next to it" in message


def test_speed_checks_without_a_baseline_are_refused(pack: Path, timed: Path) -> None:
    (timed / "baseline.py").unlink()
    assert f"{timed / 'baseline.py'}: this file is missing" in refusal(pack)


@pytest.mark.parametrize("name", ["kata.toml", "checks.py", "README.md", "hints.md", "count_down.py"])
def test_a_missing_file_is_named(pack: Path, kata_folder: Path, name: str) -> None:
    (kata_folder / name).unlink()
    assert f"{kata_folder / name}: this file is missing" in refusal(pack)


@pytest.mark.parametrize("name", ["pack.toml", "3.9-counting/unit.toml", "3.9-counting/README.md"])
def test_a_missing_file_of_pack_or_unit_is_named(pack: Path, name: str) -> None:
    (pack / name).unlink()
    assert f"{pack / name}: this file is missing" in refusal(pack)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("## 1\na\n## 2\nb\n", "found `## 1`, `## 2`"),
        ("no headings\n", "found none"),
        ("## 1\na\n## 3\nc\n## 2\nb\n", "found `## 1`, `## 3`, `## 2`"),
        ("## 1\na\n## 2\n\n## 3\nc\n", "the section `## 2` is empty"),
        ("## 1\na\n```\n## 2\n```\n## 3\nc\n", "found `## 1`, `## 3`"),
    ],
)
def test_hints_need_three_filled_sections(pack: Path, kata_folder: Path, text: str, said: str) -> None:
    (kata_folder / "hints.md").write_text(text)
    message = refusal(pack)
    assert "hints.md" in message
    assert said in message


def test_a_stub_that_is_no_python_is_named_with_its_line(pack: Path, kata_folder: Path) -> None:
    (kata_folder / "count_down.py").write_text("x = 1\ndef count_down(:\n")
    assert "count_down.py, line 2: the stub is not valid Python" in refusal(pack)


def test_a_data_file_that_is_not_utf8_is_named(pack: Path, kata_folder: Path) -> None:
    (kata_folder / "kata.toml").write_bytes(b'title = "\xff"')
    assert "kata.toml: not UTF-8 (byte 9)" in refusal(pack)


def test_katas_that_need_each_other_are_refused(pack: Path) -> None:
    path = pack / "3.9-counting" / "count-up" / "kata.toml"
    path.write_text(path.read_text() + 'after = ["count-down"]\n')
    assert "`after` forms a cycle" in refusal(pack)


def test_two_katas_cannot_have_the_same_number(pack: Path, rewrite: Rewrite) -> None:
    rewrite('number = "3.9.2"', 'number = "3.9.1"')
    assert "`number` 3.9.1 is taken by" in refusal(pack)


def test_two_katas_cannot_have_the_same_slug_or_module(pack: Path) -> None:
    twin = pack / "3.10-adding" / "count-up"
    shutil.copytree(pack / "3.9-counting" / "count-up", twin)
    path = twin / "kata.toml"
    path.write_text(path.read_text().replace("3.9.1", "3.10.2"))
    assert "`slug` count-up is taken by" in refusal(pack)
    twin.rename(pack / "3.10-adding" / "count-again")
    assert "`module` count_up is taken by" in refusal(pack)


def test_a_units_folder_agrees_with_its_number(pack: Path) -> None:
    (pack / "3.10-adding").rename(pack / "3.11-adding")
    assert "`number` is 3.10, but the folder is called 3.11-adding" in refusal(pack)
    (pack / "3.11-adding").rename(pack / "Adding")
    assert "a unit's folder is its number and its slug" in refusal(pack)


def test_a_pack_or_unit_that_holds_nothing_is_refused(pack: Path) -> None:
    shutil.rmtree(pack / "3.10-adding" / "add-all")
    assert "3.10-adding: holds no kata" in refusal(pack)
    shutil.rmtree(pack / "3.10-adding")
    shutil.rmtree(pack / "3.9-counting")
    assert "holds no unit" in refusal(pack)


def test_drafts_and_other_folders_are_left_out(pack: Path) -> None:
    for name in ("_draft", ".cache", "given", "images"):
        (pack / "3.9-counting" / name).mkdir()
    (pack / "docs").mkdir()
    assert len(load_pack(pack).katas) == 3
