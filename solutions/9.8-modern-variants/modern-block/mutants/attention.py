"""How attention with shared heads and rotary positions goes wrong.

Query head h reads the head of keys and values h // (H / G); queries and keys are turned, neighbouring columns a pair.
"""


class heads_repeated_in_turn:
    """your shared heads lie as 0 1 0 1: neighbours share, so 0 0 1 1 is wanted (repeat_interleave)

    Fails: test_groups
    """

    class GroupedQueryAttention:
        forward = """
            - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
            - values = v.repeat_interleave(self.groups, dim=1)
            + keys = k.repeat(1, self.groups, 1, 1)
            + values = v.repeat(1, self.groups, 1, 1)
        """


class keys_in_turn:
    """your keys are shared as 0 1 0 1 and your values as 0 0 1 1: a head's keys and values belong together

    Fails: test_attention_values
    """

    class GroupedQueryAttention:
        forward = """
            - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
            + keys = k.repeat(1, self.groups, 1, 1)
        """


class first_head_for_all:
    """your query heads all read the first head of keys and values: each group has its own

    Fails: test_groups
    """

    class GroupedQueryAttention:
        forward = """
            - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
            - values = v.repeat_interleave(self.groups, dim=1)
            + keys = k[:, :1].expand(-1, q.size(1), -1, -1)
            + values = v[:, :1].expand(-1, q.size(1), -1, -1)
        """


class heads_not_put_back:
    """your heads are not put side by side again: the axis of heads has to come after that of time first

    Fails: test_rotary
    Costs: numbers of all positions are mixed, so that attention is right for a single position alone
    """

    class GroupedQueryAttention:
        forward = """
            - return self.w_o(mixed.transpose(1, 2).flatten(2)), (k, v)
            + return self.w_o(mixed.transpose(2, 3).reshape(x.shape)), (k, v)
        """


class output_not_projected:
    """your heads are returned as they are: w_o is to mix them

    Fails: test_groups
    """

    class GroupedQueryAttention:
        forward = """
            - return self.w_o(mixed.transpose(1, 2).flatten(2)), (k, v)
            + return mixed.transpose(1, 2).flatten(2), (k, v)
        """


class halves_turned:
    """your rotation pairs column i with i + d/2: neighbours, 2i and 2i + 1, are a pair

    Fails: test_rotary
    """

    rotate = """
        - a, b = x[..., 0::2], x[..., 1::2]
        - return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
        + a, b = x.chunk(2, dim=-1)
        + return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    """


class turned_back:
    """your rotation goes the other way: the sign of the sine is wrong

    Fails: test_rotary
    """

    rotate = """
        - return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
        + return torch.stack((a * cos + b * sin, b * cos - a * sin), dim=-1).flatten(-2)
    """


class not_turned:
    """your queries and keys are not turned: nothing tells where they are

    Fails: test_rotary
    """

    class GroupedQueryAttention:
        forward = """
            - q = rotate(self._heads(self.w_q(x)), positions)
            - k = rotate(self._heads(self.w_k(x)), positions)
            + q = self._heads(self.w_q(x))
            + k = self._heads(self.w_k(x))
        """


class queries_alone_turned:
    """your keys are not turned, only queries: scores depend on the query's place, not on the distance

    Fails: test_rotary
    """

    class GroupedQueryAttention:
        forward = """
            - k = rotate(self._heads(self.w_k(x)), positions)
            + k = self._heads(self.w_k(x))
        """


class values_turned:
    """your values are turned as well: only queries and keys are

    Fails: test_rotary
    """

    class GroupedQueryAttention:
        forward = """
            - v = self._heads(self.w_v(x))
            + v = rotate(self._heads(self.w_v(x)), positions)
        """


class turned_before_the_split:
    """your queries and keys are turned before they are split: the frequencies are those of a head's width

    Fails: test_rotary
    """

    class GroupedQueryAttention:
        forward = """
            - q = rotate(self._heads(self.w_q(x)), positions)
            - k = rotate(self._heads(self.w_k(x)), positions)
            + q = self._heads(rotate(self.w_q(x), positions))
            + k = self._heads(rotate(self.w_k(x), positions))
        """


class other_base:
    """your rotation's base is 5e5, not 10000

    Fails: test_rotary
    """

    def rotate(x, positions, base=10000.0):
        d = x.size(-1)
        angle_dtype = torch.promote_types(x.dtype, torch.float32)
        pair = torch.arange(0, d, 2, dtype=angle_dtype, device=x.device)
        angle = positions.to(angle_dtype)[:, None] * 500000.0 ** (-pair / d)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class angles_end:
    """your angles end with position 100: whatever comes after it is turned as far

    Fails: test_text
    """

    class GroupedQueryAttention:
        forward = """
            - positions = torch.arange(start, start + x.size(1), device=x.device)
            + positions = torch.arange(start, start + x.size(1), device=x.device).clamp(max=100)
        """


class scaled_by_the_model:
    """your scores are divided by the root of d_model: a head's width is what counts

    Fails: test_rotary
    """

    class GroupedQueryAttention:
        forward = """
            - mixed = F.scaled_dot_product_attention(q, keys, values, mask)
            + mixed = F.scaled_dot_product_attention(q, keys, values, mask, scale=x.size(-1) ** -0.5)
        """


class no_mask:
    """your attention has no causal mask: every position sees what comes after it

    Fails: test_causal
    """

    class GroupedQueryAttention:
        forward = """
            - mixed = F.scaled_dot_product_attention(q, keys, values, mask)
            + mixed = F.scaled_dot_product_attention(q, keys, values)
        """


class one_too_far:
    """your mask lets every position see the next one

    Fails: test_causal
    """

    class GroupedQueryAttention:
        forward = """
            - mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start)
            + mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start + 1)
        """


class detached_keys:
    """your keys and values are cut from the graph where attention uses them: w_k and w_v never learn

    Fails: test_gradients
    """

    class GroupedQueryAttention:
        forward = """
            - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
            - values = v.repeat_interleave(self.groups, dim=1)
            + k, v = k.detach(), v.detach()
            + keys = k.repeat_interleave(self.groups, dim=1)
            + values = v.repeat_interleave(self.groups, dim=1)
        """


class biases:
    """your projections have biases

    Fails: test_projections
    """

    class GroupedQueryAttention:
        __init__ = """
            - self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
            - self.w_k = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
            - self.w_v = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
            - self.w_o = nn.Linear(num_heads * self.d_head, d_model, bias=False)
            + self.w_q = nn.Linear(d_model, num_heads * self.d_head)
            + self.w_k = nn.Linear(d_model, num_kv_heads * self.d_head)
            + self.w_v = nn.Linear(d_model, num_kv_heads * self.d_head)
            + self.w_o = nn.Linear(num_heads * self.d_head, d_model)
        """


class any_number_of_heads:
    """your attention takes any numbers of heads: those that do not divide raise ValueError

    Fails: test_errors
    """

    class GroupedQueryAttention:
        def __init__(self, d_model, num_heads, num_kv_heads):
            super(GroupedQueryAttention, self).__init__()
            self.d_head = d_model // num_heads
            self.groups = num_heads // num_kv_heads
            self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
            self.w_k = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
            self.w_v = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
            self.w_o = nn.Linear(num_heads * self.d_head, d_model, bias=False)
