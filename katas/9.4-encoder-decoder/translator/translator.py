"""9.4.2 A translator: read a sentence as a whole, write another with it, and search for the best one.

B batch, S length of the source, T length of the target, D = d_model, V the size of the target's vocabulary. A boolean
mask is True where attention is allowed.

Next to this file is language.py, with English sentences and their Spanish: `python language.py` prints some. `blocks`
has Encoder and Decoder as you would build them in 9.3.5 and 9.4.1: checking brings it along; to read it,
`kata start translator --given`.

Two stages, each a result by itself: the model and `smoothed_loss`; then `translate`, greedy and with beams. `kata
check` shows which of them are done.

References: Vaswani et al. 2017 (arXiv:1706.03762), sections 3 and 5.4; Wu et al. 2016 (arXiv:1609.08144), section 7.

First step: `smoothed_loss`, as the lesson says under that heading; `kata check translator -k test_plain_loss` then
shows that it is right.
"""

from __future__ import annotations

import torch
from blocks import Decoder, Encoder, causal_mask, padding_mask, sinusoidal_positions  # noqa: F401
from torch import nn


class Translator(nn.Module):
    """Two vocabularies, an encoder, a decoder, and a head that scores every word of the target's vocabulary.

    You choose the names of the parts.

    Args:
        source_vocab, target_vocab: how many words either language has; tokens count from 0.
        d_model, num_heads, d_ff, num_layers: sizes of the encoder, and of the decoder.
        max_len: the longest source and the longest target that must work.
        dropout: share of activations that is dropped in train mode.
        pad_id: the token that is padding, in both languages.

    Attributes:
        pad_id: as given. `translate` needs it.
    """

    def __init__(
        self,
        source_vocab: int,
        target_vocab: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 64,
        dropout: float = 0.0,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        # TODO: two embeddings, positions for the longer of the two texts, an encoder, a decoder, a linear layer. Which
        # of these is not a parameter?
        raise NotImplementedError("Translator.__init__")

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """Read int tokens [B, S]; return the memory [B, S, D]. Padding never changes the vectors at real positions."""
        # TODO: embed, scale by the root of D if you like, add positions, encode. Which tokens must not be attended to?
        raise NotImplementedError("Translator.encode")

    def decode(self, target: torch.Tensor, memory: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        """Score what comes next after each position of the target.

        Args:
            target: int tokens [B, T], what has been written so far, from the first token on.
            memory: [B, S, D], what `encode` has made of the source.
            source: int tokens [B, S]. It says which positions of the memory are padding: no position may attend to
                those.

        Returns:
            logits [B, T, V]: free numbers, no softmax. Those at t depend on target tokens 0 to t and on the whole
            memory.
        """
        # TODO: two masks. Which of them comes from the target, and which from the source?
        raise NotImplementedError("Translator.decode")

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Return decode(target, encode(source), source)."""
        # TODO: one line.
        raise NotImplementedError("Translator.forward")


def smoothed_loss(
    logits: torch.Tensor, targets: torch.Tensor, smoothing: float = 0.1, pad_id: int = 0
) -> torch.Tensor:
    """Score logits by a target that leaves room for all other words.

    Args:
        logits: [B, T, V].
        targets: int [B, T], the word that is right at each position. Do not shift them: the caller has done that.
        smoothing: the share of the target's probability that is spread evenly, smoothing / V to every word, the right
            one included.
        pad_id: targets that are this token do not count.

    Returns:
        A scalar: the mean of -Σ q · log p over all targets that count, of all rows together.
    """
    # TODO: begin with log-probabilities [B, T, V]. What does the sum over q come to, if 1 - smoothing goes to one word
    # and smoothing / V to each?
    raise NotImplementedError("smoothed_loss")


def translate(
    model: nn.Module,
    source: torch.Tensor,
    *,
    bos_id: int,
    eos_id: int,
    max_len: int,
    beams: int = 1,
    length_penalty: float = 0.0,
) -> torch.Tensor:
    """Write a translation of every source with a model, yours or any that has encode, decode and pad_id.

    Begin with bos_id. At each step every hypothesis that has not ended is continued with each word of the vocabulary;
    one that has ended stays as it is. Of all these the `beams` with the best scores are kept, for each source by
    itself. The score of a hypothesis is the sum of the log-probabilities of its words, divided by their number to the
    power of length_penalty; eos_id counts, bos_id does not. The search ends when every hypothesis that is kept has
    ended or has max_len words.

    Args:
        model: may be in train or eval mode, and is left as it was, even if it raises, and so is the recording of
            gradients; nothing is dropped while it translates.
        source: int tokens [B, S]; it is encoded once.
        bos_id: the token that comes before the first word.
        eos_id: the token that ends a translation.
        max_len: how many tokens a translation has at most, eos_id included.
        beams: how many hypotheses are kept. 1 is greedy: always the best next word. It may be more than there are
            continuations; then all of them are kept.
        length_penalty: above 0 it favours longer translations; with 0 the score is the sum.

    Returns:
        int64 [B, L], L <= max_len: for each source the hypothesis with the best score of those kept at the end, without
        bos_id, with its eos_id if it has ended, and with model.pad_id after that.
    """
    # TODO: what do you have to know about a hypothesis? When one is continued in two ways, what has to be copied?
    raise NotImplementedError("translate")
