"""Files in a workspace for other programs: an editor's tasks and tests, a forge's workflow, manners of assistants."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from grader import DISTRIBUTION
from grader.data_files import read_data
from grader.errors import UsageError
from grader.files import create_new

WORKFLOW = ".github/workflows/kata.yml"
_VSCODE = (".vscode/tasks.json", ".vscode/settings.json", "pytest.ini")
"""What VS Code reads."""

Policy = Literal["tutor", "open", "none"]
"""What an assistant may do for a learner: teach, write, or nothing."""


class AiPolicy(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The table `[ai]` of `course.toml`."""

    policy: Annotated[Policy, Meta(description='"tutor", "open" or "none"')] = "tutor"


class _HandedOut(msgspec.Struct, frozen=True):
    """What a learner's workspace reads of a `course.toml`; the rest is the instructor's."""

    ai: AiPolicy = AiPolicy()


Laid = tuple[Path, bool]
"""Where a file is, and whether it was written: one that is there stays as it is."""


def template(name: str) -> str:
    """Return the file of this name that is laid, as it stands."""
    return (resources.files("grader.learner.workspace") / "templates" / name).read_text("utf-8")


def filled(text: str, words: Mapping[str, str]) -> str:
    """Return a template with words in the place of their names, `@NAME@`."""
    for name, value in words.items():
        text = text.replace(f"@{name}@", value)
    return text


def write_vscode(root: Path) -> list[Laid]:
    """Write what VS Code reads: tasks, settings, and which plugin its tests come from."""
    return [
        (root / name, create_new(root / name, template(name.rpartition("/")[2]), root)) for name in _VSCODE
    ]


def workflow(bundle: str = "", python: str = "", pack: str | None = None) -> str:
    """Return a workflow of GitHub Actions that checks a repository.

    Args:
        bundle: the folder of the repository that says what is installed; Kata's newest version where empty.
        python: the version of Python that this is for; any where empty.
        pack: the folder below `bundle` of a pack that Kata does not bring along.
    """
    words = {
        "LISTED": f"{bundle}/requirements.txt" if bundle else WORKFLOW,
        "PYTHON": f" --python {python}" if python else "",
        "WHAT": f"--find-links {bundle}/wheels -r {bundle}/requirements.txt" if bundle else DISTRIBUTION,
        "PACK": ""
        if pack is None
        else f"\n    env:\n      KATA_PACKS: ${{{{ github.workspace }}}}/{bundle}/{pack}",
    }
    return filled(template("kata.yml"), words)


def lay_actions(root: Path) -> list[Laid]:
    """Write a workflow of GitHub Actions."""
    file = root / WORKFLOW
    return [(file, create_new(file, workflow(), root))]


def policy_of(root: Path) -> Policy:
    """Return what the course allows assistants: what a `course.toml` in the workspace says, else to be tutors.

    Raises:
        UsageError: it says something else than there is.
    """
    course = root / "course.toml"
    return read_data(course, _HandedOut, UsageError).ai.policy if course.is_file() else "tutor"


def lay_agents(root: Path, policy: Policy) -> list[Laid]:
    """Write what coding assistants read before they do anything."""
    file = root / "AGENTS.md"
    return [(file, create_new(file, template(f"agents-{policy}.md"), root))]
