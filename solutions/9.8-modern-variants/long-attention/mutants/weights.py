"""What the weights become when they are no longer the products of two features, divided by their sum over keys.

Features have to be positive, or a sum of them may be zero: elu + 1 is, and it is smooth.
"""

mistake(
    "relu-for-elu",
    "your features are relu(x); φ(x) should be elu(x) + 1, which is never 0",
    linear_attention="F.elu(x.to(wide)) + 1 -> F.relu(x.to(wide)) + 1e-6",
)

mistake(
    "one-forgotten",
    "your features are elu(x) without the 1, so they may be negative, and their sums zero; add the 1",
    linear_attention="F.elu(x.to(wide)) + 1 for x in (query, key) -> F.elu(x.to(wide)) for x in (query, key)",
)

mistake(
    "exp-for-elu",
    "your features are exp(x); above 0 they should grow as x + 1 does, not faster",
    linear_attention="F.elu(x.to(wide)) + 1 -> x.to(wide).exp()",
)

mistake(
    "features-scaled",
    "your queries are divided by sqrt(D); linear attention should have no scale",
    linear_attention="""
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = F.elu(query.to(wide) * query.shape[-1] ** -0.5) + 1, F.elu(key.to(wide)) + 1
    """,
)

mistake(
    "key-without-features",
    "your keys are used as they are; apply φ to queries and to keys",
    linear_attention="""
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = F.elu(query.to(wide)) + 1, key.to(wide)
    """,
)

mistake(
    "query-without-features",
    "your queries are used as they are; apply φ to queries and to keys",
    linear_attention="""
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = query.to(wide), F.elu(key.to(wide)) + 1
    """,
)

mistake(
    "softmaxed-features",
    "your features are softmaxes, of queries over their width and of keys over the time; they should be elu(x) + 1",
    linear_attention="""
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = query.to(wide).softmax(dim=-1), key.to(wide).softmax(dim=-2)
    """,
)

mistake(
    "softmax-attention",
    "your weights are a softmax of scores; here they should be products of features",
    linear_attention="""
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + return F.scaled_dot_product_attention(query, key, value, is_causal=causal)
        + q, k = query, key

        - v = value.to(wide)
        - if causal:
        -     return _from_the_left(q, k, v).to(query.dtype)
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
    """,
)

mistake(
    "value-features",
    "your values go through φ as well; only queries and keys should",
    linear_attention="value.to(wide) -> F.elu(value.to(wide)) + 1",
    costs="whatever comes back is made of values",
)

mistake(
    "not-divided",
    "your sums are not divided; weights have to add up to 1",
    linear_attention="q @ (k.mT @ v) / sums -> q @ (k.mT @ v)",
    _from_the_left="(q @ before + own @ v) / sums -> q @ before + own @ v",
)

mistake(
    "divided-by-the-length",
    "your sums are divided by the number of keys; divide by the sum of the weights",
    linear_attention="q @ k.sum(dim=-2).unsqueeze(-1) -> k.shape[-2]",
)

mistake(
    "divided-by-keys-alone",
    "your denominator is the sum of the keys' features; multiply it by each query's own features",
    linear_attention="q @ k.sum(dim=-2).unsqueeze(-1) -> k.sum(dim=(-2, -1)).unsqueeze(-1).unsqueeze(-1)",
)

mistake(
    "divided-over-queries",
    "your weights add up to 1 over queries; for each query they should add up to 1 over keys",
    linear_attention=[
        "sums = q @ k.sum(dim=-2).unsqueeze(-1) -> weights = q @ k.mT",
        "q @ (k.mT @ v) / sums -> weights / weights.sum(dim=-2, keepdim=True) @ v",
    ],
)

mistake(
    "denominator-detached",
    "your denominator is cut off from the gradient; it depends on queries and keys, so gradients should go through it",
    linear_attention="q @ k.sum(dim=-2).unsqueeze(-1) -> (q @ k.sum(dim=-2).unsqueeze(-1)).detach()",
)

mistake(
    "heads-summed",
    "your sum of keys runs over all axes but the width; each row and head should have its own",
    linear_attention="k.sum(dim=-2) -> k.reshape(-1, k.shape[-1]).sum(dim=0)",
)

mistake(
    "heads-averaged",
    "your products of keys and values are summed over all rows and heads; each should have its own",
    linear_attention="""
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + state = (k.mT @ v).reshape(-1, k.shape[-1], v.shape[-1]).mean(dim=0)
        + return (q @ state / sums).to(query.dtype)
    """,
)

mistake(
    "four-axes-only",
    "your einsum names four axes; any number of them may come first, or none",
    linear_attention="""
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + state = torch.einsum("bhtd,bhte->bhde", k, v)
        + sums = torch.einsum("bhtd,bhd->bht", q, k.sum(dim=2))
        + return (torch.einsum("bhtd,bhde->bhte", q, state) / sums.unsqueeze(-1)).to(query.dtype)
    """,
    costs="nothing can be seen of a function that takes no other tensors",
)

mistake(
    "value-width-of-the-key",
    "your output has the width of the keys; it should have that of the values",
    linear_attention="(q @ (k.mT @ v) / sums).to -> (q @ (k.mT @ v) / sums).reshape(query.shape).to",
)

mistake(
    "half-sums",
    "your sums overflow in half precision; sum in float32 at least, then return the dtype of the query",
    linear_attention="torch.promote_types(query.dtype, torch.float32) -> query.dtype",
)

mistake(
    "float32-returned",
    "your result is float32 for a query in half precision; return to the query's dtype last",
    linear_attention="(q @ (k.mT @ v) / sums).to(query.dtype) -> q @ (k.mT @ v) / sums",
)

mistake(
    "float32-inside",
    "your float64 result is only as exact as float32; sums should run in float64, and no constant should be added",
    linear_attention="torch.promote_types(query.dtype, torch.float32) -> torch.float32",
)

mistake(
    "written-in-place",
    "your features are written into query and key; arguments should stay as they were",
    linear_attention="""
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + inplace = not query.requires_grad
        + q, k = (F.elu(x.to(wide), inplace=inplace) + 1 for x in (query, key))
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
