"""Katas as an environment of OpenEnv: a manifest, a server, an image, and what proves its rewards.

Reset gives a kata's prompt, a step takes the file, the reward is the share of all points. Agents reach the server's
port alone; the image holds Kata, the pack and its solutions, and each reply is graded in a worker of its own.

Source: OpenEnv's manifest, schema 2, and the acceptance tests of its RFC 008.
"""

from __future__ import annotations

import json
import re
import tempfile
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from grader.api import Aspect, FolderBundle, Kata, Pack, UsageError, __version__, wheels
from grader.extras.environments.canaries import canaries_of
from grader.extras.environments.environments import base_image, filled_template, tasks_of, template, write_new

_FILES = {
    "openenv.yaml": "openenv.yaml",
    "Dockerfile": "Dockerfile",
    "pyproject.toml.txt": "pyproject.toml",
    "server-requirements.txt": "server-requirements.txt",
    "server/__init__.py.txt": "server/__init__.py",
    "server/app.py.txt": "server/app.py",
    "server/environment.py.txt": "server/environment.py",
    "oracle/solve.sh": "oracle/solve.sh",
    "oracle/solve.py.txt": "oracle/solve.py",
}
"""By template, where it is in the package."""
_PIN = re.compile(r"^([\w.-]+)==([\w.+!-]+)$", re.MULTILINE)


def write_environment(
    pack: Pack, katas: Sequence[Kata], contents: Callable[[Kata], dict[str, Path]], target: Path, python: str
) -> list[Path]:
    """Write the package into a new folder; return its files.

    Raises:
        UsageError: there is something already, or the wheel of Kata could not be made.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} holds something already.", "Name another folder with --out.")
    parts = {place: path for kata in katas for place, path in contents(kata).items()}
    theirs = template("openenv", "server-requirements.txt")
    requirements = "".join(f"{line}\n" for line in wheels.lines(python))
    words = {
        "NAME": f"kata-{pack.name}",
        "VERSION": pack.version if pack.version.count(".") == 2 else f"{pack.version}.0",
        "PACK": pack.name,
        "KATA": __version__,
        "COUNT": str(len(katas)),
        "IMAGE": base_image(python),
        "TIMEOUT": f"{120 + 2 * max(kata.limits.submission_timeout_s for kata in katas):g}",
        "PACKS": " KATA_PACKS=/app/pack/katas"
        if any(place.startswith("pack/katas/") for place in parts)
        else "",
        "OPENENV": next(f"{name}=={version}" for name, version in _PIN.findall(theirs) if name == "openenv"),
        "ASPECTS": repr(get_args(Aspect)),
    }
    plan = {
        "plan_schema_version": "1",
        "reset": {"episode_id": "validation", "seed": 7, "options": {"task": katas[0].slug}},
        "actions": [{"reply": "I would first think about the shapes, and then write the code."}],
    }
    texts = {place: filled_template("openenv", name, words) for name, place in _FILES.items()}
    texts |= {
        "requirements.txt": requirements,
        "sbom.cdx.json": _json(_sbom(words, requirements, theirs)),
        "server/scoring.py": template("environments", "scoring.py"),
        "server/tasks.json": _json(tasks_of(katas)),
        "validation/runtime.json": _json(plan),
        **{f"server/canaries/{kata.slug}.json": canaries_of(kata, with_mistakes=True) for kata in katas},
    }
    files = {place: text.encode() for place, text in texts.items()}
    files |= {place: path.read_bytes() for place, path in parts.items()}
    with tempfile.TemporaryDirectory(prefix="kata-openenv-") as name:
        wheel = wheels.own_wheel(Path(name))
        files[f"wheels/{wheel.name}"] = wheel.read_bytes()
    return write_new(target, files, programs=("oracle/solve.sh",))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _sbom(words: dict[str, str], *requirements: str) -> dict[str, object]:
    """Return what the image installs, in CycloneDX 1.6: the versions are those that are installed, from both lists."""
    found = sorted({pin for text in requirements for pin in _PIN.findall(text)})
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name.lower()}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
        }
        for name, version in found
    ]
    itself = {
        "type": "application",
        "bom-ref": words["NAME"],
        "name": words["NAME"],
        "version": words["VERSION"],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, _json([itself, components]))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": itself},
        "components": components,
    }


OPENENV = FolderBundle(
    write_environment,
    (
        "next  uv lock --project {path}; openenv validate {path}; then build its Dockerfile",
        "      The image holds the answers; agents reach only its port. Do not publish the folder or the image.",
    ),
    holds_pack=True,
)
