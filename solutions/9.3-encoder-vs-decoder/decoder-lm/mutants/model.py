"""What the model around the mask gets wrong.

Token and position vectors, blocks of their own, a norm, a head: a score for every token at every position.
"""


class positions_missing:
    """your model adds no positions, or the same to each token: the order of the earlier ones is lost

    Fails: test_positions
    """

    class DecoderLM:
        forward = """
            - x = self.dropout(self.token(tokens) + self.position(positions))
            + x = self.dropout(self.token(tokens) + 0 * self.position(positions))
        """


class positions_from_one:
    """your positions start at 1, so that the last of max_len has no vector

    Fails: test_shapes
    """

    class DecoderLM:
        forward = """
            - positions = torch.arange(start, start + tokens.size(1), device=tokens.device)
            + positions = torch.arange(start + 1, start + 1 + tokens.size(1), device=tokens.device)
        """


class positions_float32:
    """your positions stay in float32 when the model has another dtype

    Fails: test_dtypes
    """

    from blocks import sinusoidal_positions

    class DecoderLM:
        __init__ = """
            - self.position = nn.Embedding(max_len, d_model)
            + self.table = [sinusoidal_positions(max_len, d_model)]

            - for embedding in (self.token, self.position):
            -     nn.init.normal_(embedding.weight, std=0.02)
            + nn.init.normal_(self.token.weight, std=0.02)
        """

        forward = """
            - x = self.dropout(self.token(tokens) + self.position(positions))
            + x = self.dropout(self.token(tokens) + self.table[0].to(tokens.device)[positions])
        """


class last_position_only:
    """your model gives logits for the last position only: each position predicts its next token

    Fails: test_shapes
    Costs: causality, the loss and training speak of positions that are not there
    """

    class DecoderLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return self.head(self.norm(x))[:, -1:], new
        """


class logits_alone:
    """your forward returns the logits alone, without a cache

    Fails: test_shapes
    """

    class DecoderLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return self.head(self.norm(x))
        """


class probabilities:
    """your model applies the softmax itself: logits are the scores before it

    Fails: test_scores
    """

    class DecoderLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return self.head(self.norm(x)).softmax(dim=-1), new
        """


class log_probabilities:
    """your model applies a log-softmax itself: logits are the scores before it

    Fails: test_scores
    """

    class DecoderLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return self.head(self.norm(x)).log_softmax(dim=-1), new
        """


class layers_in_a_list:
    """your layers are in a plain list, which no parameters() and no to() looks into

    Fails: test_sizes
    """

    class DecoderLM:
        __init__ = """
            - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
            + self.blocks = [Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)]
        """


class layers_shared:
    """your layers are one layer, several times: [layer] * n repeats the same object

    Fails: test_sizes
    """

    class DecoderLM:
        __init__ = """
            - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
            + self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout)] * num_layers)
        """


class dropout_ignored:
    """your model takes dropout and drops nothing

    Fails: test_modes
    """

    class DecoderLM:
        __init__ = """
              super().__init__()
            + dropout = 0.0
        """


class dropout_always:
    """your dropout is on in eval mode too

    Fails: test_modes
    """

    class Block:
        forward = """
            - x = x + self.dropout(attended)
            + x = x + F.dropout(attended, self.dropout.p, training=True)
        """


class tokens_shifted_in_place:
    """your model writes into the tokens it was given

    Fails: test_arguments
    """

    class DecoderLM:
        forward = """
            + tokens += 0
              pasts = cache if cache is not None else [None] * len(self.blocks)
        """


class torch_encoder:
    """your layers are torch's own transformer layers: build them from the given blocks

    Fails: test_from_scratch
    Costs: what is not built from scratch is not an answer to this kata
    """

    class Block:
        __init__ = """
            - self.norm1 = LayerNorm(d_model)
            + self.norm1 = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout).norm1
        """


class d_ff_ignored:
    """your feed-forward networks have a width of their own, whatever d_ff is

    Fails: test_sizes
    """

    class DecoderLM:
        __init__ = """
            - self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
            + self.blocks = nn.ModuleList([Block(d_model, num_heads, 4 * d_model, dropout) for _ in range(num_layers)])
        """
