"""How the wrong pairs are learned.

Each time the pair that occurs side by side most often is merged, on a tie the greatest; then all is counted anew.
"""

mistake(
    "least-frequent",
    "your train merges the rarest pair first; it should merge the most frequent",
    train="(counts[pair], pair) -> (-counts[pair], pair)",
)

mistake(
    "frequency-forgotten",
    "your train merges the greatest pair, however often it occurs; it should merge the most frequent pair",
    train="counts, key=lambda pair: (counts[pair], pair) -> counts",
)

mistake(
    "first-of-equals",
    "your train, on a tie, takes the pair that it met first; it should take the greatest",
    train="lambda pair: (counts[pair], pair) -> counts.__getitem__",
)

mistake(
    "last-of-equals",
    "your train, on a tie, takes the pair that it met last; it should take the greatest",
    train="counts, key=lambda pair: (counts[pair], pair) -> reversed(counts), key=counts.__getitem__",
)

mistake(
    "least-of-equals",
    "your train, on a tie, takes the least pair; it should take the greatest",
    train="""
        - best = max(counts, key=lambda pair: (counts[pair], pair))
        + best = min(counts, key=lambda pair: (-counts[pair], pair))
    """,
)

mistake(
    "ties-by-joined-bytes",
    "your train, on a tie, compares the joined bytes; it should compare the pairs, token by token",
    train="(counts[pair], pair) -> (counts[pair], pair[0] + pair[1])",
)

mistake(
    "ties-by-ids",
    "your train, on a tie, compares ids; compare bytes",
    train="""
        - best = max(counts, key=lambda pair: (counts[pair], pair))
        + made = [one + other for one, other in merges]
        + def number(token):
        +     return 256 + made.index(token) if token in made else token[0]
        + best = max(counts, key=lambda pair: (counts[pair], number(pair[0]), number(pair[1])))
    """,
)

mistake(
    "ties-by-length",
    "your train, on a tie, takes the longest pair; it should take the greatest, as bytes compare",
    train="(counts[pair], pair) -> (counts[pair], len(pair[0] + pair[1]), pair)",
)

mistake(
    "ties-by-shown-bytes",
    "your train compares bytes as GPT-2 shows them, a space as Ġ; compare them as they are, 32 for a space",
    train="""
        - best = max(counts, key=lambda pair: (counts[pair], pair))
        + def shown(token):
        +     return "".join(chr(byte if 33 <= byte <= 126 else byte + 256) for byte in token)
        + best = max(counts, key=lambda pair: (counts[pair], shown(pair[0]), shown(pair[1])))
    """,
)


@mistake(
    "counted-only-once",
    "your train counts pairs once and takes the most frequent of them; count again after each merge",
)
def train(text, num_merges):
    counts = Counter()
    for tokens in _pieces(text):
        counts.update(pairwise(tokens))
    best = sorted(counts, key=lambda pair: (counts[pair], pair), reverse=True)
    return best[:num_merges]


@mistake(
    "counts-kept",
    "your train only adds the counts of new pairs; take away those of the pairs that the merge has broken up",
)
def train(text, num_merges):
    words = Counter(_pieces(text))
    counts = Counter()
    for tokens, times in words.items():
        for pair in pairwise(tokens):
            counts[pair] += times
    merges = []
    while len(merges) < num_merges and counts:
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        del counts[best]
        words = Counter({_merged(tokens, best): times for tokens, times in words.items()})
        for tokens, times in words.items():
            for pair in pairwise(tokens):
                if best[0] + best[1] in pair:
                    counts[pair] += times
    return merges


mistake(
    "words-counted-once",
    "your train counts each different piece once; one that occurs seven times should count seven times",
    train="counts[pair] += times -> counts[pair] += 1",
)

mistake(
    "runs-counted-without-overlap",
    "your train counts aa once in aaa; it should count every place where two tokens are side by side",
    train="""
        - for pair in pairwise(tokens):
        -     counts[pair] += times
        + place = 0
        + while place < len(tokens) - 1:
        +     counts[tokens[place], tokens[place + 1]] += times
        +     place += 2 if tokens[place : place + 3] == tokens[place : place + 1] * 3 else 1
    """,
)

mistake(
    "pairs-counted-once-a-piece",
    "your train counts a pair one time in each piece, however often it occurs; it should count every place",
    train="pairwise(tokens) -> set(pairwise(tokens))",
)


@mistake(
    "merged-from-the-right",
    "your merges are made from right to left, so aaa becomes a aa; it should become aa a",
)
def _merged(tokens, pair):
    result = []
    place = len(tokens)
    while place > 0:
        if place > 1 and tokens[place - 2 : place] == pair:
            result.append(pair[0] + pair[1])
            place -= 2
        else:
            result.append(tokens[place - 1])
            place -= 1
    return tuple(reversed(result))


mistake(
    "one-place-in-a-piece",
    "your train merges a pair at one place of each piece; it should merge it wherever it occurs",
    train="""
        - words = Counter({_merged(tokens, best): times for tokens, times in words.items()})
        + new = {}
        + for tokens, times in words.items():
        +     pairs = list(pairwise(tokens))
        +     if best in pairs:
        +         place = pairs.index(best)
        +         tokens = (*tokens[:place], best[0] + best[1], *tokens[place + 2 :])
        +     new[tokens] = times
        + words = new
    """,
)

mistake(
    "nothing-left-is-an-error",
    "your train takes the max of no pairs, which is an error; stop when none is left",
    train="""
        - if not counts:
        -     break
    """,
)

mistake(
    "single-pairs-left",
    "your train stops at pairs that occur once; it should continue until no pair is left",
    train="if not counts: -> if not counts or max(counts.values()) < 2:",
)

mistake(
    "one-merge-too-many",
    "your train returns one merge too many; it should return num_merges pairs",
    train="len(merges) < num_merges -> len(merges) <= num_merges",
)

mistake(
    "one-merge-too-few",
    "your train makes too few merges; it should make num_merges of them (where does its loop end?)",
    train="len(merges) < num_merges -> len(merges) < num_merges - 1",
)

mistake(
    "merges-of-all-calls",
    "your train adds to a list that all its calls share, so it begins where the last one ended; make a new list",
    train="""
        - merges: list[Pair] = []
        + merges = vars(train).setdefault("merges", [])
    """,
)

mistake(
    "size-of-vocabulary",
    "your train makes no merge for so small a num_merges; it should make that many, and the 256 bytes do not count",
    train="len(merges) < num_merges -> len(merges) + 256 < num_merges",
)

mistake(
    "tokens-returned",
    "your train returns the new tokens; each entry should be the pair that made one",
    train="merges.append(best) -> merges.append(best[0] + best[1])",
    costs="what train returns is all that it can be judged by",
)

mistake(
    "table-returned",
    "your train returns a dict from pairs to ids; it should return a list of the pairs",
    train="return merges -> return {pair: 256 + rank for rank, pair in enumerate(merges)}",
    costs="what train returns is all that it can be judged by",
)

mistake(
    "counts-returned",
    "your train returns each pair with its count; it should return only the pairs",
    train="merges.append(best) -> merges.append((best, counts[best]))",
    costs="what train returns is all that it can be judged by",
)

mistake(
    "pairs-of-ids",
    "your train returns pairs of ids; each token should be given by its bytes",
    train="""
        - return merges
        + made = [one + other for one, other in merges]
        + def number(token):
        +     return 256 + made.index(token) if token in made else token[0]
        + return [(number(one), number(other)) for one, other in merges]
    """,
    costs="what train returns is all that it can be judged by",
)

mistake(
    "pairs-of-strings",
    "your train returns pairs of strings; a token should be bytes, as it may be half a character",
    train="""
        - return merges
        + return [(one.decode("utf-8", "replace"), other.decode("utf-8", "replace")) for one, other in merges]
    """,
    costs="what train returns is all that it can be judged by",
)

mistake(
    "pairs-as-lists",
    "your train returns lists of two; a pair should be a tuple",
    train="merges.append(best) -> merges.append(list(best))",
    costs="what train returns is all that it can be judged by",
)

mistake(
    "characters-merged",
    "your train merges characters; a token should be one byte at first, and é has two of them",
    train="""
        - words = Counter(_pieces(text))  # each different piece once, with how often it occurs
        + words = Counter(tuple(c.encode() for c in piece) for piece in re.findall(PIECES, text))
    """,
)


@mistake("latin-1-bytes", "your bytes are those of another encoding; they should be those of UTF-8")
def _pieces(text):
    pieces = re.findall(PIECES, text)
    return [tuple(bytes([byte]) for byte in piece.encode("utf-16-le")[::2]) for piece in pieces]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
