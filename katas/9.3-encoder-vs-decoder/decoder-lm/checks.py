"""Checks of 9.3.7. How the model is built is the learner's affair, so it is checked for what it does.

`probes` runs next to the submission: it reads a model in one go (`logits`) or piece by piece (`cached`),
and has a scripted model for `generate`, whose continuation is computed here.
"""

from __future__ import annotations

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


@check(
    "forward gives (logits [B, T, V], cache), up to T = max_len",
    aspect="shape",
    points=1.5,
    asked=["(logits [B, T, V], cache).", "the longest text, prompt and continuation together."],
    on_workers_word=HANDED_ON,
)
def test_shapes(submission, draw):
    for sizes, batch, time in (
        ((13, 12, 3, 20, 2, 16), 2, 5),
        ((11, 10, 5, 7, 1, 6), 3, 6),
        ((9,), 1, 128),
        ((9, 4, 1, 5, 1, 130), 1, 130),
    ):
        model = submission.DecoderLM(*sizes).to(draw.device)
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


@check(
    "a token changes the logits from its own position on, and none before",
    aspect="causality",
    points=4.5,
    asked="logits at t depend on tokens 0 to t, on each of them, and on none after.",
    on_workers_word=HANDED_ON,
)
def test_causal(submission, draw):
    model, tokens = build(submission, draw), tokens_of(draw, 2, 6)
    before = read(submission, model, tokens)
    limit = 1e-5 * min(float(before.abs().max()), LARGEST)
    touched = torch.zeros(6, 6, dtype=torch.bool)
    for position in range(6):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + draw.size(1, 12)) % 13
        after = read(submission, model, with_axes(changed, "batch", "time"))
        touched[:, position] = ((after - before).abs() > limit).any(dim=-1).any(dim=0).cpu()
    expect(touched, "whether the logit depends on the token", axes="logit token", picture="mask").equals(
        torch.ones(6, 6, dtype=torch.bool).tril(),
        why="the logits at position t depend on tokens 0 to t, on each of them, and on none after",
    )


@check(
    "logits are scores of any sign, not probabilities",
    aspect="values",
    points=1.5,
    asked="**Logits, not probabilities**",
    on_workers_word=HANDED_ON,
)
def test_scores(submission, draw):
    found = read(submission, build(submission, draw), tokens_of(draw, 2, 5))
    sums = found.double().sum(dim=-1)
    if bool((found >= 0).all()) and bool((sums - 1).abs().max() < 1e-3):
        fail(
            "softmaxed  logits  sum to one over the vocabulary",
            "  next_token_loss and generate apply the softmax; twice is once too often",
            stage="values",
        )
    if bool(found.double().logsumexp(dim=-1).abs().max() < 1e-3):
        fail(
            "log-softmaxed  logits  are logarithms of probabilities: none is above zero",
            "  next_token_loss and generate apply the softmax; the head's scores are to be given as they are",
            stage="values",
        )


@check(
    "the order of the earlier tokens matters",
    aspect="values",
    points=1.5,
    asked="exchange two earlier tokens, and the logits change.",
    on_workers_word=HANDED_ON,
)
def test_positions(submission, draw):
    # One layer: with two, the causal mask alone lets a model without positions guess at the order.
    model = build(submission, draw, *SIZES[:4], 1, SIZES[5])
    tokens = torch.stack([draw.permutation(13)[:5] for _ in range(2)])
    swapped = tokens[:, [2, 1, 0, 3, 4]]
    before = read(submission, model, with_axes(tokens, "batch", "time"))
    after = read(submission, model, with_axes(swapped, "batch", "time"))
    expect(after[:, -1], "logits at position 4", axes="batch token").differs_from(
        before[:, -1], why="tokens 0 and 2 were exchanged: attention alone sees a bag of tokens"
    )


@check(
    "each row of a batch is read by itself",
    aspect="values",
    points=1.5,
    asked="Each row of a batch is read by itself.",
    on_workers_word=HANDED_ON,
)
def test_rows(submission, draw):
    model, tokens = build(submission, draw), tokens_of(draw, 3, 5)
    together = read(submission, model, tokens)
    for row in range(3):
        alone = read(submission, model, with_axes(tokens[row : row + 1].clone(), "batch", "time"))
        expect(together[row : row + 1], f"logits of row {row}", axes=AXES).same_as(
            alone, name="the row read alone"
        )


@check(
    "with the cache, one token at a time gives the logits of one pass",
    aspect="cache",
    points=4.5,
    needs=["test_causal"],
    asked="*in pieces or in one go, the logits are the same.*",
    on_workers_word=HANDED_ON,
)
def test_cache_steps(submission, draw):
    model, tokens = build(submission, draw, *SIZES[:5], 8), tokens_of(draw, 2, 8)
    compare_pieces(submission, draw, model, tokens, (3, 1, 1, 1, 1, 1))
    compare_pieces(submission, draw, model, tokens_of(draw, 2, 5), (1, 1, 1, 1, 1))


@check(
    "with the cache, several new tokens see the past, and of each other only what comes before",
    aspect="cache",
    points=3,
    needs=["test_causal"],
    asked=[
        "*in pieces or in one go, the logits are the same.*",
        "several at once must not see each other's future, nor lose sight of the past",
    ],
    on_workers_word=HANDED_ON,
)
def test_cache_chunks(submission, draw):
    model, tokens = build(submission, draw, *SIZES[:5], 70), tokens_of(draw, 2, 70)
    compare_pieces(submission, draw, model, tokens, (2, 4, 64))
    compare_pieces(submission, draw, model, tokens, (4, 1, 2))


@check(
    "without a cache a text begins anew, and each cache stands for its own text",
    aspect="cache",
    points=1.5,
    asked=[
        "Without a cache the whole text; with one, only what is new since.",
        "Several texts may be read in turns, each with its own cache",
    ],
    on_workers_word=HANDED_ON,
)
def test_cache_fresh(submission, draw):
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
    expect(read(submission, used, texts[1]), "logits", axes=AXES).same_as(
        right,
        name="a model that has read nothing",
        why="other texts were read before, and this call was given no cache",
    )
    with only_if(
        "a text must be read in pieces", lambda: compare_pieces(submission, draw, unused, texts[1], (6, 1))
    ):
        expect(pieces[-2], "logits at position 4", axes=AXES).same_as(
            read(submission, unused, texts[0])[:, 4:],
            name="the text in one go",
            why="another text is read in between, with a cache of its own",
        )


@check(
    "every layer brings parameters of its own, and the widths are as asked",
    aspect="parameters",
    points=1.5,
    asked=[
        "how many layers, each with parameters of its own.",
        "the inner width of each layer's feed-forward network.",
    ],
    on_workers_word=HANDED_ON,
)
def test_sizes(submission, draw):
    def size(model):
        with torch.no_grad():
            return sum(parameter.numel() for _, parameter in model.named_parameters())

    def count(vocab_size=13, d_ff=20, num_layers=1):
        return size(submission.DecoderLM(vocab_size, 12, 3, d_ff, num_layers, 16))

    one, two, three = (count(num_layers=n) for n in (1, 2, 3))
    facts = {
        "layers": ["more" if more else "no more" for more in (two - one, three - two)],
        "first": one >= 4 * 12**2 + 2 * 12 * 20,
    }
    fingerprint_facts(submission, **facts)
    expect(two - one, "parameters that a second layer adds").is_between(
        1, float("inf"), why="layers belong into an nn.ModuleList, each made by a call of its own"
    )
    expect(three - two, "parameters that a third layer adds").is_value(two - one)
    wider = count(d_ff=30) - one
    fingerprint_facts(submission, **facts, d_ff="more" if wider else "no more")
    expect(wider, "parameters that a wider d_ff adds").is_between(1, float("inf"))
    expect(count(vocab_size=20) - one, "parameters that a larger vocabulary adds").is_between(1, float("inf"))
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


@check(
    "dropout acts in train mode only, and not at all when it is 0",
    aspect="mode",
    points=1.5,
    asked="share of activations that is dropped in train mode.",
    on_workers_word=HANDED_ON,
)
def test_modes(submission, draw):
    tokens = tokens_of(draw, 2, 5)
    model = build(submission, draw, dropout=0.5)
    model.train()
    first = read(submission, model, tokens)
    expect(read(submission, model, tokens), "logits in train mode", axes=AXES).differs_from(
        first, why="with dropout=0.5 two passes drop different things"
    )
    model.eval()
    first = read(submission, model, tokens)
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


@check(
    "the logits have the model's dtype, float64 and bfloat16 alike, with a cache too",
    aspect="dtype",
    points=1.5,
    asked="Logits have the model's dtype, the loss that of the logits, with a cache too",
    on_workers_word=HANDED_ON,
)
def test_dtypes(submission, draw):
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


@check(
    "the gradient of the logits reaches every parameter they depend on",
    aspect="gradient",
    points=1.5,
    asked="gradients reach every parameter that the logits depend on",
    on_workers_word=HANDED_ON,
)
def test_model_gradients(submission, draw):
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


@check(
    "however a model is called, its logits are those of these tokens, which it leaves as they were",
    aspect="arguments",
    points=1.5,
    asked=[
        "Arguments are left as they were and need not be contiguous in memory.",
        "nothing of a text is kept outside its cache, and nothing from one call to the next",
    ],
    on_workers_word=HANDED_ON,
)
def test_arguments(submission, draw):
    model, tokens = build(submission, draw), tokens_of(draw, 2, 5)
    wanted = read(submission, model, tokens)
    expect_unchanged(submission)
    reader = given_module(submission, "probes").logits(model)
    label_calls(reader, model)
    with torch.no_grad():
        found = reader(tokens=draw.noncontiguous(tokens), by_name=True)
    expect_unchanged(submission)
    expect(found, "logits", axes=AXES).same_as(wanted, name="those for contiguous tokens")
    with same_tensors(submission):
        reader(tokens=tokens.flip(1))
        found = reader(tokens=tokens)
    expect(found, "logits", axes=AXES).same_as(wanted, name="those of the first call")
    expect_strict(model)


# --- next_token_loss ---


@check(
    "position t is scored on token t + 1, and the loss is the mean over all of them",
    aspect="values",
    points=2.5,
    asked="A scalar: the mean of -log p(tokens[b, t + 1]) under softmax(logits[b, t]), over all targets that count.",
)
def test_loss(submission, draw):
    for batch, time, vocab_size in ((3, 6, 11), (1, 2, 5)):
        logits = draw.normal(batch=batch, time=time, token=vocab_size, scale=2.0)
        tokens = with_a_zero(draw, batch, time, vocab_size)
        found = submission.next_token_loss(logits, tokens)
        expect(found, "loss").is_scalar().close_to(oracle(loss_of(tokens), logits))


def padded(draw, pad_id):
    """Draw tokens with padding at the end, in front, and in one row nothing but one real token."""
    tokens = tokens_of(draw, 4, 7, 11)
    tokens = torch.where(tokens == pad_id, (pad_id + 1) % 11, tokens)
    tokens[0, 4:] = pad_id
    tokens[1, :3] = pad_id
    tokens[2, 1:] = pad_id
    return with_axes(tokens, "batch", "time")


@check(
    "targets that are pad_id do not count, all others do",
    aspect="padding",
    points=3,
    follows=["test_loss"],
    asked="targets that are this token do not count; None: all count.",
)
def test_loss_padding(submission, draw):
    for pad_id in (7, 0):  # 0 last: who only mistakes it for None is right until then
        tokens = padded(draw, pad_id)
        logits = draw.normal(batch=4, time=7, token=11, scale=2.0)
        found = submission.next_token_loss(logits, tokens, pad_id=pad_id)
        expect(found, f"loss with pad_id={pad_id}").is_scalar().close_to(
            oracle(loss_of(tokens, pad_id), logits),
            why="row 0 has padding at the end, row 1 in front, row 2 has nothing else to predict; one mean over all",
        )
        found = submission.next_token_loss(logits, tokens)
        expect(found, "loss with pad_id=None").is_scalar().close_to(
            oracle(loss_of(tokens), logits), why="without a pad_id every token counts"
        )


@check(
    "the loss's gradient is right, and zero where nothing is predicted",
    aspect="gradient",
    points=1.5,
    asked=[
        "gradients reach every parameter that the logits depend on",
        "targets that are this token do not count; None: all count.",
    ],
)
def test_loss_gradients(submission, draw):
    tokens = padded(draw, 3)
    logits = draw.normal(batch=4, time=7, token=11, requires_grad=True)
    found = submission.next_token_loss(logits, tokens, pad_id=3)
    expect_gradients(found, {"logits": logits}, draw, oracle=loss_of(tokens, 3), names=("loss",))


@check(
    "logits in the hundreds do not overflow",
    aspect="stability",
    asked="`log(softmax(x))` is -∞ where the softmax rounds to 0",
)
def test_loss_stability(submission, draw):
    tokens = with_a_zero(draw, 3, 6, 11)

    def compare(scale):
        logits = draw.normal(batch=3, time=6, token=11, scale=scale)
        found = submission.next_token_loss(logits, tokens)
        expect(found, "loss").is_tensor(shape=()).is_finite().close_to(oracle(loss_of(tokens), logits))

    with only_if("the loss of ordinary logits must be right", lambda: compare(1.0)):
        compare(300.0)


@check(
    "however the loss is called, it is that of these arguments, which it leaves as they were",
    aspect="arguments",
    follows=["test_loss", "test_loss_padding", "test_loss_stability"],
    asked=[
        "Logits have the model's dtype, the loss that of the logits, with a cache too",
        "Arguments are left as they were and need not be contiguous in memory.",
    ],
)
def test_loss_promises(submission, draw):
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


@check(
    "temperature 0 appends the best next token, over and over",
    aspect="values",
    points=3,
    asked=[
        "int [B, T + n]: the prompt and what follows; shorter if all rows have ended.",
        "0 takes the best token; otherwise draw from softmax(logits / temperature).",
    ],
)
def test_greedy(submission, draw):
    model, table = scripted(submission, draw)

    def best(tokens):
        return scores(table, tokens).argmax(dim=-1)

    for batch, time, count in ((3, 4, 6), (1, 1, 3), (2, 3, 0), (2, 70, 2)):
        prompt = tokens_of(draw, batch, time, 7)
        # Where these are the same, nothing shows which position was looked at.
        while time > 1 and torch.equal(best(prompt), best(prompt[:, :1])):
            prompt = tokens_of(draw, batch, time, 7)
        found = submission.generate(model, prompt, count)
        expect(found, "tokens", axes="batch time").equals(
            continued(table, prompt, count),
            why=f"the prompt is {time} long; this model decides by all tokens so far and their order",
        )


@check(
    "your own model is continued with its own best tokens, up to max_len",
    aspect="cache",
    needs=[
        "test_causal",
        "test_rows",
    ],  # else one pass over the result says nothing of the passes that made it
    asked=["Continue every row of the prompt.", "the longest text, prompt and continuation together."],
    on_workers_word=HANDED_ON,
)
def test_own_model(submission, draw):
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


@check(
    "with a temperature, tokens are drawn from softmax(logits / temperature)",
    aspect="values",
    points=3,
    asked="0 takes the best token; otherwise draw from softmax(logits / temperature).",
)
def test_sampling(submission, draw):
    for temperature in (3.0, 1.0, 0.4):
        model, table = ranked(submission, draw)
        found, prompt = drawn(submission, draw, model, temperature=temperature)
        compare_shares(found, scores(table, prompt[:1])[0] / temperature, f"at temperature {temperature:g}")


@check(
    "top_k leaves the k most likely tokens to draw from",
    aspect="values",
    points=1.5,
    follows=["test_sampling"],
    asked="draw from the k most likely tokens only; None, or k > V, from all.",
)
def test_top_k(submission, draw):
    for top_k, temperature in ((3, 2.0), (1, 1.0), (5, 1.0), (50, 1.0)):
        model, table = ranked(submission, draw)
        found, prompt = drawn(submission, draw, model, temperature=temperature, top_k=top_k)
        logits = scores(table, prompt[:1])[0]
        least = logits.topk(min(top_k, 5)).values[-1]
        kept = (logits / temperature).masked_fill(logits < least, -torch.inf)
        compare_shares(found, kept, f"with top_k={top_k} of 5")
        stray = int((kept[found] == -torch.inf).sum())
        expect(stray, f"tokens drawn that are not among the best {top_k}").is_value(0)
    model, table = scripted(submission, draw)
    prompt = tokens_of(draw, 2, 3, 7)
    found = submission.generate(model, prompt, 4, temperature=0.0, top_k=3)
    expect(found, "tokens at temperature 0", axes="batch time").equals(continued(table, prompt, 4))


@check(
    "all chance comes from the generator",
    aspect="values",
    points=1.5,
    follows=["test_sampling", "test_top_k"],
    asked="where all chance comes from; None: torch's global one.",
)
def test_generator(submission, draw):
    model, _ = scripted(submission, draw, scale=0.5)
    prompt, chance = tokens_of(draw, 4, 2, 7), generator(draw, 1)

    def sample(chance, top_k=None):
        found = submission.generate(model, prompt, 8, temperature=1.0, top_k=top_k, generator=chance)
        return expect(found, "tokens", axes="batch time").is_tensor(shape=(4, 10), dtype=torch.int64).actual

    first = sample(chance)
    expect(sample(chance), "tokens", axes="batch time").differs_from(
        first, why="the generator had gone on: it was used before"
    )
    expect(sample(generator(draw, 2)), "tokens", axes="batch time").differs_from(
        first, why="the generator had another seed"
    )
    expect(sample(generator(draw, 1)), "tokens", axes="batch time").same_as(
        first, name="the same seed before", why="a generator of the same seed was given"
    )
    expect(sample(generator(draw, 1), 5), "tokens with top_k=5", axes="batch time").same_as(
        sample(generator(draw, 1), 5),
        name="the same seed before",
        why="a generator of the same seed was given",
    )
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


@check(
    "a row that has ended is filled with eos_id while the others continue",
    aspect="values",
    points=3,
    asked="the token that ends a row: it is kept, and what follows in this row is eos_id too; None: no such token.",
)
def test_eos(submission, draw):
    for eos_id in (3, 0):
        model, table, prompt = staged(submission, draw, eos_id, (1, None, 4))
        found = submission.generate(model, prompt, 8, eos_id=eos_id)
        expect(found, f"tokens with eos_id={eos_id}", axes="batch time").equals(
            ended(continued(table, prompt, 8), 3, eos_id),
            why="prompts of 3 tokens; row 0 ends at position 4, row 1 never, row 2 at position 7",
        )
    found = submission.generate(model, prompt, 8)
    expect(found, "tokens with eos_id=None", axes="batch time").equals(continued(table, prompt, 8))


@check(
    "it may stop when all rows have ended, each with its eos_id",
    aspect="values",
    points=1.5,
    asked="int [B, T + n]: the prompt and what follows; shorter if all rows have ended.",
)
def test_all_ended(submission, draw):
    model, table, prompt = staged(submission, draw, 5, (4, 0, 2))
    found = submission.generate(model, prompt, 8, eos_id=5)
    expect(found, "tokens", axes="batch time").is_tensor(shape=(3, None), dtype=torch.int64)
    expect(found.shape[1], "length of the result").is_between(
        8, 11, why="the prompts have 3 tokens, the last row draws eos_id as its fifth, and 8 were allowed"
    )
    wanted = ended(continued(table, prompt, 8), 3, 5)[:, : found.shape[1]]
    expect(found, "tokens", axes="batch time").equals(
        wanted, why="row 0 ends at position 7, row 1 at 3, row 2 at 5"
    )


@check(
    "no dropout acts while it writes, even if the model was in train mode",
    aspect="mode",
    asked="so the model is in eval mode while it writes",
)
def test_rests_while_writing(submission, draw):
    model, _, prompt = staged(submission, draw, 5, (None, None, None), dropout=0.5)
    model.eval()
    with precondition("generate must continue a prompt"):
        wanted = submission.generate(model, prompt, 8)
        expect(wanted, "tokens", axes="batch time").is_tensor(shape=(3, 11), dtype=torch.int64)
    model.train()
    expect(submission.generate(model, prompt, 8), "tokens", axes="batch time").same_as(
        wanted,
        name="those that it wrote in eval mode",
        why="this model has dropout=0.5 and came in train mode",
    )


@check(
    "grad mode and train/eval mode are restored afterwards",
    aspect="mode",
    asked=[
        "Grad mode and the model's train/eval mode are afterwards what they were before.",
        "Both settings are restored at the end, however the function is left.",
    ],
    on_workers_word="modes are facts of state, seen in dropout and in gradients, which are counted here",
)
def test_restored(submission, draw):
    modes = ((True, True), (False, True), (True, False))
    for eos_id in (None, 5):  # to the end, and stopping early
        for training, grad in modes:
            model, _, prompt = staged(submission, draw, 5, (1, 0), dropout=0.5)
            model.train(training)
            reader = given_module(submission, "probes").logits(model)
            with torch.set_grad_enabled(grad):
                with precondition("generate must continue a prompt"):
                    submission.generate(model, prompt, 5, eos_id=eos_id)
                compare_modes(submission, reader, prompt, f"after generate(eos_id={eos_id})", training, grad)
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
        compare_modes(submission, reader, prompt, "after generate()", training, True)


def compare_modes(submission, reader, prompt, when, training, grad):
    """Read twice with the model as it was left: dropout and the graph say in which modes that is."""
    with keep_grad_mode(submission):
        first, second = (reader(tokens=prompt) for _ in range(2))
    for found in (first, second):
        expect(found, "logits", axes=AXES).is_tensor(shape=(*prompt.shape, None))
    expect(not torch.equal(first, second), f"model.training {when}").is_value(training)
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


@check(
    "however generate is called, its tokens are those of this prompt, which it leaves as it was",
    aspect="arguments",
    points=1.5,
    asked=[
        "Arguments are left as they were and need not be contiguous in memory.",
        "All may be given by position or by name.",
    ],
)
def test_prompt(submission, draw):
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


@check(
    f"trained on a small text, it completes {ACCURACY:.0%} of new sentences, which takes looking back",
    aspect="learning",
    trained=True,
    points=4.5,
    asked="your model is trained on a text of 36 sentences",
    on_workers_word=HANDED_ON,
)
def test_learning(submission, draw):
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


@check(
    "none of torch's transformer classes is used",
    aspect="scratch",
    points=1.5,
    asked="torch's transformer classes (`nn.Transformer…`) are what you are building",
    on_workers_word=HANDED_ON,
)
def test_from_scratch(submission, draw):
    model, tokens = build(submission, draw), tokens_of(draw, 2, 5)
    logits = read(submission, model, tokens)
    with precondition("next_token_loss and generate must return something"):
        submission.next_token_loss(logits, tokens)
        submission.generate(model, tokens, 2)
    expect_from_scratch(submission)
