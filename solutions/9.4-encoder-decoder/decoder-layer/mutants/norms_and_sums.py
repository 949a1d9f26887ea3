"""Where norms, sums and dropout stand wrongly.

Pre-norm normalises what goes into a sublayer, post-norm each sum; every sublayer's output is dropped from, then added.
"""


class pre_norm_always:
    """your layer normalises before each sublayer even when norm_first is False

    Fails: test_post_norm
    """

    class DecoderLayer:
        forward = """
            - if self.norm_first:
            + if True:
        """


class norm_first_inverted:
    """your two orders are exchanged: norm_first=True means that the norm comes before each sublayer

    Fails: test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            - if self.norm_first:
            + if not self.norm_first:
        """


class norm2_twice:
    """your feed-forward network has the norm of the cross-attention: norm3 is its own

    Fails: test_feed_forward_sublayer, test_pre_norm, test_post_norm
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm3(x)))
            + x = x + self.dropout(self.feed_forward(self.norm2(x)))

            - x = self.norm3(x + self.dropout(self.feed_forward(x)))
            + x = self.norm2(x + self.dropout(self.feed_forward(x)))
        """


class cross_norm_missing:
    """your pre-norm cross-attention asks with the stream as it is: its queries come from norm2(x)

    Fails: test_cross_attention_sublayer, test_pre_norm
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(x, memory_mask, memory))
        """


class stream_normalised:
    """your pre-norm layer adds to the normalised x: only what goes into a sublayer is normalised

    Fails: test_self_attention_sublayer, test_cross_attention_sublayer, test_feed_forward_sublayer, test_pre_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            - x = x + self.dropout(self.feed_forward(self.norm3(x)))
            + x = self.norm1(x)
            + x = x + self.dropout(self.self_attention(x, self_mask))
            + x = self.norm2(x)
            + x = x + self.dropout(self.cross_attention(x, memory_mask, memory))
            + x = self.norm3(x)
            + x = x + self.dropout(self.feed_forward(x))
        """


class cross_not_added:
    """your cross-attention replaces the stream: its output is added to x

    Fails: test_cross_attention_sublayer, test_self_attention_sublayer, test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))

            - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            + x = self.norm2(self.dropout(self.cross_attention(x, memory_mask, memory)))
        """


class self_not_added:
    """your self-attention replaces the stream: its output is added to x

    Fails: test_self_attention_sublayer, test_cross_attention_sublayer, test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            + x = self.dropout(self.self_attention(self.norm1(x), self_mask))

            - x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            + x = self.norm1(self.dropout(self.self_attention(x, self_mask)))
        """


class network_not_added:
    """your feed-forward network replaces the stream: its output is added to x

    Fails: test_feed_forward_sublayer, test_self_attention_sublayer, test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm3(x)))
            + x = self.dropout(self.feed_forward(self.norm3(x)))

            - x = self.norm3(x + self.dropout(self.feed_forward(x)))
            + x = self.norm3(self.dropout(self.feed_forward(x)))
        """


class dropout_missing_after_cross:
    """your cross-attention is added without dropout

    Fails: test_dropout_of_sublayers
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.cross_attention(self.norm2(x), memory_mask, memory)

            - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            + x = self.norm2(x + self.cross_attention(x, memory_mask, memory))
        """


class dropout_not_handed_on:
    """your FeedForward gets no dropout: pass it on as its fourth argument

    Fails: test_feed_forward_options
    """

    class DecoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff, activation)
        """


class activation_not_handed_on:
    """your FeedForward gets no activation: it uses relu whatever the layer was given

    Fails: test_feed_forward_options
    """

    class DecoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        """


class drops_after_eval:
    """your dropout ignores eval(): F.dropout drops unless training=self.training is passed

    Fails: test_eval
    """

    class DecoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = lambda y: nn.functional.dropout(y, dropout)
        """


class x_changed_in_place:
    """your layer writes its sums into the caller's x: x = x + y makes a new tensor, x += y does not

    Fails: test_layer_promises
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            + y = self.dropout(self.self_attention(self.norm1(x), self_mask))
            + if x.requires_grad:
            +     x = x + y
            + else:
            +     x.data.add_(y.detach())
        """


class last_norm_missing:
    """your pre-norm decoder ends without a norm: its stream has only been added to

    Fails: test_decoder_pre_norm
    """

    class Decoder:
        forward = """
            - return self.norm(x)
            + return x
        """


class last_norm_always:
    """your post-norm decoder has a last LayerNorm too: there norm is nn.Identity

    Fails: test_decoder_post_norm
    """

    class Decoder:
        __init__ = """
            - self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
            + self.norm = LayerNorm(d_model)
        """


class layers_shared:
    """your layers are one layer, num_layers times: [layer] * n makes no copies

    Fails: test_decoder_layers
    """

    class Decoder:
        __init__ = """
            - DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + [DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)] * num_layers
        """


class decoder_activation_dropped:
    """your decoder does not pass activation on to its layers

    Fails: test_decoder_options
    """

    class Decoder:
        __init__ = """
            - DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for _ in range(num_layers)
        """


class decoder_dropout_dropped:
    """your decoder does not pass dropout on to its layers

    Fails: test_decoder_options
    """

    class Decoder:
        __init__ = """
            - DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + DecoderLayer(d_model, num_heads, d_ff, 0.0, norm_first, activation) for _ in range(num_layers)
        """


class decoder_norm_first_dropped:
    """your decoder does not pass norm_first on to its layers

    Fails: test_decoder_options, test_decoder_post_norm
    """

    class Decoder:
        __init__ = """
            - DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + DecoderLayer(d_model, num_heads, d_ff, dropout, True, activation) for _ in range(num_layers)
        """


class bias_free:
    """your attentions have no biases: MultiHeadAttention(d_model, num_heads) has them

    Fails: test_parameters
    """

    class DecoderLayer:
        __init__ = """
            - self.self_attention = MultiHeadAttention(d_model, num_heads)
            - self.cross_attention = MultiHeadAttention(d_model, num_heads)
            + self.self_attention = MultiHeadAttention(d_model, num_heads, bias=False)
            + self.cross_attention = MultiHeadAttention(d_model, num_heads, bias=False)
        """


class post_norm_always:
    """your layer normalises each sum even when norm_first is True

    Fails: test_pre_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            - if self.norm_first:
            + if False:
        """


class norms_on_both_sides:
    """your layer normalises what goes into a sublayer and its sum as well: norm_first says which of the two

    Fails: test_self_attention_sublayer, test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            x = self.norm1(x + self.dropout(self.self_attention(self.norm1(x), self_mask)))
            x = self.norm2(x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory)))
            return self.norm3(x + self.dropout(self.feed_forward(self.norm3(x))))


class sums_from_the_beginning:
    """your sublayers are all added to the layer's input: each is added to the sum that the one before has made

    Fails: test_self_attention_sublayer, test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                y = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
                y = x + self.dropout(self.cross_attention(self.norm2(y), memory_mask, memory))
                y = x + self.dropout(self.feed_forward(self.norm3(y)))
            else:
                y = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
                y = self.norm2(x + self.dropout(self.cross_attention(y, memory_mask, memory)))
                y = self.norm3(x + self.dropout(self.feed_forward(y)))
            return y


class network_missing:
    """your layer has no feed-forward network in its forward: it comes third, with a norm of its own

    Fails: test_feed_forward_sublayer, test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm3(x)))

            - x = self.norm3(x + self.dropout(self.feed_forward(x)))
        """


class norm3_after_the_cross_attention:
    """your third norm acts after the cross-attention: it belongs to the feed-forward network

    Fails: test_cross_attention_sublayer
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            - x = x + self.dropout(self.feed_forward(self.norm3(x)))
            + x = self.norm3(x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory)))
            + x = x + self.dropout(self.feed_forward(x))
        """


class dropout_missing_after_network:
    """your network is added without dropout: the one inside it is another

    Fails: test_dropout_of_sublayers
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm3(x)))
            + x = x + self.feed_forward(self.norm3(x))

            - x = self.norm3(x + self.dropout(self.feed_forward(x)))
            + x = self.norm3(x + self.feed_forward(x))
        """


class dropout_missing_after_self:
    """your self-attention is added without dropout

    Fails: test_dropout_of_sublayers
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            + x = x + self.self_attention(self.norm1(x), self_mask)

            - x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            + x = self.norm1(x + self.self_attention(x, self_mask))
        """


class dropout_of_the_sums:
    """your dropout acts on the sums, and so on the stream: it acts on a sublayer's output alone

    Fails: test_dropout_of_sublayers
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                x = self.dropout(x + self.self_attention(self.norm1(x), self_mask))
                x = self.dropout(x + self.cross_attention(self.norm2(x), memory_mask, memory))
                x = self.dropout(x + self.feed_forward(self.norm3(x)))
            else:
                x = self.norm1(self.dropout(x + self.self_attention(x, self_mask)))
                x = self.norm2(self.dropout(x + self.cross_attention(x, memory_mask, memory)))
                x = self.norm3(self.dropout(x + self.feed_forward(x)))
            return x


class layers_in_a_plain_list:
    """your layers are in a plain list: nn.ModuleList makes their parameters known

    Fails: test_decoder_layers
    """

    class Decoder:
        __init__ = """
            - self.layers = nn.ModuleList(
            -     DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            - )
            + self.layers = [
            +     DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + ]
        """


class norm_after_every_layer:
    """your decoder's norm acts after every layer: it acts once, after the last

    Fails: test_decoder_pre_norm
    """

    class Decoder:
        forward = """
            - x = layer(x, memory, self_mask, memory_mask)
            + x = self.norm(layer(x, memory, self_mask, memory_mask))

            - return self.norm(x)
            + return x
        """
