"""Answers to rotary-positions."""

# ==== right ====
"""Rotations, buckets and slopes as public code has them and other people write them."""


@answer(
    "llama-complex", "Pairs as complex numbers, with a table of turns for all positions up to the largest."
)
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


@answer("counted-in-python", "A function of one distance, asked once for each pair.")
def relative_buckets(query_len, key_len, *, num_buckets=32, max_distance=128, bidirectional=True, offset=0):
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


@answer("einops-like-bias", "Rows of the embedding, transposed twice.")
class RelativePositionBias:
    def __init__(self, num_heads, num_buckets=32, max_distance=128, bidirectional=True):
        super().__init__()
        self.num_heads = num_heads
        self.options = dict(num_buckets=num_buckets, max_distance=max_distance, bidirectional=bidirectional)
        self.embedding = nn.Embedding(num_embeddings=num_buckets, embedding_dim=num_heads)

    def forward(self, query_len, key_len, offset=0):
        indices = relative_buckets(query_len, key_len, offset=offset, **self.options)
        values = self.embedding(indices.to(self.embedding.weight.device))
        return values.transpose(1, 2).transpose(0, 1).unsqueeze(0)


# ==== wrong ====
"""Rotations, buckets and slopes as other people get them wrong."""


@answer("conjugated", "The complex turn goes the other way.", named=["turned-backwards"])
def rotate(x, positions=None, *, base=10000.0):
    D = x.shape[-1]
    if D % 2:
        raise ValueError("odd")
    t = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
    angle = torch.outer(t.float(), 1.0 / base ** (torch.arange(0, D, 2, device=x.device).float() / D))
    turns = torch.polar(torch.ones_like(angle), -angle)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2).type_as(x)


@answer("a-bare-parameter", "The table is a parameter, not an embedding.", named=["table-without-embedding"])
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


@answer(
    "in-between-allowed",
    "Slopes for other numbers of heads are put together from two series, as libraries do.",
    named=["slopes-in-between"],
)
def alibi_slopes(num_heads):
    def series(n):
        return [2 ** (-8 * (i + 1) / n) for i in range(n)]

    if math.log2(num_heads).is_integer():
        return torch.tensor(series(num_heads))
    closest = 2 ** math.floor(math.log2(num_heads))
    return torch.tensor(series(closest) + series(2 * closest)[0::2][: num_heads - closest])


answer(
    "zeros-mean-nothing-given",
    "Positions are asked for their truth: where all of them are 0, rows are counted.",
    rotate="positions is None -> positions is None or not positions.any()",
)


@answer("a-square-has-no-offset", "With as many queries as keys the offset is left out.")
def alibi_bias(num_heads, query_len, key_len, offset=0):
    first = 0 if query_len == key_len else offset
    distance = (torch.arange(query_len)[:, None] + first - torch.arange(key_len)).abs()
    return -alibi_slopes(num_heads)[:, None, None] * distance


@answer("a-thousand-is-far", "All distances beyond 1024 count as 1024.")
def alibi_bias(num_heads, query_len, key_len, offset=0):
    distance = (torch.arange(query_len)[:, None] + offset - torch.arange(key_len)).abs()
    return -alibi_slopes(num_heads)[:, None, None] * distance.clamp(max=1024)


answer(
    "one-query-detached",
    "The bias of a single query is cut off from its table.",
    RelativePositionBias="""
        - return bias.permute(2, 0, 1)[None]
        + bias = bias.detach() if query_len == 1 else bias
        + return bias.permute(2, 0, 1)[None]
    """,
)

answer("angles-by-both-ends", "Angles are kept by the first and the last position, and how many there are.")

known = {}


def rotate(x, positions=None, *, base=10000.0):
    D, T = x.shape[-1], x.shape[-2]
    if D % 2:
        raise ValueError("D must be even")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    key = (T, D, base, positions[0].item(), positions[-1].item()) if T else (0, D, base)
    if key not in known:
        inverse = base ** (-torch.arange(0, D, 2, device=x.device) / D)
        known[key] = torch.outer(positions.float(), inverse)
    cos, sin = known[key].cos().to(x.dtype), known[key].sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


answer(
    "tables-as-wide-as-x",
    "Cosines and sines of D columns meet pairs of D/2: torch refuses a product.",
    rotate="""
        - angle = positions[:, None] * frequency  # [T, D/2], in float32
        + angle = (positions[:, None] * frequency).repeat_interleave(2, dim=-1)
    """,
    named=[],
)
