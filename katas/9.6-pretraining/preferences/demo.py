"""Preferences live: a small model imitates careless people, then learns from pairs and from rewards."""

from __future__ import annotations

import copy
from collections import Counter

import torch
from mine import Encoder, causal_mask, sinusoidal_positions
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, lines, question, table

try:
    from mine import dpo_loss, group_advantages, grpo_loss, sequence_logps, sft_loss
except ImportError:  # the learner's do not pass yet: others take their place, in which nothing is refused

    def sft_loss(logits: Tensor, tokens: Tensor, prompt_length: int) -> Tensor:
        """Learn the answers."""
        return F.cross_entropy(logits[:, prompt_length - 1 : -1].mT, tokens[:, prompt_length:])

    def sequence_logps(logits: Tensor, tokens: Tensor, keep: Tensor) -> Tensor:
        """Add up what is kept."""
        return -(F.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none") * keep[:, 1:]).sum(1)

    def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta) -> Tensor:  # type: ignore[no-untyped-def]
        """Compare two differences."""
        return F.softplus(beta * (rejected - reference_rejected - chosen + reference_chosen)).mean()

    def group_advantages(rewards: Tensor) -> Tensor:
        """Compare within groups; only for rewards of 0 and 1."""
        deviation, mean = torch.std_mean(rewards.float(), -1, correction=0, keepdim=True)
        return (rewards - mean) / deviation.clamp(min=1e-6)

    def grpo_loss(logps: Tensor, old_logps: Tensor, advantages: Tensor, keep: Tensor, clip: float) -> Tensor:
        """Clip what has moved far enough."""
        ratio, A = (logps - old_logps).exp(), advantages[:, None]
        worth = torch.where(A > 0, ratio.clamp(max=1 + clip), ratio.clamp(min=1 - clip)) * A
        return -((worth * keep).sum(1) / keep.sum(1)).mean()


SIGNS, CLOSES, END = " .([)]", {"(": ")", "[": "]"}, 1
"""The vocabulary, nothing first; which bracket closes which; what ends an answer."""
PROMPT, LENGTH, CARELESS, STEPS = 6, 13, 0.2, 300
"""Tokens of a prompt and of all; how often people guess; for how long the model imitates them."""
ROUNDS, PROMPTS, GROUP, EPOCHS, CLIPS, BOUND = 24, 32, 8, 8, (0.2, 0.9), 0.05
"""GRPO: rounds, prompts and answers to each, steps with the same answers; a bound on what a round changes."""
PAIRS, BETA, SHOWN, NEW, DRAWN = 256, 0.5, (0, 2, 4, 8, 16, 24), 256, 64
"""DPO: pairs and beta. Rounds that are shown, prompts that are new, answers to each of those that are shown."""


class Closer(nn.Module):
    """Predicts the next sign: the encoder of 9.3.5 under a causal mask."""

    def __init__(self) -> None:
        super().__init__()
        self.signs, self.head = nn.Embedding(len(SIGNS), 32), nn.Linear(32, len(SIGNS))
        self.encoder = Encoder(2, 32, 4, 64)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits [B, T, V]."""
        x = self.signs(tokens) + sinusoidal_positions(tokens.shape[1], 32)
        return self.head(self.encoder(x, causal_mask(tokens.shape[1])))


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    draw = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    imitator = Closer()
    optimizer = torch.optim.Adam(imitator.parameters(), lr=0.005)
    for _ in range(STEPS):
        texts = _texts(128, draw, CARELESS)
        _take(optimizer, sft_loss(imitator(texts), texts, PROMPT))
    runs = {clip: _practised(copy.deepcopy(imitator), clip) for clip in CLIPS}
    (practised, rewards, moved, frames), (_, _, freely, _) = runs.values()
    paired, curves = _paired(copy.deepcopy(imitator), imitator)
    rounds, (chosen, rejected, margin) = range(1, ROUNDS + 1), (values[-1] for _, values in curves.values())
    below = "below" if max(moved) < BOUND else "not below"
    return [
        choice("What GRPO makes of it", "round", frames, start=len(SHOWN) - 1, slider=True,
               note=f"The most frequent of {DRAWN} answers, and how many of them are right."),
        lines("Rewards, round by round", {f"clip {clip:g}": (rounds, run[1]) for clip, run in runs.items()},
              x_axis="round", y_axis="mean reward",
              note="A reward is 1 if all brackets are closed in the right order, and else 0; no answer is shown. "
              f"With a clip of {CLIPS[0]:g} it goes from {rewards[0]:.2f} in the first round to {rewards[-1]:.2f}."),
        lines("How far a round moves the model", {f"clip {clip:g}": (rounds, run[2]) for clip, run in runs.items()}
              | {"bound": ([1, ROUNDS], [BOUND, BOUND])}, x_axis="round", y_axis="KL to the old policy, nats a token",
              note=f"After {EPOCHS} steps with the same answers. With a clip of {CLIPS[0]:g} it is at most "
              f"{max(moved):.3f}, {below} the bound; with {CLIPS[1]:g}, which hardly clips, up to {max(freely):.3f}."),
        lines("Pairs that DPO did not learn from: log-probabilities next to the reference's", curves, x_axis="step",
              y_axis="nats", note=f"The margin, chosen minus rejected, ends at {margin:.1f}: the chosen answers "
              f"have moved by {chosen:+.1f}, the rejected ones by {rejected:+.1f}."),
        _compared({"imitates": imitator, "DPO": paired, "GRPO": practised}),
        _question(),
    ]  # fmt: skip


def _question() -> Exhibit:
    return question(
        "The people whom it imitates guess at one sign in five. How can it become better than they are, although "
        "nobody shows it better answers?",
        seen="Right answers to new prompts",
        answer="Some of its own answers are right, by chance. Pairs and rewards say which, and the probability goes "
        "there. If no answer of a group were right, all its advantages would be 0, and it would learn nothing.",
    )


def _texts(count: int, draw: torch.Generator, careless: float = 0.0) -> Tensor:
    """Return prompts with their answers, by people who err now and then."""
    rows = []
    for chances in torch.rand(count, LENGTH + PROMPT, generator=draw).tolist():
        text, opened = "", ""
        for chance in chances[:PROMPT]:
            if opened and chance > 0.7:
                text, opened = text + CLOSES[opened[-1]], opened[:-1]
            else:
                bracket = "(" if chance * 100 % 1 < 0.5 else "["
                text, opened = text + bracket, opened + bracket
        for sign, chance in zip([*(CLOSES[b] for b in opened[::-1]), "."], chances[PROMPT:], strict=False):
            text += sign if chance >= careless else ".)]"[int(3 * chance / careless)]
            if text[-1] == ".":
                break
        rows.append([SIGNS.index(sign) for sign in text.ljust(LENGTH)])
    return torch.tensor(rows)


def _take(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@torch.no_grad()
def _written(model: nn.Module, texts: Tensor, draw: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Answer the prompts of texts; return the tokens, where the answers are, and which of them are right."""
    tokens = texts[:, :PROMPT]
    while tokens.shape[1] < LENGTH:
        drawn = model(tokens)[:, -1].softmax(-1).multinomial(1, generator=draw)
        ended = (tokens[:, PROMPT:] == END).any(1, keepdim=True)
        tokens = torch.cat((tokens, drawn.masked_fill(ended, 0)), 1)
    is_end = tokens == END
    keep = (torch.arange(LENGTH) >= PROMPT) & (is_end.cumsum(1) - is_end.long() == 0)
    return tokens, keep, (tokens == texts).all(1)


def _practised(model: nn.Module, clip: float) -> tuple[nn.Module, list[float], list[float], dict[int, Exhibit]]:
    """Take rounds of GRPO; return the model, its rewards, how far each round moved it, and what it wrote."""
    draw, optimizer = torch.Generator().manual_seed(1), torch.optim.Adam(model.parameters(), lr=0.0002)
    rewards, moved, frames = [], [], {0: _answers(model)}
    for number in range(1, ROUNDS + 1):
        tokens, keep, right = _written(model, _texts(PROMPTS, draw).repeat_interleave(GROUP, 0), draw)
        advantages = group_advantages(right.float().view(PROMPTS, GROUP)).flatten()
        old = model(tokens).detach().log_softmax(-1)
        for _ in range(EPOCHS):
            logps = model(tokens).log_softmax(-1)
            now, before = (values[:, :-1].gather(-1, tokens[:, 1:, None])[..., 0] for values in (logps, old))
            _take(optimizer, grpo_loss(now, before, advantages, keep[:, 1:], clip))
        with torch.no_grad():
            new = model(tokens).log_softmax(-1)
        moved.append(float((old.exp() * (old - new)).sum(-1)[:, :-1][keep[:, 1:]].mean()))
        rewards.append(float(right.float().mean()))
        if number in SHOWN:
            frames[number] = _answers(model)
    return model, rewards, moved, frames


def _answers(model: nn.Module) -> Exhibit:
    """Show what a model mostly answers to four prompts."""
    draw, rows = torch.Generator().manual_seed(2), []
    for text in _texts(4, draw):
        tokens, _, right = _written(model, text.expand(DRAWN, -1), draw)
        words = Counter("".join(SIGNS[sign] for sign in row[PROMPT:].tolist()).strip() for row in tokens)
        prompt = "".join(SIGNS[sign] for sign in text[:PROMPT].tolist())
        rows.append([prompt, words.most_common(1)[0][0], f"{int(right.sum())} of {DRAWN}"])
    return table("answers", ["prompt", "most frequent answer", "right"], rows)


def _paired(model: nn.Module, reference: nn.Module) -> tuple[nn.Module, dict[str, tuple[range, list[float]]]]:
    """Learn from pairs of the reference's own answers, one right and one wrong; return what other pairs show."""
    draw, optimizer = torch.Generator().manual_seed(3), torch.optim.Adam(model.parameters(), lr=0.001)
    tokens, keep, right = _written(reference, _texts(4 * PAIRS, draw).repeat_interleave(GROUP, 0), draw)
    groups = right.long().view(-1, GROUP)
    mixed = (groups.amax(1) > groups.amin(1)).nonzero()[: 2 * PAIRS, 0]
    both = torch.cat([mixed * GROUP + found[mixed] for found in (groups.argmax(1), groups.argmin(1))])
    tokens, keep = tokens[both], keep[both]
    with torch.no_grad():
        fixed = sequence_logps(reference(tokens), tokens, keep).view(2, -1)
    curves: dict[str, tuple[range, list[float]]] = {name: (range(61), []) for name in ("chosen", "rejected", "margin")}
    for _ in curves["margin"][0]:
        logps = sequence_logps(model(tokens), tokens, keep).view(2, -1)
        up, down = (logps - fixed)[:, PAIRS:].detach().mean(1).tolist()
        for (_, values), value in zip(curves.values(), (up, down, up - down), strict=True):
            values.append(value)
        _take(optimizer, dpo_loss(*logps[:, :PAIRS], *fixed[:, :PAIRS], BETA))
    return model, curves


def _compared(models: dict[str, nn.Module]) -> Exhibit:
    """Count right answers to new prompts."""
    careless, texts = (_texts(NEW, torch.Generator().manual_seed(4), rate) for rate in (CARELESS, 0.0))
    right = {"careless people": (careless == texts).all(1)}
    for name, model in models.items():
        right[name] = _written(model, texts, torch.Generator().manual_seed(5))[2]
    shares = [float(answers.float().mean()) for answers in right.values()]
    return bars("Right answers to new prompts", list(right), {"share": shares}, y_axis="share",
                note="One answer to each is drawn. DPO and GRPO begin with the model that imitates.")  # fmt: skip
