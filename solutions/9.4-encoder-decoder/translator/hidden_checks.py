"""Hidden checks of 9.4.2: what is right only on the visible sizes, and what is kept from one call to the next."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_parameter_gradients,
    given_module,
    precondition,
    same_tensors,
    with_axes,
)

STATES, PAD, BOS, EOS = 97, 0, 1, 2


def built(submission, draw, **sizes):
    model = submission.Translator(**sizes).to(draw.device)
    given_module(submission, "probes").refill(model, draw.seed)
    return model


def words(draw, batch, time, vocab):
    """Draw words, the last of the vocabulary among them: in a smaller one it is not to be found."""
    found = draw.integers(1, vocab, batch=batch, time=time)
    found[0, 0] = vocab - 1
    return found


def scored(model, source, target, vocab):
    with precondition("forward must give finite logits [B, T, V]"), torch.no_grad():
        found = model(source, target)
        expect(found, "logits", axes="batch time token").is_tensor(shape=(*target.shape, vocab)).is_finite()
    return found


@check(aspect="padding", points=5.5)
def test_ragged(submission, draw):
    """sources of different lengths are translated in one batch as they are alone, for any sizes

    > All of it works for any sizes
    > Each row of a batch is read and written by itself.
    > gradients reach every parameter, the encoder's too
    """
    for num_layers, num_heads in ((1, 1), (3, 4)):
        source_vocab, vocab = draw.sizes(2, 9, 20)
        sizes = {
            "source_vocab": source_vocab,
            "target_vocab": vocab,
            "d_model": num_heads * 2 * draw.size(2, 5),
            "num_heads": num_heads,
            "d_ff": draw.size(5, 15),
            "num_layers": num_layers,
            "max_len": 66,
        }
        model = built(submission, draw, **sizes)
        source, target = words(draw, 3, 66, source_vocab), words(draw, 3, 66, vocab)
        lengths = [66, 1, draw.size(2, 30)]
        for row, length in enumerate(lengths):
            source[row, length:] = PAD
        together = scored(model, source, target, vocab)
        for row, length in enumerate(lengths):
            alone = scored(
                model,
                with_axes(source[row : row + 1, :length].contiguous(), "batch", "time"),
                with_axes(target[row : row + 1].contiguous(), "batch", "time"),
                vocab,
            )
            expect(together[row : row + 1], f"logits of row {row}", axes="batch time token").same_as(
                alone, name="the row alone", why=f"its source has {length} words of 66"
            )
        few = source[:, :3].contiguous(), target[:, :3].contiguous()
        alone = scored(model, *(words[:1] for words in few), vocab)
        expect(scored(model, *few, vocab)[:1], "logits of row 0", axes="batch time token").same_as(
            alone, name="the row alone", why="there are as many rows as words"
        )
        small = {**sizes, "d_ff": 4, "num_layers": 1, "pad_id": 5}
        expect_learned(built(submission, draw, **small), draw, vocab)
        # In front and in the middle: what stands there is not read, and all else is.
        source[:, [0, 5]], source[:, 6:10] = PAD, words(draw, 3, 4, source_vocab)
        before = scored(model, source, target, vocab)
        source[:, 9] = source[:, 9] % (source_vocab - 1) + 1
        after = scored(model, source, target, vocab)
        expect(after, "logits", axes="batch time token").differs_from(
            before, why="the last word of the source is another one, and padding is in front and between"
        )


def expect_learned(model, draw, vocab):
    """After one word, gradients reach the source as well; token 0 is a word where another one is padding."""
    model.double()
    source, target = (torch.tensor(ids, device=draw.device) for ids in ([[0, 3, 5], [6, 0, 0]], [[0], [3]]))
    shape = (2, 1, vocab)
    axes = "batch time token"
    expect_parameter_gradients(model, lambda: model(source, target), draw, "logits", axes, shape=shape)


@check(aspect="values", points=4.5)
def test_any_loss(submission, reference, draw):
    """the loss keeps its promises for any sizes, any padding and any smoothing, in every dtype

    > All of it works for any sizes
    > smoothing: float = 0.1, pad_id: int = 0
    """
    part = Part("smoothed_loss", outputs=["loss"], dtypes=[torch.float64, torch.bfloat16])
    calls = []
    for batch, time, vocab, said in (
        (3, 5, 7, {"smoothing": 0.05 + 0.01 * draw.size(0, 90), "pad_id": 3}),
        (1, 4, 70, {"smoothing": 0.3, "pad_id": 0}),
        (2, 1, 5, {}),
    ):
        pad_id = said.get("pad_id", 0)
        targets = draw.integers(0, vocab, batch=batch, time=time)
        targets[:, -2:], targets[:, 0] = pad_id, (pad_id + draw.size(1, vocab - 1)) % vocab
        calls.append(
            {
                "logits": draw.normal(batch=batch, time=time, token=vocab, scale=3.0),
                "targets": targets,
                **said,
            }
        )
    part.expect(submission, reference, draw, calls)


def beside(submission, reference, draw, *, batch, source, vocab, max_len, eos_shift, **options):
    """Compare translations of a scripted model with the reference's, also of the same sources in another order."""
    table = draw.normal(state=STATES, token=vocab, scale=1.5)
    table[:, [PAD, BOS]], table[:, EOS] = -25.0, table[:, EOS] + eos_shift
    model = given_module(submission, "probes").ScriptedTranslator(table)
    read = words(draw, batch, source, 40)
    options = {"bos_id": BOS, "eos_id": EOS, "max_len": max_len, **options}
    wanted = reference.translate(Scripted(table.cpu()), read.cpu(), **options)
    longest = int((wanted != PAD).any(dim=0).nonzero().max()) + 1
    most = max(max_len, wanted.shape[1])  # longer where ours makes a known mistake of theirs, too
    said = ", ".join(
        f"{name}={value}" for name, value in options.items() if name in ("beams", "length_penalty")
    )
    for order in (slice(None), range(batch - 1, -1, -1)):
        given = with_axes(read[order].contiguous(), "batch", "time")
        with same_tensors(submission):
            found = submission.translate(model=model, source=given, **options)
        expect(found, f"translations with {said}", axes="batch time").is_tensor(
            shape=(batch, None), dtype=torch.int64
        )
        expect(found.shape[1], "length of the result").is_between(longest, most)
        right = torch.nn.functional.pad(wanted[order, :longest], (0, found.shape[1] - longest), value=PAD)
        expect(found, f"translations with {said}", axes="batch time").equals(
            with_axes(right, "batch", "time").to(found.device)
        )


class Scripted(torch.nn.Module):
    """The probe's model, here, in the same dtype: hypotheses that are equal stay so."""

    def __init__(self, table):
        super().__init__()
        self.table, self.pad_id = table, PAD

    def encode(self, source):
        return source.unsqueeze(-1).to(self.table)

    def decode(self, target, memory, source):
        state = torch.zeros_like(target[:, 0])
        for word, kept in zip(source.unbind(1), memory[..., 0].long().unbind(1), strict=True):
            state = (5 * state + 2 * word + kept + 1) % STATES
        states = []
        for word in target.unbind(1):
            state = (5 * state + word + 1) % STATES
            states.append(state)
        return self.table[torch.stack(states, dim=1)]


@check(aspect="values", points=10)
def test_any_search(submission, reference, draw):
    """searches of any width and penalty find what they should, in long texts and large batches too

    > the `beams` with the best scores are kept, for each source by itself.
    > All of it works for any sizes
    """
    few, many = {"vocab": draw.size(9, 20), "max_len": 9}, {"vocab": 30, "max_len": 40, "batch": 12}
    for beams, penalty, eos_shift, source, sizes in (
        (1, 0.0, 0.5, 70, many),
        (2, 0.0, 1.0, 1, few),
        (5, 0.7, 1.0, 6, few),
        (3, 1.3, 1.0, 5, few),
        # Texts of no word but the end compete.
        (4, 1.0, 2.5, 3, {**few, "batch": 16}),
        # More hypotheses than words: all K·V are candidates.
        (24, 0.0, -3.0, 4, {"vocab": 9, "max_len": 14, "batch": 12}),
    ):
        sizes = {"batch": draw.size(2, 5), **sizes, "source": source, "eos_shift": eos_shift}
        beside(submission, reference, draw, **sizes, beams=beams, length_penalty=penalty)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
