"""Decoder layers as other people write them."""


class three_dropouts:
    """A method for each sublayer with a dropout of its own, as torch's own layer is cut."""

    class DecoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.self_attention = MultiHeadAttention(d_model, num_heads)
            self.cross_attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation=activation, dropout=dropout)
            self.norm_first = norm_first
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
            self.norm3 = LayerNorm(d_model)
            self.dropout1 = nn.Dropout(dropout)
            self.dropout2 = nn.Dropout(dropout)
            self.dropout3 = nn.Dropout(dropout)

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            if self.norm_first:
                x = x + self._sa_block(self.norm1(x), self_mask)
                x = x + self._mha_block(self.norm2(x), memory, memory_mask)
                x = x + self._ff_block(self.norm3(x))
            else:
                x = self.norm1(x + self._sa_block(x, self_mask))
                x = self.norm2(x + self._mha_block(x, memory, memory_mask))
                x = self.norm3(x + self._ff_block(x))
            return x

        def _sa_block(self, x, mask):
            return self.dropout1(self.self_attention(x, mask))

        def _mha_block(self, x, memory, mask):
            return self.dropout2(self.cross_attention(x, mask=mask, context=memory))

        def _ff_block(self, x):
            return self.dropout3(self.feed_forward(x))


class annotated_connections:
    """A sublayer connection is a function of x, a norm and a lambda, as an annotated transformer has it."""

    class DecoderLayer:
        def connect(self, x, norm, sublayer):
            if self.norm_first:
                return x + self.dropout(sublayer(norm(x)))
            return norm(x + self.dropout(sublayer(x)))

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            m = memory
            x = self.connect(x, self.norm1, lambda x: self.self_attention(x, self_mask))
            x = self.connect(x, self.norm2, lambda x: self.cross_attention(x, memory_mask, m))
            return self.connect(x, self.norm3, self.feed_forward)


class saved_residual:
    """The residual is set aside before each sublayer."""

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            hidden_states = x
            residual = hidden_states
            if self.norm_first:
                hidden_states = self.norm1(hidden_states)
            hidden_states = self.self_attention(hidden_states, self_mask)
            hidden_states = residual + self.dropout(hidden_states)
            if not self.norm_first:
                hidden_states = self.norm1(hidden_states)

            residual = hidden_states
            if self.norm_first:
                hidden_states = self.norm2(hidden_states)
            hidden_states = self.cross_attention(hidden_states, memory_mask, context=memory)
            hidden_states = residual + self.dropout(hidden_states)
            if not self.norm_first:
                hidden_states = self.norm2(hidden_states)

            residual = hidden_states
            if self.norm_first:
                hidden_states = self.norm3(hidden_states)
            hidden_states = residual + self.dropout(self.feed_forward(hidden_states))
            return hidden_states if self.norm_first else self.norm3(hidden_states)


class loop_over_sublayers:
    """A list of norms and functions, gone through once."""

    class DecoderLayer:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            steps = [
                (self.norm1, lambda h: self.self_attention(h, self_mask)),
                (self.norm2, lambda h: self.cross_attention(h, memory_mask, memory)),
                (self.norm3, lambda h: self.feed_forward(h)),
            ]
            for norm, step in steps:
                if self.norm_first:
                    x = torch.add(x, self.dropout(step(norm(x))))
                else:
                    x = norm(torch.add(x, self.dropout(step(x))))
            return x


class functional_dropout:
    """Dropout is the function, told whether the layer trains."""

    class DecoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.p, self.pre = dropout, norm_first
            for name in ("self_attention", "cross_attention"):
                self.add_module(name, MultiHeadAttention(d_model, num_heads))
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            for name in ("norm1", "norm2", "norm3"):
                setattr(self, name, LayerNorm(d_model))

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            def drop(y):
                return nn.functional.dropout(y, self.p, self.training)

            if self.pre:
                a = x + drop(self.self_attention(self.norm1(x), self_mask))
                b = a + drop(self.cross_attention(self.norm2(a), memory_mask, memory))
                return b + drop(self.feed_forward(self.norm3(b)))
            a = self.norm1(x + drop(self.self_attention(x, self_mask)))
            b = self.norm2(a + drop(self.cross_attention(a, memory_mask, memory)))
            return self.norm3(b + drop(self.feed_forward(b)))


class torch_norms:
    """The norms are torch's own, which the lesson leaves open."""

    class DecoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.norm_first = norm_first
            self.self_attention = MultiHeadAttention(d_model, num_heads)
            self.cross_attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
            self.dropout = nn.Dropout(dropout)


class method_chosen_once:
    """One of two methods is chosen when the layer is built."""

    class DecoderLayer:
        def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"):
            super().__init__()
            self.self_attention = MultiHeadAttention(d_model, num_heads)
            self.cross_attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff, activation, dropout)
            self.norm1, self.norm2, self.norm3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
            self.drop = nn.Dropout(dropout)
            self.run = self.pre_norm if norm_first else self.post_norm

        def pre_norm(self, x, memory, own, other):
            x = x + self.drop(self.self_attention(self.norm1(x), own))
            x = x + self.drop(self.cross_attention(self.norm2(x), other, memory))
            return x + self.drop(self.feed_forward(self.norm3(x)))

        def post_norm(self, x, memory, own, other):
            x = self.norm1(x + self.drop(self.self_attention(x, own)))
            x = self.norm2(x + self.drop(self.cross_attention(x, other, memory)))
            return self.norm3(x + self.drop(self.feed_forward(x)))

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            return self.run(x, memory, self_mask, memory_mask)


class layers_by_append:
    """Layers are appended one by one; options go by name."""

    class Decoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            super().__init__()
            self.layers = nn.ModuleList()
            for _ in range(num_layers):
                self.layers.append(
                    DecoderLayer(
                        d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout,
                        norm_first=norm_first, activation=activation,
                    )
                )  # fmt: skip
            if norm_first:
                self.norm = LayerNorm(d_model)
            else:
                self.norm = nn.Identity()

        def forward(self, x, memory, self_mask=None, memory_mask=None):
            output = x
            for mod in self.layers:
                output = mod(output, memory, self_mask=self_mask, memory_mask=memory_mask)
            return self.norm(output)


class copies_of_one:
    """Deep copies of a first layer: they begin alike, and each learns for itself."""

    class Decoder:
        def __init__(
            self, num_layers, d_model, num_heads, d_ff, dropout=0.0, norm_first=True, activation="relu"
        ):
            import copy

            super().__init__()
            layer = DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
            self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
            self.norm = LayerNorm(d_model) if norm_first else nn.Identity()


class reduced:
    """A fold over the layers."""

    class Decoder:
        def forward(self, x, memory, self_mask=None, memory_mask=None):
            from functools import reduce

            return self.norm(
                reduce(lambda h, layer: layer(h, memory, self_mask, memory_mask), self.layers, x)
            )
