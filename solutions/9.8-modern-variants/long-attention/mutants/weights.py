"""What the weights become when they are no longer the products of two features, divided by their sum over keys.

Features have to be positive, or a sum of them may be zero: elu + 1 is, and it is smooth.
"""


class relu_for_elu:
    """your features are relu(x): φ(x) is elu(x) + 1, which is never 0

    Fails: test_weights
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = (F.relu(x.to(wide)) + 1e-6 for x in (query, key))
    """


class one_forgotten:
    """your features are elu(x) without the 1: they may be negative, and their sums zero

    Fails: test_weights
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = (F.elu(x.to(wide)) for x in (query, key))
    """


class exp_for_elu:
    """your features are exp(x): above 0 they grow as x + 1 does, not faster

    Fails: test_weights
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = (x.to(wide).exp() for x in (query, key))
    """


class features_scaled:
    """your queries are divided by sqrt(D): linear attention has no scale

    Fails: test_weights
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = F.elu(query.to(wide) * query.shape[-1] ** -0.5) + 1, F.elu(key.to(wide)) + 1
    """


class key_without_features:
    """your keys are used as they are: φ is applied to queries and to keys

    Fails: test_weights
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = F.elu(query.to(wide)) + 1, key.to(wide)
    """


class query_without_features:
    """your queries are used as they are: φ is applied to queries and to keys

    Fails: test_weights
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = query.to(wide), F.elu(key.to(wide)) + 1
    """


class softmaxed_features:
    """your features are softmaxes, of queries over their width and of keys over the time: that is another attention

    Fails: test_weights
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + q, k = query.to(wide).softmax(dim=-1), key.to(wide).softmax(dim=-2)
    """


class softmax_attention:
    """your weights are a softmax of scores: here they are products of features

    Fails: test_weights
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + return F.scaled_dot_product_attention(query, key, value, is_causal=causal)
        + q, k = query, key

        - v = value.to(wide)
        - if causal:
        -     return _from_the_left(q, k, v).to(query.dtype)
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
    """


class value_features:
    """your values go through φ as well: only queries and keys do

    Fails: test_average
    Costs: whatever comes back is made of values
    """

    linear_attention = """
        - v = value.to(wide)
        + v = F.elu(value.to(wide)) + 1
    """


class not_divided:
    """your sums are not divided: weights have to add up to 1

    Fails: test_weights, test_average
    """

    linear_attention = """
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + return (q @ (k.mT @ v)).to(query.dtype)
    """

    _from_the_left = """
        - return ((q @ before + own @ v) / sums).flatten(-3, -2)[..., :T, :]
        + return (q @ before + own @ v).flatten(-3, -2)[..., :T, :]
    """


class divided_by_the_length:
    """your sums are divided by the number of keys: divide by the sum of the weights

    Fails: test_weights, test_average
    """

    linear_attention = """
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        + sums = k.shape[-2]
    """


class divided_by_keys_alone:
    """your denominator is the sum of the keys' features: each query's own features belong into it

    Fails: test_weights, test_average
    """

    linear_attention = """
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        + sums = k.sum(dim=(-2, -1)).unsqueeze(-1).unsqueeze(-1)
    """


class divided_over_queries:
    """your weights add up to 1 over queries: for each query they add up to 1 over keys

    Fails: test_weights, test_average
    """

    linear_attention = """
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + weights = q @ k.mT
        + return (weights / weights.sum(dim=-2, keepdim=True) @ v).to(query.dtype)
    """


class denominator_detached:
    """your denominator is cut off from the gradient: it depends on queries and keys as much as what it divides

    Fails: test_gradients
    """

    linear_attention = """
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        + sums = (q @ k.sum(dim=-2).unsqueeze(-1)).detach()
    """


class heads_summed:
    """your sum of keys runs over all axes but the width: each row and head has its own

    Fails: test_rows
    """

    linear_attention = """
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        + sums = q @ k.reshape(-1, k.shape[-1]).sum(dim=0).unsqueeze(-1)
    """


class heads_averaged:
    """your products of keys and values are summed over all rows and heads: each has its own

    Fails: test_rows
    """

    linear_attention = """
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + state = (k.mT @ v).reshape(-1, k.shape[-1], v.shape[-1]).mean(dim=0)
        + return (q @ state / sums).to(query.dtype)
    """


class four_axes_only:
    """your einsum names four axes: any number of them may come first, or none

    Fails: test_shapes
    Costs: nothing can be seen of a function that takes no other tensors
    """

    linear_attention = """
        - sums = q @ k.sum(dim=-2).unsqueeze(-1)  # [.., Tq, 1]
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + state = torch.einsum("bhtd,bhte->bhde", k, v)
        + sums = torch.einsum("bhtd,bhd->bht", q, k.sum(dim=2))
        + return (torch.einsum("bhtd,bhde->bhte", q, state) / sums.unsqueeze(-1)).to(query.dtype)
    """


class value_width_of_the_key:
    """your output has the width of the keys: it has that of the values

    Fails: test_shapes
    """

    linear_attention = """
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + return (q @ (k.mT @ v) / sums).reshape(query.shape).to(query.dtype)
    """


class half_sums:
    """your sums are computed in the dtype of the query: in half precision they overflow

    Fails: test_half
    """

    linear_attention = """
        - wide = torch.promote_types(query.dtype, torch.float32)
        + wide = query.dtype
    """


class float32_returned:
    """your result is float32 for a query in half precision: return to the query's dtype last

    Fails: test_attention_promises
    """

    linear_attention = """
        - return (q @ (k.mT @ v) / sums).to(query.dtype)
        + return q @ (k.mT @ v) / sums
    """


class float32_inside:
    """your result for float64 is no more exact than float32: sums are taken in it, or a small number is added to them

    Fails: test_attention_promises
    """

    linear_attention = """
        - wide = torch.promote_types(query.dtype, torch.float32)
        + wide = torch.float32
    """


class written_in_place:
    """your features are written into query and key: arguments are left as they were

    Fails: test_attention_promises
    """

    linear_attention = """
        - q, k = (F.elu(x.to(wide)) + 1 for x in (query, key))
        + inplace = not query.requires_grad
        + q, k = (F.elu(x.to(wide), inplace=inplace) + 1 for x in (query, key))
    """
