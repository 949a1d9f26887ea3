"""Modern blocks as other people get them wrong."""


class rotate_half:
    """The turn of GPT-NeoX: the first half of the columns with the second.

    Named: halves_turned
    """

    def rotate(x, positions, base=10000.0):
        d = x.size(-1)
        pair = torch.arange(0, d, 2, dtype=torch.float32, device=x.device)
        angle = positions.float()[:, None] * base ** (-pair / d)
        cos, sin = (torch.cat((part, part), -1).to(x.dtype) for part in (angle.cos(), angle.sin()))
        half = torch.cat((-x[..., d // 2 :], x[..., : d // 2]), -1)
        return x * cos + half * sin


class tiled_heads:
    """Shared heads are tiled as `repeat` does it: head h reads h modulo their number.

    Named: heads_repeated_in_turn
    """

    class GroupedQueryAttention:
        forward = """
            - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
            - values = v.repeat_interleave(self.groups, dim=1)
            + keys = torch.cat([k] * self.groups, dim=1)
            + values = torch.cat([v] * self.groups, dim=1)
        """


class sublayer_overwrites:
    """The residual is forgotten around the feed-forward network.

    Named: no_residual
    """

    class Layer:
        forward = """
            - return x + self.feed_forward(self.norm2(x)), past
            + return self.feed_forward(self.norm2(x)), past
        """


class t5_without_root:
    """The norm divides by the mean square itself.

    Named: root_missing
    """

    class RMSNorm:
        def forward(self, x):
            wide = x.to(torch.promote_types(x.dtype, torch.float32))
            variance = wide.pow(2).mean(-1, keepdim=True)
            return self.weight * (wide / (variance + self.eps)).to(x.dtype)


class relu_gate:
    """The gate is a relu, as in ReGLU.

    Named: sigmoid_gate, gelu_gate, no_gate
    """

    class FeedForward:
        def forward(self, x):
            return self.linear2(F.relu(self.gate(x)) * self.linear1(x))


class square_mask_always:
    """Causality by a flag, also behind a cache, where the mask begins at the upper left.

    Named: mask_not_moved
    """

    class GroupedQueryAttention:
        forward = """
            - mixed = F.scaled_dot_product_attention(q, keys, values, mask)
            + mixed = F.scaled_dot_product_attention(q, keys, values, is_causal=True)
        """


class tied_by_habit:
    """The head's weight is the embedding's.

    Named: head_shared_with_tokens
    """

    class ModernLM:
        __init__ = """
              self.head = nn.Linear(d_model, vocab_size, bias=False)
            + self.head.weight = self.tokens.weight
        """
