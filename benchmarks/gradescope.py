"""A class graded by a Gradescope bundle where Gradescope grades by default: half a core, 768 MB; and by `kata grade`.

    python benchmarks/gradescope.py             two katas, twelve learners; some ten minutes
    python benchmarks/gradescope.py --write     and rewrite the table of docs/benchmarks.md

The bundle is made and set up as on the system: its own wheels, installed by its setup.sh; root, without what Docker's
seccomp profile refuses. What runs there is held to its limits by control groups (version 1 or 2), so this needs root.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT)]

from classroom import generate  # noqa: E402
from table import Figures, arguments, publish, spread, verdict  # noqa: E402

from grader.catalogue import Catalogue  # noqa: E402
from grader.interpreter import command  # noqa: E402

CORES, MEMORY = 0.5, 768 << 20
SETUP_S, SUBMISSION_S = 180.0, 15.0
"""The goals."""
KATAS, LEARNERS = ("masks", "masked-attention"), 12
PERIOD_US = 100_000
WEIGHT = 10
"""How much more than other processes it is given of a busy machine, up to its half core."""
GROUP = f"kata-gradescope-{os.getpid()}"
CONTAINER = ROOT / "tests" / "handin" / "container.py"


@dataclass(frozen=True)
class Limits:
    """Control groups with half a core and 768 MB, and what they have counted."""

    groups: tuple[Path, ...]
    cpu: Path
    memory: Path

    def run(self, words: list[str], where: Path) -> subprocess.CompletedProcess[str]:
        """Run a command within, as a container's root."""
        enter = "".join(f"echo $$ > {group}/cgroup.procs; " for group in self.groups)
        return subprocess.run(
            ["sh", "-c", enter + 'exec "$@"', "sh", sys.executable, str(CONTAINER), *words],
            cwd=where,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
        )

    def processor_s(self) -> float:
        """Return the processor time that was used within."""
        text = self.cpu.read_text()
        if text.isascii() and text.strip().isdigit():
            return int(text) / 1e9
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("usage_usec")) / 1e6

    def peak_mb(self) -> float:
        """Return the most memory that was used within, file cache among it."""
        return int(self.memory.read_text()) / 1e6

    def killed(self) -> int:
        """Return how often the kernel ended a process for want of memory."""
        folder = self.memory.parent
        text = next(
            path for name in ("memory.events", "memory.oom_control") if (path := folder / name).exists()
        ).read_text()
        return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill "))


@contextlib.contextmanager
def limits() -> Iterator[Limits]:
    """Make the control groups, of version 1 or 2, below those of this process; take them away in the end."""
    own = {
        name: path for line in Path("/proc/self/cgroup").read_text().splitlines()
        for name in line.split(":")[1].split(",") for path in [line.split(":", 2)[2].lstrip("/")]
    }  # fmt: skip
    top = Path("/sys/fs/cgroup")
    if (top / "cgroup.controllers").exists():
        (group,) = groups = (top / own[""] / GROUP,)
        settings = {
            group / "cpu.max": f"{int(CORES * PERIOD_US)} {PERIOD_US}",
            group / "cpu.weight": str(100 * WEIGHT),
            group / "memory.max": str(MEMORY),
        }
        made = Limits(groups, group / "cpu.stat", group / "memory.peak")
    else:
        groups = tuple(
            dict.fromkeys(
                top.joinpath(name, own[name], GROUP).resolve() for name in ("cpu", "cpuacct", "memory")
            )
        )
        cpu, memory = groups[0], groups[-1]
        settings = {
            cpu / "cpu.cfs_period_us": str(PERIOD_US),
            cpu / "cpu.cfs_quota_us": str(int(CORES * PERIOD_US)),
            cpu / "cpu.shares": str(1024 * WEIGHT),
            memory / "memory.limit_in_bytes": str(MEMORY),
        }
        made = Limits(groups, groups[-2] / "cpuacct.usage", memory / "memory.max_usage_in_bytes")
    try:
        for group in groups:
            group.mkdir()
        for file, text in settings.items():
            file.write_text(text)
        yield made
    except OSError as error:
        raise SystemExit(f"no control groups with limits here: {error}") from error
    finally:
        for group in groups:
            with contextlib.suppress(OSError):
                group.rmdir()


@dataclass
class Autograder:
    """The folder that Gradescope calls /autograder."""

    root: Path
    within: Limits

    def set_up(self, bundle: Path) -> float:
        """Unpack a bundle and run its setup.sh; return the seconds of the latter."""
        source = self.root / "source"
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(source)
        for name in ("setup.sh", "run_autograder"):
            (source / name).chmod(0o755)
        (self.root / "run_autograder").write_bytes((source / "run_autograder").read_bytes())
        (self.root / "run_autograder").chmod(0o755)
        began = time.monotonic()
        done = self.within.run([str(source / "setup.sh")], self.root)
        took = time.monotonic() - began
        if done.returncode:
            raise SystemExit(
                f"setup.sh ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        return took

    def grade(self, files: Mapping[str, bytes]) -> tuple[float, dict[str, object]]:
        """Hand files in; return the seconds, and what stands in results.json."""
        for part in ("submission", "results"):
            folder = self.root / part
            folder.mkdir(exist_ok=True)
            for file in folder.iterdir():
                file.unlink()
        for name, content in files.items():
            (self.root / "submission" / name).write_bytes(content)
        began = time.monotonic()
        self.within.run([str(self.root / "run_autograder")], self.root / "submission")
        took = time.monotonic() - began
        return took, dict(json.loads((self.root / "results" / "results.json").read_text()))


def main() -> None:
    """Make, set up, grade, compare, and print what was found."""
    parser = arguments(__doc__)
    parser.add_argument("--learners", type=int, default=LEARNERS, help="default %(default)s")
    parser.add_argument("--katas", nargs="+", default=list(KATAS), metavar="ID")
    parser.add_argument("--wheels", type=Path, help="where wheels lie; without it the bundle downloads them")
    chosen = parser.parse_args()
    if os.geteuid() != 0 or sys.platform != "linux":
        raise SystemExit("Gradescope runs as root in a container of Linux: this needs root, too")
    katas = [kata for name in chosen.katas for kata in Catalogue.discover().resolve(name)]
    with tempfile.TemporaryDirectory(prefix="kata-gradescope-") as name, limits() as within:
        folder = Path(name)
        folder.chmod(0o755)
        kinds = generate(folder / "class", katas, chosen.learners, 0, hostile=0)
        bundle = _bundle(folder, [kata.slug for kata in katas], chosen.wheels)
        ours = _kata_grade(folder, [kata.slug for kata in katas])
        autograder = Autograder(folder / "autograder", within)
        set_up = autograder.set_up(bundle)
        setup_s, setup_mb = within.processor_s(), within.peak_mb()
        took, used, equal = [], [], 0
        for learner in sorted((folder / "class").iterdir()):
            before = within.processor_s()
            seconds, results = autograder.grade({file.name: file.read_bytes() for file in learner.iterdir()})
            took.append(seconds)
            used.append(within.processor_s() - before)
            theirs = ours[learner.name]
            same = (results["score"], results.get("max_score")) == theirs
            equal += same
            print(f"{learner.name}: {results['score']:g} in {seconds:.1f} s{'' if same else f', kata grade {theirs}'}",
                  file=sys.stderr)  # fmt: skip
        killed, peak, worst = within.killed(), within.peak_mb(), max(took)
        middle = statistics.median(took)
        table = Figures(
            "A class through the Gradescope bundle, at half a core and 768 MB",
            f"{chosen.learners} learners ({', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}), "
            f"katas {', '.join(kata.slug for kata in katas)}, visible and hidden checks, without speed. The bundle "
            "brings its own wheels. It is set up and run as root without what Docker's seccomp profile refuses, in "
            "control groups that give it half a core, and that before other processes. Marks are compared with those "
            "of `kata grade` without limits, learner by learner.",
            ["", "measured", "goal", "kept"],
            [
                ["set-up", f"{set_up:.0f} s", f"{SETUP_S:g} s", verdict(set_up, SETUP_S)],
                ["its processor time", f"{setup_s:.0f} s", "", ""],
                ["a submission, median", spread(took, 1), f"{SUBMISSION_S:g} s", verdict(middle, SUBMISSION_S)],
                ["a submission, slowest", f"{worst:.1f} s", f"{SUBMISSION_S:g} s", verdict(worst, SUBMISSION_S)],
                ["its processor time, median", f"{statistics.median(used):.1f} s", "", ""],
                ["most memory, set-up, files that are kept in memory among it", f"{setup_mb:.0f} MB", "", ""],
                ["the same to the end", f"{peak:.0f} MB", f"{MEMORY / 1e6:.0f} MB", verdict(peak, MEMORY / 1e6)],
                ["processes ended for want of memory", str(killed), "0", verdict(killed, 0)],
                ["learners with equal marks", f"{equal} of {len(took)}", "all", verdict(len(took), equal)],
            ],
        )  # fmt: skip
        publish(
            [table],
            "benchmarks.md",
            "gradescope",
            write=chosen.write,
            how=f"measured with `python benchmarks/gradescope.py --learners {chosen.learners}`",
        )
    sys.exit(0 if equal == len(took) else 1)


def _bundle(folder: Path, slugs: list[str], wheels: Path | None) -> Path:
    made = folder / "bundle.zip"
    words = ["pack", "bundle", "gradescope", *slugs, "--no-perf", "--out", str(made)]
    words += ["--wheels", str(wheels.resolve())] if wheels is not None else []
    subprocess.run(command("grader", *words), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return made


def _kata_grade(folder: Path, slugs: list[str]) -> dict[str, tuple[float, float]]:
    """Return what `kata grade` gives each learner, and of how much."""
    only = [word for slug in slugs for word in ("--only", slug)]
    words = ["grade", str(folder / "class"), *only, "--json", str(folder / "marks.jsonl")]
    stand = folder / "stand"
    stand.mkdir()
    subprocess.run(command("grader", *words), cwd=stand, check=True, stdout=subprocess.DEVNULL)
    marks: dict[str, tuple[float, float]] = {}
    for line in (folder / "marks.jsonl").read_text().splitlines():
        report = json.loads(line)
        score, most = marks.get(report["learner"], (0.0, 0.0))
        marks[report["learner"]] = (score + report["score"], most + report["max_score"])
    return marks


if __name__ == "__main__":
    main()
