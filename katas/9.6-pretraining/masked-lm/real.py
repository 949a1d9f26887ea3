"""Gaps in a real text: a masked language model learns the documentation of Python, or a text of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pydoc_data import topics
from typing import Any

import minilm
import torch
from budget import Budget
from mine import Encoder  # noqa: F401 - the model is built on it
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, lines, table, text

try:
    from mine import MaskedLM, hide
except ImportError:  # the learner's do not pass yet: the demo's replace them
    from demo import MaskedLM, hide

NEEDS = ()
SECONDS, BATCH, LONGEST = 90.0, 32, 32
WORDS, GAPS = 2000, 8
"""Words that have a number, and sentences of which one word is hidden at the end."""
PAD, MASK, OTHER = 0, 1, 2
Step = Callable[[str, int, int], None]


def run(step: Step, data: dict[str, str], own: str | None, prompt: str | None) -> list[Exhibit]:
    """Train on sentences with words hidden; show what it puts into gaps."""
    split = [
        minilm.words_of(one)[:LONGEST]
        for one in minilm.sentences_of(own or "\n\n".join(topics.topics.values()))
    ]
    split = [
        split[at] for at in torch.randperm(len(split), generator=torch.Generator().manual_seed(0)).tolist()
    ]
    counts = Counter(word for words in split for word in words).most_common(WORDS)
    vocabulary = ["<pad>", "<mask>", "<other>", *(word for word, _ in counts)]
    number = {word: at for at, word in enumerate(vocabulary)}
    rows = [torch.tensor([number.get(word, OTHER) for word in words]) for words in split]
    tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    cut = max(1, len(tokens) * 9 // 10)
    torch.manual_seed(0)
    model = MaskedLM(len(vocabulary), 96, 4, 192, 2, max_len=LONGEST)
    options: dict[str, Any] = {
        "mask_id": MASK,
        "vocab_size": len(vocabulary),
        "special_ids": (PAD, MASK, OTHER),
    }
    held = hide(tokens[cut:], **options, generator=torch.Generator().manual_seed(2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    budget, seen, done = Budget(SECONDS), 0, 0.0
    generator = torch.Generator().manual_seed(1)
    curve: tuple[list[int], list[float]] = ([], [])
    while done < 1:
        optimizer.param_groups[0]["lr"] = 2e-3 * min(1.0, seen / 50 + 0.02) * (1 - 0.95 * done)
        some = torch.randint(cut, (BATCH,), generator=generator)
        inputs, targets = hide(tokens[some], **options, generator=generator)
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        if bool(loss.isfinite()):  # no word of these sentences was chosen: there is nothing to learn from
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        seen, done = seen + 1, budget.spent()
        if seen % 10 == 1:
            step("training", round(SECONDS * done), round(SECONDS))
        if seen % 50 == 1 or done >= 1:
            curve[0].append(seen)
            curve[1].append(_paid(model, *held))
    counted = _by_counts(tokens[:cut], held[1], len(vocabulary))
    of = "your text" if own else "the documentation of Python"
    return [
        text("A model that fills gaps", f"{cut:,} sentences of {of}, {len(vocabulary):,} words, at most {SECONDS:.0f} "
             f"seconds of processor time, {seen:,} steps. A hidden word costs {curve[1][-1]:.2f} nats; counting "
             f"words alone gets to {counted:.2f}."),
        lines("Hidden words of sentences that it never saw",
              {"model": curve, "counts": (curve[0], [counted] * len(curve[0]))},
              x_axis="steps", y_axis="nats a hidden word"),
        _gaps(model, tokens[cut:], vocabulary, number, prompt),
    ]  # fmt: skip


@torch.no_grad()
def _paid(model: Any, inputs: Tensor, targets: Tensor) -> float:
    return float(F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()))


def _by_counts(tokens: Tensor, targets: Tensor, size: int) -> float:
    shares = torch.bincount(tokens.flatten(), minlength=size).float()
    shares[: OTHER + 1] = 0
    shares = (shares + 0.1) / (shares + 0.1).sum()
    return float(-shares[targets[targets >= 0]].log().mean())


@torch.no_grad()
def _gaps(
    model: Any, tokens: Tensor, vocabulary: list[str], number: dict[str, int], prompt: str | None
) -> Exhibit:
    """Hide one word, and list what the model would put there. In a text of one's own, ___ is the gap."""
    rows = []
    if prompt:
        words = minilm.words_of(prompt.replace("___", " maskmaskmask "))[:LONGEST]
        cases = [
            (
                torch.tensor([MASK if word == "maskmaskmask" else number.get(word, OTHER) for word in words]),
                None,
            )
        ]
    else:
        whole = [one[one != PAD] for one in tokens if int((one > OTHER).sum()) >= 8][:GAPS]
        cases = [
            (one, int((one > OTHER).nonzero()[(3 + 2 * at) % int((one > OTHER).sum())]))
            for at, one in enumerate(whole)
        ]
    for one, place in cases:
        hidden = one.clone()
        places = [place] if place is not None else (one == MASK).nonzero().flatten().tolist()[:1] or [0]
        hidden[places] = MASK
        best = model(hidden[None])[0, places[0]].softmax(-1).topk(3)
        says = ", ".join(f"{vocabulary[int(w)]} {float(p):.0%}" for p, w in zip(*best, strict=True))
        said = " ".join(
            "___" if at in places else vocabulary[int(word)] for at, word in enumerate(hidden.tolist())
        )
        rows.append([said, "" if place is None else vocabulary[int(one[place])], says])
    return table("Gaps, and what it would say", ["sentence", "was", "the model's best three"], rows)
