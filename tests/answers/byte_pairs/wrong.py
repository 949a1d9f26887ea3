"""Byte pairs as other people get them wrong."""


class most_common_pair:
    """Counter.most_common gives the first of equals.

    Named: first_of_equals
    """

    def train(text, num_merges):
        pieces = _pieces(text)
        merges = []
        for _ in range(num_merges):
            counts = Counter(pair for piece in pieces for pair in pairwise(piece))
            if not counts:
                break
            pair = counts.most_common(1)[0][0]
            merges.append(pair)
            pieces = [_merged(piece, pair) for piece in pieces]
        return merges


class teaching_code_as_it_is:
    """max over the dict of counts, and no thought of ties or of an end.

    Named: first_of_equals, nothing_left_is_an_error
    """

    def train(text, num_merges):
        ids = [list(piece.encode("utf-8")) for piece in re.findall(PIECES, text)]
        vocab = {idx: bytes([idx]) for idx in range(256)}
        merges = []
        for i in range(num_merges):
            stats = {}
            for chunk in ids:
                for pair in zip(chunk, chunk[1:], strict=False):
                    stats[pair] = stats.get(pair, 0) + 1
            pair = max(stats, key=stats.get)
            vocab[256 + i] = vocab[pair[0]] + vocab[pair[1]]
            merges.append((vocab[pair[0]], vocab[pair[1]]))
            new = []
            for chunk in ids:
                out, k = [], 0
                while k < len(chunk):
                    if tuple(chunk[k : k + 2]) == pair:
                        out.append(256 + i)
                        k += 2
                    else:
                        out.append(chunk[k])
                        k += 1
                new.append(out)
            ids = new
        return merges


class pairs_of_ids_compared:
    """Equally frequent pairs are compared as pairs of ids.

    Named: ties_by_ids
    """

    def train(text, num_merges):
        ids = [list(piece.encode()) for piece in re.findall(PIECES, text)]
        vocab = [bytes([b]) for b in range(256)]
        merges = []
        for _ in range(num_merges):
            stats = Counter(pair for piece in ids for pair in pairwise(piece))
            if not stats:
                break
            pair = max(stats, key=lambda p: (stats[p], p))
            merges.append((vocab[pair[0]], vocab[pair[1]]))
            new = len(vocab)
            vocab.append(b"".join(merges[-1]))
            for piece in ids:
                k = 0
                while k < len(piece) - 1:
                    if (piece[k], piece[k + 1]) == pair:
                        piece[k : k + 2] = [new]
                    k += 1
        return merges


class smallest_pair_by_sorting:
    """Sorted by count downwards and pair upwards.

    Named: least_of_equals
    """

    train = """
        - best = max(counts, key=lambda pair: (counts[pair], pair))
        + best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][0]
    """


class one_string:
    """The whole text is one row of bytes.

    Named: not_cut
    """

    def train(text, num_merges):
        tokens = [bytes([b]) for b in text.encode("utf-8")]
        merges = []
        while len(merges) < num_merges and len(tokens) > 1:
            stats = {}
            for a, b in zip(tokens, tokens[1:], strict=False):
                stats[a, b] = stats.get((a, b), 0) + 1
            best = max(stats, key=lambda p: (stats[p], p))
            merges.append(best)
            tokens = list(_merged(tuple(tokens), best))
        return merges


class text_split:
    """Words by split, in learning alone.

    Named: spaces_thrown_away
    """

    train = """
        - words = Counter(_pieces(text))  # each different piece once, with how often it occurs
        + words = Counter(tuple(bytes([b]) for b in word.encode()) for word in text.split())
    """


class words_and_spaces_apart:
    """Split at word boundaries.

    Named: spaces_apart
    """

    def _pieces(text):
        parts = [part for part in re.split(r"(\s+|[^\w\s]+)", text) if part]
        return [tuple(bytes([b]) for b in part.encode()) for part in parts]


class set_of_words:
    """Each word once, as the vocabulary of a dictionary.

    Named: words_counted_once
    """

    train = """
        - words = Counter(_pieces(text))  # each different piece once, with how often it occurs
        + words = Counter(dict.fromkeys(_pieces(text), 1))
    """


class counted_by_bytes_count:
    """bytes.count finds places that do not overlap.

    Named: runs_counted_without_overlap
    """

    def train(text, num_merges):
        pieces = ["".join(chr(b) for b in p.encode()) for p in re.findall(PIECES, text)]
        table = {chr(b): bytes([b]) for b in range(256)}
        merges = []
        while len(merges) < num_merges:
            pairs = {p[i : i + 2] for p in pieces for i in range(len(p) - 1)}
            if not pairs:
                break
            counts = {two: sum(p.count(two) for p in pieces) for two in pairs}
            best = max(counts, key=lambda two: (counts[two], table[two[0]], table[two[1]]))
            new = chr(0xE000 + len(merges))
            table[new] = table[best[0]] + table[best[1]]
            merges.append((table[best[0]], table[best[1]]))
            pieces = [p.replace(best, new) for p in pieces]
        return merges


class characters_of_words:
    """As the paper of 2016 has it: characters, not bytes.

    Named: characters_merged
    """

    def train(text, num_merges):
        vocab = Counter(tuple(piece) for piece in re.findall(PIECES, text))
        merges = []
        for _ in range(num_merges):
            pairs = Counter()
            for word, freq in vocab.items():
                for pair in pairwise(word):
                    pairs[pair] += freq
            if not pairs:
                break
            best = max(pairs, key=lambda p: (pairs[p], p))
            merges.append((best[0].encode(), best[1].encode()))
            fresh = {}
            for word, freq in vocab.items():
                fresh[_merged(word, best)] = freq
            vocab = fresh
        return merges


class stops_below_two:
    """A pair that stands there once is not worth a token.

    Named: single_pairs_left
    """

    train = """
        - if not counts:
        -     break
        + if not counts or counts.most_common(1)[0][1] == 1:
        +     break
    """


class returns_joined:
    """The vocabulary is returned.

    Named: tokens_returned
    """

    train = """
        - return merges
        + return [a + b for a, b in merges]
    """


class lists_of_pairs:
    """JSON knows no tuples.

    Named: pairs_as_lists
    """

    train = """
        - return merges
        + return [[a, b] for a, b in merges]
    """


class greedy_longest_match:
    """A trie would do the same: the longest token from the left.

    Named: longest_token_first
    """

    class Tokenizer:
        encode = """
            - for tokens in _pieces(part):
            -     ids.extend(self.ids[token] for token in self._apply(tokens))
            + for piece in re.findall(PIECES, part):
            +     data = piece.encode()
            +     i = 0
            +     while i < len(data):
            +         for j in range(len(data), i, -1):
            +             if data[i:j] in self.ids:
            +                 ids.append(self.ids[data[i:j]])
            +                 i = j
            +                 break
        """


class left_to_right_stack:
    """Each byte is pushed, and merged with what lies below while that pair was learned.

    Named: leftmost_pair_first
    """

    class Tokenizer:
        def _apply(self, tokens):
            out = []
            for token in tokens:
                out.append(token)
                while len(out) > 1 and (out[-2], out[-1]) in self.ranks:
                    out[-2:] = [out[-2] + out[-1]]
            return out


class best_rank_the_wrong_way:
    """The highest rank is taken for the best.

    Named: newest_merge_first
    """

    class Tokenizer:
        def _apply(self, tokens):
            while len(tokens) > 1:
                pair = max(pairwise(tokens), key=lambda p: self.ranks.get(p, -1))
                if pair not in self.ranks:
                    break
                tokens = _merged(tokens, pair)
            return tokens


class single_pass:
    """One pass over the piece, from left to right, with no second look.

    Named: one_merge_a_piece, each_merge_at_one_place, leftmost_pair_first
    """

    class Tokenizer:
        def _apply(self, tokens):
            out, i = [], 0
            while i < len(tokens):
                if tokens[i : i + 2] in self.ranks:
                    out.append(tokens[i] + tokens[i + 1])
                    i += 2
                else:
                    out.append(tokens[i])
                    i += 1
            return out


class whole_text_merged:
    """No pieces in encode: the merges see to it, one thinks.

    Named: encode_not_cut
    """

    class Tokenizer:
        def encode(self, text):
            ids = []
            for part in self.split.split(text) if self.special else [text]:
                if part in self.special:
                    ids.append(self.special[part])
                    continue
                tokens = tuple(bytes([b]) for b in part.encode("utf-8"))
                for pair in self.ranks:
                    tokens = _merged(tokens, pair)
                ids.extend(self.ids[t] for t in tokens)
            return ids


class special_at_the_front:
    """Special strings get the ids from 256 on, the merges those behind them.

    Named: special_first
    """

    class Tokenizer:
        def __init__(self, merges, special=()):
            self.ranks = {pair: i for i, pair in enumerate(merges)}
            self.tokens = [bytes([i]) for i in range(256)] + [s.encode() for s in special]
            self.special = {s: 256 + i for i, s in enumerate(special)}
            self.tokens += [a + b for a, b in merges]
            self.ids = {t: i for i, t in enumerate(self.tokens) if not 256 <= i < 256 + len(special)}
            self.vocab_size = len(self.tokens)
            names = "|".join(map(re.escape, sorted(special, key=len, reverse=True)))
            self.split = re.compile(f"({names})")


class size_of_bytes_and_merges:
    """vocab_size without the special strings.

    Named: special_not_counted
    """

    class Tokenizer:
        __init__ = """
            - self.vocab_size = len(self.tokens)
            + self.vocab_size = 256 + len(self.ranks)
        """


class unescaped:
    """The special strings are joined by | as they are.

    Named: special_as_patterns
    """

    class Tokenizer:
        __init__ = """
            - self.split = re.compile("(" + "|".join(re.escape(string) for string in longest_first) + ")")
            + self.split = re.compile(f"({'|'.join(longest_first)})")
        """


class order_of_the_tuple:
    """Alternatives in the order in which they come.

    Named: special_in_given_order
    """

    class Tokenizer:
        __init__ = """
            - longest_first = sorted(special, key=len, reverse=True)
            - self.split = re.compile("(" + "|".join(re.escape(string) for string in longest_first) + ")")
            + self.split = re.compile("(" + "|".join(map(re.escape, special)) + ")")
        """


class split_without_group:
    """re.split without a group forgets what it split at.

    Named: special_dropped
    """

    class Tokenizer:
        __init__ = """
            - self.split = re.compile("(" + "|".join(re.escape(string) for string in longest_first) + ")")
            + self.split = re.compile("|".join(re.escape(string) for string in longest_first))
        """


class no_special_in_encode:
    """Special strings have ids, and nobody looks for them.

    Named: special_read_as_text
    """

    class Tokenizer:
        def encode(self, text):
            return [self.ids[t] for piece in _pieces(text) for t in self._apply(piece)]


class empty_pattern:
    """Without special strings the pattern is empty and splits everywhere.

    Named: never_merged
    """

    class Tokenizer:
        encode = """
            - for part in self.split.split(text) if self.special else [text]:
            + for part in self.split.split(text):
        """


class decoded_one_by_one:
    """str of each token, joined.

    Named: token_by_token
    """

    class Tokenizer:
        def decode(self, ids):
            text = ""
            for i in ids:
                text += self.tokens[i].decode("utf-8", errors="replace")
            return text


class strict_decoding:
    """bytes.decode as it comes.

    Named: errors_raised
    """

    class Tokenizer:
        def decode(self, ids):
            out = b""
            for i in ids:
                out += self.tokens[i]
            return out.decode()


class question_marks:
    """A question mark for what cannot be read.

    Named: errors_ignored, errors_escaped
    """

    class Tokenizer:
        def decode(self, ids):
            return b"".join(self.tokens[i] for i in ids).decode("utf-8", "replace").replace("\ufffd", "?")


class ordinary_tokens_decoded:
    """A table of bytes and merges; special ids are not in it.

    Named: special_unknown_to_decode
    """

    class Tokenizer:
        def decode(self, ids):
            table = {number: token for token, number in self.ids.items()}
            return b"".join(table[i] for i in ids).decode("utf-8", errors="replace")


class special_skipped:
    """As with skip_special_tokens.

    Named: special_not_decoded
    """

    class Tokenizer:
        def decode(self, ids):
            table = {number: token for token, number in self.ids.items()}
            return b"".join(table[i] for i in ids if i in table).decode("utf-8", errors="replace")


class cache_of_the_class:
    """functools.lru_cache on the method's piece alone: the first tokeniser answers for all.

    Named: pieces_remembered_by_all
    """

    KNOWN = {}

    class Tokenizer:
        def _apply(self, tokens):
            if tokens in KNOWN:
                return KNOWN[tokens]
            start = tokens
            while learned := [pair for pair in pairwise(tokens) if pair in self.ranks]:
                tokens = _merged(tokens, min(learned, key=self.ranks.get))
            KNOWN[start] = tokens
            return tokens
