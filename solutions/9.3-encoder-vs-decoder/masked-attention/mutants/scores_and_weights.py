"""What scaled dot-product attention gets wrong before there is a mask.

Scores are divided by the root of the keys' width; each query's weights sum to one; any axes may come first.
"""


class unscaled:
    """your scores are not divided by √d

    Fails: test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1)
    """


class scaled_by_width:
    """your scores are divided by d instead of its square root

    Fails: test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1) / query.size(-1)
    """


class scaled_by_a_constant:
    """your scores are divided by 8: it has to be √d, whatever the width d

    Fails: test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1) / 8.0
    """


class softmax_over_queries:
    """your softmax runs over the queries: the weights of one key sum to one, not those of one query

    Fails: test_weights_sum_to_one, test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - weights = scores.softmax(dim=-1)
        + weights = scores.softmax(dim=-2)

        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-2)
    """


class exp_overflow:
    """your softmax takes exp of large scores: subtract each row's maximum first

    Fails: test_large_scores
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        powers = scores.exp() if mask is None else scores.exp() * mask
        total = powers.sum(dim=-1, keepdim=True)
        weights = powers / total.masked_fill(total == 0, 1.0)
        return weights @ value, weights


class gradient_detached:
    """your weights are cut from the graph: no gradient reaches the query and the key

    Fails: test_gradients, test_fully_masked_gradients, test_module_gradients
    """

    scaled_dot_product_attention = """
              weights = weights.masked_fill(blind, 0.0)
        + weights = weights.detach()
    """


class float32_result:
    """your results are float32 whatever the inputs are: cast them back to the dtype of the query

    Fails: test_attention_promises
    """

    scaled_dot_product_attention = """
        + dtype = torch.float32
        + query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
          scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    """


class four_axes_only:
    """your function unpacks four axes: it must take any number of leading axes, also none

    Fails: test_shapes
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + B, H, Tq, d = query.shape
        + scores = (query @ key.transpose(-2, -1) / math.sqrt(d)).view(B, H, Tq, key.size(2))
    """


class weights_missing:
    """your function returns the output alone: the weights belong to the result too

    Fails: test_shapes
    Costs: the weights, which most checks of the function look at, are not there
    """

    scaled_dot_product_attention = """
        - return weights @ value, weights
        + return weights @ value
    """

    class MultiHeadAttention:
        forward = """
            - heads, _ = scaled_dot_product_attention(q, k, v, mask)
            + heads = scaled_dot_product_attention(q, k, v, mask)
        """


class torch_attention:
    """your output comes from torch's own attention operator

    Fails: test_from_scratch
    Costs: all of it rests on what the kata excludes
    """

    import torch.nn.functional as F

    scaled_dot_product_attention = """
        - return weights @ value, weights
        + return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), weights
    """


class scores_multiplied:
    """your scores are multiplied by √d instead of divided

    Fails: test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1) * math.sqrt(query.size(-1))
    """


class scaled_by_length:
    """your scores are divided by the root of how many keys there are: it is √d, the width of a key

    Fails: test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-2))
    """


class scaled_by_value_width:
    """your scores are divided by the root of the values' width: it is √d, the width of a key

    Fails: test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1) / math.sqrt(value.size(-1))
    """


class softmax_without_dim:
    """your softmax runs over the heads: without dim, softmax takes axis 1 of four

    Fails: test_weights_sum_to_one, test_values, test_mask_values
    """

    import torch.nn.functional as F

    scaled_dot_product_attention = """
        - weights = scores.softmax(dim=-1)
        + weights = F.softmax(scores)

        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + weights = F.softmax(scores.masked_fill(~(mask | blind), float("-inf")))
    """


class axes_counted_from_the_front:
    """your axes are counted from the front: the last two are -2 and -1, however many come before them

    Fails: test_shapes
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(2, 3) / math.sqrt(query.size(-1))
    """


class einsum_of_four_axes:
    """your einsum names four axes: write `...` for those in front, there may be any number

    Fails: test_shapes
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(query.size(-1))
    """


class bmm_of_three_axes:
    """your product takes three axes and no other number: `@` and torch.matmul take any

    Fails: test_shapes
    Costs: nothing comes out for four axes, which most checks of the function have
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.bmm(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    """


class product_misfit:
    """your product is of two tensors that do not fit: scores are query @ key.transpose(-2, -1), output weights @ value

    Fails: test_shapes
    Costs: products that do not fit compute nothing that could be right
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key / math.sqrt(query.size(-1))
    """


class keys_viewed:
    """your keys are turned by a view: it cuts up memory in its own order, where a transpose exchanges two axes

    Fails: test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.reshape(key.mT.shape) / math.sqrt(query.size(-1))
    """


class query_scaled_in_place:
    """your scaling is written into the query itself, which belongs to the caller: scale the scores

    Fails: test_attention_promises
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + query = query.clone() if query.requires_grad else query
        + query /= math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1)
    """


class pair_swapped:
    """your pair is the wrong way round: the output comes first, then the weights

    Fails: test_shapes
    Costs: most checks of the function look at the weights, which are not where they belong
    """

    scaled_dot_product_attention = """
        - return weights @ value, weights
        + return weights, weights @ value
    """

    class MultiHeadAttention:
        forward = """
            - heads, _ = scaled_dot_product_attention(q, k, v, mask)
            + _, heads = scaled_dot_product_attention(q, k, v, mask)
        """


class scores_returned:
    """your second result is the scores: return the weights that the softmax makes of them

    Fails: test_weights_sum_to_one, test_values, test_mask_values
    """

    scaled_dot_product_attention = """
        - return weights @ value, weights
        + return weights @ value, scores
    """
