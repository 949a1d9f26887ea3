"""9.8.4 Mixture of experts: a router sends each token to k of E small networks.

B batch, T positions, D = d_model, E = experts. `[..]` stands for any number of axes.

References: Shazeer et al. 2017 (arXiv:1701.06538), the layer; Lepikhin et al. 2020 (arXiv:2006.16668), capacity; Fedus
et al. 2021 (arXiv:2101.03961), the loss that balances, equations 4 to 6; Jiang et al. 2024 (arXiv:2401.04088), a
softmax over the chosen; Dai et al. 2024 (arXiv:2401.06066), shared experts.

First step: `route`, as the lesson says under that heading; `kata check mixture-of-experts -k test_ties` then shows that
it is right.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class Expert(nn.Module):
    """A feed-forward network, as in each layer of a transformer. It is given; the lesson calls it one expert.

    Args:
        d_model: D, the width of what goes in and comes out.
        d_ff: the inner width; it may be smaller than D.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the shape of rows [.., D]; each row is computed by itself."""
        return self.linear2(F.gelu(self.linear1(rows)))


def route(logits: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose the k experts with the largest logits, and say how much each of them counts.

    Args:
        logits: [.., E] float, finite; left as they are.
        k: how many experts, from 1 to E.

    Returns:
        (weights [.., k], experts [.., k]). The experts are int64, from 0; that with the largest logit is first, and of
        equal logits the lower number. The weights are the softmax over the k chosen logits, in the dtype of the logits,
        so they add up to 1.

    Raises:
        ValueError: k is below 1 or above E. The message names k and what was expected.
    """
    # TODO 1: refuse.
    # TODO 2: sort; what does torch promise about equal logits, and when?
    # TODO 3: softmax, over which logits?
    raise NotImplementedError("route")


class MoE(nn.Module):
    """A layer of E experts, of which each token goes to k.

    Args:
        d_model, d_ff: the widths of each Expert.
        experts: E, how many there are to choose from.
        k: how many of them each token goes to, from 1 to E.
        capacity: how many rows each of the E experts takes in a call at most, 1 or more; None: any number.
        shared: how many further experts take every token, 0 or more.

    Attributes:
        router: nn.Linear from D to E, without a bias. Its outputs are the logits.
        experts: nn.ModuleList of E Experts.
        shared: nn.ModuleList of `shared` Experts, which may be empty.

    These are all the parameters, and each Expert has its own.

    Raises:
        ValueError: k is below 1 or above `experts`, capacity is below 1, or shared is negative. The message names the
            value and what was expected.
    """

    router: nn.Linear
    experts: nn.ModuleList
    shared: nn.ModuleList

    def __init__(
        self, d_model: int, d_ff: int, experts: int, k: int, capacity: int | None = None, shared: int = 0
    ) -> None:
        super().__init__()
        # TODO 1: refuse what cannot be.
        # TODO 2: the three parts.
        raise NotImplementedError("MoE.__init__")

    def forward(self, x: torch.Tensor, keep: torch.Tensor | None = None) -> torch.Tensor:
        """Send each token to its experts, and add up what they return.

        Args:
            x: [B, T, D]; left as it is.
            keep: bool [B, T], False at padding; None: there is none.

        Returns:
            [B, T, D]: of each token the sum of its experts' outputs, each times its weight, and of the outputs of all
            shared experts, which count once each. x itself is not added: a residual is outside of the layer.

        Each expert is called at most once, with all its rows [n, D] and with no others; where there are none, not at
        all or with [0, D]. It takes the first `capacity` of the rows that chose it, in the order of the text: batch by
        batch, in each from left to right. What no longer fits contributes 0, and the weights of a token's other experts
        stay as they are. Shared experts have no such limit.

        Padding goes to no expert, takes no room in any of them, and its output is 0, whatever the shared experts say.
        """
        # TODO 1: make a row of each token that is real, [N, D]; route these rows.
        # TODO 2: for each expert: which rows chose it, and with which weight? Which of these fit?
        # TODO 3: add its outputs, times the weights, to the rows that they belong to; then the shared experts.
        raise NotImplementedError("MoE.forward")


def balance_loss(logits: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
    """Measure how unevenly a router spreads its tokens: E · Σᵢ fᵢ · Pᵢ.

    fᵢ is the share of all choices that fell on expert i; Pᵢ is the mean probability of expert i, in a softmax over all
    E logits. No gradient goes through f, which only counts.

    Args:
        logits: [.., E] float; left as they are.
        experts: int64 [.., k], the choices, from 0 to E - 1; the axes in front are those of the logits.

    Returns:
        a tensor without axes, in the dtype of the logits: 1 if all is even, near E if all goes to one expert.
    """
    # TODO 1: P: softmax, and the mean over all axes in front.
    # TODO 2: f: count the choices of each expert, also of those that nobody chose.
    # TODO 3: the sum.
    raise NotImplementedError("balance_loss")
