"""The package for OpenEnv: what is in it, and what canaries earn; its server was tried with OpenEnv itself (docs)."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests import ours
from tests.conftest import invoke

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("made") / "openenv"
    done = invoke("pack", "bundle", "openenv", "masks", "layer-norm", "--out", str(target))
    assert done.code == 0, done.text
    return target


def test_the_manifest_names_what_is_there(package: Path) -> None:
    manifest = (package / "openenv.yaml").read_text()
    assert "@" not in manifest
    assert "katas: 2" in manifest
    for word in ("location", "canaries", "probe_path", "dockerfile"):
        (place,) = re.findall(rf"^ +{word}: (\S+)$", manifest, re.MULTILINE)
        assert (package / place).exists()
    for path in package.rglob("*.py"):
        if "pack" not in path.relative_to(package).parts:
            ast.parse(path.read_text())
    assert (package / "oracle" / "solve.sh").stat().st_mode & 0o111


def test_the_image_is_pinned_and_its_parts_are_listed(package: Path) -> None:
    (base,) = re.findall(r"^FROM (\S+)$", (package / "Dockerfile").read_text(), re.MULTILINE)
    assert re.fullmatch(r"python:3\.11-slim@sha256:[0-9a-f]{64}", base)
    sbom = json.loads((package / "sbom.cdx.json").read_text())
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.6")
    listed = {f"{part['name']}=={part['version']}" for part in sbom["components"]}
    for name in ("requirements.txt", "server-requirements.txt"):
        lines = (package / name).read_text().split()
        assert all("==" in line for line in lines)
        assert {*lines} <= listed


def test_prompts_hold_no_answer(package: Path) -> None:
    prompts = (package / "server" / "tasks.json").read_text()
    for slug in ("masks", "layer-norm"):
        kata = ours.katas()[slug]
        assert kata.solution is not None
        given = kata.stub.read_text() + kata.lesson.read_text()
        long = [
            line for line in kata.solution.read_text().splitlines() if len(line) > 60 and "import" not in line
        ]
        assert not [line for line in long if line.strip() not in given and json.dumps(line)[1:-1] in prompts]


def test_it_is_written_into_a_new_folder_alone(package: Path) -> None:
    again = invoke("pack", "bundle", "openenv", "masks", "--out", str(package))
    assert again.code == 2
    assert "holds something already" in " ".join(again.text.split())


@pytest.fixture(scope="module")
def scoring(package: Path) -> Any:
    return ours.module(package / "server" / "scoring.py")


@pytest.mark.nightly
def test_canaries_stay_below_their_ceilings(scoring: Any) -> None:
    canaries = [canary for canary in scoring.canaries() if canary["slug"] == "masks"]
    assert len(canaries) == 12
    replies = [scoring.ModelReply("masks", "masks", canary["reply"]) for canary in canaries]
    scoring.grade(replies)
    earned = {
        canary["name"]: scoring.found(reply)["score"] for canary, reply in zip(canaries, replies, strict=True)
    }
    assert not {canary["name"] for canary in canaries if earned[canary["name"]] > canary["ceiling"]}
    assert any(score > 0.5 for score in earned.values()), "the mistakes are answers"


@pytest.mark.parametrize(
    ("score", "most"),
    [("NaN", 10), (15, 10), (-1, 10), ("Infinity", 10), (1, 0), ('"10"', 10), ("NaN", "NaN")],
)
def test_a_report_whose_points_are_not_a_share_gives_no_reward(
    score: object, most: object, scoring: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = f'"score": {score}, "max_score": {most}'
    report = f'{{"learner": "reply-0", "kata": "masks", "status": "pass", {points}, "checks": []}}'
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\ncat >reports.jsonl <<'END'\n{report}\nEND\n")
    fake.chmod(0o755)
    monkeypatch.setenv("KATA_PYTHON", str(fake))
    with pytest.raises(RuntimeError, match="is not a share from 0 to 1"):
        scoring.score("masks", "masks", "x = 1")


def test_every_solution_mistake_and_hidden_check_has_the_canary_string(package: Path) -> None:
    (canary,) = {
        json.loads(path.read_text())["canary"] for path in (package / "server" / "canaries").iterdir()
    }
    files = [path for path in (ours.ROOT / "solutions").rglob("*.py")]
    assert len(files) > 200
    assert not [path.name for path in files if canary not in path.read_text("utf-8")]
