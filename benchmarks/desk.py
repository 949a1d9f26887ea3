"""How fast the desk is, and whether anything is lost when many mark at once: `python benchmarks/desk.py`.

A class of 2,000 and one of a tenth of it, each in a folder of its own; pages are asked for as a browser asks, in turns,
so that what else the machine does meets both: the last column hangs least on it. Eight markers, processes of their own,
give points to few marks, so that they often meet.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from grader.catalogue import Catalogue  # noqa: E402
from grader.instructor.gradebook.course import Course  # noqa: E402
from grader.instructor.gradebook.errors import ConflictError  # noqa: E402
from grader.instructor.gradebook.events import Adjust, Provenance  # noqa: E402
from grader.instructor.gradebook.store import Gradebook  # noqa: E402
from tests.extras.desk import made_class  # noqa: E402
from tests.extras.desk.conftest import Running  # noqa: E402

Place = tuple[str, Path]
"""A gradebook's address, and the course's folder."""
MARKS = 40
"""Few, so that markers meet."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--learners", type=int, default=2000)
    options.add_argument("--rounds", type=int, default=30)
    options.add_argument("--markers", type=int, default=8)
    options.add_argument("--edits", type=int, default=10_000)
    options.add_argument(
        "--postgres", metavar="URL", help="for the markers; a server of the tests' own otherwise"
    )
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as name:
        folder = Path(name)
        where = made_class.make(folder, asked.learners)
        (folder / "small").mkdir()
        small = made_class.make(folder / "small", max(1, asked.learners // 10)), folder / "small"
        pages((where, folder), small, asked.rounds)
        print(f"markers, SQLite: {markers(where, folder, asked.markers, asked.edits)}")
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as name:
        folder = Path(name)
        if asked.postgres:
            there = made_class.make(folder, MARKS, asked.postgres)
            print(f"markers, PostgreSQL: {markers(there, folder, asked.markers, asked.edits)}")
            return
        from tests.gradebook.postgres import Server

        server = Server()
        try:
            there = made_class.make(folder, MARKS, server.url)
            print(f"markers, PostgreSQL: {markers(there, folder, asked.markers, asked.edits)}")
        finally:
            server.close()


def pages(large: Place, small: Place, rounds: int) -> None:
    """Time pages of a large class and of a tenth of it, in turns, while somebody marks in between."""
    desks: list[Running] = []
    try:
        for where, folder in (large, small):
            began = time.perf_counter()
            desks.append(Running(where, folder))
            print(f"from the command to the address: {time.perf_counter() - began:.2f} s")
        everybody = [_learners(*place) for place in (large, small)]
        took: dict[str, list[tuple[float, float]]] = {}
        for number in range(rounds):
            for what in PAGES:
                both = [
                    _timed(desk, what, learners[number * 7 % len(learners)], number)
                    for desk, learners in zip(desks, everybody, strict=True)
                ]
                took.setdefault(what, []).append((both[0], both[1]))
    finally:
        for desk in desks:
            desk.close()
    print("page                      first   median  19 of 20   times a class of a tenth")
    for what, seconds in took.items():
        own = sorted(one for one, _ in seconds)
        ratio = statistics.median(one / other for one, other in seconds)
        late = own[int(0.95 * (len(own) - 1))]
        print(f"{what:24} {seconds[0][0]:6.3f}  {statistics.median(own):6.3f}    {late:6.3f}   {ratio:6.1f}")


PAGES = (
    "course", "class", "class, another page", "class, failed masks", "a mark", "a mark, filtered", "written",
    "disputes", "log", "problems", "groups", "items", "a mark is changed",
)  # fmt: skip


def _timed(desk: Running, what: str, who: str, number: int) -> float:
    asked = {
        "course": "/",
        "class, another page": f"/class?page={2 + number % 19}",
        "class, failed masks": "/class?kata=masks&status=fail",
        "a mark": "/mark?" + urlencode({"learner": who, "of": "layer-norm"}),
        "a mark, filtered": "/mark?" + urlencode({"learner": who, "of": "masks", "status": "fail"}),
    }
    start = time.perf_counter()
    if what != "a mark is changed":
        assert desk.ask("GET", asked.get(what, f"/{what}")).status == 200, what
    else:
        assert desk.do("adjust", learner=who, of="layer-norm", points=-1, comment="to see").status == 303
        assert desk.ask("GET", "/class").status == 200
    return time.perf_counter() - start


def _learners(where: str, folder: Path) -> list[str]:
    with Gradebook.open(where, create=False, course=_course(folder)) as book:
        return book.learners()


def _course(folder: Path) -> Course:
    return Course.load(folder / "course.toml", Catalogue.discover())


def _work(where: str, name: str, edits: int, told: multiprocessing.Queue[int]) -> None:
    met = 0
    with Gradebook.open(where, create=False) as book:
        learners = book.learners()[:MARKS]
        for number in range(edits):
            who = learners[(number + len(name)) % len(learners)]
            while True:
                seen = book.version(who, "masks")
                try:
                    made = Provenance(author=name, comment=f"{name} {number}")
                    book.decide(Adjust(learner=who, kata="masks", points=1, made=made), seen=seen)
                    break
                except ConflictError:
                    met += 1
    told.put(met)


def markers(where: str, folder: Path, count: int, edits: int) -> str:
    """Have so many processes decide, each looking again when it is told that it was overtaken; count what is there."""
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    with Gradebook.open(where, create=False) as book:
        before = sum(_decided(book))
    each = edits // count
    work = [
        context.Process(target=_work, args=(where, "m" * (number + 1), each, told)) for number in range(count)
    ]
    began = time.perf_counter()
    for one in work:
        one.start()
    met = sum(told.get() for _ in work)
    for one in work:
        one.join()
    seconds = time.perf_counter() - began
    with Gradebook.open(where, create=False) as book:
        found = sum(_decided(book)) - before
    lost = each * count - found
    return f"{count} markers, {each * count} edits, {lost} lost, {met} told and decided anew, {seconds:.0f} s"


def _decided(book: Gradebook) -> list[int]:
    learners = book.learners()[:MARKS]
    return [sum(one.kind == "adjust" for one in book.history(learner, "masks")) for learner in learners]


if __name__ == "__main__":
    print(subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout.strip(), "cores")
    main()
