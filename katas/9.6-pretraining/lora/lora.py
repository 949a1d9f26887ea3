"""9.6.3 LoRA: adapt a frozen model by differences of low rank.

I and O are the numbers of inputs and outputs of a linear layer, r is the rank. `[..]` stands for any number of axes.

Reference: Hu et al. 2021 (arXiv:2106.09685), section 4.

First step: `LoRALinear`, as the lesson says under that heading; `kata check lora -k test_new` then shows that a new
one changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import nn


class LoRALinear(nn.Module):
    """A frozen linear layer, and a difference of rank r that learns.

    Args:
        base: nn.Linear from I to O, with or without a bias. Its numbers stay, and its parameters no longer learn.
        r: the rank, at least 1; it may be larger than I or O.
        alpha: a number; the difference is multiplied by alpha / r.

    Attributes:
        base: the linear layer, the same object.
        A: nn.Parameter [r, I]. It begins with random numbers, from a distribution of mean 0 and of a deviation of at
            most 1 / √I.
        B: nn.Parameter [O, r]. It begins with zeros.

    A and B have the dtype and device of the base's weight. All three are all the parameters that there are.

    Raises:
        ValueError: r is below 1. The base has not changed then.
    """

    base: nn.Linear
    A: nn.Parameter
    B: nn.Parameter

    def __init__(self, base: nn.Linear, r: int, alpha: float) -> None:
        super().__init__()
        # TODO 1: refuse a rank below 1, and name it, before anything changes.
        # TODO 2: base, A and B. Which of their parameters should learn?
        raise NotImplementedError("LoRALinear.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return base(x) + alpha / r · x Aᵀ Bᵀ, [.., O], for x [.., I]; base(x) alone while it is merged."""
        # TODO: two narrow products are cheaper than one with B A, which is as large as the weight.
        raise NotImplementedError("LoRALinear.forward")


def inject(model: nn.Module, names: Iterable[str], r: int, alpha: float) -> None:
    """Put a LoRALinear in the place of some linear layers of a model, and freeze all else. Nothing is returned.

    Args:
        model: has no LoRALinear yet.
        names: any iterable, also a generator. Each is the dotted name of an nn.Linear in the model, such as
            "blocks.0.w_q", or the last part of such a name, "w_q", which chooses all layers that are called so; a name
            that is both chooses both. Other modules of these names stay. Without any name the model is frozen, and
            nothing is adapted.
        r, alpha: as in LoRALinear.

    Afterwards A and B are the only parameters that learn. A layer that the model has in several places is one layer:
    if it is chosen by any of its names, the same LoRALinear is put in all these places. Two layers that share only a
    weight are two: each has its own.

    Raises:
        ValueError: there is no nn.Linear of one of the names, or r is below 1. The model has not changed then.
    """
    # TODO 1: look up all names, before anything changes. named_modules leaves out a layer's second place, unless ...
    # TODO 2: freeze the model.
    # TODO 3: make one LoRALinear for each layer, and put it in each of its places. How is a module replaced in the
    # module that holds it?
    raise NotImplementedError("inject")


def merge(model: nn.Module) -> None:
    """Add each difference to its base, so that a layer costs no more than before: for use, not for training.

    `base.weight` of each LoRALinear is W + alpha / r · B A from then on, and the layer returns base(x) alone. What else
    uses the weight W, such as an embedding that is tied to it, keeps W.

    Args:
        model: any module, also a single LoRALinear. A layer that is merged already stays as it is.
    """
    # TODO: keep the old weight for unmerge. Where may a module keep a parameter that is not one of its own?
    raise NotImplementedError("merge")


def unmerge(model: nn.Module) -> None:
    """Undo merge: each base has its old weight again, bit for bit, and is tied to what it was tied to.

    Args:
        model: as in merge. A layer that is not merged stays as it is.
    """
    # TODO: (W + D) - D is not W: a sum is rounded.
    raise NotImplementedError("unmerge")


def adapter_state(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return A and B of each LoRALinear in a model, and nothing else, merged or not.

    Returns:
        copies, which later steps do not change, by their names in model.named_parameters(): "blocks.0.w_q.A". A layer
        in several places is there once.
    """
    # TODO: the model may have other parameters that are called A, so look for the layers.
    raise NotImplementedError("adapter_state")


def load_adapter(model: nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Give the LoRALinears of a model the A and B of a state that adapter_state has returned.

    Args:
        model: one into which the same layers were injected, with the same r; the numbers of its bases may differ. All
            its other parameters stay as they are, and so does its alpha, which is not in the state: inject with the
            same one.
        state: its tensors may have another dtype or device.

    Raises:
        ValueError: a name is missing or unknown, a shape differs, or a layer of the model is merged. The message says
            what is there and what was expected. The model has not changed then.
    """
    # TODO 1: compare all names and shapes, before anything changes.
    # TODO 2: copy.
    raise NotImplementedError("load_adapter")
