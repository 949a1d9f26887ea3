"""How ids become the wrong text.

The bytes of all tokens are put one after the other; then they are read as UTF-8, and what is none becomes U+FFFD.
"""

mistake(
    "token-by-token",
    "your decode makes text of each token by itself; join the bytes first, as a character may need several tokens",
    Tokenizer="""
        - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
        + return "".join(self.tokens[number].decode("utf-8", errors="replace") for number in ids)
    """,
)

mistake(
    "errors-raised",
    'your decode raises an error at invalid UTF-8; pass errors="replace", which gives U+FFFD',
    Tokenizer='"utf-8", errors="replace" -> "utf-8"',
)

mistake(
    "errors-ignored",
    "your decode leaves out bytes that are not UTF-8; it should write U+FFFD for them",
    Tokenizer='errors="replace" -> errors="ignore"',
)

mistake(
    "errors-escaped",
    "your decode writes bytes that are not UTF-8 as \\x and digits; it should write U+FFFD for them",
    Tokenizer='errors="replace" -> errors="backslashreplace"',
)

mistake(
    "one-byte-one-character",
    "your decode takes each byte for a character; decode as UTF-8, which has up to four bytes for one",
    Tokenizer='"utf-8", errors="replace" -> "latin-1"',
)

mistake(
    "bytes-decoded",
    "your decode returns bytes; it should return a str",
    Tokenizer="""
        - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
        + return b"".join(self.tokens[number] for number in ids)
    """,
)

mistake(
    "spaces-between-tokens",
    "your decode puts a space between the tokens; join them as they are, as spaces are in the tokens",
    Tokenizer='b"" -> b" "',
)

mistake(
    "special-not-decoded",
    "your decode leaves special strings out; they should be part of the text",
    Tokenizer="""
        - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
        + ordinary = (self.tokens[n] for n in ids if n not in self.special.values())
        + return b"".join(ordinary).decode("utf-8", errors="replace")
    """,
)

mistake(
    "special-unknown-to-decode",
    "your decode does not know the ids of special strings; it should turn each of them into its string",
    Tokenizer="""
        - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
        + tokens = self.tokens[: len(self.tokens) - len(self.special)]
        + return b"".join(tokens[number] for number in ids).decode("utf-8", errors="replace")
    """,
)

mistake(
    "decoded-text-stripped",
    "your decode strips the spaces from the ends of the text; it should keep every space",
    Tokenizer="""
        - return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace")
        + return b"".join(self.tokens[number] for number in ids).decode("utf-8", errors="replace").strip()
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
