"""Rotations and biases that are right for a short text, or for the first call.

A result depends on its arguments and on the module's table alone, whatever came before.
"""


class table_of_1024:
    """your rotations come from a table of 1024 positions, and start again past it

    Fails: test_far_rotation
    Unnamed: no visible position is as far
    """

    rotate = """
        - angle = positions[:, None] * frequency  # [T, D/2], in float32
        + angle = (positions % 1024)[:, None] * frequency
    """


class bias_kept:
    """your bias is kept from the first call with these lengths: other options get the same one

    Fails: test_bias_values
    """

    kept = {}  # noqa: RUF012

    class RelativePositionBias:
        forward = """
            - buckets = relative_buckets(
            + buckets = kept.get((query_len, key_len))
            + buckets = buckets if buckets is not None else relative_buckets(

            - bias = self.embedding(buckets.to(self.embedding.weight.device))  # [Tq, Tk, H]
            + kept[query_len, key_len] = buckets
            + bias = self.embedding((buckets % self.embedding.num_embeddings).to(self.embedding.weight.device))
        """
