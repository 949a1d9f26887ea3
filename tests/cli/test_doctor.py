"""`kata doctor` says what this machine offers."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

Run = Callable[..., Any]


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
    facts = msgspec.json.decode(ran.out, type=Facts)
    assert facts.schema == 1
    assert facts.cores >= 1
    assert facts.launcher in ("fork", "spawn")
    assert facts.isolation in ("full", "confined", "process", "none")
    assert facts.device == "cpu" or facts.device.startswith("cuda (")
    assert any("9.3" in pack or "katas" in pack for pack in facts.packs)
    if facts.device == "cpu":
        assert any("No GPU" in note for note in facts.notes)


def test_the_isolation_it_promises_is_what_a_check_gets(kata: Run, folder: Path) -> None:
    assert kata("start", "masks").code == 0
    promised = kata("doctor", "--json").json["isolation"]
    assert kata("check", "masks", "--json").json["katas"][0]["isolation"] == promised


def test_a_person_reads_the_same(kata: Run, folder: Path) -> None:
    ran = kata("doctor")
    assert ran.code == 0
    for name in ("torch", "isolation", "launcher", "packs", "landlock abi"):
        assert name in ran.text
    assert "{" not in ran.out


def test_the_variable_is_told(kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LAUNCHER", "spawn")
    assert kata("doctor", "--json").json["launcher"] == "spawn"
    monkeypatch.setenv("KATA_LAUNCHER", "teleport")
    ran = kata("doctor", "--json")
    assert ran.code == 0
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


def test_what_the_machine_lacks_for_grading_is_said(
    kata: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (300, 300))
    ran = kata("doctor", "--json")
    assert ran.json["open_files"] == 300
    assert any("may open only 300 files, and grading needs 512" in note for note in ran.json["notes"])
