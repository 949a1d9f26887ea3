"""9.9.1 A language model from an empty file: the model, its training, its writing, and the log of your runs.

B batch, T length, V the size of the vocabulary. You get these signatures and nothing else; the code inside is up
to you.

Next to this file are story.py, with a grammar of stories, and runs.py. `python runs.py` calls your `train` for every
run of the lesson, writes log.csv, and puts its text at the end of this file, where `training_log` finds it.

References: Radford et al. 2019 (GPT-2); Xiong et al. 2020 (arXiv:2002.04745); Kazemnejad et al. 2023
(arXiv:2305.19466).

First step: `LanguageModel`, as the lesson says under that heading; `kata check language-model-capstone -k test_shapes`
then shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn


class LanguageModel(nn.Module):
    """A decoder-only transformer: each position scores what comes next, from itself and what comes before it.

    Args:
        vocab_size: V; tokens are 0 to V - 1.
        d_model, num_heads, d_ff, num_layers: the sizes. Each layer has attention, then a feed-forward network, with
            parameters of its own.
        max_len: the longest text that must work.
        norm: "first": x + f(norm(x)) around each sublayer, and one norm before the head. "last": norm(x + f(x)).
        positions: whether anything besides the causal mask tells positions apart.

    Attributes:
        max_len: as given. `generate` needs it.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 64,
        norm: str = "first",
        positions: bool = True,
    ) -> None:
        super().__init__()
        # TODO
        raise NotImplementedError("LanguageModel.__init__")

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Score int tokens [B, T]; return logits [B, T, V], free numbers. Those at t depend only on tokens 0 to t."""
        # TODO
        raise NotImplementedError("LanguageModel.forward")


def train(
    tokens: torch.Tensor,
    vocab_size: int,
    steps: int,
    seed: int,
    *,
    norm: str = "first",
    positions: bool = True,
    num_layers: int = 2,
    warmup: int = 20,
) -> tuple[LanguageModel, list[tuple[int, float, float]]]:
    """Train a new LanguageModel to predict the next token, on pieces of a text drawn at random.

    Everything that is not an argument is yours: widths, batch, optimizer, rate, schedule.

    Args:
        tokens: int [N], the text; the model is trained on its device.
        vocab_size: V.
        steps: how many updates; 0 gives the model as it starts.
        seed: what weights and pieces are drawn from. The same seed gives the same run, whatever ran before.
        norm, positions, num_layers: of the model.
        warmup: the rate of step s is s / warmup of the full rate while s < warmup, and the full rate at step warmup. 0:
            step 1 has the full rate. After that it may fall, but never rises above the full rate, which is the same for
            every warmup.

    Returns:
        (model, rows): a row (step, loss, rate) for each step, from 1 on. loss is the mean of -log p over the batch of
        this step, in nats, before its update; rate is what the update uses.
    """
    # TODO
    raise NotImplementedError("train")


def generate(
    model: nn.Module,
    tokens: torch.Tensor,
    count: int,
    *,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Write `count` more tokens after each text, with your model or any that has max_len and gives logits.

    Args:
        model: may be in train or eval mode and is left as it was; it writes in eval mode, without gradients.
        tokens: int [B, T], T >= 1.
        count: how many tokens are added.
        temperature: the logits are divided by it before they are drawn from; 0 takes the best token.
        generator: what is drawn from, each row by itself; None is torch's own.

    Returns:
        int64 [B, T + count]: tokens, then what was written. The model never reads more than the last max_len tokens.
    """
    # TODO
    raise NotImplementedError("generate")


def training_log() -> str:
    """Return the text of log.csv: the header "run,seed,step,loss,rate", then a line for each step that runs.py logs."""
    # TODO: `python runs.py` appends LOG to this file; return it.
    raise NotImplementedError("training_log")
