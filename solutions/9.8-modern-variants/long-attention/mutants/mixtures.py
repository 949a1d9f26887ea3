"""What goes wrong in a Linformer: what is mixed, along which axis, with which columns, and what padding adds to it.

E and F are [k, max_len]: they sum over positions, so that k keys and values are left for every head.
"""


class keys_alone_mixed:
    """your values are mixed with key_projection: they have a mixture of their own

    Fails: test_values
    """

    class Linformer:
        forward = """
            - value = self.value_projection[:, :T] @ value
            + value = self.key_projection[:, :T] @ value
        """


class mixtures_exchanged:
    """your keys are mixed with value_projection and your values with key_projection

    Fails: test_values
    """

    class Linformer:
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            + key = self.value_projection[:, :T] @ key
            + value = self.key_projection[:, :T] @ value
        """


class last_columns:
    """your short sequences take the last columns of the mixtures: they take the first T

    Fails: test_shorter
    """

    class Linformer:
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            + key = self.key_projection[:, -T:] @ key
            + value = self.value_projection[:, -T:] @ value
        """


class whole_mixtures:
    """your mixtures need max_len positions: a shorter sequence uses their first T columns

    Fails: test_linformer_shapes
    """

    class Linformer:
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            + key = self.key_projection @ key
            + value = self.value_projection @ value
        """


class mixtures_averaged:
    """your mixtures are divided by the length: they are sums, with the weights that the parameters have

    Fails: test_values, test_shorter
    """

    class Linformer:
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            + key = self.key_projection[:, :T] @ key / T
            + value = self.value_projection[:, :T] @ value / T
        """


class mixtures_softmaxed:
    """your mixtures are softmaxed over positions: the parameters are the weights, as they are

    Fails: test_values
    """

    class Linformer:
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            + key = self.key_projection[:, :T].softmax(dim=-1) @ key
            + value = self.value_projection[:, :T].softmax(dim=-1) @ value
        """


class not_scaled:
    """your scores are not scaled: divide them by the square root of the head's width

    Fails: test_values
    """

    class Linformer:
        forward = """
            - scores = query @ key.mT * query.shape[-1] ** -0.5  # [B, H, T, k]
            + scores = query @ key.mT
        """


class scaled_by_d_model:
    """your scores are divided by sqrt(D): a head is D / H wide

    Fails: test_values
    """

    class Linformer:
        forward = """
            - scores = query @ key.mT * query.shape[-1] ** -0.5  # [B, H, T, k]
            + scores = query @ key.mT * x.shape[-1] ** -0.5
        """


class scaled_by_k:
    """your scores are divided by sqrt(k): the head's width counts, not the number of mixtures

    Fails: test_values
    """

    class Linformer:
        forward = """
            - scores = query @ key.mT * query.shape[-1] ** -0.5  # [B, H, T, k]
            + scores = query @ key.mT * key.shape[-2] ** -0.5
        """


class softmax_over_queries:
    """your softmax runs over queries: it runs over the k mixtures

    Fails: test_values
    """

    class Linformer:
        forward = """
            - heads = scores.softmax(dim=-1) @ value
            + heads = scores.softmax(dim=-2) @ value
        """


class heads_of_rows:
    """your heads are cut by a reshape to [B, H, T, D / H]: split the width, then move the axis of heads

    Fails: test_values
    """

    class Linformer:
        forward = """
            - query, key, value = (
            -     y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (query, key, value)
            - )
            + query, key, value = (y.reshape(len(y), self.num_heads, y.shape[1], -1) for y in (query, key, value))

            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.reshape(x.shape))
        """


class heads_joined_untransposed:
    """your heads are joined without moving their axis back after the time

    Fails: test_values
    """

    class Linformer:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.reshape(x.shape))
        """


class one_head:
    """your attention has one head, whatever num_heads is

    Fails: test_values
    """

    class Linformer:
        __init__ = """
            - self.num_heads = num_heads
            + self.num_heads = 1
        """


class output_forgotten:
    """your heads are returned as they are: w_o comes last

    Fails: test_values
    """

    class Linformer:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return heads.transpose(1, 2).flatten(2)
        """


class value_of_the_key:
    """your values come from w_k: they have a projection of their own

    Fails: test_values
    """

    class Linformer:
        forward = """
            - query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
            + query, key, value = self.w_q(x), self.w_k(x), self.w_k(x)
        """


class residual_added:
    """your layer adds x to its output: it is attention alone

    Fails: test_values
    """

    class Linformer:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return x + self.w_o(heads.transpose(1, 2).flatten(2))
        """


class queries_mixed:
    """your queries are mixed down as well: every position asks, so k positions come back

    Fails: test_linformer_shapes
    """

    class Linformer:
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            + query = self.key_projection[:, :T] @ query
            + key = self.key_projection[:, :T] @ key  # [B, k, D]
        """


class mask_ignored:
    """your mask does nothing: keys and values of padding are 0 in every mixture

    Fails: test_padding
    """

    class Linformer:
        forward = """
            - if mask is not None:
            -     key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
        """


class mask_upside_down:
    """your mask blots out the real positions: True is what stays

    Fails: test_padding
    """

    class Linformer:
        forward = """
            - key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
            + key, value = (y.masked_fill(mask.unsqueeze(-1), 0.0) for y in (key, value))
        """


class mask_on_keys_alone:
    """your mask takes the padding out of the keys, and leaves it in the values

    Fails: test_padding
    """

    class Linformer:
        forward = """
            - key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
            + key = key.masked_fill(~mask.unsqueeze(-1), 0.0)
        """


class mask_on_values_alone:
    """your mask takes the padding out of the values, and leaves it in the keys

    Fails: test_padding
    """

    class Linformer:
        forward = """
            - key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
            + value = value.masked_fill(~mask.unsqueeze(-1), 0.0)
        """


class x_blotted_out:
    """your mask sets x to 0: then w_k and w_v add their biases, and padding is in every mixture again

    Fails: test_mask_values
    """

    class Linformer:
        forward = """
            - query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
            - if mask is not None:
            -     key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
            + real = x if mask is None else x.masked_fill(~mask.unsqueeze(-1), 0.0)
            + query, key, value = self.w_q(x), self.w_k(real), self.w_v(real)
        """


class mask_filled_with_infinity:
    """your padding is filled with -inf, as scores are: a mixture of it is infinite, or not a number

    Fails: test_padding
    """

    class Linformer:
        forward = """
            - key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
            + key, value = (y.masked_fill(~mask.unsqueeze(-1), -torch.inf) for y in (key, value))
        """


class mixtures_for_each_head:
    """your mixtures are [H, k, max_len]: one of each is shared by all heads

    Fails: test_parameters
    """

    class Linformer:
        __init__ = """
            - self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
            - self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
            + self.key_projection = nn.Parameter(torch.randn(num_heads, k, max_len) * max_len**-0.5)
            + self.value_projection = nn.Parameter(torch.randn(num_heads, k, max_len) * max_len**-0.5)
        """
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            - query, key, value = (
            -     y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (query, key, value)
            - )
            + query, key, value = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (query, key, value))
            + key, value = self.key_projection[..., :T] @ key, self.value_projection[..., :T] @ value
        """


class mixtures_transposed:
    """your mixtures are [max_len, k]: k rows, a column for each position

    Fails: test_parameters
    """

    class Linformer:
        __init__ = """
            - self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
            - self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
            + self.key_projection = nn.Parameter(torch.randn(max_len, k) * max_len**-0.5)
            + self.value_projection = nn.Parameter(torch.randn(max_len, k) * max_len**-0.5)
        """
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            + key, value = self.key_projection[:T].T @ key, self.value_projection[:T].T @ value
        """


class mixtures_not_learned:
    """your mixtures are plain tensors: they are parameters, and learn

    Fails: test_parameters
    """

    class Linformer:
        __init__ = """
            - self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
            - self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
            + self.register_buffer("key_projection", torch.randn(k, max_len) * max_len**-0.5)
            + self.register_buffer("value_projection", torch.randn(k, max_len) * max_len**-0.5)
        """


class mixtures_with_biases:
    """your mixtures are linear layers with biases: they have k · max_len numbers and no others

    Fails: test_parameters
    """

    class Linformer:
        __init__ = """
            - self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
            - self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
            + self.key_projection = nn.Linear(max_len, k)
            + self.value_projection = nn.Linear(max_len, k)
        """
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            + key, value = (
            + each.weight[:, :T] @ y + each.bias.unsqueeze(-1)
            + for each, y in ((self.key_projection, key), (self.value_projection, value))
            + )
        """


class projections_without_biases:
    """your w_q, w_k, w_v and w_o have no biases: here they do

    Fails: test_parameters
    """

    class Linformer:
        __init__ = """
            - self.w_q = nn.Linear(d_model, d_model)
            - self.w_k = nn.Linear(d_model, d_model)
            - self.w_v = nn.Linear(d_model, d_model)
            - self.w_o = nn.Linear(d_model, d_model)
            + self.w_q = nn.Linear(d_model, d_model, bias=False)
            + self.w_k = nn.Linear(d_model, d_model, bias=False)
            + self.w_v = nn.Linear(d_model, d_model, bias=False)
            + self.w_o = nn.Linear(d_model, d_model, bias=False)
        """


class mixtures_detached:
    """your mixtures take no gradient: they are parameters, and learn

    Fails: test_linformer_gradients
    """

    class Linformer:
        forward = """
            - key = self.key_projection[:, :T] @ key  # [B, k, D]
            - value = self.value_projection[:, :T] @ value
            + key = self.key_projection.data[:, :T] @ key  # [B, k, D]
            + value = self.value_projection.data[:, :T] @ value
        """


class viewed:
    """your heads are cut by view from a tensor that was transposed: it need not be contiguous in memory

    Fails: test_linformer_promises
    """

    class Linformer:
        forward = """
            - T = x.shape[1]
            + T = x.shape[1]
            + x = x.view(-1, x.shape[-1]).view(x.shape)
        """


class float32_made:
    """your layer turns x into float32: a model in float64 computes in float64

    Fails: test_linformer_promises
    """

    class Linformer:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.w_o(heads.transpose(1, 2).flatten(2)).float()
        """
