"""What the model gets wrong: where it looks, what tells positions apart, where its norms stand, what its sizes are."""


class no_causal_mask:
    """your decoder looks ahead: each position may see itself and what was written before it

    Fails: test_causal
    """

    class TranslationModel:
        forward = """
            - past = torch.ones(time, time, dtype=torch.bool, device=target.device).tril()
            + past = torch.ones(time, time, dtype=torch.bool, device=target.device)
        """


class encoder_causal:
    """your encoder looks back alone: each of its positions may see the whole source

    Fails: test_no_positions
    """

    class TranslationModel:
        forward = """
            - memory = layer(memory, real)
            + back = torch.ones(source.size(1), source.size(1), dtype=torch.bool, device=source.device).tril()
            + memory = layer(memory, real & back)
        """


class source_not_seen:
    """your decoder sees the first place of the memory alone, not the whole source

    Fails: test_source
    """

    class TranslationModel:
        forward = """
            - memory = self.memory_norm(memory)
            + memory, real = self.memory_norm(self._placed(self.source(source), 0))[:, :1], real[..., :1]
        """


class source_padding_seen_by_the_encoder:
    """your encoder looks at padding

    Fails: test_padding
    """

    class TranslationModel:
        forward = """
            - memory = layer(memory, real)
            + memory = layer(memory, torch.ones_like(real))
        """


class source_padding_seen_by_the_decoder:
    """your decoder looks at the memory of padding

    Fails: test_padding
    """

    class TranslationModel:
        forward = """
            - x = layer(x, past, memory, real)
            + x = layer(x, past, memory, torch.ones_like(real))
        """


class padding_is_always_0:
    """your model takes token 0 for padding whatever pad_id says

    Fails: test_pad_id
    """

    class TranslationModel:
        forward = """
            - real = (source != self.pad_id)[:, None, None, :]
            + real = (source != 0)[:, None, None, :]
        """


class texts_see_each_other:
    """your model subtracts the batch's mean: the pairs of a batch never see each other

    Fails: test_rows
    """

    class TranslationModel:
        forward = """
            - memory = self._placed(self.source(source), 0)
            + memory = self._placed(self.source(source), 0)
            + memory = memory - 0.5 * memory.mean(dim=0)
        """


class source_without_positions:
    """your source has no positions: the encoder sees a bag of words

    Fails: test_positions
    """

    class TranslationModel:
        forward = """
            - memory = self._placed(self.source(source), 0)
            + memory = self.source(source)
        """


class target_positions_alike:
    """your target's positions tell nothing apart: the decoder sees a bag of words

    Fails: test_positions
    """

    class TranslationModel:
        forward = """
            - x = self._placed(self.target(target), 1)
            + x = self.target(target) if self.places is None else self.target(target) + self.places[1].weight[0]
        """


class positions_always:
    """your model has positions though positions=False

    Fails: test_no_positions
    """

    class TranslationModel:
        __init__ = """
            - self.places = nn.ModuleList(nn.Embedding(max_len, d_model) for _ in range(2)) if positions else None
            + self.places = nn.ModuleList(nn.Embedding(max_len, d_model) for _ in range(2))
        """


class always_norm_first:
    """your layers norm first whatever norm says

    Fails: test_norm_last
    """

    class Layer:
        __init__ = """
            - self.norm_first = norm == "first"
            + self.norm_first = True
        """


class always_norm_last:
    """your layers norm last whatever norm says

    Fails: test_norm_first
    """

    class Layer:
        __init__ = """
            - self.norm_first = norm == "first"
            + self.norm_first = False
        """


class no_norm_before_the_head:
    """your model with norm="first" has no norm before the head

    Fails: test_final_norm
    """

    class TranslationModel:
        forward = """
            - return self.head(self.norm(x))
            + return self.head(x)
        """


class no_norm_after_the_encoder:
    """your encoder with norm="first" ends without a norm: the decoder should read norm(memory)

    Fails: test_encoder_norm
    """

    class TranslationModel:
        forward = """
            - memory = self.memory_norm(memory)
        """


class layers_shared:
    """your decoder's layers are one and the same: each has to have parameters of its own

    Fails: test_sizes
    """

    class TranslationModel:
        __init__ = """
            - self.decoder = nn.ModuleList(Layer(d_model, num_heads, d_ff, norm, True) for _ in range(num_layers))
            + self.decoder = nn.ModuleList([Layer(d_model, num_heads, d_ff, norm, True)] * num_layers)
        """


class softmax_in_the_model:
    """your model applies the softmax: logits are free numbers, and the loss makes probabilities of them

    Fails: test_scores
    """

    class TranslationModel:
        forward = """
            - return self.head(self.norm(x))
            + return self.head(self.norm(x)).softmax(dim=-1)
        """


class float32_logits:
    """your logits are float32 whatever the model is

    Fails: test_promises
    """

    class TranslationModel:
        forward = """
            - return self.head(self.norm(x))
            + return self.head(self.norm(x)).float()
        """


class memory_cut_off:
    """your encoder gets no gradient: the memory is detached

    Fails: test_gradients
    """

    class TranslationModel:
        forward = """
            - memory = self.memory_norm(memory)
            + memory = self.memory_norm(memory).detach()
        """


class head_too_large:
    """your new model is sure of nonsense: its head starts with large weights

    Fails: test_start
    """

    class TranslationModel:
        __init__ = """
            - nn.init.normal_(self.head.weight, std=0.02)
            + nn.init.normal_(self.head.weight, std=1.0)
        """


class pad_id_not_kept:
    """your model keeps no pad_id but 0

    Fails: test_shapes
    """

    class TranslationModel:
        __init__ = """
            - self.max_len, self.pad_id = max_len, pad_id
            + self.max_len, self.pad_id = max_len, 0
        """


class torchs_own_attention:
    """your attention is torch's own module: build it yourself

    Fails: test_from_scratch
    Costs: layers are what is built here, and their attention is not the learner's own
    """

    class Attention:
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

        def forward(self, x, memory, mask):
            mask = mask.expand(len(x), 1, x.size(1), memory.size(1)).squeeze(1)
            mask = mask.repeat_interleave(self.attention.num_heads, dim=0)
            return self.attention(x, memory, memory, attn_mask=~mask, need_weights=False)[0]
