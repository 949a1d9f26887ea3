"""Checks of 9.3.7. How the model is built is the learner's affair, so it is checked for what it does.

`probes` runs next to the submission: it reads a model in one go (`logits`) or piece by piece (`cached`),
and has a scripted model for `generate`, whose continuation is computed here.
"""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_dropped_apart,
    expect_from_scratch,
    expect_gradients,
    expect_parameter_gradients,
    expect_raises,
    expect_strict,
    expect_unchanged,
    fail,
    fingerprint_facts,
    given_module,
    keep_grad_mode,
    label_calls,
    only_if,
    oracle,
    precondition,
    same_tensors,
    supposing,
    with_axes,
)

CORPUS = runpy.run_path(str(Path(__file__).with_name("corpus.py")))
SIZES = (13, 12, 3, 20, 2, 16)
"""vocab_size, d_model, num_heads, d_ff, num_layers, max_len of the model that most checks build."""
AXES = "batch time token"
NEWEST = "the newest"
"""What messages show for a cache that stays with the probe."""
LARGEST = 30.0
"""No logit of a model that `build` has filled is larger: beyond it no tolerance grows with the answer."""
HANDED_ON = "a reader hands on the logits that forward returned, which the submission chooses anyway"
"""Every check that reads a model compares these with other logits, here, for tokens that it drew."""
STATES = 97
SAMPLES = 2000
ACCURACY = 0.7


# --- the oracles ---


def loss_of(tokens, pad_id=None):
    """Return the right loss as a function of the logits: minus the mean log-probability of what comes next."""

    def loss(logits):
        targets = tokens[:, 1:].to(logits.device)
        counted = torch.ones_like(targets, dtype=torch.bool) if pad_id is None else targets != pad_id
        found = logits[:, :-1].log_softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)
        return -torch.where(counted, found, 0.0).sum() / counted.sum()

    return loss


def scores(table, tokens):
    """Return the scripted model's logits [B, V] after these tokens."""
    state = torch.zeros_like(tokens[:, 0])
    for token in tokens.unbind(dim=1):
        state = (5 * state + token + 1) % STATES
    return table[state]


def continued(table, prompt, count):
    """Return the prompt and the scripted model's `count` best next tokens, one after the other."""
    tokens = prompt
    for _ in range(count):
        tokens = torch.cat((tokens, scores(table, tokens).argmax(dim=-1, keepdim=True)), dim=1)
    return with_axes(tokens, "batch", "time")


def ended(tokens, length, eos_id):
    """Return the tokens with every row filled with eos_id after its first one after `length`."""
    new = tokens[:, length:] == eos_id
    after = (new.cumsum(dim=1) - new.int()) > 0
    return torch.cat((tokens[:, :length], tokens[:, length:].masked_fill(after, eos_id)), dim=1)


# --- what shows a mistake in any design ---


def causal_slips():
    """Return which logits depend on which tokens, by mistake: of the two layers each looks once."""
    every = torch.ones(6, 6, dtype=torch.bool)
    return {
        "your positions see the future; use a causal mask, before a softmax over the keys, "
        "and no norm over positions": lambda: every,
        "your causal mask is upside down, so each position reads what follows; "
        "it should read itself and what comes before": lambda: (
            every.triu()
        ),
        "your causal mask lets each position read the next token too; "
        "it should read only itself and those before it": lambda: [
            every.tril(1),
            every.tril(2),
        ],
        "each position of your model reads only itself; it should read every position before it, too": lambda: (
            every.tril().triu()
        ),
        "your attention looks back only a few positions; it should see all of the past": lambda: [
            every.tril().triu(-back) for back in range(1, 5)
        ],
    }


def depends(submission, draw, lengths):
    """Return which logits of a model of one layer depend on which tokens, when it reads in pieces."""
    model, count = one_layer(submission, draw), sum(lengths)
    tokens = tokens_of(draw, 2, count)
    before = in_pieces(submission, model, tokens, lengths)
    touched = torch.zeros(count, count, dtype=torch.bool)
    for position in range(count):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + 1) % 13
        after = in_pieces(submission, model, changed, lengths)
        touched[:, position] = (after - before).abs().amax(dim=(0, 2)).cpu() > 1e-4
    return touched.int().tolist()


def one_layer(submission, draw):
    return build(submission, draw, *SIZES[:4], 1, SIZES[5])


def in_pieces(submission, model, tokens, lengths):
    reader, pieces = cached(submission, model), tokens.split(lengths, dim=1)
    with torch.no_grad():
        found = [
            reader(tokens=with_axes(piece.contiguous(), "batch", "time"), cache=NEWEST if i else None)
            for i, piece in enumerate(pieces)
        ]
    return torch.cat(found, dim=1)


def cache_slips(submission, draw, model, piece):
    """Return what a cache forgets or confuses, seen by what depends on what, and on which order.

    With one layer each position sees the others once, and only their own vectors: their order shows in positions alone.
    """
    alone, past, piece = torch.eye(5).int(), torch.ones(5, 5).int().tril(), piece[:, :2]
    first_alone = alone.clone()
    first_alone[:, 0] = 1
    begin_anew = (
        "your forward does not look at its cache, so each call begins a new text; "
        "attention and positions should continue it"
    )

    def steps(pattern):
        return depends(submission, draw, (1,) * 5) == pattern.tolist()

    def chunk(*rows):
        """Compare what three tokens that are read at once depend on, after two; only where single ones are right."""
        found = depends(submission, draw, (2, 3))
        return steps(past) and found[:2] == past.tolist()[:2] and found[2:] == [list(row) for row in rows]

    def order_lost(*places):
        """Tell whether two tokens that were read alone can be exchanged, and later logits do not change."""
        first, tokens = one_layer(submission, draw), draw.permutation(13)[:4][None]
        exchanged = tokens.clone()
        exchanged[:, places] = tokens[:, places[::-1]]
        found, other = (
            in_pieces(submission, first, one.to(draw.device), (1,) * 4)[:, -1] for one in (tokens, exchanged)
        )
        return torch.allclose(found, other, atol=1e-4)

    def kept_apart():
        """Tell whether one layer reads right in pieces, where two did not, and rows do not read each other."""
        text = tokens_of(draw, 2, 5)
        alone_in_batch = read(submission, model, with_axes(text[:1].clone(), "batch", "time"))
        if not torch.allclose(read(submission, model, text)[:1], alone_in_batch, atol=1e-3):
            return False
        compare_pieces(submission, draw, one_layer(submission, draw), tokens_of(draw, 2, 8), (3, 1, 4))
        return True

    def anew():
        count = piece.shape[1]
        twice = in_pieces(submission, model, torch.cat((piece, piece), dim=1), (count, count))
        return torch.allclose(
            twice[:, count:], read(submission, model, with_axes(piece, "batch", "time")), atol=1e-4
        )

    return {
        begin_anew: lambda: steps(alone) and anew(),
        "your attention does not read the cache, or a mask hides it; "
        "each new token should attend to all of the cache": lambda: (
            steps(alone) and not anew()
        ),
        "your cache holds the keys and values of only the latest tokens; "
        "it should hold those of all tokens so far": lambda: (
            steps(past.triu(-1))
        ),
        "your mask with a cache has the first rows of the causal one; it should have its last rows, for the new "
        "queries": lambda: (
            depends(submission, draw, (2, 3))[2:] == [[1, 0, 1, 0, 0], [1, 1, 0, 1, 0], [1, 1, 1, 0, 1]]
        ),
        "your cache holds only the first piece; each call should return the old keys and values and the new "
        "ones": lambda: steps(first_alone) and depends(submission, draw, (2, 3)) == past.tolist(),
        "your mask is dropped with a cache, so new tokens see later ones; "
        "each should see itself and those before it": lambda: chunk(
            *[[1] * 5] * 3
        ),
        "your mask hides the cache when several tokens are new; "
        "each should see the cache, and the new ones up to itself": lambda: (
            chunk([0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 1])
        ),
        "your new keys and values come before the old ones; they should come after them, as the tokens do": lambda: (
            chunk([0, 0, 1, 1, 1], [1, 0, 1, 1, 1], [1, 1, 1, 1, 1])
        ),
        "your positions start at 0 again with a cache; the new tokens should come after those in it": lambda: (
            steps(past) and order_lost(0, 1) and order_lost(1, 2)
        ),
        "your positions start one too early with a cache; after n tokens the next should have position n": lambda: (
            steps(past) and order_lost(0, 1) and not order_lost(1, 2)
        ),
        "your positions count from the latest piece; with a cache they should count all tokens in it": lambda: (
            steps(past) and not order_lost(0, 1) and order_lost(1, 2)
        ),
        "your layers do not each have a cache of their own; "
        "give each layer the keys and values of its own past": lambda: kept_apart(),
    }


def loss_slips(logits, tokens, found, pad_id=None):
    """Return what mistakes in the loss give."""
    scores, targets = logits[:, :-1], tokens[:, 1:]
    counted = torch.ones_like(targets, dtype=torch.bool) if pad_id is None else targets != pad_id

    def surprises(scores, targets):
        return -scores.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]

    def by(values):
        return -values.gather(-1, targets[..., None])[..., 0][counted].mean()

    def right():
        return surprises(scores, targets)

    read_real = tokens[:, :-1] != pad_id
    slips = {
        "your loss compares position t with token t, which the model has just read; "
        "it should compare it with token t + 1": lambda: [
            surprises(logits, tokens).mean(),
            surprises(scores, tokens[:, :-1]).mean(),
        ],
        "your loss is shifted the wrong way, so position t is compared with token t - 1; "
        "compare it with token t + 1": lambda: surprises(
            logits[:, 1:], tokens[:, :-1]
        ).mean(),
        "your loss skips a token: position t should be compared with token t + 1": lambda: surprises(
            logits[:, :-2], tokens[:, 2:]
        ).mean(),
        "your targets wrap around, so the last position is compared with the first token; "
        "leave the last position out": lambda: surprises(
            logits, tokens.roll(-1, 1)
        ).mean(),
        "your loss is the sum over the targets; it should be their mean": lambda: [
            right()[counted].sum(),
            (right() * counted).sum(dim=1).mean(),
            right()[counted].sum() / tokens.shape[1],
        ],
        "your loss has a number for each target; it should be one, their mean": lambda: (
            found.numel() in (targets.numel(), int(counted.sum())) and found.numel() > 1
        ),
        "your loss leaves torch on the way, by .item() or torch.tensor, which cuts off the gradient; "
        "keep it in the graph": lambda: (
            type(found) is float
        ),
        "your loss takes the softmax twice; give cross_entropy logits, as softmax is in it": lambda: by(
            scores.softmax(dim=-1).log_softmax(dim=-1)
        ),
        "your loss takes probabilities or logits for their logarithms; use log_softmax, which gives these": lambda: [
            by(scores.softmax(dim=-1)),
            by(scores),
        ],
        "your loss has the wrong sign; it should be minus the mean of log p": lambda: (
            -right()[counted].mean()
        ),
        "your loss is in bits: it should be the natural logarithm": lambda: (
            right()[counted].mean() / math.log(2)
        ),
        "your loss is the perplexity: leave its exponential out": lambda: right()[counted].mean().exp(),
        "your softmax runs over the positions: it should run over the vocabulary, the last axis": lambda: [
            by(scores.log_softmax(dim=1)),
            by(logits.log_softmax(dim=1)[:, :-1]),
        ],
        "your softmax runs over the batch: it should run over the vocabulary, the last axis": lambda: by(
            scores.log_softmax(dim=0)
        ),
    }
    if pad_id is None:
        return slips | {
            "your loss skips token 0 when pad_id is None; "
            "it should then count all targets": lambda: right()[targets != 0].mean(),
        }
    unread = (
        "your loss does not skip padding when pad_id is 0; check whether it is None, not whether it is true"
        if pad_id == 0
        else "your loss counts targets that are padding; it should leave out targets that are pad_id"
    )
    return {
        unread: lambda: right().mean(),
        "your loss leaves out positions that read padding; it should leave out those whose target is padding": lambda: (
            right()[read_real].mean()
        ),
        "your loss leaves out positions that read padding as well as those that predict it; only the target should "
        "count": (lambda: right()[read_real & counted].mean()),
        "your loss divides by the number of all targets; padding must not count there either": lambda: (
            right() * counted
        ).mean(),
        "your loss divides by the number of real tokens; it should divide by that of real targets": lambda: (
            (right() * counted).sum() / (tokens != pad_id).sum()
        ),
        "your loss is the mean of the rows' means, so a short row counts too much; "
        "average over all targets together": lambda: [
            means.nansum() / rows
            for means in [(right() * counted).sum(dim=1) / counted.sum(dim=1)]
            for rows in (len(tokens), int(counted.any(dim=1).sum()))
        ],
        "your loss counts only padding; keep the targets that are not pad_id": lambda: right()[
            ~counted
        ].mean(),
    }


def written(table, prompt, count, seen):
    """Return what a loop writes whose model is fed `seen(tokens, step)` of the text."""
    tokens = prompt
    for step in range(count):
        tokens = torch.cat((tokens, scores(table, seen(tokens, step)).argmax(dim=-1, keepdim=True)), dim=1)
    return tokens


def writing_slips(table, prompt, count, found):
    """Return what mistakes in the loop write, at temperature 0."""
    time = prompt.shape[1]

    def by(seen):
        return written(table, prompt, count, seen)

    def twice(tokens, step):
        return torch.cat([tokens[:, : time + i] for i in range(step + 1)], dim=1)

    def has(columns):
        return count > 0 and found.ndim == 2 and found.shape[1] == columns

    return {
        "your generate takes the logits of the first position; it should take those of the last, which has read "
        "everything": lambda: [
            by(lambda tokens, step: tokens[:, :1]),
            by(lambda tokens, step: tokens if step else tokens[:, :1]),
        ],
        "your generate decides by the first row for all rows; "
        "it should decide for each row by its own logits": lambda: [
            torch.cat(
                (prompt, continued(table, prompt[:1], count)[:, time:].expand(len(prompt), count)), dim=1
            ),
            by(lambda tokens, step: tokens[:1].expand_as(tokens)),
        ],
        "your generate feeds only the last token, without the cache; "
        "give the model the cache as well, or the whole text": lambda: [
            by(lambda tokens, step: tokens[:, -1:] if step else tokens),
            by(lambda tokens, step: tokens[:, -1:]),
        ],
        "your generate feeds the whole text and the cache; with a cache, it should feed only the new "
        "tokens": lambda: by(twice),
        "your generate passes the first cache each time; pass the newest": lambda: by(
            lambda tokens, step: torch.cat((prompt, tokens[:, -1:]), dim=1) if step else tokens
        ),
        "your generate feeds only as many tokens as the prompt had; "
        "the model should read all tokens so far": lambda: by(
            lambda tokens, step: tokens[:, -time:]
        ),
        "your generate feeds only a window of the last tokens, so earlier ones are forgotten": lambda: (
            time > 64 and [by(lambda tokens, step: tokens[:, -window:]) for window in (16, 32, 64)]
        ),
        "your generate writes one token too many; "
        "it should write max_new_tokens at most": lambda: has(time + count + 1),
        "your generate writes one token too few": lambda: has(time + count - 1),
        "your generate returns the new tokens without the prompt; "
        "it should return the prompt, then the new tokens": lambda: (
            has(count) and torch.equal(found, continued(table, prompt, count)[:, time:])
        ),
        "your generate takes max_new_tokens for the length of the whole text": lambda: (
            has(max(count, time)) and torch.equal(found[:, :time], prompt)
        ),
    }


def share_slips(found, submission, draw, model, logits, temperature, options):
    """Return which probabilities the drawn tokens have, within what chance allows."""

    def drawn_by(weights):
        shares = torch.bincount(found.clamp(0, 4), minlength=5) / len(found)
        return bool(((shares - weights.cpu()).abs() < 5 * (0.25 / len(found)) ** 0.5).all())

    def ways_of_one():
        """Return how many tokens there are of which one is drawn for all rows."""
        with precondition("all rows must get the same"):
            expect(len(found.unique()), "number of tokens drawn").is_value(1)
        return len({tuple(drawn(submission, draw, model, **options)[0].tolist()) for _ in range(8)})

    return {
        "your temperature changes nothing; divide the logits by it, before the softmax": lambda: (
            temperature != 1 and drawn_by(logits.softmax(dim=-1))
        ),
        "your generate multiplies the logits by the temperature; divide by it, so that a high one makes them "
        "flat": lambda: temperature != 1 and drawn_by((logits * temperature).softmax(dim=-1)),
        "your generate picks the best token at any temperature; "
        "it should draw when temperature is above 0": lambda: ways_of_one() == 1,
        "your generate makes one draw for all rows; it should make a draw for each row": lambda: ways_of_one() > 1,
        "your generate draws every token as often as another: draw from the softmax": lambda: drawn_by(
            torch.full_like(logits, 0.2)
        ),
    }


def top_k_slips(found, logits, top_k, temperature):
    """Return from which tokens was drawn, within what chance allows."""
    logits = logits.cpu() / temperature
    ranks = logits.argsort(descending=True).argsort()

    def drawn_by(weights):
        shares = torch.bincount(found.clamp(0, 4), minlength=5) / len(found)
        return bool(((shares - weights).abs() < 5 * (0.25 / len(found)) ** 0.5).all())

    def keeping(kept, rest=-math.inf):
        return torch.where(kept, logits, rest).softmax(dim=-1)

    return {
        "your generate ignores top_k; "
        "it should draw from the top_k most likely tokens only": lambda: top_k < 5 and drawn_by(keeping(ranks < 5)),
        "your top_k sets the other logits to 0, which is a score like any other; set them to -inf": lambda: (
            top_k < 5 and drawn_by(keeping(ranks < top_k, 0.0))
        ),
        "your top_k keeps one token less; the k-th itself should stay": lambda: (
            top_k < 6 and drawn_by(keeping(ranks < top_k - 1))
        ),
        "your top_k keeps one token more; only the best k should stay": lambda: (
            top_k < 4 and drawn_by(keeping(ranks < top_k + 1))
        ),
        "your top_k returns a place among the best k; it should return the token that is there": lambda: (
            top_k < 6
            and drawn_by(
                torch.nn.functional.pad(
                    logits.sort(descending=True).values[:top_k].softmax(dim=-1), (0, 5 - top_k)
                )
            )
        ),
        "your top_k keeps the least likely tokens; it should keep the most likely": lambda: (
            top_k < 5 and drawn_by(keeping(ranks >= 5 - top_k))
        ),
    }


def end_slips(submission, draw, table, prompt, eos_id, count, found):
    """Return what mistakes with ended rows write."""

    def stops():
        model, _, started = staged(submission, draw, eos_id, (2, 0))
        return submission.generate(model, started, count, eos_id=eos_id).shape[1] < 3 + count

    def goes_on():
        return torch.equal(found, continued(table, prompt, count))

    def first_end():
        new = continued(table, prompt, count)[:, 3:] == eos_id
        return 3 + int(new.any(dim=0).int().argmax()) + 1

    unread = (
        "your generate ignores eos_id when it is 0; check whether it is None, not whether it is true"
        if eos_id == 0
        else "your generate ignores eos_id; it should end a row at eos_id and write only eos_id after it"
    )
    return {
        unread: lambda: goes_on() and not stops(),
        "your generate goes on with other tokens in a row that has ended; it should write only eos_id there": lambda: (
            goes_on() and stops()
        ),
        "your generate stops when the first row has ended; the others should go on": lambda: (
            found.shape[1] in (first_end(), first_end() - 1)
        ),
        "your generate writes 0 into rows that have ended; it should write eos_id there": lambda: (
            eos_id != 0 and torch.equal(found, filled_after(continued(table, prompt, count), eos_id, 0))
        ),
    }


def filled_after(tokens, eos_id, filler):
    new = tokens[:, 3:] == eos_id
    after = (new.cumsum(dim=1) - new.int()) > 0
    return torch.cat((tokens[:, :3], tokens[:, 3:].masked_fill(after, filler)), dim=1)


# --- helpers ---


def build(submission, draw, *sizes, **options):
    """Build a model and give its parameters random values, the same for models built alike."""
    model = submission.DecoderLM(*(sizes or SIZES), **options).to(draw.device)
    given_module(submission, "probes").refill(model, draw.seed)
    return model


def cached(submission, model):
    """Return a reader of this model that goes on with the cache it got last, when it is called with NEWEST."""
    reader = given_module(submission, "probes").cached(model)
    label_calls(reader, model)
    return reader


def read(submission, model, tokens, vocab_size=SIZES[0]):
    """Return the logits [B, T, V] of tokens read in one go; that there are any is another check's affair."""
    with precondition("forward must give finite logits [B, T, V]"):
        return read_for_certain(submission, model, tokens, vocab_size)


def read_for_certain(submission, model, tokens, vocab_size=SIZES[0]):
    """Return the logits [B, T, V] of tokens read in one go, and fail where there are none."""
    with torch.no_grad():
        reader = given_module(submission, "probes").logits(model)
        label_calls(reader, model)
        found = reader(tokens=tokens)
    expect(found, "logits", axes=AXES).is_tensor(shape=(*tokens.shape, vocab_size)).is_finite()
    return found


def compare_pieces(submission, draw, model, tokens, lengths):
    """Read tokens in pieces with the cache; each piece's logits must be those of the whole text read in one go."""
    whole = read(submission, model, tokens)
    reader = cached(submission, model)
    start = 0
    for length in lengths:
        end = start + length
        piece = with_axes(tokens[:, start:end].contiguous(), "batch", "time")
        with torch.no_grad():
            found = reader(tokens=piece, cache=NEWEST if start else None)
        where = f"position {start}" if length == 1 else f"positions {start} to {end - 1}"
        why = f"positions 0 to {start - 1} were read before, the cache stands for them" if start else ""
        with supposing(lambda: cache_slips(submission, draw, model, piece)):
            expect(found, f"logits at {where}", axes=AXES).same_as(
                whole[:, start:end], name="the text in one go", why=why
            )
        start = end


def tokens_of(draw, batch, time, vocab_size=SIZES[0]):
    return draw.integers(0, vocab_size, batch=batch, time=time)


def with_a_zero(draw, batch, time, vocab_size):
    """Draw tokens with a 0 among the targets, which is one like any other."""
    tokens = tokens_of(draw, batch, time, vocab_size)
    tokens[0, 1] = 0
    return with_axes(tokens, "batch", "time")


def scripted(submission, draw, vocab_size=7, scale=2.0):
    """Return a scripted model in the worker, and its table of scores."""
    table = draw.normal(state=STATES, token=vocab_size, scale=scale)
    return given_module(submission, "probes").ScriptedModel(table), table


def ranked(submission, draw):
    """As `scripted`, with the same scores of five tokens in each state, in an order of its own.

    Of scores that lie near each other a temperature changes little.
    """
    table = 1.2 * draw.normal(state=STATES, token=5).argsort(dim=-1).float()
    return given_module(submission, "probes").ScriptedModel(table), table


def generator(draw, seed):
    return torch.Generator(draw.device).manual_seed(seed)


def drawn(submission, draw, model, **options):
    """Return the one token that `generate` drew after each of many equal prompts, and the prompt."""
    prompt = tokens_of(draw, 1, 3, 5).expand(SAMPLES, 3).contiguous()
    found = submission.generate(model, with_axes(prompt, "batch", "time"), 1, **options)
    expect(found, "tokens", axes="batch time").is_tensor(shape=(SAMPLES, 4), dtype=torch.int64)
    return found[:, 3].cpu(), prompt


def compare_shares(found, logits, what):
    """How often each token was drawn must be its probability, within five standard deviations."""
    probabilities = logits.cpu().softmax(dim=-1)
    shares = torch.bincount(found.clamp(0, len(probabilities) - 1), minlength=len(probabilities)) / len(found)
    limit = 5 * (0.25 / len(found)) ** 0.5
    expect(shares, f"share of each token {what}", axes="token").close_to(probabilities, tolerance=limit)


# --- DecoderLM ---


@check(aspect="shape", points=1.5, on_workers_word=HANDED_ON)
def test_shapes(submission, draw):
    """forward gives (logits [B, T, V], cache), up to T = max_len

    > (logits [B, T, V], cache).
    > the longest text, prompt and continuation together.
    """
    for sizes, batch, time in (
        ((13, 12, 3, 20, 2, 16), 2, 5),
        ((11, 10, 5, 7, 1, 6), 3, 6),
        ((9,), 1, 128),
        ((9, 4, 1, 5, 1, 130), 1, 130),
    ):
        model = submission.DecoderLM(*sizes).to(draw.device)

        def reads(length):
            with torch.no_grad():
                return model(tokens_of(draw, 1, length, sizes[0])) is not None

        def only_to(length):
            with expect_raises("Exception", "it is too long"):
                reads(length + 1)
            return reads(length)

        def first_is_nan():
            with torch.no_grad():
                return model(tokens_of(draw, 1, 1, sizes[0]))[0].isnan().any()

        slips = {
            "your positions start at 1, so the last of max_len has no vector; start at 0": lambda: only_to(time - 1),
            "your model has as many positions by default, whatever max_len is": lambda: (
                time == 130 and only_to(128)
            ),
            "your model gives logits for the last position only; each position should predict its next token": lambda: (
                time > 1 and found.numel() == batch * sizes[0]
            ),
            "your attention has a position that sees nothing, so its softmax is NaN; each should see itself and "
            "those before it": lambda: bool(found.isnan().any()) and first_is_nan(),
            "your forward returns only the logits, without a cache; "
            "it should return the pair (logits, cache)": lambda: isinstance(result, torch.Tensor),
        }
        with supposing(slips):
            with torch.no_grad():
                result = model(tokens_of(draw, batch, time, sizes[0]))
            found, _ = expect(result, "(logits, cache)").is_tuple(2)
            expect(found, "logits", axes=AXES).is_tensor(
                shape=(batch, time, sizes[0]), dtype=torch.float32
            ).is_finite()
    model = submission.DecoderLM(
        vocab_size=8, d_model=6, num_heads=1, d_ff=9, num_layers=3, max_len=4, dropout=0.1
    )
    read_for_certain(submission, model.to(draw.device), tokens_of(draw, 1, 1, 8), vocab_size=8)


@check(aspect="causality", points=4.5, on_workers_word=HANDED_ON)
def test_causal(submission, draw):
    """a token changes the logits from its own position on, and none before

    > logits at t depend on tokens 0 to t, on each of them, and on none after.
    """
    model, tokens = build(submission, draw), tokens_of(draw, 2, 6)
    before = read(submission, model, tokens)
    limit = 1e-5 * min(float(before.abs().max()), LARGEST)
    touched = torch.zeros(6, 6, dtype=torch.bool)
    for position in range(6):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + draw.size(1, 12)) % 13
        after = read(submission, model, with_axes(changed, "batch", "time"))
        touched[:, position] = ((after - before).abs() > limit).any(dim=-1).any(dim=0).cpu()
    with supposing(lambda: causal_slips()):
        expect(touched, "whether the logit depends on the token", axes="logit token", picture="mask").equals(
            torch.ones(6, 6, dtype=torch.bool).tril(),
            why="the logits at position t depend on tokens 0 to t, on each of them, and on none after",
        )


@check(aspect="values", points=1.5, on_workers_word=HANDED_ON)
def test_scores(submission, draw):
    """logits are scores of any sign, not probabilities

    > **Logits, not probabilities**
    """
    found = read(submission, build(submission, draw), tokens_of(draw, 2, 5))
    sums = found.double().sum(dim=-1)
    if bool((found >= 0).all()) and bool((sums - 1).abs().max() < 1e-3):
        fail(
            "softmaxed  logits  sum to one over the vocabulary",
            "  next_token_loss and generate apply the softmax; twice is once too often",
            stage="values",
            cause="your model applies the softmax itself; it should return logits, the scores before it",
        )
    if bool(found.double().logsumexp(dim=-1).abs().max() < 1e-3):
        fail(
            "log-softmaxed  logits  are logarithms of probabilities: none is above zero",
            "  next_token_loss and generate apply the softmax; the head's scores are to be given as they are",
            stage="values",
            cause="your model applies a log-softmax itself; it should return logits, the scores before it",
        )


@check(aspect="values", points=1.5, on_workers_word=HANDED_ON)
def test_positions(submission, draw):
    """the order of the earlier tokens matters

    > exchange two earlier tokens, and the logits change.
    """
    # One layer: with two, the causal mask alone lets a model without positions guess at the order.
    model = build(submission, draw, *SIZES[:4], 1, SIZES[5])
    tokens = torch.stack([draw.permutation(13)[:5] for _ in range(2)])
    swapped = tokens[:, [2, 1, 0, 3, 4]]
    before = read(submission, model, with_axes(tokens, "batch", "time"))
    after = read(submission, model, with_axes(swapped, "batch", "time"))
    changed = tokens.clone()
    changed[:, :3] = (changed[:, :3] + 1) % 13
    no_positions = {
        "your model adds no positions, or the same to each token; "
        "add a vector that is different at each position": lambda: (
            not torch.allclose(read(submission, model, changed)[:, -1], before[:, -1], atol=1e-3)
        )
    }
    with supposing(no_positions):
        expect(after[:, -1], "logits at position 4", axes="batch token").differs_from(
            before[:, -1], why="tokens 0 and 2 were exchanged: attention alone sees a bag of tokens"
        )


@check(aspect="values", points=1.5, on_workers_word=HANDED_ON)
def test_rows(submission, draw):
    """each row of a batch is read by itself

    > Each row of a batch is read by itself.
    """
    model, tokens = build(submission, draw), tokens_of(draw, 3, 5)
    together = read(submission, model, tokens)
    for row in range(3):
        alone = read(submission, model, with_axes(tokens[row : row + 1].clone(), "batch", "time"))
        with supposing(
            "your model lets one row of a batch change another, by a norm over axis 0 for example; "
            "compute each row by itself"
        ):
            expect(together[row : row + 1], f"logits of row {row}", axes=AXES).same_as(
                alone, name="the row read alone"
            )


@check(aspect="cache", points=4.5, needs=test_causal, on_workers_word=HANDED_ON)
def test_cache_steps(submission, draw):
    """with the cache, one token at a time gives the logits of one pass

    > *in pieces or in one go, the logits are the same.*
    """
    model, tokens = build(submission, draw, *SIZES[:5], 8), tokens_of(draw, 2, 8)
    compare_pieces(submission, draw, model, tokens, (3, 1, 1, 1, 1, 1))
    compare_pieces(submission, draw, model, tokens_of(draw, 2, 5), (1, 1, 1, 1, 1))


@check(aspect="cache", points=3, needs=test_causal, on_workers_word=HANDED_ON)
def test_cache_chunks(submission, draw):
    """with the cache, several new tokens see the past, and of each other only what comes before

    > *in pieces or in one go, the logits are the same.*
    > several at once must not see each other's future, nor lose sight of the past
    """
    model, tokens = build(submission, draw, *SIZES[:5], 70), tokens_of(draw, 2, 70)
    compare_pieces(submission, draw, model, tokens, (2, 4, 64))
    compare_pieces(submission, draw, model, tokens, (4, 1, 2))


@check(aspect="cache", points=1.5, on_workers_word=HANDED_ON)
def test_cache_fresh(submission, draw):
    """without a cache a text begins anew, and each cache stands for its own text

    > Without a cache the whole text; with one, only what is new since.
    > Several texts may be read in turns, each with its own cache
    """
    used, unused = build(submission, draw), build(submission, draw)
    texts = [tokens_of(draw, 2, length) for length in (5, 7)]
    readers = [cached(submission, used) for _ in texts]
    pieces = []
    with torch.no_grad():
        for part, cache in ((slice(-1), None), (slice(-1, None), NEWEST)):
            for text, reader in zip(texts, readers, strict=True):
                piece = with_axes(text[:, part].contiguous(), "batch", "time")
                pieces.append(reader(tokens=piece, cache=cache))
    right = read(submission, unused, texts[1])

    def goes_on():
        model = build(submission, draw)
        before = read(submission, model, texts[1])
        in_pieces(submission, model, texts[0], (3, 2))
        return not torch.allclose(before, read(submission, model, texts[1]), atol=1e-3)

    with supposing(
        {
            "your model keeps its cache in itself, so a new text goes on from the old one; "
            "keep it only in what forward returns": goes_on
        }
    ):
        expect(read(submission, used, texts[1]), "logits", axes=AXES).same_as(
            right,
            name="a model that has read nothing",
            why="other texts were read before, and this call was given no cache",
        )
    with only_if(
        "a text must be read in pieces", lambda: compare_pieces(submission, draw, unused, texts[1], (6, 1))
    ):
        mixed_up = (
            "your layers store the latest text's keys and values, so two texts read in turns mix; "
            "keep them in the cache only"
        )
        with supposing(mixed_up):
            expect(pieces[-2], "logits at position 4", axes=AXES).same_as(
                read(submission, unused, texts[0])[:, 4:],
                name="the text in one go",
                why="another text is read in between, with a cache of its own",
            )


@check(aspect="parameters", points=1.5, on_workers_word=HANDED_ON)
def test_sizes(submission, draw):
    """every layer brings parameters of its own, and the widths are as asked

    > how many layers, each with parameters of its own.
    > the inner width of each layer's feed-forward network.
    """

    def size(model):
        with torch.no_grad():
            return sum(parameter.numel() for _, parameter in model.named_parameters())

    def count(vocab_size=13, d_ff=20, num_layers=1):
        return size(submission.DecoderLM(vocab_size, 12, 3, d_ff, num_layers, 16))

    one, two, three = (count(num_layers=n) for n in (1, 2, 3))

    def same_depth():
        models = [build(submission, draw, *SIZES[:4], layers, SIZES[5]) for layers in (1, 2)]
        tokens = tokens_of(draw, 2, 5)
        return torch.equal(*(read(submission, model, tokens) for model in models))

    facts = {
        "layers": ["more" if more else "no more" for more in (two - one, three - two)],
        "first": one >= 4 * 12**2 + 2 * 12 * 20,
        "deeper": two > one or not same_depth(),
    }
    fingerprint_facts(submission, **facts)
    layers = {
        "your model has the same number of layers, whatever num_layers is": same_depth,
        "your layers are one layer, several times, as [layer] * n repeats the same object; make a new one each "
        "time": lambda: facts["first"] and not same_depth(),
        "your layers are in a plain list, which no parameters() and no to() looks into; use nn.ModuleList": lambda: (
            not facts["first"] and not same_depth()
        ),
    }
    with supposing(layers):
        expect(two - one, "parameters that a second layer adds").is_between(
            1, float("inf"), why="layers belong into an nn.ModuleList, each made by a call of its own"
        )
    expect(three - two, "parameters that a third layer adds").is_value(two - one)
    wider = count(d_ff=30) - one
    fingerprint_facts(submission, **facts, d_ff="more" if wider else "no more")
    with supposing(
        "your feed-forward networks have a width of their own, whatever d_ff is; they should be d_ff wide inside"
    ):
        expect(wider, "parameters that a wider d_ff adds").is_between(1, float("inf"))
    expect(count(vocab_size=20) - one, "parameters that a larger vocabulary adds").is_between(1, float("inf"))
    with supposing("your model has other sizes by default than the stub"):
        expect(size(submission.DecoderLM(9)), "parameters of DecoderLM(9)").is_value(
            size(submission.DecoderLM(9, 64, 4, 128, 2, 128)), why="those of DecoderLM(9, 64, 4, 128, 2, 128)"
        )
    tokens = draw.integers(0, 9, batch=2, time=3)
    by_default, said = (
        read(submission, build(submission, draw, 9, *more), tokens, 9) for more in ((), (64, 4, 128, 2, 128))
    )
    expect(by_default, "logits of DecoderLM(9)", axes=AXES).same_as(
        said, name="those of DecoderLM(9, 64, 4, 128, 2, 128)"
    )


@check(aspect="mode", points=1.5, on_workers_word=HANDED_ON)
def test_modes(submission, draw):
    """dropout acts in train mode only, and not at all when it is 0

    > share of activations that is dropped in train mode.
    """
    tokens = tokens_of(draw, 2, 5)
    model = build(submission, draw, dropout=0.5)
    model.train()
    first = read(submission, model, tokens)
    with supposing(
        "your model is given dropout and drops nothing; it should drop that share of activations in train mode"
    ):
        expect(read(submission, model, tokens), "logits in train mode", axes=AXES).differs_from(
            first, why="with dropout=0.5 two passes drop different things"
        )
    model.eval()
    first = read(submission, model, tokens)
    with supposing("your dropout is on in eval mode too; it should act in train mode only"):
        expect(read(submission, model, tokens), "logits in eval mode", axes=AXES).same_as(
            first, name="the pass before"
        )
    model = build(submission, draw, dropout=0.0)
    model.train()
    first = read(submission, model, tokens)
    expect(read(submission, model, tokens), "logits without dropout", axes=AXES).same_as(
        first, name="the pass before"
    )
    model = build(submission, draw, 5, 16, 2, 1, 1, 4, dropout=0.015)
    model.train()
    expect_dropped_apart(
        lambda tokens: read(submission, model, tokens, 5), tokens_of(draw, 1, 1, 5)[0].expand(4)
    )


@check(aspect="dtype", points=1.5, on_workers_word=HANDED_ON)
def test_dtypes(submission, draw):
    """the logits have the model's dtype, float64 and bfloat16 alike, with a cache too

    > Logits have the model's dtype, the loss that of the logits, with a cache too
    """
    tokens = tokens_of(draw, 2, 5)
    plain = read(submission, build(submission, draw), tokens).double()
    for dtype in (torch.float64, torch.bfloat16):
        model = build(submission, draw).to(dtype)
        found = read_for_certain(submission, model, tokens)
        logits = expect(found, "logits", axes=AXES).is_tensor(dtype=dtype, device=draw.device)
        share = float((found.double() - plain).abs().median() / plain.abs().median())
        expect(share, f"how far logits in {dtype} are off, as a share of their size").is_between(0.0, 0.5)
        if dtype == torch.float64:
            logits.differs_from(found.float().double(), why="a model in float64 computes in float64")
        reader = cached(submission, model)
        with torch.no_grad():
            for piece, cache in ((tokens[:, :3], None), (tokens[:, 3:4], NEWEST)):
                found = reader(tokens=with_axes(piece.contiguous(), "batch", "time"), cache=cache)
                expect(found, "logits with a cache", axes=AXES).is_tensor(dtype=dtype)


@check(aspect="gradient", points=1.5, on_workers_word=HANDED_ON)
def test_model_gradients(submission, draw):
    """the gradient of the logits reaches every parameter they depend on

    > gradients reach every parameter that the logits depend on
    """
    # Every word once or twice: no row of a table goes without.
    tokens = with_axes(draw.permutation(14).view(2, 7).to(draw.device) % 13, "batch", "time")
    model = build(submission, draw, *SIZES[:3], 6, *SIZES[4:]).double()
    reader = given_module(submission, "probes").logits(model)
    label_calls(reader, model)
    expect_parameter_gradients(
        model,
        lambda: reader(tokens=tokens),
        draw,
        "logits",
        AXES,
        shape=(2, 7, 13),
        notes=(
            ".detach(), .data and torch.no_grad() cut a path off",
            "keys and values may only be detached in the cache, not where attention uses them",
        ),
    )


@check(aspect="arguments", points=1.5, on_workers_word=HANDED_ON)
def test_arguments(submission, draw):
    """however a model is called, its logits are those of these tokens, which it leaves as they were

    > Arguments are left as they were and need not be contiguous in memory.
    > nothing of a text is kept outside its cache, and nothing from one call to the next
    """
    model, tokens = build(submission, draw), tokens_of(draw, 2, 5)
    wanted = read(submission, model, tokens)
    expect_unchanged(submission)
    reader = given_module(submission, "probes").logits(model)
    label_calls(reader, model)
    with same_tensors(submission):
        reader(tokens=tokens.flip(1))
        found = reader(tokens=tokens)
    with supposing("your model stores something of one call and uses it in the next"):
        expect(found, "logits", axes=AXES).same_as(wanted, name="those of the first call")
    with torch.no_grad():
        found = reader(tokens=draw.noncontiguous(tokens), by_name=True)
    expect_unchanged(submission)
    expect(found, "logits", axes=AXES).same_as(wanted, name="those for contiguous tokens")
    expect_strict(model)


# --- next_token_loss ---


@check(aspect="values", points=2.5)
def test_loss(submission, draw):
    """position t is scored on token t + 1, and the loss is the mean over all of them

    > A scalar: the mean of -log p(tokens[b, t + 1]) under softmax(logits[b, t]), over all targets that count.
    """
    for batch, time, vocab_size in ((3, 6, 11), (1, 2, 5)):
        logits = draw.normal(batch=batch, time=time, token=vocab_size, scale=2.0)
        tokens = with_a_zero(draw, batch, time, vocab_size)
        found = submission.next_token_loss(logits, tokens)
        with supposing(lambda: loss_slips(logits, tokens, found)):
            expect(found, "loss").is_scalar().close_to(oracle(loss_of(tokens), logits))


def padded(draw, pad_id):
    """Draw tokens with padding at the end, in front, and in one row nothing but one real token."""
    tokens = tokens_of(draw, 4, 7, 11)
    tokens = torch.where(tokens == pad_id, (pad_id + 1) % 11, tokens)
    tokens[0, 4:] = pad_id
    tokens[1, :3] = pad_id
    tokens[2, 1:] = pad_id
    return with_axes(tokens, "batch", "time")


@check(aspect="padding", points=3, follows=test_loss)
def test_loss_padding(submission, draw):
    """targets that are pad_id do not count, all others do

    > targets that are this token do not count; None: all count.
    """
    for pad_id in (7, 0):  # 0 last: who only mistakes it for None is right until then
        tokens = padded(draw, pad_id)
        logits = draw.normal(batch=4, time=7, token=11, scale=2.0)
        found = submission.next_token_loss(logits, tokens, pad_id=pad_id)
        with supposing(lambda: loss_slips(logits, tokens, found, pad_id)):
            expect(found, f"loss with pad_id={pad_id}").is_scalar().close_to(
                oracle(loss_of(tokens, pad_id), logits),
                why="row 0 has padding at the end, row 1 in front, row 2 has only that to predict; one mean over all",
            )
        found = submission.next_token_loss(logits, tokens)
        with supposing(lambda: loss_slips(logits, tokens, found)):
            expect(found, "loss with pad_id=None").is_scalar().close_to(
                oracle(loss_of(tokens), logits), why="without a pad_id every token counts"
            )


@check(aspect="gradient", points=1.5)
def test_loss_gradients(submission, draw):
    """the loss's gradient is right, and zero where nothing is predicted

    > gradients reach every parameter that the logits depend on
    > targets that are this token do not count; None: all count.
    """
    tokens = padded(draw, 3)
    logits = draw.normal(batch=4, time=7, token=11, requires_grad=True)
    found = submission.next_token_loss(logits, tokens, pad_id=3)
    expect_gradients(found, {"logits": logits}, draw, oracle=loss_of(tokens, 3), names=("loss",))


@check(aspect="stability")
def test_loss_stability(submission, draw):
    """logits in the hundreds do not overflow

    > `log(softmax(x))` is -∞ where the softmax rounds to 0
    """
    tokens = with_a_zero(draw, 3, 6, 11)

    def compare(scale, shift=0.0):
        logits = draw.normal(batch=3, time=6, token=11, scale=scale, shift=shift)
        found = submission.next_token_loss(logits, tokens)
        slips = {
            "your loss takes exp of the logits as they are, which overflows; use log_softmax": lambda: (
                shift > 0 and not found.isfinite()
            ),
            "your loss is the log of a softmax, where a small p rounds to 0, so log p is -inf; "
            "compute log p from the logits": lambda: scale > 1 and not found.isfinite(),
            "your loss adds a small number before the logarithm, so large surprises are cut off; "
            "compute log p from the logits": lambda: (
                found.isfinite() and found < 0.5 * loss_of(tokens)(logits)
            ),
        }
        with supposing(slips):
            expect(found, "loss").is_tensor(shape=()).is_finite().close_to(oracle(loss_of(tokens), logits))

    with only_if("the loss of ordinary logits must be right", lambda: compare(1.0)):
        compare(1.0, shift=500.0)
        compare(300.0)


@check(aspect="arguments", follows=[test_loss, test_loss_padding, test_loss_stability])
def test_loss_promises(submission, draw):
    """however the loss is called, it is that of these arguments, which it leaves as they were

    > Logits have the model's dtype, the loss that of the logits, with a cache too
    > Arguments are left as they were and need not be contiguous in memory.
    """

    def right(logits, tokens, pad_id):
        return loss_of(tokens, pad_id)(logits)

    call = {
        "logits": draw.normal(batch=2, time=66, token=5),
        "tokens": tokens_of(draw, 2, 66, 5),
        "pad_id": 3,
    }
    part = Part("next_token_loss", {}, ["loss"], dtypes=[torch.bfloat16], gradients=False, rows=False)
    part.expect(submission, right, draw, [call])


# --- generate ---


@check(aspect="values", points=3)
def test_greedy(submission, draw):
    """temperature 0 appends the best next token, over and over

    > int [B, T + n]: the prompt and what follows; shorter if all rows have ended.
    > 0 takes the best token; otherwise draw from softmax(logits / temperature).
    """
    model, table = scripted(submission, draw)

    def best(tokens):
        return scores(table, tokens).argmax(dim=-1)

    for batch, time, count in ((3, 4, 6), (1, 1, 3), (2, 3, 0), (2, 70, 2)):
        prompt = tokens_of(draw, batch, time, 7)
        # Where these are the same, nothing shows which position was looked at.
        while time > 1 and torch.equal(best(prompt), best(prompt[:, :1])):
            prompt = tokens_of(draw, batch, time, 7)
        found = submission.generate(model, prompt, count)
        with supposing(lambda: writing_slips(table, prompt, count, found)):
            expect(found, "tokens", axes="batch time").equals(
                continued(table, prompt, count),
                why=f"the prompt is {time} long; this model decides by all tokens so far and their order",
            )


@check(
    aspect="cache",
    needs=[test_causal, test_rows],
    follows=[test_greedy, test_cache_steps],
    on_workers_word=HANDED_ON,
)
def test_own_model(submission, draw):
    """your own model is continued with its own best tokens, up to max_len

    > Continue every row of the prompt.
    > the longest text, prompt and continuation together.
    """
    # In a single row the best token may be the same wherever one looks.
    model, prompt = build(submission, draw, *SIZES[:5], 9), tokens_of(draw, 12, 3)
    found = submission.generate(model, prompt, 6)
    expect(found, "tokens", axes="batch time").is_tensor(shape=(12, 9), dtype=torch.int64)
    expect(found[:, :3], "prompt in the result", axes="batch time").equals(prompt)
    expect(found, "tokens", axes="batch time").is_between(0, 12)
    after = read(submission, model, with_axes(found.clone(), "batch", "time"))[:, 2:-1]
    chosen = after.gather(-1, found[:, 3:, None]).squeeze(-1)
    expect(chosen, "logit of the token chosen", axes="batch step").same_as(
        after.amax(dim=-1), name="the best", why="the logits are those of one pass over the result"
    )


@check(aspect="values", points=3)
def test_sampling(submission, draw):
    """with a temperature, tokens are drawn from softmax(logits / temperature)

    > 0 takes the best token; otherwise draw from softmax(logits / temperature).
    """
    for temperature in (3.0, 1.0, 0.4):
        model, table = ranked(submission, draw)
        options = {"temperature": temperature}
        found, prompt = drawn(submission, draw, model, **options)
        logits = scores(table, prompt[:1])[0]
        with supposing(lambda: share_slips(found, submission, draw, model, logits, temperature, options)):
            compare_shares(found, logits / temperature, f"at temperature {temperature:g}")


@check(aspect="values", points=1.5, follows=test_sampling)
def test_top_k(submission, draw):
    """top_k leaves the k most likely tokens to draw from

    > draw from the k most likely tokens only; None, or k > V, from all.
    """
    for top_k, temperature in ((3, 2.0), (1, 1.0), (5, 1.0), (50, 1.0)):
        model, table = ranked(submission, draw)
        too_large = "your top_k fails when it is larger than the vocabulary; it should then allow every token"
        with supposing({too_large: lambda: top_k > 5}):
            found, prompt = drawn(submission, draw, model, temperature=temperature, top_k=top_k)
        logits = scores(table, prompt[:1])[0]
        least = logits.topk(min(top_k, 5)).values[-1]
        kept = (logits / temperature).masked_fill(logits < least, -torch.inf)
        with supposing(lambda: top_k_slips(found, logits, top_k, temperature)):
            compare_shares(found, kept, f"with top_k={top_k} of 5")
            stray = int((kept[found] == -torch.inf).sum())
            expect(stray, f"tokens drawn that are not among the best {top_k}").is_value(0)
    model, table = scripted(submission, draw)
    prompt = tokens_of(draw, 2, 3, 7)
    found = submission.generate(model, prompt, 4, temperature=0.0, top_k=3)
    expect(found, "tokens at temperature 0", axes="batch time").equals(continued(table, prompt, 4))


@check(aspect="values", points=1.5, follows=[test_sampling, test_top_k])
def test_generator(submission, draw):
    """all chance comes from the generator

    > where all chance comes from; None: torch's global one.
    """
    model, _ = scripted(submission, draw, scale=0.5)
    prompt, chance = tokens_of(draw, 4, 2, 7), generator(draw, 1)

    def sample(chance, top_k=None):
        found = submission.generate(model, prompt, 8, temperature=1.0, top_k=top_k, generator=chance)
        return expect(found, "tokens", axes="batch time").is_tensor(shape=(4, 10), dtype=torch.int64).actual

    first = sample(chance)
    ignored, seeds = (
        "your generate ignores the generator; it should make every draw from the generator",
        "your generate seeds a generator itself: leave that to the caller",
    )
    reseeded = {
        "your generate starts the generator again from its seed; it should go on from where it is": lambda: (
            not torch.equal(sample(generator(draw, 2)), first)
        ),
        seeds: lambda: torch.equal(sample(generator(draw, 2)), first),
    }
    with supposing(reseeded):
        expect(sample(chance), "tokens", axes="batch time").differs_from(
            first, why="the generator had gone on: it was used before"
        )
    expect(sample(generator(draw, 2)), "tokens", axes="batch time").differs_from(
        first, why="the generator had another seed"
    )
    with supposing(ignored):
        expect(sample(generator(draw, 1)), "tokens", axes="batch time").same_as(
            first, name="the same seed before", why="a generator of the same seed was given"
        )
    with supposing("your generate ignores the generator where it has a top_k; every draw should come from it"):
        expect(sample(generator(draw, 1), 5), "tokens with top_k=5", axes="batch time").same_as(
            sample(generator(draw, 1), 5),
            name="the same seed before",
            why="a generator of the same seed was given",
        )
    with supposing(seeds):
        expect(sample(None), "tokens", axes="batch time").differs_from(
            sample(None), why="without a generator torch's global one goes on from call to call"
        )


def staged(submission, draw, eos_id, steps, length=3, count=8, dropout=0.0):
    """Return a scripted model, its table, and a prompt whose rows meet eos_id at these steps (None: at none)."""
    while True:  # not every table leads to every fate
        table = draw.normal(state=STATES, token=7, scale=2.0)
        prompts = (eos_id + 1 + draw.integers(0, 6, batch=500, time=length)) % 7
        new = continued(table, prompts, count)[:, length:] == eos_id
        first = torch.where(new.any(dim=1), new.int().argmax(dim=1), count)
        rows = [(first == (count if step is None else step)).nonzero().flatten().tolist() for step in steps]
        if all(rows):
            prompt = with_axes(prompts[[found[0] for found in rows]], "batch", "time")
            return given_module(submission, "probes").ScriptedModel(table, dropout), table, prompt


@check(aspect="values", points=3)
def test_eos(submission, draw):
    """a row that has ended is filled with eos_id while the others continue

    > the token that ends a row: it is kept, and what follows in this row is eos_id too; None: no such token.
    """
    for eos_id in (3, 0):
        model, table, prompt = staged(submission, draw, eos_id, (1, None, 4))
        found = submission.generate(model, prompt, 8, eos_id=eos_id)
        with supposing(lambda: end_slips(submission, draw, table, prompt, eos_id, 8, found)):
            expect(found, f"tokens with eos_id={eos_id}", axes="batch time").equals(
                ended(continued(table, prompt, 8), 3, eos_id),
                why="prompts of 3 tokens; row 0 ends at position 4, row 1 never, row 2 at position 7",
            )
    found = submission.generate(model, prompt, 8)
    expect(found, "tokens with eos_id=None", axes="batch time").equals(continued(table, prompt, 8))


@check(aspect="values", points=1.5)
def test_all_ended(submission, draw):
    """it may stop when all rows have ended, each with its eos_id

    > int [B, T + n]: the prompt and what follows; shorter if all rows have ended.
    """
    model, table, prompt = staged(submission, draw, 5, (4, 0, 2))
    found = submission.generate(model, prompt, 8, eos_id=5)
    last_left_out = {
        "your generate stops before it appends the last eos_id; eos should be part of the result": lambda: (
            torch.equal(found, ended(continued(table, prompt, 8), 3, 5)[:, :7])
        )
    }
    with supposing(last_left_out | end_slips(submission, draw, table, prompt, 5, 8, found)):
        expect(found, "tokens", axes="batch time").is_tensor(shape=(3, None), dtype=torch.int64)
        expect(found.shape[1], "length of the result").is_between(
            8, 11, why="the prompts have 3 tokens, the last row draws eos_id as its fifth, and 8 were allowed"
        )
        wanted = ended(continued(table, prompt, 8), 3, 5)[:, : found.shape[1]]
        expect(found, "tokens", axes="batch time").equals(
            wanted, why="row 0 ends at position 7, row 1 at 3, row 2 at 5"
        )


@check(aspect="mode")
def test_rests_while_writing(submission, draw):
    """no dropout acts while it writes, even if the model was in train mode

    > so the model is in eval mode while it writes
    """
    model, _, prompt = staged(submission, draw, 5, (None, None, None), dropout=0.5)
    model.eval()
    with precondition("generate must continue a prompt"):
        wanted = submission.generate(model, prompt, 8)
        expect(wanted, "tokens", axes="batch time").is_tensor(shape=(3, 11), dtype=torch.int64)
    model.train()
    with supposing(
        "your generate never switches to eval mode, so dropout spoils what it writes; switch to eval mode first"
    ):
        expect(submission.generate(model, prompt, 8), "tokens", axes="batch time").same_as(
            wanted,
            name="those that it wrote in eval mode",
            why="this model has dropout=0.5 and came in train mode",
        )


@check(
    aspect="mode",
    on_workers_word="modes are facts of state, seen in dropout and in gradients, which are counted here",
)
def test_restored(submission, draw):
    """grad mode and train/eval mode are restored afterwards

    > Grad mode and the model's train/eval mode are afterwards what they were before.
    > Both settings are restored at the end, however the function is left.
    """
    modes = ((True, True), (False, True), (True, False))
    for eos_id in (None, 5):  # to the end, and stopping early
        for training, grad in modes:
            model, _, prompt = staged(submission, draw, 5, (1, 0), dropout=0.5)
            model.train(training)
            reader = given_module(submission, "probes").logits(model)
            with torch.set_grad_enabled(grad):
                with precondition("generate must continue a prompt"):
                    submission.generate(model, prompt, 5, eos_id=eos_id)
                early = (
                    "your generate returns early without putting the mode back; "
                    "it should restore the mode however it ends"
                    if eos_id
                    else ""
                )
                compare_modes(
                    submission,
                    model,
                    reader,
                    prompt,
                    f"after generate(eos_id={eos_id})",
                    training,
                    grad,
                    early,
                )
            if grad and not training:
                wanted = visits(prompt.cpu()).to(draw.device)
                expect(model.table.grad, "gradient afterwards", axes="state token").equals(wanted)
    # A script of one state has no row for what comes after any token.
    broken = given_module(submission, "probes").ScriptedModel(draw.normal(state=1, token=7))
    for training in (True, False):
        broken.train(training)
        with expect_raises("IndexError", what="the model itself raises"):
            submission.generate(broken, prompt, 3)
        with keep_grad_mode(submission):
            recorded = reader(tokens=prompt).requires_grad
        with supposing(
            "your generate restores modes only if the model does not raise; restore them in a finally"
        ):
            expect(recorded, "torch.is_grad_enabled() after the model raised").is_value(True)
            expect(broken.training, "model.training after the model raised").is_value(training)
    model, prompt = build(submission, draw, dropout=0.5), tokens_of(draw, 2, 3)
    reader = given_module(submission, "probes").logits(model)
    for training in (True, False):  # what a model says of its mode is one thing, that it drops another
        model.train()
        first = read(submission, model, prompt)
        if torch.equal(first, read(submission, model, prompt)):
            return  # its dropout does nothing, which costs its points elsewhere
        model.train(training)
        with precondition("generate must continue a prompt"):
            submission.generate(model, prompt, 3)
        compare_modes(submission, model, reader, prompt, "after generate()", training, True)


def compare_modes(submission, model, reader, prompt, when, training, grad, early=""):
    """Read twice with the model as it was left: dropout and the graph say in which modes that is.

    `early` is the cause where another call, which ran to its end, has put the modes back.
    """
    left = "your generate leaves the model in eval mode; it should restore the mode from before"
    turned = (
        "your generate puts the model into train mode at the end, even if it was not before; "
        "restore the mode from before"
    )
    off = "your generate turns gradients off and not on again; it should restore the grad mode from before"
    on = (
        "your generate turns gradients on at the end, even if they were off before; "
        "it should restore the mode from before"
    )
    with keep_grad_mode(submission):
        first, second = (reader(tokens=prompt) for _ in range(2))
    for found in (first, second):
        expect(found, "logits", axes=AXES).is_tensor(shape=(*prompt.shape, None))

    def drops_in_train_mode_alone():
        model.eval()
        return torch.equal(*(reader(tokens=prompt) for _ in range(2)))

    with supposing({early or (left if training else turned): drops_in_train_mode_alone}):
        expect(not torch.equal(first, second), f"model.training {when}").is_value(training)
    with supposing(early or (off if grad else on)):
        expect(first.requires_grad, f"torch.is_grad_enabled() {when}").is_value(grad)
    if grad:
        first.sum().backward()


def visits(prompt):
    """Return how often a reading of the prompt comes through each state of a scripted model of 7 tokens."""
    count, state = torch.zeros(STATES, 7), torch.zeros_like(prompt[:, 0])
    for token in prompt.unbind(dim=1):
        state = (5 * state + token + 1) % STATES
        count.index_add_(0, state, torch.ones(len(state), 7))
    return count


@check(aspect="arguments", points=1.5)
def test_prompt(submission, draw):
    """however generate is called, its tokens are those of this prompt, which it leaves as it was

    > Arguments are left as they were and need not be contiguous in memory.
    > All may be given by position or by name.
    """
    model, _, prompt = staged(submission, draw, 2, (1, None))
    with precondition("generate must continue a prompt"):
        wanted = submission.generate(model, prompt, 4, eos_id=2)
        expect(wanted, "tokens", axes="batch time").is_tensor()
    expect_unchanged(submission)
    scattered = draw.noncontiguous(prompt)
    found = submission.generate(model=model, prompt=scattered, max_new_tokens=4, eos_id=2)
    expect_unchanged(submission)
    expect(found, "tokens", axes="batch time").same_as(wanted, name="those for a contiguous prompt")
    for rows, right in ((prompt.flip(0), wanted.flip(0)), (prompt, wanted)):
        with same_tensors(submission):
            found = submission.generate(model, rows, 4, eos_id=2)
        expect(found, "tokens", axes="batch time").same_as(right, name="those of the same rows before")


# --- all of it ---


@check(aspect="learning", trained=True, points=4.5, on_workers_word=HANDED_ON)
def test_learning(submission, draw):
    """trained on a small text, it completes {ACCURACY:.0%} of new sentences, which takes looking back

    > your model is trained on a text of 36 sentences
    """
    text, new = (CORPUS["encode"](CORPUS[name]).to(draw.device) for name in ("TEXT", "HELD_OUT"))
    verb = CORPUS["VERB"]
    model = submission.DecoderLM(len(CORPUS["WORDS"]), 32, 4, 64, 2, 16).to(draw.device)
    given_module(submission, "probes").train(model, submission.next_token_loss, text, 150)
    model.eval()
    start = with_axes(new[:, :verb].contiguous(), "batch", "time")  # what it must say is not in what it reads
    guess = read(submission, model, start, len(CORPUS["WORDS"]))[:, -1].argmax(dim=-1)
    right = guess == new[:, verb]
    share = float(right.float().mean())
    if share < ACCURACY:
        row = int((~right).nonzero()[0])
        words = CORPUS["WORDS"]
        fail(
            f"too few right  {int(right.sum())} of {len(new)} verbs ({share:.0%})  want at least {ACCURACY:.0%}",
            f"it read “{' '.join(words[token] for token in new[row, :verb].tolist())}” and went on with "
            f"“{words[int(guess[row])]}”, not “{words[int(new[row, verb])]}”",
            "the animal decides, in its number; the place says nothing: a guess is right one time in six",
            "it trained for 150 steps with your next_token_loss, then read what comes before the verb",
            stage="values",
        )


@check(aspect="scratch", points=1.5, on_workers_word=HANDED_ON)
def test_from_scratch(submission, draw):
    """none of torch's transformer classes is used

    > torch's transformer classes (`nn.Transformer…`) are what you are building
    """
    model, tokens = build(submission, draw), tokens_of(draw, 2, 5)
    logits = read(submission, model, tokens)
    with precondition("next_token_loss and generate must return something"):
        submission.next_token_loss(logits, tokens)
        submission.generate(model, tokens, 2)
    expect_from_scratch(submission)
