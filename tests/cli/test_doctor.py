"""`kata doctor` says what this machine offers."""

from __future__ import annotations

import platform
import re
import resource
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import msgspec
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from grader import TRIED, machine
from tests.conftest import Run, completed


class Facts(msgspec.Struct, forbid_unknown_fields=True):
    """What `kata doctor --json` prints."""

    schema: int
    kata: str
    python: str
    torch: str
    pytest: str
    numpy: str
    platform: str
    cores: int
    pace: float
    open_files: int
    device: str
    launcher: str
    isolation: str
    landlock_abi: int
    seccomp: bool
    cells: bool
    network_namespaces: bool
    user_namespaces: bool
    cgroup: str | bool | None
    warm: list[str]
    readable: list[str]
    hidden: list[str]
    packs: list[str]
    notes: list[str]


def test_json_holds_every_fact(kata: Run, folder: Path) -> None:
    ran = kata("doctor", "--json")
    assert (ran.code, ran.err) == (0, "")
    facts = msgspec.json.decode(ran.out.encode(), type=Facts)
    assert facts.schema == 1
    assert facts.cores >= 1
    assert facts.launcher in ("fork", "spawn")
    assert facts.isolation in ("full", "confined", "process", "none")
    assert facts.device == "cpu" or facts.device.startswith("cuda (")
    assert any("9.3" in pack or "katas" in pack for pack in facts.packs)
    if facts.device == "cpu":
        assert any("No GPU" in note for note in facts.notes)


@pytest.mark.slow
def test_the_isolation_it_promises_is_what_a_check_gets(kata: Run, folder: Path) -> None:
    assert kata("start", "masks").code == 0
    promised = kata("doctor", "--json").json["isolation"]
    assert kata("check", "masks", "--json").json["katas"][0]["isolation"] == promised


def test_a_person_reads_the_same(kata: Run, folder: Path) -> None:
    ran = kata("doctor").done()
    for name in ("torch", "isolation", "launcher", "packs", "landlock abi"):
        assert name in ran.text
    assert "{" not in ran.out


@pytest.mark.slow
def test_the_variable_is_told(kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LAUNCHER", "spawn")
    assert kata("doctor", "--json").json["launcher"] == "spawn"
    monkeypatch.setenv("KATA_LAUNCHER", "teleport")
    ran = kata("doctor", "--json").done()
    assert ran.json["launcher"] == "none"
    assert any("fork or spawn" in note for note in ran.json["notes"])


def test_a_broken_pack_is_told_with_the_rest(
    kata: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "pack.toml").write_text("name = 3\n")
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "pack"))
    ran = kata("doctor", "--json")
    assert ran.code == 3
    assert ran.json["torch"]
    assert any("pack.toml" in note for note in ran.json["notes"])


@pytest.mark.slow
def test_what_the_machine_lacks_for_grading_is_said(
    kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (300, 300))
    ran = kata("doctor", "--json")
    assert ran.json["open_files"] == 300
    assert any("may open only 300 files, and grading needs 512" in note for note in ran.json["notes"])


@pytest.mark.slow
def test_what_is_missing_too_old_too_new_or_slow_is_told_with_what_mends_it(
    kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = kata("doctor", "--json").json["notes"]
    assert not [note for note in usual if "pip install" in note]
    versions = {"plotext": "6.1", "click": "8.0", "torch": "2.15.0", "rapidfuzz": None}
    installed = metadata.version

    def version(name: str) -> str:
        found = versions.get(name, "")
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found or installed(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(platform, "python_version_tuple", lambda: ("3", "14", "0"))
    monkeypatch.setattr(machine, "pace", lambda: 4.0)
    monkeypatch.setenv("KATA_WARM", "0")
    notes = "\n".join(kata("doctor", "--json").json["notes"])
    for line in (
        "plotext 6.1 is not what Kata works with: pip install 'plotext<6,>=5.3'",
        "click 8.0 is not what Kata works with: pip install 'click>=8.1'",
        "rapidfuzz is not installed: pip install 'rapidfuzz>=3.9'",
        "not been tried with torch 2.15.0. If something is odd: pip install 'torch==2.13.*'",
        "not been tried with Python 3.14. If something is odd: uv tool install --python 3.11 ",
        "may take 4 times as long as its kata says",
        "For a verdict at once: unset KATA_WARM",
    ):
        assert line in notes


@pytest.mark.slow
def test_it_answers_where_torch_does_not_load(folder: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from grader.cli.main import cli; cli(['doctor', '--json'])"
    )
    done = completed([sys.executable, "-c", code], cwd=folder)
    facts = msgspec.json.decode(done.stdout, type=Facts)
    assert (done.returncode, facts.device) == (0, "none")
    assert any(
        "torch does not load" in note and "--force-reinstall 'torch>=2.5'" in note for note in facts.notes
    )


def test_what_was_tried_is_what_is_promised_and_what_was_not_is_in_a_matrix() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    versions = [name for name in project["classifiers"] if re.search(r"Python :: \d+\.\d+$", name)]
    assert versions == [f"Programming Language :: Python :: {TRIED['Python']}"]
    assert f"with Python {TRIED['Python']} and torch {TRIED['torch']}" in (root / "README.md").read_text()
    job = yaml.safe_load((root / ".github/workflows/versions.yml").read_text())["jobs"]["quick"]
    matrix = job["strategy"]["matrix"]
    torch = next(one for one in map(Requirement, project["dependencies"]) if one.name == "torch")
    for version in matrix["torch"]:
        assert torch.specifier.contains(version.replace("*", "0"))
    for version in matrix["python"]:
        assert SpecifierSet(project["requires-python"]).contains(version)
    assert {"python": TRIED["Python"], "torch": f"{TRIED['torch']}.*"} not in matrix["exclude"]
    assert TRIED["Python"] in matrix["python"]
    assert job["steps"][-1]["run"] == "make newest PYTHON=python TORCH='${{ matrix.torch }}'"
    assert "\nnewest: " in (root / "Makefile").read_text()
