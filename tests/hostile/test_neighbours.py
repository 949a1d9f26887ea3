"""Honest learners among hostile ones: their rows are those of a class in which everybody is honest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.engine import sandbox
from tests.conftest import Ran, Run
from tests.grading.conftest import EXITS, LOOPS, OTHER, RIGHT, STUB, WRONG
from tests.hostile.entries import entries
from tests.hostile.room import SECRET, make_pack

pytestmark = pytest.mark.gate

MODULE = "insertion_sort.py"
HONEST = {
    "ada": RIGHT,
    "bob": WRONG,
    "cleo": OTHER,
    "dan": STUB,
    "eve": "def insertion_sort(v):\n    return v\n",
}
HOSTILE = {
    "exhaust/memory",
    "exhaust/processes",
    "exhaust/output",
    "exhaust/many_small_files",
    "exhaust/recursion",
    "forge/answer_early",
    "forge/answer_from_thread",
    "forge/close_everything",
    "forge/exit_zero_in_call",
    "forge/hand_over_descriptors",
    "forge/result_files",
    "neighbour/answers_of_others",
    "neighbour/marks_of_others",
    "neighbour/signals",
    "outlive/daemon",
    "outlive/stubborn_folder",
    "parser/escape_sequences",
    "parser/lone_surrogates",
    "read/submissions_of_others",
    "timeout/ignores_signals",
}


def rows(folder: Path, submissions: Path, run: Callable[..., Ran], pack: Path) -> dict[str, dict[str, Any]]:
    """Grade a class; return its reports by learner, without what differs from run to run."""
    name = f"{submissions.name}.jsonl"
    book = f"{submissions.name}.sqlite"
    options = ("--only", "insertion-sort", "--seed", "7", "--timeout", "2", "-j", "2", "--gradebook", book)
    ran = run("grade", submissions, *options, "--json", name, cwd=folder, env={"KATA_PACKS": str(pack)})
    assert ran.code == 0, ran.err
    assert not {letter for letter in ran.text.replace("\n", "") if not letter.isprintable()}
    found = {}
    for line in (folder / name).read_text().splitlines():
        report = json.loads(line)
        found[report["learner"]] = {key: report[key] for key in report if key not in ("duration_s", "file")}
    return found


def test_no_row_of_others_is_lost_or_changed(tmp_path: Path, kata_process: Run) -> None:
    (tmp_path / "pack").mkdir()
    pack = make_pack(tmp_path / "pack", SECRET, only="insertion-sort")
    alone, among = tmp_path / "alone", tmp_path / "among"
    for learner, source in HONEST.items():
        for place in (alone, among):
            (place / learner).mkdir(parents=True)
            (place / learner / MODULE).write_text(source)
    corpus = {entry.id: entry for entry in entries()}
    for name in HOSTILE:
        place = among / f"a-{name.replace('/', '-')}"
        place.mkdir()
        for file, content in corpus[name].files.items():
            (place / file).write_bytes(content)
    for learner, source in {"a-loops": LOOPS, "b-exits": EXITS}.items():
        (among / learner).mkdir()
        (among / learner / MODULE).write_text(source)
    (among / "c-link").mkdir()
    (among / "c-link" / MODULE).symlink_to(tmp_path / "pack/solutions/1.1-sorting/insertion-sort" / MODULE)
    honest = rows(tmp_path, alone, kata_process, pack)
    everybody = rows(tmp_path, among, kata_process, pack)
    assert set(honest) == set(HONEST)
    assert {learner: everybody[learner] for learner in HONEST} == honest
    assert [honest[name]["score"] for name in ("ada", "bob", "cleo")] == [5.0, pytest.approx(1, abs=1), 5.0]
    assert len(everybody) == len(HONEST) + len(HOSTILE) + 3
    assert max(report["score"] for learner, report in everybody.items() if learner not in HONEST) <= 1.0


LEASE = """
import fcntl, os, signal, sysconfig
signal.signal(signal.SIGIO, signal.SIG_IGN)
number = os.open(sysconfig.get_paths()["stdlib"] + "/wave.py", os.O_RDONLY)
fcntl.fcntl(number, 1024, fcntl.F_WRLCK)
signal.alarm(5)
signal.signal(signal.SIGALRM, lambda *_: None)
signal.pause()
"""


@pytest.mark.parametrize("level", ["full", "confined"])
def test_nobody_waits_for_a_lease(tmp_path: Path, kata_process: Run, level: str) -> None:
    if not sandbox.reaches(sandbox.probe().level, level):  # type: ignore[arg-type]
        pytest.skip("not offered here")
    (tmp_path / "pack").mkdir()
    pack = make_pack(tmp_path / "pack", SECRET, only="insertion-sort")
    reads = "\nimport wave\nopen(wave.__file__).read()\n"
    readers = {f"reader-{number}": RIGHT + reads for number in range(4)}
    for learner, source in {"holder": RIGHT + LEASE, **readers}.items():
        (tmp_path / "class" / learner).mkdir(parents=True)
        (tmp_path / "class" / learner / MODULE).write_text(source)
    options = ("--only", "insertion-sort", "--seed", "7", "--timeout", "4", "-j", "2", "--json", "rows")
    environment = {"KATA_PACKS": str(pack), "KATA_ISOLATION": level}
    kata_process("grade", "class", *options, cwd=tmp_path, env=environment).done()
    reports = {one["learner"]: one for one in map(json.loads, (tmp_path / "rows").read_text().splitlines())}
    assert {name: reports[name]["score"] for name in readers} == dict.fromkeys(readers, 5.0)
    assert reports["holder"]["score"] == 0
    assert {one["isolation"] for one in reports.values()} == {level}
