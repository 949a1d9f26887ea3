"""Hidden checks of 9.5.1: what is right only on the visible texts fails here."""

from __future__ import annotations

from grader.checks import check, expect

ALPHABETS = (
    "ab",
    "abc  ",
    "abcde   .,!\n",
    "aeiou  '-_019\t\n\0",
    "éèàüa  ",
    "日本語中国 、",
    "🙂🙃😀👍🏽\u200d\ufe0f e\u0301",
    "абвгд  αβγ.",
    "aAbBÉé  ЖжΩω 12\r\n",
)
SPECIAL = ("<END>", "[x] ", "<END><", "[PAD]", "日", "a|b", "é")


def random_text(draw, alphabet, length):
    return "".join(alphabet[place] for place in draw.integers(0, len(alphabet), position=length).tolist())


def learnable(reference, draw, alphabet, length, number):
    """Return a text and its merges, no two of which make the same bytes: what that would mean is not asked."""
    for _ in range(20):  # where a mistake stands in for the reference, there may be no such text
        text = random_text(draw, alphabet, length)
        merges = reference.train(text, number)
        if len({one + other for one, other in merges}) == len(merges):
            break
    return text, merges


def with_special(draw, text, special):
    """Put special strings into a text, where chance has it."""
    for string in special * 2:
        place = draw.size(0, len(text))
        text = text[:place] + string + text[place:]
    return text


def learns(submission, reference, text, number):
    wanted = reference.train(text, number)
    expect(submission.train(text, number), "merges").is_value(wanted)


def encodes(tokenizer, right, text):
    expect(tokenizer.encode(text), "ids").is_value(right.encode(text))


@check(aspect="values", points=3)
def test_any_text(submission, reference, draw):
    """train learns from any text, in any script, however many merges are asked for

    > All of it works for any text, an empty one and one of many pages, in any script
    """
    for alphabet in ALPHABETS:
        text, _ = learnable(reference, draw, alphabet, draw.size(40, 90), 60)
        learns(submission, reference, text, draw.size(20, 60))


@check(aspect="values", points=3.5)
def test_any_encoding(submission, reference, draw):
    """any text is encoded, by any merges, with special strings in any place, and comes back

    > All of it works for any text, an empty one and one of many pages, in any script
    > For every text `decode(encode(text))` is the text again, to the last space.
    """
    for alphabet in ALPHABETS:
        _, merges = learnable(reference, draw, alphabet, 120, 40)
        special = SPECIAL[: draw.size(2, len(SPECIAL))]
        tokenizer, right = (made.Tokenizer(merges, special) for made in (submission, reference))
        expect(tokenizer.vocab_size, "vocab_size").is_value(right.vocab_size)
        for length in (1, 2, draw.size(20, 60)):
            text = random_text(draw, alphabet, length)
            encodes(tokenizer, right, text)
            text = with_special(draw, text, special)
            encodes(tokenizer, right, text)
            expect(tokenizer.decode(right.encode(text)), "text").is_value(text)
    for text in (
        "e\u0301 a\u030a",
        "\u212b \u2460 \ufb01",
        " \r\n x\u00a0\u3000 ",
        "\ufeff e",
    ):  # what normalising or stripping would change
        encodes(tokenizer, right, text)
        expect(tokenizer.decode(right.encode(text)), "text").is_value(text)


@check(aspect="values", points=1.5)
def test_long(submission, reference, draw):
    """long texts and long words are learned from and encoded in a few seconds

    > All of it works for any text, an empty one and one of many pages, in any script
    > a text of a few thousand words and a hundred merges should take seconds, not minutes.
    """
    words = [random_text(draw, "abcdefghij", draw.size(2, 9)) for _ in range(120)]
    order = [*range(120), *draw.integers(0, 120, position=1200).tolist()]
    text = " ".join(words[place] for place in order)
    learns(submission, reference, "ab " * 9000 + text, 20)  # what comes after many pages counts as well
    merges = reference.train(text, 60)
    expect(submission.train(text, 60), "merges").is_value(merges)
    tokenizer, right = (made.Tokenizer(merges, ("<END>",)) for made in (submission, reference))
    encodes(tokenizer, right, "<END>".join([text, random_text(draw, "abcdefghij", 500), text]))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
