"""Checks of 9.3.6. How the classifier names its parameters is its own affair, so its checks compare it with itself."""

from __future__ import annotations

import importlib.util
import math
from itertools import pairwise
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.nn.functional import cross_entropy

from grader.checks import (
    Part,
    TrainingBooks,
    check,
    expect,
    expect_from_scratch,
    expect_gradients,
    expect_parameter_gradients,
    expect_raises,
    expect_unchanged,
    fail,
    given_module,
    oracle,
    precondition,
    stand_in,
    supposing,
    type_names,
    with_axes,
)

POOLINGS = ("cls", "mean", "max")
POOLED, LOGITS = "batch width", "batch class"
SMALL = {"d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": 2, "max_len": 16}
STUB = {"d_model": 64, "num_heads": 4, "d_ff": 128, "num_layers": 2}


def load_sentiment():
    spec = importlib.util.spec_from_file_location("kata_sentiment", Path(__file__).with_name("sentiment.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sentiment = load_sentiment()


# --- the oracles ---


def pooled(mask, strategy):
    """Return the right hidden -> pooled under this mask."""

    def rows(hidden):
        found = []
        for row, real in zip(hidden, mask.cpu(), strict=True):
            if strategy == "cls":
                found.append(row[0])
            elif not real.any():
                found.append(row[0] * 0)
            else:
                found.append(row[real].mean(dim=0) if strategy == "mean" else row[real].amax(dim=0))
        return torch.stack(found)

    return rows


@stand_in("pool")
def right_pool(hidden, mask, strategy):
    return pooled(mask, strategy)(hidden)


# --- what shows a mistake in any design ---


def pooling_slips(vector, hidden, mask, strategy):
    """Return what mistakes in pooling give; a row of padding only is not among the rows."""
    real, count = mask.unsqueeze(-1), mask.sum(dim=1, keepdim=True)
    total, rows = (hidden * real).sum(dim=1), torch.arange(len(hidden), device=hidden.device)
    if strategy == "cls":
        last = torch.where(mask, torch.arange(mask.shape[1], device=mask.device), 0).amax(dim=1)
        return {
            "your cls returns the vector at the last position; "
            "it should return the one at position 0": lambda: hidden[:, -1],
            "your cls takes the last real position; it should take position 0": lambda: any(
                torch.equal(vector, hidden[rows, place]) for place in (last, count[:, 0] - 1)
            ),
            "your cls takes the first real position; it should take position 0, whatever is there": lambda: (
                hidden[rows, mask.int().argmax(dim=1)]
            ),
            "your cls gives zeros where position 0 is padding; it should take that vector all the same": lambda: (
                hidden[:, 0] * mask[:, :1]
            ),
        }
    inverted = "your pooling looks only at padding; it should look where the mask is True, at the real tokens"
    if strategy == "mean":

        def more_than_counted():
            more = (total / vector - count).double()  # what the sum was divided by, without the count
            return more.std() < 1e-3 * more.mean() and more.mean() < 2

        return {
            "your mean averages the vectors of padding together with the real ones; "
            "it should average only the real ones": lambda: hidden.mean(
                dim=1
            ),
            "your mean sums real positions only but divides by the whole length; "
            "it should divide by how many are real": lambda: (
                total / hidden.shape[1]
            ),
            "your mean is a sum; divide it by the number of real positions": lambda: total,
            "your mean divides by the number of real tokens in the whole batch; each row should have its own": lambda: (
                total / mask.sum()
            ),
            "your mean adds a small number to the count; hold the count at 1 at least, which changes no other row": (
                more_than_counted
            ),
            inverted: lambda: (hidden * ~real).sum(dim=1) / (~mask).sum(dim=1, keepdim=True).clamp(min=1),
        }
    return {
        "your max looks at padding too; it should look at real positions only": lambda: hidden.amax(dim=1),
        "your max sets padding to zero, which is greater than a negative number; "
        "padding must never be the greatest": lambda: (
            hidden * real
        ).amax(dim=1),
        FILLED: lambda: (
            vector[0, 0] < -100
            and torch.equal(vector, hidden.masked_fill(~real, float(vector[0, 0])).amax(dim=1))
        ),
        "your max compares values without their signs; -3 should be less than 1": lambda: hidden.gather(
            1, hidden.abs().masked_fill(~real, -1).argmax(dim=1, keepdim=True)
        )[:, 0],
        "your max takes the whole vector of one position; it should take the greatest value of each column": lambda: (
            bool((vector[:, None] == hidden).all(dim=2).any(dim=1).all())
        ),
        inverted: lambda: hidden.masked_fill(real, float("-inf")).amax(dim=1),
    }


def padding_only_slips(vector, padding, strategy):
    """Return what mistakes give in row 1, of padding only, whose vectors are `padding`."""
    every = padding.mean(dim=0) if strategy == "mean" else padding.amax(dim=0)
    return {
        "your mean divides by zero where a row is padding only; "
        "it should give zeros there, with finite gradients": lambda: (
            strategy == "mean" and vector[1].isnan().all() and vector[[0, 2, 3]].isfinite().all()
        ),
        "your max of a row of padding only is -inf; it should be zeros": lambda: (
            strategy == "max" and vector[1].isneginf().all() and vector[[0, 2, 3]].isfinite().all()
        ),
        FILLED: lambda: (
            strategy == "max" and -math.inf < vector[1, 0] < -100 and (vector[1] == vector[1, 0]).all()
        ),
        f"your {strategy} of a row of padding only is that of its padding; it should be zeros": lambda: (
            torch.allclose(vector[1], every)
        ),
        f"your {strategy} of a row of padding only is the vector at position 0; it should be zeros": lambda: (
            torch.equal(vector[1], padding[0])
        ),
    }


def shape_slips(vector, strategy, batch, time, width):
    """Return what mistakes in the axes of pooling give; sizes that are alike tell nothing."""

    def has(*shape):
        return len({batch, time, width, 1}) == 4 and tuple(vector.shape) == shape

    return {
        "your cls cuts out position 0 as a piece of length one, so an axis is left over; return [B, D]": lambda: (
            strategy == "cls" and has(batch, 1, width)
        ),
        f"your {strategy} keeps the axis of positions, with length one; it should be gone": lambda: (
            strategy != "cls" and has(batch, 1, width)
        ),
        "your cls takes all positions of the first sequence; it should take the first position of each": lambda: (
            strategy == "cls" and has(time, width)
        ),
        "your mean and max run over the sequences of the batch; they should run over the positions, axis 1": lambda: (
            strategy != "cls" and has(time, width)
        ),
        f"your {strategy} runs over the columns; it should run over the positions, axis 1": lambda: has(
            batch, time
        ),
        "your max returns values and indices, as max over an axis gives both; return the values": lambda: (
            strategy == "max" and len(vector) == 2
        ),
        "your max returns the places of the greatest values; it should return the values": lambda: (
            strategy == "max" and vector.dtype == torch.int64
        ),
    }


FILLED = "your max fills padding with a number such as -1e9, and real values may be smaller still; fill it with -inf"
ATTENDS_PADDING = (
    "your encoder lets tokens attend to padding; give it a mask [B, 1, 1, T] that is True where the token is real"
)
UPSIDE_DOWN = (
    "your mask is upside down, so attention sees only padding; it should be True where the token is real"
)
ALONE = (
    "your encoder hides from cls all that follows it, as a causal one does; each position should see all real tokens"
)


def attention_slips(submission, draw):
    """Return who attends to whom, seen by a classifier that pools position 0 alone."""

    def moved(change):
        with precondition("cls must take position 0"):
            hidden, mask = hidden_for(draw), ragged_mask(draw)
            expect(submission.pool(hidden, mask, "cls"), "cls pooling").equals(hidden[:, 0])
        model, tokens = classifier(submission, draw, pooling="cls"), real_tokens(draw)
        return differ(logits_of(model, tokens).actual, logits_of(model, change(tokens)).actual)

    def others():
        return moved(lambda tokens: torch.cat([tokens[:, :1], tokens[:, 1:] % 22 + 1], dim=1))

    def padding():
        return moved(lambda tokens: torch.cat([tokens, torch.zeros_like(tokens)], dim=1))

    return {
        ATTENDS_PADDING: lambda: others() and padding(),
        UPSIDE_DOWN: lambda: not others() and padding(),
        ALONE: lambda: not others() and not padding(),
    }


def pooled_padding_slips(submission, draw, pooling):
    """Return what `pool` is given, where it is right itself and attention does not see padding."""

    def moved(change):
        with precondition("pool must be right, and attention must not see padding"):
            hidden, mask = hidden_for(draw), ragged_mask(draw)
            vector = submission.pool(hidden, mask, pooling)
            expect(vector, "pooling").close_to(oracle(pooled(mask, pooling), hidden))
            for relation in attention_slips(submission, draw).values():
                expect(relation(), "attention").is_value(False)
        model, tokens = classifier(submission, draw, pooling=pooling), real_tokens(draw)
        return differ(logits_of(model, tokens).actual, logits_of(model, change(tokens)).actual)

    def others():
        return moved(lambda tokens: tokens % 22 + 1)

    def padding():
        return moved(lambda tokens: torch.cat([tokens, torch.zeros_like(tokens)], dim=1))

    return {
        "your classifier masks attention, but pools over padding as well; "
        "it should pool real positions only": lambda: others() and padding(),
        "your classifier pools padding and nothing else; give `pool` the mask that is True where the token is real": (
            lambda: not others() and padding()
        ),
    }


def differ(one, other):
    """Tell whether two results differ by more than rounding."""
    return not torch.allclose(one, other, rtol=1e-4, atol=1e-4)


def way_in_slips(submission, draw, pooling):
    """Return by which ways tokens or padding get into the logits, or do not."""
    return attention_slips(submission, draw) | pooled_padding_slips(submission, draw, pooling)


def pad_id_slips(submission, draw):
    def reads(token):
        model, tokens = classifier(submission, draw, pooling="mean", pad_id=22), real_tokens(draw, high=22)
        longer = torch.cat([tokens, torch.full_like(tokens, token)], dim=1)
        return differ(logits_of(model, tokens).actual, logits_of(model, longer).actual)

    return {
        "your classifier treats 0 as padding, whatever pad_id is; it should treat pad_id as padding": lambda: (
            reads(7) and not reads(0) and reads(22)
        ),
        "your classifier takes every token up to pad_id for padding; it should take only pad_id itself": lambda: (
            not reads(0) and not reads(7) and not reads(22)
        ),
    }


BAG_OF_WORDS = "your classifier reads a bag of words; add to each token's vector one of its position"


def position_slips(submission, draw):
    def same_backwards(model, tokens):
        return not differ(logits_of(model, tokens).actual, logits_of(model, tokens.flip(1)).actual)

    def bag_of_words():
        if any(relation() for relation in way_in_slips(submission, draw, "max").values()):
            return False
        model, tokens = classifier(submission, draw, pooling="max", max_len=6), real_tokens(draw)
        return same_backwards(model, tokens)

    return {BAG_OF_WORDS: bag_of_words}


# Losses of each example by mistake, in forms that learners write, from logits, labels, and the labels in the order of
# the file.
LOSSES = {
    "your fit applies softmax before cross-entropy, which applies it a second time; "
    "pass the logits as they are": lambda rows, labels, handed: [
        cross_entropy(rows.softmax(dim=1), labels, reduction="none")
    ],
    "your loss is the squared distance from one-hot labels; it should be cross-entropy": lambda rows, labels, handed: [
        (x - F.one_hot(labels, rows.shape[1])).square().mean(dim=1) for x in (rows, rows.softmax(dim=1))
    ],
    "your loss is that of independent yes-or-no labels; it should be cross-entropy": lambda rows, labels, handed: [
        F.binary_cross_entropy_with_logits(
            rows, F.one_hot(labels, rows.shape[1]).to(rows), reduction="none"
        ).mean(dim=1)
    ],
    "your loss hands logits or probabilities to nll_loss, which wants their logarithms: use cross_entropy": (
        lambda rows, labels, handed: [
            -x.gather(1, labels[:, None])[:, 0] for x in (rows, rows.softmax(dim=1))
        ]
    ),
    "your loss smooths the labels; it should be plain cross-entropy": lambda rows, labels, handed: [
        cross_entropy(rows, labels, reduction="none", label_smoothing=0.1)
    ],
    "your loss ignores label 0, which is a class like the others": lambda rows, labels, handed: [
        cross_entropy(rows, labels, reduction="none", ignore_index=0)
    ],
    "your loss has the wrong sign, so training makes it larger": lambda rows, labels, handed: [
        -cross_entropy(rows, labels, reduction="none")
    ],
    "your fit shuffles the tokens but not the labels; "
    "it should put both into the same order": lambda rows, labels, handed: [
        cross_entropy(rows, handed, reduction="none")
    ],
}


def trained_rows(books, labels, order=None):
    """Return the logits, labels and labels of the file that each example was trained on with."""
    names, labels = torch.tensor(books.order(), dtype=torch.long), labels.cpu()
    handed = labels if order is None else labels[order.cpu()]
    return books.rows.detach().cpu()[names], labels[names], handed[torch.arange(len(names)) % len(labels)]


def result_slips(losses, books, epochs):
    """Return what is returned in place of the losses."""
    return {
        "your fit ends without a return, so it gives None; it should return a list of each epoch's loss": lambda: (
            losses is None
        ),
        "your fit returns the model; it should return a list of each epoch's loss": lambda: (
            "torch.nn.modules.module.Module" in type_names(losses)
        ),
        "your losses are tensors; they should be floats": lambda: isinstance(losses[0], torch.Tensor),
        "your fit returns the loss of every batch; it should return one number for each epoch": lambda: (
            len(losses) == len(books.batches) != epochs
        ),
        "your fit returns only the last loss; it should return a list of each epoch's loss": lambda: (
            type(losses) is float
        ),
        "your fit goes through one epoch too few, or leaves its loss out": lambda: len(losses) == epochs - 1,
    }


def loss_slips(books, labels, order, epochs, batch_size):
    """Return what mistakes in an epoch's loss give, from the batches that were trained on."""
    examples = len(labels)

    def per_epoch(value):
        each = cross_entropy(books.rows.detach().cpu(), labels.cpu(), reduction="none")
        batches = [each[batch.examples] for batch in books.batches]
        count = len(batches) // epochs
        return torch.stack([torch.as_tensor(value(batches[i * count :][:count])) for i in range(epochs)])

    def sum_of_means(batches):
        return sum(batch.mean() for batch in batches)

    return {
        "your loss is that of the last batch only; "
        "it should be the mean over all examples of the epoch": lambda: per_epoch(lambda some: some[-1].mean()),
        "your loss is the plain mean over batches, so a short last batch counts too much; "
        "weigh each by its size": lambda: (
            per_epoch(lambda some: sum_of_means(some) / len(some))
        ),
        "your loss adds up batch means, without weights, and divides by how many examples there are; "
        "weigh each by its size": lambda: (
            per_epoch(lambda some: sum_of_means(some) / examples)
        ),
        "your loss adds up the means of the batches; it should be the mean over the examples": lambda: (
            per_epoch(sum_of_means)
        ),
        "your loss divides by the number of whole batches; it should be the mean over the examples": lambda: (
            per_epoch(lambda some: sum_of_means(some) / (examples // batch_size))
        ),
        "your loss counts a short last batch as a whole one; weigh each batch by its examples": lambda: (
            per_epoch(lambda some: sum_of_means(some) * batch_size / examples)
        ),
        "your loss is a sum over the examples; divide it by their number": lambda: per_epoch(
            lambda some: torch.cat(some).sum()
        ),
        "your loss multiplies the sum over a batch by its size, which only the mean needs": lambda: per_epoch(
            lambda some: sum(len(batch) * batch.sum() for batch in some) / examples
        ),
        "your loss adds up over the epochs; each should begin at 0": lambda: per_epoch(
            lambda some: torch.cat(some).mean()
        ).cumsum(dim=0),
        "your fit returns the share that is right; it should return the loss": lambda: (
            (books.rows.argmax(dim=1) == labels).float().mean().expand(epochs)
        ),
        **{
            say: lambda loss=loss: [
                each.view(epochs, -1).mean(dim=1) for each in loss(*trained_rows(books, labels, order))
            ]
            for say, loss in LOSSES.items()
        },
    }


def gradient_slips(books, labels):
    """Return which losses have the gradients that the batches were trained with."""

    def follows(loss):
        rows, *rest = trained_rows(books, labels)
        rows.requires_grad_()
        sizes = [len(batch.examples) for batch in books.batches]
        for each in loss(rows, *rest):
            wanted = torch.autograd.grad(each.sum(), rows, retain_graph=True)[0].double().split(sizes)
            pairs = [(batch.slope, want) for batch, want in zip(books.batches, wanted, strict=True)]
            # Up to a factor for each batch: some take the mean, others the sum.
            if all(
                float((got * want.norm() - want * got.norm()).norm())
                <= 1e-3 * float(got.norm() * want.norm())
                for got, want in pairs
            ):
                return True
        return False

    return {say: lambda loss=loss: follows(loss) for say, loss in LOSSES.items()}


def stale_slips(books, epochs):
    """Return when gradients are emptied, from which batches' gradients the last update follows."""

    def since_the_first():
        # Momentum fades: from the first batch of an epoch to the first of the next it loses a quarter.
        last = books.followed()[-1].abs()
        return last[0] > 0.95 * last[len(last) // epochs * (epochs - 1)]

    return {
        "your fit never empties the gradients, so each update repeats all earlier ones; "
        "clear them before each backward pass": since_the_first,
        "your fit empties the gradients only when an epoch begins, so they pile up; "
        "clear them before each backward pass": lambda: (
            not since_the_first()
        ),
    }


def step_slips(books, epochs):
    """Return what is wrong with the steps, from when the parameter moves and which way."""

    def moved():
        return [bool(update.any()) for update in books.updates()]

    def last_of_each():
        count = len(books.batches) // epochs
        return [place % count == count - 1 for place in range(len(books.batches))]

    return {
        NEVER_BACKWARD: lambda: not books.batches,
        "your fit makes a new optimizer for each batch, which forgets the batches before; "
        "make one before the loops": lambda: (
            len(books.began_anew()) == len(books.batches) - 1 > 0
        ),
        "your fit makes a new optimizer in each epoch, which forgets the epochs before; "
        "make one before the loops": lambda: (
            0 < len(books.began_anew()) < epochs
        ),
        "your fit takes no step, or empties the gradients just before it; "
        "clear them first, then call backward and step": lambda: (
            moved() and not any(moved())
        ),
        "your fit updates once an epoch, after the last batch; it should update after each batch": lambda: (
            any(moved()) and moved() == last_of_each()
        ),
        "your updates follow the gradient upwards; a step should go against it": lambda: any(
            float(found[-1]) < -0.5 * float(found.abs().max()) for found in books.followed()[:1]
        ),
        "your step comes before backward, so each update follows the batch before": lambda: (
            not moved()[0] and all(moved()[1:])
        ),
    }


def order_slips(books, examples, epochs, batch_size):
    """Return what is wrong with the examples of the epochs, or with their batches."""
    stream, sizes = books.order(), [len(batch.examples) for batch in books.batches]
    trained = len(stream) // examples

    def whole_epochs():
        each = [sorted(stream[i * examples :][:examples]) for i in range(trained)]
        return bool(each) and len(stream) == trained * examples and each == [list(range(examples))] * trained

    return {
        NEVER_BACKWARD: lambda: not stream,
        DROPPED: lambda: drops_last(books, examples, epochs, batch_size),
        f"your fit trains for {trained} epochs in place of {epochs}": lambda: (
            whole_epochs() and trained != epochs
        ),
        "your last batch is filled up with examples that the epoch has had; it should be shorter": lambda: (
            examples % batch_size and sizes == [batch_size] * (epochs * math.ceil(examples / batch_size))
        ),
        "your batches overlap: the next one should begin where the last one ends": lambda: (
            len(stream) > epochs * examples
            and any(set(a.examples) & set(b.examples) for a, b in pairwise(books.batches[:2]))
        ),
        "your epochs repeat some examples and miss others; each should go through all of them once": lambda: (
            len(stream) == epochs * examples and not whole_epochs()
        ),
        "your fit puts all examples into one batch; it should split them into batches of batch_size": lambda: (
            sizes == [examples] * epochs and epochs * examples > batch_size
        ),
    }


DROPPED = "your fit leaves out the last batch when it is short; it should train on every example in each epoch"
NEVER_BACKWARD = "your fit never calls backward, or on a loss that is cut off from the logits"


def drops_last(books, examples, epochs, batch_size):
    sizes = [len(batch.examples) for batch in books.batches]
    return bool(examples % batch_size) and sizes == [batch_size] * (epochs * (examples // batch_size)) != []


# --- helpers ---


def ragged_mask(draw):
    """Padding at the end, at the start, in between, and none; position 0 is real but in the second row."""
    mask = torch.tensor(
        [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1]], dtype=torch.bool
    )
    return with_axes(mask.to(draw.device), "batch", "time")


def hidden_for(draw, **options):
    return draw.normal(batch=4, time=5, width=7, **options)


def parameters_of(model):
    """Return copies of the parameters by name, with their gradients."""
    with torch.no_grad():
        return dict(model.named_parameters())


def classifier(submission, draw, **options):
    """Build a small classifier, in eval mode, with noise on every parameter: small and zero beginnings hide much."""
    model = submission.EncoderClassifier(23, 5, **{**SMALL, **options})
    learned = {name: value for name, value in parameters_of(model).items() if value.requires_grad}
    noise = {
        name: torch.randn(value.shape, generator=draw.generator).to(value) * 0.3
        for name, value in learned.items()
    }
    model.load_state_dict({**model.state_dict(), **{name: learned[name] + noise[name] for name in noise}})
    model.to(draw.device)
    model.eval()
    return model


def logits_of(model, tokens, name="logits", classes=5):
    """Call the model without gradients and insist on finite logits."""
    with torch.no_grad():
        logits = model(tokens)
    return expect(logits, name, axes=LOGITS).is_tensor(shape=(len(tokens), classes)).is_finite()


def plain_logits(model, tokens):
    """Call the model on real tokens: that this gives finite logits at all is another check's affair."""
    with precondition("a text without padding must get finite logits [B, C]"):
        return logits_of(model, tokens).actual


def share_parameters(model, other):
    """Give `model` the parameters of `other` wherever both have one of that name and shape."""
    state, given = model.state_dict(), parameters_of(other)
    same = {
        name: value for name, value in given.items() if name in state and state[name].shape == value.shape
    }
    model.load_state_dict({**state, **same})


def real_tokens(draw, batch=3, time=6, high=23):
    """Draw tokens without padding (0)."""
    return draw.integers(1, high, batch=batch, time=time)


def training_data(draw, examples, classes=3):
    """Return tokens whose first column names the example, and labels."""
    names = torch.arange(examples, device=draw.device)[:, None]
    tokens = torch.cat([names, draw.integers(0, 9, example=examples, time=2)], dim=1)
    tokens = with_axes(tokens, "example", "time")
    return tokens, draw.integers(0, classes, example=examples)


def table(submission, draw, examples):
    """Make a probe and its books; return them with tokens that name its rows, and labels."""
    books = TrainingBooks(submission, draw, draw.normal(example=examples, label=3, scale=2.0))
    return books, *training_data(draw, examples)


def generator(seed):
    return torch.Generator().manual_seed(seed)


def floats(losses, epochs):
    """Insist on a list of floats, one an epoch; NumPy's floats are floats too."""
    found = []
    for i, loss in enumerate(expect(losses, "losses").is_list(epochs)):
        if "builtins.float" in type_names(loss):
            loss = float.fromhex(loss.hex())
        expect(loss, f"losses[{i}]").is_scalar(float)
        found.append(loss)
    return torch.tensor(found)


def trained_on(books, examples, epochs):
    """Return the batches of each epoch, when every epoch holds every example once."""
    batches, stream = [batch.examples for batch in books.batches], books.order()
    if len(stream) != epochs * examples:
        never = [i for i in range(examples) if i not in stream]
        fail(
            f"wrong number of examples  {epochs} epochs of {examples} trained on {len(stream)}; "
            f"want {epochs * examples}",
            f"  in batches of {[len(batch) for batch in batches[:12]]}",
            *([f"  never trained on: {never[:12]}"] if never else []),
            "  an epoch goes through every example once, also those left for a short last batch",
        )
    for epoch in range(epochs):
        seen = stream[epoch * examples :][:examples]
        if sorted(seen) != list(range(examples)):
            fail(
                f"wrong examples  epoch {epoch} trained on {seen[:12]}",
                f"  more than once: {[i for i in range(examples) if seen.count(i) > 1][:12]}",
                f"  not trained on: {[i for i in range(examples) if i not in seen][:12]}",
            )
    per_epoch = len(batches) // epochs
    return [batches[epoch * per_epoch :][:per_epoch] for epoch in range(epochs)]


# --- pool ---


@check(aspect="shape")
def test_pool_shapes(submission, draw):
    """pooling makes [B, D] of [B, T, D], whatever the strategy

    > [B, D], in the dtype of hidden.
    """
    for strategy in POOLINGS:
        for batch, time, width in ((3, 5, 4), (1, 6, 3), (2, 1, 5)):
            hidden = draw.normal(batch=batch, time=time, width=width)
            mask = draw.mask(keep=0.7, batch=batch, time=time)
            vector = submission.pool(hidden, mask, strategy)
            with supposing(lambda: shape_slips(vector, strategy, batch, time, width)):
                expect(vector, f"{strategy} pooling", axes=POOLED).is_tensor(
                    shape=(batch, width), dtype=torch.float32
                )


@check(aspect="values", follows=test_pool_shapes)
def test_pool_cls(submission, draw):
    """cls takes the vector at position 0

    > "cls", the vector at position 0; "mean" or "max", over the real positions, column by column.
    """
    hidden = hidden_for(draw)
    mask = ragged_mask(draw)
    vector = submission.pool(hidden, mask, "cls")
    with supposing(lambda: pooling_slips(vector, hidden, mask, "cls")):
        expect(vector, "cls pooling", axes=POOLED).equals(hidden[:, 0])


@check(aspect="values", points=2.5, follows=test_pool_shapes)
def test_pool_mean(submission, draw):
    """mean is the average of the real positions and of no others

    > "cls", the vector at position 0; "mean" or "max", over the real positions, column by column.
    """
    hidden, mask = hidden_for(draw, shift=1.0), ragged_mask(draw)
    alone = with_axes(torch.eye(5, dtype=torch.bool, device=draw.device)[1:], "batch", "time")
    for real in (mask, alone):  # some real positions, and one in each row
        vector = submission.pool(hidden, real, "mean")
        with supposing(lambda: pooling_slips(vector, hidden, real, "mean")):
            expect(vector, "mean pooling", axes=POOLED).close_to(oracle(pooled(real, "mean"), hidden))


@check(aspect="values", follows=test_pool_shapes)
def test_pool_max(submission, draw):
    """max is the greatest real value of each column, also where all are far below zero

    > "cls", the vector at position 0; "mean" or "max", over the real positions, column by column.
    """
    mask = ragged_mask(draw)
    for shift, scale in ((0.0, 1.0), (-6.0, 1.0), (-1e11, 1e9)):
        hidden = hidden_for(draw, shift=shift, scale=scale)
        hidden[~mask] += 9 * scale  # padding is greater than all that is real
        vector = submission.pool(hidden, mask, "max")
        name = f"max pooling of numbers around {shift:g}"
        with supposing(lambda: pooling_slips(vector, hidden, mask, "max")):
            expect(vector, name, axes=POOLED).close_to(oracle(pooled(mask, "max"), hidden))


@check(aspect="masks", points=1.5, follows=test_pool_shapes)
def test_pool_padding_only(submission, draw):
    """a row of padding only gives zeros, by mean and by max

    > Mean and max of a row of padding only are zeros, with finite gradients.
    """
    hidden, mask = hidden_for(draw, shift=-3.0), ragged_mask(draw)
    mask[1] = False
    for strategy in ("mean", "max"):
        vector = submission.pool(hidden, mask, strategy)
        with supposing(lambda: padding_only_slips(vector, hidden[1], strategy)):
            expect(vector, f"{strategy} pooling", axes=POOLED).is_tensor(
                shape=(4, 7)
            ).is_finite().is_zero_where(~mask.any(dim=1, keepdim=True), why="row 1 of the mask is all False")


@check(aspect="gradient", follows=[test_pool_cls, test_pool_mean, test_pool_max])
def test_pool_gradients(submission, draw):
    """gradients reach the real positions only, and stay finite in a row of padding only

    > "cls", the vector at position 0; "mean" or "max", over the real positions, column by column.
    > Mean and max of a row of padding only are zeros, with finite gradients.
    """
    mask = ragged_mask(draw)
    for strategy in POOLINGS:
        for padding_only in (False, True):
            mask = mask.clone()
            mask[2] &= not padding_only
            hidden = hidden_for(draw, requires_grad=True)
            with torch.no_grad():
                hidden[..., 0] -= 10  # a feature whose greatest value is below the 0 of padding
            vector = submission.pool(hidden, mask, strategy)

            def mended():
                slope = torch.autograd.grad(submission.pool(hidden, mask, strategy).sum(), hidden)[0]
                return strategy == "mean" and padding_only and slope[2].isnan().any()

            say = (
            "your mean divides by zero and mends the NaN later, so one is left in the gradient; "
            "keep the divisor above zero"
        )
            with supposing({say: mended}):
                expect_gradients(
                    vector,
                    {"hidden": hidden},
                    draw,
                    oracle=pooled(mask, strategy),
                    names=[f"{strategy} pooling"],
                )


@check(aspect="errors")
def test_pool_strategy(submission, draw):
    """a strategy that is none of the three raises ValueError

    > ValueError: another strategy.
    """
    hidden, mask = hidden_for(draw), ragged_mask(draw)

    def gives(strategy, other):
        found = submission.pool(hidden, mask, strategy)
        return torch.allclose(found, pooled(mask, other)(hidden), atol=1e-5)

    def raises(name):
        with expect_raises(name, "it is unknown"):
            submission.pool(hidden, mask, "median")
        return True

    for strategy in ("median", "CLS", ""):
        slips = {
            **{
                f"your pooling treats an unknown strategy as {other}; raise a ValueError": lambda other=other: (
                    gives("median", other) and gives("", other)
                )
                for other in POOLINGS
            },
            "your pooling returns None for a strategy that it does not know; raise a ValueError": lambda: (
                submission.pool(hidden, mask, "median") is None
            ),
            "your pooling looks an unknown strategy up and raises KeyError; raise a ValueError": lambda: (
                raises("KeyError")
            ),
            "your pooling lowers the case of the strategy; it should refuse 'CLS'": lambda: (
                raises("ValueError") and gives("CLS", "cls")
            ),
        }
        with (
            supposing("your pooling does not end in raise ValueError where it does not know the strategy"),
            supposing(slips),
            expect_raises("ValueError", what=f"there is no pooling by {strategy!r}"),
        ):
            submission.pool(hidden, mask, strategy)
    with expect_raises("ValueError", what="there is no pooling by 'median'"):
        classifier(submission, draw, pooling="median")(real_tokens(draw))


@check(aspect="arguments", follows=[test_pool_cls, test_pool_mean, test_pool_max])
def test_pool_promises(submission, draw):
    """however pooling is called, its vectors are those of these arguments, which it leaves as they were

    > [B, D], in the dtype of hidden.
    > Arguments are left as they were and need not be contiguous in memory.
    > All of it works for any sizes: texts of one token and of hundreds
    """

    def right(hidden, mask, strategy):
        return pooled(mask, strategy)(hidden)

    for strategy in POOLINGS:
        hidden = draw.normal(batch=2, time=66, width=3)
        call = {"hidden": hidden, "mask": draw.mask(keep=0.6, batch=2, time=66), "strategy": strategy}
        part = Part("pool", {}, [f"{strategy} pooling"], [POOLED], [torch.bfloat16], gradients=False)
        part.expect(submission, right, draw, [call])


# --- EncoderClassifier ---


@check(aspect="shape", stand_ins=["pool"])
def test_logits_shape(submission, draw):
    """tokens [B, T] give logits [B, classes], up to max_len tokens

    > logits [B, C]: free numbers
    > the longest sequence that must work.
    """
    model = submission.EncoderClassifier(31, 6)  # all else by default
    expect(model, "EncoderClassifier(31, 6)").is_instance("torch.nn.Module")
    model.to(draw.device)

    def texts_for_positions():
        model(real_tokens(draw, 4, 4))  # of other sizes, the same mask fits nothing
        for time in (7, 1):
            with expect_raises("RuntimeError", "the mask does not fit"):
                model(real_tokens(draw, 3, time))
        return True

    for batch, time in ((3, 7), (1, 4), (2, 1), (2, 128)):
        slips = {
            "your encoder gets the mask as [B, T], which it reads as [T, T]; it should get it as [B, 1, 1, T]": (
                texts_for_positions
            ),
            "your classifier gives logits for every position; pool before the head": lambda: (
                logits.shape == (batch, time, 6)
            ),
        }
        with supposing(slips):
            logits = model(draw.integers(0, 31, batch=batch, time=time))
            expect(logits, "logits", axes=LOGITS).is_tensor(
                shape=(batch, 6), dtype=torch.float32, device=draw.device
            )


@check(aspect="parameters", follows=test_logits_shape)
def test_sizes(submission, draw):
    """the model is built in the sizes asked for

    > sizes of the encoder.
    > the longest sequence that must work.
    > d_ff: int = 128,
    """
    sizes = dict(vocab_size=11, num_classes=3, d_model=8, num_heads=2, d_ff=12, num_layers=1, max_len=9)
    larger = dict(vocab_size=17, num_classes=5, d_model=16, d_ff=20, num_layers=3)

    def parameters(**sizes):
        return sum(value.numel() for value in parameters_of(submission.EncoderClassifier(**sizes)).values())

    few = parameters(**sizes)
    for name, size in larger.items():
        if parameters(**{**sizes, name: size}) <= few:
            fail(
                f"no more parameters with {name}={size} than with {name}={sizes[name]}",
                "  is it used?",
                cause=f"your classifier ignores {name}; pass it on to the part that it sizes",
            )

    unsaid, said = parameters(vocab_size=31, num_classes=6), parameters(vocab_size=31, num_classes=6, **STUB)
    if unsaid != said:
        fail(
            f"other defaults  EncoderClassifier(31, 6) has {unsaid:,} parameters; want {said:,}",
            f"  as with {', '.join(f'{name}={size}' for name, size in STUB.items())}, which the stub says",
            cause="your classifier has other sizes by default than the stub",
        )

    with supposing("your positions end before max_len, as if it were 128; make as many as max_len says"):
        long = classifier(submission, draw, max_len=150)
        logits_of(long, real_tokens(draw, batch=2, time=150), "logits of 150 tokens with max_len=150")

    tokens = real_tokens(draw)
    two, four = (classifier(submission, draw, d_model=8, num_heads=heads) for heads in (2, 4))
    share_parameters(four, two)
    heads_ignored = {
        "your encoder has the same number of heads, whatever num_heads is": lambda: (
            not any(relation() for relation in attention_slips(submission, draw).values())
        )
    }
    with supposing(heads_ignored | attention_slips(submission, draw)):
        logits_of(four, tokens, "logits with 4 heads").differs_from(
            logits_of(two, tokens).actual, why="2 heads with the same parameters must give others"
        )


@check(aspect="values", follows=test_logits_shape)
def test_raw_logits(submission, draw):
    """logits are free numbers: no softmax has made probabilities of them

    > logits [B, C]: free numbers, no softmax. Positions matter; padding never does.
    """
    logits = plain_logits(classifier(submission, draw), real_tokens(draw, batch=4))
    if bool((logits >= 0).all()) and bool(((logits.double().sum(dim=1) - 1).abs() < 1e-3).all()):
        fail(
            "probabilities  each row of logits sums to one, and none is negative",
            "  cross-entropy takes the softmax itself; a second one before it flattens the gradient",
            cause="your classifier returns probabilities, so cross-entropy applies softmax a second time; "
            "return the logits",
        )
    if bool((logits.double().logsumexp(dim=1).abs() < 1e-3).all()):
        fail(
            "log-probabilities  each row of logits is what a log-softmax gives: none is above zero",
            "  cross-entropy takes the softmax itself; give the scores of the head as they are",
            cause="your classifier returns logarithms of probabilities; it should return logits, the numbers before "
            "the softmax",
        )
    others = [
        plain_logits(classifier(submission, draw, pooling=pooling), real_tokens(draw))
        for pooling in POOLINGS * 2
    ]
    for side, beyond in (("above", torch.cat(others) > 0), ("below", torch.cat(others) < 0)):
        if not bool(beyond.any()):
            fail(
                f"not free  no logit of six classifiers is {side} zero",
                cause="your classifier ends in an activation such as sigmoid or relu; return the numbers before it",
            )


@check(aspect="values", follows=test_logits_shape, stand_ins=["pool"])
def test_tokens_matter(submission, draw):
    """every real token counts, from the first to the last

    > Every real token has its say.
    """
    for pooling in POOLINGS:
        model = classifier(submission, draw, pooling=pooling)
        tokens = real_tokens(draw, batch=2)
        before = plain_logits(model, tokens)
        for place in (0, 3, 5):
            changed = tokens.clone()
            changed[:, place] = tokens[:, place] % 22 + 1  # another real token
            after = logits_of(model, changed, f"logits with pooling={pooling!r}")
            with supposing(lambda: way_in_slips(submission, draw, pooling)):
                after.differs_from(before, why=f"another token at position {place} of 6")


@check(aspect="values", follows=test_logits_shape, stand_ins=["pool"])
def test_order_matters(submission, draw):
    """the order of the tokens matters, with every pooling

    > logits [B, C]: free numbers, no softmax. Positions matter; padding never does.
    """
    for pooling in POOLINGS:
        model = classifier(submission, draw, pooling=pooling, max_len=6)
        tokens = with_axes(torch.stack([draw.permutation(22)[:6] + 1 for _ in range(2)]), "batch", "time")
        tokens = tokens.to(draw.device)
        swapped = tokens[:, [0, 1, 2, 3, 5, 4]]  # the last position there can be is one of its own, too
        before = plain_logits(model, tokens)
        after = logits_of(model, swapped, f"logits with pooling={pooling!r}")
        with supposing(lambda: way_in_slips(submission, draw, pooling) | position_slips(submission, draw)):
            after.differs_from(before, why="the same tokens in another order")


@check(aspect="masks", points=3, follows=test_logits_shape, stand_ins=["pool"])
def test_padding_invariance(submission, draw):
    """padding never matters: neither more of it nor longer neighbours in the batch change a row

    > logits [B, C]: free numbers, no softmax. Positions matter; padding never does.
    """
    for pooling in POOLINGS:
        model = classifier(submission, draw, pooling=pooling)
        tokens = real_tokens(draw, batch=3, time=9)
        lengths = (4, 9, 1)
        for row, length in enumerate(lengths):
            tokens[row, length:] = 0
        together = logits_of(model, tokens, f"logits with pooling={pooling!r}").actual
        wider = torch.cat([tokens, torch.zeros_like(tokens[:, :5])], dim=1)
        with supposing(lambda: way_in_slips(submission, draw, pooling)):
            logits_of(model, wider, f"logits with pooling={pooling!r} and 5 more columns of padding").same_as(
                together, name="that without"
            )
            for row, length in enumerate(lengths):
                alone = logits_of(
                    model, tokens[row : row + 1, :length], f"logits with pooling={pooling!r}, row alone"
                )
                alone.same_as(
                    together[row : row + 1], name=f"row {row} in a batch, padded from {length} to 9,"
                )
        tokens = real_tokens(draw, batch=3, time=9)
        tokens[0, :3], tokens[1, ::4] = 0, 0
        together = logits_of(model, tokens).actual
        logits_of(
            model, tokens[:2], f"logits with pooling={pooling!r}, padding in front and between"
        ).same_as(together[:2], name="those in a batch with a row without padding")


@check(aspect="masks", points=2, follows=test_logits_shape, stand_ins=["pool"])
def test_pad_id(submission, draw):
    """pad_id says which token is padding, and its own vector is never read

    > the token that is padding.
    > Then 0 is an ordinary word.
    """
    for pooling in POOLINGS:
        tokens = draw.integers(1, 19, batch=4, time=8)
        tokens[0, 5:], tokens[1, 2:4], tokens[2, 7] = 0, 0, 0
        if pooling != "cls":
            tokens[3, :3] = 0  # position 0 is what cls pools, so it stays real there
        model = classifier(submission, draw, pooling=pooling)
        other = classifier(submission, draw, pooling=pooling, pad_id=22)
        share_parameters(other, model)
        as_22 = torch.where(tokens == 0, 22, tokens)
        with supposing(lambda: pad_id_slips(submission, draw) | way_in_slips(submission, draw, pooling)):
            renamed = logits_of(other, as_22, f"logits with pooling={pooling!r} and pad_id=22")
            renamed.same_as(
                logits_of(model, tokens).actual,
                name="that with pad_id=0",
                why="both see the same real tokens",
            )
            after = logits_of(other, tokens, f"logits with pooling={pooling!r} and pad_id=22")
            after.differs_from(renamed.actual, why="token 0 is a real token when pad_id is 22")


@check(aspect="stability", follows=test_logits_shape, stand_ins=["pool"])
def test_padding_only(submission, draw):
    """a row of padding only gives finite logits and gradients, the same however long it is

    > A row that is nothing but padding has no vectors to pool.
    """
    for pooling in POOLINGS:
        model = classifier(submission, draw, pooling=pooling)
        tokens = real_tokens(draw)
        tokens[1] = 0
        if pooling != "cls":
            short = logits_of(model, tokens[1:2, :2], f"logits of 2 x padding, pooling={pooling!r}")
            short.same_as(logits_of(model, tokens[1:2]).actual, name="that of 6 x padding")
        logits = model(tokens)
        expect(logits, f"logits with pooling={pooling!r}", axes=LOGITS).is_tensor(shape=(3, 5)).is_finite()
        (logits * draw.like(logits)).sum().backward()
        for name, parameter in parameters_of(model).items():
            if parameter.grad is not None:
                expect(parameter.grad, f"{name}.grad with pooling={pooling!r}").is_finite()


@check(aspect="values", points=2.5, follows=test_logits_shape, stand_ins=["pool"])
def test_pooling_used(submission, draw):
    """the classifier pools by the strategy it was built with

    > the strategy for `pool`.
    """
    tokens = real_tokens(draw)
    models = {pooling: classifier(submission, draw, pooling=pooling) for pooling in POOLINGS}
    for one, other in (("mean", "cls"), ("max", "cls"), ("max", "mean")):
        share_parameters(models[one], models[other])
        before = plain_logits(models[other], tokens)
        after = logits_of(models[one], tokens, f"logits with pooling={one!r}")
        with supposing("your classifier pools by one strategy, whatever it was built with"):
            after.differs_from(before, why=f"pooling={other!r} gives the same")


@check(aspect="mode", points=2.5, follows=test_logits_shape)
def test_dropout(submission, draw):
    """dropout acts in train mode and only there

    > handed to the encoder; it acts in train mode only.
    """
    tokens = real_tokens(draw)
    plain, model = classifier(submission, draw), classifier(submission, draw, dropout=0.5)
    share_parameters(plain, model)
    first = plain_logits(model, tokens)
    with supposing("your dropout stays on in eval mode; it should act in train mode only"):
        logits_of(model, tokens, "logits in eval mode").same_as(first, name="that of the call before")
    logits_of(model, tokens, "logits in eval mode").same_as(
        logits_of(plain, tokens).actual, name="that with dropout=0.0"
    )
    model.train()
    with supposing("your classifier never passes dropout on; it should pass it to the encoder"):
        logits_of(model, tokens, "logits in train mode").differs_from(first, why="dropout is 0.5")
    plain.train()
    logits_of(plain, tokens, "logits in train mode with dropout=0.0").same_as(
        logits_of(plain, tokens).actual, name="that of the call before"
    )
    # Of what is dropped before the encoder the table gets no gradient; each of 900 words occurs once.
    model = submission.EncoderClassifier(901, 5, 12, 3, 20, 1, 30, "mean", dropout=0.5).to(draw.device)
    model.train()
    model(with_axes(torch.arange(1, 901, device=draw.device).view(30, 30), "batch", "time")).sum().backward()
    tables = [value.grad for value in parameters_of(model).values() if value.shape == (901, 12)]
    for table in (one for one in tables if one is not None):
        dropped = table[1:].view(30, 30, 12) == 0
        for axis, name in enumerate(("place of all texts", "place of a text")):
            expect(bool(dropped.all(dim=axis).any()), f"a feature that is dropped at each {name}").is_value(
                False
            )
    # What makes a feature of a sublayer's output gets no gradient where that feature is dropped.
    model = classifier(submission, draw, d_model=16, num_heads=2, max_len=15, dropout=0.5)
    model.train()
    model(real_tokens(draw, 1, 2)).sum().backward()  # alone, a token leaves queries the rounding of 0
    found = [one.grad for one in parameters_of(model).values()]
    makers = [one for one in found if one is not None and one.ndim == 2 and len(one) == 16]
    with precondition("gradients must reach the encoder"):  # which another check asks for
        expect(any(bool(one.any()) for one in makers), "whether any does").is_value(True)
    if not any(0 < int((one == 0).all(dim=1).sum()) < 16 for one in makers):
        fail(
            "no dropout in the encoder  every feature of each sublayer's output is kept, at dropout=0.5",
            cause="your classifier does not pass dropout to the encoder",
        )


@check(aspect="arguments", follows=[test_logits_shape, test_padding_invariance, test_dropout])
def test_model_promises(submission, draw):
    """however a model is called, its logits are those of these tokens and of its state_dict

    > Logits and pooled vectors have the dtype of what they are made of
    > a `state_dict` holds all that a model knows
    > nothing is kept from one text, batch, model or call to the next
    > Arguments are left as they were and need not be contiguous in memory.
    """
    made = {"vocab_size": 23, "num_classes": 5, **SMALL, "num_heads": 4, "max_len": 66, "pooling": "mean"}
    tokens = real_tokens(draw, batch=2, time=66)
    tokens[0, 40:] = 0
    dtypes = [torch.float64, torch.bfloat16]
    part = Part("EncoderClassifier", made, ["logits"], [LOGITS], dtypes, defaults=["num_heads"])
    part.expect(submission, None, draw, [{"tokens": tokens}])


@check(aspect="gradient", follows=test_logits_shape)
def test_gradients(submission, draw):
    """gradients tell how the logits depend on every parameter

    > gradients reach every parameter that the logits depend on
    """
    model = classifier(submission, draw, pooling="mean")
    model.double()
    tokens = real_tokens(draw)
    tokens[0, 4:] = 0
    expect_parameter_gradients(
        model,
        lambda: model(tokens),
        draw,
        "logits",
        LOGITS,
        shape=(3, 5),
        notes=(".detach(), .item(), NumPy and torch.no_grad() cut gradients off",),
    )


@check(aspect="scratch", follows=test_logits_shape)
def test_from_scratch(submission, draw):
    """none of torch's transformer classes is used

    > torch's own nn.Transformer modules are excluded.
    """
    plain_logits(classifier(submission, draw), real_tokens(draw))
    expect_from_scratch(submission)


# --- fit ---


@check(aspect="values", points=3.5)
def test_fit_losses(submission, draw):
    """fit returns each epoch's mean cross-entropy per example, as a list of floats

    > One float an epoch: the mean loss per example while it was trained.
    """
    for examples, batch_size, epochs in ((9, 4, 3), (9, 3, 3), (5, 8, 1)):
        books, tokens, labels = table(submission, draw, examples)
        order = draw.permutation(examples).to(draw.device)  # as many examples again, other tokens
        options = {"epochs": epochs, "batch_size": batch_size, "lr": 1e-3, "generator": generator(1)}
        losses = submission.fit(books.model, tokens[order], labels[order], **options)
        wanted = oracle(lambda rows: cross_entropy(rows, labels.cpu()).expand(epochs), books.rows)
        why = (
            "the cross-entropy of each example with its own label; those of a short last batch count no more"
        )
        with supposing(lambda: result_slips(losses, books, epochs)):
            numbers = floats(losses, epochs)
        in_order = sorted(books.order()) == sorted([*range(examples)] * epochs)
        losses_of = loss_slips(books, labels, order, epochs, batch_size)
        with supposing(losses_of if in_order else order_slips(books, examples, epochs, batch_size)):
            expect(numbers, "losses", axes="epoch").close_to(wanted, why=why)


@check(aspect="learning", points=2.5)
def test_fit_every_example(submission, draw):
    """every epoch trains on every example once, in batches of batch_size and a shorter last one

    > Each epoch takes every example once, in batches of batch_size with a shorter last one
    """
    for examples, options, epochs, batch_size in (
        (11, {"epochs": 2, "batch_size": 4, "generator": generator(2)}, 2, 4),
        (7, {"epochs": 1, "batch_size": 9}, 1, 9),
        (64, {}, 10, 32),  # the defaults
    ):
        books, tokens, labels = table(submission, draw, examples)
        submission.fit(books.model, tokens, labels, **options)
        other_default = "your fit has another default than the stub; it should be 10 epochs, in batches of 32"
        # By then batch_size and epochs are known to be used.
        slips = order_slips(books, examples, epochs, batch_size) if options else other_default
        with supposing(slips):
            for batches in trained_on(books, examples, epochs):
                sizes = [len(batch) for batch in batches]
                if max(sizes) > batch_size or len(sizes) != math.ceil(examples / batch_size):
                    fail(
                        f"wrong batches  {examples} examples with batch_size {batch_size}  got batches of {sizes}"
                    )


@check(aspect="gradient", points=2.5)
def test_fit_zeroes_gradients(submission, draw):
    """each update follows the gradient of its own batch and its own labels alone

    > logits → loss → empty the gradients → backward → step
    > to give the labels [N] for tokens [N, T], by cross-entropy
    """
    books, tokens, labels = table(submission, draw, 10)
    submission.fit(books.model, tokens, labels, epochs=2, batch_size=4, lr=0.05, generator=generator(3))
    astray = books.follows_wrong_loss(labels)
    if astray is not None:
        with supposing(lambda: gradient_slips(books, labels)):
            fail(
                f"wrong gradient  batch {astray} was not trained on the cross-entropy of its own labels",
                stage="gradient",
            )
    stale = books.follows_stale_gradients()
    if stale is not None:
        with supposing(lambda: stale_slips(books, epochs=2)):
            fail(
                f"old gradients  update {stale[0]} also follows examples {stale[1][:6]}, which earlier batches held",
                "  backward adds to .grad; somebody has to empty it between two updates",
                stage="gradient",
            )
    books, tokens, labels = table(submission, draw, 10)
    cross_entropy(books.model(tokens), labels).backward()  # so the model comes with gradients
    submission.fit(books.model, tokens, labels, epochs=1, batch_size=10, generator=generator(3))
    with precondition("fit must train on every example"):
        expect(len(books.batches), "number of batches").is_value(2)
    left, own = books.followed()[1].abs().tolist()
    if left > own / 2:
        fail(
            "old gradients  the first update also follows those with which the model came",
            stage="gradient",
            cause="your fit does not empty the gradients before the first backward, so it adds to earlier ones",
        )


@check(aspect="learning", points=2.5)
def test_fit_updates(submission, draw):
    """every batch moves the parameters, and by how much is up to lr

    > logits → loss → empty the gradients → backward → step
    > it learns at the `lr` it is given
    > lr: float = 1e-3,
    > It is made once, since it remembers earlier batches.
    """
    moved = {}
    for lr in (0.1, 0.001, None):
        books, tokens, labels = table(submission, draw, 10)
        rate = {} if lr is None else {"lr": lr}
        submission.fit(books.model, tokens, labels, epochs=2, batch_size=4, generator=generator(4), **rate)
        updates, followed = books.updates(), books.followed()
        with supposing(lambda: step_slips(books, epochs=2)):
            still = sum(not bool(update.any()) for update in updates)
            if still or not updates:
                fail(
                    f"no update  after {still} of {len(updates)} batches the parameters are as before",
                    "  one update for each batch: backward, then step, with the gradient still in place",
                )
            astray = [step for step, found in enumerate(followed) if not float(found[-1]) > 0]
            if astray:
                fail(
                    f"wrong direction  update {astray[0]} does not go down the gradient of its batch",
                    "  a parameter moves against its gradient: step() of an optimizer does",
                )
            anew = books.began_anew()
            if anew:
                fail(
                    f"a new optimizer  update {anew[0]} is again that of an optimizer's first step",
                    "  it divides by the size of the batch's own gradient alone, as if there had been none before",
                )
        moved[lr] = float(torch.stack(updates).sum(dim=0).abs().mean())
    if not moved[0.1] > 5 * moved[0.001]:
        fail(
            f"lr is not used  with lr=0.1 parameters move by {moved[0.1]:.2g}, with lr=0.001 by {moved[0.001]:.2g}",
            cause="your fit uses a learning rate of its own; it should use lr",
        )
    if not moved[0.001] / 1.6 < moved[None] < 1.6 * moved[0.001]:  # the tables are not the same
        fail(
            f"another lr by default  parameters move by {moved[None]:.2g}, with lr=0.001 by {moved[0.001]:.2g}",
            "  the stub says what is meant when nothing is said",
            cause="your fit has another learning rate by default; it should be 1e-3, as in the stub",
        )


@check(aspect="mode")
def test_fit_train_mode(submission, draw):
    """all of it happens in train mode

    > The model is put into train mode.
    """
    books, tokens, labels = table(submission, draw, 10)
    books.model.eval()  # as a model is left after a look at its accuracy
    submission.fit(books.model, tokens, labels, epochs=2, batch_size=4, generator=generator(5))
    modes = [batch.training for batch in books.batches]
    if not all(modes) or not modes:
        causes = {
            NEVER_BACKWARD: lambda: not modes,
            "your fit never switches to train mode; "
            "it should put the model into train mode before it trains": lambda: modes and not any(modes),
            "your fit stays in eval mode after it has measured the accuracy; "
            "it should switch back to train mode": lambda: (
                modes[0] and not modes[-1]
            ),
        }
        with supposing(causes):
            fail_in_eval_mode(f"{modes.count(False)} of {len(modes)} batches were trained on in eval mode")

    # What a model says of its mode is one thing; that dropout makes noise of every loss is another.
    model = classifier(submission, draw, dropout=0.5)
    tokens, labels = real_tokens(draw, batch=10), draw.integers(0, 5, example=10)
    still = logits_of(model, tokens).actual
    model.train()
    noisy = logits_of(model, tokens).actual
    if torch.equal(still, noisy):
        return  # its dropout does nothing, which costs its points elsewhere
    model.eval()
    losses = submission.fit(model, tokens, labels, epochs=2, batch_size=4, lr=1e-12, generator=generator(5))
    with precondition("fit must return its losses"):
        losses = floats(losses, 2)
    wanted = oracle(lambda logits: cross_entropy(logits, labels.cpu()), still)
    if bool(((losses - wanted.value).abs() <= wanted.tolerance).any()):
        fail_in_eval_mode("with dropout=0.5 a loss is what it is without")


def fail_in_eval_mode(how):
    fail(
        f"eval mode  {how}",
        "  the model may come in eval mode: fit has to switch, or dropout rests while it trains",
    )


@check(aspect="learning", points=2)
def test_fit_generator(submission, draw):
    """the order comes from the generator and from nothing else

    > in an order drawn from the generator
    > Shuffle the examples again in each epoch
    """
    tokens, labels = training_data(draw, 12)
    rows = draw.normal(example=12, label=3, scale=2.0)

    def trained(global_seed, epochs, **options):
        books = TrainingBooks(submission, draw, rows)
        given_module(submission, "probes").seed_everything(global_seed)
        losses = submission.fit(books.model, tokens, labels, epochs=epochs, **options)
        order = books.order()
        with precondition("fit must train on every example, and return its losses"):
            expect(len(order), "number of examples").is_value(epochs * 12)
            return order, floats(losses, epochs)

    options = {"epochs": 2, "batch_size": 5, "lr": 0.05}
    (first, losses), (again, same), (other, _) = (
        trained(global_seed, **options, generator=generator(seed))
        for seed, global_seed in ((6, 8), (6, 9), (7, 8))
    )
    shown = "  order of the first epoch: "
    if first != again:
        fail(
            "another order  from a generator of the same seed, when torch's global seed is another",
            f"{shown}{first[:12]} and {again[:12]}",
            PASS_ON,
            cause="your fit shuffles with torch's global generator though one is given; "
            "it should draw from the one given"
            if first == other
            else "",
        )
    expect(same, "losses with the same generator").same_as(losses, name="those of the run before")
    if first == other:
        as_they_stand = (
            "your fit goes through the examples in the order given; it should draw a new order in each epoch"
        )
        seeded = (
            "your fit seeds the generator again, so every run has the same order; "
            "use the generator in the state it is given"
        )
        cause = as_they_stand if first[:12] == list(range(12)) else seeded
        fail(
            "the same order  from generators of different seeds", f"{shown}{first[:12]}", PASS_ON, cause=cause
        )
    if first[:12] == first[12:]:
        fail(
            "the same order  in both epochs of one training",
            f"{shown}{first[:12]}",
            "  draw one for each epoch, or neighbours always share a batch",
            cause="your fit draws the order once, so neighbours always share a batch; each epoch should draw its own",
        )
    orders = [trained(global_seed, 1)[0] for global_seed in (8, 9)]
    if orders[0] == orders[1]:
        fail(
            "the same order  without a generator, when torch's global seed is another",
            f"{shown}{orders[0]}",
            "  without a generator, draw it from torch's global one, and seed that nowhere",
            cause="your fit seeds the order itself where no generator is handed in; draw it from torch's global one",
        )


PASS_ON = "  what draws the order of an epoch has to draw from the generator that fit is given"


@check(aspect="arguments")
def test_fit_arguments(submission, draw):
    """fit leaves tokens and labels as they were, contiguous in memory or not

    > Arguments are left as they were and need not be contiguous in memory.
    """
    rows, (tokens, labels) = draw.normal(example=9, label=3, scale=2.0), training_data(draw, 9)

    def model():
        return TrainingBooks(submission, draw, rows).model

    def options():
        return {"epochs": 2, "batch_size": 4, "lr": 1e-3, "generator": generator(8)}

    with precondition("fit must train at all"):
        losses = submission.fit(model(), tokens, labels, **options())
    expect_unchanged(submission)
    with precondition("fit must return its losses"):
        wanted = floats(losses, 2)
    tokens, labels = draw.noncontiguous(tokens), draw.noncontiguous(labels)
    losses = submission.fit(model=model(), tokens=tokens, labels=labels, **options())
    expect_unchanged(submission)
    expect(floats(losses, 2), "losses for non-contiguous tokens and labels", axes="epoch").same_as(
        wanted, name="those for contiguous ones"
    )


ROUNDS, EPOCHS, WANTED = 8, 6, 0.9


@check(aspect="learning", trained=True, points=4, follows=test_logits_shape)
def test_learning(submission, draw):
    """trained for at most 48 epochs, it reads 90% of sentences it has never seen (by word counts: 50%)

    > one encoder layer, D = 32, a second of training
    > one like AdamW is needed to learn much at such an lr
    """
    train, test = sentiment.splits(train=480, test=200, seed=draw.size(0, 1 << 20))
    model = submission.EncoderClassifier(
        len(sentiment.WORDS), 2, d_model=32, num_heads=4, d_ff=64, num_layers=1, max_len=16, pooling="max"
    )
    model.to(draw.device)
    order, accuracy = draw.generator, 0.0
    for _ in range(ROUNDS):
        model.train()
        submission.fit(
            model,
            train.tokens.to(draw.device),
            train.labels.to(draw.device),
            epochs=EPOCHS,
            batch_size=32,
            lr=5e-3,
            generator=order,
        )
        model.eval()
        logits = logits_of(
            model, test.tokens.to(draw.device), "logits of held-out sentences", classes=2
        ).actual
        accuracy = float((logits.argmax(dim=1).cpu() == test.labels).double().mean())
        if accuracy >= WANTED:
            return
    fail(
        f"too little learned  {accuracy:.0%} of held-out sentences are right after {ROUNDS * EPOCHS} epochs; "
        f"want {WANTED:.0%}",
        "  50% is what chance, or a model that is blind to order, gets; one blind to “not” gets 65%",
        "  passes with AdamW or the like at the lr handed in; plain SGD is too slow here",
    )
