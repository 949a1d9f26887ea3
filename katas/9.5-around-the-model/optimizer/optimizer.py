"""9.5.2 AdamW, clipping, warm-up: what happens between a gradient and a step.

References: Loshchilov and Hutter 2017 (arXiv:1711.05101); Kingma and Ba 2014 (arXiv:1412.6980); Pascanu et al. 2012
(arXiv:1211.5063).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch


def clip_gradients(parameters: Iterable[torch.nn.Parameter], max_norm: float) -> float:
    """Scale all gradients by one factor, so that their common norm is at most max_norm.

    Args:
        parameters: may be a generator, such as model.parameters(). Those without a gradient are passed over.
        max_norm: the norm that is not exceeded. Gradients are changed in place, by a factor of max_norm / norm without
            an epsilon; below it they stay as they are. Parameters are not touched.

    Returns:
        a Python float: the norm of all gradients together, as it was before; 0.0 when there are none.
    """
    # TODO: parameters may be a generator: how often can you go through it? One norm for all, then one factor for all.
    raise NotImplementedError("clip_gradients")


class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay.

    Args:
        params: parameters, or groups: dicts with "params" and whatever differs from the options below.
        lr: the learning rate.
        betas: how much of the first and of the second moment stays, each step.
        eps: added to the root of the second moment.
        weight_decay: the share, times lr, of a parameter that goes at each step.

    Whatever a step has to remember of a parameter is in self.state[parameter], so that `state_dict` holds it.
    """

    def __init__(
        self,
        params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        # TODO: torch.optim.Optimizer takes the parameters and a dict of defaults, and makes self.param_groups of them.
        raise NotImplementedError("AdamW.__init__")

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient, in place; the gradients stay as they are.

        A parameter without a gradient stays as it is, does not decay, and its steps are not counted. The options are
        those that are in the parameter's group at this moment.
        """
        # TODO: for every group, for every parameter with a gradient: count, update both moments, correct them by this
        # count, decay, move. What does the first step find in self.state?
        raise NotImplementedError("AdamW.step")


def warmup_cosine(step: int, *, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """Return the learning rate at a step.

    Args:
        step: from 0 on.
        warmup: from 0 at step 0 the rate rises linearly to peak at step = warmup; without any it begins with peak.
        total: from peak it falls by half a cosine to floor at step = total; above warmup. After it: floor.
        peak, floor: the greatest rate, and the last one.

    Returns:
        a Python float.
    """
    # TODO: three ranges: before warmup, up to total, after it. In which of them does each border lie?
    raise NotImplementedError("warmup_cosine")
