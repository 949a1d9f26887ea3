"""Which of its arguments the classifier forgets.

Each of them reaches the part that it is about: vectors, positions, layers, heads, dropout."""

mistake(
    "one-layer",
    "your encoder has one layer, whatever num_layers is; it should have num_layers of them",
    EncoderClassifier="num_layers, d_model -> 1, d_model",
)

mistake(
    "heads-ignored",
    "your encoder has one head, whatever num_heads is; it should have num_heads of them",
    EncoderClassifier="num_heads, d_ff -> 1, d_ff",
)

mistake(
    "max-len-ignored",
    "your classifier has 128 positions, whatever max_len is; it should have max_len of them",
    EncoderClassifier="sinusoidal_positions(max_len, d_model) -> sinusoidal_positions(128, d_model)",
)

mistake(
    "dropout-ignored",
    "your classifier never passes dropout on; it should pass it to the encoder",
    EncoderClassifier=[
        "nn.Dropout(dropout) -> nn.Dropout(0.0)",
        "d_ff, dropout -> d_ff",
    ],
)

mistake(
    "dropout-always",
    "your dropout stays on in eval mode; it should act in train mode only",
    EncoderClassifier="""
        - self.dropout = nn.Dropout(dropout)
        + self.rate = dropout

        - x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
        + x = dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]], self.rate)
    """,
)

from torch.nn.functional import dropout
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
