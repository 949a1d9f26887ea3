"""Demos: ours run and can be read, broken ones are refused, `kata demo` shows them on the learner's code."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from rich.console import Console

from grader.catalogue import Pack
from grader.catalogue.load import load_pack
from grader.errors import PackError
from grader.learner.demos import exhibits as make
from grader.learner.demos import pictures
from grader.learner.demos.exhibit_types import (
    Choice,
    Exhibit,
    Heatmap,
    Lines,
    OpenQuestion,
    Play,
    Scatter,
    Table,
    Text,
    read_exhibits,
)
from grader.learner.demos.page import page
from grader.learner.demos.pictures import draw
from grader.learner.demos.printing import print_exhibit
from grader.learner.demos.runner import Own, RunError, run_demo, scripts, uses
from tests.conftest import Run

ROOT = Path(__file__).parents[2]
KATAS = ROOT / "katas"
DEMOS = sorted(KATAS.rglob("demo.py"))
SVG = "{http://www.w3.org/2000/svg}"
MASKS = (ROOT / "solutions/9.3-encoder-vs-decoder/masks/masks.py").read_text()
TRACED = MASKS + textwrap.dedent(
    """

    _mask = causal_mask

    def causal_mask(seq_len, *, device=None):
        import sys

        mask = _mask(seq_len, device=device)
        return mask.flip(0) if "mine" in sys.modules else mask
    """
)
"""A right answer that leaves a trace where a demo runs on it: the mask upside down."""


@pytest.fixture(scope="module")
def pack() -> Pack:
    return load_pack(KATAS)


# --- Ours ---


Shared = Callable[[str, Callable[[], bytes]], bytes]


def once(path: Path, shared: Shared, launcher: Any, pack: Pack) -> list[Exhibit]:
    """Return what one of our demos shows; each runs once in a test run."""
    kept = shared(
        f"demo-{path.parent.name}", lambda: msgspec.msgpack.encode(run_demo(path, pack, [], launcher))
    )
    return read_exhibits(msgspec.msgpack.decode(kept))


@pytest.fixture(scope="module", params=DEMOS, ids=lambda path: path.parent.name)
def shown(request: pytest.FixtureRequest, shared: Shared, launcher: Any, pack: Pack) -> list[Exhibit]:
    """What a demo shows."""
    return once(request.param, shared, launcher, pack)


def own_scripts(shown: list[Exhibit]) -> dict[str, str]:
    names = {exhibit.script for exhibit in shown if isinstance(exhibit, Play)}
    return {name: (KATAS / "play" / name).read_text() for name in names}


def stills(shown: list[Exhibit]) -> list[Exhibit]:
    """Return everything that stands still, also in what may be played with."""
    found: list[Exhibit] = []
    for one in shown:
        inner = [still for frame in one.frames for still in frame.shown] if isinstance(one, Choice) else []
        found += inner or (one.shown if isinstance(one, Play) else [one])
    return found


@pytest.mark.gate
@pytest.mark.sampled(5)
def test_every_page_has_something_to_play_with(shown: list[Exhibit]) -> None:
    assert any(isinstance(exhibit, Choice | Play) for exhibit in shown)


@pytest.mark.gate
@pytest.mark.sampled(5)
def test_a_demo_says_what_there_is_to_see(shown: list[Exhibit]) -> None:
    titles = [exhibit.title for exhibit in shown]
    assert len(set(titles)) == len(titles)
    assert all(titles)
    assert isinstance(shown[-1], OpenQuestion)
    pictures = [exhibit for exhibit in shown if not isinstance(exhibit, Text | Table | OpenQuestion)]
    assert pictures
    assert sum(bool(exhibit.note) for exhibit in pictures) > len(pictures) / 2
    assert not [e.title for e in shown if isinstance(e, Text) and not e.body.strip()]


@pytest.mark.gate
@pytest.mark.sampled(5)
def test_curves_hold_finite_numbers(shown: list[Exhibit]) -> None:
    for exhibit in stills(shown):
        series = (
            exhibit.series
            if isinstance(exhibit, Lines)
            else exhibit.groups
            if isinstance(exhibit, Scatter)
            else []
        )
        for one in series:
            assert one.x, (exhibit.title, one.name)
            assert all(map(math.isfinite, [*one.x, *one.y])), (exhibit.title, one.name)


@pytest.mark.gate
@pytest.mark.sampled(5)
def test_the_page_needs_nothing_else(shown: list[Exhibit]) -> None:
    drawn = [(exhibit, draw(exhibit)) for exhibit in shown]
    for exhibit, svg in drawn:
        if svg is not None:
            assert ElementTree.fromstring(svg).tag == f"{SVG}svg", exhibit.title
    headings = read_page(page("9.3 <A & B>", "given", drawn, own_scripts(shown)))
    assert headings == ["9.3 <A & B>", *(exhibit.title for exhibit in shown)]


@pytest.mark.gate
@pytest.mark.sampled(5)
def test_a_terminal_of_80_columns_shows_it(shown: list[Exhibit]) -> None:
    text = printed(shown)
    for exhibit in shown:
        assert exhibit.title.split()[0] in text
    assert not [line for line in text.splitlines() if len(line.rstrip()) > 80]
    for exhibit in stills(shown):  # a map is not higher than the terminal
        if isinstance(exhibit, Heatmap):
            assert max(one.count("\n") for one in printed([exhibit]).split("\n\n")) < 24, exhibit.title


def printed(exhibits: list[Exhibit], width: int = 80) -> str:
    out = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    for exhibit in exhibits:
        print_exhibit(exhibit, out)
    return out.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_a_demo_without_clocks_shows_the_same_twice(launcher: Any, pack: Pack) -> None:
    demo = KATAS / "9.3-encoder-vs-decoder" / "masks" / "demo.py"
    first, again = (msgspec.msgpack.encode(run_demo(demo, pack, [], launcher)) for _ in range(2))
    assert again == first  # as bytes: some of its numbers are NaN


class Page(HTMLParser):
    """The elements of a page, each with its attributes and the text that follows its tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str], list[str]]] = [("", {}, [])]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", {}, []))

    def handle_data(self, data: str) -> None:
        self.found[-1][2].append(data)


def read_page(text: str) -> list[str]:
    """Object to whatever on a page would load or run something that is not the pack's; return its headings."""
    page = Page(text).found
    assert not {tag for tag, _, _ in page} & {
        "iframe",
        "object",
        "embed",
        "link",
        "base",
        "foreignobject",
        "img",
    }
    attributes = [(tag, name, value) for tag, attrs, _ in page for name, value in attrs.items()]
    assert [name for _, name, _ in attributes if name.startswith("on")] == []
    wanted = [
        value
        for tag, name, value in attributes
        if name in {"src", "href", "xlink:href", "action", "data"}
        and not (tag == "image" and value.startswith("data:image/png;base64,"))  # a heat map's cells
    ]
    styles = [value for *_, value in attributes] + [
        "".join(words) for tag, _, words in page if tag != "script"
    ]
    wanted += [url for style in styles for url in re.findall(r"url\(([^)]*)\)", style)]
    assert not any("@import" in style for style in styles)
    ids = [attrs["id"] for _, attrs, _ in page if "id" in attrs]
    assert len(set(ids)) == len(ids)
    assert set(wanted) <= {f"#{one}" for one in ids}
    scripts = [(attrs.get("type"), "".join(words)) for tag, attrs, words in page if tag == "script"]
    for source in [source for kind, source in scripts if kind == "application/json"]:
        json.loads(source)
    own = [source for kind, source in scripts if kind is None]
    policy = next(attrs["content"] for _, attrs, _ in page if "http-equiv" in attrs)
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in own}
    assert policy.startswith("default-src 'none'; img-src data:; ")
    assert set(re.findall(r"'sha256-[^']*'", policy)) == hashes
    return ["".join(words) for tag, _, words in page if tag in ("h1", "h2")]


# --- Every kind of exhibit ---

ONE_OF_EACH = [
    make.text("Words", "A paragraph.\n\nAnother one."),
    make.table("A table", ["word", "number"], [["a", 1], ["b", 2.5], [None, True]], note="Noted."),
    make.heatmap("A map", [make.panel("p", [[0, 1], [float("-inf"), float("nan")]], "ab", "cd")]),
    make.heatmap("A signed map", [make.panel("p", [[-1.0] * 30] * 40, range(40), range(30))], diverging=True),
    make.lines(
        "Curves", {"a": ([1, 2, 3], [1, 10, 100]), "b": ([1, 3], [0, 5])}, x_axis="x", y_axis="y", log_y=True
    ),
    make.bars("Bars", ["one", "two"], {"a": [1, 2], "b": [3, float("nan")]}, y_axis="y"),
    make.scatter("Points", {"a": [[0, 1], [1, 0]], "b": [[2, 2]]}, x_axis="x", y_axis="y"),
    make.choice("States", "step", {n: make.text("t", f"state {n}") for n in range(3)}, start=1, slider=True),
    make.question("Which is right?", seen="A tab", answer="The one in the table."),
    make.play("Play", "own.js", {"a": [1.5, "</script>"]}, make.table("still", ["a"], [[1]])),
]


def test_a_question_leads_back_to_what_was_shown_and_the_page_alone_answers_it() -> None:
    shown = read_exhibits(
        [make.table("A table", ["a"], [[7]]), make.question("Which?", seen="A t", answer="Seven.")]
    )
    text = printed(shown)
    assert "Look again at “A t”." in text
    assert "Seven." not in text
    found = page("t", "i", [(exhibit, draw(exhibit)) for exhibit in shown])
    assert "<summary>The answer is in “A t”. Look again, then open this.</summary><p>Seven.</p>" in found


@pytest.mark.nightly
def test_the_same_exhibits_are_the_same_bytes() -> None:
    drawn = [(exhibit, draw(exhibit)) for exhibit in read_exhibits(ONE_OF_EACH)]
    for exhibit, svg in drawn:
        assert draw(exhibit) == svg, exhibit.title
    code = """
        import sys
        import msgspec
        from grader.learner.demos.exhibit_types import read_exhibits
        from grader.learner.demos.page import page
        from grader.learner.demos.pictures import draw
        drawn = [(e, draw(e)) for e in read_exhibits(msgspec.msgpack.decode(sys.stdin.buffer.read()))]
        sys.stdout.buffer.write(page("t", "i", drawn, {"own.js": "plays"}).encode())
    """
    elsewhere = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        input=msgspec.msgpack.encode(ONE_OF_EACH),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert elsewhere.stdout.decode() == page("t", "i", drawn, {"own.js": "plays"})


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "words", ["<script>alert(1)</script>", '"><img src=x onerror=y>', r"$\foo", "from $1 to $2", "&amp;"]
)
def test_words_stay_words(words: str) -> None:
    data = [
        make.text(words, words),
        make.table(words, [words], [[words]], note=words),
        make.heatmap(
            words, [make.panel(words, [[1.0]], [words], [words])], row_axis=words, column_axis=words
        ),
        make.lines(words, {words: ([1], [1]), "other": ([1], [2])}, x_axis=words, y_axis=words),
        make.bars(words, [words], {words: [1], "other": [2]}, y_axis=words),
        make.scatter(words, {words: [[1, 1]]}, x_axis=words, y_axis=words),
    ]
    drawn = [(exhibit, draw(exhibit)) for exhibit in read_exhibits(data)]
    for _, svg in drawn:
        if svg is not None:
            texts = ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]
            assert words in texts
    assert read_page(page(words, words, drawn)) == [words] * (len(data) + 1)


def test_a_column_of_numbers_is_on_the_right_however_they_are_written() -> None:
    columns = ["words", "whole", "written", "share", "times", "none"]
    rows = [["1 x 1", 1024, "1,024", "97%", "1.5 ×", None], ["2 x 2", 1234567, "–", "3%", "12 ×", 2.5]]
    [table] = read_exhibits([make.table("t", columns, rows)])
    text = page("t", "i", [(table, None)])
    right = [name for name in columns if f'<th scope="col" class="n">{name}</th>' in text]
    assert right == columns[1:]
    assert [f'<td class="n">{number}</td>' in text for number in ("1024", "1,024", "1,234,567")] == [True] * 3
    assert '<td class="n"></td>' in text


def test_fractions_of_one_column_have_as_many_places_unless_some_are_far_smaller() -> None:
    rows = [[0.2369, 0.5, 12.0], [0.09, 1e-05, 7], [None, 2.0, "–"]]
    [table] = read_exhibits([make.table("t", ["few", "far", "whole"], rows)])
    numbers = re.findall(r'<td class="n">([^<]*)</td>', page("t", "i", [(table, None)]))
    assert numbers == ["0.2369", "0.5", "12", "0.0900", "1e-05", "7", "", "2", "–"]


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_nothing_to_draw_is_drawn_all_the_same() -> None:
    nan = float("nan")
    data = [
        make.lines("none", {}, x_axis="", y_axis=""),
        make.lines("negative", {"a": ([1, 2], [-1, 0])}, x_axis="", y_axis="", log_y=True),
        make.bars("none", [], {}, y_axis=""),
        make.bars("lost", ["a"], {"a": [nan]}, y_axis="", log_y=True),
        make.scatter("none", {}),
        make.heatmap("lost", [make.panel("p", [[nan, float("inf")]], "a", "bc")]),
        make.table("none", [], []),
    ]
    for exhibit in read_exhibits(data):
        draw(exhibit)
        printed([exhibit])


def test_long_names_of_bars_stand_on_several_lines() -> None:
    long = [f"kept for number {number} on the way back" for number in range(5)]
    (shown,) = read_exhibits([make.bars("b", long, {"a": range(5)}, y_axis="MiB")])
    svg = draw(shown)
    assert svg is not None
    words = [one.text or "" for one in ElementTree.fromstring(svg).iter(f"{SVG}tspan")]
    words += [one.text or "" for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert "kept for number 3" in map(str.strip, words)
    assert max(map(len, words)) <= 18


def _written(svg: str | None) -> list[str]:
    assert svg is not None
    return ["".join(node.itertext()).strip() for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_numbers_of_bars_have_one_format_in_a_picture() -> None:
    shares = {"all": [0.2734, 0.11, 0.00109], "three": [0.38438, 0.2, 0]}
    (mixed,) = read_exhibits([make.bars("b", "xyz", shares, y_axis="share")])
    assert {"0.273", "0.110", "0.001", "0.384", "0.200"} <= set(_written(draw(mixed)))
    words = printed([mixed]).split()
    assert {"0.2734", "0.1100", "0.0011", "0.3844", "0.2000", "0"} <= set(words)


@pytest.mark.slow
def test_numbers_of_neighbouring_bars_stand_apart() -> None:
    """Lying where each is as wide as its bar, turned where it is not, and nowhere where even that is too wide."""
    turned = re.compile(r'<text style="[^"]*9px[^>]*rotate\(-90|<text[^>]*rotate\(-90[^>]*>0\.\d{3}<')
    for count, lies, shown in ((3, True, True), (8, False, True), (40, False, False)):
        series = {name: [0.25 + 0.001 * place for place in range(count)] for name in "abcd"}
        (bars,) = read_exhibits([make.bars("b", range(count), series, y_axis="share")])
        svg = draw(bars)
        assert ("0.251" in _written(svg)) == shown, count
        assert svg is not None
        if shown:
            assert (turned.search(svg) is None) == lies, count


def test_shades_name_every_second_column_rather_than_lose_the_last_and_show_what_is_spread() -> None:
    even = [[1 / 12] * 12, [1.0] + [0.0] * 11]
    (shown,) = read_exhibits([make.heatmap("m", [make.panel("p", even, "ab", range(12))])])
    text = printed([shown], 60)
    assert "0   2   4   6   8   10" in text
    assert f"a {'░░' * 12}" in text
    assert "b ██\n" in text


def test_bars_leave_room_for_their_numbers_beside_long_names() -> None:
    label, name = "kept for the way back (activations)", "256 tokens a text"
    (long,) = read_exhibits([make.bars("b", [label, "x"], {name: [123.456, 1], "a": [1, 2]}, y_axis="MiB")])
    line = next(one for one in printed([long]).splitlines() if label in one)
    assert line.endswith("█ 123.5")
    assert len(line) <= 80


def made(exhibit: Any) -> str:
    return printed(read_exhibits([exhibit]))


@pytest.mark.slow
def test_what_is_counted_has_whole_marks() -> None:
    text = made(make.lines("l", {"a": ([0, 90, 203], [1, 4, 9])}, x_axis="step", y_axis="words"))
    assert re.search(r"^ +0 +50 +100 +150 +200$", text, re.MULTILINE)
    assert re.findall(r"^ +(\d+)┤", text, re.MULTILINE) == ["8", "6", "4", "2"]
    text = made(make.lines("l", {"a": ([0.5, 203], [1.5, 9])}, x_axis="step", y_axis="words"))
    assert re.search(r"^ +0\.5 +51\.1", text, re.MULTILINE)
    for places, marks in (([0, 1, 2, 3], {"0", "1", "2", "3"}), ([0, 1.5, 3], {"0.0", "0.5", "1.0"})):
        (drawn,) = read_exhibits(
            [make.lines("l", {"a": (places, places)}, x_axis="layer", y_axis="words", log_y=True)]
        )
        assert marks <= set(_written(draw(drawn)))


def test_a_columns_name_is_not_cut() -> None:
    names = ["ben: white", "cleo: green"] * 3
    text = made(make.heatmap("h", [make.panel("p", [[0.25] * 6], ["one"], names)]))
    assert all(text.count(word) == 3 for word in ("ben:", "white", "cleo:", "green"))


def test_numbers_give_way_to_shades_where_a_map_is_wide() -> None:
    wide, small = read_exhibits(
        [make.heatmap("m", [make.panel("p", [[0.25] * n], "a", range(n))]) for n in (40, 4)]
    )
    texts = [printed([one], 60) for one in (wide, small)]
    assert texts[0].count("0.25") == 1  # the end of the scale
    assert "each block: the mean of 1 × 2" in texts[0]
    assert texts[1].count("0.25") == 4
    assert texts[0].count("█") == 2 * 20, "as dark as the scale ends"


# --- Broken and hostile ones ---

HEAD = "from grader.learner.demos.exhibits import *\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def demo(): return 3", "no list of exhibits"),
        ("def demo(): return [{'kind': 'film', 'title': 't'}]", "Exhibit 1 of the demo is none.*film"),
        ("def demo(): return [heatmap('t', [panel('p', [[1, 2], [3]], 'ab', 'ab')])]", "1 values for 2"),
        ("def demo(): return [table('t', ['a', 'b'], [[1]])]", "1 values for 2"),
        ("def demo(): return [lines('t', {'s': ([1], [])}, x_axis='x', y_axis='y')]", "0 values for 1"),
        ("def demo(): return [text('\\x1b[2J', '')]", "Exhibit 1"),
        (
            "def demo(): return [text('t', 'b'), question('q', seen='u', answer='a')]",
            "about “u”, which is not",
        ),
        ("def demo(): return [object()]", "."),
        ("def demo(): return [play('t', '../other.js', {}, text('t', 'b'))]", "Exhibit 1"),
        ("def demo(): return [play('t', 'x.js', {}, play('t', 'x.js', {}, text('t', 'b')))]", "Exhibit 1"),
        (
            "def demo(): return [choice('t', 'a', {1: text('t', 'b'), 2: text('t', 'b')}, start=2)]",
            "starts at 2",
        ),
        ("def demo(): return [text('t', 'b' * 30_000)]", "Exhibit 1"),
        (
            "def demo(): return [text('t', 'b' * 100_000)]",
            "returned what cannot be shown: a string of 100,000",
        ),
        ("def demo(): raise RuntimeError('the data is gone')", "stopped: RuntimeError: the data is gone"),
        ("def show(): return []", "demo"),
        ("def demo(: pass", "stopped: SyntaxError"),
        ("import os\ndef demo(): os._exit(0)", "did not end well: .*exit"),
        ("def demo(): open('/etc/kata-was-here', 'w')", "stopped: (PermissionError|OSError: .*Read-only)"),
        ("from mine import no_such_name\ndef demo(): return []", "no_such_name"),
    ],
)
def test_a_demo_that_cannot_be_shown_is_refused(
    source: str, says: str, launcher: Any, pack: Pack, tmp_path: Path
) -> None:
    (tmp_path / "demo.py").write_text(HEAD + source)
    with pytest.raises(PackError, match=says) as caught:
        run_demo(tmp_path / "demo.py", pack, [], launcher)
    assert "Traceback" not in str(caught.value)


def test_a_page_runs_the_packs_own_scripts_and_no_others(pack: Pack, tmp_path: Path) -> None:
    shown = read_exhibits([make.play("t", "own.js", {}, make.text("t", "b"))])
    demo = tmp_path / "unit" / "kata" / "demo.py"
    demo.parent.mkdir(parents=True)
    with pytest.raises(PackError, match=r"plays own\.js, which is in none of"):
        scripts(shown, demo, pack)
    (demo.parent.parent / "own.js").write_text("let a = '</script>';")
    with pytest.raises(PackError, match="would end it in the middle of a page"):
        scripts(shown, demo, pack)
    (demo.parent / "own.js").write_text("let a;")
    assert scripts(shown, demo, pack) == {"own.js": "let a;"}


def test_a_demo_is_said_to_use_what_it_imports(pack: Pack) -> None:
    unit = KATAS / "9.3-encoder-vs-decoder"
    assert [kata.slug for kata in uses(unit / "masks" / "demo.py", pack)] == ["masks"]
    assert "layer-norm" not in {kata.slug for kata in uses(unit / "masked-attention" / "demo.py", pack)}
    # Three katas require a `train`: a demo has that of its own.
    around = KATAS / "9.5-around-the-model"
    assert [kata.slug for kata in uses(around / "byte-pairs" / "demo.py", pack)] == ["byte-pairs"]


def test_the_line_that_failed_is_named(launcher: Any, pack: Pack, tmp_path: Path) -> None:
    (tmp_path / "demo.py").write_text("def demo():\n    return helper()\n\ndef helper():\n    return 1 / 0\n")
    with pytest.raises(PackError) as caught:
        run_demo(tmp_path / "demo.py", pack, [], launcher)
    assert caught.value.hint is not None
    assert re.search(r"demo\.py, line 5: return 1 / 0", caught.value.hint)


@pytest.mark.slow
def test_a_demo_that_hangs_is_ended(
    launcher: Any, pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.learner.demos.runner.TIME_S", 1.0)
    (tmp_path / "demo.py").write_text("def demo():\n    while True: pass\n")
    with pytest.raises(PackError, match="took longer than 1 s"):
        run_demo(tmp_path / "demo.py", pack, [], launcher)


def test_a_demo_may_write_to_its_scratch_folder(launcher: Any, pack: Pack, tmp_path: Path) -> None:
    source = """
        import tempfile
        from grader.learner.demos.exhibits import text

        def demo():
            with tempfile.TemporaryFile() as file:
                file.write(b"1")
            return [text("written", "")]
    """
    (tmp_path / "demo.py").write_text(textwrap.dedent(source))
    assert [exhibit.title for exhibit in run_demo(tmp_path / "demo.py", pack, [], launcher)] == ["written"]


# --- On the learner's own ---

WHOSE = """
from grader.learner.demos.exhibits import text
from mine import causal_mask

def demo():
    return [text("mask", str(causal_mask(2).tolist()))]
"""


@pytest.mark.parametrize(
    ("own", "mask"), [(None, [[True, False], [True, True]]), (TRACED, [[True, True], [True, False]])]
)
def test_a_demo_runs_on_what_the_learner_wrote_and_on_blocks_elsewhere(
    own: str | None, mask: object, launcher: Any, pack: Pack, tmp_path: Path
) -> None:
    (shown,) = run_demo(tmp_path / "demo.py", pack, whose(pack, tmp_path, own), launcher)
    assert shown.body == str(mask)


def whose(pack: Pack, folder: Path, own: str | None) -> list[Own]:
    """Write the demo and the learner's masks."""
    (folder / "demo.py").write_text(WHOSE)
    (folder / "masks.py").write_text(own or "")
    return [Own(kata, folder / "masks.py") for kata in pack.katas if kata.slug == "masks" and own]


@pytest.mark.parametrize(
    ("edited", "says"),
    [
        ("raise KeyError('since')", "masks.py, line 1: raise KeyError('since')\n"),
        ("def causal_mask(n):\n    return None", "No line of yours raised it: what your code returned"),
    ],
)
def test_own_code_that_broke_since_it_passed_is_not_taken_for_the_packs_fault(
    edited: str, says: str, launcher: Any, pack: Pack, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match="The demo stopped: ") as caught:
        run_demo(tmp_path / "demo.py", pack, whose(pack, tmp_path, edited), launcher)
    assert str(caught.value.hint).startswith(says)
    assert str(caught.value.hint).endswith("It ran on your code. Does that still pass? kata check masks")


# --- The command ---


@pytest.fixture
def kata(kata: Run, launcher: Any, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("grader.cli.learner.demo.start_launcher", lambda: launcher)
    return kata


@pytest.mark.parametrize(
    ("id_", "says"), [("insertion-sort", "insertion-sort has no demo"), ("9.77", "no 9.77")]
)
def test_an_id_without_a_demo_is_answered_with_those_that_have_one(
    kata: Run, folder: Path, id_: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_PACKS", str(ROOT / "tests" / "packs" / "tiny"))
    ran = kata("demo", id_)
    assert ran.code == 2
    assert says in ran.text
    for slug in (
        "encoder-vs-decoder",
        "masked-attention",
        "layer-norm",
        "feed-forward",
        "positional-encoding",
    ):
        assert slug in ran.text
    assert not list(folder.iterdir())


def test_a_unit_whose_katas_have_demos_names_these_alone(kata: Run, folder: Path) -> None:
    ran = kata("demo", "9.2")
    assert ran.code == 2
    assert "kata demo 9.2.1, or: kata demo 9.2.2" in ran.err
    assert "layer-norm" not in ran.err


def causal(ran: Any) -> list[list[float]]:
    (masks,) = (exhibit for exhibit in ran.json["exhibits"] if exhibit["title"] == "The masks of this batch")
    (frame,) = (frame for frame in masks["frames"] if frame["label"] == "causal")
    values: list[list[float]] = frame["shown"][0]["panels"][0]["values"]
    return values


def in_cells(*texts: str) -> str:
    """Return a notebook of these cells."""
    cells = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in texts]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.nightly
@pytest.mark.parametrize("notebook", [False, True], ids=["module", "notebook"])
def test_the_command_uses_files_that_pass_and_no_others(kata: Run, folder: Path, notebook: bool) -> None:
    assert kata("start", "9.3", *["--notebook"] * notebook).code == 0
    written = folder / "9.3-encoder-vs-decoder" / "masks" / f"masks.{'ipynb' if notebook else 'py'}"
    cells = TRACED, "from __future__ import annotations", "causal_mask(3).tolist().no_such_thing"
    written.write_text(in_cells(*cells) if notebook else TRACED)
    before = kata("demo", "masks", "--json")
    assert before.json["own"] == []
    assert kata("check", "masks").code == 0
    after = kata("demo", "masks", "--json")
    assert after.json["own"] == ["masks"]
    assert causal(after) == causal(before)[::-1] != causal(before)
    assert "Your own code: masks" in (folder / "kata-demo" / "masks" / "index.html").read_text()


@pytest.mark.nightly
def test_the_command_writes_a_page_and_pictures(kata: Run, folder: Path) -> None:
    ran = kata("demo", "masks").done()
    assert "The masks of this batch" in ran.out
    assert "On given blocks; yours take their place when they pass: " in ran.out
    home = folder / "kata-demo" / "masks"
    assert str(Path("kata-demo", "masks", "index.html")) in ran.out
    pictures = sorted(home.glob("*.svg"))
    assert pictures
    for picture in pictures:
        ElementTree.parse(picture)
    read_page((home / "index.html").read_text())
    before = {file.name: file.read_bytes() for file in home.iterdir()}
    again = kata("demo", "masks", "--json")  # into the folder it made itself
    assert {Path(file).name for file in again.json["files"]} == set(before)
    assert {file.name: file.read_bytes() for file in home.iterdir()} == before


def test_a_folder_that_holds_other_things_is_left_alone(kata: Run, folder: Path) -> None:
    other = folder / "thesis"
    other.mkdir()
    (other / "draft.txt").write_text("the only copy")
    kata("demo", "9.3", "--out", other).refused("holds other things", "--out")
    assert [file.name for file in other.iterdir()] == ["draft.txt"]
    assert (other / "draft.txt").read_text() == "the only copy"


def test_a_page_is_no_folder(kata: Run, folder: Path) -> None:
    kata("demo", "masks", "--out", "masks.html").refused("kata demo masks --out masks")
    assert not (folder / "masks.html").exists()


@pytest.mark.slow
def test_a_units_only_demo_is_found_under_the_unit(
    kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.learner.demos.runner.run_demo", lambda *_: read_exhibits(ONE_OF_EACH[:-1]))
    kata("demo", "9.1").done()
    assert (folder / "kata-demo" / "self-attention" / "index.html").is_file()


def test_the_names_of_many_lines_cover_none_of_them() -> None:
    series = {f"line {number}": ([0, 1, 2], [number, 6 - number, number]) for number in range(6)}
    [exhibit] = read_exhibits([make.lines("six", series, x_axis="x", y_axis="y")])
    axis = pictures._lines(exhibit, pictures.WIDE).axes[0]
    axis.figure.canvas.draw()
    assert axis.get_legend().get_window_extent().y0 >= axis.get_window_extent().y1
