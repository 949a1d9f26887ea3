"""Is a right answer ever told a wrong reason by a speed check? Ten public ways to write a causal mask, and loops.

    python benchmarks/idioms.py                 every way graded 20 times by `kata check masks --perf`, half an hour
    python benchmarks/idioms.py --times 2
    python benchmarks/idioms.py --write         and write the table to docs/curriculum.md

A reason is false where a way that leaves the pairs to torch fails, or where a loop is told anything but a loop.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from table import Figures, arguments, publish

from grader.catalogue import load_pack

ROOT = Path(__file__).resolve().parent.parent
KATA = Path(sys.executable).with_name("kata")
CHECK = "test_causal_mask_speed"


@dataclass(frozen=True)
class Idiom:
    """One way to write a causal mask."""

    name: str
    body: str
    loops: bool = False
    """Whether Python visits the pairs."""


IDIOMS = (
    Idiom("tril(ones).bool()", "return torch.tril(torch.ones(seq_len, seq_len, device=device)).bool()"),
    Idiom("tril(ones) == 1", "return torch.tril(torch.ones(seq_len, seq_len, device=device)) == 1"),
    Idiom("tril of booleans", "return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).tril()"),
    Idiom(
        "~triu(ones, 1).bool()",
        "return ~torch.triu(torch.ones(seq_len, seq_len, device=device), diagonal=1).bool()",
    ),
    Idiom(
        "triu(full(-inf), 1) == 0",
        "return torch.triu(torch.full((seq_len, seq_len), float('-inf'), device=device), diagonal=1) == 0",
    ),
    Idiom(
        "numpy's triu",
        "import numpy\n    late = numpy.triu(numpy.ones((1, seq_len, seq_len)), k=1).astype('uint8')\n"
        "    return (torch.from_numpy(late) == 0)[0].to(device or 'cpu')",
    ),
    Idiom(
        "turned, filled, compared",
        "allowed = (torch.triu(torch.ones(seq_len, seq_len, device=device)) == 1).transpose(0, 1)\n"
        "    added = allowed.float().masked_fill(allowed == 0, float('-inf')).masked_fill(allowed == 1, 0.0)\n"
        "    return added == 0",
    ),
    Idiom(
        "tril_indices",
        "mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)\n"
        "    query, key = torch.tril_indices(seq_len, seq_len, device=device)\n"
        "    mask[query, key] = True\n    return mask",
    ),
    Idiom(
        "two tables of indices",
        "key = torch.arange(seq_len, device=device).repeat(seq_len, 1)\n    return key <= key.T.contiguous()",
    ),
    Idiom("eye, summed up", "return torch.eye(seq_len, device=device).cumsum(0).bool()"),
    Idiom(
        "nested lists",
        "return torch.tensor([[k <= q for k in range(seq_len)] for q in range(seq_len)], device=device)",
        loops=True,
    ),
    Idiom(
        "pair by pair",
        "mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)\n"
        "    for q in range(seq_len):\n        for k in range(q + 1):\n            mask[q, k] = True\n    return mask",
        loops=True,
    ),
)


def graded(idiom: Idiom, reference: str, folder: Path) -> tuple[str, str]:
    """Return what becomes of one way to write it: the check's status, and what it says."""
    file = folder / "masks.py"
    head = "def causal_mask(seq_len, *, device=None):"
    file.write_text(f"{reference}\n\n{head}\n    {idiom.body}\n", encoding="utf-8")
    command = [KATA, "check", file, "--perf", "--json", "-k", CHECK]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    [check] = [
        check
        for report in json.loads(run.stdout)["katas"]
        for check in report["checks"]
        if check["id"] == CHECK
    ]
    return check["status"], " ".join((check["message"] or "").split())


def is_false(idiom: Idiom, status: str, message: str) -> bool:
    """Return whether a learner would be told what is not so."""
    if not idiom.loops:
        return status == "fail"
    named = "a loop:" in message or "Python itself" in message or "A loop in Python" in message
    return status == "pass" or (status == "fail" and not named)


def main() -> None:
    """Grade all of them, print, and write when asked to."""
    parser = arguments(__doc__)
    parser.add_argument("--times", type=int, default=20, help="gradings of each")
    chosen = parser.parse_args()
    [kata] = [kata for kata in load_pack(ROOT / "katas").katas if kata.slug == "masks"]
    assert kata.solution is not None
    reference = kata.solution.read_text(encoding="utf-8")
    table = Figures(
        "Ways to write a causal mask, under --perf",
        f"Each graded {chosen.times} times by `kata check` on masks, with `--perf`. A way that leaves the pairs to "
        "torch passes, however often it goes over memory; a loop over pairs in Python fails and is told "
        "that it is one.",
        ["causal_mask by", "passed", "failed", "inconclusive", "false reasons"],
    )
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="kata-idioms-") as name:
        for idiom in IDIOMS:
            found = [graded(idiom, reference, Path(name)) for _ in range(chosen.times)]
            counts = Counter(status for status, _ in found)
            false = sum(is_false(idiom, *one) for one in found)
            wrong += false
            table.rows.append(
                [idiom.name, *(str(counts[status]) for status in ("pass", "fail", "skipped")), str(false)]
            )
            print(*table.rows[-1], file=sys.stderr)
    publish(
        [table],
        "curriculum.md",
        "idioms",
        write=chosen.write,
        how=f"`python benchmarks/idioms.py --times {chosen.times}`",
    )
    if wrong:
        raise SystemExit(f"{wrong} false reasons")


if __name__ == "__main__":
    main()
