"""9.5.2 AdamW, clipping, warm-up: what happens between a gradient and a step.

References: Loshchilov and Hutter 2017 (arXiv:1711.05101); Kingma and Ba 2014 (arXiv:1412.6980); Pascanu et al. 2012
(arXiv:1211.5063).

First step: `warmup_cosine`, as the lesson says under that heading; `kata check optimizer -k test_warmup` then shows
that it is right.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch


def clip_gradients(parameters: Iterable[torch.nn.Parameter], max_norm: float) -> float:
    """Scale all gradients by one factor, so that their common norm is at most max_norm.

    Args:
        parameters: may be a generator, such as model.parameters(). Those without a gradient are skipped.
        max_norm: the greatest common norm that is allowed. Gradients are changed in place, by a factor of max_norm /
            norm without an epsilon; below it they stay as they are. Parameters are not touched.

    Returns:
        a Python float: the norm of all gradients together, as it was before; 0.0 when there are none. Squares of
        float16 gradients may overflow; their norm does not.
    """
    # TODO: parameters may be a generator: how often can you iterate over it? One norm for all, then one factor for all.
    raise NotImplementedError("clip_gradients")


class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay.

    Args:
        params: parameters, or groups: dicts with "params" and any options that differ from those below.
        lr: the learning rate.
        betas: the share of the first and of the second moment that is kept at each step.
        eps: added to the root of the second moment.
        weight_decay: the share of a parameter, times lr, that it loses at each step.

    Everything that a step has to remember about a parameter is in self.state[parameter], so that `state_dict` holds it.
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
        """Update every parameter that has a gradient, in place; the gradients stay as they are.

        A parameter without a gradient stays as it is, does not decay, and its steps are not counted. Options are read
        from the parameter's group at every step.
        """
        # TODO: for every group, for every parameter with a gradient: count, update both moments, correct them by this
        # count, decay, move. What does the first step find in self.state?
        raise NotImplementedError("AdamW.step")


def warmup_cosine(step: int, *, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """Return the learning rate at a step.

    Args:
        step: from 0 on.
        warmup: from 0 at step 0 the rate rises linearly to peak at step = warmup; with warmup = 0 it begins at peak.
        total: from peak it falls by half a cosine to floor at step = total; above warmup. After it: floor.
        peak, floor: the greatest rate, and the last one.

    Returns:
        a Python float.
    """
    # TODO: three ranges: before warmup, up to total, after it. To which of them does each boundary belong?
    raise NotImplementedError("warmup_cosine")
