"""Play the session: `make demo`, or `python -m demo`; with `--learner` what needs no solutions where Kata is.

Answers come from `solutions/`: the reference, and catalogued wrong ones. The exit code is 0 only when every
command ended as it should and printed what it should.
"""

from __future__ import annotations

import ast
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from demo.stage import KATA, Stage, Unexpected
from grader.catalogue import Kata, load_pack
from grader.engine.mistakes.mistakes import Mistake, mistakes, slow_answers

ROOT = Path(__file__).resolve().parent.parent
UNIT = "9.3-encoder-vs-decoder"
ANSWERS = ROOT / "solutions" / UNIT
PACK = load_pack(ROOT / "katas")
MASKS, ATTENTION = f"{UNIT}/masks/masks.py", f"{UNIT}/masked-attention/masked_attention.py"


def main() -> int:
    """Play it in a temporary folder; return the exit code."""
    if not KATA.exists():
        print(f"{KATA} is not there. Type: make setup", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="kata-demo-"))
    stage = Stage(folder / "start")
    stage.go_to("learner")
    try:
        first_verdicts(stage)
        if "--learner" not in sys.argv[1:]:
            play(stage)
    except Unexpected as error:
        print(f"\nThe demo stopped: {error}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def first_verdicts(stage: Stage) -> None:
    """Play the first scenes, which need what a learner installs and no more."""
    stage.say(
        "A learner's first session with Kata. Nobody is typing: each command is run for real, in a "
        "temporary folder."
    )

    stage.scene("Begin", "A learner wants the exercises of unit 9.3. A folder is all they need.")
    stage.type("kata start 9.3", shows=(f"edit {MASKS}", "kata check masks"))
    stage.say("Which exercises are there, and what comes next? `kata` alone always says.")
    stage.type("kata", shows=("0 of ", "next:  kata check masks"))

    stage.scene("Check before writing anything", "A stub is not a mistake: nothing is marked wrong yet.")
    stage.type(
        "kata check", code=1, shows=("not started  9.3.1 masks", "not started  9.3.2 masked-attention")
    )

    stage.scene("A wrong mask", "The learner writes all five mask functions. One of them has a slip:")
    wrong = _mutant("masks", "causal_shifted_late")
    stage.save(MASKS, wrong, _function(wrong, "causal_mask"))
    stage.type(
        "kata check masks",
        code=1,
        shows=(
            "9/10 points",
            "first difference  mask[query 0, key 1]  got True  want False",
            "yours at query i is the expected at query i + 1",
            "repeat  kata check masks -k test_causal_values --seed 0",
        ),
    )
    stage.say(
        "It says which call it was, where the first difference lies, and draws both masks. Each `!` is a "
        "key that a query must not see: every row is allowed one too many."
    )
    stage.type("kata hint masks", shows=("hint 1 of 3", "2 more hints left"))

    stage.scene("The right mask", "The `+ 1` goes away.")
    right = _reference("masks")
    stage.save(MASKS, right, _function(right, "causal_mask"))
    stage.type("kata check masks", shows=("10/10 points", "passed"))


def play(stage: Stage) -> None:
    """Play every other scene, in order."""
    stage.say("After a pass the reference is open, to compare with:")
    stage.type("kata solution masks", shows=("def causal_mask",), lines=12)

    stage.scene("A wrong attention", "The second kata. This attempt forgets to divide the scores by √d:")
    wrong = _mutant("masked-attention", "unscaled")
    stage.save(ATTENTION, wrong, _function(wrong, "scaled_dot_product_attention"))
    stage.type(
        "kata check masked-attention",
        code=1,
        shows=(
            "called  scaled_dot_product_attention(query, key, value)",
            "first difference  weights[",
            "yours",
            "skipped",
        ),
    )
    stage.say(
        "The picture is in per cent: large weights are too large, small ones too small, as a softmax of "
        "unscaled scores makes them. Checks that build on this one are skipped."
    )
    stage.say("")
    stage.say("The answer stays closed until it passes, unless the learner gives up:")
    stage.type("kata solution masked-attention", code=2, shows=("has not passed yet", "--give-up"))

    stage.scene("NaN", "With the scale mended, one trap is left: a query whose every key is masked.")
    wrong = _mutant("masked-attention", "blind_query_nan")
    stage.save(ATTENTION, wrong, _function(wrong, "scaled_dot_product_attention"))
    stage.say("One check can be run alone; this one gets an all-masked row:")
    stage.type(
        "kata check masked-attention -k test_fully_masked",
        code=1,
        shows=("not finite  weights[", "values are NaN"),
    )

    stage.scene("Everything right", "Such a query gets zero weights now.")
    right = _reference("masked-attention")
    stage.save(ATTENTION, right, _function(right, "scaled_dot_product_attention"))
    stage.type("kata check masked-attention", shows=("40/40 points", "passed"), lines=8)
    stage.say("The whole unit: a line for each kata, and where to go on. Not started is not wrong.")
    stage.type(
        "kata check",
        code=1,
        shows=("passed  9.3.1 masks  10/10", "passed  9.3.2 masked-attention  40/40", "not started  9.3.3"),
    )
    stage.type("kata", shows=("2 of ", "next:"))

    stage.scene(
        "Right, and slow", "Somebody loops over the queries. Every value is right; is it fast enough?"
    )
    slow = _mutant("masked-attention", "query_loop", slow_answers)
    stage.save(ATTENTION, slow, _function(slow, "scaled_dot_product_attention"))
    stage.type(
        "kata check masked-attention --perf -k test_attention_speed",
        code=1,
        shows=("times as long as the baseline", "milliseconds by"),
        unless="inconclusive",
    )
    stage.say("One product for all queries does the same:")
    stage.save(ATTENTION, right, _function(right, "scaled_dot_product_attention"))
    stage.type(
        "kata check masked-attention --perf -k test_attention_speed",
        shows=("attention does its arithmetic once",),
        unless="inconclusive",
    )

    stage.scene(
        "The idea, live", "Ideas can be looked at. A demo runs on the learner's own code where that passes."
    )
    stage.type("kata demo 9.3", shows=("Your own code: masks, masked-attention", "index.html"), lines=24)

    stage.scene("The same in a notebook", "Somebody else prefers notebooks.")
    stage.go_to("notebooks")
    notebook = MASKS.replace(".py", ".ipynb")
    stage.type("kata start masks --notebook", shows=(f"edit {notebook}",))
    scratch = "%matplotlib inline\n!nvidia-smi\nprint(causal_mask(4))\n1 / 0"
    stage.save(
        notebook, _filled(stage.folder / notebook, right=_reference("masks"), scratch=scratch), scratch
    )
    stage.say("Imports and definitions count. Magics, shell lines and a scratch cell that fails do not:")
    stage.type("kata check -q", shows=("passed  9.3.1 masks  10/10",))

    stage.scene("For programs", "`--json` prints one document and nothing else. Shortened here:")
    document = json.loads(stage.type("kata check masks --json", quiet=True))
    kata = document["katas"][0]
    if (document["schema"], kata["status"], kata["score"], bool(kata["checks"])) != (1, "pass", 10.0, True):
        raise Unexpected("`kata check masks --json` does not report a pass")
    kata["checks"] = [kata["checks"][0], f"… {len(kata['checks']) - 1} more"]
    kata["file"] = MASKS
    stage.code(json.dumps(document, indent=2, ensure_ascii=False))

    stage.scene(
        "A class", "The instructor's side. Eight learners handed in two katas each; one of them means harm."
    )
    stage.go_to("instructor")
    hand_in(stage.folder / "submissions")
    stage.type(
        "kata grade submissions --only masks --only masked-attention --timeout 2",
        shows=("16 rows in gradebook.sqlite", "timed out", "kata report"),
    )
    stage.say("What has not changed is not graded again, and what was graded is kept, whatever happens:")
    stage.type(
        "kata grade submissions --only masks --only masked-attention --timeout 2",
        shows=("16 unchanged",),
        lines=9,
    )

    stage.scene(
        "Marks and pages", "A gradebook can be looked at, changed with a reason, exported and disputed."
    )
    stage.type("kata gradebook show", shows=("grace", "mean"))
    stage.type('kata gradebook adjust dan masks +1 --comment "explained it well"', shows=("dan",))
    stage.type("kata regrade --only dan --only masks --force --dry-run", shows=("0 would change",))
    stage.type("kata report", shows=("index.html", "8 learners"))

    stage.say(f"{stage.commands} commands in {stage.seconds():.0f} s, each as it should be. Now you:")
    for line in (
        f"  alias kata={KATA}",
        "  mkdir ~/kata && cd ~/kata && kata start 9.3",
        "  kata watch masks                  checks again whenever you save",
        "",
        "  README.md            what this is, and how it works",
        "  docs/learners.md     every command and every status",
        "  docs/instructors.md  grade a class",
        "  docs/authors.md      write a kata of your own",
    ):
        print(line)


def hand_in(folder: Path) -> None:
    """Put a class's answers into `folder`: right ones, mistakes, a stub, a loop, a file that is no Python."""
    stub = (ROOT / "katas" / UNIT / "masks" / "masks.py").read_text(encoding="utf-8")
    forged = "import os\n\nimport torch\n\ntorch.equal = torch.allclose = lambda *a, **k: True\nos._exit(0)\n"
    masks, attention = _reference("masks"), _reference("masked-attention")
    answers = {
        "ada": (masks, attention),
        "bob": (_mutant("masks", "causal_shifted_late"), attention),
        "chi": (masks, _mutant("masked-attention", "unscaled")),
        "dan": (_mutant("masks", "causal_transposed"), _mutant("masked-attention", "blind_query_nan")),
        "eve": (forged, forged),
        "fay": (stub, None),
        "grace": (masks, "while True:\n    pass\n"),
        "hal": ("def causal_mask(seq_len:\n", attention),
    }
    for learner, sources in answers.items():
        for file, source in zip(("masks.py", "masked_attention.py"), sources, strict=True):
            place = folder / learner
            place.mkdir(parents=True, exist_ok=True)
            if source is not None:
                (place / file).write_text(source, encoding="utf-8")


def _reference(kata: str) -> str:
    return (ANSWERS / kata / f"{kata.replace('-', '_')}.py").read_text(encoding="utf-8")


def _mutant(kata: str, name: str, read: Callable[[Kata], list[Mistake]] = mistakes) -> str:
    """Return a catalogued wrong or slow answer."""
    one = next(one for one in PACK.katas if one.slug == kata)
    return next(mistake.text for mistake in read(one) if mistake.name == name)


def _function(source: str, name: str) -> str:
    """Return one top-level function as it is written."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    node = next(node for node in functions if node.name == name)
    return "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])


def _filled(path: Path, right: str, scratch: str) -> str:
    """Return the started notebook with an answer in its cells, and a scratch cell after them."""
    import nbformat

    from grader.learner.workspace.notebook import split_source

    library: Any = nbformat  # typed in parts only
    notebook = library.read(path, as_version=4)
    lead = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    cells = [library.v4.new_code_cell(text) for text in (*split_source(right)[1], scratch)]
    notebook.cells = lead + cells
    return str(library.writes(notebook)) + "\n"


if __name__ == "__main__":
    sys.exit(main())
