"""A model for a submission's training loop, of which the grader itself sees how it is trained.

The submission's word is not asked for: the grader answers every forward and backward pass of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from grader.engine.checks.draw import Draw
from grader.engine.checks.expect import expect
from grader.engine.checks.failure import fail
from grader.engine.checks.stand_ins import STAND_IN
from grader.engine.host.calls import Lent
from grader.engine.host.objects import set_label
from grader.engine.host.remote import context_of

SIZE = 4096
"""Numbers of the probe's parameter: so many that random directions in it are all but orthogonal."""
PROBED = 64
"""Numbers of it more, whose gradients are of different sizes, and as many whose gradients are tiny."""
TINY = 1e-10
"""As a gradient: what divides by the gradient and adds a small number to that makes almost nothing of it."""
SAME = 0.985
"""Optimisers with momentum follow older gradients too, each 0.9 to 0.99 times as much as the next newer one."""

PASSES = 256
"""Forward passes that are answered: many more than a check's few epochs take, and few enough to be looked through."""


@dataclass
class Batch:
    """One forward pass that a backward pass followed."""

    examples: list[int]
    training: bool
    before: Tensor
    """The parameter when the pass began."""
    slope: Tensor
    """The gradient of the loss with respect to its logits, as the submission computed it."""
    direction: Tensor
    """What the check gave as the gradient of the parameter's first numbers: +1 or -1 at random, not known before it was
    asked for."""


class TrainingBooks:
    """A model to be trained, and what has become of it.

    Its logits for the example whose input begins with the number i are row i of `rows`, which are never in the worker;
    gradients of its only parameter are drawn when they are asked for. So neither can be known without going through
    batch after batch, and the way of the parameter tells whose gradients each update followed. Only forward passes that
    a backward pass follows count: looking at the model without training it is allowed.

    Attributes:
        model: the model, to be handed to the submission.
        batches: what it was trained on, in order.
    """

    def __init__(self, submission: Any, draw: Draw, rows: Tensor) -> None:
        self.rows = rows
        self.batches: list[Batch] = []
        self._seen: list[tuple[list[int], bool, Tensor]] = []
        # From the run's draw, so that equal submissions see equal directions.
        self._generator = torch.Generator().manual_seed(draw.size(0, 1 << 40))
        stand_in = context_of(submission).given(STAND_IN)
        start = draw.normal(number=SIZE + 2 * PROBED, scale=0.1)
        self.model = stand_in.StandIn(start, Lent(self._forward), Lent(self._backward))
        set_label(self.model, "the check's model")

    def _forward(self, inputs: Any, training: Any, parameter: Any) -> list[Any]:
        __tracebackhide__ = True
        expect(inputs, "input of the model").is_tensor()
        value: Tensor = inputs
        # Before anything is made of them: a byte for each is enough to ask for a row of numbers.
        if len(self._seen) >= PASSES or (value.ndim and len(value) > len(self.rows)):
            fail("the model was asked for more than training takes")
        examples = (
            value.detach().cpu().reshape(len(value), -1)[:, 0] if value.ndim and value.numel() else None
        )
        if (
            examples is None
            or value.is_complex()
            or not bool(((examples >= 0) & (examples < len(self.rows))).all())
        ):
            fail("wrong input  the model was given others than those handed in")
        expect(parameter, "the parameter").is_tensor(shape=(SIZE + 2 * PROBED,), dtype=torch.float32)
        places = examples.long()
        self._seen.append((places.tolist(), training is True, parameter.detach().cpu().double()))
        return [len(self._seen) - 1, self.rows.detach().cpu()[places].to(value.device)]

    def _backward(self, number: Any, slope: Any) -> Tensor:
        __tracebackhide__ = True
        # The worker's word: a number that was never handed out would read another batch.
        if type(number) is not int or not 0 <= number < len(self._seen):
            fail("wrong gradient  of a forward pass that never was")
        examples, training, before = self._seen[number]
        expect(slope, "gradient of the logits").is_tensor(shape=(len(examples), self.rows.shape[1]))
        # At random for each pass: an update shows by its direction which gradients it followed.
        direction = torch.randint(0, 2, (SIZE + 2 * PROBED,), generator=self._generator).float() * 2 - 1
        sizes = torch.ones(len(direction))
        sizes[SIZE:] = 0.25 + 4 * torch.rand(2 * PROBED, generator=self._generator)
        sizes[-PROBED:] *= TINY
        slopes = slope.detach().cpu().double()
        self.batches.append(Batch(examples, training, before, slopes, direction[:SIZE].double()))
        return (direction * sizes).to(slope.device)

    def updates(self) -> list[Tensor]:
        """Return how the parameter moved after each batch."""
        return [moved[:SIZE] for moved in self._moved()]

    def _moved(self) -> list[Tensor]:
        end: Any = self.model.weight
        expect(end, "the parameter").is_tensor(shape=(SIZE + 2 * PROBED,))
        places = [*(batch.before for batch in self.batches), end.detach().cpu().double()]
        return [after - before for before, after in pairwise(places)]

    def began_anew(self) -> list[int]:
        """Return the updates after the first that an optimizer made which had seen no earlier gradient.

        Adam and its relatives divide a gradient by the sizes of those before it, so by its own size alone in a first
        step: all numbers move alike then, but those whose gradients are as small as what is added to the divisor. What
        goes by signs on purpose moves these, too.
        """
        found = []
        for step, moved in enumerate(self._moved()):
            probed, tiny = moved[SIZE:-PROBED].abs(), moved[-PROBED:].abs()
            least, most = float(probed.min()), float(probed.max())
            if step and 0 < most < 1.1 * least and float(tiny.max()) < 0.9 * least:
                found.append(step)
        return found

    def order(self) -> list[int]:
        """Return the examples in the order in which they were trained on."""
        return [example for batch in self.batches for example in batch.examples]

    def followed(self) -> list[Tensor]:
        """Return, for each update, how far it follows the gradient of each batch so far; 0 is not at all."""
        found = []
        for step, update in enumerate(self.updates()):
            directions = torch.stack([batch.direction for batch in self.batches[: step + 1]], dim=1)
            found.append(-torch.linalg.lstsq(directions, update[:, None]).solution[:, 0])
        return found

    def follows_stale_gradients(self) -> tuple[int, list[int]] | None:
        """Return (update, examples) of the first update that follows gradients from before the one before it."""
        moved = [step for step, update in enumerate(self.updates()) if bool(update.any())]
        followed = self.followed()
        for earlier, last, step in zip(moved, moved[1:], moved[2:], strict=False):
            newest = float(followed[step][last + 1 :].abs().max())
            for old in range(earlier + 1):
                if float(followed[step][old].abs()) >= SAME * newest:
                    return step, sorted(self.batches[old].examples)
        return None

    def follows_wrong_loss(self, labels: Tensor) -> int | None:
        """Return the first batch whose slope is not that of the cross-entropy with its own labels, up to a factor."""
        for place, batch in enumerate(self.batches):
            rows = self.rows.detach().cpu().double()[batch.examples]
            truth = torch.nn.functional.one_hot(labels.cpu()[batch.examples], rows.shape[1])
            right = rows.softmax(dim=1) - truth
            scale = float((batch.slope * right).sum() / (right * right).sum())
            if not (
                # A factor is free, as losses may be means or sums; a sign is not.
                scale > 0
                and float((batch.slope - scale * right).norm()) <= 1e-4 * scale * float(right.norm())
            ):
                return place
        return None
