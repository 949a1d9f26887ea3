"""What models are evaluated and trained with: packages for Inspect and for verifiers, tasks for Harbor.

A package declares what it needs and asks an installed Kata from outside. It holds lessons and stubs; references and
hidden checks stay where Kata has them, so none of them is ever next to what a reply can reach.

A task for Harbor, which evaluates agents, is a folder for each kata, with images for the agent and the verifier.
The agent's image holds the stub and what is given; the verifier's holds Kata and the pack with its solutions, and is
built apart: of the agent only its answer gets there. (Harbor is not related to Kata Containers, which it also runs.)

Source: Harbor's task format, schema version 1.4.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from grader.api import (
    FolderBundle,
    Kata,
    Pack,
    UsageError,
    __version__,
    given_files,
    in_words,
    wheels,
    write_atomic,
)
from grader.extras.environments.canaries import canaries_of

Framework = Literal["inspect", "verifiers"]
NEEDS: dict[Framework, tuple[str, str]] = {
    "inspect": (
        "inspect-ai>=0.3.285",
        '[project.entry-points.inspect_ai]\nkata = "kata_inspect._registry"\n',
    ),
    "verifiers": ("verifiers>=0.4,<0.5", ""),
}
"""What a package depends on, and by what the framework finds it."""
INITS: dict[Framework, dict[str, str]] = {
    "inspect": {
        "__init__.py": '"""Katas for Inspect."""\n',
        "_registry.py": '"""What Inspect finds."""\n\n'
        "from kata_inspect.tasks import kata, kata_points, oracle  # noqa: F401\n",
    },
    "verifiers": {
        "__init__.py": '"""Katas for verifiers."""\n\nfrom kata_verifiers.tasks import KataTaskset\n\n'
        '__all__ = ["KataTaskset"]\n',
    },
}
_PROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "kata-{framework}"
version = "{version}"
description = "{count} katas of {pack}, graded by Kata from outside"
requires-python = ">=3.11"
dependencies = ["{needs}", "markdown-it-py>=3.0"]

{found}"""


def write_package(
    framework: Framework, pack: Pack, katas: Sequence[Kata], target: Path, version: str
) -> list[Path]:
    """Write a package into a new folder; return its files.

    Raises:
        UsageError: there is something already.
    """
    needs, found = NEEDS[framework]
    module = f"kata_{framework}"
    texts = {
        "pyproject.toml": _PROJECT.format(
            framework=framework, version=version, count=len(katas), pack=pack.name, needs=needs, found=found
        ),
        f"{module}/tasks.json": json.dumps(tasks_of(katas), ensure_ascii=False, indent=1) + "\n",
        f"{module}/scoring.py": template("environments", "scoring.py"),
        f"{module}/tasks.py": template("environments", f"{framework}_tasks.py.txt"),
        **{f"{module}/{name}": text for name, text in INITS[framework].items()},
        **{f"{module}/canaries/{kata.slug}.json": canaries_of(kata, with_mistakes=False) for kata in katas},
    }
    return write_new(target, {place: text.encode() for place, text in texts.items()})


def tasks_of(katas: Sequence[Kata]) -> list[dict[str, object]]:
    """Return what a scorer knows of each kata, and its prompt: the lesson and the stub."""
    tasks: list[dict[str, object]] = []
    for kata in katas:
        stub = kata.stub.read_text(encoding="utf-8").rstrip()
        prompt = (
            f"{lesson_of(kata)}\n\nWrite the whole module `{kata.module}.py`. It is checked on inputs that you do not "
            f"see. Reply with one block of code.\n\n```python\n{stub}\n```\n"
        )
        facts = {"slug": kata.slug, "number": kata.number, "module": kata.module, "required": kata.required}
        tasks.append({**facts, "prompt": prompt})
    return tasks


def write_new(target: Path, files: Mapping[str, bytes], programs: Collection[str] = ()) -> list[Path]:
    """Write files into a new folder; return them.

    Raises:
        UsageError: there is something already.
    """
    # Never into what is there: a package that mixes two versions would score with either.
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} holds something already.", "Name another folder with --out.")
    for place, data in files.items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target / place, data)
        if place in programs:
            (target / place).chmod(0o755)
    return [target / place for place in files]


def template(folder: str, name: str) -> str:
    """Return a template as it is."""
    # What imports a framework that is not installed here is not a Python file of ours.
    return (Path(__file__).parent / "templates" / folder / name).read_text("utf-8")


def base_image(python: str) -> str:
    """Return the image that others begin with: by its digest, for the version of Python whose digest is known."""
    return f"python:{python}-slim" + (f"@{DIGESTS[python]}" if python in DIGESTS else "")


def _bundle(framework: Framework, install: str) -> FolderBundle:
    def write(pack: Pack, katas: Sequence[Kata], _contents: object, target: Path, _python: str) -> list[Path]:
        return write_package(framework, pack, katas, target, __version__)

    asks = "      It holds no answer and no hidden check: it asks the Kata that KATA_PYTHON names."
    return FolderBundle(write, (f"next  pip install {{path}}, next to this Kata, and {install}", asks))


INSPECT = _bundle("inspect", "inspect eval kata_inspect/kata --model MODEL")
VERIFIERS = _bundle("verifiers", "vf-validate kata_verifiers --runtime.type subprocess")


# Tasks for Harbor

DIGESTS = {"3.11": "sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7"}
"""Of `python:3.11-slim` on 2026-08-21, for every processor."""
AGENT_NEEDS = ("torch", "numpy", "safetensors")
LEAST_S = 600
"""What an agent and the verifier have at least: a first call loads torch."""
PLACES = {
    "task.toml": "task.toml",
    "instruction.md": "instruction.md",
    "agent.Dockerfile": "environment/Dockerfile",
    "verifier.Dockerfile": "tests/Dockerfile",
    "test.sh": "tests/test.sh",
    "verify.py": "tests/verify.py",
    "solve.sh": "solution/solve.sh",
}
"""By template, where it is in a task."""
_FOR_LEARNERS = re.compile(r"^## (?:In short|Reflect|You are ready when)$.*?(?=^## |\Z)", re.M | re.S)
"""Sections of a lesson that speak to somebody who learns."""


def write_tasks(
    pack: Pack, katas: Sequence[Kata], contents: Callable[[Kata], dict[str, Path]], target: Path, python: str
) -> list[Path]:
    """Write a task for each kata into a folder; return the files.

    Args:
        pack: whose katas they are.
        katas: for which there are references here.
        contents: of a kata, the files of the pack for its verifier, by their names there.
        target: the folder; what stands there under a kata's name is refused.
        python: the version of Python in both images.

    Raises:
        UsageError: there is something already, or the wheel of Kata could not be made.
    """
    if taken := [kata.slug for kata in katas if (target / kata.slug).exists()]:
        raise UsageError(f"{target} already holds {', '.join(taken)}.", "Name another folder with --out.")
    target.mkdir(parents=True, exist_ok=True)
    templates = {place: template("harbor", name) for name, place in PLACES.items()}
    needs = wheels.pins(python)
    requirements = "".join(f"{line}\n" for line in wheels.lines(python)).encode()
    # In the target's own folder, since a move is whole only within one file system.
    with tempfile.TemporaryDirectory(prefix=".kata-harbor-", dir=target) as name:
        # Made once, and put into every task: an image is built where this checkout is not.
        wheel = wheels.own_wheel(Path(name))
        for kata in katas:
            folder = Path(name, kata.slug)
            words = _words(pack, kata, python, {package: needs[package] for package in AGENT_NEEDS})
            for place, text in templates.items():
                _write(folder / place, _filled(text, words).encode())
            (folder / "tests" / "test.sh").chmod(0o755)
            (folder / "solution" / "solve.sh").chmod(0o755)
            assert kata.solution is not None
            for place, source in {
                f"environment/app/{kata.module}.py": kata.stub,
                f"solution/{kata.module}.py": kata.solution,
                f"tests/wheels/{wheel.name}": wheel,
                **{f"tests/{place}": path for place, path in contents(kata).items()},
            }.items():
                _write(folder / place, source.read_bytes())
            for given, data in given_files(kata).items():
                _write(folder / "environment" / "app" / given, data)
            _write(folder / "tests" / "requirements.txt", requirements)
            # Next to the answers, which the agent's image lacks.
            canaries = canaries_of(kata, with_mistakes=True).encode()
            _write(folder / "tests" / "canaries" / f"{kata.slug}.json", canaries)
            shutil.move(folder, target / kata.slug)  # a task is there as a whole or not at all
    return [path for kata in katas for path in (target / kata.slug).rglob("*") if path.is_file()]


def _words(pack: Pack, kata: Kata, python: str, needs: dict[str, str]) -> dict[str, str]:
    return {
        "FILE": f"{kata.module}.py",
        "SLUG": kata.slug,
        "PACK": pack.name,
        "TITLE": json.dumps(kata.title, ensure_ascii=False)[1:-1],  # a string of TOML is one of JSON
        "NUMBER": kata.number,
        "DIFFICULTY": kata.difficulty or "",
        "MINUTES": str(kata.minutes or 0),
        "POINTS": f"{kata.points + kata.hidden_points:g}",
        "AGENT_S": str(max(LEAST_S, 60 * (kata.minutes or 0))),
        "VERIFIER_S": f"{LEAST_S + 2 * kata.limits.submission_timeout_s:g}",
        "IMAGE": base_image(python),
        "AGENT_NEEDS": " ".join(f"{package}=={version}" for package, version in needs.items()),
        "LESSON": lesson_of(kata),
        "STUB": kata.stub.read_text(encoding="utf-8").rstrip(),
    }


def lesson_of(kata: Kata) -> str:
    """Return a lesson as a task: without what speaks to somebody who learns, with what all katas ask for."""
    lesson = in_words(_FOR_LEARNERS.sub("", kata.lesson.read_text(encoding="utf-8"))).strip()
    contract = kata.unit.pack.contract
    return lesson if contract is None else f"{lesson}\n\n{contract.read_text(encoding='utf-8').strip()}"


def filled_template(folder: str, name: str, words: dict[str, str]) -> str:
    """Return a template with words in the place of their names."""
    return _filled(template(folder, name), words)


def _filled(text: str, words: dict[str, str]) -> str:
    """Fill a template in one pass: what is put in may hold an @WORD@ of its own."""
    return re.sub(r"@([A-Z_]+)@", lambda found: words[found[1]], text)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


HARBOR = FolderBundle(
    write_tasks,
    (
        "next  harbor run -p {path} -a oracle",
        "      The verifier's part of each task holds the answers; the agent's holds none of it.",
    ),
    holds_pack=True,
)
