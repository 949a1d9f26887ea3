"""How a text gets the wrong ids.

Special strings first, then pieces; in each the merge that was learned first is made first, wherever its pair stands.
"""


@mistake(
    "longest-token-first",
    "your encode takes the longest token that fits; it should make merges in the order in which they were learned",
)
class Tokenizer:
    def _apply(self, tokens):
        piece, found = b"".join(tokens), []
        while piece:
            end = max(size for size in range(1, len(piece) + 1) if piece[:size] in self.ids)
            found.append(piece[:end])
            piece = piece[end:]
        return tuple(found)


mistake(
    "leftmost-pair-first",
    "your encode merges the first learned pair from the left; it should merge the pair that was learned first",
    Tokenizer="min(learned, key=self.ranks.__getitem__) -> learned[0]",
)

mistake(
    "newest-merge-first",
    "your encode merges the pair that was learned last; it should merge the one learned first",
    Tokenizer="min(learned, key=self.ranks.__getitem__) -> max(learned, key=self.ranks.__getitem__)",
)

mistake(
    "greatest-pair-first",
    "your encode merges the greatest pair, as bytes compare; it should merge the one learned first",
    Tokenizer="min(learned, key=self.ranks.__getitem__) -> max(learned)",
)

mistake(
    "one-merge-a-piece",
    "your encode makes one merge in each piece; it should continue until no learned pair is left",
    Tokenizer="""
        - while True:
        + for _ in range(1):

        - tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
        + tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
        + return tokens
    """,
)


@mistake(
    "each-merge-at-one-place",
    "your encode makes each merge at its first place only; it should make it wherever its pair occurs",
)
class Tokenizer:
    def _apply(self, tokens):
        for pair in self.ranks:
            pairs = list(pairwise(tokens))
            if pair in pairs:
                place = pairs.index(pair)
                tokens = (*tokens[:place], pair[0] + pair[1], *tokens[place + 2 :])
        return tokens


mistake(
    "overlapping-places-merged",
    "your encode merges both places of aa in aaa; it should use each token only once",
    Tokenizer="""
        - tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
        + best = min(learned, key=self.ranks.__getitem__)
        + joined, used = [], False
        + for place, token in enumerate(tokens):
        +     if tokens[place : place + 2] == best:
        +         joined.append(best[0] + best[1])
        +     elif tokens[max(place - 1, 0) : place + 1] != best:
        +         joined.append(token)
        + tokens = tuple(joined)
    """,
)


@mistake(
    "never-merged",
    "your encode merges nothing, so a text stays bytes; apply the merges to each piece, in their order",
)
class Tokenizer:
    def _apply(self, tokens):
        return tokens


mistake(
    "encode-not-cut",
    "your encode does not cut a text into pieces, so merges reach across words; cut it into PIECES first",
    Tokenizer="_pieces(part) -> [tuple(bytes([byte]) for byte in part.encode())]",
)

mistake(
    "merges-before-bytes",
    "your ids begin with the merges; 0 to 255 should be the bytes",
    Tokenizer="""
        - tokens = [bytes([byte]) for byte in range(256)] + [one + other for one, other in merges]
        + tokens = [one + other for one, other in merges] + [bytes([byte]) for byte in range(256)]
    """,
)

mistake(
    "special-first",
    "your special strings have the ids before the merges; they should come last",
    Tokenizer="""
        - self.ids = {token: number for number, token in enumerate(tokens)}
        - self.special = {string: len(tokens) + number for number, string in enumerate(special)}
        - self.tokens = tokens + [string.encode() for string in special]
        + self.special = {string: 256 + number for number, string in enumerate(special)}
        + self.tokens = tokens[:256] + [string.encode() for string in special] + tokens[256:]
        + self.ids = {t: n if n < 256 else n + len(special) for n, t in enumerate(tokens)}
    """,
)

mistake(
    "special-sorted",
    "your special strings are numbered in another order; number them as they are given",
    Tokenizer="""
        + special = sorted(special)
          self.ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
    """,
)

mistake(
    "special-not-counted",
    "your vocab_size leaves the special strings out; it should count them too",
    Tokenizer="len(self.tokens) -> len(tokens)",
)

mistake(
    "bytes-not-counted",
    "your vocab_size leaves the 256 bytes out; it should count bytes, merges and special strings",
    Tokenizer="len(self.tokens) -> len(self.tokens) - 256",
)

mistake(
    "size-to-be-called",
    "your vocab_size has to be called; it should be an attribute, a number",
    Tokenizer="len(self.tokens) -> lambda: len(self.tokens)",
)

mistake(
    "ids-one-by-one-off",
    "your first merge has the id 257; the ids should continue after 255, with 256",
    Tokenizer='[bytes([byte]) for byte in range(256)] -> [bytes([b]) for b in range(256)] + [b""]',
)

mistake(
    "tokens-encoded",
    "your encode returns the tokens themselves; it should return their ids",
    Tokenizer="self.ids[token] for token in self._apply(tokens) -> self._apply(tokens)",
)

mistake(
    "tensor-encoded",
    "your encode returns a tensor; it should return a list of ints",
    Tokenizer="return ids -> return torch.tensor(ids)",
)

import torch

mistake(
    "special-read-as-text",
    "your encode finds no special string in a text; it should write each as its own id",
    Tokenizer=[
        "self.split.split(text) if self.special else [text] -> [text]",
        "part in self.special -> part is None",
    ],
)

mistake(
    "only-whole-special",
    "your encode knows a special string only where it is the whole text; it should find it anywhere in a text",
    Tokenizer="self.split.split(text) if self.special else [text] -> [text]",
)

mistake(
    "special-as-a-piece",
    "your encode knows a special string only where it is a piece by itself; it may be next to anything",
    Tokenizer=r'self.split.split(text) if self.special else [text] -> re.findall(r" ?\S+|\s+", text)',
)

mistake(
    "split-at-nothing",
    "your encode splits at an empty pattern when there are no special strings; it should then skip that split",
    Tokenizer="self.split.split(text) if self.special else [text] -> self.split.split(text)",
)

mistake(
    "special-dropped",
    "your encode leaves special strings out; it should add the id of each string that the text is split at",
    Tokenizer="ids.append(self.special[part]) -> continue",
)

mistake(
    "special-between-spaces",
    "your encode finds special strings only between spaces; they may be anywhere",
    Tokenizer=r"""
        - self.split = re.compile("(" + "|".join(re.escape(string) for string in longest_first) + ")")
        + inner = "|".join(re.escape(string) for string in longest_first)
        + self.split = re.compile(r"(?:(?<=\s)|^)(" + inner + r")(?=\s|$)")
    """,
)

mistake(
    "special-swallows-spaces",
    "your encode drops the white space next to special strings; it should encode every character of the text",
    Tokenizer="_pieces(part) -> _pieces(part.strip() if self.special else part)",
)

mistake(
    "special-in-given-order",
    "your encode tries special strings in the order given; where several begin at one place, it should use the longest",
    Tokenizer="sorted(special, key=len, reverse=True) -> list(special)",
)

mistake(
    "shortest-special-first",
    "your encode tries the shortest special string first; where several begin at one place, it should use the longest",
    Tokenizer="key=len, reverse=True -> key=len",
)

mistake(
    "special-as-patterns",
    "your special strings are used as patterns; pass them through re.escape, so that | . + ( are literal",
    Tokenizer="re.escape(string) -> string",
)


mistake(
    "pieces-remembered-by-all",
    "your encode remembers pieces for all tokenisers; each should use its own merges",
    Tokenizer="""
        + known = {}
        +
          def encode(self, text: str) -> list[int]:

        - ids.extend(self.ids[token] for token in self._apply(tokens))
        + if tokens not in self.known:
        +     self.known[tokens] = [self.ids[token] for token in self._apply(tokens)]
        + ids.extend(self.known[tokens])
    """,
)

mistake(
    "pieces-remembered-across-calls",
    "your encode continues with the ids of the call before; it should start each text with an empty list",
    Tokenizer="""
        + self.found = []
          self.vocab_size = len(self.tokens)

        - ids: list[int] = []
        + ids = self.found
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
