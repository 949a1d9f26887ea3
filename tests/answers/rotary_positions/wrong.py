"""Rotations, buckets and slopes as other people get them wrong."""


class rotate_half:
    """The layout of other libraries: column i and i + D/2 are a pair.

    Named: halves_paired
    """

    def rotate(x, positions=None, *, base=10000.0):
        D = x.shape[-1]
        if D % 2:
            raise ValueError("odd")
        if positions is None:
            positions = torch.arange(x.shape[-2], device=x.device)
        inv_freq = 1.0 / base ** (torch.arange(0, D, 2, device=x.device).float() / D)
        freqs = positions[:, None].float() * inv_freq
        emb = torch.cat((freqs, freqs), dim=-1)
        x1, x2 = x[..., : D // 2], x[..., D // 2 :]
        half = torch.cat((-x2, x1), dim=-1)
        return (x * emb.cos().to(x.dtype)) + (half * emb.sin().to(x.dtype))


class half_by_accident:
    """Angles are repeated as halves, pairs are neighbours: two layouts in one.

    Named: two_layouts
    """

    def rotate(x, positions=None, *, base=10000.0):
        D = x.shape[-1]
        if D % 2:
            raise ValueError("odd")
        if positions is None:
            positions = torch.arange(x.shape[-2], device=x.device)
        angle = positions[:, None] * base ** (-torch.arange(0, D, 2, device=x.device) / D)
        angle = torch.cat((angle, angle), dim=-1)
        swapped = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)
        return x * angle.cos().to(x.dtype) + swapped * angle.sin().to(x.dtype)


class concatenated:
    """The turned columns are joined as two halves.

    Named: not_interleaved
    """

    def rotate(x, positions=None, *, base=10000.0):
        if x.size(-1) % 2:
            raise ValueError("odd")
        t = torch.arange(x.size(-2), device=x.device) if positions is None else positions
        angle = torch.outer(
            t.float(), base ** (-torch.arange(0, x.size(-1), 2, device=x.device) / x.size(-1))
        )
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.cat((even * c - odd * s, even * s + odd * c), -1)


class conjugated:
    """The complex turn goes the other way.

    Named: turned_backwards
    """

    def rotate(x, positions=None, *, base=10000.0):
        D = x.shape[-1]
        if D % 2:
            raise ValueError("odd")
        t = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
        angle = torch.outer(t.float(), 1.0 / base ** (torch.arange(0, D, 2, device=x.device).float() / D))
        turns = torch.polar(torch.ones_like(angle), -angle)
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
        return torch.view_as_real(pairs * turns).flatten(-2).type_as(x)


class sine_for_both:
    """The cosine is forgotten: both columns are multiplied by the sine.

    Named: sine_twice
    """

    def rotate(x, positions=None, *, base=10000.0):
        if x.size(-1) % 2:
            raise ValueError("odd")
        t = torch.arange(x.size(-2), device=x.device) if positions is None else positions
        sine = (t[:, None] * base ** (-torch.arange(0, x.size(-1), 2, device=x.device) / x.size(-1))).sin()
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * sine - b * sine, a * sine + b * sine), -1).flatten(-2).to(x.dtype)


class one_speed:
    """All pairs turn at the speed of the first.

    Named: all_pairs_alike
    """

    def rotate(x, positions=None, *, base=10000.0):
        if x.size(-1) % 2:
            raise ValueError("odd")
        t = torch.arange(x.size(-2), device=x.device) if positions is None else positions
        c, s = t.float().cos()[:, None].to(x.dtype), t.float().sin()[:, None].to(x.dtype)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


class speeds_the_other_way:
    """The exponent has lost its minus: pairs turn faster and faster.

    Named: exponent_without_minus
    """

    def rotate(x, positions=None, *, base=10000.0):
        if x.size(-1) % 2:
            raise ValueError("odd")
        t = torch.arange(x.size(-2), device=x.device) if positions is None else positions
        angle = t[:, None] * base ** (torch.arange(0, x.size(-1), 2, device=x.device) / x.size(-1))
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


class pair_number_over_width:
    """The exponent is the pair's number over D: only half way down.

    Named: exponent_without_two
    """

    def rotate(x, positions=None, *, base=10000.0):
        D = x.size(-1)
        if D % 2:
            raise ValueError("odd")
        t = torch.arange(x.size(-2), device=x.device) if positions is None else positions
        angle = torch.stack([t.float() / base ** (i / D) for i in range(D // 2)], -1)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


class head_axis_as_time:
    """Positions run over the heads.

    Named: length_from_axis_one
    """

    def rotate(x, positions=None, *, base=10000.0):
        D = x.size(-1)
        if D % 2:
            raise ValueError("odd")
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        angle = torch.outer(positions.float(), base ** (-torch.arange(0, D, 2, device=x.device) / D))
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


class asserted:
    """An odd width is an AssertionError.

    Named: odd_width_asserted
    """

    rotate = """
        - if D % 2:
        -     raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
        + assert D % 2 == 0, "D must be even"
    """


class without_grad:
    """The whole rotation happens under no_grad, as a table would be made.

    Named: x_cut_off
    """

    rotate = """
        - first, second = x[..., 0::2], x[..., 1::2]
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        + with torch.no_grad():
        +     first, second = x[..., 0::2], x[..., 1::2]
        +     turned = (first * cosine - second * sine, first * sine + second * cosine)
    """


class query_minus_key:
    """Past and future have exchanged their sides.

    Named: distance_turned_round
    """

    def relative_buckets(
        query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0
    ):
        relative = (torch.arange(query_len) + offset)[:, None] - torch.arange(key_len)[None]
        found = torch.zeros_like(relative)
        if bidirectional:
            num_buckets //= 2
            found = found + (relative > 0).long() * num_buckets
            relative = relative.abs()
        else:
            relative = -torch.min(relative, torch.zeros_like(relative))
        half = num_buckets // 2
        large = (
            half
            + (
                (relative.clamp(min=1).float() / half).log()
                / math.log(max_distance / half)
                * (num_buckets - half)
            ).long()
        )
        return found + torch.where(relative < half, relative, large.clamp(max=num_buckets - 1))


class keys_in_rows:
    """The table is turned on its side: a row for each key.

    Named: rows_for_keys
    """

    def relative_buckets(
        query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0
    ):
        relative = torch.arange(key_len)[:, None] - (torch.arange(query_len) + offset)[None]
        found = torch.zeros_like(relative)
        if bidirectional:
            num_buckets //= 2
            found = found + (relative > 0).long() * num_buckets
            relative = relative.abs()
        else:
            relative = (-relative).clamp(min=0)
        half = num_buckets // 2
        large = (
            half
            + (
                (relative.clamp(min=1).float() / half).log()
                / math.log(max_distance / half)
                * (num_buckets - half)
            ).long()
        )
        return found + torch.where(relative < half, relative, large.clamp(max=num_buckets - 1))


class rounded_up:
    """Far buckets begin one early: the logarithm is rounded up.

    Named: share_rounded_up
    """

    relative_buckets = """
        - coarse = exact + (share * (num_buckets - exact)).long()
        + coarse = exact + (share * (num_buckets - exact)).ceil().long()
    """


class cut_at_max_distance:
    """Distances are cut at max_distance first, and the last bucket is never taken care of.

    Named: last_bucket_open
    """

    relative_buckets = """
        - share = (distance.clamp(min=1) / exact).log() / math.log(max_distance / exact)  # 0 at exact, 1 at the end
        + share = (distance.clamp(min=1, max=max_distance) / exact).log() / math.log(max_distance / exact)

        - return first + torch.where(distance < exact, distance, coarse.clamp(max=num_buckets - 1))
        + return first + torch.where(distance < exact, distance, coarse)
    """


class at_zero_too:
    """A key at the query itself counts among those after it.

    Named: itself_after_itself
    """

    relative_buckets = """
        - first = (distance > 0) * num_buckets  # the second half is for keys after the query
        + first = (distance >= 0) * num_buckets
    """


class minus_offset:
    """The first query stands at minus offset, which is all the keys moved by it.

    Named: offset_moves_keys
    """

    _distances = """
        - queries = torch.arange(query_len, device=device) + offset
        + queries = torch.arange(query_len, device=device) - offset
    """


class viewed_not_permuted:
    """Axes are renamed by a view: numbers of other places stand there.

    Named: axes_by_view
    """

    class RelativePositionBias:
        forward = """
            - return bias.permute(2, 0, 1)[None]
            + return bias.reshape(1, -1, query_len, key_len)
        """


class default_buckets_only:
    """The module looks up T5's usual 128, whatever it was built with.

    Named: max_distance_not_handed_on
    """

    class RelativePositionBias:
        forward = """
            - max_distance=self.max_distance,
        """


class a_bare_parameter:
    """The table is a parameter, not an embedding.

    Named: table_without_embedding
    """

    class RelativePositionBias:
        def __init__(self, num_heads, num_buckets=32, max_distance=128, bidirectional=True):
            super().__init__()
            self.table = nn.Parameter(torch.randn(num_buckets, num_heads))
            self.options = {
                "num_buckets": num_buckets, "max_distance": max_distance, "bidirectional": bidirectional
            }  # fmt: skip

        def forward(self, query_len, key_len, offset=0):
            return self.table[relative_buckets(query_len, key_len, offset=offset, **self.options)].permute(
                2, 0, 1
            )[None]


class data_of_the_table:
    """Values are read from the weight's data: nothing learns.

    Named: bias_cut_off
    """

    class RelativePositionBias:
        forward = """
            - bias = self.embedding(buckets.to(self.embedding.weight.device))  # [Tq, Tk, H]
            + bias = self.embedding.weight.data[buckets.to(self.embedding.weight.device)]
        """


class slopes_of_eight:
    """The exponent is -h: what eight heads have, for any number.

    Named: slopes_halved
    """

    def alibi_slopes(num_heads):
        if num_heads & (num_heads - 1):
            raise ValueError("not a power of two")
        return torch.tensor([1 / 2 ** (h + 1) for h in range(num_heads)])


class in_between_allowed:
    """Slopes for other numbers of heads are put together from two series, as libraries do.

    Named: slopes_in_between
    """

    def alibi_slopes(num_heads):
        def series(n):
            return [2 ** (-8 * (i + 1) / n) for i in range(n)]

        if math.log2(num_heads).is_integer():
            return torch.tensor(series(num_heads))
        closest = 2 ** math.floor(math.log2(num_heads))
        return torch.tensor(series(closest) + series(2 * closest)[0::2][: num_heads - closest])


class reward_of_the_past:
    """Key minus query, times slope: right in the past, a reward for the future.

    Named: signed_distance
    """

    def alibi_bias(num_heads, query_len, key_len, offset=0):
        relative = torch.arange(key_len)[None, :] - torch.arange(offset, offset + query_len)[:, None]
        return alibi_slopes(num_heads)[:, None, None] * relative[None]


class row_of_the_last_query:
    """One row for all queries, as if each were the last: enough where softmax is causal, and not what is asked.

    Named: one_row_for_all_queries
    """

    def alibi_bias(num_heads, query_len, key_len, offset=0):
        row = torch.arange(key_len) - (key_len - 1)
        return (alibi_slopes(num_heads)[:, None, None] * row).expand(num_heads, query_len, key_len)
