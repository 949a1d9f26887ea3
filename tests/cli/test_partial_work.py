"""Work that is only partly written: what is to do is no mistake, and every command counts alike."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grader.report.report import CheckReport, KataReport, Measured, SpeedScore
from grader.report.terminal import print_reports
from tests import ours
from tests.conftest import Run

pytestmark = pytest.mark.slow

SOLUTIONS = Path(__file__).parents[2] / "solutions" / "9.3-encoder-vs-decoder"
NAMES = ["bidirectional_mask", "causal_mask", "padding_mask", "combine_masks", "additive_mask"]


def written(stub: Path, name: str, body: str) -> None:
    """Write one function of a stub."""
    text = stub.read_text()
    assert f'raise NotImplementedError("{name}")' in text
    stub.write_text(text.replace(f'raise NotImplementedError("{name}")', body))


TRUE = "return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)"


def test_what_is_not_written_is_to_do_and_the_kata_in_progress(kata: Run, stub: Path) -> None:
    written(stub, "bidirectional_mask", TRUE)
    ran = kata("check", "masks", "--json")
    (report,) = ran.json["katas"]
    assert (ran.code, report["status"]) == (1, "in_progress")
    assert report["todo"] == NAMES[1:]
    assert {check["status"] for check in report["checks"]} <= {"pass", "todo", "skipped"}
    to_do = next(check for check in report["checks"] if check["id"] == "test_causal_shape")
    assert "`causal_mask`" in to_do["message"]
    line = stub.read_text().split('raise NotImplementedError("causal_mask")')[0].count("\n") + 1
    assert f"masks.py, line {line}" in to_do["message"]
    # What needs a check that is to do is to do as well: nothing wrong was seen.
    assert next(c for c in report["checks"] if c["id"] == "test_causal_values")["status"] == "todo"


def test_the_names_to_do_stand_in_one_line_and_next_says_which(kata: Run, stub: Path) -> None:
    written(stub, "bidirectional_mask", TRUE)
    text = kata("check", "masks").out
    assert "in progress" in text
    assert "FAIL" not in text
    assert "failed" not in text
    assert "1 of 15 checks holds" in text
    (line,) = (line for line in text.splitlines() if "to do" in line)
    assert ", ".join(NAMES[1:]) in line
    assert re.search(r"^next  write causal_mask in \S*masks\.py", text, re.MULTILINE)


def test_what_is_to_do_is_never_the_headline_while_something_written_is_wrong(kata: Run, stub: Path) -> None:
    written(stub, "combine_masks", "return masks[0] | masks[-1]")
    ran = kata("check", "masks")
    assert "✘ failed" in ran.out.splitlines()[1]
    assert re.search(r"^FAIL 9\.3\.1 one, two or three masks", ran.out, re.MULTILINE)
    assert ran.out.count("FAIL") == 1
    assert "not written" not in ran.out
    assert kata("check", "masks", "--json").json["katas"][0]["status"] == "fail"


@pytest.mark.parametrize("body", ["...", "pass", '"""To do."""'])
def test_a_body_in_which_nothing_is_done_is_not_written_yet(kata: Run, stub: Path, body: str) -> None:
    stub.write_text(f"{ours.MASKS}\n\ndef causal_mask(seq_len, *, device=None):\n    {body}\n")
    [report] = kata("check", "masks", "--json").json["katas"]
    assert report["status"] == "in_progress"
    assert {check["status"] for check in report["checks"]} <= {"pass", "todo", "skipped"}
    assert "not written yet: nothing is done in `causal_mask`" in kata("check", "masks").text


def test_of_several_katas_the_wrong_one_is_in_full_before_the_one_in_progress(kata: Run, stub: Path) -> None:
    assert kata("start", "layer-norm").code == 0
    written(stub, "bidirectional_mask", TRUE)
    norm = stub.parents[1] / "layer-norm" / "layer_norm.py"
    text = kata("check").out
    assert "next  write causal_mask" in text
    norm.write_text(
        norm.read_text().replace('raise NotImplementedError("LayerNorm.__init__")', "super().__init__()")
    )
    text = kata("check").out
    assert "FAIL 9.3.3" in text
    assert re.search(r"in progress  9\.3\.1 masks  0\.5/\d+  to do: causal_mask", text)
    assert "0 of 2 passed" in text


def test_every_command_counts_alike(kata: Run, stub: Path) -> None:
    stub.write_text(ours.MASKS)
    closed = kata("solution")  # bare, it means what comes next; what has just passed is named
    assert (closed.code, closed.out) == (2, "")
    assert "Of the kata that you passed last" not in closed.text
    (worth,) = re.findall(r"masks +([\d.]+)/\1 points", kata("check", "masks").out)
    stub.write_text(ours.masks("raise NotImplementedError"))
    closed = kata("solution")
    assert "9.3.2 masked-attention has not passed yet" in closed.text
    assert "Of the kata that you passed last: kata solution masks" in closed.text
    checked = kata("check", "masks", "-q").out
    (score,) = re.findall(rf"([\d.]+)/{worth}", checked)
    shown = kata().out
    assert score != worth
    assert f"1 of 7 passed, {worth}/" in shown, "what was earned stays"
    for text in (shown, kata("list").out):
        (line,) = (line for line in text.splitlines() if "9.3.1" in line)
        assert "✔ passed, in progress again" in line
    units = {unit["number"]: unit for unit in kata("list", "--json").json["units"]}
    assert units["9.3"]["katas"][0]["status"] == "in_progress"


def test_where_nothing_is_recorded_that_is_said(
    kata: Run, stub: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "kata-progress.json").unlink()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    told = kata("check", "masks").text
    assert "not recorded: there is no kata-progress.json here or above; kata start masks makes one" in told
    (folder / "masks.py").write_text(ours.MASKS)
    loose = kata("check", "masks.py").text
    assert "not recorded: this is not in the workspace that kata start made" in loose


@pytest.mark.parametrize("columns", [50, 60, 80, 100])
def test_what_is_typed_is_whole_however_narrow_the_terminal(
    kata: Run, stub: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    katas = [one for unit in kata("list", "--json").json["units"] for one in unit["katas"]]
    listed = {tuple(line.split()[:2]) for line in kata("list").out.splitlines()}
    assert {(one["number"], one["kata"]) for one in katas} <= listed
    stub.write_text(ours.MASKS)
    assert kata("check", "masks", "-q").code == 0
    stub.write_text(ours.masks("raise NotImplementedError"))
    kata("check", "masks", "-q")
    for text in (kata().out, kata("list").out):  # the longest status there is takes no room from the names
        (line,) = (line for line in text.splitlines() if "9.3.1" in line)
        assert line.split()[:2] == ["9.3.1", "masks"]
        assert "✔ passed," in line
        assert max(map(len, text.splitlines())) <= columns


def test_an_untouched_stub_has_one_name_everywhere(kata: Run, stub: Path) -> None:
    for text in (kata().out, kata("list").out, kata("check", "-q").out):
        (line,) = (line for line in text.splitlines() if "9.3.1" in line)
        assert "· not started" in line
    assert kata("--json").json["katas"][0]["status"] == "not_started"


def test_a_passed_subset_says_how_many_of_how_many(kata: Run, stub: Path) -> None:
    stub.write_text(ours.MASKS)
    ran = kata("check", "masks", "-k", "causal").done()
    assert "these 2 of 15 hold" in ran.out
    assert "kata solution" not in ran.out
    assert kata("check", "masks", "-k", "causal", "--json").json["katas"][0]["left_out"] == 13
    assert "left_out" not in kata("check", "masks", "--json").json["katas"][0]


SHIFTED = ours.masks("return torch.ones(seq_len, seq_len, device=device).tril(1).bool()")
PRINTING = """

def combine_masks(*masks):
    print('combining', len(masks))
    return torch.stack(torch.broadcast_tensors(*masks)).all(0)
"""


@pytest.mark.parametrize("arguments", [("-x",), ("-k", "test_causal_values", "--seed", "3")], ids=str)
def test_part_of_the_checks_names_the_mistake_that_all_would_name(
    kata: Run, stub: Path, arguments: tuple[str, ...]
) -> None:
    stub.write_text(SHIFTED)
    (whole,) = (line for line in kata("check", "masks").out.splitlines() if "likely" in line)
    ran = kata("check", "masks", *arguments)
    assert whole in ran.out.splitlines()


def test_passing_checks_are_one_line_unless_all_are_asked_for(kata: Run, stub: Path) -> None:
    stub.write_text(SHIFTED)
    folded, verbose = kata("check", "masks").out, kata("check", "masks", "-v").out
    assert folded.count("✔") == 1
    assert "14 of 15 checks hold" in folded
    assert verbose.count("✔") == 14
    titles = [line.index("] ") if "] " in line else 0 for line in verbose.splitlines() if "✔" in line]
    assert titles
    columns = {
        re.match(r"  ✔ passed +[\d.]+/[\d.]+ ", line).end() for line in verbose.splitlines() if "✔" in line
    }  # type: ignore[union-attr]
    assert len(columns) == 1


def test_what_builds_on_a_failure_is_one_line_unless_all_is_asked_for(kata: Run, stub: Path) -> None:
    stub.write_text(ours.MASKS.replace("[:, None, None, :]", "[:, None, :, None]"))
    folded, verbose = kata("check", "masks").out, kata("check", "masks", "-v").out
    assert "  - skipped  3 checks, 2 points, wait for these (-v names them)" in folded
    assert folded.count("skipped") == 1
    assert verbose.count("- skipped") == 3


def test_what_is_judged_with_ours_says_so(kata: Run, folder: Path) -> None:
    assert kata("start", "masked-attention").code == 0
    (file,) = folder.rglob("masked_attention.py")
    right = SOLUTIONS / "masked-attention" / "masked_attention.py"
    file.write_text(right.read_text().replace(" / math.sqrt(query.size(-1))", ""))
    ran = kata("check", "masked-attention", "-k", "test_values or test_module_values")
    told = "1 check, 4 points, judged with our `scaled_dot_product_attention` in place of yours"
    assert told in ran.out


@pytest.mark.nightly
def test_a_function_that_hangs_is_named_by_its_line_and_not_waited_for_a_third_time(
    kata: Run, stub: Path
) -> None:
    four = "if seq_len == 4: return torch.ones(4, 4, dtype=torch.bool, device=device)"
    stub.write_text(ours.masks(f"{four}\n    while True: pass"))
    (report,) = kata("check", "masks", "--timeout", "5", "--json").json["katas"]
    line = stub.read_text().count("\n")
    hung = next(check for check in report["checks"] if check["status"] == "timeout")
    assert f"masks.py, line {line} in causal_mask\n    while True: pass\nno answer within" in hung["message"]
    ends = {check["id"]: check for check in report["checks"] if check["status"] != "pass"}
    assert [check["status"] for check in ends.values()].count("timeout") == 1
    assert "`causal_mask` did not answer within 1 s" in ends["test_length_one"]["message"]
    assert ends["test_device"]["status"] == "skipped"  # where it would have answered
    assert report["status"] == "timeout"


def test_the_failure_of_what_was_edited_comes_first(kata: Run, stub: Path) -> None:
    late = ours.masks("return torch.ones(seq_len, seq_len)")
    stub.write_text(late)
    assert "FAIL 9.3.1 a causal mask is boolean" in kata("check", "masks").out
    stub.write_text(late + "\n\ndef additive_mask(mask, dtype=torch.float32):\n    return mask.to(dtype)\n")
    for _ in range(2):  # again without an edit says the same
        out = kata("check", "masks").out
        assert "  called  additive_mask(" in out
        assert "others  kata check masks -v   shows" in out
    assert kata("check", "masks", "--json").json["katas"][0]["first"] == "test_additive_values"
    hint = kata("hint", "masks").out  # its first point is about two functions, one of which holds
    assert "additive_mask" in hint
    assert "causal_mask" in hint
    assert "padding_mask" not in hint
    assert "padding_mask" in kata("hint", "masks", "--tier", "1").out


def test_a_pass_says_what_it_is_good_for_and_what_comes_next(kata: Run, stub: Path) -> None:
    stub.write_text(ours.MASKS)
    out = kata("check").out
    assert "See it at work:  kata demo masks" in out
    assert "Next:  kata start masked-attention" in out.splitlines()[-1]
    assert re.fullmatch(r"  1 of \d+ katas, 10 of [\d.]+ points", out.splitlines()[-2])
    assert "Next:" not in kata("check", "-q").out
    assert kata("check", "--json").text.count("Next:") == 0


def test_prints_of_a_check_that_holds_are_shown_with_v(kata: Run, stub: Path) -> None:
    stub.write_text(ours.MASKS + PRINTING)
    assert "combining" not in kata("check", "masks").out
    assert "| combining 3" in kata("check", "masks", "-v").out


def test_a_unit_that_was_never_started_does_not_become_the_current_one(kata: Run, stub: Path) -> None:
    ran = kata("check", "9.9")
    assert re.search(r"^next  kata start language-model-capstone$", ran.out, re.MULTILINE)
    assert kata("--json").json["unit"] == "9.3"
    assert "9.3.1 masks, hint 1" in kata("hint").err


FAST = Measured(form="ratio", value=0.5, threshold=2, verdict="pass")


def one(name: str, status: str = "pass", **more: Any) -> CheckReport:
    terms: Any = {"hidden": False, "status": status, "points": status == "pass", "max_points": 1, **more}
    return CheckReport(name=name, id=f"test_{name}", aspect="values", **terms)


def printed(*checks: CheckReport, speed: SpeedScore | None = None) -> str:
    """Return what is printed of a kata that passed with these checks."""
    report = KataReport(
        kata="masks", number="9.3.1", status="pass", score=2, max_score=2, seed=0, speed=speed, checks=[*checks],
    )  # fmt: skip
    out = Console(width=110, record=True, quiet=False, file=open("/dev/null", "w"))  # noqa: SIM115
    print_reports([report], out)
    return out.export_text()


def test_with_speed_what_holds_is_all_that_was_asked() -> None:
    text = printed(one("a"), one("b"), one("fast", speed=FAST), speed=SpeedScore(score=1, max_score=1))
    assert "all 3 checks hold" in text
    assert "0.50 times the baseline's time, at most 2 times allowed" in text


def test_what_a_machine_is_unfit_for_waits_for_nothing() -> None:
    unfit = [
        one(name, "skipped", message="this threshold needs a GPU: it is not graded on cpu") for name in "bc"
    ]
    said = "not measured on this kind of device"
    timed = [one(name, "skipped", speed=FAST, message=said) for name in ("fast", "hasty")]
    text = printed(one("a"), *unfit, *timed)
    assert "2 checks, 2 points, this threshold needs a GPU: it is not graded on cpu (-v names them)" in text
    assert text.count("0.50 times the baseline's time, at most 2 times allowed, not marked here") == 2
    assert text.count("skipped") == 3
    assert "until that is fixed" not in text


def test_points_that_are_withheld_are_said_once_and_why(kata: Run, stub: Path) -> None:
    assert kata("start", "layer-norm").code == 0
    norm = stub.parents[1] / "layer-norm" / "layer_norm.py"
    norm.write_text(
        (SOLUTIONS / "layer-norm" / "layer_norm.py")
        .read_text()
        .replace(
            "        centred =",
            "        try:\n"
            "            return nn.functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)\n"
            "        except RuntimeError:\n"
            "            pass\n"
            "        centred =",
        )
    )
    text = kata("check", "layer-norm").out
    told = " ".join(text.split())
    assert "✔ passed 16 checks, 19.5 points, right, but without points: the submission used torch" in told
    assert text.count("passed") == 1
