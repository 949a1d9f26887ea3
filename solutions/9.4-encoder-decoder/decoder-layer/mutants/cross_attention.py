"""How cross-attention looks at the wrong things.

Queries come from the stream, keys and values from the memory as it is; memory_mask says which of them may meet.
"""


class memory_not_used:
    """your cross-attention looks at x again: keys and values come from the memory, its context

    Fails: test_cross_attention_sublayer
    Costs: a model without its source is wrong wherever there is one
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask))

            - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            + x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask)))
        """


class memory_asks:
    """your cross-attention has its roles exchanged: x asks, and the memory is what is looked at

    Fails: test_layer_shapes
    Costs: the result has the length of the memory, so hardly anything can be added
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(memory, memory_mask, self.norm2(x)))

            - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            + x = self.norm2(x + self.dropout(self.cross_attention(memory, memory_mask, x)))
        """


class memory_normalised:
    """your pre-norm layer normalises the memory too: it comes from an encoder that has already done so

    Fails: test_cross_attention_sublayer, test_pre_norm
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, self.norm2(memory)))
        """


class cross_before_self:
    """your cross-attention comes first: self-attention, then cross-attention, then the network

    Fails: test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
                x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
                x = x + self.dropout(self.feed_forward(self.norm3(x)))
            else:
                x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
                x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
                x = self.norm3(x + self.dropout(self.feed_forward(x)))
            return x


class one_attention_for_both:
    """your cross-attention is the self-attention under another name: each has weights of its own

    Fails: test_parts, test_parameters
    """

    class DecoderLayer:
        __init__ = """
            - self.cross_attention = MultiHeadAttention(d_model, num_heads)
            + self.cross_attention = self.self_attention
        """


class side_by_side:
    """your two attentions read the same x: the second reads what the first has added

    Fails: test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                own = self.dropout(self.self_attention(self.norm1(x), self_mask))
                x = x + own + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
                x = x + self.dropout(self.feed_forward(self.norm3(x)))
            else:
                own = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
                x = self.norm2(own + self.dropout(self.cross_attention(x, memory_mask, memory)))
                x = self.norm3(x + self.dropout(self.feed_forward(x)))
            return x


class memory_cut_off:
    """your memory is detached: the encoder that made it learns nothing

    Fails: test_gradients
    """

    class DecoderLayer:
        forward = """
            + memory = memory.detach()
              if self.norm_first:
        """


class memory_never_asked:
    """your layer has no cross-attention in its forward: the memory is never read

    Fails: test_cross_attention_sublayer
    Costs: a model without its source is wrong wherever there is one
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))

            - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
        """


class memory_as_mask:
    """your cross-attention gets the memory where its mask belongs: forward(x, mask, context)

    Fails: test_layer_shapes
    Costs: what is not a mask is refused, so hardly anything can be compared
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(self.norm2(x), memory, memory_mask))

            - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            + x = self.norm2(x + self.dropout(self.cross_attention(x, memory, memory_mask)))
        """


class stream_as_memory:
    """your decoder passes the stream on as the memory: every layer looks at the same memory

    Fails: test_decoder_pre_norm, test_decoder_post_norm
    """

    class Decoder:
        forward = """
              x = layer(x, memory, self_mask, memory_mask)
            + memory = x
        """
