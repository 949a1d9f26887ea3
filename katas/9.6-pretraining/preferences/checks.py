"""Checks of 9.6.4. What is right is computed token by token, row by row, in the words of the equations."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from grader.checks import Part, check, expect, expect_gradients, expect_raises, fail, oracle, with_axes

FLOATS = [torch.float64, torch.bfloat16]


# --- what is right ---


def right_logps(logits, tokens, keep):
    """Return the sum of the kept log-probabilities of each row."""
    sums = []
    for row, words, kept in zip(logits, tokens, keep.to(logits.device), strict=True):
        places = [place for place in range(1, len(words)) if kept[place]]
        before = torch.tensor([place - 1 for place in places], dtype=torch.int64, device=row.device)
        picked = row[before].log_softmax(-1).gather(-1, words.to(row.device)[before + 1][:, None])
        sums.append(picked.sum())
    return torch.stack(sums)


def right_sft(logits, tokens, prompt_length):
    first = torch.as_tensor(prompt_length, device=logits.device).expand(len(tokens))
    keep = torch.arange(tokens.shape[1], device=logits.device) >= first[:, None]
    return -right_logps(logits, tokens, keep).sum() / max(int(keep[:, 1:].sum()), 1)


def right_dpo(chosen, rejected, reference_chosen, reference_rejected, beta):
    margin = (chosen - reference_chosen.detach()) - (rejected - reference_rejected.detach())
    return F.softplus(-beta * margin).mean()


def right_advantages(rewards):
    rewards = rewards.detach() if rewards.is_floating_point() else rewards.float()
    deviation = rewards.std(-1, correction=0, keepdim=True)
    same = (rewards == rewards[:, :1]).all(-1, keepdim=True)
    return torch.where(same, 0.0, (rewards - rewards.mean(-1, keepdim=True)) / deviation)


def right_grpo(logps, old_logps, advantages, keep, clip):
    rows = []
    given = (logps, old_logps.detach(), advantages.detach(), keep.to(logps.device))
    for new, old, worth, kept in zip(*given, strict=True):
        ratio = (new[kept] - old[kept]).exp()
        # A row that is worth something is held back above, one that is not is held back below.
        held = ratio.clamp(max=1 + clip) if worth > 0 else ratio.clamp(min=1 - clip)
        if kept.any():
            rows.append(-(held * worth).mean())
    return torch.stack(rows).mean() if rows else logps.sum() * 0


# --- helpers ---


def texts(draw, batch, time, words, scale=2.0, **options):
    """Draw logits and tokens."""
    logits = draw.normal(batch=batch, time=time, word=words, scale=scale, **options)
    return logits, draw.integers(0, words, batch=batch, time=time)


def some(draw, batch, time):
    """Draw which tokens are kept: rows differ in how many, the last keeps one, and none keeps all."""
    keep = draw.mask(keep=0.7, batch=batch, time=time)
    if time > 3:
        keep[0, 1:] = True
        keep[0, 2] = keep[-1] = False
        keep[-1, 3] = True
    return keep


def pairs(draw, batch, scale=1.5):
    """Draw the log-probabilities of pairs as arguments by name; the first pair is one that the model gets wrong."""
    names = ("chosen", "rejected", "reference_chosen", "reference_rejected")
    given = {name: draw.normal(pair=batch, scale=scale, shift=-9.0) for name in names}
    given["rejected"][0] = (given["chosen"] - given["reference_chosen"] + given["reference_rejected"])[0] + 3
    return given


def uneven(draw, group, answer, scale=1.0):
    """Draw rewards that are far apart."""
    order = draw.uniform(group=group, answer=answer).argsort(dim=-1)
    return with_axes((order + draw.uniform(-0.3, 0.3, group=group, answer=answer)) * scale, "group", "answer")


def written(draw, batch, time, clip=0.2):
    """Draw what grpo_loss gets: in each row ratios above, within and below the range; rows are good and bad in turn."""
    steps = torch.tensor([2.5, 0.3, -0.4, -3.0, 4.0, 0.0], device=draw.device).repeat(time)[:time] * clip
    old = draw.normal(batch=batch, time=time, scale=0.5, shift=-3.0)
    worth = draw.uniform(0.5, 2.0, row=batch)
    worth[1::2] *= -1
    return {"logps": with_axes(old + steps + draw.uniform(-0.02, 0.02, time=time), "batch", "time"), "old_logps": old,
            "advantages": worth, "keep": some(draw, batch, time), "clip": clip}  # fmt: skip


def with_gradient(tensor):
    return tensor.detach().clone().requires_grad_()


def expect_zero(loss, tensor, name):
    """Demand a loss of 0, whose gradient is 0."""
    expect(loss, name).close_to(torch.zeros(()))
    loss.backward()
    if tensor.grad is not None:
        expect(tensor.grad, f"gradient of a {name}").equals(torch.zeros(tensor.shape))


# --- answers that people wrote ---


@check(aspect="values", points=3)
def test_sft(submission, draw):
    """sft_loss is the mean of -log p over the tokens of all answers together, each predicted one place earlier

    > Return how surprised the model is by the answers: the mean of -log p over all their tokens.
    > A logit at place t - 1 predicts the token at place t
    """
    for batch, time, words, first in ((3, 6, 5, 2), (2, 4, 7, 1), (4, 5, 3, 4), (1, 3, 6, 2), (2, 70, 3, 9)):
        logits, tokens = texts(draw, batch, time, words)
        found, wanted = submission.sft_loss(logits, tokens, first), oracle(right_sft, logits, tokens, first)
        expect(found, f"loss of {batch} texts with {first} of {time} tokens in the prompt").close_to(wanted)


@check(aspect="values", points=1.5, follows=test_sft)
def test_prompts(submission, draw):
    """rows may have prompts of different lengths, none at all, or nothing else; place 0 never counts

    > The mean is over the tokens of all answers together, so a long answer counts more than a short one.
    > how many tokens of each row are its prompt, 0 to T: an int for all rows, or int64 [B].
    > nothing predicts the token at place 0, so it never counts.
    """
    logits, tokens = texts(draw, 4, 6, 5)
    for first in ([1, 5, 3, 2], [0, 4, 6, 1], [6, 6, 5, 6], [2, 2, 2, 2]):
        lengths = torch.tensor(first, device=draw.device)
        wanted = oracle(right_sft, logits, tokens, lengths)
        expect(submission.sft_loss(logits, tokens, lengths), f"loss with prompts of {first} tokens").close_to(wanted)
    wanted = oracle(right_sft, logits, tokens, 0)
    expect(submission.sft_loss(logits, tokens, 0), "loss without a prompt").close_to(wanted)


@check(aspect="stability", follows=test_sft)
def test_no_answer(submission, draw):
    """where no token counts the loss is 0, and so is its gradient

    > Where no token counts it is 0, and so is its gradient.
    """
    for time, first in ((4, 4), (4, [4, 4]), (1, 0), (1, 1)):
        logits, tokens = texts(draw, 2, time, 5, requires_grad=True)
        lengths = torch.tensor(first, device=draw.device) if isinstance(first, list) else first
        expect_zero(submission.sft_loss(logits, tokens, lengths), logits, f"loss of prompts alone, {time} tokens long")


@check(aspect="values", points=2.5)
def test_logps(submission, draw):
    """sequence_logps is the sum of the log-probabilities of each row's kept tokens

    > Return the log-probability of each row's kept tokens: a sum, not a mean.
    > What it says of place
            0 is without effect.
    """
    for batch, time, words in ((3, 6, 5), (2, 4, 7), (1, 5, 3), (2, 70, 4), (3, 1, 4), (2, 2, 3)):
        (logits, tokens), keep = texts(draw, batch, time, words), some(draw, batch, time)
        for first in (True, False):
            keep[:, 0] = first
            wanted = oracle(right_logps, logits, tokens, keep)
            found = submission.sequence_logps(logits, tokens, keep)
            name = f"sums of {time} tokens, place 0 {'kept' if first else 'left out'}"
            expect(found, name, axes="row").close_to(wanted)


@check(aspect="padding", points=2, follows=[test_sft, test_prompts, test_logps])
def test_without_influence(submission, draw):
    """tokens that do not count have no influence, outside the table or impossible

    > A place
      that does not count has no influence on a result or on a gradient, whatever is there: a token outside the table
    > 0 for a row of which nothing is kept.
    """
    logits, tokens = texts(draw, 3, 6, 5, requires_grad=True)
    keep = some(draw, 3, 6)
    keep[1] = False
    answers = torch.arange(6, device=draw.device).expand(3, 6) >= 3
    for bad, what in ((-100, "that are -100"), (5, "past the table"), (5, "of probability 0")):
        scores = F.pad(logits, (0, 1), value=-math.inf) if "probability" in what else logits
        for name, counts in (("sums", keep), ("loss", answers)):
            own = torch.where(counts, tokens, bad)
            own[:, 0] = bad

            def right(x, name=name):
                return right_logps(x, tokens, keep) if name == "sums" else right_sft(x, tokens, 3)

            sums, loss = submission.sequence_logps, submission.sft_loss
            found = sums(scores, own, keep) if name == "sums" else loss(scores, own, 3)
            expect(found, f"{name} next to tokens {what}").close_to(oracle(right, logits))
            expect_gradients(found, {"logits": logits}, draw, right, [name])


@check(aspect="errors")
def test_tokens_refused(submission, draw):
    """a token that counts and is outside the table is a ValueError

    > a token that counts is below 0 or not below V
    """
    for bad, place in ((-1, 3), (5, 5), (-100, 4), (9, 3)):
        (logits, tokens), keep = texts(draw, 3, 6, 5), torch.ones(3, 6, dtype=torch.bool, device=draw.device)
        tokens[1, place] = bad
        with expect_raises("ValueError", f"an answer has the token {bad}, of a table of 5 words"):
            submission.sft_loss(logits, tokens, 3)
        with expect_raises("ValueError", f"the token {bad} is kept, of a table of 5 words"):
            submission.sequence_logps(logits, tokens, keep)


@check(aspect="errors")
def test_texts_refused(submission, draw):
    """a prompt_length that cannot be, and shapes that do not fit, are ValueErrors

    > a prompt_length is below 0 or above T
    > Or shapes do not fit: there is no broadcasting.
    """
    (logits, tokens), keep = texts(draw, 3, 6, 5), draw.mask(batch=3, time=6)
    for first in (-1, 7, [2, 7, 6], [0, -1, 3], [1, 2], [2], [[1], [2], [3]]):
        lengths = torch.tensor(first, device=draw.device) if isinstance(first, list) else first
        with expect_raises("ValueError", f"prompt_length is {first}, of 3 texts with 6 tokens"):
            submission.sft_loss(logits, tokens, lengths)
    for ids, kept in ((tokens[:1], keep), (tokens[:, :5], keep), (tokens[0], keep), (tokens, keep[:1]),
                      (tokens, keep[:, 1:]), (tokens, keep[0])):  # fmt: skip
        shapes = f"logits [3, 6, 5], tokens {list(ids.shape)}"
        if kept is keep:
            with expect_raises("ValueError", shapes):
                submission.sft_loss(logits, ids, 2)
        with expect_raises("ValueError", f"{shapes}, keep {list(kept.shape)}"):
            submission.sequence_logps(logits, ids, kept)
    for scores in (logits[..., 0], logits[..., None]):
        with expect_raises("ValueError", f"logits {list(scores.shape)}, tokens [3, 6]"):
            submission.sequence_logps(scores, tokens, keep)


@check(aspect="arguments", points=1.5, follows=[test_sft, test_prompts, test_logps])
def test_texts_promises(submission, draw):
    """both hold in every dtype, by name, in any memory order, with gradients; arguments stay as they were

    > Arguments are left as they were and need not be contiguous in memory.
    > A function of no module
      returns the dtype of its inputs
    """
    (logits, tokens), keep = texts(draw, 3, 4, 5), some(draw, 3, 4)
    call = {"logits": logits, "tokens": tokens, "prompt_length": torch.tensor([1, 3, 2], device=draw.device)}
    Part("sft_loss", outputs=["loss"], dtypes=FLOATS, rows=False).expect(submission, right_sft, draw, [call])
    call = {"logits": logits, "tokens": tokens, "keep": keep}
    Part("sequence_logps", outputs=["sums"], dtypes=FLOATS).expect(submission, right_logps, draw, [call])


# --- answers that people compared ---


@check(aspect="values", points=3)
def test_dpo(submission, draw):
    """dpo_loss is the mean of -log sigmoid(beta · margin), against the reference's own preference

    > Of each pair it is -log sigmoid(beta · margin), where the margin is how much more than the reference the model
        prefers the chosen answer: (chosen - reference_chosen) - (rejected - reference_rejected).
    """
    for batch, beta in ((4, 0.3), (1, 1.0), (70, 0.1), (3, 2.5)):
        given = pairs(draw, batch)
        found, wanted = submission.dpo_loss(*given.values(), beta), oracle(right_dpo, *given.values(), beta)
        expect(found, f"loss of {batch} pairs, beta {beta}").close_to(wanted)


@check(aspect="values", points=1.5, follows=test_dpo)
def test_at_the_reference(submission, draw):
    """a model that is its reference has a loss of log 2, and learns from it all the same

    > log 2 where the model is the
            reference.
    > no gradient reaches them
    """
    for batch, beta in ((3, 0.5), (5, 2.0)):
        chosen, rejected = (with_gradient(value) for value in list(pairs(draw, batch).values())[:2])
        found = submission.dpo_loss(chosen, rejected, chosen, rejected, beta)
        expect(found, "loss where the model is the reference").close_to(torch.tensor(math.log(2)))
        found.backward()
        for leaf, name, sign in ((chosen, "chosen", -1), (rejected, "rejected", 1)):
            expect(leaf.grad, f"gradient of {name}").close_to(torch.full((batch,), sign * beta / 2 / batch))


@check(aspect="stability", points=1.5, follows=test_dpo)
def test_large_margins(submission, draw):
    """the loss and its gradients are right for margins of ten thousand

    > It and its gradients are finite and right for any margin, such as 10,000 or -10,000.
    """
    for margin in (30.0, 10_000.0, -10_000.0, -150.0):
        # Eighths, so that in whatever order they are subtracted nothing is rounded.
        given = {name: (8 * value).round() / 8 for name, value in pairs(draw, 3).items()}
        given["chosen"] = with_gradient(given["chosen"] + margin)
        rest = [value for name, value in given.items() if name != "chosen"]
        found = submission.dpo_loss(*given.values(), 1.0)
        wanted = oracle(right_dpo, *(value.detach() for value in given.values()), 1.0)
        expect(found, f"loss where margins are near {margin:,.0f}").close_to(wanted)
        if margin != 30:  # where 1 - sigmoid, which is as good a gradient, is rounded
            expect_gradients(found, {"chosen": given["chosen"]}, draw, lambda x, rest=rest: right_dpo(x, *rest, 1.0))


@check(aspect="errors")
def test_pairs_refused(submission, draw):
    """a beta that is not above 0, and shapes that differ, are ValueErrors

    > ValueError: beta is not above 0: the message names it. Or the four shapes differ, or are not [B].
    """
    given = pairs(draw, 3)
    for beta in (0.0, -0.1, 0):
        with expect_raises("ValueError", f"beta is {beta}"):
            submission.dpo_loss(*given.values(), beta)
    for name in given:
        for shape in ((1,), (4,), ()):
            other = {**given, name: torch.zeros(shape, device=draw.device)}
            with expect_raises("ValueError", f"{name} has the shape {list(shape)}, and the others have [3]"):
                submission.dpo_loss(*other.values(), 0.5)
    for values in ([value[:, None] for value in given.values()], [value[0] for value in given.values()]):
        with expect_raises("ValueError", f"all four have the shape {list(values[0].shape)}"):
            submission.dpo_loss(*values, 0.5)


@check(aspect="arguments", follows=[test_dpo, test_at_the_reference])
def test_dpo_promises(submission, draw):
    """it holds in every dtype, by name, in any memory order; gradients reach the model alone

    > no gradient reaches them.
    > Arguments are left as they were and need not be contiguous in memory.
    """
    calls = [{**pairs(draw, batch), "beta": 0.4} for batch in (3, 1)]
    Part("dpo_loss", outputs=["loss"], dtypes=FLOATS, rows=False).expect(submission, right_dpo, draw, calls)


# --- answers that a program can verify ---


@check(aspect="values", points=2.5)
def test_advantages(submission, draw):
    """an advantage is the distance to the group's mean, in deviations of the group

    > Mean and standard deviation are those of the group, both divided by N
    """
    for group, answer in ((3, 4), (2, 5), (1, 2), (2, 70)):
        rewards = uneven(draw, group, answer)
        found, wanted = submission.group_advantages(rewards), oracle(right_advantages, rewards)
        expect(found, f"advantages of {answer} answers", axes="group answer").close_to(wanted)


@check(aspect="stability", points=2, follows=test_advantages)
def test_equal_rewards(submission, draw):
    """where all rewards of a group are equal every advantage is exactly 0, also where their mean is rounded

    > It is exactly 0 where all rewards of a
            group are equal, whatever they are.
    """
    for reward, count, dtype in ((0.0, 4, torch.float32), (0.1, 7, torch.float32), (0.1, 3, torch.float64),
                                 (-0.6, 9, torch.float32), (2.7, 13, torch.float64), (0.1, 70, torch.float32),
                                 (0.3, 1, torch.float32), (1e4, 5, torch.float32)):  # fmt: skip
        rewards = uneven(draw, 3, count).to(dtype)
        rewards[1] = reward
        wanted = right_advantages(rewards)
        found = submission.group_advantages(rewards)
        expect(found, f"advantages where the second of three groups is {reward} {count} times").close_to(wanted)
        expect(found[1], "those of the second group", axes="answer").equals(torch.zeros(count, dtype=dtype))


@check(aspect="values", follows=test_advantages)
def test_small_rewards(submission, draw):
    """the size of rewards makes no difference, however small or large

    > nothing is added to the deviation: rewards a million times smaller give the same advantages.
    """
    for scale in (1e-6, 1e-3, 1e5):
        rewards = uneven(draw, 3, 5, scale)
        found, wanted = submission.group_advantages(rewards), oracle(right_advantages, rewards)
        expect(found, f"advantages of rewards times {scale}", axes="group answer").close_to(wanted)


@check(aspect="dtype", follows=[test_advantages, test_equal_rewards])
def test_verdicts(submission, draw):
    """rewards that are whole numbers or verdicts give float32

    > or float32 if they are integers or bool.
    """
    rewards = with_axes(draw.integers(0, 2, group=3, answer=6), "group", "answer")
    rewards[0], rewards[1, :2] = 1, torch.tensor([0, 1], device=draw.device)
    for dtype, values in ((torch.int64, rewards * 7 - 3), (torch.bool, rewards), (torch.int32, rewards)):
        given = values.to(dtype)
        found, name = submission.group_advantages(given), f"advantages of rewards that are {str(dtype)[6:]}"
        wanted = right_advantages(given.cpu())
        expect(found, name, axes="group answer").is_tensor(shape=(3, 6), dtype=torch.float32).close_to(wanted)


@check(aspect="arguments", follows=[test_advantages, test_equal_rewards])
def test_advantages_promises(submission, draw):
    """they hold in every dtype, by name, in any memory order; no gradient goes back to rewards; a matrix is asked for

    > No gradient reaches the rewards.
    > Arguments are left as they were
    > ValueError: rewards do not have two axes.
    """
    calls = [{"rewards": uneven(draw, *size)} for size in ((3, 4), (1, 5), (2, 2))]
    Part("group_advantages", outputs=["advantages"], dtypes=FLOATS).expect(submission, right_advantages, draw, calls)
    found = submission.group_advantages(with_gradient(calls[0]["rewards"]))
    expect(found.requires_grad, "whether the advantages require a gradient").is_value(False)
    for shape in ((4,), (2, 3, 4), ()):
        with expect_raises("ValueError", f"rewards have the shape {list(shape)}"):
            submission.group_advantages(torch.zeros(shape, device=draw.device))


@check(aspect="values", points=4)
def test_grpo(submission, draw):
    """of each token the smaller of two products counts, with the ratio as it is and brought into the range

    > Of each token it is -min(ratio · A, clipped · A).
    > exp(logps - old_logps); clipped is the same ratio
        brought into the range from 1 - clip to 1 + clip.
    """
    for batch, time, clip in ((4, 6, 0.2), (2, 5, 0.1), (1, 6, 0.5), (2, 70, 0.3), (3, 1, 0.2)):
        given = written(draw, batch, time, clip)
        given["keep"] = torch.ones_like(given["keep"])
        found, wanted = submission.grpo_loss(*given.values()), oracle(right_grpo, *given.values())
        expect(found, f"loss of {batch} answers of {time} tokens, clip {clip}").close_to(wanted)


@check(aspect="gradient", points=2, follows=test_grpo)
def test_clipped_side(submission, draw):
    """a good answer's ratio is held back above the range only, a bad one's below it only

    > On which side does clipping act if A is negative?
    """
    given = written(draw, 4, 6)
    given["keep"] = torch.ones_like(given["keep"])
    leaf, rest = with_gradient(given.pop("logps")), list(given.values())
    found = submission.grpo_loss(leaf, *rest)
    expect_gradients(found, {"logps": leaf}, draw, lambda x: right_grpo(x, *rest))


@check(aspect="values", points=2, follows=test_grpo)
def test_two_means(submission, draw):
    """the loss is the mean over each row's kept tokens, and then over the rows that keep something

    > The loss is the mean over each row's kept tokens, and then over the rows that keep something: so an answer counts
        the same however long it is.
    > here place 0 counts like any other.
    """
    for empty in ((), (1,), (0, 2)):
        given = written(draw, 4, 6)
        given["keep"][3, :2] = True
        given["keep"][list(empty)] = False
        found, wanted = submission.grpo_loss(*given.values()), oracle(right_grpo, *given.values())
        expect(found, f"loss of 4 answers, {len(empty)} of which keep nothing").close_to(wanted)


@check(aspect="padding", points=2, follows=[test_grpo, test_two_means])
def test_not_kept(submission, draw):
    """what is not kept has no influence on the loss or its gradients, even infinite or NaN; if nothing is, both are 0

    > What is not kept has no
            influence on the loss or on its gradients, even where it is infinite or NaN.
    > Where nothing is kept it is 0, and so is its gradient.
    """
    for which, bad in (("logps", math.nan), ("logps", -math.inf), ("logps", 300.0), ("old_logps", math.nan),
                       ("old_logps", -math.inf)):  # fmt: skip
        given = written(draw, 4, 6)
        given["keep"][1] = False
        rest, clean = list(given.values())[1:], given["logps"]
        given[which] = given[which].masked_fill(~given["keep"], bad)
        leaf = with_gradient(given["logps"])
        found, wanted = submission.grpo_loss(leaf, *list(given.values())[1:]), oracle(right_grpo, clean, *rest)
        expect(found, f"loss where {which} are {bad} next to the answers").close_to(wanted)
        expect_gradients(found, {"logps": leaf}, draw, lambda x, rest=rest: right_grpo(x, *rest))
    given = written(draw, 3, 5)
    leaf, nothing = with_gradient(given["logps"]), torch.zeros_like(given["keep"])
    found = submission.grpo_loss(leaf, given["old_logps"], given["advantages"], nothing, 0.2)
    expect_zero(found, leaf, "loss where nothing is kept")


@check(aspect="gradient", follows=test_grpo)
def test_first_step(submission, draw):
    """where old_logps are logps, as in the first step, the gradient is that of -A · logps

    > no gradient reaches them.
    """
    given = written(draw, 4, 6)
    leaf = with_gradient(given["logps"])
    found = submission.grpo_loss(leaf, leaf, given["advantages"], torch.ones_like(given["keep"]), 0.2)
    expect(found, "loss of the first step").close_to(-given["advantages"].mean().cpu())
    found.backward()
    wanted = -given["advantages"][:, None].expand(4, 6) / 24
    expect(leaf.grad, "gradient of the first step", axes="batch time").close_to(wanted)


@check(aspect="errors")
def test_grpo_refused(submission, draw):
    """a clip outside of 0 to 1, and shapes that do not fit, are ValueErrors

    > ValueError: clip is not above 0 and below 1: the message names it. Or shapes do not fit: there is no
            broadcasting.
    """
    given = written(draw, 3, 5)
    for clip in (0.0, 1.0, -0.2, 1.5):
        with expect_raises("ValueError", f"clip is {clip}"):
            submission.grpo_loss(**{**given, "clip": clip})
    for name, shape in (("old_logps", (1, 5)), ("old_logps", (3, 1)), ("old_logps", (3,)), ("keep", (3, 1)),
                        ("keep", (5,)), ("keep", (1, 5)), ("advantages", (1,)), ("advantages", (3, 1)),
                        ("advantages", (3, 5)), ("advantages", ()), ("logps", (3, 1))):  # fmt: skip
        other = torch.zeros(shape, dtype=given[name].dtype, device=draw.device)
        with expect_raises("ValueError", f"{name} has the shape {list(shape)}, for 3 answers of 5 tokens"):
            submission.grpo_loss(**{**given, name: other})
    logps, old, worth, keep = (given[name] for name in ("logps", "old_logps", "advantages", "keep"))
    for place in (..., None), (..., 0):
        with expect_raises("ValueError", f"logps, old_logps and keep have the shape {list(logps[place].shape)}"):
            submission.grpo_loss(logps[place], old[place], worth, keep[place], 0.2)


@check(aspect="arguments", points=1.5, follows=[test_grpo, test_clipped_side, test_two_means, test_first_step])
def test_grpo_promises(submission, draw):
    """it holds in every dtype, by name, in any memory order; gradients reach logps alone

    > no gradient reaches them
    > Arguments are left as they were and need not be contiguous in memory.
    """
    calls = [written(draw, *size) for size in ((4, 6), (1, 5), (2, 1))]
    Part("grpo_loss", outputs=["loss"], dtypes=FLOATS, rows=False).expect(submission, right_grpo, draw, calls)


@check(aspect="learning", points=1.5, needs=[test_advantages, test_grpo, test_clipped_side, test_equal_rewards])
def test_bandit(submission, draw):
    """a policy that is trained with both earns more and more, and no batch moves it far

    > clipped is the same ratio
        brought into the range from 1 - clip to 1 + clip.
    """
    words, count, good = 8, 32, draw.permutation(8)[:3].tolist()
    policy = with_gradient(draw.uniform(-0.2, 0.2, word=words))
    earned = []
    for _ in range(12):
        before = policy.detach().log_softmax(-1)
        # As many answers of each kind as the policy gives, so that chance decides little.
        levels = (torch.arange(count, device=draw.device) + 0.5) / count
        answers = torch.searchsorted(before.exp().cumsum(-1), levels).clamp(max=words - 1)
        rewards = torch.isin(answers, torch.tensor(good, device=draw.device))
        earned.append(float(rewards.float().mean()))
        worth = submission.group_advantages(rewards[None])[0]
        for _ in range(5):
            logps = policy.log_softmax(-1)[answers][:, None]
            keep = torch.ones_like(logps, dtype=torch.bool)
            loss = submission.grpo_loss(logps, before[answers][:, None], worth, keep, 0.2)
            policy = with_gradient(policy - 0.5 * torch.autograd.grad(loss, policy)[0])
        after = policy.detach().log_softmax(-1)
        moved = float((before.exp() * (before - after)).sum())
        if not moved < 0.045:
            fail(f"moved too far  a batch moved the policy by {moved:.3f}, its KL divergence; want below 0.045")
    if earned[-1] < 0.85:
        fail(f"too little learned  answers earned {earned[0]:.2f} at first and {earned[-1]:.2f} at last; want 0.85")
