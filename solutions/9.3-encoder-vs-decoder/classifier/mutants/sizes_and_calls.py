"""A classifier that is right for a short text, or for the first batch.

Every real token counts, however long the text is, and what is real is a question to this very batch.
"""


class positions_of_512:
    """your positions end at 512, whatever max_len is

    Fails: test_long
    Unnamed: no visible text is as long
    """

    class EncoderClassifier:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            + table = sinusoidal_positions(min(max_len, 512), d_model)
            + self.register_buffer("positions", table, persistent=False)
        """


class padding_kept:
    """your model keeps what is real from the first batch of a shape: the next one has other padding

    Fails: test_model_promises
    """

    class EncoderClassifier:
        forward = """
            - real = tokens != self.pad_id
            + if not hasattr(self, "kept") or self.kept.shape != tokens.shape:
            +     self.kept = tokens != self.pad_id
            + real = self.kept
        """
