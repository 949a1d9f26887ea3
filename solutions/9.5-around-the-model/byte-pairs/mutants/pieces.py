"""How a text is cut wrongly, before anything is counted or merged.

A word with the space before it, or punctuation with the space before it, or white space; every character is in one.
"""

mistake(
    "not-cut",
    "your text is not cut into pieces, so pairs are counted and merged across words; cut it into PIECES first",
    PIECES=r'r" ?\w+| ?[^\w\s]+|\s+" -> r"(?s:.+)"',
    costs="nearly every pair that is counted may be one across words",
)


@mistake(
    "spaces-thrown-away",
    "your text is cut by split, which throws its spaces away; a piece should begin with its space",
)
def _pieces(text):
    return [tuple(bytes([byte]) for byte in piece.encode()) for piece in text.split()]


mistake(
    "spaces-apart",
    "your words lose the space before them; it should be in the word's piece",
    PIECES=r'r" ?\w+| ?[^\w\s]+|\s+" -> r"\w+|[^\w\s]+|\s+"',
)

mistake(
    "spaces-behind",
    "your spaces are at the end of the word before; they should be in the piece of the word after them",
    PIECES=r'r" ?\w+| ?[^\w\s]+|\s+" -> r"\w+ ?|[^\w\s]+ ?|\s+"',
)

mistake(
    "pattern-of-gpt2",
    "your pattern is GPT-2's, with digits apart and 's in one piece; use the one that is given here",
)

PIECES = r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?[^\w\s]+|\s+(?!\S)|\s+"

mistake(
    "white-space-cut",
    "your runs of white space are cut into single characters; each run should be one piece",
    PIECES=r'r" ?\w+| ?[^\w\s]+|\s+" -> r" ?\w+| ?[^\w\s]+|\s"',
)

mistake(
    "last-space-to-the-word",
    "your runs of white space leave their last space to the next word; a run should be one piece",
    PIECES=r'r" ?\w+| ?[^\w\s]+|\s+" -> r" ?\w+| ?[^\w\s]+|\s+(?=\s)|\s+"',
)

mistake(
    "punctuation-with-words",
    "your punctuation is in one piece with its word; it should be a piece of its own",
    PIECES=r'r" ?\w+| ?[^\w\s]+|\s+" -> r" ?\S+|\s+"',
)

mistake(
    "punctuation-lost",
    "your pieces leave punctuation out; every character should be in one piece",
    PIECES=r'r" ?\w+| ?[^\w\s]+|\s+" -> r" ?\w+|\s+"',
)

mistake(
    "letters-of-ascii",
    "your pattern knows only the letters of ASCII; leave \\w as it is, a letter of any script in Python",
    PIECES=r'r" ?\w+| ?[^\w\s]+|\s+" -> r"(?a: ?\w+| ?[^\w\s]+|\s+)"',
)


@mistake("lower-case", "your text is made lower case; it should come back as it was")
def _pieces(text):
    return [tuple(bytes([b]) for b in piece.encode()) for piece in re.findall(PIECES, text.lower())]


mistake(
    "lower-case-when-encoding",
    "your encode makes a text lower case; it should come back as it was",
    Tokenizer="_pieces(part) -> _pieces(part.lower())",
)


@mistake("line-ends-changed", "your line ends \\r\\n become \\n; a text should come back as it was")
def _pieces(text):
    text = text.replace("\r\n", "\n")
    return [tuple(bytes([byte]) for byte in piece.encode()) for piece in re.findall(PIECES, text)]


mistake(
    "normalised",
    "your text is normalised, so e and its accent become one character; keep the characters as they are",
)

import unicodedata


def _pieces(text):
    text = unicodedata.normalize("NFC", text)
    return [tuple(bytes([byte]) for byte in piece.encode()) for piece in re.findall(PIECES, text)]


@mistake("stripped", "your text loses the white space at its ends; keep every space, those at the ends as well")
def _pieces(text):
    return [tuple(bytes([byte]) for byte in piece.encode()) for piece in re.findall(PIECES, text.strip())]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
