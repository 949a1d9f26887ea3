"""Rotations, buckets and slopes as public code has them and other people write them."""


class llama_complex:
    """Pairs as complex numbers, with a table of turns for all positions up to the largest."""

    def rotate(x, positions=None, *, base=10000.0):
        D = x.shape[-1]
        if D % 2 != 0:
            raise ValueError("the last dimension must be even")
        if positions is None:
            positions = torch.arange(x.shape[-2], device=x.device)
        end = int(positions.max()) + 1
        freqs = 1.0 / (base ** (torch.arange(0, D, 2)[: (D // 2)].float() / D))
        freqs_cis = torch.polar(torch.ones(end, D // 2), torch.outer(torch.arange(end).float(), freqs))
        freqs_cis = freqs_cis[positions.cpu()].to(x.device)
        x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
        return torch.view_as_real(x_ * freqs_cis).flatten(-2).type_as(x)


class lucidrains_interleaved:
    """cos and sin of angles repeated in twos, and x with its pairs swapped and one sign turned."""

    def rotate(x, positions=None, *, base=10000.0):
        dim = x.shape[-1]
        if dim % 2:
            raise ValueError(f"{dim} is odd")
        t = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, device=x.device).float() / dim))
        freqs = torch.einsum("i,j->ij", t.type_as(inv_freq), inv_freq)
        freqs = torch.repeat_interleave(freqs, 2, dim=-1)
        x1, x2 = x.unflatten(-1, (-1, 2)).unbind(-1)
        half = torch.stack((-x2, x1), dim=-1).reshape(x.shape)
        return (x * freqs.cos() + half * freqs.sin()).to(x.dtype)


class turning_matrices:
    """A matrix of two by two for each position and pair."""

    def rotate(x, positions=None, *, base=10000.0):
        if x.size(-1) % 2 == 1:
            raise ValueError("odd")
        T, D = x.shape[-2:]
        p = torch.arange(T, device=x.device) if positions is None else positions
        a = p.float().unsqueeze(1) / base ** (torch.arange(0, D, 2, device=x.device) / D)
        c, s = a.cos(), a.sin()
        matrix = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2).to(x.dtype)
        return torch.einsum("tpij,...tpj->...tpi", matrix, x.unflatten(-1, (D // 2, 2))).flatten(-2)


class pair_by_pair:
    """A loop over the pairs, into an empty tensor."""

    def rotate(x, positions=None, *, base=10000.0):
        D = x.shape[-1]
        if D % 2 != 0:
            raise ValueError
        if positions is None:
            positions = torch.arange(x.shape[-2])
        out = torch.empty_like(x)
        for i in range(D // 2):
            theta = positions.to(x.device).to(torch.float32) * base ** (-2 * i / D)
            c, s = torch.cos(theta).to(x.dtype), torch.sin(theta).to(x.dtype)
            a, b = x[..., 2 * i], x[..., 2 * i + 1]
            out[..., 2 * i] = a * c - b * s
            out[..., 2 * i + 1] = a * s + b * c
        return out


class numpy_angles:
    """Angles in float64 by numpy; the shape is put back at the end."""

    def rotate(x, positions=None, *, base=10000.0):
        import numpy as np

        *_, T, D = x.shape
        if D & 1:
            raise ValueError("D must be even")
        where = np.arange(T) if positions is None else positions.cpu().numpy()
        angle = torch.from_numpy(np.outer(where, np.power(base, -2 * np.arange(D // 2) / D)))
        c, s = (f(angle).to(device=x.device, dtype=x.dtype) for f in (torch.cos, torch.sin))
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack([even * c - odd * s, odd * c + even * s], dim=-1).reshape(x.shape)


class transformers_t5:
    """The buckets as libraries have them: minimum of zeros, two branches, one where."""

    def relative_buckets(
        query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0
    ):
        context_position = torch.arange(query_len, dtype=torch.long)[:, None] + offset
        memory_position = torch.arange(key_len, dtype=torch.long)[None, :]
        relative_position = memory_position - context_position
        relative_buckets = 0
        if bidirectional:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).to(torch.long) * num_buckets
            relative_position = torch.abs(relative_position)
        else:
            relative_position = -torch.min(relative_position, torch.zeros_like(relative_position))
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        if_large = max_exact + (
            torch.log(relative_position.float() / max_exact)
            / math.log(max_distance / max_exact)
            * (num_buckets - max_exact)
        ).to(torch.long)
        if_large = torch.min(if_large, torch.full_like(if_large, num_buckets - 1))
        relative_buckets += torch.where(is_small, relative_position, if_large)
        return relative_buckets


class counted_in_python:
    """A function of one distance, asked once for each pair."""

    def relative_buckets(
        query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0
    ):
        def bucket(distance):
            n, start = num_buckets, 0
            if bidirectional:
                n //= 2
                if distance > 0:
                    start = n
                distance = abs(distance)
            else:
                distance = max(0, -distance)
            half = n // 2
            if distance < half:
                return start + distance
            step = math.log(distance / half) / math.log(max_distance / half)
            return start + min(n - 1, half + int(step * (n - half)))

        table = {d: bucket(d) for d in range(-offset - query_len, key_len)}
        rows = [[table[k - q - offset] for k in range(key_len)] for q in range(query_len)]
        return torch.tensor(rows, dtype=torch.int64).reshape(query_len, key_len)


class one_line_of_distances:
    """A bucket for each distance that occurs, in a line, from which each row takes its window."""

    def relative_buckets(
        query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0
    ):
        d = torch.arange(-(offset + query_len - 1), key_len)
        n = num_buckets // 2 if bidirectional else num_buckets
        past = d.abs() if bidirectional else (-d).clamp_min(0)
        e = n // 2
        far = (
            e + torch.floor(torch.log2(past.clamp_min(e) / e) / math.log2(max_distance / e) * (n - e)).long()
        )
        line = torch.where(past < e, past, far.clamp_max(n - 1)) + (n * (d > 0) if bidirectional else 0)
        last = offset + query_len - 1
        index = torch.arange(key_len) + last - (torch.arange(query_len) + offset)[:, None]
        return line[index]


class einops_like_bias:
    """Rows of the embedding, transposed twice."""

    class RelativePositionBias:
        def __init__(self, num_heads, num_buckets=32, max_distance=128, bidirectional=True):
            super().__init__()
            self.num_heads = num_heads
            self.options = dict(
                num_buckets=num_buckets, max_distance=max_distance, bidirectional=bidirectional
            )
            self.embedding = nn.Embedding(num_embeddings=num_buckets, embedding_dim=num_heads)

        def forward(self, query_len, key_len, offset=0):
            indices = relative_buckets(query_len, key_len, offset=offset, **self.options)
            values = self.embedding(indices.to(self.embedding.weight.device))
            return values.transpose(1, 2).transpose(0, 1).unsqueeze(0)


class one_hot_bias:
    """A product with one-hot buckets."""

    class RelativePositionBias:
        def forward(self, query_len, key_len, offset=0):
            weight = self.embedding.weight
            indices = relative_buckets(
                query_len, key_len, num_buckets=weight.size(0), max_distance=self.max_distance,
                bidirectional=self.bidirectional, offset=offset,
            ).to(weight.device)  # fmt: skip
            hot = nn.functional.one_hot(indices, weight.size(0)).to(weight.dtype)
            return torch.einsum("qkb,bh->hqk", hot, weight)[None]


class slopes_by_start_and_ratio:
    """The first slope, then its powers, as ALiBi's own code has them."""

    def alibi_slopes(num_heads):
        if num_heads <= 0 or math.log2(num_heads) != int(math.log2(num_heads)):
            raise ValueError(f"{num_heads} heads")
        start = 2 ** (-(2 ** -(math.log2(num_heads) - 3)))
        return torch.tensor([start * start**i for i in range(num_heads)], dtype=torch.float32)


class slopes_by_logspace:
    """Equal steps of the exponent."""

    def alibi_slopes(num_heads):
        if num_heads not in [2**i for i in range(20)]:
            raise ValueError("num_heads must be 1, 2, 4, 8, ...")
        return torch.logspace(-8 / num_heads, -8, num_heads, base=2)


class penalty_of_both_triangles:
    """The past and the future apart, each where it is not negative."""

    def alibi_bias(num_heads, query_len, key_len, offset=0):
        query = torch.arange(offset, offset + query_len).view(1, -1, 1)
        key = torch.arange(key_len).view(1, 1, -1)
        far = torch.maximum(query - key, key - query)
        return -(alibi_slopes(num_heads).view(-1, 1, 1) * far)
