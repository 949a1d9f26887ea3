"""Which of its arguments the classifier forgets.

Each of them reaches the part that it is about: vectors, positions, layers, heads, dropout."""


class one_layer:
    """your encoder has one layer, whatever num_layers is

    Fails: test_sizes
    """

    class EncoderClassifier:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.encoder = Encoder(1, d_model, num_heads, d_ff, dropout)
        """


class heads_ignored:
    """your encoder has one head, whatever num_heads is

    Fails: test_sizes
    """

    class EncoderClassifier:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.encoder = Encoder(num_layers, d_model, 1, d_ff, dropout)
        """


class max_len_ignored:
    """your classifier has 128 positions, whatever max_len is

    Fails: test_sizes
    """

    class EncoderClassifier:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            + self.register_buffer("positions", sinusoidal_positions(128, d_model), persistent=False)
        """


class dropout_ignored:
    """your classifier never hands dropout on

    Fails: test_dropout
    """

    class EncoderClassifier:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.dropout = nn.Dropout(0.0)
            + self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        """


class dropout_always:
    """your dropout does not rest in eval mode

    Fails: test_dropout
    """

    from torch.nn.functional import dropout

    class EncoderClassifier:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.rate = dropout
        """

        forward = """
            - x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
            + x = dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]], self.rate)
        """
