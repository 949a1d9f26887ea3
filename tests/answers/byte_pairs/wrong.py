"""Byte pairs as other people get them wrong."""


class words_and_spaces_apart:
    """Split at word boundaries.

    Named: spaces_apart
    """

    def _pieces(text):
        parts = [part for part in re.split(r"(\s+|[^\w\s]+)", text) if part]
        return [tuple(bytes([b]) for b in part.encode()) for part in parts]


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


class question_marks:
    """A question mark for what cannot be read.

    Named: errors_ignored, errors_escaped
    """

    class Tokenizer:
        def decode(self, ids):
            return b"".join(self.tokens[i] for i in ids).decode("utf-8", "replace").replace("\ufffd", "?")
