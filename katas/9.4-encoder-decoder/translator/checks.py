"""Checks of 9.4.2. How the model is built is the learner's affair, so it is checked for what it does.

`probes` runs next to the submission: it has a scripted model for `translate`, whose right translations are searched for
here (`searched`), and a training loop.
"""

from __future__ import annotations

import functools
import runpy
from pathlib import Path

import torch

from grader.checks import (
    Part,
    callback,
    check,
    expect,
    expect_dropped_apart,
    expect_from_scratch,
    expect_gradients,
    expect_parameter_gradients,
    expect_unchanged,
    fail,
    fingerprint_facts,
    given_module,
    keep_grad_mode,
    only_if,
    oracle,
    precondition,
    same_tensors,
    supposing,
    with_axes,
)

LANGUAGE = runpy.run_path(str(Path(__file__).parents[2] / "given" / "language.py"))
SIZES = {
    "source_vocab": 17,
    "target_vocab": 13,
    "d_model": 12,
    "num_heads": 3,
    "d_ff": 20,
    "num_layers": 2,
    "max_len": 16,
}
"""The model that most checks build."""
LOGITS, MEMORY = "batch time token", "batch source width"
LARGEST = 30.0
"""No logit of a model that `build` has filled is larger: beyond it no tolerance grows with the answer."""
STATES = 97
PAD, BOS, EOS = 0, 1, 2
WORDS = 7
"""The words of a scripted model, padding, BOS and EOS among them."""
UNLIKELY = -25.0
"""The score of padding and BOS, which no translation has inside."""
CLEAR = 1e-2
"""By how much the scores of a search differ where it decides."""
STEPS, ACCURACY = 240, 0.8


# --- the oracles ---


def loss_of(targets, smoothing, pad_id):
    """Return the right loss as a function of the logits."""

    def loss(logits):
        logs, V = logits.log_softmax(dim=-1), logits.shape[-1]
        rows = []
        for b, t in (targets.cpu() != pad_id).nonzero().tolist():
            wanted = torch.full((V,), smoothing / V, dtype=logits.dtype)
            wanted[int(targets[b, t])] += 1 - smoothing
            rows.append(-(wanted * logs[b, t]).sum())
        return torch.stack(rows).mean()

    return loss


def state_of(source):
    """Return the state in which a scripted model begins with this source [S]."""
    state = 0
    for word in source:
        state = (5 * state + 3 * word + 1) % STATES
    return state


class Search:
    """The right search with one source: the translation, whether it was clear, and what it met.

    `on_the_way` is the penalty of all choices but the last, where it is another one. `again` searches once
    more, with something changed: `divisor` gives what a sum is divided by for a length and a penalty, and `slip`
    names what else is done wrongly.
    """

    def __init__(
        self,
        logs,
        source,
        max_len,
        beams=1,
        penalty=0.0,
        ids=(PAD, BOS, EOS),
        on_the_way=None,
        divisor=lambda length, power: max(length, 1) ** power,
        slip="",
    ):
        given = {"logs": logs, "source": source, "max_len": max_len, "beams": beams, "penalty": penalty}
        self.logs, self.again = logs, functools.partial(Search, **given, ids=ids)
        _, bos, eos = ids
        self.start, self.steps = (5 * state_of(source) + bos + 1) % STATES, []
        """The state after `bos_id`, and the hypotheses that each step continued."""
        V = logs.shape[1]

        def scored_by(power):
            return lambda hypothesis: hypothesis[0] / divisor(len(hypothesis[1]), power)

        score, last_score = scored_by(penalty if on_the_way is None else on_the_way), scored_by(penalty)

        kept = [(0.0, (), self.start, False)]
        before = kept
        self.clear, self.met_end, self.ended_early, self.moved = True, False, False, False
        table = logs.tolist()
        for _ in range(max_len):
            if all(ended for *_, ended in kept) or (slip == "the best has ended" and kept[0][3]):
                break
            self.steps.append(kept)
            candidates = [hypothesis for hypothesis in kept if hypothesis[3] and slip != "ended ones leave"]
            for total, words, state, ended in kept:
                if not ended:
                    best = max(table[state])
                    candidates += [
                        (
                            total + table[state][word],
                            (*words, word),
                            (5 * (state_of(source) if slip == "the last word alone" else state) + word + 1)
                            % STATES,
                            word == eos,
                        )
                        for word in range(V)
                        if table[state][word] == best or slip != "each by its own best"
                    ]
            candidates.sort(key=score, reverse=True)
            if len(candidates) > beams:
                self.clear &= score(candidates[beams - 1]) - score(candidates[beams]) > CLEAR
            kept, before = candidates[:beams], kept
            self.moved |= any(one in before and before.index(one) != kept.index(one) for one in kept)
            self.met_end |= any(ended for *_, ended in kept)
            self.ended_early |= kept[0][3] and not all(ended for *_, ended in kept)
        kept.sort(key=last_score, reverse=slip != "the worst is returned")
        if len(kept) > 1:
            self.clear &= last_score(kept[0]) - last_score(kept[1]) > CLEAR
        self.words, self.ended = list(kept[0][1]), kept[0][3]
        self.settled = self.ended and kept[0] == before[0]

    def state_after(self, text):
        """Return the state in which the model is when it has written this."""
        return functools.reduce(lambda state, word: (5 * state + word + 1) % STATES, text, self.start)

    def sum_of(self, text):
        """Return the sum of the log-probabilities of the words of a text."""
        return sum(
            float(self.logs[self.state_after(text[:place]), word]) for place, word in enumerate(text)
        )


def rows_of(searches, pad=PAD):
    """Return the translations of some searches as one tensor."""
    length = max(len(search.words) for search in searches)
    rows = [search.words + [pad] * (length - len(search.words)) for search in searches]
    return with_axes(torch.tensor(rows), "batch", "time")


# --- what shows a mistake in any design ---


OWN_WORDS = "your decoder is given its own words as memory; cross-attention should read the encoder's output"


def causal_slips(touched, reads_source):
    """Return which logits depend on which target words, by mistake: of the two layers each looks once."""
    every = torch.ones(6, 6, dtype=torch.bool)
    return {
        OWN_WORDS: lambda: torch.equal(touched, every) and not reads_source(),
        "your decoder sees words that follow; use a causal mask, before a softmax over keys, "
        "and no norm over positions": lambda: torch.equal(touched, every) and reads_source(),
        "your causal mask is the upper triangle; True should mark the positions that may be attended to, 0 to "
        "t": lambda: every.triu(),
        "your causal mask is one position late, so each position reads the word that it has to predict": lambda: [
            every.tril(1),
            every.tril(2),
        ],
        "each position of your decoder reads only its own word; it should read all before it": lambda: (
            every.tril().triu()
        ),
        "your decode shifts the target by one; it should use it as it is, as the caller has shifted it "
        "already": lambda: every.tril(-1),
    }


def source_slips():
    """Return which logits depend on which source words, by mistake."""
    every = torch.ones(5, 5, dtype=torch.bool)
    return {
        "your decoder looks at the memory under a causal mask; every target word should see the whole source": (
            every.tril
        ),
        "your decoder looks at nothing of the memory": lambda: ~every,
        "your decoder looks at one position of the memory for each of its own; it should look at all": lambda: (
            every.tril().triu()
        ),
    }


def reading_slips():
    """Return which positions of the memory depend on which source words, by mistake."""
    every = torch.ones(5, 5, dtype=torch.bool)
    return {
        "your encoder reads under a causal mask; it should read the source in both directions": lambda: (
            every.tril()
        ),
        "each vector of your memory is made only of its own word, as attention in the encoder sees no other": lambda: (
            every.tril().triu()
        ),
    }


def loss_slips(logits, targets, smoothing, found, pad_id=PAD):
    """Return what mistakes in the loss give."""
    logs, V, counted = logits.log_softmax(dim=-1), logits.shape[-1], targets != pad_id

    def right(logs=logs):
        return -logs.gather(-1, targets[..., None])[..., 0]

    def smoothed(to_right, to_every, logs=logs):
        return to_right * right(logs) - to_every * logs.sum(dim=-1)

    def each():
        return smoothed(1 - smoothing, smoothing / V)

    slips = {
        "your loss has no smoothing; every word should get smoothing / V": lambda: right()[counted].mean(),
        "your smoothing is spread over only the wrong words; every word should get smoothing / V, the right one too": (
            lambda: smoothed(1 - smoothing - smoothing / (V - 1), smoothing / (V - 1))[counted].mean()
        ),
        "your smoothing goes to every word undivided; each should get smoothing / V": lambda: smoothed(
            1 - smoothing, smoothing
        )[counted].mean(),
        "your smoothing is added to a full target; the right word should get 1 - smoothing and its share": lambda: (
            smoothed(1, smoothing / V)[counted].mean()
        ),
        "your smoothing divides by another number than V; each of the V words should get smoothing / V": lambda: [
            smoothed(1 - smoothing, smoothing / n)[counted].mean() for n in (V - 1, V - 2)
        ],
        "your smoothing and the rest are exchanged; 1 - smoothing should go to the right word": lambda: (
            smoothed(smoothing, (1 - smoothing) / V)[counted].mean()
        ),
        "your loss is the sum over all targets; it should be their mean": lambda: each()[counted].sum(),
        "your loss is divided by the number of rows; it should be the mean over all targets that count": lambda: (
            each()[counted].sum() / len(targets)
        ),
        "your loss has a number for each target; it should be their mean": lambda: (
            found.numel() in (targets.numel(), int(counted.sum())) and found.numel() > 1
        ),
        "your loss is divided by V as well; it should be a sum over the words": lambda: (
            each()[counted].mean() / V
        ),
        "your loss shifts the targets by one, which the caller has done already; use them as they are": lambda: (
            targets.shape[1] > 1
            and [
                (-(1 - smoothing) * a.gather(-1, b[..., None])[..., 0] - smoothing * a.mean(dim=-1)).mean()
                for a, b in ((logs[:, :-1], targets[:, 1:]),)
            ]
        ),
        "your loss takes the softmax twice; give log_softmax the logits": lambda: smoothed(
            1 - smoothing, smoothing / V, logits.softmax(dim=-1).log_softmax(dim=-1)
        )[counted].mean(),
        "your loss has the wrong sign; it should be minus the sum of q · log p": lambda: (
            -each()[counted].mean()
        ),
    }
    if bool(counted.all()):
        return slips
    return slips | {
        "your loss counts targets that are padding; it should leave them out": lambda: each().mean(),
        "your loss leaves padding out of the sum and divides by all positions; divide by those that count": lambda: (
            each() * counted
        ).mean(),
        "your loss is a mean of the rows' means; it should be one mean over all targets that count, of all "
        "rows": lambda: ((each() * counted).sum(dim=1) / counted.sum(dim=1)).mean(),
        "your loss always skips token 0; it should skip the token pad_id": lambda: (
            pad_id != 0
            and [
                each()[targets != 0].mean(),
                each()[(targets != 0) & counted].mean(),
            ]
        ),
        "your loss leaves padding out of only the right words' part; it should leave it out of the smoothing, "
        "too": lambda: [
            ((1 - smoothing) * right() * counted - smoothing * logs.mean(dim=-1)).sum() / n
            for n in (int(counted.sum()), counted.numel())
        ],
    }


def translation_slips(found, searches, max_len, ids):
    """Return what mistakes in the search write, with one beam or several; a row that is not longer is padded."""
    pad, bos, eos = ids

    def is_(rows, filler=pad):
        length = max(found.shape[1], *(len(row) for row in rows))
        wanted = torch.tensor([list(row) + [filler] * (length - len(row)) for row in rows])
        mine = torch.nn.functional.pad(found.cpu(), (0, length - found.shape[1]), value=filler)
        return torch.equal(mine, wanted)

    def by(**changes):
        return is_([search.again(**changes).words for search in searches])

    def has_beams():
        return any(search.words != search.again(beams=1).words for search in searches)

    def has_penalty():
        return any(search.words != search.again(penalty=0.0).words for search in searches)

    words = [search.words for search in searches]
    first_end = min((len(search.words) for search in searches if search.ended), default=max_len)
    return {
        "your translations begin with bos_id; leave it out, as it only comes before the first word": lambda: (
            is_([[bos, *row] for row in words])
        ),
        "your translations lack their eos_id; return it as one of their words": lambda: (
            any(search.ended for search in searches)
            and is_([[word for word in row if word != eos] for row in words])
        ),
        "your translations are filled with eos_id; after the first one should come model.pad_id": lambda: is_(
            words, eos
        ),
        "your translations are always filled with 0; "
        "they should be filled with model.pad_id": lambda: pad != 0 and is_(words, 0),
        "your rows go on after their eos_id; a row that has ended should stay as it is": lambda: by(
            ids=(pad, bos, -1)
        ),
        "your search takes one step too many; it should write max_len tokens in all, eos_id included": lambda: (
            by(max_len=max_len + 1)
        ),
        "your search takes one step too few; bos_id should not count among max_len tokens": lambda: by(
            max_len=max_len - 1
        ),
        "your search ends for all rows when one has ended; "
        "it should go on until every row has ended": lambda: is_([row[:first_end] for row in words]),
        "your search feeds only the last word; it should feed all words written so far": lambda: by(
            slip="the last word alone"
        ),
        "your beams are all the same, or only one is used; start with one hypothesis per source instead of K "
        "copies of it": lambda: has_beams() and by(beams=1),
        "your hypotheses are each continued by their own best word; keep the best K of all K·V": lambda: (
            has_beams() and by(slip="each by its own best")
        ),
        "your score sums up probabilities; it should sum up their logarithms": lambda: (
            has_beams() and is_([search.again(logs=search.logs.exp()).words for search in searches])
        ),
        "your search returns its last hypothesis; it should return the one with the best score": lambda: (
            has_beams() and by(slip="the worst is returned")
        ),
        "your ended hypotheses leave the search, or keep paying; they should stay as they are while among the "
        "best": lambda: has_beams() and by(slip="ended ones leave"),
        "your length penalty changes nothing; divide each sum by its length, up to eos_id, to that power": lambda: (
            has_penalty() and by(penalty=0.0)
        ),
        "your length penalty acts only on the last choice; the score should decide at each step, too": lambda: (
            has_penalty() and by(on_the_way=0.0)
        ),
        "your last choice is by the sum; the score should decide there as at each step": lambda: (
            has_penalty()
            and is_(
                [
                    search.again(penalty=0.0, on_the_way=search.again.keywords["penalty"]).words
                    for search in searches
                ]
            )
        ),
        "your score multiplies the sum by the length's power; it should divide by it": lambda: (
            has_penalty() and by(divisor=lambda length, power: max(length, 1) ** -power)
        ),
        "your length penalty is ((5 + length) / 6) to its power; it should be the length itself to that "
        "power": lambda: has_penalty() and by(divisor=lambda length, power: ((5 + length) / 6) ** power),
        "your length counts bos_id as well, which the score does not": lambda: (
            has_penalty() and by(divisor=lambda length, power: (length + 1) ** power)
        ),
        "your length leaves eos_id out, which counts": lambda: (
            has_penalty() and by(divisor=lambda length, power: max(length - 1, 1) ** power)
        ),
        "your score divides by penalty times length; it should divide by the length to the power of the "
        "penalty": lambda: has_penalty() and by(divisor=lambda length, power: max(length, 1) * power),
    }


# --- helpers ---


def build(submission, draw, **sizes):
    """Build a model and give its parameters random values, the same for models built alike."""
    model = submission.Translator(**{**SIZES, **sizes}).to(draw.device)
    given_module(submission, "probes").refill(model, draw.seed)
    return model


def texts(draw, batch, time, vocab, pad_id=PAD):
    """Draw int tokens [batch, time], none of them padding."""
    return (pad_id + 1 + draw.integers(0, vocab - 1, batch=batch, time=time)) % vocab


def pair(draw, batch=2, source=6, time=5, pad_id=PAD):
    """Draw a source [batch, source] and a target [batch, time] of words."""
    read, said = texts(draw, batch, source, 17, pad_id), texts(draw, batch, time, 13, pad_id)
    read[:, 0] = beyond(draw, batch)
    return read, said


def beyond(draw, batch):
    """Draw source words [batch] beyond the target's vocabulary, so that exchanging the two always shows."""
    return draw.integers(13, 17, batch=batch)


def tokens(rows):
    return with_axes(rows.contiguous(), "batch", "time")


def score(model, source, target, vocab=13):
    """Return the logits [B, T, V]; that there are any is another check's affair."""
    with precondition("forward must give finite logits [B, T, V]"):
        return score_for_certain(model, source, target, vocab)


def score_for_certain(model, source, target, vocab=13):
    with torch.no_grad():
        found = model(source, target)
    expect(found, "logits", axes=LOGITS).is_tensor(shape=(*target.shape, vocab)).is_finite()
    return found


def remember(model, source, width=12):
    """Return the memory [B, S, D] of a source; that there is one is another check's affair."""
    with precondition("encode must give a finite memory [B, S, D]"), torch.no_grad():
        found = model.encode(source)
        expect(found, "memory", axes=MEMORY).is_tensor(shape=(*source.shape, width)).is_finite()
    return found.detach()


def write(model, target, memory, source):
    """Return the logits of decode; that there are any is another check's affair."""
    with precondition("decode must give finite logits [B, T, V]"), torch.no_grad():
        found = model.decode(target, memory, source)
        expect(found, "logits", axes=LOGITS).is_tensor(shape=(*target.shape, 13)).is_finite()
    return found


def dependence(before, after):
    """Return whether the logits at each position changed in any row: bool [T]."""
    limit = 1e-5 * min(float(before.abs().max()), LARGEST)
    return ((after - before).abs() > limit).any(dim=-1).any(dim=0).cpu()


def scripted(
    submission,
    draw,
    kinds,
    max_len,
    ids=(PAD, BOS, EOS),
    source=3,
    dropout=0.0,
    eos_shift=-0.5,
    encode=None,
    **options,
):
    """Return a scripted model, sources, and the right translations: one source for each kind.

    A kind is a function of the right search and of the greedy one: what has to be true of the source. The model has
    its memories from `encode`, if there is one.
    """
    pad, bos, eos = ids
    while True:  # not every table leads to every fate
        table = draw.normal(state=STATES, token=WORDS, scale=1.2)
        table[:, [pad, bos]], table[:, eos] = UNLIKELY, table[:, eos] + eos_shift
        logs = table.cpu().double().log_softmax(dim=-1)
        tried = draw.integers(0, 50, batch=60, time=source).cpu().tolist()
        found, searches = [], []
        for kind in kinds:
            for row in tried:
                search = Search(logs, row, max_len, ids=ids, **options)
                if row not in found and search.clear and kind(search, Search(logs, row, max_len, ids=ids)):
                    found.append(row)
                    searches.append(search)
                    break
        if len(found) == len(kinds):
            lent = {"encode": callback(encode)} if encode else {}
            model = given_module(submission, "probes").ScriptedTranslator(table, pad, dropout, **lent)
            return model, tokens(torch.tensor(found, device=draw.device)), searches


def anything(search, greedy):
    return True


def ends_at(length):
    """Return the kind of source whose translation ends with its word number `length`."""
    return lambda search, greedy: search.ended and len(search.words) == length


def goes_on(search, greedy):
    return not search.ended


def better(search, greedy):
    """Say whether more hypotheses find another translation than one does."""
    return search.words != greedy.words


def by_logarithms(search, greedy):
    """As `never_ends`, and anyone who adds up probabilities finds another translation."""
    return never_ends(search, greedy) and search.words != search.again(logs=search.logs.exp()).words


def ended_among_others(search, greedy):
    """Say whether one of several has ended and changed rank while others went on, and was the best before the end."""
    return search.ended_early and search.settled and search.moved and 2 <= len(search.words) < 5


def overtaken(search, greedy):
    """Say whether the best hypothesis had ended, and a longer one has a better score at the end."""
    return search.ended_early and len(search.words) == 5


def decided_on_the_way(search, greedy):
    """Say whether a length penalty that only makes the last choice finds another translation."""
    return search.words != search.again(on_the_way=0.0).words


def never_ends(search, greedy):
    """As `better`, and nothing that is kept on the way has ended, neither here nor with one beam."""
    return better(search, greedy) and not search.met_end and not greedy.met_end


def ask(submission, model, source, max_len, ids=(PAD, BOS, EOS), **options):
    _, bos, eos = ids
    return submission.translate(model, source, bos_id=bos, eos_id=eos, max_len=max_len, **options)


def expect_translations(found, searches, max_len, ids=(PAD, BOS, EOS), name="translations", why=""):
    """Compare with the right ones; after the longest of them there may be padding."""
    pad, *_ = ids
    wanted = rows_of(searches, pad)

    def table():
        return both_searches(found.tolist(), searches, ids)

    with supposing(lambda: translation_slips(found, searches, max_len, ids)):
        expect(found, name, axes="batch time").is_tensor(shape=(len(searches), None), dtype=torch.int64)
        expect(found.shape[1], "length of the result", picture=table).is_between(wanted.shape[1], max_len)
        more = found.shape[1] - wanted.shape[1]
        wanted = torch.cat((wanted, torch.full((len(searches), more), pad)), dim=1)
        expect(found, name, axes="batch time", picture=table).equals(
            tokens(wanted).to(found.device), why=why
        )


def both_searches(found, searches, ids):
    """Return the log-probabilities that led to the first wrong translation, with the choices of both searches."""
    pad, _, eos = ids
    translations = [whole(row, pad, eos) for row in found]
    row = next(row for row, search in enumerate(searches) if translations[row] != search.words)
    search, yours = searches[row], translations[row]
    columns = [eos, *(word for word in range(WORDS) if word not in ids)]
    on_the_way = [yours[:length] for length in range(len(yours)) if set(yours[:length]) <= set(columns)]
    kept = [list(words) for step in search.steps for _, words, *_ in step] + [search.words]
    texts = [text for text in kept + on_the_way if text[-1:] != [eos] and len(text) < max(map(len, kept))]
    rows = [
        f"row {row}: log p of each next word; * the right search keeps it, ! your translation has it",
        ["so far", "sum", *(name_of(word, eos) for word in columns)],
    ]
    for text in sorted({tuple(text) for text in texts}, key=len):
        cells = [f"{search.logs[search.state_after(text), word]:.2f}" for word in columns]
        for place, word in enumerate(columns):
            longer = [*text, word]
            cells[place] += f"{'*' if longer in kept else ''}{'!' if longer == yours[: len(longer)] else ''}".ljust(2)
        rows.append([spelt(text, eos) or "nothing", f"{search.sum_of(text):.2f}", *cells])
    for name, text in (("expected", search.words), ("yours", yours)):
        known = set(text) <= set(columns)
        total = f"{search.sum_of(text):.2f}" if known else "has a word that no translation may have"
        rows.append(f"{name}: {spelt(text, eos) or 'nothing'}, sum {total}")
        power = search.again.keywords["penalty"]
        if power and known:
            rows[-1] += f", divided by {len(text)}^{power}: {search.sum_of(text) / max(len(text), 1) ** power:.2f}"
    return rows


def whole(row, pad, eos):
    """Return the words of a row up to its end."""
    end = next((place + (word == eos) for place, word in enumerate(row) if word in (pad, eos)), len(row))
    return row[:end]


def name_of(word, eos):
    return "eos" if word == eos else f"word {word}"


def spelt(text, eos):
    return " ".join("eos" if word == eos else str(word) for word in text)


# --- Translator ---


@check(aspect="shape", points=1.5)
def test_shapes(submission, draw):
    """encode gives a memory [B, S, D], decode and forward logits [B, T, V], up to max_len

    > return the memory [B, S, D].
    > logits [B, T, V]
    > the longest source and the longest target that must work.
    """
    for sizes, batch, read, time in (
        ((17, 13, 12, 3, 20, 2, 16), 2, 6, 5),
        ((11, 9, 10, 5, 7, 1, 6), 3, 6, 6),
        ((9, 14), 1, 64, 64),
        ((14, 9), 1, 1, 1),
    ):
        model = submission.Translator(*sizes).to(draw.device)
        width = sizes[2] if len(sizes) > 2 else 64
        source, target = texts(draw, batch, read, sizes[0]), texts(draw, batch, time, sizes[1])

        def reads_the_other():
            other = submission.Translator(sizes[1], sizes[0], *sizes[2:])
            return sizes[0] > sizes[1] and other.encode(source) is not None

        slips = {
            "your two vocabularies are exchanged; source_vocab should be for the source, target_vocab for the "
            "target": (reads_the_other),
            "your head scores the words of the source's vocabulary; it should score those of the target's": lambda: (
                found.shape[-1] == sizes[0] != sizes[1]
            ),
        }
        with supposing(slips), torch.no_grad():
            memory = model.encode(source)
            expect(memory, "memory", axes=MEMORY).is_tensor(
                shape=(batch, read, width), dtype=torch.float32
            ).is_finite()
            found = model.decode(target, memory, source)
            expect(found, "logits of decode", axes=LOGITS).is_tensor(
                shape=(batch, time, sizes[1]), dtype=torch.float32
            ).is_finite()
        score_for_certain(model, source, target, sizes[1])


@check(aspect="values")
def test_forward(submission, draw):
    """forward is decode applied to what encode returns

    > Return decode(target, encode(source), source).
    """
    model = build(submission, draw)
    for read, time in ((1, 2), (6, 5)):
        source, target = pair(draw, source=read, time=time)
        source[0, 4:] = PAD
        wanted = write(model, target, remember(model, source), source)
        expect(score_for_certain(model, source, target), "logits of forward", axes=LOGITS).same_as(
            wanted, name="decode(target, encode(source), source)"
        )


@check(aspect="causality", points=4)
def test_causal(submission, draw):
    """a target word changes the logits from its own position on, and none before

    > Those at t depend on target tokens 0 to t and on the whole memory.
    """
    model, (source, target) = build(submission, draw), pair(draw, time=6)
    before = score(model, source, target)
    touched = torch.zeros(6, 6, dtype=torch.bool)
    for position in range(6):
        changed = target.clone()
        changed[:, position] = changed[:, position] % 12 + 1
        touched[:, position] = dependence(before, score(model, source, tokens(changed)))

    def reads_source():
        return bool(dependence(before, score(model, tokens(source % 16 + 1), target)).any())

    with supposing(lambda: causal_slips(touched, reads_source)):
        expect(
            touched, "whether the logit depends on the target word", axes="logit word", picture="mask"
        ).equals(
            torch.ones(6, 6, dtype=torch.bool).tril(),
            why="the logits at position t depend on target words 0 to t, on each of them, and on none after",
        )


@check(aspect="values", points=3)
def test_sees_source(submission, draw):
    """every target position attends to every word of the source, from the first to the last

    > Those at t depend on target tokens 0 to t and on the whole memory.
    """
    model, (source, target) = build(submission, draw), pair(draw, source=5, time=5)
    before = score(model, source, target)
    touched = torch.zeros(5, 5, dtype=torch.bool)
    for position in range(5):
        changed = source.clone()
        changed[:, position] = changed[:, position] % 16 + 1
        touched[:, position] = dependence(before, score(model, tokens(changed), target))
    with supposing(lambda: source_slips()):
        expect(
            touched, "whether the logit depends on the source word", axes="logit word", picture="mask"
        ).equals(
            torch.ones(5, 5, dtype=torch.bool),
            why="the whole source was there before the first word was written",
        )


@check(aspect="values", points=1.5)
def test_memory(submission, draw):
    """every target position attends to every position of the memory, each of which depends on the whole source

    > Those at t depend on target tokens 0 to t and on the whole memory.
    > A source is read in both directions
    """
    model, (source, target) = build(submission, draw), pair(draw, source=5, time=5)
    memory = remember(model, source)
    before = write(model, target, memory, source)
    touched, read = torch.zeros(2, 5, 5, dtype=torch.bool)
    for position in range(5):
        changed = memory.clone()
        changed[:, position] += draw.normal(batch=2, width=12)
        touched[:, position] = dependence(before, write(model, target, changed, source))
        other = source.clone()
        other[:, position] = other[:, position] % 16 + 1
        read[:, position] = dependence(memory, remember(model, tokens(other)))
    with supposing(lambda: source_slips()):
        expect(
            touched, "whether the logit depends on the memory", axes="logit memory", picture="mask"
        ).equals(torch.ones(5, 5, dtype=torch.bool))
    with supposing(lambda: reading_slips()):
        expect(
            read, "whether the memory depends on the source word", axes="memory word", picture="mask"
        ).equals(torch.ones(5, 5, dtype=torch.bool), why="an encoder has no causal mask")


@check(aspect="padding", points=2.5)
def test_padding_read(submission, draw):
    """more padding after a sentence does not change what encode returns for its words

    > Padding never changes the vectors at real positions.
    """
    for pad_id in (PAD, 4):
        model = build(submission, draw, pad_id=pad_id)
        source, _ = pair(draw, pad_id=pad_id)
        padded = torch.cat((source, torch.full_like(source[:, :3], pad_id)), dim=1)
        short = remember(model, source)
        reads_padding = (
            "your encoder reads the padding; give its attention the padding mask of the source"
            if pad_id == PAD
            else "your masks always treat token 0 as padding; they should treat the token pad_id as padding"
        )
        with supposing(reads_padding):
            expect(
                remember(model, tokens(padded))[:, :6],
                f"memory of the words with pad_id={pad_id}",
                axes=MEMORY,
            ).same_as(
                short, name="that of the same source without padding", why="three tokens of padding follow"
            )


@check(aspect="padding", points=2.5)
def test_padding_looked_at(submission, draw):
    """decode attends to no position of the memory whose source token is padding

    > It says which positions of the memory are padding: no position may attend to those.
    """
    for pad_id in (PAD, 4):
        model, (source, target) = build(submission, draw, pad_id=pad_id), pair(draw, pad_id=pad_id)
        source[0, 3:], source[1, ::4] = pad_id, pad_id
        memory = remember(model, source)
        changed = torch.where((source == pad_id)[..., None], draw.normal(batch=2, time=6, width=12), memory)
        looks_at_padding = (
            "your decoder looks at the memory's padding; give its cross-attention the padding mask of the source"
            if pad_id == PAD
            else "your masks always treat token 0 as padding; they should treat the token pad_id as padding"
        )
        with supposing(looks_at_padding):
            expect(
                write(model, target, with_axes(changed, "batch", "source", "width"), source),
                f"logits with pad_id={pad_id}",
                axes=LOGITS,
            ).same_as(
                write(model, target, memory, source),
                name="those with another memory where the source is padding",
                why="row 0 has padding from position 3 on, row 1 at positions 0 and 4",
            )


@check(aspect="padding", follows=test_sees_source)
def test_pad_id(submission, draw):
    """token 0 is a word like any other when pad_id is not 0

    > the token that is padding, in both languages.
    """
    model, (source, target) = build(submission, draw, pad_id=4), pair(draw, pad_id=4)
    source[:, 2] = 0
    memory = remember(model, source)
    changed = memory.clone()
    changed[:, 2] += draw.normal(batch=2, width=12)
    with supposing("your masks always treat token 0 as padding; they should treat the token pad_id as padding"):
        expect(write(model, target, changed, source), "logits with pad_id=4", axes=LOGITS).differs_from(
            write(model, target, memory, source), why="the memory was changed at position 2, whose token is 0"
        )
    expect(model.pad_id, "model.pad_id").is_value(4)


@check(aspect="values", points=2)
def test_positions(submission, draw):
    """the order of the source matters, and so does that of the target

    > In both languages order matters
    """
    # One layer: with two, the causal mask alone lets a decoder without positions guess at the order.
    model = build(submission, draw, num_layers=1)
    source = torch.stack([draw.permutation(12)[:6] + 1 for _ in range(2)])
    source[:, 0] = beyond(draw, 2)
    source = tokens(source)
    target = tokens(torch.stack([draw.permutation(12)[:5] + 1 for _ in range(2)]))
    before = score(model, source, target)
    swapped = score(model, tokens(source[:, [2, 1, 0, 3, 4, 5]]), target)
    other_source, other_target = source % 12 + 1, target % 12 + 1
    read_alike = {
        "your source has no positions, so the encoder reads a bag of words; "
        "add positions to the source's embeddings": lambda: (
            not torch.allclose(score(model, tokens(other_source), target), before, atol=1e-3)
        )
    }
    with supposing(read_alike):
        expect(swapped, "logits", axes=LOGITS).differs_from(
            before, why="source words 0 and 2 were exchanged: attention alone sees a bag of words"
        )
    swapped = score(model, source, tokens(target[:, [2, 1, 0, 3, 4]]))
    other_target[:, -1] = target[:, -1]
    written_alike = {
        "your target has no positions, so the order of its words is lost; "
        "add positions to the target's embeddings": lambda: (
            not torch.allclose(score(model, source, tokens(other_target))[:, -1], before[:, -1], atol=1e-3)
        )
    }
    with supposing(written_alike):
        expect(swapped[:, -1], "logits at position 4", axes="batch token").differs_from(
            before[:, -1], why="target words 0 and 2 were exchanged: attention alone sees a bag of words"
        )
    source = texts(draw, 2, 16, 17)
    source[:, -2:] = torch.tensor([3, 4], device=source.device)
    swapped = score(model, torch.cat((source[:, :-2], source[:, -2:].flip(1)), dim=1), target)
    with supposing("your last positions share a vector; max_len words should have max_len of them"):
        expect(swapped, "logits for max_len words", axes=LOGITS).differs_from(
            score(model, source, target), why="the last two of max_len=16 source words were exchanged"
        )


@check(aspect="values", points=2)
def test_rows(submission, draw):
    """each pair of a batch is translated by itself

    > Each row of a batch is read and written by itself.
    """
    model, (source, target) = build(submission, draw), pair(draw, batch=3)
    together = score(model, source, target)
    for row in range(3):
        alone = score(model, tokens(source[row : row + 1]), tokens(target[row : row + 1]))
        with supposing(
            "your model lets rows of a batch read each other, as something in it, such as a norm, runs over axis 0"
        ):
            expect(together[row : row + 1], f"logits of row {row}", axes=LOGITS).same_as(
                alone, name="the row alone"
            )


@check(aspect="values")
def test_scores(submission, draw):
    """logits are scores of any sign, not probabilities

    > logits [B, T, V]: free numbers, no softmax.
    """
    found = score(build(submission, draw), *pair(draw))
    if bool((found >= 0).all()) and bool((found.double().sum(dim=-1) - 1).abs().max() < 1e-3):
        fail(
            "softmaxed  logits  sum to one over the vocabulary",
            "  smoothed_loss and translate apply the softmax; twice is once too often",
            stage="values",
            cause="your logits are probabilities; leave the softmax to the loss and the search",
        )
    if bool(found.double().logsumexp(dim=-1).abs().max() < 1e-3):
        fail(
            "log-softmaxed  logits  are logarithms of probabilities: none is above zero",
            "  smoothed_loss and translate apply the softmax; the head's scores are to be given as they are",
            stage="values",
            cause="your logits are logarithms of probabilities; leave log_softmax to the loss and the search",
        )


@check(aspect="parameters", points=2)
def test_sizes(submission, draw):
    """both halves are built in the sizes asked for, each layer with parameters of its own

    > sizes of the encoder, and of the decoder.
    > how many words either language has
    """

    def size(model):
        with torch.no_grad():
            return sum(parameter.numel() for _, parameter in model.named_parameters())

    def count(**sizes):
        return size(submission.Translator(**{**SIZES, **sizes}))

    one, two, three = (count(num_layers=n) for n in (1, 2, 3))
    attention, network = 4 * SIZES["d_model"] ** 2, 2 * SIZES["d_model"] * SIZES["d_ff"]
    matrices = 3 * attention + 2 * network
    fingerprint_facts(
        submission,
        grows=[
            "none"
            if not more
            else "encoder"
            if more < 2 * attention + network
            else "decoder"
            if more < matrices
            else "both"
            for more in (two - one, three - two)
        ],
    )
    network_alone = "your {} has one layer, or the same one again, whatever num_layers is"
    layers = {
        network_alone.format("decoder"): lambda: 0 < two - one < 2 * attention + network,
        network_alone.format("encoder"): lambda: 2 * attention + network <= two - one < matrices,
        network_alone.format("model"): lambda: two == one,
    }
    with supposing(layers):
        expect(two - one, "parameters that a second layer adds").is_between(
            matrices,
            float("inf"),
            why="one layer for each stack: three attentions and two feed-forward networks",
        )
    expect(three - two, "parameters that a third layer adds").is_value(two - one)
    for name, larger in (("source_vocab", 20), ("target_vocab", 20), ("d_ff", 30), ("d_model", 24)):
        with supposing(f"your model ignores {name}; pass it on to the part that it sizes"):
            expect(count(**{name: larger}) - two, f"parameters that {name}={larger} adds").is_between(
                1, float("inf"), why=f"it was {SIZES[name]}"
            )
    with supposing("your model has other sizes by default than the stub"):
        expect(size(submission.Translator(9, 8)), "parameters of Translator(9, 8)").is_value(
            size(submission.Translator(9, 8, 64, 4, 128, 2, 64)),
            why="those of Translator(9, 8, 64, 4, 128, 2, 64)",
        )
    source, target = pair(draw)
    few, many = build(submission, draw, num_heads=2), build(submission, draw, num_heads=4)
    with supposing("your model ignores num_heads; pass it on to the encoder and to the decoder"):
        expect(score(many, source, target), "logits with num_heads=4", axes=LOGITS).differs_from(
            score(few, source, target), why="2 heads with the same parameters give others"
        )


@check(aspect="mode", points=1.5)
def test_modes(submission, draw):
    """dropout acts in train mode only, in encoder and decoder, and not at all when it is 0

    > share of activations that is dropped in train mode.
    """
    source, target = pair(draw)
    model = build(submission, draw, dropout=0.5)
    model.train()
    memory = remember(model, source)
    with supposing("your dropout does not act in the encoder: pass it on to the encoder and to the decoder"):
        expect(remember(model, source), "memory in train mode", axes=MEMORY).differs_from(
            memory, why="with dropout=0.5 two passes drop different things"
        )
    first = write(model, target, memory, source)
    with supposing("your dropout does not act in the decoder: pass it on to the encoder and to the decoder"):
        expect(
            write(model, target, memory, source), "logits of decode in train mode", axes=LOGITS
        ).differs_from(first, why="with dropout=0.5 two passes drop different things")
    for sizes, training in (({"dropout": 0.5}, False), ({}, True)):
        model = build(submission, draw, **sizes)
        model.train(training)
        first = score(model, source, target)
        name = "logits without dropout" if training else "logits in eval mode"
        with supposing("" if training else "your dropout is on in eval mode too"):
            expect(score(model, source, target), name, axes=LOGITS).same_as(first, name="the pass before")
    sizes = {"d_model": 16, "num_heads": 2, "d_ff": 1, "num_layers": 1, "dropout": 0.015}
    model, word = build(submission, draw, **sizes), source[0, :1]
    model.eval()
    memory = remember(model, word[None], 16)
    model.train()
    expect_dropped_apart(lambda tokens: remember(model, tokens, 16), word.expand(4))
    expect_dropped_apart(
        lambda tokens: write(model, tokens, memory.expand(len(tokens), 1, 16), word.expand(len(tokens), 1)),
        target[0, :1].expand(4),
    )


@check(aspect="gradient", points=2)
def test_model_gradients(submission, draw):
    """gradients reach every parameter, those of the encoder through the memory

    > gradients reach every parameter, the encoder's too
    """
    # Few hidden features: where one is near 0, relu has a corner there, and a difference says nothing of the slope.
    model = build(submission, draw, num_layers=1, d_ff=4).double()
    source, target = pair(draw, batch=1, source=3, time=2)
    expect_parameter_gradients(
        model,
        lambda: model(source, target),
        draw,
        "logits",
        LOGITS,
        shape=(1, 2, 13),
        notes=(".detach(), .data and torch.no_grad() cut a path off",),
    )


@check(
    aspect="arguments",
    points=2,
    follows=[test_shapes, test_padding_read, test_padding_looked_at, test_rows, test_modes],
)
def test_model_promises(submission, draw):
    """however a model is called, what it returns is that of these arguments and of its state_dict

    > Memory and logits have the model's dtype
    > Arguments are left as they were and need not be contiguous in memory.
    > Nothing is kept from one call to the next.
    > the longest source and the longest target that must work.
    """
    made = {**SIZES, "num_heads": 4, "num_layers": 1, "max_len": 66, "dropout": 0.0, "pad_id": PAD}
    source, target = pair(draw, source=66, time=66)
    source[0, 40:] = PAD
    memory = draw.normal(batch=2, source=66, width=12)
    for name, output, axes, call in (
        ("Translator.encode", "memory", MEMORY, {"source": source}),
        ("Translator.decode", "logits", LOGITS, {"target": target, "memory": memory, "source": source}),
        ("Translator", "logits", LOGITS, {"source": source, "target": target}),
    ):
        part = Part(
            name, made, [output], [axes], [torch.float64, torch.bfloat16], defaults=["num_heads", "pad_id"]
        )
        part.expect(submission, None, draw, [call])


# --- smoothed_loss ---


@check(aspect="values", points=2)
def test_plain_loss(submission, draw):
    """without smoothing the loss is the mean of -log p of the right words

    > A scalar: the mean of -Σ q · log p over all targets that count
    > Do not shift them
    """
    for batch, time, vocab in ((3, 6, 11), (1, 1, 5)):
        logits, targets = (
            draw.normal(batch=batch, time=time, token=vocab, scale=2.0),
            texts(draw, batch, time, vocab),
        )
        found = submission.smoothed_loss(logits, targets, smoothing=0.0)
        with supposing(lambda: loss_slips(logits, targets, 0.0, found)):
            expect(found, "loss with smoothing=0.0").is_scalar().close_to(
                oracle(loss_of(targets, 0.0, PAD), logits)
            )


@check(aspect="values", points=2.5, follows=test_plain_loss)
def test_smoothing(submission, draw):
    """smoothing is spread evenly over all V words, the right one included

    > smoothing / V to every word, the right
    """
    for batch, time, vocab in ((3, 6, 5), (2, 4, 11)):
        logits, targets = (
            draw.normal(batch=batch, time=time, token=vocab, scale=2.0),
            texts(draw, batch, time, vocab),
        )
        for smoothing in (0.4, 1.0):
            found = submission.smoothed_loss(logits, targets, smoothing=smoothing)
            with supposing(lambda: loss_slips(logits, targets, smoothing, found)):
                expect(found, f"loss with smoothing={smoothing}").is_scalar().close_to(
                    oracle(loss_of(targets, smoothing, PAD), logits)
                )
        found = submission.smoothed_loss(logits, targets)
        with supposing("your smoothing has another default than 0.1"):
            expect(found, "loss").is_scalar().close_to(
                oracle(loss_of(targets, 0.1, PAD), logits), why="smoothing is 0.1 when nothing is said"
            )


def padded(draw, pad_id):
    """Draw targets [4, 7] with padding at the end in two rows."""
    targets = texts(draw, 4, 7, 11, pad_id)
    targets[0, 4:], targets[2, 1:] = pad_id, pad_id
    return targets


@check(aspect="padding", points=2.5, follows=[test_plain_loss, test_smoothing])
def test_loss_padding(submission, draw):
    """targets that are pad_id do not count, and there is one mean over all the others

    > targets that are this token do not count.
    > over all targets that count, of all rows together.
    """
    for pad_id in (PAD, 7):
        targets, logits = padded(draw, pad_id), draw.normal(batch=4, time=7, token=11, scale=2.0)
        for smoothing in (0.0, 0.3):
            found = submission.smoothed_loss(logits, targets, smoothing=smoothing, pad_id=pad_id)
            with supposing(lambda: loss_slips(logits, targets, smoothing, found, pad_id)):
                expect(found, f"loss with pad_id={pad_id}, smoothing={smoothing}").is_scalar().close_to(
                    oracle(loss_of(targets, smoothing, pad_id), logits),
                    why="row 0 has 4 targets that count, row 2 has one, the others 7",
                )


@check(aspect="gradient", points=1.5, follows=test_loss_padding)
def test_loss_gradients(submission, draw):
    """the loss's gradient is right, and zero where the target is padding

    > targets that are this token do not count.
    > gradients reach the logits
    """
    targets = padded(draw, 3)
    logits = draw.normal(batch=4, time=7, token=11, requires_grad=True)
    found = submission.smoothed_loss(logits, targets, smoothing=0.2, pad_id=3)
    expect_gradients(found, {"logits": logits}, draw, oracle=loss_of(targets, 0.2, 3), names=("loss",))


@check(aspect="stability", points=0.5)
def test_loss_stability(submission, draw):
    """logits in the hundreds do not overflow

    > `log(softmax(x))` is -∞ where the softmax rounds to 0
    """
    targets = texts(draw, 3, 6, 11)

    def compare(scale, shift=0.0):
        logits = draw.normal(batch=3, time=6, token=11, scale=scale, shift=shift)
        found = submission.smoothed_loss(logits, targets)
        slips = {
            "your loss takes exp of the logits as they are, which overflows; use log_softmax": lambda: (
                shift > 0 and not found.isfinite()
            ),
            "your loss takes the log of a softmax, which is -∞ where it rounds to 0; use log_softmax": lambda: (
                scale > 1 and not found.isfinite()
            ),
            "your loss takes the log of a softmax and a small number, which cuts off large surprises": lambda: (
                found.isfinite() and found < 0.5 * loss_of(targets, 0.1, PAD)(logits)
            ),
        }
        with supposing(slips):
            expect(found, "loss").is_tensor(shape=()).is_finite().close_to(
                oracle(loss_of(targets, 0.1, PAD), logits)
            )

    with only_if("the loss of ordinary logits must be right", lambda: compare(1.0)):
        compare(1.0, shift=500.0)
        compare(300.0)


@check(aspect="arguments", follows=[test_smoothing, test_loss_padding, test_loss_stability])
def test_loss_promises(submission, draw):
    """however the loss is called, it is that of these arguments, which it leaves as they were

    > the loss that of the logits
    > Arguments are left as they were and need not be contiguous in memory.
    """

    def right(logits, targets, smoothing, pad_id):
        return loss_of(targets, smoothing, pad_id)(logits)

    targets = texts(draw, 2, 5, 66)
    targets[0, 3:] = 7
    call = {
        "logits": draw.normal(batch=2, time=5, token=66),
        "targets": targets,
        "smoothing": 0.3,
        "pad_id": 7,
    }
    dtypes = [torch.float64, torch.bfloat16]
    part = Part("smoothed_loss", {}, ["loss"], dtypes=dtypes, gradients=False, rows=False)
    part.expect(submission, right, draw, [call])


# --- translate ---


@check(aspect="values", points=3)
def test_greedy(submission, draw):
    """one beam is greedy: each word is the best one after those written so far, for its own source

    > 1 is greedy: always the best next word.
    """
    for max_len, length in ((5, 3), (1, 3), (5, 1), (5, 66)):
        model, source, searches = scripted(submission, draw, [goes_on] * 3, max_len, source=length)
        found = ask(submission, model, source, max_len)
        expect_translations(
            found,
            searches,
            max_len,
            why=f"no row ends within max_len={max_len}; this model decides by all words of both texts",
        )


@check(aspect="values", points=3, follows=test_greedy)
def test_ends(submission, draw):
    """a translation keeps its eos_id and is padded while others continue

    > with its eos_id if it has ended, and with model.pad_id after that.
    """
    for ids in ((PAD, BOS, EOS), (5, 0, 3)):
        model, source, searches = scripted(submission, draw, [ends_at(2), goes_on, ends_at(4)], 6, ids)
        found = ask(submission, model, source, 6, ids)
        expect_translations(
            found,
            searches,
            6,
            ids,
            name=f"translations with pad_id={ids[0]}, bos_id={ids[1]}, eos_id={ids[2]}",
            why="row 0 ends with its second word, row 1 never, row 2 with its fourth",
        )


@check(aspect="values", follows=test_greedy)
def test_all_ended(submission, draw):
    """the search may stop when all have ended, and no translation is longer than max_len

    > int64 [B, L], L <= max_len
    """
    model, source, searches = scripted(submission, draw, [ends_at(3), ends_at(1), ends_at(2)], 8)
    found = ask(submission, model, source, 8)
    expect_translations(
        found, searches, 8, why="row 0 ends with its third word, row 1 with its first, row 2 with its second"
    )
    model, source, searches = scripted(submission, draw, [ends_at(4)], 4)
    expect_translations(
        ask(submission, model, source, 4), searches, 4, why="max_len is 4, and eos_id is the fourth word"
    )


@check(aspect="values", points=4, follows=[test_greedy, test_ends])
def test_beams(submission, draw):
    """more beams find what one does not: words that are second best and lead to better ones

    > the `beams` with the best scores are kept, for each source by itself.
    """
    for beams in (2, 4):
        model, source, searches = scripted(
            submission, draw, [by_logarithms, *[never_ends] * 7], 5, beams=beams, eos_shift=-3.0
        )
        found = ask(submission, model, source, 5, beams=beams)
        expect_translations(
            found,
            searches,
            5,
            name=f"translations with {beams} beams",
            why="one beam would translate every row otherwise",
        )


@check(aspect="values", points=3, follows=[test_beams, test_ends])
def test_ended_hypotheses(submission, draw):
    """a hypothesis that has ended stays as it is, and is kept or dropped by its score like the others

    > one that has ended stays as it is.
    """
    for beams in (2, 3):
        model, source, searches = scripted(
            submission, draw, [ended_among_others] * 6, 5, beams=beams, eos_shift=0.5
        )
        expect_translations(
            ask(submission, model, source, 5, beams=beams),
            searches,
            5,
            name=f"translations with {beams} beams",
            why="in every row a hypothesis has ended while others went on",
        )


@check(aspect="values", points=3, follows=[test_beams, test_ended_hypotheses])
def test_length_penalty(submission, draw):
    """the score is the sum divided by the length to the power of length_penalty, and eos_id counts

    > divided by their number to the power of
    """
    for penalty in (1.0, 0.6, 2.0):
        model, source, searches = scripted(
            submission,
            draw,
            [overtaken, decided_on_the_way, better, better, *[anything] * 3],
            5,
            beams=3,
            penalty=penalty,
            eos_shift=0.8,
        )
        expect_translations(
            ask(submission, model, source, 5, beams=3, length_penalty=penalty),
            searches,
            5,
            name=f"translations with length_penalty={penalty}",
            why="in row 0 a hypothesis that has ended is overtaken by a longer one",
        )
        # Alone, since in a batch it has as many steps as the others need.
        alone, first = searches[:1], tokens(source[:1])
        found = ask(submission, model, first, 5, beams=3, length_penalty=penalty)
        stops = (
            "your search ends with the best hypothesis, which another may overtake; wait until all that remain "
            "have ended"
        )
        with supposing({stops: lambda: found[0].tolist() == alone[0].again(slip="the best has ended").words}):
            expect_translations(
                found,
                alone,
                5,
                name="translation of row 0 alone",
                why="a longer hypothesis overtakes one that has ended",
            )


@check(aspect="values", points=1.5, follows=[test_beams, test_ended_hypotheses])
def test_exhaustive(submission, draw):
    """with as many beams as there are texts the best of all is found, and no hypothesis is kept twice

    > It may be more than there are
    """
    for _ in range(3):
        model, source, searches = scripted(submission, draw, [better], 2, beams=400)
        expect_translations(
            ask(submission, model, source, 2, beams=400), searches, 2, name="translation with 400 beams"
        )


@check(aspect="cache", follows=test_greedy)
def test_read_once(submission, draw):
    """the source is encoded once, however long the translation is and however many beams there are

    > it is encoded once.
    """
    for beams in (1, 3):
        readings = []

        def encode(source, readings=readings):
            expect(source, "what encode was given").is_tensor(shape=(None, 3))
            expect(len(source), "sources that encode was given at once").is_between(1, 100)
            readings.append(source)
            return source[..., None].float()

        model, source, _ = scripted(submission, draw, [goes_on, ends_at(3)], 5, beams=beams, encode=encode)
        with precondition("translate must return translations"):
            ask(submission, model, source, 5, beams=beams)
        fingerprint_facts(submission, more_than_once=len(readings) > 1)
        with supposing("your search encodes the source at every step; encode it once, as it does not change"):
            expect(len(readings), f"how often encode was called, with beams={beams}").is_value(1)


@check(aspect="mode")
def test_rests(submission, draw):
    """no dropout acts while it translates, even if the model was in train mode

    > nothing is dropped while it translates.
    """
    model, source, _ = scripted(submission, draw, [goes_on] * 3, 8, dropout=0.5)
    model.eval()
    with precondition("translate must return translations"):
        wanted = ask(submission, model, source, 8)
        expect(wanted, "translations", axes="batch time").is_tensor(shape=(3, 8), dtype=torch.int64)
    model.train()
    with supposing(
        "your translate never calls model.eval(), so dropout stays on while it writes; switch to eval mode first"
    ):
        expect(ask(submission, model, source, 8), "translations", axes="batch time").same_as(
            wanted, name="the result in eval mode", why="this model has dropout=0.5 and was in train mode"
        )


@check(
    aspect="mode",
    on_workers_word="modes are facts of state, seen in dropout and in whether gradients are recorded",
)
def test_restored(submission, draw):
    """grad mode and train/eval mode are restored afterwards

    > may be in train or eval mode, and is left as it was, even if it raises
    """
    for beams in (1, 3):
        for training, grad in ((True, True), (False, True), (True, False)):
            model, source, _ = scripted(submission, draw, [ends_at(1), ends_at(2)], 5, dropout=0.5)
            target = tokens(torch.full_like(source, BOS))
            model.train(training)
            with torch.set_grad_enabled(grad):
                with precondition("translate must return translations"):
                    ask(submission, model, source, 5, beams=beams)
                with keep_grad_mode(submission):
                    first, second = (model(source, target) for _ in range(2))
            for found in (first, second):
                expect(found, "logits afterwards", axes=LOGITS).is_tensor(shape=(2, 3, WORDS))
            left = (
                "your translate leaves the model in eval mode; it should restore the mode that the model had"
                if training
                else "your translate always leaves the model in train mode; "
                "it should restore the mode that the model had"
            )
            with supposing(left):
                expect(not torch.equal(first, second), f"model.training after beams={beams}").is_value(
                    training
                )
            switched = (
                "your translate switches gradients off and never on again; restore the setting that was there before"
                if grad
                else ""
            )
            with supposing(switched):
                expect(first.requires_grad, f"torch.is_grad_enabled() after beams={beams}").is_value(grad)
    modes = given_module(submission, "probes").modes_after_error(
        submission.translate, model.table, source, bos_id=BOS, eos_id=EOS, max_len=4
    )
    with supposing(
        "your translate restores modes only if the model does not raise; restore them in a finally"
    ):
        expect(list(modes), "model.training after errors in encode and decode").is_value(
            [True, True, False, False]
        )
    recorded = given_module(submission, "probes").recording_after_error(
        submission.translate, model.table, source, bos_id=BOS, eos_id=EOS, max_len=4
    )
    with supposing(
        "your translate switches gradients on again only if the model does not raise; restore them in a finally"
    ):
        expect(list(recorded), "torch.is_grad_enabled() after errors in encode and decode").is_value(
            [True, True]
        )


@check(aspect="arguments", needs=[test_causal, test_rows, test_forward, test_greedy])
def test_own_model(submission, draw):
    """with your own model, translate picks its best words, and the source is left as it was

    > yours or any that has encode, decode and pad_id.
    > Arguments are left as they were
    """
    model, (source, _) = build(submission, draw), pair(draw, batch=8)
    source[0, 4:] = PAD
    with precondition("the model must write"):
        free = set(range(3, 13)) - set(written(model, source, 6).flatten().tolist())
    eos = max(free, default=EOS)  # a word that ends nothing, as far as there is one
    found = ask(submission, model, source, 6, (PAD, BOS, eos))
    expect_unchanged(submission)
    expect(found, "translations", axes="batch time").is_tensor(shape=(8, None), dtype=torch.int64)
    expect(found.shape[1], "length of the result").is_between(1, 6)
    expect(found, "translations", axes="batch time").is_between(0, 12)
    begun = torch.cat((torch.full_like(found[:, :1], BOS), found[:, :-1]), dim=1)
    after = score(model, source, tokens(begun))
    behind = (found == eos).cumsum(dim=1) - (found == eos).int() > 0
    chosen = after.gather(-1, found[..., None]).squeeze(-1)
    best = after.amax(dim=-1)
    expect(torch.where(behind, best, chosen), "logit of the word chosen", axes="batch step").same_as(
        best, name="the best", why="the logits are those of one pass over the result"
    )
    scattered = ask(submission, model, draw.noncontiguous(source), 6, (PAD, BOS, eos))
    expect(scattered, "translations", axes="batch time").same_as(found, name="those for a contiguous source")
    options = {"bos_id": BOS, "eos_id": eos, "max_len": 6}
    for rows, right in ((source.flip(0), found.flip(0)), (source, found)):
        with same_tensors(submission):
            again = submission.translate(model=model, source=rows, **options)
        expect(again, "translations", axes="batch time").same_as(right, name="those of the same rows before")


# --- all of it ---


def written(model, source, length, vocab=13):
    """Return the model's greedy words [B, length] with a source, one after the other."""
    with torch.no_grad():
        memory = model.encode(source)
        expect(memory, "memory", axes=MEMORY).is_tensor(shape=(*source.shape, None))
        found = torch.full_like(source[:, :1], BOS)
        for _ in range(length):
            logits = model.decode(tokens(found), memory, source)
            expect(logits, "logits", axes=LOGITS).is_tensor(shape=(*found.shape, vocab))
            found = torch.cat((found, logits[:, -1].argmax(dim=-1, keepdim=True)), dim=1)
    return found[:, 1:]


@check(aspect="learning", trained=True, points=4)
def test_learning(submission, draw):
    """trained on 1,000 sentences, it translates {ACCURACY:.0%} of new ones without a mistake

    > your model is trained on 1,000 pairs
    """
    train, test = LANGUAGE["splits"](1000, 100, draw.size(0, 1 << 20))
    english, spanish, spell = LANGUAGE["SOURCE_WORDS"], LANGUAGE["TARGET_WORDS"], LANGUAGE["spell"]
    model = submission.Translator(len(english), len(spanish), 32, 2, 64, 1, 16).to(draw.device)
    pairs = [part.to(draw.device) for part in train]
    given_module(submission, "probes").train(model, submission.smoothed_loss, *pairs, BOS, STEPS)
    model.eval()
    found = written(model, test.source.to(draw.device), test.target.shape[1], len(spanish)).cpu()
    texts = [
        (spell(row, spanish), spell(wanted, spanish)) for row, wanted in zip(found, test.target, strict=True)
    ]
    wrong = [row for row, (text, wanted) in enumerate(texts) if text != wanted]
    if len(wrong) > (1 - ACCURACY) * len(texts):
        text, wanted = texts[wrong[0]]
        fail(
            f"too few right  {len(texts) - len(wrong)} of {len(texts)} sentences  want at least {ACCURACY:.0%}",
            f"  it read “{spell(test.source[wrong[0]], english)}”",
            f"  and wrote “{text or '(nothing)'}”, not “{wanted}”",
            f"  it trained for {STEPS} steps with your smoothed_loss, then wrote its own best word after its own words",
            stage="values",
        )


@check(aspect="scratch")
def test_from_scratch(submission, draw):
    """none of torch's transformer classes is used

    > torch's transformer classes (`nn.Transformer…`) are what you are building
    """
    model, (source, target) = build(submission, draw), pair(draw)
    logits = score(model, source, target)
    with precondition("smoothed_loss and translate must return something"):
        submission.smoothed_loss(logits, target)
        ask(submission, model, source, 2)
    expect_from_scratch(submission)
