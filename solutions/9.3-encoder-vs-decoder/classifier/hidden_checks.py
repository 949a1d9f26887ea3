"""Hidden checks of 9.3.6: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy

from grader.checks import (
    Part,
    TrainingBooks,
    check,
    expect,
    expect_parameter_gradients,
    fail,
    oracle,
    type_names,
    with_axes,
)

POOLINGS = ("cls", "mean", "max")
POOLED, LOGITS = "batch width", "batch class"


def classifier(submission, draw, vocab_size, num_classes, **options):
    """Build a classifier in eval mode, with noise on every parameter."""
    model = submission.EncoderClassifier(vocab_size, num_classes, **options)
    with torch.no_grad():
        learned = {name: value for name, value in model.named_parameters() if value.requires_grad}
    noise = {
        name: torch.randn(value.shape, generator=draw.generator).to(value) * 0.3
        for name, value in learned.items()
    }
    model.load_state_dict({**model.state_dict(), **{name: learned[name] + noise[name] for name in noise}})
    model.to(draw.device)
    model.eval()
    return model


@check(aspect="values", points=3.5)
def test_pooling_contract(submission, reference, draw):
    """pooling keeps its promises for any sizes and masks, however it is called

    > "cls", the vector at position 0; "mean" or "max", over the real positions, column by column.
    > All of it works for any sizes: texts of one token and of hundreds, as long as `max_len` allows
    > Logits and pooled vectors have the dtype of what they are made of
    > Arguments are left as they were and need not be contiguous in memory.
    """
    calls = []
    for strategy in POOLINGS:
        for batch, time in (draw.sizes(2, 2, 12), (1, 3), (2, 1), (5, 5), (2, draw.size(520, 640))):
            mask = draw.mask(keep=0.3, batch=batch, time=time)
            mask[draw.size(0, batch - 1)] = strategy == "cls" or batch == 1
            hidden = draw.normal(batch=batch, time=time, width=5, shift=-2.0)
            calls.append({"hidden": hidden, "mask": mask, "strategy": strategy})
    part = Part("pool", outputs=["pooled"], axes=[POOLED], dtypes=[torch.bfloat16])
    part.expect(submission, reference, draw, calls)


@check(aspect="masks", points=2)
def test_any_padding(submission, draw):
    """padding never matters, for any sizes, pad_id and pooling

    > logits [B, C]: free numbers, no softmax. Positions matter; padding never does.
    > the token that is padding.
    > gradients reach every parameter that the logits depend on
    """
    for pooling in POOLINGS:
        batch, time, more = draw.sizes(3, 2, 9)
        pad_id = draw.size(1, 12)
        model = classifier(
            submission, draw, 13, 4, d_model=10, num_heads=5, d_ff=7, num_layers=3, max_len=40,
            pooling=pooling, pad_id=pad_id,
        )  # fmt: skip
        tokens = draw.integers(0, 12, batch=batch, time=time)
        tokens[tokens >= pad_id] += 1  # every token but pad_id
        lengths = [draw.size(1, time) for _ in range(batch)]
        for row, length in enumerate(lengths):
            tokens[row, length:] = pad_id
        wide = torch.full((batch, time + more), pad_id, dtype=tokens.dtype, device=draw.device)
        wide[:, :time] = tokens
        with torch.no_grad():
            logits = model(with_axes(wide, "batch", "time"))
            for row, length in enumerate(lengths):
                alone = model(tokens[row : row + 1, :length])
                expect(alone, f"logits with pooling={pooling!r}, row alone", axes=LOGITS).is_tensor(
                    shape=(1, 4)
                ).is_finite().same_as(logits[row : row + 1], name="that in a batch")
    model = classifier(submission, draw, 13, 4, **SMALL, pooling="mean", pad_id=12)
    model.double()
    tokens = torch.tensor(
        [[0, 3, 12], [5, 0, 0]], device=draw.device
    )  # token 0 is a word here, and is learned
    expect_parameter_gradients(model, lambda: model(tokens), draw, "logits", LOGITS, shape=(2, 4))


@check(aspect="learning", points=4.5)
def test_any_fit(submission, draw):
    """fit keeps its books for any number of examples and any batch size

    > Each epoch takes every example once, in batches of batch_size with a shorter last one
    > One float an epoch: the mean loss per example while it was trained.
    > one example and more than a batch holds
    """
    for examples, batch_size in ((1, 4), (draw.size(13, 20), 6), (5, 1)):
        rows = draw.normal(example=examples, label=4, scale=2.0)
        numbers = torch.arange(examples, device=draw.device)
        tokens = with_axes(numbers[:, None].expand(-1, 3).contiguous(), "example", "time")
        labels = draw.integers(0, 4, example=examples)
        books = TrainingBooks(submission, draw, rows)
        losses = submission.fit(books.model, tokens, labels, epochs=2, batch_size=batch_size, lr=1e-3)
        found = [
            float.fromhex(one.hex()) if "builtins.float" in type_names(one) else one  # NumPy's are floats too
            for one in expect(losses, "losses").is_list(2)
        ]
        for place, loss in enumerate(found):
            expect(loss, f"losses[{place}]").is_scalar(float)
        wanted = oracle(lambda rows: cross_entropy(rows, labels.cpu()).expand(2), rows)  # noqa: B023
        expect(torch.tensor(found), "losses", axes="epoch").close_to(wanted)
        seen = books.order()
        for epoch in range(2):
            if sorted(seen[epoch * examples :][:examples]) != list(range(examples)):
                fail(f"wrong examples  epoch {epoch} of {examples} examples in batches of {batch_size}")
        if len(seen) != 2 * examples or books.follows_wrong_loss(labels) is not None:
            fail("wrong training  too many examples, or gradients of something else")


@check(aspect="learning", trained=True, points=4)
def test_learns_order(submission, draw):
    """it learns which of two words comes first, in sentences of all lengths

    > Positions matter; padding never does.
    > it learns at the `lr` it is given
    """

    def sentences(count):
        tokens = draw.integers(4, 9, sentence=count, time=9)
        places = torch.stack([torch.randperm(5, generator=draw.generator)[:2] + 1 for _ in range(count)])
        labels = (places[:, 0] < places[:, 1]).long()
        tokens[:, 0] = 3
        for word in (0, 1):  # 0 is a word like any other here, and 2 is padding
            tokens[torch.arange(count), places[:, word].to(draw.device)] = word
        ends = torch.randint(6, 10, (count, 1), generator=draw.generator).to(draw.device)
        tokens[torch.arange(9, device=draw.device) >= ends] = 2
        return tokens, labels.to(draw.device)

    model = submission.EncoderClassifier(9, 2, 32, 4, 64, 1, 12, pooling="max", pad_id=2)
    model.to(draw.device)
    (tokens, labels), (held_out, answers) = sentences(320), sentences(200)
    accuracy = 0.0
    for _ in range(10):
        model.train()
        submission.fit(model, tokens, labels, epochs=6, batch_size=28, lr=5e-3, generator=draw.generator)
        model.eval()
        with torch.no_grad():
            logits = expect(model(held_out), "logits", axes="sentence class").is_tensor(shape=(200, 2)).actual
        accuracy = float((logits.argmax(dim=1) == answers).double().mean())
        if accuracy >= 0.9:
            return
    fail(f"too little learned  {accuracy:.0%} of held-out sentences are right; want 90%")


SMALL = {"d_model": 6, "num_heads": 2, "d_ff": 7, "num_layers": 1}


def logits_of(model, tokens, name):
    with torch.no_grad():
        logits = model(with_axes(tokens.contiguous(), "batch", "time"))
    return expect(logits, name, axes=LOGITS).is_tensor(shape=(len(tokens), 4)).is_finite()


@check(aspect="values", points=2)
def test_long(submission, draw):
    """texts of hundreds of tokens are read to their end

    > All of it works for any sizes: texts of one token and of hundreds, as long as `max_len` allows
    > Every real token has its say.
    """
    max_len, vocab_size = draw.size(520, 640), draw.size(1030, 2000)
    model = classifier(submission, draw, vocab_size, 4, **SMALL, max_len=max_len, pooling="mean")
    tokens = draw.integers(1, vocab_size, batch=2, time=max_len)
    tokens[1, draw.size(260, 500) :] = 0
    whole = logits_of(model, tokens, f"logits of {max_len} tokens").actual
    length = int((tokens[1] != 0).sum())
    alone = logits_of(model, tokens[1:, :length], f"logits of {length} tokens, row alone")
    alone.same_as(whole[1:], name="that in a batch")
    for place in (0, max_len - 1):
        changed = tokens.clone()
        changed[0, place] = tokens[0, place] % (vocab_size - 1) + 1  # another real token
        logits_of(model, changed[:1], f"logits of {max_len} tokens").differs_from(
            whole[:1], why=f"another token at position {place} of {max_len}"
        )
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
