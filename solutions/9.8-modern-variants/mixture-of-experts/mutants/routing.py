"""How tokens are routed wrongly.

The k largest logits are chosen, the largest first; the weights are the softmax over these k alone.
"""

mistake(
    "softmax-over-all",
    "your weights come from a softmax over all E, so the k chosen do not add up to 1; take it over these k",
    route="ordered[..., :k].softmax(dim=-1) -> ordered.softmax(dim=-1)[..., :k]",
    convention="the Switch Transformer weighs so",
)

mistake(
    "sigmoids",
    "your weights are sigmoids, so they do not add up to 1; use the softmax over the k chosen logits",
    route="ordered[..., :k].softmax(dim=-1) -> ordered[..., :k].sigmoid()",
)

mistake(
    "equal-weights",
    "your weights are 1 / k each, so the router never learns; they should be the softmax over the k chosen logits",
    route="ordered[..., :k].softmax(dim=-1) -> (ordered[..., :k] * 0).softmax(dim=-1)",
)

mistake(
    "smallest",
    "your route takes the smallest logits; it should take the largest",
    route="descending=True -> descending=False",
)

mistake(
    "topk",
    "your topk leaves the order of equal logits open; use a sort with stable=True",
    route="ordered, experts = logits.sort(dim=-1, descending=True, stable=True) -> ordered, experts = logits.topk(k)",
)

mistake(
    "unstable-sort",
    "your sort is not stable, so the order of many equal logits is left open; use stable=True",
    route="descending=True, stable=True -> descending=True",
)

mistake(
    "higher-number-first",
    "your route puts the higher number first where logits are equal; it should be the lower one",
    route="""
        - ordered, experts = logits.sort(dim=-1, descending=True, stable=True)
        + ordered, experts = (found.flip(-1) for found in logits.sort(dim=-1, stable=True))
    """,
)

mistake(
    "by-number",
    "your chosen experts come in the order of their numbers; the one with the largest logit should come first",
    route="""
        - return ordered[..., :k].softmax(dim=-1), experts[..., :k]
        + experts = experts[..., :k].sort(dim=-1).values
        + return logits.gather(-1, experts).softmax(dim=-1), experts
    """,
)

mistake(
    "weights-in-float32",
    "your weights are float32 whatever the logits are; they should have the logits' dtype",
    route="ordered[..., :k].softmax(dim=-1) -> ordered[..., :k].float().softmax(dim=-1)",
)

mistake(
    "detached-weights",
    "your weights are detached, so the router never learns; let gradients through",
    route="ordered[..., :k].softmax(dim=-1) -> ordered[..., :k].softmax(dim=-1).detach()",
)

mistake(
    "crossed-out",
    "your route crosses chosen logits out in its argument; it should change a copy",
    route="""
        - ordered, experts = logits.sort(dim=-1, descending=True, stable=True)
        + ordered, experts = logits.sort(dim=-1, descending=True, stable=True)
        + logits.data.scatter_(-1, experts[..., :k], -100.0)
    """,
)

mistake(
    "choice-squeezed",
    "your route squeezes its result, so with k = 1 the last axis is gone; it should be [.., k]",
    route="""
        - return ordered[..., :k].softmax(dim=-1), experts[..., :k]
        + return ordered[..., :k].softmax(dim=-1).squeeze(-1), experts[..., :k].squeeze(-1)
    """,
)

mistake(
    "route-takes-any-k",
    "your route takes any k and returns what there is; below 1 or above E it should raise ValueError",
    route='_refuse("k", k, 1, logits.size(-1)) -> pass',
)

mistake(
    "route-asserts",
    "your route asserts that k is possible; raise ValueError, as an assertion can be switched off",
    route='_refuse("k", k, 1, logits.size(-1)) -> assert 1 <= k <= logits.size(-1), f"k is {k}"',
)

mistake(
    "softmax-over-axis-1",
    "your softmax is taken over axis 1, which holds the choices of [N, E] only; use dim=-1",
    route="ordered[..., :k].softmax(dim=-1) -> ordered[..., :k].softmax(dim=1)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
