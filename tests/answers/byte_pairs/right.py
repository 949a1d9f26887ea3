"""Byte pairs as other people learn and use them."""


class stats_over_chunks:
    """Ids in chunks, counted in a dict and replaced, as teaching code has it; min by rank while encoding."""

    def get_stats(ids, counts=None):
        counts = {} if counts is None else counts
        for pair in zip(ids, ids[1:], strict=False):
            counts[pair] = counts.get(pair, 0) + 1
        return counts

    def merge(ids, pair, idx):
        newids = []
        i = 0
        while i < len(ids):
            if ids[i] == pair[0] and i < len(ids) - 1 and ids[i + 1] == pair[1]:
                newids.append(idx)
                i += 2
            else:
                newids.append(ids[i])
                i += 1
        return newids

    def train(text, num_merges):
        ids = [list(chunk.encode("utf-8")) for chunk in re.findall(PIECES, text)]
        vocab = {idx: bytes([idx]) for idx in range(256)}
        merges = []
        for i in range(num_merges):
            stats = {}
            for chunk_ids in ids:
                get_stats(chunk_ids, stats)
            if not stats:
                break
            pair = max(stats, key=lambda p: (stats[p], vocab[p[0]], vocab[p[1]]))
            idx = 256 + i
            ids = [merge(chunk_ids, pair, idx) for chunk_ids in ids]
            vocab[idx] = vocab[pair[0]] + vocab[pair[1]]
            merges.append((vocab[pair[0]], vocab[pair[1]]))
        return merges

    class Tokenizer:
        def __init__(self, merges, special=()):
            self.vocab = {idx: bytes([idx]) for idx in range(256)}
            lookup = {v: k for k, v in self.vocab.items()}
            self.merges = {}
            for p0, p1 in merges:
                idx = len(self.vocab)
                self.merges[(lookup[p0], lookup[p1])] = idx
                self.vocab[idx] = p0 + p1
                lookup.setdefault(p0 + p1, idx)
            self.special_tokens = {s: len(self.vocab) + i for i, s in enumerate(special)}
            self.inverse_special = {v: k for k, v in self.special_tokens.items()}
            self.vocab_size = len(self.vocab) + len(self.special_tokens)

        def _encode_chunk(self, text_bytes):
            ids = list(text_bytes)
            while len(ids) >= 2:
                stats = get_stats(ids)
                pair = min(stats, key=lambda p: self.merges.get(p, float("inf")))
                if pair not in self.merges:
                    break
                ids = merge(ids, pair, self.merges[pair])
            return ids

        def encode_ordinary(self, text):
            ids = []
            for chunk in re.findall(PIECES, text):
                ids.extend(self._encode_chunk(chunk.encode("utf-8")))
            return ids

        def encode(self, text):
            if not self.special_tokens:
                return self.encode_ordinary(text)
            longest = sorted(self.special_tokens, key=lambda s: -len(s))
            pattern = "(" + "|".join(re.escape(k) for k in longest) + ")"
            ids = []
            for part in re.split(pattern, text):
                if part in self.special_tokens:
                    ids.append(self.special_tokens[part])
                else:
                    ids.extend(self.encode_ordinary(part))
            return ids

        def decode(self, ids):
            part_bytes = []
            for idx in ids:
                if idx in self.vocab:
                    part_bytes.append(self.vocab[idx])
                else:
                    part_bytes.append(self.inverse_special[idx].encode("utf-8"))
            return b"".join(part_bytes).decode("utf-8", errors="replace")


class bytes_shown_as_characters:
    """Each byte is shown as a printable character, words are strings, and a cache keeps what a piece became."""

    def bytes_to_unicode():
        bs = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
        cs = bs[:]
        n = 0
        for b in range(256):
            if b not in bs:
                bs.append(b)
                cs.append(256 + n)
                n += 1
        return dict(zip(bs, map(chr, cs), strict=True))

    def get_pairs(word):
        pairs = set()
        prev = word[0]
        for char in word[1:]:
            pairs.add((prev, char))
            prev = char
        return pairs

    class Tokenizer:
        def __init__(self, merges, special=()):
            self.byte_encoder = bytes_to_unicode()
            self.byte_decoder = {v: k for k, v in self.byte_encoder.items()}

            def show(token):
                return "".join(self.byte_encoder[b] for b in token)

            self.bpe_ranks = {(show(a), show(b)): i for i, (a, b) in enumerate(merges)}
            self.encoder = {self.byte_encoder[b]: b for b in range(256)}
            for a, b in self.bpe_ranks:
                self.encoder[a + b] = len(self.encoder)
            self.decoder = {v: k for k, v in self.encoder.items()}
            self.added = {s: len(self.encoder) + i for i, s in enumerate(special)}
            self.vocab_size = len(self.encoder) + len(self.added)
            self.cache = {}

        def bpe(self, token):
            if token in self.cache:
                return self.cache[token]
            word = tuple(token)
            while len(word) > 1:
                bigram = min(get_pairs(word), key=lambda pair: self.bpe_ranks.get(pair, float("inf")))
                if bigram not in self.bpe_ranks:
                    break
                first, second = bigram
                new_word = []
                i = 0
                while i < len(word):
                    try:
                        j = word.index(first, i)
                    except ValueError:
                        new_word.extend(word[i:])
                        break
                    new_word.extend(word[i:j])
                    i = j
                    if i < len(word) - 1 and word[i + 1] == second:
                        new_word.append(first + second)
                        i += 2
                    else:
                        new_word.append(word[i])
                        i += 1
                word = tuple(new_word)
            self.cache[token] = word
            return word

        def _plain(self, text):
            tokens = []
            for token in re.findall(PIECES, text):
                shown = "".join(self.byte_encoder[b] for b in token.encode("utf-8"))
                tokens.extend(self.encoder[t] for t in self.bpe(shown))
            return tokens

        def encode(self, text):
            if not self.added:
                return self._plain(text)
            alternatives = "|".join(map(re.escape, sorted(self.added, key=len, reverse=True)))
            ids, last = [], 0
            for match in re.finditer(alternatives, text):
                ids += self._plain(text[last : match.start()])
                ids.append(self.added[match.group()])
                last = match.end()
            return ids + self._plain(text[last:])

        def decode(self, ids):
            names = {v: k for k, v in self.added.items()}
            out = bytearray()
            for i in ids:
                if i in names:
                    out.extend(names[i].encode())
                else:
                    out.extend(self.byte_decoder[c] for c in self.decoder[i])
            return out.decode("utf-8", errors="replace")


class mergeable_ranks:
    """One dict from bytes to ranks, in which a pair is looked up joined; the parts of a piece shrink place by place."""

    class Tokenizer:
        def __init__(self, merges, special=()):
            self._ranks = {bytes([i]): i for i in range(256)}
            for a, b in merges:
                self._ranks[a + b] = len(self._ranks)
            self._known = {a + b for a, b in merges}
            self._order = {(a, b): i for i, (a, b) in enumerate(merges)}
            self._special = {s: len(self._ranks) + i for i, s in enumerate(special)}
            self._back = {i: t for t, i in self._ranks.items()}
            self._back.update({i: s.encode() for s, i in self._special.items()})
            self.vocab_size = len(self._back)

        def _bpe(self, piece):
            parts = [bytes([b]) for b in piece]
            while True:
                min_idx = None
                min_rank = None
                for i, pair in enumerate(zip(parts[:-1], parts[1:], strict=True)):
                    rank = self._order.get(pair)
                    if rank is not None and (min_rank is None or rank < min_rank):
                        min_idx = i
                        min_rank = rank
                if min_rank is None:
                    break
                parts = parts[:min_idx] + [parts[min_idx] + parts[min_idx + 1]] + parts[min_idx + 2 :]
            return [self._ranks[part] for part in parts]

        def encode(self, text):
            out, i = [], 0
            while i <= len(text):
                hits = [(text.find(s, i), -len(s), s) for s in self._special if text.find(s, i) >= 0]
                end, _, found = min(hits) if hits else (len(text), 0, None)
                for piece in re.finditer(PIECES, text[i:end]):
                    out.extend(self._bpe(piece.group(0).encode("utf-8")))
                if found is None:
                    return out
                out.append(self._special[found])
                i = end + len(found)
            return out

        def decode(self, ids):
            return b"".join([self._back[i] for i in ids]).decode("utf-8", "replace")


class counts_that_follow:
    """Counts by pair and the words in which a pair stands are kept, and corrected after each merge."""

    def train(text, num_merges):
        freq = {}
        for piece in re.findall(PIECES, text):
            freq[piece.encode()] = freq.get(piece.encode(), 0) + 1
        words = [[bytes([b]) for b in w] for w in freq]
        weights = list(freq.values())
        pair_counts, where = {}, {}
        for k, word in enumerate(words):
            for pair in zip(word, word[1:], strict=False):
                pair_counts[pair] = pair_counts.get(pair, 0) + weights[k]
                where.setdefault(pair, set()).add(k)
        merges = []
        while len(merges) < num_merges and pair_counts:
            top = max(pair_counts.items(), key=lambda kv: (kv[1], kv[0]))[0]
            merges.append(top)
            for k in list(where[top]):
                word = words[k]
                for pair in zip(word, word[1:], strict=False):
                    pair_counts[pair] -= weights[k]
                    where[pair].discard(k)
                    if pair_counts[pair] == 0:
                        del pair_counts[pair]
                new, i = [], 0
                while i < len(word):
                    if tuple(word[i : i + 2]) == top:
                        new.append(top[0] + top[1])
                        i += 2
                    else:
                        new.append(word[i])
                        i += 1
                words[k] = new
                for pair in zip(new, new[1:], strict=False):
                    pair_counts[pair] = pair_counts.get(pair, 0) + weights[k]
                    where.setdefault(pair, set()).add(k)
        return merges


class sorted_candidates:
    """All pairs of the highest count are collected, and the last of them in order is taken."""

    def train(text, num_merges):
        from collections import defaultdict

        vocab = defaultdict(int)
        for m in re.finditer(PIECES, text):
            vocab[tuple(bytes((b,)) for b in m.group().encode("utf8"))] += 1
        merges = []
        for _ in range(num_merges):
            pairs = defaultdict(int)
            for word, count in vocab.items():
                for i in range(len(word) - 1):
                    pairs[word[i], word[i + 1]] += count
            if len(pairs) == 0:
                return merges
            high = max(pairs.values())
            best = sorted(pair for pair, count in pairs.items() if count == high)[-1]
            merges += [best]
            fresh = defaultdict(int)
            for word, count in vocab.items():
                out = []
                for token in word:
                    if out and out[-1] == best[0] and token == best[1]:
                        out[-1] = best[0] + best[1]
                    else:
                        out.append(token)
                fresh[tuple(out)] += count
            vocab = fresh
        return merges


class a_linked_list:
    """Each piece is a linked list of nodes; a merge takes a node out."""

    class Node:
        def __init__(self, token):
            self.token = token
            self.next = None

    def chain(piece):
        head = last = None
        for byte in piece:
            node = Node(bytes([byte]))
            if last is None:
                head = node
            else:
                last.next = node
            last = node
        return head

    def train(text, num_merges):
        heads = [chain(piece.encode()) for piece in re.findall(PIECES, text)]
        learned = []
        for _ in range(num_merges):
            seen = {}
            for head in heads:
                node = head
                while node.next is not None:
                    key = (node.token, node.next.token)
                    seen[key] = seen.get(key, 0) + 1
                    node = node.next
            if not seen:
                break
            chosen = max(seen.items(), key=lambda item: (item[1], item[0]))[0]
            learned.append(chosen)
            for head in heads:
                node = head
                while node is not None and node.next is not None:
                    if (node.token, node.next.token) == chosen:
                        node.token += node.next.token
                        node.next = node.next.next
                    node = node.next
        return learned


class every_merge_in_turn:
    """Encoding goes through the whole list of merges once, and skips pieces that have become one token."""

    class Tokenizer:
        def __init__(self, merges, special=()):
            self.merges = [tuple(m) for m in merges]
            self.special = tuple(special)
            self.vocab = dict(enumerate([bytes([i]) for i in range(256)] + [a + b for a, b in merges]))
            self.numbers = {token: number for number, token in self.vocab.items()}
            for string in special:
                self.vocab[len(self.vocab)] = string.encode()
            self.vocab_size = len(self.vocab)

        def encode(self, text):
            result = []
            splitter = "|".join(re.escape(s) for s in sorted(self.special, key=len)[::-1])
            parts = re.split(f"({splitter})", text) if splitter else [text]
            for index, part in enumerate(parts):
                if index % 2:  # what was split at stands between what was not
                    result.append(len(self.vocab) - len(self.special) + self.special.index(part))
                    continue
                for piece in re.findall(PIECES, part):
                    tokens = [bytes([b]) for b in piece.encode()]
                    for a, b in self.merges:
                        i = 0
                        while i < len(tokens) - 1:
                            if tokens[i] == a and tokens[i + 1] == b:
                                tokens[i : i + 2] = [a + b]
                            i += 1
                    result.extend(self.numbers[t] for t in tokens)
            return result

        def decode(self, ids):
            return b"".join(map(self.vocab.get, ids)).decode(errors="replace")


class a_heap:
    """The pair to merge next comes from a heap, which forgets what has changed when it is met."""

    class Tokenizer:
        def _apply(self, tokens):
            import heapq

            tokens = list(tokens)
            after = [*range(1, len(tokens)), -1]
            before = [-1, *range(len(tokens) - 1)]
            heap = []

            def push(i):
                j = after[i]
                if j >= 0 and (tokens[i], tokens[j]) in self.ranks:
                    heapq.heappush(heap, (self.ranks[tokens[i], tokens[j]], i, tokens[i], tokens[j]))

            for i in range(len(tokens) - 1):
                push(i)
            while heap:
                _, i, one, other = heapq.heappop(heap)
                j = after[i] if tokens[i] is not None else -1
                if j < 0 or tokens[i] != one or tokens[j] != other:
                    continue
                tokens[i], tokens[j] = one + other, None
                after[i] = after[j]
                if after[i] >= 0:
                    before[after[i]] = i
                push(i)
                if before[i] >= 0:
                    push(before[i])
            return [token for token in tokens if token is not None]


class patterns_on_bytes:
    """A text of ids as characters above all others: a merge is str.replace in each piece."""

    def train(text, num_merges):
        pieces = ["".join(chr(b) for b in p.encode()) for p in re.findall(PIECES, text)]
        table = {chr(b): bytes([b]) for b in range(256)}
        merges = []
        while len(merges) < num_merges:
            counts = Counter(p[i : i + 2] for p in pieces for i in range(len(p) - 1))
            if not counts:
                break
            best = max(counts, key=lambda two: (counts[two], table[two[0]], table[two[1]]))
            new = chr(0xE000 + len(merges))
            table[new] = table[best[0]] + table[best[1]]
            merges.append((table[best[0]], table[best[1]]))
            pieces = [p.replace(best, new) for p in pieces]
        return merges


class recursion:
    """A piece is merged by a function that calls itself; special strings by str.partition, the longest first of those
    that stand first."""

    class Tokenizer:
        def encode(self, text):
            here = [s for s in self.special if s in text]
            if not here:
                return [i for piece in re.findall(PIECES, text) for i in self.piece([*piece.encode()])]
            first = min(text.index(s) for s in here)
            string = max((s for s in here if text.startswith(s, first)), key=len)
            head, _, tail = text.partition(string)
            return [*self.encode(head), self.special[string], *self.encode(tail)]

        def piece(self, ids):
            pairs = [(self.tokens[a], self.tokens[b]) for a, b in pairwise(ids)]
            ranked = [(self.ranks[p], n) for n, p in enumerate(pairs) if p in self.ranks]
            if not ranked:
                return ids
            rank, n = min(ranked)
            return self.piece([*ids[:n], 256 + rank, *ids[n + 2 :]])


class incremental_decoder:
    """codecs' incremental decoder is fed one token after the other."""

    class Tokenizer:
        def decode(self, ids):
            import codecs

            decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
            text = "".join(decoder.decode(self.tokens[i]) for i in ids)
            return text + decoder.decode(b"", final=True)


class named_pieces:
    """A compiled pattern, a walrus, and special strings by a pattern that never fits where there are none."""

    SPLIT = re.compile(PIECES, re.UNICODE)

    class Tokenizer:
        def __init__(self, merges, special=()):
            self.merges, self.special = list(merges), list(special)
            self.vocab = [bytes((n,)) for n in range(256)]
            self.vocab.extend(map(b"".join, merges))
            self.ranks = {tuple(pair): n for n, pair in enumerate(merges)}
            self.ids = {token: n for n, token in enumerate(self.vocab)}
            self.vocab += [s.encode() for s in special]
            self.vocab_size = len(self.vocab)

        def encode(self, text):
            out = []
            pattern = "|".join(re.escape(s) for s in sorted(self.special, key=len, reverse=True)) or r"(?!)"
            pos = 0
            for m in [*re.finditer(pattern, text), None]:
                for piece in SPLIT.findall(text[pos : m.start() if m else len(text)]):
                    word = tuple(bytes((b,)) for b in piece.encode())
                    while pairs := [p for p in pairwise(word) if p in self.ranks]:
                        word = _merged(word, min(pairs, key=self.ranks.get))
                    out += [self.ids[token] for token in word]
                if m:
                    out.append(256 + len(self.merges) + [*self.special].index(m[0]))
                    pos = m.end()
            return out

        def decode(self, ids):
            return str(b"".join(self.vocab[n] for n in ids), "utf-8", "replace")
