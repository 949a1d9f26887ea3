"""What comes out wrong.

The output averages the values with the weights, row by row, and both are returned, in the dtype of x, which
stays as it was.
"""

mistake(
    "scores-used-for-output",
    "your output is made with the scores; average the values with the weights",
    SelfAttention="return weights @ v -> return scores @ v",
)

mistake(
    "output-by-columns",
    "your output uses the weights transposed; each query should use its row, not its column",
    SelfAttention="return weights @ v -> return weights.transpose(-2, -1) @ v",
)

mistake(
    "output-alone",
    "your forward returns only the output; it should return the weights with it",
    SelfAttention="weights @ v, weights -> weights @ v",
    costs="the weights, which most of this kata is about, are not there to be looked at",
)

mistake(
    "pair-swapped",
    "your pair is the wrong way round; the output should come first, then the weights",
    SelfAttention="weights @ v, weights -> weights, weights @ v",
)

mistake(
    "scores-returned",
    "your second result is the scores; return the weights that the softmax makes of them",
    SelfAttention="weights @ v, weights -> weights @ v, scores",
)

mistake(
    "dropout-added",
    "your module drops weights in train mode; in this exercise there should be no dropout",
    SelfAttention="""
          self.w_v = nn.Linear(d_model, d_k, bias=False)
        + self.dropout = nn.Dropout(0.1)

        - return weights @ v, weights
        + return self.dropout(weights) @ v, weights
    """,
)


@mistake("float32-result", "your results are float32 whatever x is; cast them back to the dtype of x")
class SelfAttention:
    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.float().softmax(dim=-1)
        return weights @ v.float(), weights


@mistake(
    "input-changed",
    "your scaling is written into x itself, which belongs to the caller; scale the scores",
)
class SelfAttention:
    def forward(self, x):
        v = self.w_v(x)
        x *= v.size(-1) ** -0.25
        q, k = self.w_q(x), self.w_k(x)
        scores = q @ k.transpose(-2, -1)
        weights = scores.softmax(dim=-1)
        return weights @ v, weights


mistake(
    "torch-attention",
    "your output comes from torch's own attention operator; write it with a product, a softmax and a product",
    SelfAttention="return weights @ v -> return F.scaled_dot_product_attention(q, k, v)",
    costs="all of it rests on what the kata excludes",
)

import torch.nn.functional as F

mistake(
    "nothing-returned",
    "your forward returns nothing; end it with return output, weights",
    SelfAttention="return weights @ v, weights -> output = weights @ v",
    costs="there is nothing to look at",
)

mistake(
    "list-returned",
    "your forward returns a list; it should return a tuple, as return output, weights does",
    SelfAttention="weights @ v, weights -> [weights @ v, weights]",
    costs="what is not a pair is not looked into",
)

mistake(
    "output-pooled",
    "your output is averaged over the positions; each position should keep its own, [B, T, d_k]",
    SelfAttention="return weights @ v -> return (weights @ v).mean(dim=1)",
)

mistake(
    "squeezed",
    "your results lose axes of length 1; a batch of one, or a text of one position, should keep all its axes",
    SelfAttention="weights @ v, weights -> (weights @ v).squeeze(), weights.squeeze()",
)

mistake(
    "residual-added",
    "your module adds x to its output; leave that to the layer around it, as d_k may be another width",
    SelfAttention="return weights @ v -> return x + weights @ v",
    costs="sums that do not fit compute nothing that could be right",
)


@mistake(
    "three-arguments",
    "your forward wants queries, keys and values from the caller; it should take only x and project it three times",
    costs="nothing can be called",
)
class SelfAttention:
    def forward(self, query, key, value):
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ v, weights


mistake(
    "keys-remembered",
    "your module looks at keys and values of earlier calls as well; it should use only those of this call",
    SelfAttention="""
          super().__init__()
        + self.past = None

          q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        + if self.past is not None and self.past[0].shape == k.shape:
        +     k, v = torch.cat((self.past[0], k), dim=1), torch.cat((self.past[1], v), dim=1)
        + self.past = k.detach(), v.detach()
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
