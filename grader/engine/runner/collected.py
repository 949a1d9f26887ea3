"""The collected checks of one kata: what their authors said of each, which of them are meant, and the kata's terms."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from grader.catalogue import Kata
from grader.catalogue.given import blocks_in, given_files, shim_in
from grader.engine.checks.decorators import CheckInfo
from grader.engine.checks.stand_ins import stand_ins_of
from grader.engine.host.calls import Calls
from grader.engine.host.script import Scripts
from grader.engine.host.source import Adaptation, Convention, Source, Terms, read_source, source_of
from grader.engine.mistakes.load_reference import load_reference
from grader.engine.mistakes.mistakes import Mistake, mistakes
from grader.engine.mistakes.recognise import Fingerprints
from grader.engine.runner.outcome import Outcome, RunCheck
from grader.engine.runner.plugin import KataPlugin, info_of, threshold_of
from grader.engine.wire.messages import EMPTY
from grader.errors import PackError
from grader.machine import pace

if TYPE_CHECKING:
    from grader.engine.host.launcher import Launcher
    from grader.engine.timing.benchmark_run import BenchmarkConfig


UNTRAINED_S = 12.0
"""Loading, and a check in which nothing learns, is waited for no longer: it is most likely a loop that never ends."""


@dataclass(frozen=True, eq=False)
class Collected:
    """Checks of a kata, collected once."""

    kata: Kata
    plugin: KataPlugin
    items: tuple[pytest.Item, ...]
    complete: bool = True
    """Whether these are all that the kata has for such a run."""
    rest: tuple[pytest.Item, ...] = ()
    """Those that `-k` left out."""
    _mistakes: dict[str, Mistake] = field(default_factory=dict)
    """The kata's catalogue by name, once it was asked for; every part of these checks has the same."""
    controls: dict[tuple[str, int], Outcome] = field(default_factory=dict)
    """How the reference ended, by check and seed, where a submission had failed."""

    scripts: Scripts = field(default_factory=Scripts)
    """The scripts of its checks."""

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def terms(self) -> Terms:
        """What the kata grants a submission and asks of it."""
        return terms_for(self.kata)

    def limit_of(self, info: CheckInfo) -> float:
        """Return the seconds that a check may take: all that the kata grants, where it looks at a trained model."""
        return self.terms.check_timeout_s if info.trained else self.untrained_s

    @property
    def untrained_s(self) -> float:
        """What loading may take, and any check that looks at no trained model."""
        return min(self.terms.check_timeout_s, UNTRAINED_S * pace())

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """What the kata's catalogued mistakes leave."""
        prints = Fingerprints.load(self.kata.fingerprints)
        if self.kata.turned:
            # What is a mistake elsewhere may be what is right here.
            prints.mutants = {
                name: mutant for name, mutant in prints.mutants.items() if not mutant.convention
            }
            prints.pairs = {
                pair: marks
                for pair, marks in prints.pairs.items()
                if prints.mutants.keys() >= set(pair.split("+"))
            }
        return prints

    def reference(self) -> types.ModuleType:
        """Return the reference, imported into this process.

        Raises:
            PackError: there is none.
        """
        if self._text is None or self.kata.solution is None:
            raise PackError(
                f"{self.kata.slug}: there is no reference in this install, and a check asks for one."
            )
        return load_reference(self.kata.solution, self._text, self.terms.given)

    @cached_property
    def _text(self) -> str | None:
        return self.kata.reference_in(self.kata.turned)

    def control(self) -> Source | None:
        """Return a right answer as it would be handed in: the reference in the forms that hold here, or the course's.

        Raises:
            Unreadable: it cannot be read.
        """
        kata, depth = self.kata, self.terms.depth
        if kata.adapter is not None:
            return read_source(kata.adapter.reference, depth) if kata.adapter.reference is not None else None
        if self._text is None or kata.solution is None:
            return None
        return source_of(kata.solution.absolute(), self._text.encode(), depth)

    @cached_property
    def other_forms(self) -> dict[str, tuple[str, str, str]]:
        """By its sentence, what a form other than the chosen one is called as a mistake, its convention and name."""
        return {
            sentence: (f"{name}-{form}".replace("_", "-"), name, form)
            for name, convention in self.terms.conventions.items()
            for form, sentence in convention.others.items()
        }

    def catalogued(self, name: str) -> Mistake | None:
        """Return a catalogued mistake, or the reference in another form; None: it is not known."""
        kata = self.kata
        for sentence, (own, convention, form) in self.other_forms.items():
            if own == name.replace("_", "-") and kata.solution is not None:
                text = kata.reference_in({**kata.turned, convention: form})
                return Mistake(own, kata.solution, 1, sentence, text, text) if text is not None else None
        # Read when a mistake is needed: a learner's install has none, and most runs name none.
        if not self._mistakes and self.kata.solution is not None:
            self._mistakes.update({mistake.name: mistake for mistake in mistakes(self.kata)})
        return self._mistakes.get(name)

    def stand_ins(self, item: pytest.Item, names: Collection[str]) -> dict[str, Callable[..., Any]]:
        """Return the author's functions of these names for a check: those of its file, or else the reference's.

        Raises:
            PackError: there is none.
        """
        own = stand_ins_of(getattr(item, "module", None))
        found = {name: own.get(name) for name in names}
        for name in [name for name, function in found.items() if function is None]:
            # The reference only where the file has none: it takes time to import.
            found[name] = getattr(self.reference(), name, None)
            if found[name] is None:
                raise PackError(f"{item.path}: {item.name} names the stand-in {name}, and nobody defines it.")
        return {name: function for name, function in found.items() if function is not None}

    @property
    def every(self) -> Iterable[RunCheck]:
        """These checks and those that `-k` left out."""
        return self._checks.values()

    @cached_property
    def _checks(self) -> dict[pytest.Item, RunCheck]:
        checks = {}
        for item in (*self.items, *self.rest):
            info, threshold = info_of(item), threshold_of(item, self.kata)
            # The points of a speed check are those of its threshold.
            checks[item] = RunCheck(
                item, info if threshold is None else replace(info, points=threshold.points)
            )
        return checks

    @property
    def checks(self) -> list[RunCheck]:
        """These checks, in order."""
        return [self._checks[item] for item in self.items]

    def info(self, item: pytest.Item) -> CheckInfo:
        """Return what the author said of a check."""
        return self._checks[item].info

    def infos(self) -> list[CheckInfo]:
        """Return what the authors said of each check."""
        return [self.info(item) for item in self.items]

    def max_score(self, *, timed: bool) -> float:
        """Return the points of these checks: of those for being right, or of those for being fast."""
        return sum(info.points for info in self.infos() if (info.threshold is not None) is timed)

    # Which of them ------------------------------------------------------------------------------------------------

    def trained(self) -> set[str]:
        """Return the checks that look at a trained model."""
        return {item.name for item in self.items if self.info(item).trained}

    def visible_names(self) -> set[str]:
        """Return the checks that learners have."""
        return {item.name for item in self.items if item.path == self.kata.checks}

    def speed_names(self) -> set[str]:
        """Return the checks of speed and memory."""
        return {item.name for item in self.items if self.info(item).threshold is not None}

    def select(self, names: Collection[str]) -> Self:
        """Return these checks alone."""
        return replace(self, items=tuple(item for item in self.items if item.name in names), complete=False)

    def exclude(self, names: Collection[str]) -> Self:
        """Return the other checks."""
        return self.select({item.name for item in self.items} - set(names))


_folders: dict[tuple[Path, str, Path | None], Path] = {}


def terms_for(kata: Kata) -> Terms:
    """Return what a kata grants a submission and asks of it; its seconds are those of a machine of this pace."""
    given = _folder(kata, "given", given_files) if kata.given or kata.adapter else None
    allowed = kata.adapter.table.allow if kata.adapter is not None else ()
    return Terms(
        module=kata.module,
        required=kata.required,
        check_timeout_s=kata.limits.check_timeout_s * pace(),
        submission_timeout_s=kata.limits.submission_timeout_s * pace(),
        memory_bytes=kata.limits.memory_mb << 20,
        gpu_bytes=kata.limits.gpu_memory_mb << 20,
        given=given,
        support=_folder(kata, "support", _support) if kata.support else None,
        forbid=tuple(name for name in kata.policy.forbid if name not in allowed),
        within=kata.policy.within,
        blocks=bool(blocks_in(kata.unit.pack)),
        advice=kata.policy.say,
        preload=kata.preload,
        attributes=kata.attributes,
        adaptation=_adaptation(kata, given) if kata.adapter is not None and given is not None else None,
        conventions={name: _convention(kata.forms[name], form) for name, form in kata.turned.items()},
    )


def _convention(forms: Mapping[str, str], form: str) -> Convention:
    here = f"here it should be “{form}”: {forms[form]}"
    others = {name: f"yours is “{name}”: {text}; {here}" for name, text in forms.items() if name != form}
    return Convention(form, others)


def _adaptation(kata: Kata, given: Path) -> Adaptation:
    adapter = kata.adapter
    assert adapter is not None
    adapter.require_packages()
    table = adapter.table
    return Adaptation(
        given / shim_in(adapter), table.theirs, table.given, table.parameters, adapter.own_names
    )


def _folder(kata: Kata, kind: str, files: Callable[[Kata], dict[str, bytes]]) -> Path:
    """Return a folder with the grader's copies of a kata's files of this kind, and nothing else."""
    key = kata.folder, kind, kata.adapter.file if kata.adapter is not None else None
    if key not in _folders:
        folder = Path(tempfile.mkdtemp(prefix=f"kata-{kind}-"))
        # One for the whole process: every worker of the kata reads the same copies.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, data in files(kata).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        _folders[key] = folder
    return _folders[key]


def _support(kata: Kata) -> dict[str, bytes]:
    """Return the modules of the checks, and for each an empty one, which a submission gets that imports it."""
    files = {}
    for path in kata.support:
        files[path.name] = path.read_bytes()
        files[f"{EMPTY}/{path.name}"] = _EMPTY_MODULE.format(path.stem).encode()
    return files


_EMPTY_MODULE = """import sys

frame = sys._getframe(1)
while "importlib" in frame.f_code.co_filename:
    frame = frame.f_back
print(
    f"{{frame.f_code.co_filename}}, line {{frame.f_lineno}}: `{}` belongs to the checks; for a submission it is empty"
)
"""
"""It says so with the line of the import."""


def setting_of(
    kata: Kata, source: Source, launcher: Launcher, device: str, calls: Calls | None = None
) -> BenchmarkConfig:
    """Return what arenas of a submission are made of, on the kata's terms; `calls` is where its calls are noted."""
    from grader.engine.timing.benchmark_run import BenchmarkConfig  # late: most runs time nothing

    baseline = read_source(kata.baseline)
    return BenchmarkConfig(launcher, source, baseline, terms_for(kata), calls or Calls(), device)
