"""`kata check --format`: what fails, for programs that point at lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import Run

pytestmark = pytest.mark.slow

WRONG = """
import torch


def bidirectional_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)


def causal_mask(seq_len, *, device=None):
    return torch.triu(torch.ones(seq_len, seq_len, device=device)).bool()


def padding_mask(tokens, pad_id=0):
    one = tokens != pad_id
    raise ValueError("50% done,\\n::error::forged")


def combine_masks(*masks):
    raise NotImplementedError


def additive_mask(mask, dtype=torch.float32):
    raise NotImplementedError
"""
TITLE = "each query sees itself and the keys before it, nothing later"


@pytest.fixture
def masks(kata: Run, folder: Path) -> Path:
    assert kata("start", "masks").code == 0
    file = folder / "9.3-encoder-vs-decoder" / "masks" / "masks.py"
    file.write_text(WRONG)
    return file


def test_problems_are_lines_that_a_matcher_reads(kata: Run, masks: Path) -> None:
    ran = kata("check", "masks", "--format", "vscode")
    assert ran.code == 1
    assert ran.err == ""
    place = "9.3-encoder-vs-decoder/masks/masks.py"
    pattern = re.compile(r"^(.*):(\d+):(\d+): (error|warning): (.*) \[(\S+)\]$")
    found = [pattern.match(line) for line in ran.out.splitlines()]
    assert all(found), ran.out
    lines = {match[6]: (match[1], int(match[2]), match[4], match[5]) for match in found if match}
    assert lines["test_causal_values"][:3] == (place, 9, "error")
    assert "likely your causal mask is transposed" in lines["test_causal_values"][3]
    assert lines["test_padding_shape"][1] == 15  # where it was raised, not where the function begins
    assert (place, 22, "warning", "additive_mask is not written yet") == lines["masks"]


def test_annotations_of_github_are_one_line_each_whatever_a_submission_says(kata: Run, masks: Path) -> None:
    out = kata("check", "masks", "--format", "github").out
    assert all(
        re.match(r"::(error|warning) file=[^:]*masks\.py,line=\d+,title=", line) for line in out.splitlines()
    )
    assert f"title=masks%3A {TITLE.replace(',', '%2C')}::called  causal_mask" in out
    assert "50%25 done,%0A" in out
    assert "\n::error::forged" not in out


def test_github_is_told_of_no_more_than_it_shows(
    kata: Run, masks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.report.annotations.SHOWN_BY_GITHUB", 4)
    masks.write_text("def causal_mask(seq_len):\n    return 1\n")
    lines = kata("check", "masks", "--format", "github").out.splitlines()
    assert len(lines) == 4
    assert re.match(r"::notice title=kata::\d+ more", lines[-1])


def test_xml_of_junit_has_every_check(kata: Run, masks: Path) -> None:
    report = kata("check", "masks", "--json").json["katas"][0]
    [suite] = ElementTree.fromstring(kata("check", "masks", "--format", "junit").out)
    cases = {case.get("name"): [part.tag for part in case] for case in suite}
    kinds = {"pass": [], "fail": ["failure"], "error": ["error"], "todo": ["skipped"], "skipped": ["skipped"]}
    assert cases == {check["name"]: kinds[check["status"]] for check in report["checks"]}
    for attribute, part in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(attribute) == str(sum(parts == [part] for parts in cases.values()))


def test_a_line_of_a_notebook_is_one_of_its_cell(kata: Run, folder: Path) -> None:
    assert kata("start", "masks", "--notebook").code == 0
    file = folder / "9.3-encoder-vs-decoder" / "masks" / "masks.ipynb"
    book = json.loads(file.read_text())
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    code[1]["source"] = WRONG
    for cell in code[2:]:
        cell["source"] = ""
    file.write_text(json.dumps(book))
    out = kata("check", "masks", "--format", "vscode").out
    assert re.search(
        r"^\S+masks\.ipynb:15:1: error: .* \(cell \d+\) \[test_padding_shape\]$", out, re.MULTILINE
    )


def test_what_passes_or_does_not_load(kata: Run, masks: Path) -> None:
    masks.write_text("def causal_mask(:\n")
    ran = kata("check", "masks", "--format", "vscode")
    assert re.fullmatch(
        r"\S+masks\.py:1:1: error: masks\.py does not load: SyntaxError: .* \[masks\]\n", ran.out
    )
    assert ElementTree.fromstring(kata("check", "masks", "--format", "junit").out) is not None
    kata("check", "masks", "--format", "junit", "--json").refused("two ways to print")
