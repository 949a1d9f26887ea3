"""The class report: its figures, its folder, the command."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.catalogue import Catalogue
from grader.cli.main import cli
from grader.errors import EngineError, UsageError
from grader.instructor.gradebook.course import Course
from grader.instructor.gradebook.row_types import Mark
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.html import KataTexts, Viewer, write_report
from grader.instructor.html.class_tally import bin_counts, histogram, slices
from grader.instructor.html.folder import file_stem
from grader.instructor.submissions import Bundle, Submission
from tests.pages.builders import NOW, adjusted, check, failed, row, written

# Figures


def table(page: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    part = page[page.index(f'id="{heading}"') :]
    body = part[part.index("<tbody>") : part.index("</tbody>")]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [
        [
            " ".join(unescape(re.sub("<[^>]+>", "", cell)).split())
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r, re.S)
        ]
        for r in rows
    ]


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Three learners: one passes, one fails late with a known mistake, one handed in nothing."""
    shifted = {"misconception": "shifted", "likely": "your mask is shifted"}
    secret = {"hidden": True, "id": "test_secret", "max_points": 2.0}
    rows = [
        row("ada", checks=[check(), check("sizes", points=2.0, **secret)], attempts=3, duration_s=0.2),
        row(
            "bob", checks=[failed(**shifted), failed("sizes", status="skipped", **secret)], days_late=2.0,
            late_points=0.5, adjustments=[adjusted(1, "nice")], score=0.5, duration_s=0.6,
        ),
        row("cyd", status="missing", score=0.0, max_score=3.0, attempts=0, submitted_at=None,
            checks=[failed("it adds up", status="skipped"), failed("sizes", status="skipped", **secret)]),
    ]  # fmt: skip
    written(rows, tmp_path / "out", course=Course(name="Deep <learning>"))
    return (tmp_path / "out/index.html").read_text(encoding="utf-8")


def test_the_class_in_numbers(small: str) -> None:
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", small))
    assert facts == {
        "learners": "3", "kata": "1", "answers graded": "2", "mean total": "39 %", "median total": "17 %"
    }  # fmt: skip
    assert "Deep &lt;learning&gt;" in small


def test_status_checks_mistakes_and_time(small: str) -> None:
    assert table(small, "status")[0][1:8] == ["1", "1", "0", "0", "0", "0", "1"]
    assert table(small, "checks") == [["it adds up", "values", "1", "", "50 %", "2", "0", "0"]]
    folded = small[small.index("1 check passed by all") :]
    assert table(f'id="all"{folded}', "all") == [["sizes hidden", "values", "2", "", "100 %", "1", "1", "0"]]
    assert "Failed most: it adds up (9.3.1, 1 of 2)." in text_of(small)
    assert table(small, "mistakes") == [["1", "", "your mask is shifted shifted", "9.3.1 masks"]]
    assert table(small, "time")[0][1:] == ["2", "1", "2.00", "3", "1", "0.40", "0.60"]


def test_a_learner_s_page_shows_the_code_and_runs_none_of_it(tmp_path: Path) -> None:
    source = b"def causal_mask(n):\n    return '<script>alert(1)</script>'\n"
    out = tmp_path / "out"
    handed, bundles = {"ada": 1, "bob": 2}, {1: Bundle("masks.py", {"masks.py": source})}
    write_report(
        [row(learner, attempt=attempt) for learner, attempt in handed.items()],
        Viewer(Course(), KataTexts(Catalogue.discover()), bundle=lambda attempt: bundles.get(attempt)),
        out,
        built=NOW,
    )
    pages = {path.name[:3]: path.read_text(encoding="utf-8") for path in (out / "learners").iterdir()}
    assert "What was handed in: masks.py, 2 lines" in pages["ada"]
    assert "What was handed in" not in pages["bob"]
    feedback = "".join(path.read_text(encoding="utf-8") for path in (out / "feedback").iterdir())
    assert "What was handed in" not in feedback
    for page in pages.values():
        assert "<script>alert" not in page


def test_what_to_teach_and_who_needs_somebody_comes_first(small: str) -> None:
    assert re.findall(r'<h2 id="([^"]+)"', small)[:3] == ["mistakes", "need", "learners"]
    ends = re.findall(r'<h2 id="([^"]+)"', small)
    assert re.findall(r'<a href="#([^"]+)"', small.split("</nav>")[0]) == ends


def test_who_needs_somebody_is_listed_with_the_reason_those_with_the_least_first(small: str) -> None:
    part = text_of(small[small.index('id="need"') : small.index('id="learners"')])
    assert part.index("cyd 0 % nothing handed in") < part.index("bob 17 %")
    assert "ada" not in part


def test_learners_stand_by_last_name_and_headings_say_how_many_points_there_are(tmp_path: Path) -> None:
    names = {"a": "Ada Zuse", "b": "\xc1nna \xc5berg", "c": "Roe, Zo\xeb", "d": "Bo de Vries"}
    written([row(learner, name=name) for learner, name in names.items()], tmp_path / "out")
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert [line[0] for line in table(page, "learners")] == [names[one] for one in "bcda"]
    head = text_of(page[page.index("<thead>", page.index('id="learners"')) :].partition("</thead>")[0])
    assert head.startswith("learnertotal /1%9.3.1 /1retries")


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", "", page)).split())


def test_every_learner_has_a_line_that_leads_to_their_pages(small: str, tmp_path: Path) -> None:
    lines = table(small, "learners")
    assert [line[:4] for line in lines] == [
        ["ada", "3", "100 %", "3 ✔"], ["bob", "0.5", "17 %", "0.5* ✘"], ["cyd", "0", "0 %", "0 ?"]
    ]  # fmt: skip
    for target in re.findall(r'href="([^#"]+)"', small):
        assert (tmp_path / "out" / target).is_file()
    page = (tmp_path / "out" / re.findall(r'href="(learners/bob[^"]+)"', small)[0]).read_text()
    assert "kim" in page
    assert 'rel="prev"' in page
    assert "<bdi>ada</bdi>" in page
    assert "<bdi>cyd</bdi> →" in page
    assert "sizes" in page
    assert "seed" in page


@pytest.mark.parametrize(
    ("parts", "counts"),
    [
        ([], [0] * 11),
        ([0, 0.05, 0.0999], [3, *[0] * 10]),
        ([0.1, 0.7, 0.1 * 7, 1 - 1e-3], [0, 1, 0, 0, 0, 0, 0, 2, 0, 1, 0]),
        ([1.0, 1.2], [0] * 10 + [2]),
    ],
)
def test_scores_fall_into_tenths_and_full_marks(parts: list[float], counts: list[int]) -> None:
    assert bin_counts(parts) == counts


@given(st.lists(st.floats(0, 1.5), min_size=1, max_size=60))
def test_bars_stand_in_proportion_inside_their_picture(parts: list[float]) -> None:
    plot = histogram(parts)
    assert sum(bar.scores for bar in plot.bars) == len(parts)
    assert max(bar.height for bar in plot.bars) == 96
    for bar in plot.bars:
        assert bar.y + bar.height == pytest.approx(96)
        assert 0 <= bar.x < bar.x + bar.width <= 286
        assert (bar.height > 0) == (bar.scores > 0)
    assert plot.middle is not None
    assert 0 <= plot.middle <= 286


def test_a_bar_of_a_whole_is_full() -> None:
    cut = slices([("pass", 1), ("fail", 0), ("missing", 2)])
    assert [part.kind for part in cut] == ["pass", "missing"]
    assert cut[-1].x + cut[-1].width == pytest.approx(100, abs=0.02)


def test_nobody_in_the_class_is_too_few() -> None:
    with pytest.raises(UsageError, match="no marks yet"):
        written([], Path("never-made"))
    assert not Path("never-made").exists()


# Names of files

NAMES = [
    "ada", "Ada", "ADA", "a/da", "../ada", "..", ".", "", " ", "-", "CON", "nul.html", "ada.", "é", "e\u0301", "😀",
    "🦜", "a" * 300, "a" * 301, "/etc/passwd", "C:\\x", "=1+1", "\x00", "\n", "\udcff", "\udcfe", "ﬁ", "fi", "index",
]  # fmt: skip


def test_two_learners_never_share_a_file_and_no_file_leaves_the_folder(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    written([row(name) for name in NAMES], out)
    files = list((out / "feedback").iterdir())
    assert len({file.name.lower() for file in files}) == 2 * len(NAMES)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and out not in path.parents] == []
    index = json.loads((out / "index.json").read_bytes())
    assert len(index) == len(NAMES)
    assert len({entry["feedback"] for entry in index}) == len(NAMES)
    for entry in index:
        assert (out / entry["feedback"]).is_file()
        assert (out / entry["markdown"]).is_file()


@given(st.text(max_size=400), st.text(max_size=400))
def test_file_names_are_plain_and_tell_learners_apart(one: str, other: str) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,72}", file_stem(one))
    assert (file_stem(one) == file_stem(other)) == (one == other)


# The folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("holds", ["thesis.txt", "index.html", "feedback/ada.html"])
def test_a_folder_of_somebody_elses_is_left_alone(tmp_path: Path, holds: str) -> None:
    file = tmp_path / "out" / holds
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with pytest.raises(UsageError, match="holds other files"):
        written([row()], tmp_path / "out")
    assert files_of(tmp_path / "out") == {holds: b"mine"}


def test_a_file_in_the_place_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UsageError, match="is a file"):
        written([row()], tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_second_report_replaces_the_first_and_removes_who_left(tmp_path: Path) -> None:
    out = tmp_path / "out"
    written([row("ada"), row("bob")], out)
    (out / "feedback/notes.txt").write_text("mine")
    written([row("ada", checks=[failed(message="new message")])], out)
    names = files_of(out)
    assert not [name for name in names if "bob" in name]
    assert names["feedback/notes.txt"] == b"mine"
    assert any(b"new message" in data for data in names.values())
    assert b"bob" not in names["index.html"]


def test_what_has_not_changed_is_not_written_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    rows = [row("ada"), row("bob")]
    written(rows, out)
    before = {file: file.stat().st_ino for file in (out / "feedback").iterdir()}
    (damaged,) = (out / "feedback").glob("bob*.md")
    damaged.write_text("cut sho")
    written([row("ada", checks=[failed()]), row("bob")], out)
    changed = {file.name for file, node in before.items() if file.stat().st_ino != node}
    assert {name.split("-")[0] for name in changed} == {"ada", "bob"}
    assert len(changed) == 3
    assert "# Feedback for bob" in damaged.read_text()


def test_parts_leave_each_other_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    written([row("ada")], out, part="feedback")
    assert {Path(name).parts[0] for name in files_of(out)} == {".kata-report", "feedback", "index.json"}
    feedback = {name: data for name, data in files_of(out).items() if name.startswith("feedback")}
    written([row("ada", checks=[failed()])], out, part="class")
    now = files_of(out)
    assert {name: now[name] for name in feedback} == feedback
    assert "index.html" in now
    written([row("ada"), row("bob")], out, part="feedback")
    assert files_of(out)["index.html"] == now["index.html"]


def test_an_interrupted_run_leaves_whole_pages_and_the_next_one_clears_up(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def interrupted() -> Iterator[Mark]:
        yield row("ada")
        yield row("zoe")
        yield row("zoe", kata="layer-norm", number="9.3.3")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(interrupted(), Viewer(Course(), KataTexts(Catalogue.discover())), out, built=NOW)
    left = files_of(out)
    assert any("ada" in name for name in left)
    assert "index.html" not in left
    for name, data in left.items():
        if name.endswith(".html"):
            assert data.rstrip().endswith(b"</html>")
    written([row("bob")], out)
    assert {Path(name).parts[0] for name in files_of(out)} == {
        ".kata-report", "feedback", "learners", "index.html", "index.json"
    }  # fmt: skip
    assert not [name for name in files_of(out) if "ada" in name]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(EngineError, match="cannot be written"):
        written([row()], tmp_path / "locked/out")


def test_a_class_of_many_stays_usable(tmp_path: Path) -> None:
    """One learner's share of the class report is small, and their rows are not kept."""

    def size(learners: int) -> int:
        made = [
            row(f"learner {n}", kata=f"kata-{k}", number=f"1.{k}") for n in range(learners) for k in range(9)
        ]
        out = tmp_path / str(learners)
        written(made, out, part="class")
        return (out / "index.html").stat().st_size

    assert (size(30) - size(10)) / 20 < 1500


# The command


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Run `kata report` beside a gradebook of two learners."""
    monkeypatch.chdir(tmp_path)
    with Gradebook.open("gradebook.sqlite", create=True) as book:
        number = book.start_run({})
        for learner in ("ada", "bob"):
            one = Submission(
                learner=learner, kata="masks", bundle=Bundle("masks.py", {"masks.py": learner.encode()})
            )
            from grader.instructor.gradebook.row_types import Key

            number.record(one, Key(learner, "terms"), row(learner, checks=[check(), failed("later")]).report)
        number.finish()

    def run(*arguments: object) -> tuple[int, str, str]:
        code: Any = 0
        try:
            cli.main(["report", *map(str, arguments)])
        except SystemExit as end:
            code = end.code
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return code or 0, out, err

    return run


def test_the_command_writes_a_report_of_the_gradebook(run: Callable[..., Any], tmp_path: Path) -> None:
    code, out, err = run()
    assert code == 0
    assert "report    kata-report/index.html   2 learners" in out
    assert "feedback  kata-report/feedback" in out
    assert "hidden checks" in err
    assert len(list((tmp_path / "kata-report/feedback").iterdir())) == 4


def test_the_command_tells_machines_what_it_wrote(run: Callable[..., Any], tmp_path: Path) -> None:
    code, out, _ = run("--out", "here", "--feedback-only", "--json")
    assert code == 0
    assert json.loads(out) == {"schema": 1, "folder": "here", "learners": 2, "files": 5, "part": "feedback"}
    assert not (tmp_path / "here/index.html").exists()


def test_course_settings_name_the_class(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "week.toml").write_text('name = "Week three"\n')
    assert run("--course", "week.toml")[0] == 0
    assert "<h1><bdi>Week three</bdi></h1>" in (tmp_path / "kata-report/index.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--feedback-only", "--class-only"], 2, "leave nothing to write"),
        (["--gradebook", "none.sqlite"], 2, "there is no gradebook"),
        (["--course", "none.toml"], 2, "none.toml"),
        (["--out", "."], 2, "holds other files"),
        (["--out", "gradebook.sqlite"], 2, "is a file"),
    ],
)
def test_what_cannot_be_done_is_said(
    run: Callable[..., Any], tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    ended, out, err = run(*arguments)
    assert (ended, out) == (code, "")
    assert says in err
    assert not (tmp_path / "kata-report").exists()
