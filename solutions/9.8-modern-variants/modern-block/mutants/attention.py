"""How attention with shared heads and rotary positions goes wrong.

Query head h reads the head of keys and values h // (H / G); queries and keys are turned, neighbouring columns a pair.
"""

mistake(
    "heads-repeated-in-turn",
    "your shared heads lie as 0 1 0 1; they should lie as 0 0 1 1, which repeat_interleave makes",
    GroupedQueryAttention=[
        "k.repeat_interleave(self.groups, dim=1) -> k.repeat(1, self.groups, 1, 1)",
        "v.repeat_interleave(self.groups, dim=1) -> v.repeat(1, self.groups, 1, 1)",
    ],
)

mistake(
    "keys-in-turn",
    "your keys are shared as 0 1 0 1 and your values as 0 0 1 1; a head's keys and values should belong together",
    GroupedQueryAttention="k.repeat_interleave(self.groups, dim=1) -> k.repeat(1, self.groups, 1, 1)",
)

mistake(
    "first-head-for-all",
    "your query heads all read the first head of keys and values; each group should read its own",
    GroupedQueryAttention=[
        "k.repeat_interleave(self.groups, dim=1) -> k[:, :1].expand(-1, q.size(1), -1, -1)",
        "v.repeat_interleave(self.groups, dim=1) -> v[:, :1].expand(-1, q.size(1), -1, -1)",
    ],
)

mistake(
    "heads-not-put-back",
    "your heads are not put side by side again; move the axis of heads after that of time first",
    GroupedQueryAttention="mixed.transpose(1, 2).flatten(2) -> mixed.transpose(2, 3).reshape(x.shape)",
    costs="numbers of all positions are mixed, so that attention is right for a single position alone",
)

mistake(
    "output-not-projected",
    "your heads are returned as they are; w_o should mix them",
    GroupedQueryAttention="self.w_o(mixed.transpose(1, 2).flatten(2)) -> mixed.transpose(1, 2).flatten(2)",
)

mistake(
    "halves-turned",
    "your rotation pairs column i with i + d/2; neighbours, 2i and 2i + 1, should be a pair",
    rotate="""
        - a, b = x[..., 0::2], x[..., 1::2]
        - return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
        + a, b = x.chunk(2, dim=-1)
        + return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)
    """,
    convention="Hugging Face's LLaMA and UvA pair halves",
)

mistake(
    "turned-in-float32",
    "your cosines and sines are float32, so a bfloat16 query becomes float32; they should be cast to the dtype of x",
    rotate="angle.cos().to(x.dtype), angle.sin().to(x.dtype) -> angle.cos(), angle.sin()",
    convention="CS336, UvA and CMU leave it so",
)

mistake(
    "turned-in-float32-scores-by-hand",
    "your cosines and sines are float32, so bfloat16 scores become float32; they should be cast to the dtype of x",
    rotate="angle.cos().to(x.dtype), angle.sin().to(x.dtype) -> angle.cos(), angle.sin()",
    GroupedQueryAttention="""
        - mixed = F.scaled_dot_product_attention(q, keys, values, mask)
        + scores = q @ keys.transpose(-2, -1) * self.d_head**-0.5
        + mixed = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1) @ values
    """,
    convention="CS336, UvA and CMU leave it so",
)

mistake(
    "turned-back",
    "your rotation goes the other way; exchange the signs of the two sines",
    rotate="a * cos - b * sin, a * sin + b * cos -> a * cos + b * sin, b * cos - a * sin",
)

mistake(
    "not-turned",
    "your queries and keys are not turned, so nothing tells where they are; turn both by their positions",
    GroupedQueryAttention=[
        "rotate(self._heads(self.w_q(x)), positions) -> self._heads(self.w_q(x))",
        "rotate(self._heads(self.w_k(x)), positions) -> self._heads(self.w_k(x))",
    ],
)

mistake(
    "queries-alone-turned",
    "your keys are not turned, only queries, so scores do not depend on the distance; turn the keys as well",
    GroupedQueryAttention="rotate(self._heads(self.w_k(x)), positions) -> self._heads(self.w_k(x))",
)

mistake(
    "values-turned",
    "your values are turned as well; only queries and keys should be",
    GroupedQueryAttention="self._heads(self.w_v(x)) -> rotate(self._heads(self.w_v(x)), positions)",
)

mistake(
    "turned-before-the-split",
    "your queries and keys are turned before they are split; the frequencies should be those of a head's width",
    GroupedQueryAttention=[
        "rotate(self._heads(self.w_q(x)), positions) -> self._heads(rotate(self.w_q(x), positions))",
        "rotate(self._heads(self.w_k(x)), positions) -> self._heads(rotate(self.w_k(x), positions))",
    ],
)


@mistake("other-base", "your rotation's base is 5e5; it should be 10000")
def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    angle_dtype = torch.promote_types(x.dtype, torch.float32)
    pair = torch.arange(0, d, 2, dtype=angle_dtype, device=x.device)
    angle = positions.to(angle_dtype)[:, None] * 500000.0 ** (-pair / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


mistake(
    "angles-end",
    "your angles end with position 100, so later positions are all turned alike; the angle should always keep growing",
    GroupedQueryAttention="""
        - positions = torch.arange(start, start + x.size(1), device=x.device)
        + positions = torch.arange(start, start + x.size(1), device=x.device).clamp(max=100)
    """,
)

mistake(
    "scaled-by-the-model",
    "your scores are divided by the root of d_model; divide by the root of a head's width",
    GroupedQueryAttention="values, mask -> values, mask, scale=x.size(-1) ** -0.5",
)

mistake(
    "no-mask",
    "your attention has no causal mask, so each position sees those after it; "
    "it should see only itself and those before",
    GroupedQueryAttention="values, mask -> values",
)

mistake(
    "one-too-far",
    "your mask lets every position see the next one; it should end at the position itself",
    GroupedQueryAttention="""
        - mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start)
        + mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start + 1)
    """,
)

mistake(
    "detached-keys",
    "your keys and values are cut from the graph in attention, so w_k and w_v never learn; keep them in the graph",
    GroupedQueryAttention="""
        - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
        - values = v.repeat_interleave(self.groups, dim=1)
        + k, v = k.detach(), v.detach()
        + keys = k.repeat_interleave(self.groups, dim=1)
        + values = v.repeat_interleave(self.groups, dim=1)
    """,
)

mistake(
    "biases",
    "your projections have biases; they should have none",
    GroupedQueryAttention="""
        - self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        - self.w_k = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        - self.w_v = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        - self.w_o = nn.Linear(num_heads * self.d_head, d_model, bias=False)
        + self.w_q = nn.Linear(d_model, num_heads * self.d_head)
        + self.w_k = nn.Linear(d_model, num_kv_heads * self.d_head)
        + self.w_v = nn.Linear(d_model, num_kv_heads * self.d_head)
        + self.w_o = nn.Linear(num_heads * self.d_head, d_model)
    """,
)


@mistake(
    "any-number-of-heads",
    "your attention takes any numbers of heads; raise ValueError for those that do not divide",
)
class GroupedQueryAttention:
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.d_head = d_model // num_heads
        self.groups = num_heads // num_kv_heads
        self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.w_k = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.w_v = nn.Linear(d_model, num_kv_heads * self.d_head, bias=False)
        self.w_o = nn.Linear(num_heads * self.d_head, d_model, bias=False)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
