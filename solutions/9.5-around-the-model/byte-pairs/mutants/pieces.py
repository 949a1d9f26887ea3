"""How a text is cut wrongly, before anything is counted or merged.

A word with the space before it, or punctuation with the space before it, or white space; every character is in one.
"""


class not_cut:
    """your text is not cut into pieces: pairs are counted and merged across words

    Fails: test_most_frequent, test_encode_pieces
    Costs: nearly every pair that is counted may be one across words
    """

    PIECES = r"(?s:.+)"


class spaces_thrown_away:
    """your text is cut by split, which throws its spaces away: a piece begins with its space

    Fails: test_pieces, test_bytes_alone
    """

    def _pieces(text):
        return [tuple(bytes([byte]) for byte in piece.encode()) for piece in text.split()]


class spaces_apart:
    """your words lose the space before them: it belongs to the word's piece

    Fails: test_pieces
    """

    PIECES = r"\w+|[^\w\s]+|\s+"


class spaces_behind:
    """your spaces are at the end of the word before: they belong to the word after them

    Fails: test_pieces
    """

    PIECES = r"\w+ ?|[^\w\s]+ ?|\s+"


class pattern_of_gpt2:
    """your pattern is GPT-2's, with digits apart and 's in one piece: another is given here

    Fails: test_pattern
    """

    PIECES = r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?[^\w\s]+|\s+(?!\S)|\s+"


class white_space_cut:
    """your runs of white space are cut into single characters: each run is one piece

    Fails: test_pattern
    """

    PIECES = r" ?\w+| ?[^\w\s]+|\s"


class last_space_to_the_word:
    """your runs of white space leave their last space to the next word: a run is one piece

    Fails: test_pattern
    """

    PIECES = r" ?\w+| ?[^\w\s]+|\s+(?=\s)|\s+"


class punctuation_with_words:
    """your punctuation is in one piece with its word: it is a piece of its own

    Fails: test_pattern
    """

    PIECES = r" ?\S+|\s+"


class punctuation_lost:
    """your pieces leave punctuation out: every character is in one piece

    Fails: test_pattern, test_bytes_alone
    """

    PIECES = r" ?\w+|\s+"


class letters_of_ascii:
    """your pattern knows the letters of ASCII alone: in Python \\w is a letter of any script

    Fails: test_bytes
    """

    PIECES = r"(?a: ?\w+| ?[^\w\s]+|\s+)"


class lower_case:
    """your text is made lower case: it has to come back as it was

    Fails: test_pattern, test_bytes_alone, test_special
    """

    def _pieces(text):
        return [tuple(bytes([b]) for b in piece.encode()) for piece in re.findall(PIECES, text.lower())]


class lower_case_when_encoding:
    """your encode makes a text lower case: it has to come back as it was

    Fails: test_bytes_alone, test_special
    """

    class Tokenizer:
        encode = """
            - for tokens in _pieces(part):
            + for tokens in _pieces(part.lower()):
        """


class line_ends_changed:
    """your line ends become \\n where \\r\\n stood: a text has to come back as it was

    Fails: test_bytes_alone
    """

    def _pieces(text):
        text = text.replace("\r\n", "\n")
        return [tuple(bytes([byte]) for byte in piece.encode()) for piece in re.findall(PIECES, text)]


class normalised:
    """your text is normalised: e and its accent have become one character, and do not come back as two

    Fails: test_bytes, test_bytes_alone
    """

    import unicodedata

    def _pieces(text):
        text = unicodedata.normalize("NFC", text)
        return [tuple(bytes([byte]) for byte in piece.encode()) for piece in re.findall(PIECES, text)]


class stripped:
    """your text loses the white space at its ends: it has to come back to the last space

    Fails: test_bytes_alone
    """

    def _pieces(text):
        return [tuple(bytes([byte]) for byte in piece.encode()) for piece in re.findall(PIECES, text.strip())]
