"""Encoder layers as other people write them."""


class blocks_with_two_dropouts:
    """A method for each sublayer with a dropout of its own, as torch's own layer is cut."""

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation=activation, dropout=dropout)
            self.norm_first = norm_first
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
            self.dropout1 = nn.Dropout(dropout)
            self.dropout2 = nn.Dropout(dropout)

        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self._sa_block(self.norm1(x), mask)
                x = x + self._ff_block(self.norm2(x))
            else:
                x = self.norm1(x + self._sa_block(x, mask))
                x = self.norm2(x + self._ff_block(x))
            return x

        def _sa_block(self, x, mask):
            return self.dropout1(self.attention(x, mask=mask))

        def _ff_block(self, x):
            return self.dropout2(self.feed_forward(x))


class lambda_sublayers:
    """Every residual connection is one method that takes the sublayer as a function."""

    class EncoderLayer:
        def residual(self, x, norm, sublayer):
            if self.norm_first:
                return x + self.dropout(sublayer(norm(x)))
            return norm(x + self.dropout(sublayer(x)))

        def forward(self, x, mask=None):
            x = self.residual(x, self.norm1, lambda h: self.attention(h, mask))
            return self.residual(x, self.norm2, self.feed_forward)


class saved_residual:
    """The residual is set aside before each sublayer, as GPT-2 has it in a well-known library."""

    class EncoderLayer:
        def forward(self, hidden_states, mask=None):
            residual = hidden_states
            if self.norm_first:
                hidden_states = self.norm1(hidden_states)
            hidden_states = self.dropout(self.attention(hidden_states, mask))
            hidden_states = residual + hidden_states
            if not self.norm_first:
                hidden_states = self.norm1(hidden_states)

            residual = hidden_states
            if self.norm_first:
                hidden_states = self.norm2(hidden_states)
            hidden_states = self.dropout(self.feed_forward(hidden_states))
            hidden_states = residual + hidden_states
            if not self.norm_first:
                hidden_states = self.norm2(hidden_states)
            return hidden_states


class maybe_normalised:
    """One helper decides by before and after whether a norm acts, as early translation toolkits had it."""

    class EncoderLayer:
        def maybe_norm(self, norm, x, *, before=False, after=False):
            assert before ^ after
            return norm(x) if before == self.norm_first else x

        def forward(self, x, mask=None):
            skip = x
            x = self.maybe_norm(self.norm1, x, before=True)
            x = skip + self.dropout(self.attention(x, mask))
            x = self.maybe_norm(self.norm1, x, after=True)
            skip = x
            x = self.maybe_norm(self.norm2, x, before=True)
            x = skip + self.dropout(self.feed_forward(x))
            return self.maybe_norm(self.norm2, x, after=True)


class pair_of_norms:
    """Each sublayer has a norm before and one after it, of which one is the identity."""

    class EncoderLayer:
        def forward(self, x, mask=None):
            def identity(x):
                return x

            def norms(norm):
                return (norm, identity) if self.norm_first else (identity, norm)

            for norm, block in (
                (self.norm1, lambda h: self.attention(h, mask)),
                (self.norm2, self.feed_forward),
            ):
                before, after = norms(norm)
                x = after(block_added(x, block(before(x)), self.dropout))
            return x

    def block_added(x, y, dropout):
        return torch.add(dropout(y), x)


class functional_dropout:
    """Dropout is the function, told whether the layer trains."""

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
                x = self.norm1(x + drop(self.attention(x, mask), p=self.p, training=self.training))
                return self.norm2(x + drop(self.feed_forward(x), p=self.p, training=self.training))
            h = x + drop(self.attention(self.norm1(x), mask), p=self.p, training=self.training)
            return h + drop(self.feed_forward(self.norm2(h)), p=self.p, training=self.training)


class torch_norms:
    """The norms are torch's own, which the lesson leaves open."""

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.norm_first = norm_first
            self.attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            self.norm1 = nn.LayerNorm(d_model)
            self.norm2 = nn.LayerNorm(d_model)
            self.dropout = nn.Dropout(dropout)


class forward_chosen_once:
    """One of two methods is chosen when the layer is built."""

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
            self.drop = nn.Dropout(p=dropout)
            self.run = self.pre_norm if norm_first else self.post_norm

        def pre_norm(self, x, mask):
            a = x + self.drop(self.attention(self.norm1(x), mask))
            return a + self.drop(self.feed_forward(self.norm2(a)))

        def post_norm(self, x, mask):
            a = self.norm1(x + self.drop(self.attention(x, mask)))
            return self.norm2(a + self.drop(self.feed_forward(a)))

        def forward(self, x, mask=None):
            return self.run(x, mask)


class sublayers_in_a_list:
    """The parts are also held in a list of modules, under the same parameters, and the layer goes through it."""

    class EncoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.norm_first = norm_first
            self.attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
            self.dropout = nn.Dropout(dropout)
            self.norms = nn.ModuleList([self.norm1, self.norm2])
            self.sublayers = nn.ModuleList([self.attention, self.feed_forward])

        def forward(self, x, mask=None):
            for index, (norm, sublayer) in enumerate(zip(self.norms, self.sublayers)):
                extra = (mask,) if index == 0 else ()
                if self.norm_first:
                    x = x + self.dropout(sublayer(norm(x), *extra))
                else:
                    x = norm(x + self.dropout(sublayer(x, *extra)))
            return x


class own_attention_from_given_weights:
    """Attention runs on torch's fused operator with the weights of the given block."""

    class EncoderLayer:
        __init__ = """
              self.attention = MultiHeadAttention(d_model, num_heads)
            + self.num_heads = num_heads
        """

        def attend(self, x, mask):
            B, T, C = x.size()
            q, k, v = (
                w(x).view(B, T, self.num_heads, C // self.num_heads).transpose(1, 2)
                for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v)
            )
            y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return self.attention.w_o(y.transpose(1, 2).contiguous().view(B, T, C))

        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.attend(self.norm1(x), mask))
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x + self.dropout(self.attend(x.contiguous(), mask)))
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class in_place_on_own:
    """Sums are made in place, but only in tensors that the layer itself has made."""

    class EncoderLayer:
        def forward(self, x, mask=None):
            if self.norm_first:
                out = self.dropout(self.attention(self.norm1(x), mask))
                out += x
                out = out + self.dropout(self.feed_forward(self.norm2(out)))
            else:
                out = self.dropout(self.attention(x, mask)).add_(x)
                out = self.norm1(out)
                more = self.dropout(self.feed_forward(out))
                more += out
                out = self.norm2(more)
            return out


class cloned_stream:
    """The stream is copied first and then added to."""

    class EncoderLayer:
        def forward(self, x, mask=None):
            stream = x.clone()
            if self.norm_first:
                stream = stream + self.dropout(self.attention(self.norm1(stream), mask))
                stream = stream + self.dropout(self.feed_forward(self.norm2(stream)))
                return stream
            stream = self.norm1(stream + self.dropout(self.attention(stream, mask)))
            return self.norm2(stream + self.dropout(self.feed_forward(stream)))


class dropout_in_place:
    """Dropout overwrites the sublayer's output, which nothing else reads."""

    class EncoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout(dropout, inplace=True)
        """


class mask_widened:
    """A mask of [T, T] gets its axes for batch and heads by hand."""

    class EncoderLayer:
        def forward(self, x, mask=None):
            if mask is not None and mask.dim() == 2:
                mask = mask[None, None, :, :]
            att_in = self.norm1(x) if self.norm_first else x
            x = x + self.dropout(self.attention(att_in, mask))
            if not self.norm_first:
                x = self.norm1(x)
            ff_in = self.norm2(x) if self.norm_first else x
            x = x + self.dropout(self.feed_forward(ff_in))
            return x if self.norm_first else self.norm2(x)


class shapes_asserted:
    """Named sizes and assertions, typed."""

    class EncoderLayer:
        def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
            batch, length, width = x.shape
            match self.norm_first:
                case True:
                    attended = self.attention(self.norm1(x), mask=mask)
                    assert attended.shape == (batch, length, width)
                    hidden = x + self.dropout(attended)
                    thought = self.feed_forward(self.norm2(hidden))
                    output = hidden + self.dropout(thought)
                case False:
                    attended = self.attention(x, mask=mask)
                    hidden = self.norm1(x + self.dropout(attended))
                    thought = self.feed_forward(hidden)
                    output = self.norm2(hidden + self.dropout(thought))
            assert output.shape == x.shape
            return output


class self_as_context:
    """The attention's context is given, though it is x itself, as in layers that serve both kinds."""

    class EncoderLayer:
        def forward(self, x, mask=None):
            q = self.norm1(x) if self.norm_first else x
            x = x + self.dropout(self.attention(q, mask=mask, context=q))
            if self.norm_first:
                return x + self.dropout(self.feed_forward(self.norm2(x)))
            x = self.norm1(x)
            return self.norm2(x + self.dropout(self.feed_forward(x)))


class no_dropout_is_identity:
    """Without a share to drop, dropout is the identity; the lists of layers are appended to in a loop."""

    class EncoderLayer:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout(dropout) if dropout > 0.0 else nn.Identity()
        """

    class Encoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            super().__init__()
            self.layers = nn.ModuleList([])
            for _ in range(num_layers):
                self.layers.append(
                    EncoderLayer(
                        d_model=d_model,
                        num_heads=num_heads,
                        d_ff=d_ff,
                        dropout=dropout,
                        norm_first=norm_first,
                        activation=activation,
                    )
                )
            self.norm = LayerNorm(d_model) if norm_first else nn.Identity()


class layers_cloned:
    """The layers are deep copies of one, each with parameters of its own."""

    class Encoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            super().__init__()
            layer = EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
            self.layers = clones(layer, num_layers)
            self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def clones(module, N):
        import copy

        return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


class reduced:
    """The stack is a fold over its layers."""

    class Encoder:
        def forward(self, x, mask=None):
            from functools import reduce

            return self.norm(reduce(lambda h, layer: layer(h, mask), self.layers, x))


class all_hidden_states:
    """The hidden states of all layers are kept, and the last is returned unless all are asked for."""

    class Encoder:
        def forward(self, x, mask=None, output_hidden_states=False):
            all_hidden_states = [x]
            for i, layer_module in enumerate(self.layers):
                layer_output = layer_module(all_hidden_states[i], mask=mask)
                all_hidden_states.append(layer_output)
            last = self.norm(all_hidden_states[-1])
            return (last, all_hidden_states) if output_hidden_states else last


class made_by_partial:
    """A configuration is kept, and a partial function makes the layers."""

    class Encoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            super().__init__()
            import functools

            self.config = {"num_layers": num_layers, "d_model": d_model, "norm_first": norm_first}
            options = dict(dropout=dropout, norm_first=norm_first, activation=activation)
            block = functools.partial(EncoderLayer, d_model, num_heads, d_ff, **options)
            self.layers = nn.ModuleList(block() for _ in range(num_layers))
            self.norm = [nn.Identity, LayerNorm][int(norm_first)](*([d_model] if norm_first else []))

        def forward(self, x, mask=None):
            for i in range(len(self.layers)):
                x = self.layers[i](x, mask=mask)
            if self.config["norm_first"]:
                x = self.norm(x)
            return x


class xavier_weights:
    """Matrices start with Xavier's values, drawn once for the whole stack."""

    class Encoder:
        __init__ = """
              self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
            + for p in self.parameters():
            +     if p.dim() > 1:
            +         nn.init.xavier_uniform_(p)
        """


class small_weights_from_apply:
    """Weights start small by a function that is applied to every module, the last ones smaller by depth."""

    class Encoder:
        __init__ = """
              self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
            + self.apply(self._init_weights)
            + for name, p in self.named_parameters():
            +     if name.endswith(("w_o.weight", "linear2.weight")):
            +         nn.init.normal_(p, mean=0.0, std=0.02 / (2 * num_layers) ** 0.5)
        """

        def _init_weights(self, module):
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)


class buffer_of_scale:
    """A fixed scale of 1 is kept in a buffer, for later experiments."""

    class EncoderLayer:
        __init__ = """
              self.dropout = nn.Dropout(dropout)
            + self.register_buffer("residual_scale", torch.ones(1))
        """

        forward = """
            + scale = self.residual_scale.to(x.dtype)
              if self.norm_first:
            -     x = x + self.dropout(self.attention(self.norm1(x), mask))  # x itself goes by untouched
            -     x = x + self.dropout(self.feed_forward(self.norm2(x)))
            +     x = x + scale * self.dropout(self.attention(self.norm1(x), mask))
            +     x = x + scale * self.dropout(self.feed_forward(self.norm2(x)))
        """


class recomputed_in_training:
    """Where gradients are wanted, a layer's activations are computed anew in the backward pass."""

    class Encoder:
        def forward(self, x, mask=None):
            from torch.utils.checkpoint import checkpoint

            for layer in self.layers:
                if self.training and torch.is_grad_enabled():
                    x = checkpoint(layer, x, mask, use_reentrant=False)
                else:
                    x = layer(x, mask)
            return self.norm(x)


class two_kinds_of_layers:
    """The two orders are two functions outside of the class, given the layer."""

    class EncoderLayer:
        def forward(self, x, mask=None):
            step = pre_ln if self.norm_first else post_ln
            x = step(x, self.norm1, lambda z: self.dropout(self.attention(z, mask)))
            return step(x, self.norm2, lambda z: self.dropout(self.feed_forward(z)))

    def pre_ln(x, ln, f):
        return x + f(ln(x))

    def post_ln(x, ln, f):
        return ln(x + f(x))


class attention_with_one_projection:
    """Queries, keys and values come from one product with the three weights, joined at every call."""

    class EncoderLayer:
        __init__ = """
              self.attention = MultiHeadAttention(d_model, num_heads)
            + self.n_head = num_heads
        """

        def self_attention(self, x, mask):
            a = self.attention
            weight = torch.cat([a.w_q.weight, a.w_k.weight, a.w_v.weight])
            bias = torch.cat([a.w_q.bias, a.w_k.bias, a.w_v.bias])
            qkv = nn.functional.linear(x, weight, bias).chunk(3, dim=-1)
            q, k, v = (t.unflatten(-1, (self.n_head, -1)).transpose(-3, -2) for t in qkv)
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            weights = scores.softmax(-1)
            if mask is not None:
                weights = weights * mask
            return a.w_o(torch.einsum("bhqk,bhkd->bqhd", weights, v).flatten(2))

        def forward(self, x, mask=None):
            if self.norm_first:
                x = x + self.dropout(self.self_attention(self.norm1(x), mask))
                x = x + self.dropout(self.feed_forward(self.norm2(x)))
            else:
                x = self.norm1(x + self.dropout(self.self_attention(x, mask)))
                x = self.norm2(x + self.dropout(self.feed_forward(x)))
            return x
