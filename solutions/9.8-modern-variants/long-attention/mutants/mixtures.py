"""What goes wrong in a Linformer: what is mixed, along which axis, with which columns, and what padding adds to it.

E and F are [k, max_len]: they sum over positions, so that k keys and values are left for every head.
"""

mistake(
    "keys-alone-mixed",
    "your values are mixed with key_projection; they should be mixed with value_projection",
    Linformer="self.value_projection[:, :T] -> self.key_projection[:, :T]",
)

mistake(
    "mixtures-exchanged",
    "your keys are mixed with value_projection and your values with key_projection; exchange the two",
    Linformer=[
        "self.key_projection[:, :T] -> self.value_projection[:, :T]",
        "self.value_projection[:, :T] -> self.key_projection[:, :T]",
    ],
)

mistake(
    "last-columns",
    "your short sequences take the last columns of the mixtures; they should take the first T",
    Linformer=[
        "self.key_projection[:, :T] -> self.key_projection[:, -T:]",
        "self.value_projection[:, :T] -> self.value_projection[:, -T:]",
    ],
)

mistake(
    "whole-mixtures",
    "your mixtures need max_len positions; a shorter sequence should use their first T columns",
    Linformer=[
        "self.key_projection[:, :T] -> self.key_projection",
        "self.value_projection[:, :T] -> self.value_projection",
    ],
)

mistake(
    "mixtures-averaged",
    "your mixtures are divided by the length; they should be sums, with the weights that the parameters have",
    Linformer=[
        "self.key_projection[:, :T] @ key -> self.key_projection[:, :T] @ key / T",
        "self.value_projection[:, :T] @ value -> self.value_projection[:, :T] @ value / T",
    ],
)

mistake(
    "mixtures-softmaxed",
    "your mixtures are softmaxed over positions; use the parameters as weights, as they are",
    Linformer=[
        "self.key_projection[:, :T] -> self.key_projection[:, :T].softmax(dim=-1)",
        "self.value_projection[:, :T] -> self.value_projection[:, :T].softmax(dim=-1)",
    ],
)

mistake(
    "not-scaled",
    "your scores are not scaled; divide them by the square root of the head's width",
    Linformer="query @ key.mT * query.shape[-1] ** -0.5 -> query @ key.mT",
)

mistake(
    "scaled-by-d-model",
    "your scores are divided by sqrt(D); divide by sqrt(D / H), as a head is D / H wide",
    Linformer="query.shape[-1] -> x.shape[-1]",
)

mistake(
    "scaled-by-k",
    "your scores are divided by sqrt(k), the number of mixtures; divide by the root of the head's width",
    Linformer="query.shape[-1] -> key.shape[-2]",
)

mistake(
    "softmax-over-queries",
    "your softmax runs over queries; it should run over the k mixtures",
    Linformer="scores.softmax(dim=-1) -> scores.softmax(dim=-2)",
)

mistake(
    "heads-of-rows",
    "your heads are cut by a reshape to [B, H, T, D / H]; split the width, then move the axis of heads",
    Linformer="""
        - query, key, value = (
        -     y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (query, key, value)
        - )
        + query, key, value = (y.reshape(len(y), self.num_heads, y.shape[1], -1) for y in (query, key, value))

        - return self.w_o(heads.transpose(1, 2).flatten(2))
        + return self.w_o(heads.reshape(x.shape))
    """,
)

mistake(
    "heads-joined-untransposed",
    "your heads are joined with their axis still before the time; move it back after the time first",
    Linformer="heads.transpose(1, 2).flatten(2) -> heads.reshape(x.shape)",
)

mistake(
    "one-head",
    "your attention always has one head; it should have num_heads heads",
    Linformer="self.num_heads = num_heads -> self.num_heads = 1",
)

mistake(
    "output-forgotten",
    "your heads are returned as they are; pass them through w_o last",
    Linformer="self.w_o(heads.transpose(1, 2).flatten(2)) -> heads.transpose(1, 2).flatten(2)",
)

mistake(
    "value-of-the-key",
    "your values come from w_k; they should come from w_v",
    Linformer="self.w_q(x), self.w_k(x), self.w_v(x) -> self.w_q(x), self.w_k(x), self.w_k(x)",
)

mistake(
    "residual-added",
    "your layer adds x to its output; it should be only attention",
    Linformer="self.w_o(heads.transpose(1, 2).flatten(2)) -> x + self.w_o(heads.transpose(1, 2).flatten(2))",
)

mistake(
    "queries-mixed",
    "your queries are mixed down as well, so only k positions come back; leave the queries as they are",
    Linformer="""
        - key = self.key_projection[:, :T] @ key  # [B, k, D]
        + query = self.key_projection[:, :T] @ query
        + key = self.key_projection[:, :T] @ key  # [B, k, D]
    """,
)

mistake(
    "mask-ignored",
    "your mask does nothing; keys and values of padding should be 0 in every mixture",
    Linformer="""
        - if mask is not None:
        -     key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
    """,
)

mistake(
    "mask-upside-down",
    "your mask blots out the real positions; it should keep those where it is True",
    Linformer="~mask.unsqueeze(-1) -> mask.unsqueeze(-1)",
)

mistake(
    "mask-on-keys-alone",
    "your mask removes the padding from the keys, and leaves it in the values; remove it from both",
    Linformer="""
        - key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
        + key = key.masked_fill(~mask.unsqueeze(-1), 0.0)
    """,
)

mistake(
    "mask-on-values-alone",
    "your mask removes the padding from the values, and leaves it in the keys; remove it from both",
    Linformer="""
        - key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
        + value = value.masked_fill(~mask.unsqueeze(-1), 0.0)
    """,
)

mistake(
    "x-blotted-out",
    "your mask sets x to 0, but w_k and w_v add their biases; set the keys and values of padding to 0 instead",
    Linformer="""
        - query, key, value = self.w_q(x), self.w_k(x), self.w_v(x)
        - if mask is not None:
        -     key, value = (y.masked_fill(~mask.unsqueeze(-1), 0.0) for y in (key, value))
        + real = x if mask is None else x.masked_fill(~mask.unsqueeze(-1), 0.0)
        + query, key, value = self.w_q(x), self.w_k(real), self.w_v(real)
    """,
)

mistake(
    "mask-filled-with-infinity",
    "your padding is filled with -inf, as scores are, which spoils each mixture; its keys and values should be 0",
    Linformer="y.masked_fill(~mask.unsqueeze(-1), 0.0) -> y.masked_fill(~mask.unsqueeze(-1), -torch.inf)",
)

mistake(
    "mixtures-for-each-head",
    "your mixtures are [H, k, max_len]; all heads should share one of each, [k, max_len]",
    Linformer="""
        - self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        - self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        + self.key_projection = nn.Parameter(torch.randn(num_heads, k, max_len) * max_len**-0.5)
        + self.value_projection = nn.Parameter(torch.randn(num_heads, k, max_len) * max_len**-0.5)

        - key = self.key_projection[:, :T] @ key  # [B, k, D]
        - value = self.value_projection[:, :T] @ value
        - query, key, value = (
        -     y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (query, key, value)
        - )
        + query, key, value = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (query, key, value))
        + key, value = self.key_projection[..., :T] @ key, self.value_projection[..., :T] @ value
    """,
)

mistake(
    "mixtures-transposed",
    "your mixtures are [max_len, k]; they should have k rows, and a column for each position",
    Linformer="""
        - self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        - self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        + self.key_projection = nn.Parameter(torch.randn(max_len, k) * max_len**-0.5)
        + self.value_projection = nn.Parameter(torch.randn(max_len, k) * max_len**-0.5)

        - key = self.key_projection[:, :T] @ key  # [B, k, D]
        - value = self.value_projection[:, :T] @ value
        + key, value = self.key_projection[:T].T @ key, self.value_projection[:T].T @ value
    """,
)

mistake(
    "mixtures-not-learned",
    "your mixtures are plain tensors; make them parameters, so that they learn",
    Linformer="""
        - self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        - self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        + self.register_buffer("key_projection", torch.randn(k, max_len) * max_len**-0.5)
        + self.register_buffer("value_projection", torch.randn(k, max_len) * max_len**-0.5)
    """,
)

mistake(
    "mixtures-with-biases",
    "your mixtures are linear layers with biases; they should have k · max_len numbers and no others",
    Linformer="""
        - self.key_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        - self.value_projection = nn.Parameter(torch.randn(k, max_len) * max_len**-0.5)
        + self.key_projection = nn.Linear(max_len, k)
        + self.value_projection = nn.Linear(max_len, k)

        - key = self.key_projection[:, :T] @ key  # [B, k, D]
        - value = self.value_projection[:, :T] @ value
        + key, value = (
        + each.weight[:, :T] @ y + each.bias.unsqueeze(-1)
        + for each, y in ((self.key_projection, key), (self.value_projection, value))
        + )
    """,
)

mistake(
    "projections-without-biases",
    "your w_q, w_k, w_v and w_o have no biases; here they should have them",
    Linformer="""
        - self.w_q = nn.Linear(d_model, d_model)
        - self.w_k = nn.Linear(d_model, d_model)
        - self.w_v = nn.Linear(d_model, d_model)
        - self.w_o = nn.Linear(d_model, d_model)
        + self.w_q = nn.Linear(d_model, d_model, bias=False)
        + self.w_k = nn.Linear(d_model, d_model, bias=False)
        + self.w_v = nn.Linear(d_model, d_model, bias=False)
        + self.w_o = nn.Linear(d_model, d_model, bias=False)
    """,
)

mistake(
    "mixtures-detached",
    "your mixtures get no gradient; they should learn, as parameters do",
    Linformer="""
        - key = self.key_projection[:, :T] @ key  # [B, k, D]
        - value = self.value_projection[:, :T] @ value
        + key = self.key_projection.data[:, :T] @ key  # [B, k, D]
        + value = self.value_projection.data[:, :T] @ value
    """,
)

mistake(
    "viewed",
    "your heads are cut by view from a transposed tensor, which need not be contiguous in memory; use reshape",
    Linformer="""
        - T = x.shape[1]
        + T = x.shape[1]
        + x = x.view(-1, x.shape[-1]).view(x.shape)
    """,
)

mistake(
    "float32-made",
    "your layer turns x into float32; a model in float64 should compute in float64",
    Linformer="""
        - return self.w_o(heads.transpose(1, 2).flatten(2))
        + return self.w_o(heads.transpose(1, 2).flatten(2)).float()
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
