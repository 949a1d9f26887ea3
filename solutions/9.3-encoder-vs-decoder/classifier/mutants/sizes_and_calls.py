"""A classifier that is right for a short text, or for the first batch.

Every real token counts, however long the text is, and what is real is a question to this very batch.
"""

mistake(
    "positions-of-512",
    "your positions end at 512, whatever max_len is; they should reach as far as max_len",
    EncoderClassifier="""
        - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
        + table = sinusoidal_positions(min(max_len, 512), d_model)
        + self.register_buffer("positions", table, persistent=False)
    """,
    unnamed="no visible text is as long",
)

mistake(
    "padding-kept",
    "your model stores what is real from the first batch of a shape; compute it from the tokens of each batch",
    EncoderClassifier="""
        - real = tokens != self.pad_id
        + if not hasattr(self, "kept") or self.kept.shape != tokens.shape:
        +     self.kept = tokens != self.pad_id
        + real = self.kept
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
