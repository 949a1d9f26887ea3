"""How a text gets the wrong ids.

Special strings first, then pieces; in each the merge that was learned first is made first, wherever its pair stands.
"""


class longest_token_first:
    """your encode takes the longest token that fits: merges are made in the order in which they were learned

    Fails: test_order
    """

    class Tokenizer:
        def _apply(self, tokens):
            piece, found = b"".join(tokens), []
            while piece:
                end = max(size for size in range(1, len(piece) + 1) if piece[:size] in self.ids)
                found.append(piece[:end])
                piece = piece[end:]
            return tuple(found)


class leftmost_pair_first:
    """your encode merges the first pair of the piece that was learned at all: the one learned first goes first

    Fails: test_order
    """

    class Tokenizer:
        _apply = """
            - tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
            + tokens = _merged(tokens, learned[0])
        """


class newest_merge_first:
    """your encode merges the pair that was learned last: the one learned first goes first

    Fails: test_order
    """

    class Tokenizer:
        _apply = """
            - tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
            + tokens = _merged(tokens, max(learned, key=self.ranks.__getitem__))
        """


class greatest_pair_first:
    """your encode merges the greatest pair, as bytes compare: the one learned first goes first

    Fails: test_order
    """

    class Tokenizer:
        _apply = """
            - tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
            + tokens = _merged(tokens, max(learned))
        """


class one_merge_a_piece:
    """your encode makes one merge in each piece: it continues until no learned pair is left

    Fails: test_everywhere
    """

    class Tokenizer:
        _apply = """
            - while True:
            + for _ in range(1):

            - tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
            + tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
            + return tokens
        """


class each_merge_at_one_place:
    """your encode makes each merge at its first place only: it is made wherever its pair occurs

    Fails: test_everywhere
    """

    class Tokenizer:
        def _apply(self, tokens):
            for pair in self.ranks:
                pairs = list(pairwise(tokens))
                if pair in pairs:
                    place = pairs.index(pair)
                    tokens = (*tokens[:place], pair[0] + pair[1], *tokens[place + 2 :])
            return tokens


class overlapping_places_merged:
    """your encode merges both places of aa in aaa: a token that was merged is used up

    Fails: test_everywhere
    """

    class Tokenizer:
        _apply = """
            - tokens = _merged(tokens, min(learned, key=self.ranks.__getitem__))
            + best = min(learned, key=self.ranks.__getitem__)
            + joined, used = [], False
            + for place, token in enumerate(tokens):
            +     if tokens[place : place + 2] == best:
            +         joined.append(best[0] + best[1])
            +     elif tokens[max(place - 1, 0) : place + 1] != best:
            +         joined.append(token)
            + tokens = tuple(joined)
        """


class never_merged:
    """your encode merges nothing: a text stays bytes

    Fails: test_ids
    """

    class Tokenizer:
        def _apply(self, tokens):
            return tokens


class encode_not_cut:
    """your encode does not cut a text into pieces: a merge reaches from one word into the next

    Fails: test_encode_pieces
    """

    class Tokenizer:
        encode = """
            - for tokens in _pieces(part):
            + for tokens in [tuple(bytes([byte]) for byte in part.encode())]:
        """


class merges_before_bytes:
    """your ids begin with the merges: 0 to 255 are the bytes

    Fails: test_ids
    """

    class Tokenizer:
        __init__ = """
            - tokens = [bytes([byte]) for byte in range(256)] + [one + other for one, other in merges]
            + tokens = [one + other for one, other in merges] + [bytes([byte]) for byte in range(256)]
        """


class special_first:
    """your special strings have the ids before the merges: they come last

    Fails: test_ids
    """

    class Tokenizer:
        __init__ = """
            - self.ids = {token: number for number, token in enumerate(tokens)}
            - self.special = {string: len(tokens) + number for number, string in enumerate(special)}
            - self.tokens = tokens + [string.encode() for string in special]
            + self.special = {string: 256 + number for number, string in enumerate(special)}
            + self.tokens = tokens[:256] + [string.encode() for string in special] + tokens[256:]
            + self.ids = {t: n if n < 256 else n + len(special) for n, t in enumerate(tokens)}
        """


class special_sorted:
    """your special strings are numbered in another order than that in which they are given

    Fails: test_special
    """

    class Tokenizer:
        __init__ = """
            + special = sorted(special)
              self.ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
        """


class special_not_counted:
    """your vocab_size leaves the special strings out: they are ids, too

    Fails: test_ids
    """

    class Tokenizer:
        __init__ = """
            - self.vocab_size = len(self.tokens)
            + self.vocab_size = len(tokens)
        """


class bytes_not_counted:
    """your vocab_size leaves the 256 bytes out

    Fails: test_ids
    """

    class Tokenizer:
        __init__ = """
            - self.vocab_size = len(self.tokens)
            + self.vocab_size = len(self.tokens) - 256
        """


class size_to_be_called:
    """your vocab_size has to be called: it is an attribute, a number

    Fails: test_ids
    """

    class Tokenizer:
        __init__ = """
            - self.vocab_size = len(self.tokens)
            + self.vocab_size = lambda: len(self.tokens)
        """


class ids_one_by_one_off:
    """your first merge has the id 257: the ids continue after 255

    Fails: test_ids
    """

    class Tokenizer:
        __init__ = """
            - tokens = [bytes([byte]) for byte in range(256)] + [one + other for one, other in merges]
            + tokens = [bytes([b]) for b in range(256)] + [b""] + [one + other for one, other in merges]
        """


class tokens_encoded:
    """your encode returns the tokens themselves: their ids are wanted

    Fails: test_bytes_alone
    """

    class Tokenizer:
        encode = """
            - ids.extend(self.ids[token] for token in self._apply(tokens))
            + ids.extend(self._apply(tokens))
        """


class tensor_encoded:
    """your encode returns a tensor: a list of ints is wanted

    Fails: test_bytes_alone
    """

    import torch

    class Tokenizer:
        encode = """
            - return ids
            + return torch.tensor(ids)
        """


class special_read_as_text:
    """your encode finds no special string in a text: they are read as text

    Fails: test_special
    """

    class Tokenizer:
        encode = """
            - for part in self.split.split(text) if self.special else [text]:
            + for part in [text]:

            - if part in self.special:
            + if part is None:
        """


class only_whole_special:
    """your encode knows a special string only where it is the whole text

    Fails: test_special
    """

    class Tokenizer:
        encode = """
            - for part in self.split.split(text) if self.special else [text]:
            + for part in [text]:
        """


class special_as_a_piece:
    """your encode knows a special string only where it is a piece by itself: it may be next to anything

    Fails: test_special
    """

    class Tokenizer:
        encode = """
            - for part in self.split.split(text) if self.special else [text]:
            + for part in re.findall(r" ?\\S+|\\s+", text):
        """


class split_at_nothing:
    """your encode splits at an empty pattern when there are no special strings: that is between any two characters

    Fails: test_ids
    """

    class Tokenizer:
        encode = """
            - for part in self.split.split(text) if self.special else [text]:
            + for part in self.split.split(text):
        """


class special_dropped:
    """your encode leaves special strings out: what a text is split at has to be kept

    Fails: test_special
    """

    class Tokenizer:
        encode = """
            - ids.append(self.special[part])
            + continue
        """


class special_between_spaces:
    """your encode finds special strings only between spaces: they may be anywhere

    Fails: test_special
    """

    class Tokenizer:
        __init__ = """
            - self.split = re.compile("(" + "|".join(re.escape(string) for string in longest_first) + ")")
            + inner = "|".join(re.escape(string) for string in longest_first)
            + self.split = re.compile(r"(?:(?<=\\s)|^)(" + inner + r")(?=\\s|$)")
        """


class special_swallows_spaces:
    """your encode drops the white space next to special strings

    Fails: test_special
    """

    class Tokenizer:
        encode = """
            - for tokens in _pieces(part):
            + for tokens in _pieces(part.strip() if self.special else part):
        """


class special_in_given_order:
    """your encode takes the special string that is given first: of several at one place, the longest

    Fails: test_longest
    """

    class Tokenizer:
        __init__ = """
            - longest_first = sorted(special, key=len, reverse=True)
            + longest_first = list(special)
        """


class shortest_special_first:
    """your encode takes the shortest special string: of several at one place, the longest

    Fails: test_longest
    """

    class Tokenizer:
        __init__ = """
            - longest_first = sorted(special, key=len, reverse=True)
            + longest_first = sorted(special, key=len)
        """


class special_as_patterns:
    """your special strings are used as patterns: | . + ( are literal, as re.escape makes them

    Fails: test_no_patterns
    """

    class Tokenizer:
        __init__ = """
            - self.split = re.compile("(" + "|".join(re.escape(string) for string in longest_first) + ")")
            + self.split = re.compile("(" + "|".join(string for string in longest_first) + ")")
        """


class pieces_remembered_by_all:
    """your encode remembers pieces for all tokenisers: each has merges of its own

    Fails: test_order
    """

    class Tokenizer:
        known = {}  # noqa: RUF012

        encode = """
            - ids.extend(self.ids[token] for token in self._apply(tokens))
            + if tokens not in self.known:
            +     self.known[tokens] = [self.ids[token] for token in self._apply(tokens)]
            + ids.extend(self.known[tokens])
        """


class pieces_remembered_across_calls:
    """your encode continues with the ids of the call before: each text starts afresh

    Fails: test_bytes_alone
    """

    class Tokenizer:
        __init__ = """
            + self.found = []
              self.vocab_size = len(self.tokens)
        """

        encode = """
            - ids: list[int] = []
            + ids = self.found
        """
