"""What goes wrong from left to right: which keys a query's sums hold, and whether both sums hold the same.

Query i has sums over keys 0 to i, its own among them: one that is multiplied by values, and one that divides.
"""

mistake(
    "causal-ignored",
    "your causal attention sees all keys; query i should see keys 0 to i",
    linear_attention="""
        - if causal:
        -     return _from_the_left(q, k, v).to(query.dtype)
    """,
)

mistake(
    "own-key-not-seen",
    "your queries do not see their own key; query i should see keys 0 to i, and the first one has no other",
    _from_the_left="(q @ k.mT).tril() -> (q @ k.mT).tril(diagonal=-1)",
)

mistake(
    "one-key-too-many",
    "your queries see the key after them; query i should see keys 0 to i",
    _from_the_left="(q @ k.mT).tril() -> (q @ k.mT).tril(diagonal=1)",
)

mistake(
    "from-the-right",
    "your causal sums run from the right; query i should see the keys up to its own",
    linear_attention="_from_the_left(q, k, v) -> _from_the_left(q.flip(-2), k.flip(-2), v.flip(-2)).flip(-2)",
)

mistake(
    "all-keys-divide",
    "your causal denominator is the sum over all keys; it should be over those that the query sees",
    _from_the_left="q @ keys_before + own.sum(dim=-1, keepdim=True) -> q @ keys.sum(dim=-3, keepdim=True)",
)

mistake(
    "count-divides",
    "your causal denominator is the number of keys seen; it should be the sum of their weights",
    _from_the_left="""
        - sums = q @ keys_before + own.sum(dim=-1, keepdim=True)
        + sums = torch.arange(1, q.shape[-3] * BLOCK + 1, device=q.device).view(-1, BLOCK, 1)
    """,
)

mistake(
    "causal-not-divided",
    "your causal sums are not divided; weights should add up to 1, causal or not",
    _from_the_left="(q @ before + own @ v) / sums -> q @ before + own @ v",
)

mistake(
    "blocks-apart",
    "your blocks do not see the keys before them; sums should carry over from block to block",
    _from_the_left=[
        "q @ keys_before + own.sum(dim=-1, keepdim=True) -> own.sum(dim=-1, keepdim=True)",
        "(q @ before + own @ v) / sums -> own @ v / sums",
    ],
)

mistake(
    "block-counted-twice",
    "your blocks count their own keys twice, under the mask and in the sum; the sum should hold only earlier blocks",
    _from_the_left="""
        - F.pad(x.cumsum(dim=-3)[..., :-1, :, :], (0, 0, 0, 0, 1, 0)) for x in (products, keys)
        + (x.cumsum(dim=-3) if x.shape[-3] > 1 else 0 * x) for x in (products, keys)
    """,
)

mistake(
    "rest-dropped",
    "your causal attention drops the last positions where they do not fill a block; it should return all T of them",
    _from_the_left="""
        - return ((q @ before + own @ v) / sums).flatten(-3, -2)[..., :T, :]
        + whole = T if T < BLOCK else T - T % BLOCK
        + return ((q @ before + own @ v) / sums).flatten(-3, -2)[..., :whole, :]
    """,
)

mistake(
    "running-sum-detached",
    "your running sums are detached; under causal, too, gradients should go back to every key that was seen",
    _from_the_left="(q @ k.mT).tril() -> (q @ k.detach().mT).tril()",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
