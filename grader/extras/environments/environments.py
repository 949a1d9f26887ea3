"""Packages by which models are evaluated and trained: for Inspect and for verifiers.

Each declares what it needs and asks an installed Kata from outside. It holds lessons and stubs; references and hidden
checks stay where Kata has them, so none of them is ever next to what a reply can reach.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from grader.api import FolderBundle, Kata, Pack, UsageError, __version__, write_atomic
from grader.extras.environments.harbor import lesson_of

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
    # Never into what is there: a package that mixes two versions would score with either.
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} holds something already.", "Name another folder with --out.")
    needs, found = NEEDS[framework]
    tasks = [
        {
            "slug": kata.slug,
            "number": kata.number,
            "module": kata.module,
            "required": kata.required,
            "prompt": _prompt(kata),
        }
        for kata in katas
    ]
    module = f"kata_{framework}"
    texts = {
        "pyproject.toml": _PROJECT.format(
            framework=framework, version=version, count=len(katas), pack=pack.name, needs=needs, found=found
        ),
        f"{module}/tasks.json": json.dumps(tasks, ensure_ascii=False, indent=1) + "\n",
        f"{module}/scoring.py": _template("scoring.py"),
        f"{module}/tasks.py": _template(f"{framework}_tasks.py.txt"),
        **{f"{module}/{name}": text for name, text in INITS[framework].items()},
    }
    for place, text in texts.items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target / place, text)
    return [target / place for place in texts]


def _prompt(kata: Kata) -> str:
    stub = kata.stub.read_text(encoding="utf-8").rstrip()
    return (
        f"{lesson_of(kata)}\n\nWrite the whole module `{kata.module}.py`. It is checked on inputs that you do not see. "
        f"Reply with one block of code.\n\n```python\n{stub}\n```\n"
    )


def _template(name: str) -> str:
    # What imports a framework that is not installed here is not a Python file of ours.
    return (Path(__file__).parent / "templates" / "environments" / name).read_text("utf-8")


def _bundle(framework: Framework, install: str) -> FolderBundle:
    def write(pack: Pack, katas: Sequence[Kata], _contents: object, target: Path, _python: str) -> list[Path]:
        return write_package(framework, pack, katas, target, __version__)

    asks = "      It holds no answer and no hidden check: it asks the Kata that KATA_PYTHON names."
    return FolderBundle(write, (f"next  pip install {{path}}, next to this Kata, and {install}", asks))


INSPECT = _bundle("inspect", "inspect eval kata_inspect/kata --model MODEL")
VERIFIERS = _bundle("verifiers", "vf-validate kata_verifiers --runtime.type subprocess")
