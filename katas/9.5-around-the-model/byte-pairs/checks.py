"""Checks of 9.5.1. What is expected was worked out by hand; only which letters are in the texts is drawn.

The letters keep their order, so that "on a tie the greatest" gives the same pairs whichever are drawn.
"""

from __future__ import annotations

import string

from grader.checks import check, expect, expect_no_error, given_module, precondition


class Letters:
    """Other letters in place of a to h, in the same order."""

    def __init__(self, draw, alphabet=string.ascii_lowercase):
        chosen = sorted(draw.permutation(26).tolist()[:8])
        self.table = str.maketrans("abcdefgh", "".join(alphabet[place] for place in chosen))

    def text(self, template):
        return template.translate(self.table)

    def pairs(self, *templates):
        """Return pairs of bytes, each written as its two tokens with a | between them."""
        return [tuple(part.encode() for part in self.text(each).split("|")) for each in templates]


def learns(submission, text, merges, why="", num_merges=None):
    """Train on a text, and expect these pairs in this order."""
    found = submission.train(text, len(merges) if num_merges is None else num_merges)
    expect(found, "merges").is_value(merges, why=why)


def encodes(tokenizer, text, ids, why=""):
    expect(tokenizer.encode(text), "ids").is_value(ids, why=why)


def decodes(tokenizer, ids, text, why=""):
    expect(tokenizer.decode(ids), "text").is_value(text, why=why)


# --- train ---


@check(aspect="shape")
def test_form(submission, draw):
    """train returns a list of as many pairs of bytes as are asked for

    > -> list[tuple[bytes, bytes]]:
    """
    text = Letters(draw).text("abc abd abc")
    for number in (2, 1):
        found = expect(submission.train(text, number), "merges").is_list(number, of=tuple)
        for place, pair in enumerate(found):
            both = list(expect(pair, f"merges[{place}]").is_tuple(2))
            expect(both, f"merges[{place}]").is_list(of=bytes)


@check(aspect="values", points=2, follows=test_form)
def test_most_frequent(submission, draw):
    """the pair that occurs side by side most often is merged first

    > each time the one that occurs side by side most often in the text as it then is
    """
    letters = Letters(draw)
    learns(
        submission,
        letters.text("cd\ngh\ncd\nab\ncd\nef\ngh\ncd\nabe\ngh"),
        letters.pairs("c|d", "g|h", "a|b"),
        "the pairs occur 4, 3 and 2 times in the text",
    )


@check(aspect="values", points=1.5, follows=test_most_frequent)
def test_counted_anew(submission, draw):
    """after a merge pairs are counted anew, with the new token in place of its two parts

    > most often in the text as it then is
    """
    letters = Letters(draw)
    text = letters.text("abc\nabc\nabc\nabc\nabd\nabd\nbce\ngh\ngh\ngh")
    learns(
        submission,
        text,
        letters.pairs("a|b", "ab|c", "g|h", "ab|d"),
        "where the first pair was merged, its second token is no longer there to form another pair",
    )


@check(aspect="values", points=2, follows=test_most_frequent)
def test_ties(submission, draw):
    """on a tie the greatest pair is merged first

    > on a tie the greatest, as Python compares tuples of bytes.
    """
    letters = Letters(draw)
    why = "the order among equals is that of Python's tuples of bytes: first token, then second"
    learns(submission, letters.text("cd\ngh\nab\ncd\ngh\nab"), letters.pairs("g|h", "c|d", "a|b"), why)
    learns(submission, letters.text("ac\nab\nad\nac\nab\nad"), letters.pairs("a|d", "a|c", "a|b"), why)


@check(aspect="values", follows=[test_ties, test_counted_anew])
def test_ties_of_merged(submission, draw):
    """on a tie the bytes of both tokens are compared, not their ids or their bytes joined

    > on a tie the greatest, as Python compares tuples of bytes.
    """
    letters = Letters(draw)
    learns(
        submission,
        letters.text("ab\nab\nabd\ncab\ngh"),
        letters.pairs("a|b", "g|h", "c|ab", "ab|d"),
        "it makes no difference which token is newer or longer: bytes are compared",
    )
    learns(
        submission,
        letters.text("ab\nab\naba\nac"),
        letters.pairs("a|b", "ab|a", "a|c"),
        "the first token decides, and of two that begin alike the longer is greater",
    )


@check(aspect="values", points=1.5, follows=[test_ties, test_ties_of_merged])
def test_pieces(submission, draw):
    r"""pairs never cross from one piece to the next, and a word's piece begins with its space

    > A pair never crosses a piece.
    >  ?\w+| ?[^\w\s]+|\s+
    """
    letters = Letters(draw)
    learns(
        submission,
        letters.text("ba ca da ea"),
        letters.pairs("e|a", "d|a", "c|a", "b|a", " |ea", " |da", " |ca"),
        "what ends a piece is not next to what begins the next",
    )
    learns(
        submission,
        letters.text(" ab"),
        letters.pairs("a|b", " |ab"),
        "a space is byte 32, less than any letter",
    )
    learns(submission, letters.text("ba bc bd"), letters.pairs(" |b", "b|a", " b|d", " b|c"))


@check(aspect="values", points=1.5, follows=test_pieces)
def test_pattern(submission, draw):
    r"""words, punctuation and white space are pieces of their own, as the pattern says

    >  ?\w+| ?[^\w\s]+|\s+
    """
    letters = Letters(draw)
    for template, pairs in (
        ("a! b! c!", (" |c", " |b")),  # a word and its punctuation
        ("a's b's", (" |b",)),  # no words with an apostrophe in them
        ("a1_ b1_", ("1|_", "b|1_", "a|1_", " |b1_")),  # figures and _ belong to words
        ("a  b\n\n c", (" | ", "\n| ", "\n|\n ")),  # of several white characters none goes to the word
        ("a?! ??", ("?|?", "?|!", " |??")),  # punctuation has its space in front as well
        ("aA aa", ("a|a", "a|A", " |aa")),  # capitals are letters of their own
    ):
        wanted = letters.pairs(*pairs)
        learns(submission, letters.text(template), wanted, num_merges=len(wanted) + 2)


@check(aspect="values", points=1.5, follows=[test_ties, test_ties_of_merged])
def test_runs(submission, draw):
    """in a run such as aaa the pair counts at every place, and is merged from left to right

    > The pair (a, a) occurs twice in `aaa`
    > From left to right: `aaa` becomes `aa a`.
    """
    letters = Letters(draw)
    a = letters.text("a")
    for text, pairs, why in (
        ("aaa\naaa\nbc\nbc\nbc", ("a|a", "b|c", "aa|a"), f"{a}{a} occurs at two places of {a * 3}"),
        ("aaab", ("a|a", "aa|a", "aaa|b"), f"from left to right, {a * 3} becomes {a * 2} {a}"),
        ("aaaaa", ("a|a", "aa|aa", "aaaa|a"), ""),
    ):
        learns(submission, letters.text(text), letters.pairs(*pairs), why)


@check(aspect="values", follows=[test_ties, test_ties_of_merged])
def test_nothing_left(submission, draw):
    """when no pair is left there are fewer merges, and none for an empty text

    > Fewer when no pair is left.
    """
    letters = Letters(draw)
    for template, number, pairs in (
        ("abc", 0, ()),
        ("abc", 2, ("b|c", "a|bc")),
        ("abc", 9, ("b|c", "a|bc")),
        ("a\nb", 3, ()),
        ("", 3, ()),
    ):
        with expect_no_error("it ends when nothing is left to merge"):
            learns(submission, letters.text(template), letters.pairs(*pairs), num_merges=number)


@check(aspect="values", points=1.5, follows=[test_ties, test_ties_of_merged])
def test_bytes(submission, draw):
    """bytes are merged: a character may become one token, or share one with its neighbour

    > each of which becomes its UTF-8 bytes; at first a token is one byte.
    """
    for text, pairs in (
        ("äöä", [(b"\xc3", b"\xa4"), (b"\xc3\xa4", b"\xc3"), (b"\xc3\xa4\xc3", b"\xb6")]),
        ("🙂🙃", [(b"\xf0", b"\x9f"), (b"\xf0\x9f", b"\x99"), (b"\xf0\x9f\x99", b"\x83")]),
        ("aä", [(b"\xc3", b"\xa4"), (b"a", b"\xc3\xa4")]),  # ä is a letter, in one piece with others
        ("e\u0301", [(b"\xcc", b"\x81")]),  # an accent by itself is not a letter to the pattern
    ):
        learns(submission, text, pairs, "bytes are counted, not characters")


# --- encode ---


@check(aspect="values", points=1.5)
def test_bytes_alone(submission, draw):
    """without merges the ids of a text are its UTF-8 bytes, as a list of ints; an empty text has none

    > Ids: 0 to 255 are the bytes
    > Return the ids of a text.
    """
    tokenizer = submission.Tokenizer([])
    for text in (Letters(draw).text("ab, c"), "Naïve É 42 e\u0301", "🙂 日本\r\n\t", ""):
        found = tokenizer.encode(text)
        expect(found, "ids").is_list(of=int)
        expect(found, "ids").is_value(list(text.encode()))


@check(aspect="values", points=1.5, follows=test_bytes_alone)
def test_ids(submission, draw):
    """the ids of merges follow the bytes in order, and vocab_size counts bytes, merges and special strings

    > then come the merges in their order
    > How many ids there are.
    """
    letters = Letters(draw)
    merges = letters.pairs("c|d", "a|b", "e|f")
    for special in (("<z>", "<a>"), ()):
        tokenizer = submission.Tokenizer(merges, special)
        expect(tokenizer.vocab_size, "vocab_size").is_value(259 + len(special))
        encodes(tokenizer, letters.text("ab\ncd\nef"), [257, 10, 256, 10, 258])


@check(aspect="values", points=1.5, follows=test_ids)
def test_order(submission, draw):
    """of the pairs of a piece the one that was learned first is merged first

    > In each piece the merge that was learned first is done first
    """
    letters = Letters(draw)
    a, _, c, d, e = letters.text("abcde").encode()
    # Each is what training could have learned, in this order.
    for text, merges, ids in (
        ("abc\nbcd\nabe", ("b|c", "a|b", "c|d", "b|e", "a|bc"), [260, 10, 256, d, 10, 257, e]),
        ("abc", ("b|c", "a|b"), [a, 256]),
        ("abc", ("a|b", "b|c"), [256, c]),
        ("abcd", ("b|c", "a|b", "c|d"), [a, 256, d]),
        ("abcd", ("c|d", "a|b", "b|cd"), [257, 256]),
        ("dabc", ("a|b", "d|ab", "b|c"), [257, c]),
    ):
        tokenizer = submission.Tokenizer(letters.pairs(*merges))
        encodes(tokenizer, letters.text(text), ids, f"the merges are {', '.join(map(letters.text, merges))}")


@check(aspect="values", points=1.5, follows=test_ids)
def test_everywhere(submission, draw):
    """a merge is made wherever its pair occurs, from left to right, and its result is merged further

    > from left to right, wherever its pair occurs; then the next, until none applies.
    """
    letters = Letters(draw)
    a = letters.text("a").encode()[0]
    for text, merges, ids in (
        ("abab", ("a|b",), [256, 256]),
        ("ababab", ("a|b", "ab|ab"), [257, 256]),
        ("aaa", ("a|a",), [256, a]),
        ("aaaab", ("a|a", "aa|aa", "aaaa|b"), [258]),
        ("aaab", ("a|a", "a|b"), [256, 257]),
        ("bab", ("a|b", "b|ab"), [257]),
    ):
        tokenizer = submission.Tokenizer(letters.pairs(*merges))
        encodes(tokenizer, letters.text(text), ids, f"the merges are {', '.join(map(letters.text, merges))}")


@check(aspect="values", points=1.5, follows=test_ids)
def test_encode_pieces(submission, draw):
    """encoding cuts a text into the same pieces: no merge crosses from one to the next

    > The text between them is cut into PIECES
    """
    letters = Letters(draw, string.ascii_uppercase)  # no piece of theirs is one of another check's
    a, b = letters.text("ab").encode()
    pairs = (" |b", " | ", "a|!", "b| ", "a|1")
    merges = f"the merges are {', '.join(repr(letters.text(pair)) for pair in pairs)}"
    tokenizer = submission.Tokenizer(letters.pairs(*pairs))
    for text, ids in (
        ("a b a   b a1", [a, 256, 32, a, 257, 32, b, 32, 260]),
        ("a!", [a, 33]),
        ("b ", [b, 32]),
        (" a", [32, a]),
        ("\na b\n", [10, a, 256, 10]),
    ):
        encodes(tokenizer, letters.text(text), ids, merges)


# --- special strings ---


@check(aspect="values", points=1.5, follows=test_ids)
def test_special(submission, draw):
    """a special string becomes its id wherever it occurs, and nothing is merged across it

    > A special string becomes its own id
    > then the special strings in theirs.
    > a result depends only on the arguments.
    """
    letters = Letters(draw)
    a, b = letters.text("ab").encode()
    # Without merges first: what one tokeniser remembers is nothing to another.
    encodes(submission.Tokenizer([], ["<PAD>"]), letters.text("ab c"), [*letters.text("ab c").encode()])
    tokenizer = submission.Tokenizer(letters.pairs("a|b", "b|a", " |c"), ["<PAD>", "<END>"])
    for text, ids in (
        ("<END>", [260]),
        ("ab\n<END>\nab", [256, 10, 260, 10, 256]),
        ("ab <END> ab<PAD>", [256, 32, 260, 32, 256, 259]),
        ("ab<END>ab", [256, 260, 256]),
        ("<END><PAD><END>", [260, 259, 260]),
        ("a<END>b", [a, 260, b]),
        ("ab<END> c ", [256, 260, 258, 32]),
        ("<END", list(b"<END")),
    ):
        encodes(tokenizer, letters.text(text), ids)


@check(aspect="values", follows=test_special)
def test_longest(submission, draw):
    """where several special strings begin at one place, the longest is taken

    > where several begin at the same place, the longest is taken.
    """
    for special in (("<1>", "<1", "<1>2"), ("<1>2", "<1>", "<1")):
        tokenizer = submission.Tokenizer([], special)
        middle, short, long = (256 + special.index(string) for string in ("<1>", "<1", "<1>2"))
        for text, ids in (
            ("<1>2<1>3<1", [long, middle, 51, short]),
            ("<1<1>2", [short, long]),
        ):
            encodes(tokenizer, text, ids, f"special is {special}")


@check(aspect="values", follows=test_special)
def test_no_patterns(submission, draw):
    """special strings are literal: . | + ( and the like are not patterns

    > Special strings are texts, not patterns
    """
    for special, texts in (
        (["<|1|>"], {"<|1|>": [256], "1": [49], "<1>": [60, 49, 62]}),
        (["1.2"], {"1.2": [256], "132": [49, 51, 50]}),
        (["1+"], {"1+": [256], "11": [49, 49]}),
        (["(1"], {"(1": [256]}),
    ):
        with expect_no_error(f"special strings are texts: {special}"):
            tokenizer = submission.Tokenizer([], special)
            for text, ids in texts.items():
                encodes(tokenizer, text, ids, f"special is {special}")


# --- decode ---


@check(aspect="values")
def test_decode(submission, draw):
    """decode gives back what was encoded: letters, accents, emoji, white space, and special strings

    > Return the text of these ids
    """
    letters = Letters(draw)
    smile = [(b"\xf0", b"\x9f"), (b"\xf0\x9f", b"\x99"), (b"\xf0\x9f\x99", b"\x82")]
    merges = [*letters.pairs("a|b", " |c", " c|ab"), (b"\xc3", b"\xa9"), *smile]
    tokenizer = submission.Tokenizer(merges, ["<END>", "→"])
    for ids, text in (
        ([256, 258, 10, 50], letters.text("ab cab\n2")),
        ([259, 262, 259], "é🙂é"),
        ([32, 32, 65, 32], "  A "),
        ([65, 263, 66, 264], "A<END>B→"),
        ([], ""),
    ):
        decodes(tokenizer, ids, text)


@check(aspect="values", follows=test_decode)
def test_split_characters(submission, draw):
    """the bytes of a character may come from several tokens: they are joined before they become text

    > when are the bytes of a character complete?
    """
    tokenizer = submission.Tokenizer([(b"\xf0", b"\x9f"), (b"\x9f", b"\x99"), (b"a", b"\xc3")])
    for ids, text in (
        (list("日本 é".encode()), "日本 é"),
        ([256, 153, 130], "🙂"),
        ([240, 257, 131], "🙃"),
        ([258, 169, 258, 168], "aéaè"),
        ([101, 204, 129], "e\u0301"),
    ):
        decodes(tokenizer, ids, text)


@check(aspect="stability", follows=test_decode)
def test_no_text(submission, draw):
    """invalid UTF-8 decodes to U+FFFD instead of raising

    > invalid UTF-8 becomes U+FFFD, as errors="replace" has it.
    """
    tokenizer = submission.Tokenizer([(b"\xe2", b"\x82")], ["<end>"])
    for ids, text in (
        ([104, 255, 105], "h\ufffdi"),
        ([256], "\ufffd"),
        ([256, 172, 256, 33], "€\ufffd!"),
        ([130, 130], "\ufffd\ufffd"),
        ([226, 257, 130], "\ufffd<end>\ufffd"),
    ):
        with expect_no_error("any ids have a text"):
            decodes(tokenizer, ids, text)


# --- both together ---


@check(aspect="values", follows=[test_counted_anew, test_bytes_alone, test_ids, test_decode])
def test_together(submission, draw):
    """what train learns makes a text shorter, and every text comes back as it was

    > For every text `decode(encode(text))` is the text again, to the last space.
    > a result depends only on the arguments.
    """
    letters = Letters(draw)
    text = letters.text("bad cab, bad cab!\n  a dead bee fed a cab ")
    with precondition("train must learn pairs, and Tokenizer must accept them"):
        merges = submission.train(text, 8)
        expect(merges, "merges").is_list(8)
        encodes(submission.Tokenizer([]), text, [*text.encode()])  # what it remembers is nothing to another
        tokenizer = submission.Tokenizer(merges, ["<END>"])
    for one, least in (
        (text, 12),
        ("e\u0301 é \r\n\t🙂 " + text, 12),
        ("\u3000 x<END>\u00a0 ", 0),
        (" Bad CAB, 42 Bees!\r\n\tÄrger Ελλάδα Да 日本\n ", 0),  # capitals, figures, other scripts, line ends
    ):
        ids = tokenizer.encode(one)
        shorter = len(one.encode()) - len(expect(ids, "ids").is_list(of=int))
        expect(shorter, "how many ids fewer than bytes").is_between(least, len(one.encode()))
        decodes(tokenizer, ids, one, "after encoding and decoding it is the same text")


@check(
    aspect="arguments",
    points=0.5,
    follows=test_together,
    on_workers_word="the text that decode returns is compared with what is known here",
)
def test_forms(submission, draw):
    """arguments may be given by name, and as any sequence; lists are left as they were, and may change afterwards

    > All may be given by position or by name.
    > merges: Sequence[tuple[bytes, bytes]], special: Sequence[str] = ()
    > ids: Iterable[int]
    """
    letters = Letters(draw)
    text, merges, special = letters.text("ab ba ab"), letters.pairs("a|b", "b|a"), ["<END>", "[PAD] "]
    expect(submission.train(text=text, num_merges=1), "merges").is_value(merges[:1])
    tokenizer = submission.Tokenizer(merges=tuple(merges), special=tuple(special))
    ids = [256, 32, 257, 258]
    expect(tokenizer.encode(text=letters.text("ab ba<END>")), "ids").is_value(ids)
    probes = given_module(submission, "probes")  # a generator and the lists themselves do not cross
    for found in (tokenizer.decode(ids=tuple(ids)), probes.once(tokenizer.decode, ids)):
        expect(found, "text").is_value(letters.text("ab ba<END>"))
    *kept, again = probes.left(submission.Tokenizer, merges, special, letters.text("ab<END>"))
    expect(tuple(kept), "merges and special after the calls").is_value((merges, special))
    expect(again, "ids after the caller has emptied all its lists").is_value([256, 258])
