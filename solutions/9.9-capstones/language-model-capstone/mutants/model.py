"""What the model gets wrong: where it looks, what tells positions apart, where its norms stand, what its sizes are."""


class no_causal_mask:
    """your attention looks ahead: each position may see itself and what comes before it

    Fails: test_causal
    """

    class Layer:
        attend = """
            - heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            + heads = F.scaled_dot_product_attention(q, k, v)
        """


class mask_upside_down:
    """your mask is the wrong way round: each position sees itself and what comes after it

    Fails: test_causal
    """

    class Layer:
        attend = """
            - heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            + ahead = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu()
            + heads = F.scaled_dot_product_attention(q, k, v, ahead)
        """


class softmax_in_the_model:
    """your model applies the softmax: logits are free numbers, and the loss makes probabilities of them

    Fails: test_scores
    """

    class LanguageModel:
        forward = """
            - return self.head(self.norm(x))
            + return self.head(self.norm(x)).softmax(dim=-1)
        """


class log_softmax_in_the_model:
    """your model applies the log-softmax: logits are free numbers

    Fails: test_scores
    """

    class LanguageModel:
        forward = """
            - return self.head(self.norm(x))
            + return self.head(self.norm(x)).log_softmax(dim=-1)
        """


class positions_always:
    """your model has positions though positions=False

    Fails: test_no_positions
    """

    class LanguageModel:
        __init__ = """
            - self.positions = nn.Embedding(max_len, d_model) if positions else None
            + self.positions = nn.Embedding(max_len, d_model)
        """


class positions_never:
    """your model adds no positions though it has them

    Fails: test_positions
    """

    class LanguageModel:
        forward = """
            - if self.positions is not None:
            -     x = x + self.positions.weight[: tokens.size(1)]
        """


class same_position_for_all:
    """your model adds the first position to every token

    Fails: test_positions
    """

    class LanguageModel:
        forward = """
            - x = x + self.positions.weight[: tokens.size(1)]
            + x = x + self.positions.weight[0]
        """


class always_norm_first:
    """your layers norm first whatever norm says

    Fails: test_norm_last
    """

    class Layer:
        __init__ = """
            - self.num_heads, self.norm_first = num_heads, norm == "first"
            + self.num_heads, self.norm_first = num_heads, True
        """


class always_norm_last:
    """your layers norm last whatever norm says

    Fails: test_norm_first
    """

    class Layer:
        __init__ = """
            - self.num_heads, self.norm_first = num_heads, norm == "first"
            + self.num_heads, self.norm_first = num_heads, False
        """


class norms_exchanged:
    """your two norms are exchanged: "first" is x + f(norm(x)), "last" is norm(x + f(x))

    Fails: test_norm_first
    """

    class Layer:
        __init__ = """
            - self.num_heads, self.norm_first = num_heads, norm == "first"
            + self.num_heads, self.norm_first = num_heads, norm == "last"
        """


class no_norm_before_the_head:
    """your model with norm="first" has no norm before the head

    Fails: test_final_norm
    """

    class LanguageModel:
        __init__ = """
            - self.norm = nn.LayerNorm(d_model) if norm == "first" else nn.Identity()
            + self.norm = nn.Identity()
        """


class no_residual:
    """your sublayers replace the stream with norm="first": what they make is added to it

    Fails: test_norm_first
    """

    class Layer:
        forward = """
            - x = x + self.attend(self.norm1(x))
            - return x + self.think(self.norm2(x))
            + x = self.attend(self.norm1(x))
            + return self.think(self.norm2(x))
        """


class layers_shared:
    """your layers are one and the same: each has to have parameters of its own

    Fails: test_sizes
    """

    class LanguageModel:
        __init__ = """
            - self.layers = nn.ModuleList(Layer(d_model, num_heads, d_ff, norm) for _ in range(num_layers))
            + self.layers = nn.ModuleList([Layer(d_model, num_heads, d_ff, norm)] * num_layers)
        """


class one_head:
    """your attention has one head whatever num_heads says

    Fails: test_sizes
    """

    class Layer:
        attend = """
            - part.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
            + part.unsqueeze(1) for part in self.qkv(x).chunk(3, dim=-1)
        """


class inner_width_fixed:
    """your feed-forward networks are four times as wide as d_model whatever d_ff says

    Fails: test_sizes
    """

    class Layer:
        __init__ = """
            - self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            + self.linear1, self.linear2 = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
        """


class heads_side_by_side_wrongly:
    """your heads are not put side by side again: the axis of time has to come before that of heads first

    Fails: test_causal
    """

    class Layer:
        attend = """
            - return self.out(heads.transpose(1, 2).flatten(2))
            + return self.out(heads.reshape(x.shape))
        """


class float32_logits:
    """your logits are float32 whatever the model is

    Fails: test_promises
    """

    class LanguageModel:
        forward = """
            - return self.head(self.norm(x))
            + return self.head(self.norm(x)).float()
        """


class embedding_cut_off:
    """your embedding gets no gradient: it is detached

    Fails: test_gradients
    """

    class LanguageModel:
        forward = """
            - x = self.tokens(tokens)
            + x = self.tokens(tokens).detach()
        """


class head_too_large:
    """your new model is sure of nonsense: its head starts with large weights

    Fails: test_start
    """

    class LanguageModel:
        __init__ = """
            - nn.init.normal_(self.head.weight, std=0.02)
            + nn.init.normal_(self.head.weight, std=1.0)
        """


class max_len_fixed:
    """your max_len is 64 whatever was asked for

    Fails: test_shapes
    """

    class LanguageModel:
        __init__ = """
            - self.max_len = max_len
            + self.max_len = 64
        """


class texts_see_each_other:
    """your model subtracts the batch's mean: the texts of a batch never see each other

    Fails: test_rows
    """

    class LanguageModel:
        forward = """
            - x = self.tokens(tokens)
            + x = self.tokens(tokens)
            + x = x - 0.5 * x.mean(dim=0)
        """


class torchs_own_layer:
    """your layers are torch's own: build them yourself

    Fails: test_from_scratch
    Costs: layers are what is built here, and none of them is the learner's own
    """

    class Layer:
        def __init__(self, d_model, num_heads, d_ff, norm):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(
                d_model, num_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=norm == "first"
            )

        del attend, think

        def forward(self, x):
            ahead = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
            return self.layer(x, src_mask=ahead)
