"""Rotations and biases that are right for a short text, or for the first call.

A result depends on its arguments and on the module's table alone, whatever came before.
"""

mistake(
    "table-of-1024",
    "your rotations come from a table of 1024 positions, and start again past it; they should work at any position",
    rotate="positions[:, None] -> (positions % 1024)[:, None]",
    unnamed="no visible position is as far",
)

mistake(
    "bias-kept",
    "your bias is cached from the first call with these lengths, so other options get the same; "
    "compute it in each call",
    RelativePositionBias="""
        - buckets = relative_buckets(
        + buckets = kept.get((query_len, key_len))
        + buckets = buckets if buckets is not None else relative_buckets(

        - bias = self.embedding(buckets.to(self.embedding.weight.device))  # [Tq, Tk, H]
        + kept[query_len, key_len] = buckets
        + bias = self.embedding((buckets % self.embedding.num_embeddings).to(self.embedding.weight.device))
    """,
)

kept = {}
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
