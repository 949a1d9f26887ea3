"""`kata similar` as an instructor uses it, over answers of the second corpus."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import Catalogue, Kata
from grader.instructor.gradebook.store import Gradebook
from grader.instructor.submissions import Bundle, Submission
from tests import answers
from tests.conftest import Run
from tests.gradebook.handmade import decide, key, report
from tests.ours import MASKS, OWN, ROOT

pytestmark = pytest.mark.usefixtures("folder")  # an empty one, which is the current

DISGUISED = '''
def additive_mask(allowed, dtype: object = torch.float32):
    """Return zeros where one may look."""
    out = torch.empty( allowed.shape , device = allowed.device , dtype = dtype )  # a buffer
    print("made", out)
    out[allowed] = 0.0
    out[~allowed] = torch.tensor(
        float('-inf'), dtype=dtype
    )
    return out.contiguous()


def combine_masks(*several):
    total = sum(one.to(torch.int64) for one in torch.broadcast_tensors(*several))
    wanted = torch.full_like(total, len(several))

    return (torch.eq(total, wanted)).logical_and(total.gt(0) | wanted.eq(0))
'''


@pytest.fixture(scope="module")
def masks() -> Kata:
    found = Catalogue.discover().resolve_one("masks")
    if found.solution is None:
        pytest.skip("a wheel is installed, which has no solutions")
    return found


@pytest.fixture(scope="module")
def honest(masks: Kata) -> dict[str, str]:
    """Independent answers; none of them is another's copy."""
    return {answer.name: answer.text for answer in answers.right(masks)}


def hand_in(texts: dict[str, str | bytes], root: str = "submissions", name: str = "masks.py") -> None:
    for learner, text in texts.items():
        place = Path(root) / learner
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def kept(texts: list[tuple[str, str]], where: str = "gradebook.sqlite") -> None:
    """Keep one attempt after the other in a gradebook."""
    with Gradebook.open(where, create=True) as book:
        for learner, text in texts:
            run = book.start_run({})
            given = Submission(
                learner=learner, kata="masks", bundle=Bundle("masks.py", {"masks.py": text.encode()})
            )
            run.record(given, key(given), report(learner))
            run.finish()


def found(kata: Run, *arguments: object) -> dict[str, Any]:
    ran = kata("similar", *arguments, "--only", "masks", "--json").done()
    (one,) = ran.json["katas"]
    assert isinstance(one, dict)
    return one


def names(pairs: list[dict[str, Any]]) -> list[set[str]]:
    return [{pair["left"]["learner"], pair["right"]["learner"]} for pair in pairs]


def test_a_copy_in_disguise_is_found_and_honest_answers_are_not(kata: Run, honest: dict[str, str]) -> None:
    hand_in({**honest, "ada": MASKS + OWN, "bob": MASKS + DISGUISED})
    one = found(kata, "submissions")
    assert names(one["pairs"]) == [{"ada", "bob"}]
    (pair,) = one["pairs"]
    assert min(pair["left"]["share"], pair["right"]["share"]) > 0.8
    assert not pair["identical"]
    assert pair["passages"]
    assert one["clusters"] == []
    assert one["has_solutions"]
    assert "texts" not in one
    begins = MASKS.count("\n") + 2
    assert all(first >= begins for passage in pair["passages"] for first in (passage["left"][0],))


def test_what_was_given_and_what_the_pack_knows_makes_nobody_alike(kata: Run, masks: Kata) -> None:
    comments = {f"r{number}": f"# {number}\n{MASKS}" for number in range(3)}
    hand_in({**comments, "cyd": masks.stub.read_text(), "dan": masks.stub.read_text()})
    one = found(kata, "submissions")
    assert one["pairs"] == []
    assert [(same["known"], len(same["where"])) for same in one["identical"]] == [("the stub", 2)]


def test_two_without_a_word_of_their_own_share_nothing(kata: Run, masks: Kata) -> None:
    stub = masks.stub.read_text()
    hand_in({"cyd": stub, "dan": f"# mine\n{stub}"})
    one = found(kata, "submissions", "--rarity", 0)
    assert (one["pairs"], one["known"]) == ([], [])


def test_what_many_of_the_class_have_is_left_out(kata: Run) -> None:
    hand_in({f"l{number}": f"# {number}\n{MASKS}{OWN}" for number in range(6)})
    one = found(kata, "submissions")
    assert one["pairs"] == []
    assert one["left_out"] > 0
    assert one["common"] == 5
    assert len(found(kata, "submissions", "--common", 100)["pairs"]) == 0  # six of six: all of them
    hand_in({f"m{number}": f"x = {number}" for number in range(15)})
    again = found(kata, "submissions", "--common", 35)
    assert len(again["pairs"]) == 15
    assert again["clusters"] == [[f"l{number}" for number in range(6)]]


def test_identical_files_are_told_by_their_digest(kata: Run, honest: dict[str, str]) -> None:
    hand_in({**honest, "ada": MASKS + OWN, "bob": MASKS + OWN, "eve": "def (", "gil": "def ("})
    one = found(kata, "submissions")
    groups = [sorted(side["learner"] for side in same["where"]) for same in one["identical"]]
    assert sorted(groups) == [["ada", "bob"], ["eve", "gil"]]  # also what is no Python
    assert one["pairs"][0]["identical"]
    assert [side["who"] for side in kata("similar", "submissions", "--json").json["unread"]] == []


def test_who_hands_in_the_packs_solution_is_told_of(kata: Run, masks: Kata) -> None:
    other = masks.alternatives[0]
    hand_in({"ada": MASKS, "bob": f"# mine\n{other.read_text()}", "cyd": MASKS + OWN})
    one = found(kata, "submissions")
    assert [(same["known"], same["where"][0]["learner"]) for same in one["identical"]] == [
        ("the reference", "ada")
    ]
    assert [(near["side"]["learner"], near["to"]) for near in one["known"]] == [
        ("bob", f"the alternative {other.stem}")
    ]


def test_given_blocks_whose_operators_were_renamed_are_shown(kata: Run, folder: Path) -> None:
    blocks = next((ROOT / "katas").glob("*/blocks.py")).read_text(encoding="utf-8")
    usual = re.sub(r"aten\.(\w+)(\.default)?", r"torch.\1", blocks.replace("aten = torch.ops.aten", ""))
    begin, end = usual.index("class EncoderLayer"), usual.index("# --- 9.4.1")
    head = "import torch\nfrom blocks import *\nfrom torch import Tensor, nn\n\n"
    (folder / "submissions" / "ada").mkdir(parents=True)
    (folder / "submissions" / "ada" / "encoder_layer.py").write_text(head + usual[begin:end])
    [one] = kata("similar", "submissions", "--json").json["katas"]
    assert [(near["side"]["learner"], near["to"]) for near in one["known"]] == [
        ("ada", "the given blocks blocks.py")
    ]


def test_attempts_of_a_gradebook_and_earlier_terms(kata: Run, honest: dict[str, str]) -> None:
    kept([*honest.items(), ("ada", MASKS + OWN), ("ada", honest["row_by_row"]), ("bob", MASKS + DISGUISED)])
    one = found(kata)
    assert [{side["learner"] for side in same["where"]} for same in one["identical"]] == [
        {"ada", "row_by_row"}
    ]
    pair = next(pair for pair in one["pairs"] if pair["right"]["learner"] == "bob")
    assert (pair["left"]["learner"], pair["left"]["attempt"]) == ("ada", 1)
    assert {"ada", "bob"} in names(one["pairs"])  # though her newest attempt is another
    assert not any(len(pair) == 1 for pair in names(one["pairs"]))  # nobody is compared with themselves

    kept([("zoe", MASKS + OWN), ("yan", MASKS + OWN + "\n")], "2025.sqlite")
    hand_in({"xia": MASKS + DISGUISED + "\n\n"}, "2024")
    hand_in({**honest, "bob": MASKS + DISGUISED})
    against = found(kata, "submissions", "--against", "2025.sqlite", "--against", "2024")
    there = [
        (pair["left"]["learner"], pair["right"]["learner"], pair["right"]["term"])
        for pair in against["pairs"]
    ]
    assert {who for who, _, _ in there} == {"bob"}  # earlier terms are not compared with each other
    assert {(who, term) for _, who, term in there} == {
        ("zoe", "2025.sqlite"),
        ("yan", "2025.sqlite"),
        ("xia", "2024"),
    }
    assert against["earlier"] == 3


@pytest.mark.slow
def test_hostile_files_are_bounded_and_named_and_never_run(kata: Run, honest: dict[str, str]) -> None:
    cells = [
        {"cell_type": "code", "source": part, "metadata": {}} for part in (MASKS + DISGUISED).split("\n\n\n")
    ]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    hand_in({**honest, "ada": MASKS + OWN})
    hand_in({"bob": notebook, "ivy": "[]"}, name="masks.ipynb")
    hand_in(
        {
            "huge": "x = 1\n" * 100_000,
            "deep": "x = " + "-" * 50_000 + "1",
            "sums": "x = 1" + " + 1" * 50_000,
            "nul": b"x = 1\0",
            "latin": b"x = '\xe9'",
            "words": "x = [" + "1," * 90_000 + "]",
            "runs": "open('was-run', 'w')\nraise SystemExit(3)\n",
            "half": MASKS + OWN + "\n\ndef broken(:\n    pass\n",
        }
    )
    one = found(kata, "submissions")
    assert not Path("was-run").exists()
    why = {each["learner"]: each["why"] for each in one["unread"]}
    assert {"huge", "deep", "sums", "nul", "latin", "words", "ivy", "half"} == why.keys()
    assert "256 KB" in why["huge"]
    assert "too deep" in why["sums"]
    assert why["half"].endswith("its valid parts were compared")
    assert {"ada", "bob"} in names(one["pairs"])  # a notebook is read by its cells
    assert {"ada", "half"} in names(one["pairs"])


def test_the_page_shows_both_side_by_side_and_runs_nothing(kata: Run, honest: dict[str, str]) -> None:
    evil = "\nEVIL = '<script>alert(1)</script>'\n"
    hand_in({**honest, "<b>ada": MASKS + OWN + evil, "bob": MASKS + DISGUISED})
    ran = kata("similar", "submissions", "--only", "masks", "--html", "alike.html").done()
    page = Path("alike.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<b>ada" not in page
    marked = re.findall(r"<mark>(.*?)</mark>", page)
    assert any("torch.broadcast_tensors" in line for line in marked)
    assert not any("bidirectional_mask" in line for line in marked)  # as in the reference
    assert "page  alike.html" in ran.out


def test_it_reports_and_never_accuses(kata: Run, honest: dict[str, str]) -> None:
    hand_in({**honest, "ada": MASKS + OWN, "bob": MASKS + DISGUISED, "cyd": MASKS + OWN})
    ran = kata("similar", "submissions", "--html", "alike.html")
    said = ran.text + Path("alike.html").read_text() + kata("similar", "--help").out
    assert "Alike does not mean copied" in ran.text
    assert not re.search(r"plagiar|cheat|suspect|guilt|offen[cd]|culprit|violat", said, re.IGNORECASE)
    assert "ada" in ran.out
    assert "identical" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is no gradebook"),
        (("nowhere",), "no such file or folder"),
        (("--only", "maskss"), "Did you mean"),
        (("--share", "140"), "140"),
    ],
)
def test_what_cannot_be_compared_is_said(kata: Run, arguments: tuple[str, ...], words: str) -> None:
    kata("similar", *arguments).refused(words)


def test_an_earlier_term_that_is_not_there(kata: Run) -> None:
    hand_in({"ada": MASKS + OWN, "bob": MASKS + DISGUISED})
    kata("similar", "submissions", "--against", "2019").refused("2019")


def test_a_gradebooks_aliases_are_one_learner(kata: Run, honest: dict[str, str]) -> None:
    kept([*honest.items(), ("ada", MASKS + OWN), ("ada@uni.example", MASKS + DISGUISED)])
    assert {"ada", "ada@uni.example"} in names(found(kata)["pairs"])
    with Gradebook.open("gradebook.sqlite", create=False) as book:
        decide(book, "alias", "ada", "ada@uni.example", comment="her e-mail", author="me")
    one = found(kata)
    assert one["pairs"] == []
    assert one["learners"] == len(honest) + 1
