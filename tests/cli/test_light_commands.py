"""The commands that need no tensors, driven as a learner drives them."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from grader.cli.main import COMMANDS, KataGroup
from grader.learner.workspace import PROGRESS_FILE, edit_progress, load_progress, record_check
from grader.report.json_text import escape_surrogates, json_text
from grader.report.report import KataReport, SpeedScore
from grader.report.style import console, escape_controls
from grader.report.terminal import print_reports
from grader.words import hidden
from tests.conftest import Run, completed, invoke

TINY = Path(__file__).parents[1] / "packs" / "tiny"
FOLDER = Path("1.1-sorting", "insertion-sort")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("KATA_PACKS", str(TINY))
    for name in ("KATA_SOLUTIONS", "KATA_DEBUG", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: None)
    return folder


@pytest.fixture
def kata(home: Path) -> Run:
    return invoke


def check(home: Path, status: str = "pass", score: float = 4) -> None:
    with edit_progress(home) as progress:
        report = KataReport(
            kata="insertion-sort",
            number="1.1.1",
            status=status,
            score=score,
            max_score=4,
            seed=0,  # type: ignore[arg-type]
        )
        record_check(progress, report)


def test_alone_outside_a_workspace_it_says_how_to_begin(kata: Run) -> None:
    result = kata().done()
    assert "small exercises that check themselves" in result.out
    assert "read a lesson, write its functions, watch the checks" in result.out
    assert "next:  kata start 1.1" in result.out
    kata("start").refused("Begin: kata start 1.1")


def test_the_loop_tells_the_next_command_at_every_step(kata: Run, home: Path) -> None:
    assert kata("start", "1.1").code == 0
    assert "next:  kata check insertion-sort" in kata().out
    assert f"when you have edited {FOLDER / 'insertion_sort.py'}" in kata().out
    check(home, "fail", 1)
    shown = kata().out
    assert "✘ failed" in shown
    assert "1/4" in shown
    assert "stuck? kata hint insertion-sort" in shown
    check(home)
    shown = kata().out
    assert "✔ passed" in shown
    assert "1 of 1 passed, 4/4 points" in shown
    assert "Every kata is passed" in shown
    check(home, "fail", 2)
    shown = kata().out
    assert "✔ passed, fails now" in shown, "a pass stays a pass"
    assert "1 of 1 passed, 4/4 points" in shown
    assert "all    1 of 1 kata, 4 of 4 points; 1 of these fails now" in shown


def test_being_slow_takes_neither_the_pass_nor_a_point_for_being_right(
    kata: Run, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kata("start", "1.1")
    report = KataReport(
        kata="insertion-sort", number="1.1.1", status="pass", score=4, max_score=4, seed=0,
        speed=SpeedScore(score=0, max_score=1),
    )  # fmt: skip
    with edit_progress(home) as progress:
        record_check(progress, report)
    assert "1 of 1 passed, 4/4 points" in kata().out
    assert "✔ passed\n" in kata().out
    print_reports([report], console(), quiet=True)
    assert capsys.readouterr().out == "✔ passed  1.1.1 insertion-sort  4/4, speed 0/1\n"


def test_status_as_json(kata: Run, home: Path) -> None:
    assert kata("--json").json["workspace"] is None
    kata("start", "1.1")
    document = kata("--json").json
    assert document["schema"] == 1
    assert document["workspace"] == str(home)
    assert document["next"] == "kata check insertion-sort"
    assert document["katas"][0]["status"] == "not_started"
    assert document["katas"][0]["started"]


def test_start_says_what_it_wrote_and_what_it_kept(kata: Run, home: Path) -> None:
    result = kata("start", "1.1.1").done()
    assert f"written  {FOLDER}/  insertion_sort.py" in result.out
    assert "new workspace" in result.err
    (home / FOLDER / "insertion_sort.py").write_text("mine")
    result = kata("start", "insertion")
    assert f"kept     {FOLDER}/  insertion_sort.py" in result.out
    assert "as you left it" in result.out
    assert (home / FOLDER / "insertion_sort.py").read_text() == "mine"


def test_start_of_an_unknown_id_makes_no_workspace(kata: Run, home: Path) -> None:
    kata("start", "insertoin").refused("Did you mean insertion-sort")
    assert list(home.iterdir()) == []


def test_start_as_a_notebook(kata: Run, home: Path) -> None:
    assert kata("start", "1.1", "--notebook").code == 0
    assert (home / FOLDER / "insertion_sort.ipynb").exists()
    (home / FOLDER / "insertion_sort.ipynb").rename(home / FOLDER / "insertion_sort.py")
    kata("start", "1.1", "--notebook").refused("was started as a module")


def test_list_shows_number_slug_title_points_and_status(kata: Run, home: Path) -> None:
    line = kata("list").out.splitlines()[1]
    assert line.split("  ")[:2] == ["1.1.1", "insertion-sort"]
    assert "Insertion sort" in line
    assert "4 points" in line
    assert "· not started" in line
    kata("start", "1.1")
    check(home)
    assert "✔ passed" in kata("list").out
    document = kata("list", "--json").json
    assert document["units"][0]["katas"][0]["status"] == "pass"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (55, {"4 points", "not started"}),
        (70, {"4 points", "20 min, easy", "not started"}),
        (110, {"Insertion sort", "4 points", "20 min, easy", "not started"}),
    ],
)
def test_list_and_show_say_how_long_a_kata_takes(
    kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int, words: set[str]
) -> None:
    pack = shutil.copytree(TINY, tmp_path / "timed")
    file = pack / FOLDER / "kata.toml"
    file.write_text('minutes = 20\ndifficulty = "easy"\n' + file.read_text())
    monkeypatch.setenv("KATA_PACKS", str(pack))
    monkeypatch.setenv("COLUMNS", str(columns))
    line = kata("list").out.splitlines()[1]
    assert {
        part for part in ("Insertion sort", "4 points", "20 min, easy", "not started") if part in line
    } == words
    lesson = kata("show", "1.1.1").out.splitlines()
    assert lesson[2] == "*4 points, 20 min, easy*"
    assert kata("show", "1.1.1", "--json").json["minutes"] == 20


def test_hints_come_one_at_a_time_and_are_recorded(kata: Run, home: Path) -> None:
    kata("start", "1.1")
    first, second, third, last = (kata("hint") for _ in range(4))
    assert first.out.startswith("How do you sort a hand of cards")
    assert "hint 1 of 3" in first.err
    assert "2 more hints left" in first.err
    assert second.out.startswith("Keep a second list")
    assert "1 more hint left" in second.err
    assert third.out == last.out
    assert "no hints left" in third.err
    assert load_progress(home).of("insertion-sort").hints == 3


def test_a_tier_can_be_named(kata: Run, home: Path) -> None:
    kata("start", "1.1")
    document = kata("hint", "1.1.1", "--tier", "2", "--json").json
    assert (document["tier"], document["left"], document["recorded"]) == (2, 1, True)
    assert kata("hint", "--tier", "1", "--json").json["left"] == 1
    assert load_progress(home).of("insertion-sort").hints == 2
    assert kata("hint", "--tier", "4").code == 2


def test_a_hint_outside_a_workspace_is_shown_and_not_recorded(kata: Run, home: Path) -> None:
    result = kata("hint", "1.1.1").done()
    assert "not recorded" in result.err
    assert list(home.iterdir()) == []


def test_without_an_id_the_folder_says_which_kata(
    kata: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kata("hint").refused("Which kata? None is in progress")
    kata("start", "1.1")
    check(home)
    assert kata("hint").code == 2
    monkeypatch.chdir(home / FOLDER)
    assert kata("hint").code == 0


def with_merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a pack with a second kata, 1.1.2 merge; return the pack's folder."""
    pack = tmp_path / "two"
    shutil.copytree(TINY, pack)
    merge = pack / "1.1-sorting" / "merge"
    shutil.copytree(merge.with_name("insertion-sort"), merge)
    (merge / "insertion_sort.py").rename(merge / "merge.py")
    text = (merge / "kata.toml").read_text()
    text = text.replace("1.1.1", "1.1.2").replace('module = "insertion_sort"', 'module = "merge"')
    (merge / "kata.toml").write_text(text)
    monkeypatch.setenv("KATA_PACKS", str(pack))
    return pack


def test_a_kata_waits_for_a_later_one_that_helps_before_it(
    kata: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = with_merge(tmp_path, monkeypatch) / FOLDER / "kata.toml"
    first.write_text(first.read_text().replace("points =", 'after = ["merge"]\npoints =', 1))
    kata("start", "1.1")
    assert "next:  kata check merge" in kata().out
    kata("start", "insertion-sort")
    assert "next:  kata check merge" in kata().out, "started by name and not tried yet"
    check(home, "fail", 1)
    assert "next:  kata check insertion-sort" in kata().out, "a learner who is at it stays there"


def test_of_several_katas_the_folder_or_the_one_that_was_tried_is_meant(
    kata: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_merge(tmp_path, monkeypatch)
    kata("start", "merge")
    assert "next:  kata check merge" in kata().out
    kata("start", "1.1")
    # Bare commands mean what `kata` says comes next.
    assert "next:  kata check insertion-sort" in kata().out
    assert "1.1.1 insertion-sort, hint 1" in kata("hint", "--tier", "1").err
    assert kata("show").out == kata("show", "insertion-sort").out
    kata("solution").refused("no solution of 1.1.1 insertion-sort")
    monkeypatch.chdir(home / "1.1-sorting" / "merge")
    assert "next:  kata check merge" in kata().out
    assert "1.1.2 merge, hint 1" in kata("hint").err
    monkeypatch.chdir(home)
    check(home, "fail", 1)
    assert "1.1.1 insertion-sort, hint 2" in kata("hint").err
    check(home)
    assert "1.1.2 merge, hint 2" in kata("hint").err
    assert "next:  kata check merge" in kata().out
    check(home, "fail", 1)  # what passed before and fails now is what the learner works on
    assert "next:  kata check insertion-sort" in kata().out
    assert "1.1.1 insertion-sort, hint 3" in kata("hint").err


def test_a_kata_without_a_file_is_not_where_the_learner_is(kata: Run, home: Path) -> None:
    kata("start", "1.1")
    (home / FOLDER / "insertion_sort.py").unlink()
    check(home, "missing", 0)
    assert "next:  kata start insertion-sort" in kata().out
    with edit_progress(home) as progress:
        progress.katas.clear()
    check(home, "missing", 0)
    assert load_progress(home).katas == {}


def test_the_solution_stays_closed_until_a_pass(kata: Run, home: Path) -> None:
    kata("start", "1.1")
    kata("solution", "insertion-sort").refused("has not passed yet")
    check(home)
    opened = kata("solution", "insertion-sort", "--give-up").done()
    assert "def insertion_sort" in opened.out
    assert load_progress(home).of("insertion-sort").gave_up is None


def test_giving_up_is_recorded_once(kata: Run, home: Path) -> None:
    kata("start", "1.1")
    document = kata("solution", "--give-up", "--json").json
    assert document["gave_up"] is True
    assert "def insertion_sort" in document["solution"]
    when = load_progress(home).of("insertion-sort").gave_up
    assert when is not None
    assert kata("solution").code == 0
    assert load_progress(home).of("insertion-sort").gave_up == when
    assert "solution shown" in kata().out


def test_an_install_without_solutions_says_so(
    kata: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(TINY, tmp_path / "lonely")
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "lonely"))
    kata("start", "1.1")
    kata("solution", "--give-up").refused("This install has no solution of 1.1.1 insertion-sort")
    assert load_progress(home).of("insertion-sort").gave_up is None


def test_reset_says_where_the_backup_is(kata: Run, home: Path) -> None:
    kata("start", "1.1")
    assert "nothing to reset" in kata("reset", "1.1").out
    (home / FOLDER / "insertion_sort.py").write_text("mine")
    result = kata("reset", "1.1").done()
    found = re.search(r"what you had is in (\S+)", result.out)
    assert found is not None
    assert (home / found[1] / "insertion_sort.py").read_text() == "mine"
    assert "raise NotImplementedError" in (home / FOLDER / "insertion_sort.py").read_text()
    document = kata("reset", "1.1", "--json").json
    assert document["katas"][0]["backup"] is None


def test_reset_and_run_without_an_id_mean_the_current_kata(kata: Run, home: Path) -> None:
    for command in ("reset", "run"):
        kata(command).refused("Which kata? None is in progress")
    kata("start", "1.1")
    (home / FOLDER / "insertion_sort.py").write_text("mine")
    assert "insertion-sort: reset" in kata("reset").done().out
    kata("run").refused("insertion-sort has no run of its own")


def test_reset_needs_something_that_was_started(kata: Run, home: Path) -> None:
    assert "not in a kata workspace" in kata("reset", "1.1").err
    (home / PROGRESS_FILE).write_text("{}")
    kata("reset", "1.1").refused("was not started")


def test_show_says_what_a_picture_shows(kata: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_PACKS", str(Path(__file__).parents[2] / "katas"))
    shown = kata("show", "masks").out
    assert "*Figure: Four square masks of six queries by six keys. " in shown
    assert "figure.svg" not in shown


def test_show_prints_lessons_and_stubs(kata: Run) -> None:
    assert kata("show", "1.1").out.startswith("# 1.1 Sort a list by hand")
    assert kata("show", "1.1.1").out == (TINY / FOLDER / "README.md").read_text()
    assert kata("show", "1.1.1", "--stub").out == (TINY / FOLDER / "insertion_sort.py").read_text()
    assert "a stub belongs to one kata" in kata("show", "1.1", "--stub").err
    assert kata("show", "1.1.1", "--stub", "--json").json["stub"].startswith('"""Sort')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chek"], "There is no command chek. Did you mean check?"),
        (["hnit", "1.1"], "There is no command hnit. Did you mean hint?"),
        (["1.1"], "It is an ID. Try: kata start 1.1, or: kata check 1.1"),
        (["xyzzy"], "See: kata --help"),
        (["start"], "Start what?"),
        (["start", "1.1", "--speed"], "No such option"),
        (["--json", "list"], "kata list --json"),
    ],
)
def test_a_command_typed_wrongly_gets_help(kata: Run, arguments: list[str], said: str) -> None:
    result = kata(*arguments)
    assert result.code == 2
    assert said in result.err
    assert result.err.startswith("error: ")
    assert result.out == ""


def test_damaged_progress_is_left_alone_by_every_command(kata: Run, home: Path) -> None:
    kata("start", "1.1")
    (home / PROGRESS_FILE).write_text('{\n"katas": oops')
    for arguments in ([], ["list"], ["start", "1.1"], ["hint"], ["reset", "1.1"], ["solution", "1.1.1"]):
        kata(*arguments).refused("kata-progress.json, line 2: the progress is not valid JSON")
    assert (home / PROGRESS_FILE).read_text() == '{\n"katas": oops'


def test_a_broken_pack_is_the_packs_fault(kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TINY, tmp_path / "broken")
    (tmp_path / "broken" / "1.1-sorting" / "insertion-sort" / "hints.md").unlink()
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "broken"))
    result = kata("list", "--json")
    assert result.code == 3
    assert result.out == ""
    assert "hints.md: this file is missing" in result.err


def test_what_we_did_not_foresee_is_one_line(kata: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode() -> None:
        raise RuntimeError("first \x1b[31mred\nsecond")

    monkeypatch.setattr("grader.cli.status.here", explode)
    result = kata("list")
    assert result.code == 3
    assert result.err == (
        "kata: internal error: RuntimeError: first \\x1b[31mred (set KATA_DEBUG=1 for the traceback)\n"
    )
    monkeypatch.setenv("KATA_DEBUG", "1")
    assert "Traceback" in kata("list").err


def test_an_interrupt_ends_with_130(kata: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.cli.status.here", interrupt)
    result = kata("list")
    assert result.code == 130
    assert "interrupted" in result.err


def test_a_command_decides_its_exit_code(kata: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def failing() -> int:
        return 1

    monkeypatch.setattr(KataGroup, "get_command", lambda *_: failing)
    assert kata("list").code == 1


def test_the_version(kata: Run) -> None:
    assert re.fullmatch(r"kata \d+\.\d+\.\d+\n", kata("--version").out)


def test_the_group_lists_every_command(kata: Run) -> None:
    missing = [target for target in COMMANDS.values() if find_spec(target.partition(":")[0]) is None]
    if missing:
        pytest.skip(f"not written yet: {', '.join(missing)}")
    result = kata("--help")
    listed = re.findall(r"^  (\w+) {2,}\S", result.out.split("Commands:")[1], re.MULTILINE)
    named = re.findall(r"\w+", result.out.partition("For instructors and authors, each with --help:")[2])
    assert listed + named == list(COMMANDS)


def test_hostile_text_does_not_reach_the_terminal(
    kata: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(TINY, tmp_path / "hostile")
    folder = tmp_path / "hostile" / "1.1-sorting" / "insertion-sort"
    (folder / "README.md").write_text("# Hi\x1b]0;owned\x07\n")
    text = (folder / "kata.toml").read_text()
    (folder / "kata.toml").write_text(text.replace('"Insertion sort"', '"[red]In\\u001b[2Jsertion[/red]"'))
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "hostile"))
    assert kata("show", "1.1.1").out == "# Hi\\x1b]0;owned\\x07\n"
    listed = kata("list").out
    assert "\x1b" not in listed
    assert "[red]In\\x1b[2Jsertion[/red]" in listed
    assert "\x1b" not in kata("start", "\x1b[31mx").err


def test_the_console_reads_no_markup_and_does_not_fold_at_80(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    line = "[red]1[/red] :smile: " + "x" * 100
    console().print(line)
    console(stderr=True).print("progress")
    captured = capsys.readouterr()
    assert captured.out == line + "\n"
    assert captured.err == "progress\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\r\nb\rc", "a\nb\\rc"),
        ("\x9b31m\x00\x7f", "\\x9b31m\\x00\\x7f"),
        ("ab\u202ecd\u2028\ud800", "ab\\u202ecd\\u2028\\ud800"),
        ("a\u061c\u2060\u206a\u115f", "a\\u061c\\u2060\\u206a\\u115f"),
        ("a\U000e0001", "a\\U000e0001"),
        ("ünïcödé ✔ 漢字 👩\u200d💻", "ünïcödé ✔ 漢字 👩\u200d💻"),
    ],
)
def test_control_characters_are_shown_not_obeyed(text: str, shown: str) -> None:
    assert escape_controls(text) == shown
    assert json.loads(json_text(text)) == escape_surrogates(text)
    assert not hidden(json_text(text))


PROGRAM = """
import sys
import grader.catalogue.catalogue as catalogue
catalogue.builtin_folder = lambda: None
from grader.cli.main import main
main()
"""


def environment(**more: str) -> dict[str, str]:
    unset = {"NO_COLOR", "COLUMNS", "KATA_DEBUG", "KATA_SOLUTIONS", "PYTHONUNBUFFERED"}
    kept = {key: value for key, value in os.environ.items() if key not in unset}
    root = str(Path(__file__).parents[2])
    return {**kept, "KATA_PACKS": str(TINY), "PYTHONPATH": root, "TERM": "xterm-256color", **more}


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["start", "1.1"], [], ["list"], ["show", "1.1"], ["show", "1.1.1", "--stub"], ["hint", "1.1.1"]],
)
def test_light_commands_import_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    program = PROGRAM.replace(
        "main()\n", "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    done = completed([sys.executable, "-c", program, *arguments], cwd=tmp_path, env=environment())
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()}
    assert "grader" in loaded
    heavy = {"torch", "numpy", "pytest", "nbformat", "pygments", "markdown_it"}
    assert not loaded & heavy


def on_terminal(arguments: list[str], folder: Path, **more: str) -> str:
    """Run a command with a terminal as its stdout and return what arrives there."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        env=environment(**more),
        stdout=follower,
        stderr=subprocess.DEVNULL,
    )
    os.close(follower)
    received = io.BytesIO()
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not data:
            break
        received.write(data)
    os.close(leader)
    assert process.wait() == 0
    return received.getvalue().decode()


@pytest.mark.slow
def test_colour_is_for_terminals_that_want_it(tmp_path: Path) -> None:
    coloured = on_terminal(["list"], tmp_path)
    assert "\x1b[" in coloured
    plain = on_terminal(["list"], tmp_path, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3\d", plain)
    assert "not started" in plain


@pytest.mark.slow
def test_lessons_and_stubs_are_rendered_on_a_terminal(tmp_path: Path) -> None:
    lesson = on_terminal(["show", "1.1.1"], tmp_path)
    assert "# Insertion sort" not in lesson
    assert "Insertion sort" in lesson
    assert not re.search(r"\x1b\[[0-9;]*\b4[0-7]", lesson), (
        "a background colour that hides text on some terminals"
    )
    stub = on_terminal(["show", "1.1.1", "--stub"], tmp_path, COLUMNS="40")
    assert "\x1b[" in stub
    words = re.sub(r"\x1b\[[0-9;]*m", "", stub).split()
    assert words == (TINY / FOLDER / "insertion_sort.py").read_text().split()


def test_an_ascii_terminal_gets_ascii(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "list"],
        cwd=tmp_path,
        env=environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b". not started" in done.stdout


PRINTING = """
import click
from grader.cli.main import KataGroup
KataGroup.get_command = lambda *_: click.Command("list", callback=lambda: print("left in the buffer"))
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    ("program", "arguments"),
    [(PROGRAM, ["list"]), (PROGRAM, ["list", "--json"]), (PROGRAM.replace("main()\n", PRINTING), ["list"])],
)
def test_output_that_cannot_be_written_is_an_error(
    tmp_path: Path, program: str, arguments: list[str]
) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith(b"error: the output cannot be written (No space left on device)")
    assert b"Exception" not in done.stderr


def test_a_unit_says_what_it_comes_to_before_and_after(
    kata: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(TINY, tmp_path / "pack")
    unit = tmp_path / "pack" / "1.1-sorting" / "unit.toml"
    unit.write_text(unit.read_text() + 'outcome = "a sort of your own"\n')
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "pack"))
    assert "at its end you have a sort of your own" in kata("start", "insertion-sort").out
    assert "at its end" not in kata("start", "1.1").out
    assert "complete" not in kata().out
    check(home)
    assert "Unit 1.1 is complete: you have a sort of your own" in kata().out


def test_a_pack_says_where_to_begin(
    kata: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(TINY, tmp_path / "pack")
    file = tmp_path / "pack" / "pack.toml"
    before = file.read_text()
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "pack"))
    file.write_text(before + 'begin = "insertion-sort"\n')
    assert "next:  kata start insertion-sort" in kata().out
    file.write_text(before + 'begin = "9.9"\n')
    broken = kata()
    assert broken.code == 3
    assert "`begin` names 9.9, which is not a unit or kata of this pack" in broken.text


def test_a_lost_progress_file_is_said_and_made_again(
    kata: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kata("start", "1.1")
    (home / PROGRESS_FILE).unlink()
    monkeypatch.chdir(home / "1.1-sorting")
    told = kata().done()
    assert f"{PROGRESS_FILE} is gone, and with it what was recorded; made again with 1 kata" in told.err
    assert "next:  kata check insertion-sort" in told.out
    assert load_progress(home).of("insertion-sort").started
    assert "is gone" not in kata().text


def test_what_an_upgrade_left_behind_is_named(kata: Run, home: Path) -> None:
    kata("start", "1.1")
    assert "older than the pack's" not in kata("start", "1.1").text
    (home / FOLDER / "insertion_sort.py").write_text("mine")
    (home / FOLDER / "README.md").write_text("# an older lesson\n")
    told = kata("start", "1.1").err
    assert f"older than the pack's, or changed by you: {FOLDER / 'README.md'}" in told
    assert "move yours away and type again: kata start 1.1" in told
    assert "insertion_sort.py" not in told.partition("older than")[2].partition("\n")[0]


def test_work_inside_katas_own_sources_is_remarked_on(kata: Run, home: Path) -> None:
    (home / "pyproject.toml").write_text('[project]\nname = "tensor-kata"\n')
    assert "inside Kata's own sources" in kata("start", "1.1").err
    assert "mkdir ~/kata && cd ~/kata" in kata("start", "1.1").err


@pytest.mark.parametrize("command", [("data", "--json"), ("completion", "bash", "--install")])
def test_a_user_without_a_home_is_told_to_name_a_place(
    kata: Run, home: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    told = kata(*command).text
    assert "error: This user has no home folder." in told
    assert "XDG_" in told
