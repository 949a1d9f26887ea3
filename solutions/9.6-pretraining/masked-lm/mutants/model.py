"""How the model reads or answers wrongly.

It reads from both sides, passes over padding, knows the order, and answers with the table it reads with.
"""


class padding_read:
    """your body lets real tokens look at padding

    Fails: test_padding
    """

    class MaskedLM:
        body = """
            - return self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
            + return self.encoder(self.dropout(x))
        """


class pad_id_zero:
    """your padding is always 0: pad_id says which token it is

    Fails: test_padding
    """

    class MaskedLM:
        body = """
            - return self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
            + return self.encoder(self.dropout(x), padding_mask(tokens, 0))
        """


class mask_inverted:
    """your padding mask is the wrong way round: it is True where a token is real and may be looked at

    Fails: test_padding
    """

    class MaskedLM:
        body = """
            - return self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
            + return self.encoder(self.dropout(x), ~padding_mask(tokens, self.pad_id))
        """


class no_positions:
    """your body does not know the order of the words

    Fails: test_positions
    """

    class MaskedLM:
        body = """
            - x = self.embedding(tokens) * self.scale + self.positions[: tokens.shape[1]]
            + x = self.embedding(tokens) * self.scale
        """


class causal:
    """your body looks at what comes before a gap only: both sides are there to be read

    Fails: test_both_sides
    """

    class MaskedLM:
        body = """
            - return self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
            + mask = padding_mask(tokens, self.pad_id)
            + seen = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool, device=tokens.device).tril()
            + return self.encoder(self.dropout(x), mask & seen)
        """


class untied:
    """your output layer has a weight of its own: it is the token embedding's

    Fails: test_tied
    """

    class MaskedLM:
        __init__ = """
              self.bias = nn.Parameter(torch.zeros(vocab_size))
            + self.output = nn.Linear(d_model, vocab_size)
        """
        forward = """
            - return self.body(tokens) @ self.embedding.weight.T + self.bias
            + return self.output(self.body(tokens)) + self.bias
        """


class tied_by_copying:
    """your output layer copies the table: it is the same parameter, so that both ends learn

    Fails: test_tied
    """

    class MaskedLM:
        __init__ = """
              self.bias = nn.Parameter(torch.zeros(vocab_size))
            + self.output = nn.Parameter(self.embedding.weight.detach().clone())
        """
        forward = """
            - return self.body(tokens) @ self.embedding.weight.T + self.bias
            + return self.body(tokens) @ self.output.T + self.bias
        """


class table_detached:
    """your output layer uses the table without its gradient: it learns at both ends

    Fails: test_gradients
    """

    class MaskedLM:
        forward = """
            - return self.body(tokens) @ self.embedding.weight.T + self.bias
            + return self.body(tokens) @ self.embedding.weight.detach().T + self.bias
        """


class logits_softmaxed:
    """your logits are probabilities: the loss takes the softmax itself

    Fails: test_tied
    """

    class MaskedLM:
        forward = """
            - return self.body(tokens) @ self.embedding.weight.T + self.bias
            + return (self.body(tokens) @ self.embedding.weight.T + self.bias).softmax(dim=-1)
        """


class log_probabilities:
    """your logits are logarithms of probabilities: the loss takes them itself

    Fails: test_tied
    """

    class MaskedLM:
        forward = """
            - return self.body(tokens) @ self.embedding.weight.T + self.bias
            + return (self.body(tokens) @ self.embedding.weight.T + self.bias).log_softmax(dim=-1)
        """


class body_returned_too:
    """your forward returns the body too: it returns the logits alone

    Fails: test_shapes
    Costs: what is not a tensor cannot be compared with anything
    """

    class MaskedLM:
        forward = """
            - return self.body(tokens) @ self.embedding.weight.T + self.bias
            + body = self.body(tokens)
            + return body @ self.embedding.weight.T + self.bias, body
        """


class logits_divided:
    """your logits are divided: they are the products with the table, as they are

    Fails: test_tied
    """

    class MaskedLM:
        forward = """
            - return self.body(tokens) @ self.embedding.weight.T + self.bias
            + return self.body(tokens) @ self.embedding.weight.T / self.scale + self.bias
        """


class only_the_first_scored:
    """your forward scores the first position alone: every position is asked

    Fails: test_shapes
    Costs: logits of another shape cannot be compared with anything
    """

    class MaskedLM:
        forward = """
            - return self.body(tokens) @ self.embedding.weight.T + self.bias
            + return self.body(tokens)[:, 0] @ self.embedding.weight.T + self.bias
        """


class dropout_not_handed_on:
    """your dropout acts on nothing: pass it on to the encoder

    Fails: test_dropout
    """

    class MaskedLM:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.dropout = nn.Identity()
            + self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        """


class heads_fixed:
    """your encoder has as many heads whatever num_heads says

    Fails: test_sizes
    """

    class MaskedLM:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.encoder = Encoder(num_layers, d_model, 1, d_ff, dropout)
        """


class layers_fixed:
    """your encoder has as many layers whatever num_layers says

    Fails: test_sizes
    """

    class MaskedLM:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.encoder = Encoder(2, d_model, num_heads, d_ff, dropout)
        """


class hidden_width_fixed:
    """your encoder's networks are as wide inside whatever d_ff says

    Fails: test_sizes
    """

    class MaskedLM:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.encoder = Encoder(num_layers, d_model, num_heads, 128, dropout)
        """


class rows_too_long:
    """your table begins with rows that are too long: they are the output layer's as well, and its logits are as large

    Fails: test_first_loss
    """

    class MaskedLM:
        __init__ = """
            - nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        """


class max_len_fixed:
    """your positions end at 12, whatever max_len is

    Fails: test_shapes
    """

    class MaskedLM:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            + self.register_buffer("positions", sinusoidal_positions(12, d_model), persistent=False)
        """


class other_default_sizes:
    """your model's default sizes are not those of the stub

    Fails: test_defaults
    """

    class MaskedLM:
        __init__ = """
            - num_layers: int = 2,
            + num_layers: int = 3,
        """


class body_of_embeddings:
    """your body returns the embeddings: the encoder has to read them

    Fails: test_both_sides, test_learning
    """

    class MaskedLM:
        body = """
            - return self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
            + self.encoder(self.dropout(x), padding_mask(tokens, self.pad_id))
            + return self.dropout(x)
        """


class torchs_own_encoder:
    """your model makes a torch Transformer layer: build it from the given blocks

    Fails: test_from_scratch
    Costs: what rests on excluded code earns nothing
    """

    class MaskedLM:
        body = """
            + nn.TransformerEncoderLayer(4, 1, 4, batch_first=True)
              x = self.embedding(tokens) * self.scale + self.positions[: tokens.shape[1]]
        """


class positions_in_float32:
    """your positions stay float32 when the model does not: keep them in a buffer, or cast them to the vectors' dtype

    Fails: test_model_promises
    """

    class MaskedLM:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            + self.positions = sinusoidal_positions(max_len, d_model)
        """
