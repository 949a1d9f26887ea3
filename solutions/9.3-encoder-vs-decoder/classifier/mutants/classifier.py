"""What the classifier gets wrong.

Tokens become vectors with positions, every real token sees every real token, and one pooled vector becomes logits.
"""


class positions_missing:
    """your classifier reads a bag of words; add to each token's vector one of its position

    Fails: test_order_matters, test_learning
    """

    class EncoderClassifier:
        forward = """
            - x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
            + x = self.dropout(self.embedding(tokens))
        """


class positions_keep_float32:
    """your positions stay float32 when the model changes its dtype

    Fails: test_model_promises
    """

    class EncoderClassifier:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            + self.d_model = d_model
        """

        forward = """
            - x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
            + positions = sinusoidal_positions(tokens.shape[1], self.d_model, device=tokens.device)
            + x = self.dropout(self.embedding(tokens) + positions)
        """


class attention_sees_padding:
    """your encoder lets tokens attend to padding; give it a mask [B, 1, 1, T] that is True where the token is real

    Fails: test_padding_invariance, test_pad_id
    """

    class EncoderClassifier:
        forward = """
            - hidden = self.encoder(x, real[:, None, None, :])
            + hidden = self.encoder(x)
        """


class mask_inverted:
    """your mask is upside down, so attention sees padding alone; it should be True where the token is real

    Fails: test_tokens_matter, test_padding_invariance
    """

    class EncoderClassifier:
        forward = """
            - hidden = self.encoder(x, real[:, None, None, :])
            + hidden = self.encoder(x, ~real[:, None, None, :])
        """


class causal_encoder:
    """your encoder hides from cls all that follows it, as a causal one does; every real token should see every other

    Fails: test_tokens_matter
    """

    class EncoderClassifier:
        forward = """
            - hidden = self.encoder(x, real[:, None, None, :])
            + T = tokens.shape[1]
            + past = torch.ones(T, T, dtype=torch.bool, device=tokens.device).tril()
            + hidden = self.encoder(x, past & real[:, None, None, :])
        """


class pad_id_ignored:
    """your classifier takes 0 for padding, whatever pad_id is

    Fails: test_pad_id
    """

    class EncoderClassifier:
        forward = """
            - real = tokens != self.pad_id
            + real = tokens != 0
        """


class padding_pooled:
    """your classifier masks attention, but pools over padding as well

    Fails: test_padding_invariance, test_pad_id
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))
            + return self.head(pool(hidden, torch.ones_like(real), self.pooling))
        """


class pooling_ignored:
    """your classifier always pools by cls

    Fails: test_pooling_used
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))
            + return self.head(pool(hidden, real, "cls"))
        """


class logits_for_every_position:
    """your classifier gives logits for every position: nothing has been pooled

    Fails: test_logits_shape
    Costs: no logits of a text are there to be compared, and no loss to be trained by
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))
            + return self.head(hidden)
        """


class softmax_in_the_model:
    """your classifier returns probabilities: cross-entropy will take the softmax a second time

    Fails: test_raw_logits
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))
            + return self.head(pool(hidden, real, self.pooling)).softmax(dim=-1)
        """


class encoder_detached:
    """your encoder is cut off from the gradient: only the last layer learns

    Fails: test_gradients
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))
            + return self.head(pool(hidden.detach(), real, self.pooling))
        """


class torch_encoder:
    """your classifier is built on torch's transformer, not on the Encoder that is given

    Fails: test_from_scratch
    Costs: what is not built on the given Encoder is not an answer to this kata
    """

    class EncoderClassifier:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + layer = nn.TransformerEncoderLayer(
            +     d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=True
            + )
            + self.encoder = nn.TransformerEncoder(
            +     layer, num_layers, nn.LayerNorm(d_model), enable_nested_tensor=False
            + )
        """

        forward = """
            - hidden = self.encoder(x, real[:, None, None, :])
            + hidden = self.encoder(x, src_key_padding_mask=~real)
        """


class mask_not_broadcast:
    """your encoder gets the mask as [B, T], which reads as [T, T]: it has to be [B, 1, 1, T]

    Fails: test_logits_shape
    Costs: the encoder cannot attend with it, so no call of the classifier ends with logits
    """

    class EncoderClassifier:
        forward = """
            - hidden = self.encoder(x, real[:, None, None, :])
            + hidden = self.encoder(x, real)
        """


class pooling_fixed:
    """your classifier pools by the mean, whatever it was built with

    Fails: test_pooling_used
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))
            + return self.head(pool(hidden, real, "mean"))
        """


class log_softmax_in_the_model:
    """your classifier returns logarithms of probabilities: logits are the free numbers before the softmax

    Fails: test_raw_logits
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))
            + return self.head(pool(hidden, real, self.pooling)).log_softmax(dim=-1)
        """
