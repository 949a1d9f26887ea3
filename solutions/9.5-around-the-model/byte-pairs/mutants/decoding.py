"""How ids become the wrong text.

The bytes of all tokens are put one after the other; then they are read as UTF-8, and what is none becomes U+FFFD.
"""


class token_by_token:
    """your decode makes text of each token by itself: a character may be spread over several

    Fails: test_split_characters
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + return "".join(self.tokens[number].decode("utf-8", errors="replace") for number in ids)
        """


class errors_raised:
    """your decode raises an error at invalid UTF-8: errors="replace" gives U+FFFD

    Fails: test_no_text
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + return b"".join(self.tokens[number] for number in ids).decode("utf-8")
        """


class errors_ignored:
    """your decode leaves out bytes that are not UTF-8: U+FFFD stands for them

    Fails: test_no_text
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="ignore")
        """


class errors_escaped:
    """your decode writes bytes that are not UTF-8 as \\\\x and figures: U+FFFD stands for them

    Fails: test_no_text
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="backslashreplace")
        """


class one_byte_one_character:
    """your decode takes each byte for a character: UTF-8 has up to four bytes for one

    Fails: test_decode
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + return b"".join(self.tokens[number] for number in ids).decode("latin-1")
        """


class bytes_decoded:
    """your decode returns bytes: a str is wanted

    Fails: test_decode
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + return b"".join(self.tokens[number] for number in ids)
        """


class spaces_between_tokens:
    """your decode puts a space between the tokens: spaces are in the tokens

    Fails: test_decode
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + return b" ".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
        """


class special_not_decoded:
    """your decode leaves special strings out: they are part of the text

    Fails: test_decode
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + ordinary = (self.tokens[n] for n in ids if n not in self.special.values())
            + return b"".join(ordinary).decode("utf-8", errors="replace")
        """


class special_unknown_to_decode:
    """your decode does not know the ids of special strings

    Fails: test_decode
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + tokens = self.tokens[: len(self.tokens) - len(self.special)]
            + return b"".join(tokens[number] for number in ids).decode("utf-8", errors="replace")
        """


class decoded_text_stripped:
    """your decode strips the spaces from the ends of the text

    Fails: test_decode
    """

    class Tokenizer:
        decode = """
            - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
            + return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace").strip()
        """
