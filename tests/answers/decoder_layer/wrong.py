"""Decoder layers as other people get them wrong."""


class gpt_block:
    """A decoder-only block: nobody looks at the memory.

    Named: memory_never_asked
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
                return x + self.dropout(self.feed_forward(self.norm3(x)))
            x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            return self.norm3(x + self.dropout(self.feed_forward(x)))


class arguments_in_torchs_order:
    """Called as torch's attention is, with query, key and value: the memory arrives as a mask.

    Named: memory_as_mask
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(self.norm2(x), memory, memory_mask))

            - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            + x = self.norm2(x + self.dropout(self.cross_attention(x, memory, memory_mask)))
        """


class asked_by_memory:
    """The memory asks x.

    Named: memory_asks
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
                x = x + self.dropout(self.cross_attention(memory, memory_mask, context=self.norm2(x)))
                return x + self.dropout(self.feed_forward(self.norm3(x)))
            x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            x = self.norm2(x + self.dropout(self.cross_attention(memory, memory_mask, context=x)))
            return self.norm3(x + self.dropout(self.feed_forward(x)))


class norm_for_both_sides:
    """norm2 is put around both inputs of the cross-attention, "as they must match".

    Named: memory_normalised
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if not self.norm_first:
                x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
                x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
                return self.norm3(x + self.dropout(self.feed_forward(x)))
            h = self.norm1(x)
            x = x + self.dropout(self.self_attention(h, self_mask))
            h, m = self.norm2(x), self.norm2(memory)
            x = x + self.dropout(self.cross_attention(h, memory_mask, m))
            return x + self.dropout(self.feed_forward(self.norm3(x)))


class source_first:
    """The memory is asked before the text.

    Named: cross_before_self
    """

    class DecoderLayer:
        def connect(self, x, norm, sublayer):
            if self.norm_first:
                return x + self.dropout(sublayer(norm(x)))
            return norm(x + self.dropout(sublayer(x)))

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            x = self.connect(x, self.norm2, lambda x: self.cross_attention(x, memory_mask, memory))
            x = self.connect(x, self.norm1, lambda x: self.self_attention(x, self_mask))
            return self.connect(x, self.norm3, self.feed_forward)


class causal_everywhere:
    """One mask for both attentions.

    Named: self_mask_twice
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(self.norm2(x), self_mask, memory))

            - x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            + x = self.norm2(x + self.dropout(self.cross_attention(x, self_mask, memory)))
        """


class masks_joined:
    """Both masks are joined, and both attentions get the result."""

    class DecoderLayer:
        forward = """
            + if self_mask is not None and memory_mask is not None:
            +     self_mask = memory_mask = self_mask & memory_mask
              if self.norm_first:
        """


class mask_of_the_wrong_one:
    """Self-attention gets the source's mask.

    Named: masks_exchanged
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            steps = (
                (self.norm1, lambda h: self.self_attention(h, memory_mask)),
                (self.norm2, lambda h: self.cross_attention(h, self_mask, memory)),
                (self.norm3, self.feed_forward),
            )
            for norm, step in steps:
                x = x + self.dropout(step(norm(x))) if self.norm_first else norm(x + self.dropout(step(x)))
            return x


class turned_masks:
    """True is taken for "hidden", as torch's own attention has it.

    Named: masks_inverted
    """

    class DecoderLayer:
        forward = """
            + self_mask = None if self_mask is None else ~self_mask
            + memory_mask = None if memory_mask is None else ~memory_mask
              if self.norm_first:
        """


class post_only:
    """The layer of the first paper, which knows post-norm alone.

    Named: post_norm_always
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            x = self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))
            return self.norm3(x + self.dropout(self.feed_forward(x)))


class pre_only:
    """A newer layer, which knows pre-norm alone.

    Named: pre_norm_always
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
            x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, context=memory))
            return x + self.dropout(self.feed_forward(self.norm3(x)))


class pre_and_post:
    """Both at once: what goes in is normalised, and the sum as well.

    Named: norms_on_both_sides
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            x = self.norm1(x + self.dropout(self.self_attention(self.norm1(x), self_mask)))
            x = self.norm2(x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory)))
            return self.norm3(x + self.dropout(self.feed_forward(self.norm3(x))))


class residual_of_the_beginning:
    """Every sublayer is added to the x that came in.

    Named: sums_from_the_beginning
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                h = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
                h = x + self.dropout(self.cross_attention(self.norm2(h), memory_mask, memory))
                return x + self.dropout(self.feed_forward(self.norm3(h)))
            h = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            h = self.norm2(x + self.dropout(self.cross_attention(h, memory_mask, memory)))
            return self.norm3(x + self.dropout(self.feed_forward(h)))


class residual_of_the_norm:
    """The residual is set aside after the norm.

    Named: stream_normalised
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            steps = (
                (self.norm1, lambda h: self.self_attention(h, self_mask)),
                (self.norm2, lambda h: self.cross_attention(h, memory_mask, memory)),
                (self.norm3, self.feed_forward),
            )
            for norm, step in steps:
                if self.norm_first:
                    x = norm(x)
                    x = x + self.dropout(step(x))
                else:
                    x = norm(x + self.dropout(step(x)))
            return x


class network_forgotten:
    """A layer of attentions alone, whose last norm has come along.

    Named: network_missing, norm3_after_the_cross_attention
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                x = x + self.dropout(self.self_attention(self.norm1(x), self_mask))
                return self.norm3(x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory)))
            x = self.norm1(x + self.dropout(self.self_attention(x, self_mask)))
            return self.norm2(x + self.dropout(self.cross_attention(x, memory_mask, memory)))


class no_grad_for_the_memory:
    """The memory is taken under no_grad, by a clone of its data.

    Named: memory_cut_off
    """

    class DecoderLayer:
        forward = """
            + with torch.no_grad():
            +     memory = memory.clone()
              if self.norm_first:
        """


class one_dropout_too_few:
    """The network's output is added as it is, since it has a dropout inside.

    Named: dropout_missing_after_network
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm3(x)))
            + x = x + self.feed_forward(self.norm3(x))

            - x = self.norm3(x + self.dropout(self.feed_forward(x)))
            + x = self.norm3(x + self.feed_forward(x))
        """


class dropout_of_the_sum:
    """Dropout takes the sum, and with it the stream.

    Named: dropout_of_the_sums
    """

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                x = self.dropout(x + self.self_attention(self.norm1(x), self_mask))
                x = self.dropout(x + self.cross_attention(self.norm2(x), memory_mask, memory))
                return self.dropout(x + self.feed_forward(self.norm3(x)))
            x = self.norm1(self.dropout(x + self.self_attention(x, self_mask)))
            x = self.norm2(self.dropout(x + self.cross_attention(x, memory_mask, memory)))
            return self.norm3(self.dropout(x + self.feed_forward(x)))


class shared_list:
    """A list of the same layer.

    Named: layers_shared
    """

    class Decoder:
        __init__ = """
            - self.layers = nn.ModuleList(
            -     DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            - )
            + layer = DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
            + self.layers = nn.ModuleList([layer] * num_layers)
        """


class plain_list:
    """Layers in a plain list: no parameter is found.

    Named: layers_in_a_plain_list
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


class memory_handed_along:
    """Each layer looks at what the one before has made: the stream takes the memory's place.

    Named: stream_as_memory
    """

    class Decoder:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            for layer in self.layers:
                x = layer(x, memory, self_mask, memory_mask)
                memory = x
            return self.norm(x)


class norm_in_between:
    """The last norm acts after every layer.

    Named: norm_after_every_layer
    """

    class Decoder:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            for layer in self.layers:
                x = self.norm(layer(x, memory, self_mask, memory_mask))
            return x


class masks_left_out:
    """The layers get no masks.

    Named: decoder_drops_memory_mask, decoder_drops_self_mask
    """

    class Decoder:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            for layer in self.layers:
                x = layer(x, memory)
            return self.norm(x)


class memory_asks_in_pre_norm:
    """Query and memory change places in one of the two orders; every mask is where it belongs.

    Named: memory_asks
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(memory, memory_mask, self.norm2(x)))
        """


class memory_as_mask_in_pre_norm:
    """The memory arrives as a mask in one of the two orders.

    Named: memory_as_mask
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(self.norm2(x), memory, memory_mask))
        """
