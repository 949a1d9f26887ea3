"""How heads are cut and joined wrongly.

Head h reads the columns h·D/H to (h+1)·D/H, attends by itself, and puts its result back into those columns.
"""


class one_wide_head:
    """your module ignores num_heads and attends once over all columns

    Fails: test_module_values
    """

    class MultiHeadAttention:
        def _split(self, x):
            return x[:, None]  # [B, 1, T, D]


class heads_without_transpose:
    """your heads are cut from [B, T, D] by a view to [B, H, T, d]: it mixes positions with columns

    Fails: test_module_values
    """

    class MultiHeadAttention:
        def _split(self, x):
            B, T, D = x.shape
            return x.view(B, self.num_heads, T, D // self.num_heads)


class heads_interleaved:
    """your heads take every H-th column: head h reads columns h·D/H to (h+1)·D/H, side by side

    Fails: test_module_values
    """

    class MultiHeadAttention:
        def _split(self, x):
            B, T, D = x.shape
            return x.view(B, T, D // self.num_heads, self.num_heads).permute(0, 3, 1, 2)


class heads_joined_without_transpose:
    """your heads are joined without moving them back next to the columns: positions get mixed

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.reshape(x.shape))
        """


class heads_viewed_both_ways:
    """your heads are cut and joined by a view alone: it mixes positions with columns, there and back

    Fails: test_module_values
    """

    class MultiHeadAttention:
        def _split(self, x):
            B, T, D = x.shape
            return x.view(B, self.num_heads, T, D // self.num_heads)

        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.reshape(x.shape))
        """


class scaled_by_model_width:
    """your heads are scaled by √D: the keys of one head have D/H columns, so it is √(D/H)

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
              q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            + q = q / math.sqrt(self.num_heads)  # √d becomes √D
        """


class heads_detached:
    """your heads are cut from the graph: w_q, w_k and w_v learn nothing

    Fails: test_module_gradients
    """

    class MultiHeadAttention:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.transpose(1, 2).flatten(2).detach())
        """


class heads_interleaved_both_ways:
    """your heads take every H-th column and put them back so: head h has columns h·D/H to (h+1)·D/H, side by side

    Fails: test_module_values
    """

    class MultiHeadAttention:
        def _split(self, x):
            B, T, D = x.shape
            return x.view(B, T, D // self.num_heads, self.num_heads).permute(0, 3, 1, 2)

        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.permute(0, 2, 3, 1).flatten(2))
        """


class heads_attend_to_heads:
    """your heads stay after the positions, so heads look at heads: move them in front, [B, H, T, d]

    Fails: test_module_values
    """

    class MultiHeadAttention:
        def _split(self, x):
            B, T, D = x.shape
            return x.view(B, T, self.num_heads, D // self.num_heads)

        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.flatten(2))
        """


class view_of_transposed:
    """your heads are joined by a view of what a transpose left: call contiguous() first, or flatten

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.transpose(1, 2).view(x.size(0), x.size(1), -1))
        """


class pair_not_unpacked:
    """your module uses what attention returns as one tensor: it is a pair, output and weights

    Fails: test_module_values
    """

    class MultiHeadAttention:
        forward = """
            - heads, _ = scaled_dot_product_attention(q, k, v, mask)
            + heads = scaled_dot_product_attention(q, k, v, mask)
        """
