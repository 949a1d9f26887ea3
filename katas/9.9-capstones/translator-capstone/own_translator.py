"""9.9.2 A translator from an empty file: the model, its training, its search, and the log of your runs.

B batch, S length of the source, T length of the target, V the size of the target's vocabulary. You get these signatures
and nothing else; the code inside is up to you.

Next to this file are language.py, with English sentences and their Spanish, and runs.py. `python runs.py` calls your
`train` for every run of the lesson, writes log.csv, and puts its text at the end of this file, where `training_log`
finds it.

References: Vaswani et al. 2017 (arXiv:1706.03762); Xiong et al. 2020 (arXiv:2002.04745).

First step: `TranslationModel`, as the lesson says under that heading; `kata check translator-capstone -k test_shapes`
then shows that it is right.
"""

from __future__ import annotations

import torch
from torch import nn

PAD, BOS, EOS = 0, 1, 2
"""Tokens of both languages, as language.py has them."""


class TranslationModel(nn.Module):
    """An encoder that reads a sentence as a whole, and a decoder that writes another with it.

    Args:
        source_vocab, target_vocab: how many words either language has; tokens count from 0.
        d_model, num_heads, d_ff: the sizes.
        num_layers: of the encoder, and of the decoder, each layer with parameters of its own.
        max_len: the longest source and the longest target that must work.
        norm: "first": x + f(norm(x)) around each sublayer, and one norm after each stack. "last": norm(x + f(x)).
        positions: whether anything besides the causal mask tells positions apart, in source and target.
        pad_id: the token that is padding. What is at such positions of the source changes nothing.

    Attributes:
        pad_id: as given. `translate` needs it.
    """

    def __init__(
        self,
        source_vocab: int,
        target_vocab: int,
        d_model: int = 48,
        num_heads: int = 4,
        d_ff: int = 96,
        num_layers: int = 1,
        max_len: int = 16,
        norm: str = "first",
        positions: bool = True,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        # TODO
        raise NotImplementedError("TranslationModel.__init__")

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Score what comes next after each position of the target.

        Args:
            source: int tokens [B, S], padding at the end.
            target: int tokens [B, T], what has been written so far, from BOS on.

        Returns:
            logits [B, T, V]: free numbers. Those at t depend on target tokens 0 to t and on the whole source.
        """
        # TODO
        raise NotImplementedError("TranslationModel.forward")


def train(
    source: torch.Tensor,
    target: torch.Tensor,
    source_vocab: int,
    target_vocab: int,
    steps: int,
    seed: int,
    *,
    norm: str = "first",
    positions: bool = True,
    num_layers: int = 1,
    warmup: int = 20,
) -> tuple[TranslationModel, list[tuple[int, float, float]]]:
    """Train a new TranslationModel with teacher forcing, on pairs drawn at random.

    Everything that is not an argument is yours: widths, batch, optimizer, rate, schedule.

    Args:
        source: int [N, S] sentences, padding at the end; the model is trained on its device.
        target: int [N, T] their translations, each with EOS at its end, then padding. The decoder reads BOS and then
            the target up to the word before.
        source_vocab, target_vocab: as above.
        steps: how many updates; 0 gives the model as it starts.
        seed: what weights and pairs are drawn from. The same seed gives the same run, whatever ran before.
        norm, positions, num_layers: of the model.
        warmup: the rate of step s is s / warmup of the full rate while s < warmup, and the full rate at step warmup. 0:
            step 1 has the full rate. After that it may fall, but never rises above the full rate, which is the same for
            every warmup.

    Returns:
        (model, rows): a row (step, loss, rate) for each step, from 1 on. loss is the mean of -log p over the words of
        this step's batch, in nats, before its update: EOS counts, padding does not. rate is what the update uses.
    """
    # TODO
    raise NotImplementedError("train")


def translate(model: nn.Module, source: torch.Tensor, *, max_len: int) -> torch.Tensor:
    """Write a translation of every source, always with the best next word, with your model or any that has pad_id.

    Args:
        model: called as model(source, target). It may be in train or eval mode and is left as it was; it writes in eval
            mode, without gradients.
        source: int tokens [B, S].
        max_len: how many tokens a translation has at most, EOS included.

    Returns:
        int64 [B, L], L <= max_len: without BOS, up to EOS where it was written, and with model.pad_id after that.
    """
    # TODO
    raise NotImplementedError("translate")


def training_log() -> str:
    """Return the text of log.csv: the header "run,seed,step,loss,rate", then a line for each step that runs.py logs."""
    # TODO: `python runs.py` appends LOG to this file; return it.
    raise NotImplementedError("training_log")
