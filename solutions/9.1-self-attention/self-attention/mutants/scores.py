"""What the scores get wrong.

Row i, column j is query i times key j. The sum has d_k terms, so its spread grows with √d_k: it is divided
by that.
"""

mistake(
    "queries-and-keys-swapped",
    "your rows are keys and your columns queries; the scores should be query times key transposed",
    SelfAttention="q @ k.transpose(-2, -1) -> k @ q.transpose(-2, -1)",
)

mistake(
    "keys-viewed",
    "your keys get their shape from view or reshape, which mixes up the numbers; transpose the last two axes instead",
    SelfAttention="k.transpose(-2, -1) -> k.contiguous().view(k.size(0), k.size(2), k.size(1))",
)

mistake(
    "unscaled",
    "your scores are not scaled; they should be divided by √d_k",
    SelfAttention="q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)) -> q @ k.transpose(-2, -1)",
)

mistake(
    "scaled-by-width",
    "your scores are divided by d_k; they should be divided by its square root",
    SelfAttention="math.sqrt(q.size(-1)) -> q.size(-1)",
)

mistake(
    "scaled-by-model-width",
    "your scores are divided by √d_model; it should be √d_k, the width of the vectors that are multiplied",
    SelfAttention="math.sqrt(q.size(-1)) -> math.sqrt(x.size(-1))",
)

mistake(
    "scaled-by-length",
    "your scores are divided by the root of T; divide by that of a key's width, key.size(-1)",
    SelfAttention="math.sqrt(q.size(-1)) -> math.sqrt(q.size(1))",
)

mistake(
    "scores-multiplied",
    "your scores are multiplied by √d_k; they should be divided by it",
    SelfAttention="""
        - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        + scores = q @ k.transpose(-2, -1) * math.sqrt(q.size(-1))
    """,
)

mistake(
    "scaled-by-a-constant",
    "your scores are divided by 8; it should be √d_k, whatever the width d_k",
    SelfAttention="math.sqrt(q.size(-1)) -> 8.0",
)

mistake(
    "scaled-after-softmax",
    "your scale comes after the softmax, so the weights do not sum to one; divide the scores by √d_k before it",
    SelfAttention=[
        "q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)) -> q @ k.transpose(-2, -1)",
        "scores.softmax(dim=-1) -> scores.softmax(dim=-1) / math.sqrt(q.size(-1))",
    ],
)

mistake(
    "scaled-by-the-fourth-root",
    "your scores are divided by the fourth root of d_k; divide the queries and the keys by it, or the scores by √d_k",
    SelfAttention="math.sqrt(q.size(-1)) -> q.size(-1) ** 0.25",
)

mistake(
    "product-misfit",
    "your product is of two tensors that do not fit; compute q @ k.transpose(-2, -1), then weights @ v",
    SelfAttention="k.transpose(-2, -1) -> k",
    costs="products that do not fit compute nothing that could be right",
)

mistake(
    "features-compared",
    "your scores compare features, [d_k, d_k]; they should compare every position with every position, [T, T]",
    SelfAttention=[
        "q @ k.transpose(-2, -1) -> q.transpose(-2, -1) @ k",
        "return weights @ v -> return v @ weights",
    ],
    costs="weights of features are not weights of positions, and most of this kata is about those",
)

mistake(
    "vectors-normalised",
    "your queries and keys are scaled to length one; take the dot product of the vectors as they are",
    SelfAttention="""
          q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        + q, k = q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True)
    """,
)


@mistake(
    "batch-as-one-sequence",
    "your sequences are joined to one, so their positions all look at each other; keep the batch axis",
    costs="weights across sequences are not weights of positions, and most of this kata is about those",
)
class SelfAttention:
    def forward(self, x):
        one = x.reshape(-1, x.size(-1))
        q, k, v = self.w_q(one), self.w_k(one), self.w_v(one)
        weights = (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1)
        return (weights @ v).view(*x.shape[:2], -1), weights
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
