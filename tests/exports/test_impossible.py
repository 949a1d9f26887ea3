"""Impossible katas: a reply that follows the lesson gets nothing, one that follows the check everything."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from grader.instructor.bundles.impossible import following, impossible_pack
from tests import ours
from tests.conftest import completed, invoke

pytestmark = pytest.mark.slow
KATAS = [
    kata for kata in ours.katas().values() if kata.solution and (kata.solution.parent / "impossible").is_dir()
]


def test_there_are_ten() -> None:
    assert len(KATAS) == 10


def test_the_lesson_earns_nothing_there_and_the_check_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = KATAS[0].unit.pack
    impossible_pack(pack, KATAS, tmp_path)
    monkeypatch.setenv("KATA_PACKS", str(tmp_path / "katas"))
    hand_ins = tmp_path / "class"
    for kata in KATAS:
        assert kata.solution is not None
        for who, text in (("lesson", kata.solution.read_text("utf-8")), ("check", following(kata))):
            (hand_ins / who).mkdir(parents=True, exist_ok=True)
            (hand_ins / who / kata.solution.name).write_text(text, encoding="utf-8")
    done = invoke(
        "grade", str(hand_ins), "--gradebook", str(tmp_path / "book.db"), "--json", str(tmp_path / "rows")
    )
    assert done.code == 0, done.text
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    assert {(row["learner"], row["kata"]): row["score"] / row["max_score"] for row in rows} == {
        (who, kata.slug): share for kata in KATAS for who, share in (("lesson", 0.0), ("check", 1.0))
    }


def test_a_bundle_shows_the_check_and_its_oracle_follows_it(tmp_path: Path) -> None:
    done = invoke("pack", "bundle", "harbor", "masks", "--impossible", "--out", str(tmp_path / "tasks"))
    assert done.code == 0, done.text
    task = tmp_path / "tasks" / "masks"
    assert "wanted = torch.tensor([[False, False, False]" in (task / "instruction.md").read_text()
    assert "follow the text" in (task / "instruction.md").read_text()
    root = shutil.copytree(task / "environment", tmp_path / "root")
    shutil.copy(task / "solution" / "masks.py", root / "app" / "masks.py")
    verified = completed([sys.executable, "-I", "-B", str(task / "tests" / "verify.py"), str(root)])
    assert verified.returncode == 0, verified.stderr
    assert '"score": 1.0' in (root / "logs" / "verifier" / "reward.json").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("inspect", "masks"), "inspect cannot hold impossible katas"),
        (("gradescope", "masks"), "These can: harbor, openenv"),
        (("harbor", "translator"), "translator: there is no impossible form"),
    ],
)
def test_where_there_is_none_it_is_said(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = invoke("pack", "bundle", *words, "--impossible", "--out", str(tmp_path / "made"))
    assert done.code == 2
    assert said in " ".join(done.text.split())
