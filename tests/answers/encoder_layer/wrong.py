"""Encoder layers as other people get them wrong."""


class residual_after_norm:
    """The residual is set aside after the norm, so the normalised vectors are what is added to.

    Named: stream_normalised
    """

    class EncoderLayer:
        def forward(self, hidden_states, mask=None):
            if not self.norm_first:
                hidden_states = self.norm1(hidden_states + self.dropout(self.attention(hidden_states, mask)))
                return self.norm2(hidden_states + self.dropout(self.feed_forward(hidden_states)))
            hidden_states = self.norm1(hidden_states)
            residual = hidden_states
            hidden_states = self.dropout(self.attention(hidden_states, mask)) + residual
            hidden_states = self.norm2(hidden_states)
            residual = hidden_states
            return self.dropout(self.feed_forward(hidden_states)) + residual


class residual_after_first_norm:
    """Only the first residual is set aside after its norm.

    Named: attention_stream_normalised
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                y = self.norm1(x)
                residual = y
                y = residual + self.dropout(self.attention(y, mask=mask))
                residual = y
                return residual + self.dropout(self.feed_forward(self.norm2(y)))
            y = self.norm1(x + self.dropout(self.attention(x, mask=mask)))
            return self.norm2(y + self.dropout(self.feed_forward(y)))


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


class gpt_only:
    """A block of a small GPT, which knows pre-norm alone.

    Named: pre_norm_always
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            x = torch.add(x, self.dropout(self.attention(self.norm1(x), mask)))
            return torch.add(x, self.dropout(self.feed_forward(self.norm2(x))))


class condition_turned_around:
    """The two orders are exchanged.

    Named: norm_first_inverted, pre_norm_always, post_norm_always
    """

    class EncoderLayer:
        def residual(self, x, norm, sublayer):
            if self.norm_first:
                return norm(x + self.dropout(sublayer(x)))
            return x + self.dropout(sublayer(norm(x)))

        def forward(self, x, mask=None):
            x = self.residual(x, self.norm1, lambda h: self.attention(h, mask))
            return self.residual(x, self.norm2, self.feed_forward)


class no_residual_anywhere:
    """The sublayers follow each other without any residual.

    Named: no_residuals
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                h = self.dropout(self.attention(self.norm1(x), mask))
                return self.dropout(self.feed_forward(self.norm2(h)))
            h = self.norm1(self.dropout(self.attention(x, mask)))
            return self.norm2(self.dropout(self.feed_forward(h)))


class second_residual_forgotten:
    """The feed-forward network's output is returned as it is.

    Named: feed_forward_not_added
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            a = self.norm1(x) if self.norm_first else x
            a = x + self.dropout(self.attention(a, mask))
            if self.norm_first:
                return self.dropout(self.feed_forward(self.norm2(a)))
            return self.norm2(self.dropout(self.feed_forward(self.norm1(a))))


class skip_reused:
    """Both sublayers are added to the residual that was set aside at the beginning.

    Named: residual_from_input
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            skip = x
            if self.norm_first:
                h = skip + self.dropout(self.attention(self.norm1(x), mask))
                h = skip + self.dropout(self.feed_forward(self.norm2(h)))
            else:
                h = self.norm1(skip + self.dropout(self.attention(x, mask)))
                h = self.norm2(skip + self.dropout(self.feed_forward(h)))
            return h


class residual_added_twice:
    """The helper adds x, and so does its caller.

    Named: residual_twice
    """

    class EncoderLayer:
        def attend(self, x, mask):
            return x + self.dropout(self.attention(x, mask))

        def feed(self, x):
            return x + self.dropout(self.feed_forward(x))

        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.attend(self.norm1(x), mask)
                return x + self.feed(self.norm2(x))
            x = self.norm1(x + self.attend(x, mask))
            return self.norm2(x + self.feed(x))


class one_norm_under_two_names:
    """norm1 and norm2 are one object, by an assignment of both at once.

    Named: one_norm
    """

    class EncoderLayer:
        __init__ = """
            - self.norm1 = LayerNorm(d_model)
            - self.norm2 = LayerNorm(d_model)
            + self.norm1 = self.norm2 = LayerNorm(d_model)
        """


class short_names:
    """The parts are called as small GPTs call them.

    Named: attention_renamed, parts_renamed
    """

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.ln_1 = LayerNorm(d_model)
            self.attn = MultiHeadAttention(d_model, num_heads)
            self.ln_2 = LayerNorm(d_model)
            self.mlp = FeedForward(d_model, d_ff, activation, dropout)
            self.drop = nn.Dropout(dropout)
            self.pre = norm_first

        def forward(self, x, mask=None):
            if self.pre:
                x = x + self.drop(self.attn(self.ln_1(x), mask))
                return x + self.drop(self.mlp(self.ln_2(x)))
            x = self.ln_1(x + self.drop(self.attn(x, mask)))
            return self.ln_2(x + self.drop(self.mlp(x)))


class called_with_three_inputs:
    """Attention is called with query, key and value, as torch's own module is.

    Named: attention_called_with_qkv
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                h = self.norm1(x)
                x = x + self.dropout(self.attention(h, h, h, mask))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attention(x, x, x, mask)))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class first_of_the_output:
    """The first element of attention's output is taken, as if it came with weights.

    Named: attention_indexed
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask)[0])
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attention(x, mask)[0]))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class weights_expected:
    """Attention's output is unpacked, as if weights came with it.

    Named: attention_unpacked
    """

    class EncoderLayer:
        def _sa_block(self, x, mask):
            out, _ = self.attention(x, mask)
            return self.dropout(out)

        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self._sa_block(self.norm1(x), mask)
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self._sa_block(x, mask))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class mask_to_both:
    """The feed-forward network is given the mask, too.

    Named: mask_to_feed_forward
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            for norm, sublayer in ((self.norm1, self.attention), (self.norm2, self.feed_forward)):
                if self.norm_first:
                    x = x + self.dropout(sublayer(norm(x), mask))
                else:
                    x = norm(x + self.dropout(sublayer(x, mask)))
            return x


class mask_as_hidden:
    """The mask is taken for one of what is to be hidden.

    Named: mask_inverted
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            allowed = mask.logical_not() if mask is not None else None
            a = self.attention(self.norm1(x) if self.norm_first else x, mask=allowed)
            x = x + self.dropout(a)
            if self.norm_first:
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x)
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class mask_made_additive:
    """The mask becomes a float mask of -1e9, as an older library's layers want it, and the signs are wrong way round.

    Named: mask_as_float
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if mask is not None:
                mask = mask.to(x.dtype)
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class mask_forgotten_in_helper:
    """The helper for attention has no place for the mask.

    Named: mask_dropped
    """

    class EncoderLayer:
        def residual(self, x, norm, sublayer):
            if self.norm_first:
                return x + self.dropout(sublayer(norm(x)))
            return norm(x + self.dropout(sublayer(x)))

        def forward(self, x, mask=None):
            x = self.residual(x, self.norm1, self.attention)
            return self.residual(x, self.norm2, self.feed_forward)


class mask_unsqueezed_always:
    """The mask always gets two axes in front, though it may have four already.

    Named: mask_unsqueezed
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if mask is not None:
                mask = mask.unsqueeze(1).unsqueeze(1)
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class mask_is_required:
    """The mask has no default.

    Named: mask_required
    """

    class EncoderLayer:
        def forward(self, x, mask):
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class functional_dropout_always:
    """The function drops, told only how much.

    Named: dropout_always_on
    """

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.p, self.norm_first = dropout, norm_first
            self.attention = MultiHeadAttention(d_model, num_heads)
            self.norm1 = LayerNorm(d_model)
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            self.norm2 = LayerNorm(d_model)

        def forward(self, x, mask=None):
            drop = nn.functional.dropout
            if not self.norm_first:
                x = self.norm1(x + drop(self.attention(x, mask), self.p))
                return self.norm2(x + drop(self.feed_forward(x), self.p))
            h = x + drop(self.attention(self.norm1(x), mask), self.p)
            return h + drop(self.feed_forward(self.norm2(h)), self.p)


class dropout_share_fixed:
    """Dropout keeps to its default of a half, whatever was asked for.

    Named: dropout_default, dropout_fixed
    """

    class EncoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout()
        """


class dropout_a_tenth:
    """Dropout has the share of the first paper written in.

    Named: dropout_fixed
    """

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm_first=True, activation="relu"):
            super().__init__()
            self.norm_first = norm_first
            self.attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
            self.dropout = nn.Dropout(0.1)


class sum_dropped:
    """Each sum is dropped, with the residual in it.

    Named: dropout_after_add
    """

    class EncoderLayer:
        def residual(self, x, norm, sublayer):
            if self.norm_first:
                return self.dropout(x + sublayer(norm(x)))
            return norm(self.dropout(x + sublayer(x)))

        def forward(self, x, mask=None):
            x = self.residual(x, self.norm1, lambda h: self.attention(h, mask))
            return self.residual(x, self.norm2, self.feed_forward)


class dropped_after_norm:
    """In post-norm the normalised sum is dropped.

    Named: dropout_after_norm, dropout_missing
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.dropout(self.norm1(x + self.attention(x, mask)))
            return self.dropout(self.norm2(x + self.feed_forward(x)))


class inputs_dropped:
    """Dropout takes what the norms give to the sublayers.

    Named: dropout_on_inputs, dropout_missing
    """

    class EncoderLayer:
        def residual(self, x, norm, sublayer):
            if self.norm_first:
                return x + sublayer(self.dropout(norm(x)))
            return norm(x + sublayer(self.dropout(x)))

        def forward(self, x, mask=None):
            x = self.residual(x, self.norm1, lambda h: self.attention(h, mask))
            return self.residual(x, self.norm2, self.feed_forward)


class dropout_left_to_the_network:
    """Dropout is handed to FeedForward and acts nowhere else.

    Named: dropout_missing
    """

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.norm_first = norm_first
            self.attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)

        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.attention(self.norm1(x), mask)
                return x + self.feed_forward(self.norm2(x))
            x = self.norm1(x + self.attention(x, mask))
            return self.norm2(x + self.feed_forward(x))


class bare_network:
    """FeedForward is made from its widths alone.

    Named: activation_ignored, dropout_not_handed_on
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff)
        """


class network_options_exchanged:
    """FeedForward gets dropout where it takes the activation.

    Named: feed_forward_options_swapped
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        """


class network_widths_exchanged:
    """FeedForward gets its widths in the wrong order.

    Named: feed_forward_widths_swapped
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_ff, d_model, activation=activation, dropout=dropout)
        """


class four_times_as_wide:
    """The network is four times as wide as the stream, whatever was asked for.

    Named: d_ff_ignored
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, 4 * d_model, activation, dropout)
        """


class always_gelu:
    """The network always has a gelu, as in BERT.

    Named: activation_fixed
    """

    class EncoderLayer:
        __init__ = """
            - self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            + self.feed_forward = FeedForward(d_model, d_ff, "gelu", dropout)
        """


class super_not_called:
    """The base class is not begun.

    Named: super_forgotten
    """

    class EncoderLayer:
        __init__ = """
            - super().__init__()
        """


class flag_not_stored:
    """norm_first is not kept, but asked for in forward.

    Named: norm_first_not_kept
    """

    class EncoderLayer:
        __init__ = """
            - self.norm_first = norm_first
        """


class result_not_returned:
    """forward computes everything and returns nothing.

    Named: nothing_returned
    """

    class EncoderLayer:
        forward = """
            - return x
        """


class post_branch_without_return:
    """The second branch has no return.

    Named: post_norm_returns_nothing
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            x = self.norm2(x + self.dropout(self.feed_forward(x)))


class stream_written_into:
    """The sums are made in the tensor that was given, in either order.

    Named: added_in_place
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x += self.dropout(self.attention(self.norm1(x), mask))
                x += self.dropout(self.feed_forward(self.norm2(x)))
                return x
            x += self.dropout(self.attention(x, mask))
            x = self.norm1(x)
            x += self.dropout(self.feed_forward(x))
            return self.norm2(x)


class norm_around_the_sublayer:
    """In post-norm the norm takes what the sublayer gave, before it is added.

    Named: post_norm_inside
    """

    class EncoderLayer:
        def residual(self, x, norm, sublayer):
            if self.norm_first:
                return x + self.dropout(sublayer(norm(x)))
            return x + norm(self.dropout(sublayer(x)))

        def forward(self, x, mask=None):
            x = self.residual(x, self.norm1, lambda h: self.attention(h, mask))
            return self.residual(x, self.norm2, self.feed_forward)


class last_norm_of_post_norm_missing:
    """Post-norm normalises the first sum alone.

    Named: second_post_norm_missing
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            return x + self.dropout(self.feed_forward(x))


class both_read_one_norm:
    """Both sublayers read the normalised input, side by side.

    Named: sublayers_parallel
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                a = self.attention(self.norm1(x), mask)
                f = self.feed_forward(self.norm2(x))
                return x + self.dropout(a) + self.dropout(f)
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class keys_from_the_stream:
    """Only the queries are normalised; keys and values are read off the stream.

    Named: keys_not_normalised
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.attention(self.norm1(x), mask, context=x))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attention(x, mask)))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class network_reads_the_stream:
    """Pre-norm forgets the norm before the feed-forward network.

    Named: second_pre_norm_missing
    """

    class EncoderLayer:
        def forward(self, x, mask=None):
            h = self.norm1(x) if self.norm_first else x
            h = x + self.dropout(self.attention(h, mask))
            if self.norm_first:
                return h + self.dropout(self.feed_forward(h))
            h = self.norm1(h)
            return self.norm2(h + self.dropout(self.feed_forward(h)))


class sharing_clones:
    """The list of layers repeats one layer, without copying it.

    Named: layers_shared
    """

    class Encoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            super().__init__()
            layer = EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
            self.layers = clones(layer, num_layers)
            self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def clones(module, N):
        return nn.ModuleList([module for _ in range(N)])


class appended_to_a_list:
    """The layers are appended to a Python list.

    Named: layers_in_plain_list
    """

    class Encoder:
        __init__ = """
            - self.layers = nn.ModuleList(
            -     EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            - )
            + self.layers = []
            + for _ in range(num_layers):
            +     self.layers.append(EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation))
        """


class stack_without_options:
    """The layers are made from the widths alone.

    Named: encoder_activation_dropped, encoder_dropout_dropped, encoder_norm_first_dropped
    """

    class Encoder:
        __init__ = """
            - EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers)
        """


class stack_options_exchanged:
    """The options are handed on in another order than the layer takes them.

    Named: encoder_options_swapped
    """

    class Encoder:
        __init__ = """
            - EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + EncoderLayer(d_model, num_heads, d_ff, dropout, activation, norm_first) for _ in range(num_layers)
        """


class one_layer_too_few:
    """The range begins at 1, and a layer is missing.

    Named: layer_too_few
    """

    class Encoder:
        __init__ = """
            - EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for i in range(1, num_layers)
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


class fold_without_mask:
    """The stack is a fold, in which the mask gets lost.

    Named: encoder_mask_dropped
    """

    class Encoder:
        def forward(self, x, mask=None):
            for i in range(len(self.layers)):
                x = self.layers[i](x)
            return self.norm(x)


class every_layer_reads_the_input:
    """Every layer is called on the input, and the last one's output counts.

    Named: layers_not_chained
    """

    class Encoder:
        def forward(self, x, mask=None):
            outputs = [layer(x, mask=mask) for layer in self.layers]
            return self.norm(outputs[-1])


class no_last_norm:
    """The encoder has no norm at all.

    Named: final_norm_missing
    """

    class Encoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            super().__init__()
            self.layers = nn.ModuleList(
                [
                    EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
                    for _ in range(num_layers)
                ]
            )

        def forward(self, x, mask=None):
            for layer in self.layers:
                x = layer(x, mask)
            return x


class last_norm_in_the_loop:
    """The last norm's line stands in the loop.

    Named: final_norm_after_each_layer
    """

    class Encoder:
        def forward(self, x, mask=None):
            for layer in self.layers:
                x = layer(x, mask)
                x = self.norm(x)
            return x


class last_norm_in_any_case:
    """The encoder ends with a norm in either order, as in the annotated paper.

    Named: final_norm_always
    """

    class Encoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            super().__init__()
            options = dict(dropout=dropout, norm_first=norm_first, activation=activation)
            self.layers = nn.ModuleList(
                EncoderLayer(d_model, num_heads, d_ff, **options) for _ in range(num_layers)
            )
            self.norm = LayerNorm(d_model)


class none_for_a_norm:
    """A post-norm encoder's norm is None, and is asked for before it is called.

    Named: final_norm_none
    """

    class Encoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            super().__init__()
            options = dict(dropout=dropout, norm_first=norm_first, activation=activation)
            self.layers = nn.ModuleList(
                EncoderLayer(d_model, num_heads, d_ff, **options) for _ in range(num_layers)
            )
            self.norm = LayerNorm(d_model) if norm_first else None

        def forward(self, x, mask=None):
            for layer in self.layers:
                x = layer(x, mask)
            if self.norm is not None:
                x = self.norm(x)
            return x


class embedded_scale:
    """The input is scaled by the root of its width, as embeddings are in the first paper.

    Named: input_scaled
    """

    class Encoder:
        def forward(self, x, mask=None):
            x = x * x.size(-1) ** 0.5
            for layer in self.layers:
                x = layer(x, mask)
            return self.norm(x)
