"""Submissions that tell of a training that never was: the grader believes what it sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

pytestmark = pytest.mark.gate

SOLUTIONS = Path(__file__).parents[2] / "solutions/9.3-encoder-vs-decoder"
BY_HAND = '''

def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
    """Train nothing: write down what a probe might have seen."""
    size = len(tokens)
    for _ in range(epochs):
        batches = torch.randperm(size, generator=generator).split(batch_size)
        for name, rows in (
            ("batches", [batch.tolist() for batch in batches]),
            ("training_modes", [True] * len(batches)),
            ("updated", [True] * len(batches)),
            ("stale", [[] for _ in batches]),
        ):
            object.__setattr__(model, name, [*getattr(model, name, []), *rows])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += lr * torch.randn_like(parameter)
        logits = model(tokens)
        return [float(cross_entropy(logits, labels))] * epochs
'''
LYING_MODE = '''

def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None, right=fit):
    """Train in eval mode, and let the model say otherwise."""
    kind = type(model)
    model.eval()
    train, nn.Module.train = nn.Module.train, lambda self, mode=True: self
    kind.training = property(lambda self: True, lambda self, value: None)
    try:
        return right(model, tokens, labels, epochs=epochs, batch_size=batch_size, lr=lr, generator=generator)
    finally:
        nn.Module.train = train
        del kind.training
'''
NOISE = '''

def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
    """Ask for everything, and let the parameters go anywhere."""
    model.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
            loss = cross_entropy(model(tokens[batch]), labels[batch])
            loss.backward()
            total += loss.item() * len(batch)
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter += lr * torch.randn_like(parameter)
        losses.append(total / len(tokens))
    return losses
'''
LABELS_MADE_UP = '''

def fit(model, tokens, labels, *, right=fit, **options):
    """Train on other labels, and return the losses of the right ones."""
    right(model, tokens, (labels + 1) % (1 + int(labels.max())), **options)
    model.train()
    with torch.no_grad():
        return [float(cross_entropy(model(tokens), labels))] * options.get("epochs", 10)
'''
TITLES = {
    "losses": "fit returns each epoch's mean cross-entropy per example, as a list of floats",
    "every": "every epoch trains on every example once, in batches of batch_size and a shorter last one",
    "own": "each update follows the gradient of its own batch and its own labels alone",
    "updates": "every batch moves the parameters, and by how much is up to lr",
    "mode": "all of it happens in train mode",
    "order": "the order comes from the generator and from nothing else",
}


@pytest.mark.parametrize(
    ("trick", "failing"),
    [
        (BY_HAND, {"every", "updates", "mode", "order"}),
        (LYING_MODE, {"mode"}),
        (NOISE, {"updates"}),
        (LABELS_MADE_UP, {"own"}),
    ],
    ids=["books by hand", "lying mode", "noise", "made-up labels"],
)
def test_a_training_that_never_was(kata: Run, folder: Path, trick: str, failing: set[str]) -> None:
    file = folder / "classifier.py"
    file.write_text((SOLUTIONS / "classifier/classifier.py").read_text() + trick)
    (report,) = kata("check", file, "-k", "fit", "--json").json["katas"]
    failed = {check["name"] for check in report["checks"] if check["status"] != "pass"}
    assert {TITLES[name] for name in failing} <= failed


GENERATE = '''

class Posed(torch.nn.Module):
    pass


def generate(model, *arguments, right=generate, **options):
    """Leave gradients off and the model in eval mode, and let both say otherwise."""
    found = right(model, *arguments, **options)
    model.eval()
    type(model).training = property(lambda self: True, lambda self, value: None)
    torch.set_grad_enabled(False)
    torch.is_grad_enabled = lambda: True
    return found
'''


def test_modes_that_are_only_told(kata: Run, folder: Path) -> None:
    file = folder / "decoder_lm.py"
    file.write_text((SOLUTIONS / "decoder-lm/decoder_lm.py").read_text() + GENERATE)
    (report,) = kata("check", file, "-k", "restored", "--json").json["katas"]
    assert [check["status"] for check in report["checks"]] == ["fail"]
