"""Hidden checks of 9.6.1: what is right only on the visible sizes, and what is kept from one call to the next."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_parameter_gradients,
    expect_unchanged,
    fail,
    same_tensors,
    with_axes,
)

TEXT, LOGITS = "batch time", "batch time word"


def tokens_of(draw, batch, time, vocab, lowest=1):
    return lowest + draw.integers(0, vocab - lowest, batch=batch, time=time)


def noisy(submission, draw, vocab, **sizes):
    """Build a model in eval mode whose parameters are not where they began."""
    model = submission.MaskedLM(vocab, **sizes).to(draw.device)
    with torch.no_grad():
        for parameter in dict.fromkeys(model.parameters()):
            noise = torch.randn(parameter.shape, generator=draw.generator).to(parameter)
            parameter += 0.2 * noise
    model.eval()
    return model


def scored(model, tokens, vocab, name="logits"):
    with torch.no_grad():
        found = model(tokens)
    return expect(found, name, axes=LOGITS).is_tensor(shape=(*tokens.shape, vocab)).is_finite().actual


@check(aspect="values", points=3.5)
def test_any_text(submission, draw):
    """hide works for any text, any rate and any special tokens

    > Each token that is not special is chosen with probability `rate`.
    > special_ids: tokens that are never chosen and never inserted at random.
    """
    for special_ids, vocab, rate in (
        ([], 7, 0.3),
        ((0,), 3, 0.9),
        ((0, 1, 2, 3, 4, 60), 61, 0.8),
        ((31_999,), 32_000, 0.5),
    ):
        # One row: what all rows share is another check's affair. Of three words: rows of one.
        length = draw.size(10_000, 14_000)
        batch, time = (2 * length, 1) if vocab == 3 else (1, length)
        tokens = draw.noncontiguous(draw.integers(0, vocab, batch=batch, time=time))
        generator = torch.Generator().manual_seed(draw.size(0, 1 << 20))
        mask_id = vocab - 1
        options = {"mask_id": mask_id, "vocab_size": vocab, "special_ids": special_ids, "rate": rate}
        with same_tensors(submission):
            submission.hide(draw.noncontiguous((tokens + 1) % vocab), **options)
            found = submission.hide(tokens, **options, generator=generator)
        inputs, targets = expect(found, "what hide returns").is_tuple(2)
        inputs, targets, before = (value.cpu() for value in (inputs, targets, tokens))
        special = torch.isin(before, torch.tensor(special_ids, dtype=torch.int64))
        chosen = targets != -100
        expect(targets[chosen], "targets where one was chosen", axes="chosen").equals(before[chosen])
        expect(inputs[~chosen], "inputs where none was chosen", axes="other").equals(before[~chosen])
        expect(bool((chosen & special).any()), "a special token was chosen").is_value(False)
        share = float(chosen[~special].double().mean())
        expect(share, f"share of chosen tokens, V = {vocab}").is_between(rate - 0.04, rate + 0.04)
        if vocab == 3:  # of the two words to draw one is the mask, one the token itself: 0.8, and half of 0.1
            share = float((inputs[chosen & (before == 1)] == mask_id).double().mean())
            expect(share, "share of mask_id among the chosen, where it is one of two words").is_between(
                0.825, 0.875
            )
        other = inputs[chosen & (inputs != before) & (inputs != mask_id)]
        if len(other) < 20:  # 2% of them, a mistake in the shares, are 60
            fail("too few  of the chosen tokens hardly one became another word")
        if (
            bool(torch.isin(other, torch.tensor(special_ids, dtype=torch.int64)).any())
            or int(other.max()) >= vocab
        ):
            fail("no ordinary word  a random token is special or not below vocab_size")
        expect_unchanged(submission)
    word = tokens_of(draw, 1, 1, 9)
    for rate, most in ((0.0, 0), (0.05, 11), (1.0, 12)):  # one by one, most often none is chosen
        pairs = [
            submission.hide(word, mask_id=0, vocab_size=9, special_ids=[0], rate=rate) for _ in range(12)
        ]
        chosen = sum(int(targets) != -100 for _, targets in pairs)
        expect(chosen, f"of 12 texts of one word, those chosen at rate {rate}").is_between(
            12 * (rate == 1), most
        )


@check(aspect="values", points=3)
def test_other_sizes(submission, draw):
    """a model of another size has the logits of these tokens and parameters, in every dtype

    > d_model, num_heads, d_ff, num_layers: sizes of the encoder.
    > the longest sequence that must work.
    > it computes in the dtype of its parameters
    """
    for vocab, sizes in ((50, (16, 2, 24, 4, 200)), (9, (8, 8, 8, 1, 3))):
        names = ("d_model", "num_heads", "d_ff", "num_layers", "max_len")
        made = {"vocab_size": vocab, **dict(zip(names, sizes, strict=True))}
        part = Part("MaskedLM", made, ["logits"], [LOGITS], [torch.float64, torch.bfloat16])
        part.expect_values(submission, None, draw, [{"tokens": tokens_of(draw, 2, made["max_len"], vocab)}])


@check(aspect="padding", points=2.5)
def test_padding_anywhere(submission, draw):
    """padding in front, between words and at the end

    > Positions matter; padding never changes the vector of a real token.
    > Gradients reach every parameter
    """
    model = noisy(submission, draw, 30, d_model=12, num_heads=3, d_ff=20, num_layers=2, max_len=16, pad_id=7)
    tokens = tokens_of(draw, 3, 12, 30, lowest=8)
    tokens[0, :3], tokens[1, 4:6], tokens[2, 9:] = 7, 7, 7
    real = tokens != 7
    before = scored(model, tokens, 30)
    alone = scored(model, tokens[2:, :9].contiguous(), 30)
    expect(before[2:, :9], "logits of the words", axes=LOGITS).same_as(
        alone, name="the same text without padding at the end"
    )
    changed = tokens.clone()
    changed[:2, -1] = tokens[:2, -1] % 22 + 8
    after = scored(model, with_axes(changed, *TEXT.split()), 30)
    expect(after[:2, 3], "logits at position 3", axes="batch word").differs_from(
        before[:2, 3], why="the last word is another one, and padding is in front or between"
    )
    small = noisy(submission, draw, 30, d_model=12, num_heads=3, d_ff=4, num_layers=1, max_len=16, pad_id=7)
    small.double()
    text = torch.tensor([[0, 3, 7], [5, 0, 0]], device=draw.device)  # token 0 is a word here, and is learned
    expect_parameter_gradients(small, lambda: small(text)[:, :2], draw, "logits", LOGITS, shape=(2, 2, 30))
    with torch.no_grad():
        body = model.body(tokens)[real]
        # Loaded, since what is written into a tensor here stays here; and turned, since a norm takes a shift away.
        state = {name: value.detach().clone() for name, value in model.state_dict().items()}
        for value in (value for value in state.values() if tuple(value.shape) == (30, 12)):
            value[7] *= -3.0
        model.load_state_dict(state)
        other = model.body(tokens)[real]
    expect(other, "what body gives for words", axes="real width").same_as(
        body, name="that with another vector for padding"
    )
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
