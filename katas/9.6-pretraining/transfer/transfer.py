"""9.6.2 Transfer: heads for small tasks on a body that was trained on text, and which of its parameters still train.

B batch, T length, D = d_model, L labels, C classes. The output of a body is called hidden, [B, T, D]; a mask, bool [B,
T], is True at real tokens. Each row has at least one real token.

References: Devlin et al. 2018 (arXiv:1810.04805), section 4; Howard and Ruder 2018 (arXiv:1801.06146), section 3.2;
Collobert and Weston 2008, for one body with many heads.

First step: `freeze`, as the lesson says under that heading; `kata check transfer -k freeze` then shows that it is
right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn


class TokenHead(nn.Module):
    """Label each token by its own vector.

    Attributes:
        linear: nn.Linear from D to L, with a bias; there are no other parameters.
    """

    linear: nn.Linear

    def __init__(self, d_model: int, num_labels: int) -> None:
        super().__init__()
        # TODO: one linear layer, with the name that is given above.
        raise NotImplementedError("TokenHead.__init__")

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return logits [B, T, L]. The output at padding is up to you: a loss ignores it."""
        # TODO: nothing depends on the mask.
        raise NotImplementedError("TokenHead.forward")


class SpanHead(nn.Module):
    """Find where an answer begins and where it ends: two scores for each token.

    Attributes:
        linear: nn.Linear from D to 2, with a bias: its first row scores beginnings, its second ends.
    """

    linear: nn.Linear

    def __init__(self, d_model: int) -> None:
        super().__init__()
        # TODO: one linear layer for both scores.
        raise NotImplementedError("SpanHead.__init__")

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of beginnings and of ends, each [B, T], for a softmax over T. Padding gets -inf."""
        # TODO: [B, T, 2] becomes two times [B, T]. Which positions must a softmax never choose?
        raise NotImplementedError("SpanHead.forward")


class RegressionHead(nn.Module):
    """Predict a number for a text from the mean of its real tokens' vectors.

    Attributes:
        linear: nn.Linear from D to 1, with a bias.
    """

    linear: nn.Linear

    def __init__(self, d_model: int) -> None:
        super().__init__()
        # TODO: one linear layer, from D to 1.
        raise NotImplementedError("RegressionHead.__init__")

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return [B]."""
        # TODO: the mean over real tokens first: which sum is divided by which number? And which axis has to be removed
        # at the end?
        raise NotImplementedError("RegressionHead.forward")


class ClassHead(nn.Module):
    """Predict a text's class from the mean of its real tokens' vectors.

    Attributes:
        linear: nn.Linear from D to C, with a bias.
    """

    linear: nn.Linear

    def __init__(self, d_model: int, num_classes: int) -> None:
        super().__init__()
        # TODO: one linear layer, from D to C.
        raise NotImplementedError("ClassHead.__init__")

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return logits [B, C]."""
        # TODO: the same mean as for a number: a function of your own can serve both.
        raise NotImplementedError("ClassHead.forward")


def freeze(module: nn.Module) -> None:
    """Make sure that no parameter of the module trains any more. Gradients still pass through to what lies before it.

    Its numbers stay as they are, and so do train and eval mode, which are another matter.
    """
    # TODO: each parameter has a switch of its own. torch.no_grad would stop more than that.
    raise NotImplementedError("freeze")


def layerwise_groups(layers: Sequence[nn.Module], lr: float, decay: float) -> list[dict[str, Any]]:
    """Make a group of parameters for each layer, in torch.optim's format; lower layers get lower rates.

    Args:
        layers: from the first to the last. No parameter belongs to two of them.
        lr: of the last layer; each earlier one has `decay` times the rate of the one after it.

    Returns:
        One group for each layer, in their order: {"params": its parameters, "lr": its rate}.
    """
    # TODO: how many layers come after layer i? Its rate is lr times decay to that power.
    raise NotImplementedError("layerwise_groups")


class MultiTask(nn.Module):
    """One body and a head for each task.

    Args:
        body: takes tokens [B, T] and returns hidden [B, T, D]; body.pad_id is the token that is padding.
        heads: by the name of the task.

    Attributes:
        body: the body, the same object.
        heads: nn.ModuleDict of the heads, the same objects: together with the body's, their parameters are all there
            are.
    """

    body: nn.Module
    heads: nn.ModuleDict

    def __init__(self, body: nn.Module, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        # TODO: heads has to be an nn.ModuleDict, or the parameters of the heads are not found.
        raise NotImplementedError("MultiTask.__init__")

    def forward(self, tokens: torch.Tensor, task: str) -> Any:
        """Return the output of the task's head for the body's hidden and the mask of real tokens.

        Raises:
            ValueError: there is no such task.
        """
        # TODO: look for the task before anything is computed; then the mask [B, T] from body.pad_id.
        raise NotImplementedError("MultiTask.forward")
