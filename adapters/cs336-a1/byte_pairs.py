"""The tokenizer: texts come from a file, and ids are in a vocabulary."""

import tempfile


def train(text, num_merges):
    with tempfile.NamedTemporaryFile("wb", suffix=".txt", dir=".", delete=False) as file:
        file.write(text.encode())
    return theirs.run_train_bpe(file.name, 256 + num_merges, [])[1]


class Tokenizer:
    def __init__(self, merges, special=()):
        tokens = [bytes([byte]) for byte in range(256)] + [a + b for a, b in merges]
        tokens += [text.encode() for text in special]
        self.vocab_size = len(tokens)
        self.theirs = theirs.get_tokenizer(dict(enumerate(tokens)), list(merges), list(special) or None)

    def encode(self, text):
        return self.theirs.encode(text)

    def decode(self, ids):
        return self.theirs.decode(ids)
