"""Encoder layers as other people get them wrong."""


class bert_only:
    """A layer of BERT, which knows post-norm alone.

    Named: post_norm_always
    """

    class EncoderLayer:
        def forward(self, hidden_states, mask=None):
            attention_output = self.dropout(self.attention(hidden_states, mask))
            attention_output = self.norm1(attention_output + hidden_states)
            layer_output = self.dropout(self.feed_forward(attention_output))
            return self.norm2(layer_output + attention_output)


class dropout_share_fixed:
    """Dropout keeps to its default of a half, whatever was asked for.

    Named: dropout_default, dropout_fixed
    """

    class EncoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout()
        """


class hidden_states_with_it:
    """The encoder returns a tuple of the last output and all the hidden states.

    Named: encoder_tuple_returned
    """

    class Encoder:
        def forward(self, x, mask=None):
            all_hidden_states = (x,)
            for layer in self.layers:
                x = layer(x, mask)
                all_hidden_states += (x,)
            return self.norm(x), all_hidden_states
