"""Unit 9.4 live: encoder-only, decoder-only and both together, each trained on a task of every kind."""

from __future__ import annotations

import torch
from mine import Decoder, Encoder, causal_mask
from torch import Tensor, nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, choice, heatmap, lines, panel, question, table, text

DIGITS, LENGTH, WIDTH, STEPS, BATCH, TESTED = 10, 5, 32, 160, 48, 200
SLOT, BEGIN = DIGITS, DIGITS + 1
"""Two more tokens: a place to be filled in, and what comes before the first word that is written."""
FAMILIES = ("encoder-only", "decoder-only", "encoder and decoder")
TASKS = {
    "label": "for each digit: does a larger one come later?",
    "go on": "count on from a digit, up or down: both are right",
    "rewrite": "write the digits backwards, each one larger by 1",
}


class Model(nn.Module):
    """One of the three families, with as many layers each; it gives logits [B, T, digits] for what is to be said."""

    def __init__(self, family: str) -> None:
        super().__init__()
        self.family = family
        self.words = nn.Embedding(DIGITS + 2, WIDTH)
        self.places = nn.Embedding(2 * LENGTH + 2, WIDTH)
        self.reader = Encoder(2, WIDTH, 4, 2 * WIDTH)
        self.writer = Decoder(2, WIDTH, 4, 2 * WIDTH) if family == FAMILIES[2] else None
        self.head = nn.Linear(WIDTH, DIGITS)

    def forward(self, source: Tensor, said: Tensor, labels: bool) -> Tensor:
        """Score every word of the answer, given the source [B, S] and what was said before each word [B, T]."""
        if self.writer is not None:
            memory = self.reader(self.embed(source))
            return self.head(self.writer(self.embed(said), memory, causal_mask(said.shape[1])))
        if labels:  # the answer is at the words themselves
            mask = causal_mask(source.shape[1]) if self.family == FAMILIES[1] else None
            return self.head(self.reader(self.embed(source), mask))
        if self.family == FAMILIES[0]:  # every word of the answer is filled in at once
            said = torch.full_like(said, SLOT)
        both = self.embed(torch.cat((source, said), 1))
        mask = causal_mask(both.shape[1]) if self.family == FAMILIES[1] else None
        return self.head(self.reader(both, mask)[:, source.shape[1] :])

    def embed(self, tokens: Tensor) -> Tensor:
        """Return words and places [B, T, D]."""
        return self.words(tokens) + self.places.weight[: tokens.shape[1]]


def demo() -> list[Exhibit]:
    """Return what the unit shows."""
    curves: dict[str, dict[str, tuple[list[int], list[float]]]] = {}
    said: dict[str, dict[str, Tensor]] = {}
    models = {}
    for task in TASKS:
        curves[task], said[task] = {}, {}
        for family in FAMILIES:
            model, curves[task][family], said[task][family] = _train(task, family)
            models[task, family] = model
    return [
        text(
            "Three families, a task of every kind",
            "An encoder alone reads a sequence as a whole and says something about each of its positions (BERT). A "
            "decoder alone continues a text, one word at a time (GPT). Both together read one sequence as a whole and "
            "write another (the first transformer, T5). Below, each family is trained on a task of each kind, for the "
            "same number of steps, on sequences of digits.",
        ),
        _results(curves),
        choice(
            "Training, by task",
            "task",
            {
                f"{task}: {what}": lines(
                    "right answers", curves[task], x_axis="training step", y_axis="% of answers right"
                )
                for task, what in TASKS.items()
            },
            note="An answer is right when every word of it is.",
        ),
        _answers(said),
        _looks(models["rewrite", FAMILIES[2]]),
        _question(),
    ]


def _examples(task: str, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return sources [B, S] and one right answer for each [B, T]."""
    source = torch.randint(DIGITS, (count, LENGTH), generator=generator)
    if task == "label":
        later = source.flip(1).cummax(1).values.flip(1)
        return source, (later > source).long()
    if task == "rewrite":
        return source, (source.flip(1) + 1) % DIGITS
    up = torch.randint(2, (count, 1), generator=generator) * 2 - 1
    return source[:, :1], (source[:, :1] + up * torch.arange(1, LENGTH + 1)) % DIGITS


def _tested(task: str) -> tuple[Tensor, Tensor]:
    """Return what all families are tested with."""
    return _examples(task, TESTED, torch.Generator().manual_seed(2))


def _begun(answer: Tensor) -> Tensor:
    """Return what was said before each word of an answer [B, T]."""
    return torch.cat((torch.full_like(answer[:, :1], BEGIN), answer[:, :-1]), 1)


def _is_right(task: str, source: Tensor, wanted: Tensor, said: Tensor) -> Tensor:
    if task != "go on":
        return (said == wanted).all(1)
    steps = torch.arange(1, LENGTH + 1)
    return torch.stack([(said == (source + way * steps) % DIGITS).all(1) for way in (1, -1)]).any(0)


def _train(task: str, family: str) -> tuple[Model, tuple[list[int], list[float]], Tensor]:
    """Return the model, its right answers by training step, and what it says to the first sources."""
    torch.manual_seed(0)
    model, generator = Model(family), torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(model.parameters())
    source, wanted = _tested(task)
    steps, shares, said = [], [], wanted
    for step in range(STEPS + 1):
        if step % 40 == 0:
            said = _say(model, source, task)
            steps.append(step)
            shares.append(100 * float(_is_right(task, source, wanted, said).float().mean()))
        optimizer.param_groups[0]["lr"] = 5e-3 * min(1.0, (step + 1) / 20, 2 * (1 - step / (STEPS + 1)))
        given, answer = _examples(task, BATCH, generator)
        loss = F.cross_entropy(model(given, _begun(answer), task == "label").flatten(0, 1), answer.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval(), (steps, shares), said


@torch.no_grad()
def _say(model: Model, source: Tensor, task: str) -> Tensor:
    """Draw an answer: at once, or a word after the other where the family writes."""
    generator = torch.Generator().manual_seed(3)

    def draw(logits: Tensor) -> Tensor:
        chances = (5 * logits).softmax(-1)  # cold: what is hardly possible is not drawn
        return chances.flatten(0, 1).multinomial(1, generator=generator).view(logits.shape[:2])

    at_once = model.family == FAMILIES[0] or (task == "label" and model.writer is None)
    said = torch.full((len(source), 1), BEGIN)
    if at_once:
        return draw(model(source, said.expand(-1, LENGTH), task == "label"))
    while said.shape[1] <= LENGTH:
        said = torch.cat((said, draw(model(source, said, task == "label")[:, -1:])), 1)
    return said[:, 1:]


def _results(curves: dict[str, dict[str, tuple[list[int], list[float]]]]) -> Exhibit:
    last = {task: {family: curve[1][-1] for family, curve in of.items()} for task, of in curves.items()}
    labels, go_on = last["label"], last["go on"]
    return table(
        f"Answers right in every word after {STEPS} steps",
        ["task", *FAMILIES],
        [
            [f"{task}: {what}", *(f"{last[task][family]:.0f}%" for family in FAMILIES)]
            for task, what in TASKS.items()
        ],
        note=f"Labels need what comes later: under a causal mask {labels[FAMILIES[1]]:.0f}% are right, without it "
        f"{labels[FAMILIES[0]]:.0f}%. Where more than one answer is right, words that are filled in at once know "
        f"nothing of each other, and {go_on[FAMILIES[0]]:.0f}% agree; words that see what was written before them "
        f"agree in {go_on[FAMILIES[1]]:.0f}%. Where there is only one answer, "
        f"{sum(share >= 95 for share in last['rewrite'].values())} of {len(FAMILIES)} families "
        "find it in at least 95%.",
    )


def _answers(said: dict[str, dict[str, Tensor]]) -> Exhibit:
    rows = []
    for task in TASKS:
        source, wanted = _tested(task)
        for row in range(2):
            answers = [" ".join(map(str, said[task][family][row].tolist())) for family in FAMILIES]
            right = "up or down" if task == "go on" else " ".join(map(str, wanted[row].tolist()))
            rows.append([task, " ".join(map(str, source[row].tolist())), *answers, right])
    return table("What they answer", ["task", "read", *FAMILIES, "right"], rows)


def _looks(model: Model) -> Exhibit:
    """Tell by the gradient from which word of the source each word of the answer comes."""
    source, wanted = _examples("rewrite", 1, torch.Generator().manual_seed(5))
    memory = model.reader(model.embed(source)).detach().requires_grad_()
    scores = model.head(model.writer(model.embed(_begun(wanted)), memory, causal_mask(LENGTH)))[0]
    rows = [
        torch.autograd.grad(best, memory, retain_graph=True)[0][0].norm(dim=-1)
        for best in scores.gather(1, wanted[0, :, None])[:, 0]
    ]
    found = torch.stack(rows)
    found = found / found.sum(-1, keepdim=True)
    back = float(found.flip(1).diagonal().mean())
    return heatmap(
        "Backwards: which word of the source decides each word that is written?",
        [panel("share of the gradient", found, wanted[0].tolist(), source[0].tolist())],
        row_axis="word written",
        column_axis="word read",
        note=f"{back:.0%} of what a word depends on is the word at the same distance from the other end. The order was "
        "not given: cross-attention found it.",
    )


def _question() -> Exhibit:
    return question(
        "Which family writes a text backwards, and what does the decoder alone lack for labels?",
        seen="Answers right in every word",
        answer="Encoder and decoder together. For labels the decoder alone lacks what comes later: under a causal "
        "mask it has not read it.",
    )
