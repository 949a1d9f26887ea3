"""9.6.4 Preferences: from answers that people wrote, compared or that a program can verify, to what a model learns.

B rows, T tokens in each: a prompt, and then an answer. V words, G groups of N answers to one prompt.

A logit at place t - 1 predicts the token at place t; nothing predicts the token at place 0, so it never counts. A place
that does not count has no influence on a result or on a gradient, whatever is there: a token outside the table, such as
-100, or one whose probability is 0.

References: Ouyang et al. 2022 (arXiv:2203.02155), learning from answers and comparisons; Rafailov et al. 2023
(arXiv:2305.18290), DPO, equation 7; Schulman et al. 2017 (arXiv:1707.06347), the clipped ratio; Shao et al. 2024
(arXiv:2402.03300), GRPO, equation 3 without its penalty.

First step: `sft_loss`, as the lesson says under that heading; `kata check preferences -k test_sft` then shows that it
is right.
"""

from __future__ import annotations

import torch


def sft_loss(logits: torch.Tensor, tokens: torch.Tensor, prompt_length: int | torch.Tensor) -> torch.Tensor:
    """Return how surprised the model is by the answers: the mean of -log p over all their tokens.

    The mean is over the tokens of all answers together, so a long answer counts more than a short one. The tokens of a
    prompt are not learned.

    Args:
        logits: float [B, T, V].
        tokens: int64 [B, T].
        prompt_length: how many tokens of each row are its prompt, 0 to T: an int for all rows, or int64 [B]. The answer
            is the rest of the row.

    Returns:
        a tensor without axes, of the logits' dtype. Where no token counts it is 0, and so is its gradient.

    Raises:
        ValueError: a prompt_length is below 0 or above T, or a token that counts is below 0 or not below V: the message
            names the value and what was expected. Or shapes do not fit: there is no broadcasting.
    """
    # TODO 1: which places count, [B, T]? Refuse a prompt_length for which there is no answer to that.
    # TODO 2: the log-probability of each token that counts. Which logits predict it?
    # TODO 3: the mean. What if nothing counts?
    raise NotImplementedError("sft_loss")


def sequence_logps(logits: torch.Tensor, tokens: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of each row's kept tokens: a sum, not a mean.

    Args:
        logits: float [B, T, V].
        tokens: int64 [B, T].
        keep: bool [B, T], True at the tokens of the answer, False at the prompt's and at padding. What it says of place
            0 is without effect.

    Returns:
        [B], of the logits' dtype; 0 for a row of which nothing is kept.

    Raises:
        ValueError: a token that counts is below 0 or not below V: the message names it and what was expected. Or shapes
            do not fit: there is no broadcasting.
    """
    # TODO 1: the same log-probabilities as in sft_loss, so a function that both call is worth its lines.
    # TODO 2: the sum of each row.
    raise NotImplementedError("sequence_logps")


def dpo_loss(
    chosen: torch.Tensor,
    rejected: torch.Tensor,
    reference_chosen: torch.Tensor,
    reference_rejected: torch.Tensor,
    beta: float,
) -> torch.Tensor:
    """Return how far the model is from preferring the chosen answers, by comparison with a reference model.

    Of each pair it is -log sigmoid(beta · margin), where the margin is how much more than the reference the model
    prefers the chosen answer: (chosen - reference_chosen) - (rejected - reference_rejected).

    Args:
        chosen, rejected: float [B], what `sequence_logps` returns for the model that learns.
        reference_chosen, reference_rejected: float [B], the same of the reference; no gradient reaches them.
        beta: above 0.

    Returns:
        a tensor without axes, of the dtype of `chosen`: the mean over the pairs; log 2 where the model is the
        reference. It and its gradients are finite and right for any margin, such as 10,000 or -10,000.

    Raises:
        ValueError: beta is not above 0: the message names it. Or the four shapes differ, or are not [B].
    """
    # TODO 1: refuse; then the margin of each pair.
    # TODO 2: -log sigmoid, in a form in which no exp overflows.
    raise NotImplementedError("dpo_loss")


def group_advantages(rewards: torch.Tensor) -> torch.Tensor:
    """Return how much better each answer is than the others of its group.

    An advantage is (reward - mean) / deviation. Mean and standard deviation are those of the group, both divided by N,
    and nothing is added to the deviation: rewards a million times smaller give the same advantages.

    Args:
        rewards: [G, N], float, integer or bool: N answers to each of G prompts.

    Returns:
        [G, N], of the rewards' dtype, or float32 if they are integers or bool. It is exactly 0 where all rewards of a
        group are equal, whatever they are. No gradient reaches the rewards.

    Raises:
        ValueError: rewards do not have two axes.
    """
    # TODO 1: which groups are all equal? Does their mean, as it is computed, equal each of them?
    # TODO 2: mean and deviation of each group; what may a group that is all equal be divided by?
    raise NotImplementedError("group_advantages")


def grpo_loss(
    logps: torch.Tensor, old_logps: torch.Tensor, advantages: torch.Tensor, keep: torch.Tensor, clip: float
) -> torch.Tensor:
    """Return the clipped loss of answers that the model, as it was, wrote itself.

    Of each token it is -min(ratio · A, clipped · A). A is the advantage of the token's row. The ratio is that of the
    token's probability to what it was when the answer was written, exp(logps - old_logps); clipped is the same ratio
    brought into the range from 1 - clip to 1 + clip.

    The loss is the mean over each row's kept tokens, and then over the rows that keep something: so an answer counts
    the same however long it is.

    Args:
        logps: float [B, T], the log-probability of each token by the model that learns.
        old_logps: float [B, T], the same when the answers were written; no gradient reaches them.
        advantages: float [B], one for each row; no gradient reaches them.
        keep: bool [B, T], True at the tokens of the answer; here place 0 counts like any other. What is not kept has no
            influence on the loss or on its gradients, even where it is infinite or NaN.
        clip: above 0 and below 1.

    Returns:
        a tensor without axes, of the dtype of `logps`. Where nothing is kept it is 0, and so is its gradient.

    Raises:
        ValueError: clip is not above 0 and below 1: the message names it. Or shapes do not fit: there is no
            broadcasting.
    """
    # TODO 1: refuse; then the ratio of each token. What happens to a NaN that is masked after exp, backward?
    # TODO 2: the smaller of two products. On which side does clipping act if A is negative?
    # TODO 3: two means. What does a row that keeps nothing count for?
    raise NotImplementedError("grpo_loss")
