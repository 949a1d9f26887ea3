"""Answers to byte-pairs."""

# ==== right ====
"""Byte pairs as other people learn and use them."""


@answer(
    "mergeable-ranks",
    "One dict from bytes to ranks, in which a pair is looked up joined; the parts of a piece shrink place by place.",
)
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


answer("a-linked-list", "Each piece is a linked list of nodes; a merge takes a node out.")


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


@answer("a-heap", "The pair to merge next comes from a heap, which forgets what has changed when it is met.")
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


# ==== wrong ====
"""Byte pairs as other people get them wrong."""


@answer("words-and-spaces-apart", "Split at word boundaries.", named=["spaces-apart"])
def _pieces(text):
    parts = [part for part in re.split(r"(\s+|[^\w\s]+)", text) if part]
    return [tuple(bytes([b]) for b in part.encode()) for part in parts]


@answer(
    "left-to-right-stack",
    "Each byte is pushed, and merged with what lies below while that pair was learned.",
    named=["leftmost-pair-first"],
)
class Tokenizer:
    def _apply(self, tokens):
        out = []
        for token in tokens:
            out.append(token)
            while len(out) > 1 and (out[-2], out[-1]) in self.ranks:
                out[-2:] = [out[-2] + out[-1]]
        return out


@answer(
    "question-marks",
    "A question mark for what cannot be read.",
    named=["errors-ignored", "errors-escaped"],
)
class Tokenizer:
    def decode(self, ids):
        return b"".join(self.tokens[i] for i in ids).decode("utf-8", "replace").replace("\ufffd", "?")


@answer(
    "byte-order-mark-dropped",
    "The bytes are read as utf-8-sig, which leaves out U+FEFF at the beginning of a text.",
)
class Tokenizer:
    def decode(self, ids):
        return b"".join(self.tokens[i] for i in ids).decode("utf-8-sig", "replace")


answer(
    "special-stripped",
    "Special strings lose the spaces around them.",
    Tokenizer="""
        - self.ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
        + special = [string.strip() for string in special]
        + self.ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
    """,
)

answer(
    "special-sorted-in-place",
    "The caller's list is sorted by length.",
    Tokenizer="""
        - longest_first = sorted(special, key=len, reverse=True)
        + longest_first = special if isinstance(special, list) else list(special)
        + longest_first.sort(key=len, reverse=True)
    """,
)

answer(
    "first-pages",
    "Merges are learned from the first 20,000 characters.",
    train="_pieces(text) -> _pieces(text[:20_000])",
)
