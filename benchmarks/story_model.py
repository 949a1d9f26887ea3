"""Train the small model that 9.8.1 gives to learners, and measure it against models that count: katas/given/story.*.

    python benchmarks/story_model.py            train anew, write katas/given/story.safetensors, print the losses
    python benchmarks/story_model.py --losses   of the weights that are there

It takes twenty to forty minutes on one core. One thread, one seed: the same processor and torch make the same file.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "katas" / "given"), str(ROOT / "solutions/9.8-modern-variants/modern-block")]

import story  # noqa: E402
import torch  # noqa: E402
from modern_block import ModernLM  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from torch import Tensor  # noqa: E402
from torch.nn import functional as F  # noqa: E402

ROUNDS = ((1500, 3e-3), (1500, 2e-3))
"""Steps and greatest rate of each round. In the first one the model learns the grammar, and begins to copy names."""
WARMUP = 100
ROWS, LENGTH = 16, 384
READ, ASKED = 2000, 100
"""Stories that the counts are taken from, and new ones that every model is asked about."""
ORDERS = (1, 2, 3, 5, 8)


def main() -> None:
    """Train or not, then print the losses."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--losses", action="store_true", help="do not train")
    torch.set_num_threads(1)
    if not parser.parse_args().losses:
        file = ROOT / "katas" / "given" / "story.safetensors"
        save_file(trained(), file)
        file.chmod(0o644)  # made for its owner alone; workers may be other users
    for name, loss in losses().items():
        print(f"{name:24} {loss:.3f} nats a character")


def trained() -> dict[str, Tensor]:
    """Return the weights of a model that has read stories: a window of them in every row, never one twice."""
    torch.manual_seed(0)
    model = ModernLM(**story.SIZES)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2:
            # The sums into the stream begin small, the others as wide as their inputs ask for.
            torch.nn.init.normal_(parameter, std=0.02 if "w_o" in name or "linear2" in name else 0.08)
    for number in range(len(ROUNDS)):
        train(model, number)
    return {name: tensor.contiguous() for name, tensor in model.state_dict().items()}


def train(model: ModernLM, number: int) -> None:
    """Train for a round, with an optimizer of its own."""
    steps, peak = ROUNDS[number]
    before = sum(count for count, _ in ROUNDS[:number])
    matrices = [p for p in model.parameters() if p.ndim == 2]
    norms = [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": norms, "weight_decay": 0.0}], betas=(0.9, 0.95)
    )
    generator = torch.Generator().manual_seed(1 + number)
    for step in range(steps):
        rate = min((step + 1) / WARMUP, 0.02 + 0.98 * (1 + math.cos(math.pi * step / steps)) / 2)
        for group in optimizer.param_groups:
            group["lr"] = peak * rate
        rows = batch(before + step, generator)
        logits, _ = model(rows[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0 or step == steps - 1:
            print(f"step {before + step:5}  loss {loss.item():.3f}", flush=True)


def batch(step: int, generator: torch.Generator) -> Tensor:
    """Return [ROWS, LENGTH + 1]: each row begins somewhere in a story of its own and goes on into the next."""
    rows = []
    for row in range(ROWS):
        text = story.text(2 * (step * ROWS + row), 2)
        start = int(torch.randint(len(text) - LENGTH, (), generator=generator))
        begin = 0 if row % 2 else start  # every second row begins where a story does
        rows.append(story.encode(text[begin : begin + LENGTH + 1]))
    return torch.stack(rows)


def losses() -> dict[str, float]:
    """Return what each model pays for a character of stories that it has not read."""
    read = story.text(0, READ)
    asked = [story.story(story.HELD_OUT + number) + "\n" for number in range(ASKED)]
    found = {f"{order}-gram": story.ngram_loss(read, asked, order) for order in ORDERS}
    model = ModernLM(**story.SIZES)
    model.load_state_dict(story.weights())
    total = pieces = 0.0
    with torch.no_grad():
        for text in asked:
            tokens = story.encode(text)
            logits, _ = model(tokens[None, :-1])
            total += float(F.cross_entropy(logits[0], tokens[1:], reduction="sum"))
            pieces += len(text) - 1
    return {"uniform": math.log(len(story.CHARACTERS)), **found, "the model": total / pieces}


if __name__ == "__main__":
    main()
