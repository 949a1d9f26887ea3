"""Packs, units and katas as plain facts: what the data files say, with every path resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from grader.catalogue.adapters import Adapter
from grader.catalogue.file_types import KataFile, MeasuredOn
from grader.catalogue.pack_code import Attributes, Defaults, Signatures, Stub, read_stub
from grader.data_files import read_text

RUBRIC = "rubric.toml"
"""How written answers are marked: a file next to the solution, which no verdict depends on."""

CONTRACT = "contract.md"
"""A page next to the units, to which lessons refer: `../../contract.md` here and in a workspace."""

SUBMISSION_SUFFIXES = (".py", ".ipynb")
ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")
"""What work can be handed in as."""


def number_key(number: str) -> tuple[int, ...]:
    """Return a dotted number as integers, so that 9.10 sorts after 9.9."""
    return tuple(int(part) for part in number.split("."))


class Kata(KataFile, frozen=True, kw_only=True, eq=False, dict=True, rename=lambda name: f"{name} found"):
    """The smallest thing that is started, checked and scored: its data file, and what follows from where it lies."""

    # Never read from a file: `rename` keeps these apart from the keys that the file has.
    folder: Path
    unit: Unit
    given: tuple[Path, ...]
    support: tuple[Path, ...]
    points: float
    hidden_points: float
    measured: Mapping[str, MeasuredOn]
    """By kind of device: what was measured for the thresholds."""
    adapter: Adapter | None = None
    """What makes it of a course's own files, where it is asked of those."""

    def __repr__(self) -> str:
        """Return a name: a kata knows its unit, and a unit its katas."""
        return f"Kata({self.number} {self.slug})"

    @property
    def slug(self) -> str:
        """The name by which learners, gradebooks and paths go: the folder's."""
        return self.folder.name

    @property
    def key(self) -> tuple[int, ...]:
        """The number, for sorting."""
        return number_key(self.number)

    @property
    def effort(self) -> str:
        """How long it takes and how hard it is, as far as the pack says: `90 min, medium`."""
        return ", ".join(filter(None, (f"{self.minutes} min" if self.minutes else None, self.difficulty)))

    @property
    def stub(self) -> Path:
        """What a learner starts from."""
        return self.folder / f"{self.module}.py"

    @property
    def answer(self) -> PurePosixPath:
        """Where the answer is in what is handed in, as a module: its file, or the course's that an adapter names."""
        return PurePosixPath(f"{self.module}.py") if self.adapter is None else self.adapter.answer

    def is_answer(self, file: Path) -> bool:
        """Whether a file is called like the answer, as a module or a notebook; of a course, where the course has it."""
        if self.adapter is None:
            return file.stem == self.module and file.suffix in SUBMISSION_SUFFIXES
        return file.parts[-len(self.answer.parts) :] == self.answer.parts

    def root_of(self, file: Path) -> Path:
        """Return the top of what is handed in, of which this file is the answer."""
        return file.absolute().parents[len(self.answer.parts) - 1]

    @property
    def lesson(self) -> Path:
        """The kata's README.md."""
        return self.folder / "README.md"

    def lesson_text(self) -> str:
        """Return the lesson, with the forms below its heading that hold here in place of those that it teaches."""
        heading, line_end, rest = read_text(self.lesson).partition("\n")
        held = "".join(f"- **{form}**: {self.forms[name][form]}\n" for name, form in self.turned.items())
        note = f"\nIn this course another form holds than the one below:\n\n{held}" if held else ""
        return f"{heading}{line_end}{note}{rest}"

    @property
    def checks(self) -> Path:
        """The visible checks."""
        return self.folder / "checks.py"

    @property
    def hints(self) -> Path:
        """The file with the three tiers of hints."""
        return self.folder / "hints.md"

    @property
    def speed_checks(self) -> Path | None:
        """The checks of speed and memory; a kata may have none."""
        path = self.folder / "speed_checks.py"
        return path if path.is_file() else None

    @property
    def baseline(self) -> Path:
        """The trusted work that a submission's speed is compared with."""
        return self.folder / "baseline.py"

    @property
    def calibration(self) -> Path:
        """What was measured for the thresholds of speed, by kind of device; a kata may have none."""
        return self.folder / "calibration.json"

    def is_measured(self, threshold: str, kind: str) -> bool:
        """Return whether this very number was measured on this kind of device and holds there: else it marks nobody."""
        there = self.measured.get(kind)
        found = there.thresholds.get(threshold) if there is not None else None
        return found is not None and found.holds and found.threshold == self.speed[threshold].on(kind)

    @property
    def fingerprints(self) -> Path:
        """What catalogued mistakes leave, so that they are recognised where no mutant is."""
        return self.folder / "fingerprints.json.xz"

    @property
    def reflections(self) -> Path:
        """Questions with model answers, shown after a pass; a kata may have none."""
        return self.folder / "reflect.md"

    @property
    def demo(self) -> Path:
        """What `kata demo` runs; a kata may have none."""
        return self.folder / "demo.py"

    @property
    def real(self) -> Path:
        """What `kata run` runs; a kata may have none."""
        return self.folder / "real.py"

    @property
    def solution_folder(self) -> Path | None:
        """Where the reference and its companions live; None when this install has none for the kata."""
        solutions = self.unit.pack.solutions
        if solutions is None:
            return None
        folder = solutions / self.unit.folder.name / self.folder.name
        return folder if folder.is_dir() else None

    @property
    def solution(self) -> Path | None:
        """The reference module, where this install has it."""
        return self._beside_solution(f"{self.module}.py")

    @cached_property
    def turned(self) -> Mapping[str, str]:
        """The conventions in which another form holds than the first, with that form, as adapter or kata says."""
        chosen = self.conventions | (self.adapter.table.conventions if self.adapter is not None else {})
        return {name: form for name, form in chosen.items() if form != next(iter(self.forms[name]))}

    def form_files(self, turned: Mapping[str, str]) -> dict[str, Path | None]:
        """Return, by name, the files with what these forms have in place of functions of the reference.

        A first form has none; None stands for one that this install does not have.
        """
        names = [f"{name}_{form}.py" for name, form in turned.items() if form != next(iter(self.forms[name]))]
        return {name: self._beside_solution(f"forms/{name}") for name in names}

    def reference_in(self, turned: Mapping[str, str]) -> str | None:
        """Return the reference in which these conventions have these forms, and the others their first."""
        # A later definition takes the place of an earlier one, also for those that call it.
        files = [self.solution, *self.form_files(turned).values()]
        texts = [read_text(file) for file in files if file is not None]
        return "\n\n".join(texts) if len(texts) == len(files) else None

    @property
    def hidden_checks(self) -> Path | None:
        """The checks that learners do not get, where this install has them."""
        return self._beside_solution("hidden_checks.py")

    @property
    def rubric(self) -> Path | None:
        """How written answers are marked, where this install has it."""
        return self._beside_solution(RUBRIC)

    @property
    def alternatives(self) -> tuple[Path, ...]:
        """Other right answers, sorted by name."""
        return _python_files(self.solution_folder, "alternatives")

    @property
    def mutants(self) -> tuple[Path, ...]:
        """The files of catalogued wrong answers, those that the unit's katas share first; `kata pack` reads them."""
        folder = self.solution_folder
        shared = _python_files(folder.parent, "mutants") if folder is not None else ()
        return (*shared, *_python_files(folder, "mutants"))

    @property
    def slow(self) -> tuple[Path, ...]:
        """The files of right answers that waste time or memory, read in the same way."""
        return _python_files(self.solution_folder, "slow")

    @cached_property
    def _stub(self) -> Stub:
        return read_stub(self.stub)

    @property
    def attributes(self) -> Attributes:
        """The names of parts of classes that the stub fixes."""
        return self._stub.attributes

    def signatures(self) -> Signatures:
        """Return the parameter names of everything public in the stub, read without importing it.

        Functions by name, classes by name (the parameters of `__init__`), methods as `Class.method`; `self`
        is left out, `*args` and `**options` keep their stars.
        """
        return {name: list(parameters) for name, parameters in self._stub.signatures.items()}

    def defaults(self) -> Defaults:
        """Return what parameters of the stub's functions and classes are where they are left out."""
        return self._stub.defaults

    def _beside_solution(self, name: str) -> Path | None:
        folder = self.solution_folder
        return folder / name if folder is not None and (folder / name).is_file() else None


def _python_files(folder: Path | None, name: str) -> tuple[Path, ...]:
    """Return the Python files of a folder of a folder, sorted; one that is not there has none."""
    if folder is None or not (folder / name).is_dir():
        return ()
    return tuple(sorted(file for file in (folder / name).glob("*.py") if not file.name.startswith("_")))


@dataclass(frozen=True, eq=False)
class Unit:
    """A dotted number, a lesson, and the katas under it."""

    number: str
    slug: str
    title: str
    summary: str
    folder: Path
    pack: Pack = field(repr=False)
    katas: tuple[Kata, ...] = ()
    outcome: str = ""
    """What a learner has at its end."""

    @property
    def key(self) -> tuple[int, ...]:
        """The number, for sorting."""
        return number_key(self.number)

    @property
    def lesson(self) -> Path:
        """The unit's overview, README.md."""
        return self.folder / "README.md"


@dataclass(frozen=True, eq=False)
class Pack:
    """A folder of units that can be installed, checked and graded."""

    name: str
    title: str
    version: str
    root: Path
    solutions: Path | None
    units: tuple[Unit, ...] = ()
    begin: str = ""
    """The kata or unit that a newcomer begins with; "" for the first one."""

    @property
    def katas(self) -> tuple[Kata, ...]:
        """Every kata, in the order of the numbers."""
        return tuple(kata for unit in self.units for kata in unit.katas)

    @property
    def contract(self) -> Path | None:
        """What all its katas ask for, on a page of its own; None when each lesson says everything itself."""
        page = self.root / CONTRACT
        return page if page.is_file() else None
