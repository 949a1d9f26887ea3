"""Self-attention as other people get it wrong."""


# --- the three projections ---


class biases_in_a_fused_product:
    """All three layers keep their bias, and their weights are multiplied at once.

    Named: bias_kept
    """

    import torch.nn.functional as F

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k) for _ in range(3))

        def forward(self, x):
            weight = torch.cat((self.w_q.weight, self.w_k.weight, self.w_v.weight))
            bias = torch.cat((self.w_q.bias, self.w_k.bias, self.w_v.bias))
            q, k, v = F.linear(x, weight, bias).chunk(3, dim=-1)
            attn = (q @ k.mT * q.shape[-1] ** -0.5).softmax(-1)
            return attn @ v, attn


class named_as_in_bert:
    """The layers are called query, key and value, as in published encoders.

    Named: other_names
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.query = nn.Linear(d_model, d_k, bias=False)
            self.key = nn.Linear(d_model, d_k, bias=False)
            self.value = nn.Linear(d_model, d_k, bias=False)

        def forward(self, x):
            scores = torch.matmul(self.query(x), self.key(x).transpose(-1, -2)) / math.sqrt(
                self.key.out_features
            )
            probs = nn.functional.softmax(scores, dim=-1)
            return torch.matmul(probs, self.value(x)), probs


class named_in_capitals:
    """The layers are called W_q, W_k and W_v.

    Named: other_names
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.W_q = nn.Linear(d_model, d_k, bias=False)
            self.W_k = nn.Linear(d_model, d_k, bias=False)
            self.W_v = nn.Linear(d_model, d_k, bias=False)

        def forward(self, x):
            w = (torch.bmm(self.W_q(x), self.W_k(x).transpose(1, 2)) / self.W_q.out_features**0.5).softmax(-1)
            return torch.bmm(w, self.W_v(x)), w


class one_layer_for_three:
    """One linear layer of three times the width makes queries, keys and values, as in small GPTs.

    Named: projections_fused
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.c_attn = nn.Linear(d_model, 3 * d_k, bias=False)
            self.d_k = d_k

        def forward(self, x):
            q, k, v = self.c_attn(x).split(self.d_k, dim=2)
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = nn.functional.softmax(att, dim=-1)
            return att @ v, att


class matrices_the_way_linear_keeps_them:
    """Bare parameters of [d_k, d_model], multiplied by F.linear.

    Named: plain_matrices
    """

    import torch.nn.functional as F

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.w_q = nn.Parameter(torch.empty(d_k, d_model))
            self.w_k = nn.Parameter(torch.empty(d_k, d_model))
            self.w_v = nn.Parameter(torch.empty(d_k, d_model))
            for w in self.parameters():
                nn.init.xavier_normal_(w)

        def forward(self, x):
            q, k, v = F.linear(x, self.w_q), F.linear(x, self.w_k), F.linear(x, self.w_v)
            attn = F.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), dim=-1)
            return attn @ v, attn


class random_matrices:
    """Parameters of [d_model, d_k] drawn by randn and multiplied from the right.

    Named: plain_matrices
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.w_q = nn.Parameter(torch.rand(d_model, d_k))
            self.w_k = nn.Parameter(torch.rand(d_model, d_k))
            self.w_v = nn.Parameter(torch.rand(d_model, d_k))

        def forward(self, x):
            Q, K, V = torch.matmul(x, self.w_q), torch.matmul(x, self.w_k), torch.matmul(x, self.w_v)
            A = torch.softmax(torch.matmul(Q, K.mT) / self.w_k.shape[1] ** 0.5, dim=-1)
            return torch.matmul(A, V), A


class as_wide_as_the_input:
    """All layers go from d_model to d_model.

    Named: projections_as_wide_as_x
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.d_k = d_k
            self.w_q = nn.Linear(d_model, d_model, bias=False)
            self.w_k = nn.Linear(d_model, d_model, bias=False)
            self.w_v = nn.Linear(d_model, d_model, bias=False)

        def forward(self, x):
            w = (self.w_q(x) @ self.w_k(x).transpose(-2, -1) / math.sqrt(self.d_k)).softmax(dim=-1)
            return w @ self.w_v(x), w


class values_as_wide_as_the_input:
    """Only the values go from d_model to d_model, so that a residual would fit.

    Named: values_as_wide_as_x
    """

    class SelfAttention:
        __init__ = """
            - self.w_v = nn.Linear(d_model, d_k, bias=False)
            + self.w_v = nn.Linear(d_model, d_model, bias=False)
        """


class widths_exchanged:
    """The layers are made from d_k to d_model.

    Named: widths_swapped
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.scale = d_k**-0.5
            self.w_q = nn.Linear(d_k, d_model, bias=False)
            self.w_k = nn.Linear(d_k, d_model, bias=False)
            self.w_v = nn.Linear(d_k, d_model, bias=False)

        def forward(self, x):
            w = torch.softmax(self.w_q(x) @ self.w_k(x).mT * self.scale, dim=-1)
            return w @ self.w_v(x), w


class weights_as_they_lie:
    """x is multiplied by the layers' weights, which are kept the other way round.

    Named: weight_untransposed
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = x @ self.w_q.weight, x @ self.w_k.weight, x @ self.w_v.weight
            w = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
            return w @ v, w


class values_by_the_keys_layer:
    """A slip while copying lines: the values are made by w_k.

    Named: values_from_keys
    """

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            q = self.w_q(x)
            k = self.w_k(x)
            v = self.w_k(x)
            attn = F.softmax(torch.einsum("bid,bjd->bij", q, k) / math.sqrt(k.shape[-1]), dim=-1)
            return torch.einsum("bij,bjd->bid", attn, v), attn


class queries_by_the_keys_layer:
    """A slip while copying lines: the queries are made by w_k too.

    Named: queries_from_keys
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_k(x), self.w_k(x), self.w_v(x)
            weights = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(dim=-1)
            return weights @ v, weights


class values_are_the_input:
    """The input itself is averaged; w_v is made and not used.

    Named: values_not_projected
    """

    class SelfAttention:
        def forward(self, x):
            scores = torch.einsum("bqd,bkd->bqk", self.w_q(x), self.w_k(x)) / self.w_q.out_features**0.5
            attn = torch.softmax(scores, -1)
            return torch.einsum("bqk,bkd->bqd", attn, x), attn


class projected_at_the_end:
    """An output projection with a bias, as many heads have it.

    Named: output_projection_added
    """

    class SelfAttention:
        __init__ = """
              self.w_v = nn.Linear(d_model, d_k, bias=False)
            + self.c_proj = nn.Linear(d_k, d_k)
        """

        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            att = nn.functional.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1)), dim=2)
            return self.c_proj(torch.bmm(att, v)), att


class learned_temperature:
    """The scale is a parameter that begins as the right one.

    Named: scale_learned
    """

    class SelfAttention:
        __init__ = """
              self.w_v = nn.Linear(d_model, d_k, bias=False)
            + self.scale = nn.Parameter(torch.tensor(d_k**-0.5))
        """

        def forward(self, x):
            w = (self.w_q(x) @ self.w_k(x).mT * self.scale).softmax(-1)
            return w @ self.w_v(x), w


class super_not_called:
    """The parent's constructor is not called.

    Named: super_forgotten
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            self.d_k = d_k
            self.w_q = nn.Linear(d_model, d_k, bias=False)
            self.w_k = nn.Linear(d_model, d_k, bias=False)
            self.w_v = nn.Linear(d_model, d_k, bias=False)


class attribute_misspelt:
    """Forward says wq where the layer is called w_q."""

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.wq(x), self.w_k(x), self.w_v(x)
            weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
            return weights @ v, weights


# --- the scores ---


class never_scaled:
    """The products go into the softmax as they are.

    Named: unscaled
    """

    class SelfAttention:
        def forward(self, x):
            attn = torch.einsum("bqd,bkd->bqk", self.w_q(x), self.w_k(x)).softmax(dim=-1)
            return torch.einsum("bqk,bkd->bqd", attn, self.w_v(x)), attn


class scaled_twice:
    """Queries and keys both carry the whole scale.

    Named: scaled_by_width
    """

    class SelfAttention:
        def forward(self, x):
            scale = self.w_q.out_features**-0.5
            q, k, v = self.w_q(x) * scale, self.w_k(x) * scale, self.w_v(x)
            weights = torch.softmax(q @ k.transpose(1, 2), dim=-1)
            return weights @ v, weights


class scaled_by_half_the_root:
    """The fourth root of d_k is put on the queries alone.

    Named: scaled_by_the_fourth_root
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = torch.softmax((q * q.size(-1) ** -0.25) @ k.mT, dim=-1)
            return weights @ v, weights


class divided_by_a_negative_power:
    """Divided by d_k to the power of -1/2, which multiplies.

    Named: scores_multiplied
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = nn.functional.softmax(torch.bmm(q, k.permute(0, 2, 1)) / (k.shape[-1] ** -0.5), dim=-1)
            return torch.bmm(weights, v), weights


class scaled_by_the_embedding:
    """The scale is taken from d_model when the layer is made.

    Named: scaled_by_model_width
    """

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.scale = 1 / d_model**0.5
        """

        def forward(self, x):
            attn = nn.functional.softmax(self.w_q(x) @ self.w_k(x).transpose(-1, -2) * self.scale, dim=-1)
            return attn @ self.w_v(x), attn


class scaled_by_the_second_axis:
    """The root is of keys.shape[1], which is how many there are.

    Named: scaled_by_length
    """

    class SelfAttention:
        def forward(self, x):
            queries, keys, values = self.w_q(x), self.w_k(x), self.w_v(x)
            attn = torch.softmax(torch.bmm(queries, keys.transpose(1, 2)) / keys.shape[1] ** 0.5, dim=2)
            return torch.bmm(attn, values), attn


class scaled_by_eight:
    """The paper's number for a head of 64 columns, whatever the width.

    Named: scaled_by_a_constant
    """

    class SelfAttention:
        def forward(self, x):
            attn = torch.einsum("bid,bjd->bij", self.w_q(x), self.w_k(x)).mul(0.125).softmax(dim=-1)
            return attn.bmm(self.w_v(x)), attn


class scaled_after_the_softmax:
    """The weights are divided by the root, not the scores.

    Named: scaled_after_softmax
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1) / math.sqrt(q.size(-1))
            return torch.bmm(weights, v), weights


class keys_by_queries:
    """The product is keys times queries, so a row belongs to a key.

    Named: queries_and_keys_swapped
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = torch.einsum("bqd,bkd->bkq", q, k).div(math.sqrt(q.size(-1))).softmax(dim=-1)
            return torch.bmm(weights, v), weights


class keys_reshaped:
    """The keys are reshaped to [B, d_k, T].

    Named: keys_viewed
    """

    class SelfAttention:
        def forward(self, x):
            B, T, _ = x.shape
            q, k, v = self.w_q(x), self.w_k(x).reshape(B, -1, T), self.w_v(x)
            w = torch.softmax(torch.bmm(q, k) / q.size(2) ** 0.5, dim=2)
            return torch.bmm(w, v), w


class keys_as_they_are:
    """The keys are not transposed at all.

    Named: product_misfit
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            attn = torch.softmax(torch.matmul(q, k) / math.sqrt(k.size(-1)), dim=-1)
            return torch.matmul(attn, v), attn


class all_axes_reversed:
    """The keys are turned by .T, which reverses all three axes.

    Named: product_misfit
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            attn = nn.functional.softmax(q @ k.T / math.sqrt(k.shape[-1]), dim=-1)
            return attn @ v, attn


class batch_and_time_exchanged:
    """transpose(0, 1) exchanges the batch and the positions.

    Named: product_misfit
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            attn = torch.softmax(q @ k.transpose(0, 1) / math.sqrt(k.shape[-1]), dim=-1)
            return attn @ v, attn


class features_compared:
    """The transpose is on the queries: features are compared with features, and mixed.

    Named: features_compared
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = torch.softmax(q.transpose(1, 2) @ k / math.sqrt(q.size(-1)), dim=-1)
            return v @ weights, weights


class batch_flattened:
    """All sequences become one long one, whose positions all look at each other.

    Named: batch_as_one_sequence
    """

    class SelfAttention:
        def forward(self, x):
            B, T, D = x.shape
            flat = x.reshape(B * T, D)
            q, k, v = self.w_q(flat), self.w_k(flat), self.w_v(flat)
            w = torch.softmax(q @ k.T / math.sqrt(q.size(-1)), dim=-1)
            return (w @ v).view(B, T, -1), w


class cosine_scores:
    """Queries and keys are normalised to length one before the product.

    Named: vectors_normalised
    """

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            q, k, v = F.normalize(self.w_q(x), dim=-1), F.normalize(self.w_k(x), dim=-1), self.w_v(x)
            w = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
            return w @ v, w


# --- the weights ---


class softmax_over_axis_one:
    """The softmax runs over dim=1 of three axes, the queries.

    Named: softmax_over_queries
    """

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            attn = torch.einsum("bqd,bkd->bqk", self.w_q(x), self.w_k(x)) / self.w_k.out_features**0.5
            attn = F.softmax(attn, dim=1)
            return torch.einsum("bqk,bkd->bqd", attn, self.w_v(x)), attn


class softmax_without_dim:
    """The softmax is not told an axis.

    Named: softmax_over_batch
    """

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            attn = F.softmax(torch.bmm(self.w_q(x), self.w_k(x).mT) / math.sqrt(self.w_q.out_features))
            return torch.bmm(attn, self.w_v(x)), attn


class softmax_module_of_axis_zero:
    """nn.Softmax is made with dim=0, right for one vector and wrong here.

    Named: softmax_over_batch
    """

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.softmax = nn.Softmax(dim=0)
        """

        def forward(self, x):
            w = self.softmax(self.w_q(x) @ self.w_k(x).transpose(1, 2) * self.w_q.out_features**-0.5)
            return w @ self.w_v(x), w


class softmax_by_hand_overflows:
    """The softmax is written out without subtracting the maximum.

    Named: exp_overflow
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            e = torch.exp(torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.size(-1)))
            w = e / e.sum(-1, keepdim=True)
            return torch.einsum("bqk,bkd->bqd", w, v), w


class softmax_by_hand_over_all:
    """The exponentials are divided by the sum over the whole table.

    Named: normalised_over_everything
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            scores = q @ k.transpose(1, 2) / math.sqrt(q.size(-1))
            e = torch.exp(scores - scores.max())
            w = e / e.sum()
            return w @ v, w


class scores_over_their_sum:
    """The scores are divided by their sum, no exponentials.

    Named: normalised_without_exp
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            scores = torch.bmm(q, k.mT) / math.sqrt(q.size(-1))
            w = scores / torch.sum(scores, dim=2, keepdim=True)
            return torch.bmm(w, v), w


class sigmoids:
    """Each score is squashed by itself.

    Named: sigmoid_weights
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.sigmoid(torch.bmm(q, k.mT) / math.sqrt(q.size(-1)))
            return torch.bmm(w, v), w


class logarithms:
    """log_softmax in place of softmax.

    Named: log_weights
    """

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = F.log_softmax(q @ k.transpose(-1, -2) * k.size(-1) ** -0.5, dim=-1)
            return w @ v, w


class softmax_twice:
    """The weights go through a softmax once more.

    Named: softmax_twice
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
            w = w.softmax(-1)
            return w @ v, w


class triangle_of_a_small_gpt:
    """The future is hidden by a triangle that is kept as a buffer of 1024 positions.

    Named: causal
    """

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.register_buffer("tril", torch.tril(torch.ones(1024, 1024)), persistent=False)
        """

        def forward(self, x):
            T = x.size(1)
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
            wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
            wei = nn.functional.softmax(wei, dim=-1)
            return wei @ v, wei


class weights_not_to_be_learned:
    """The weights are taken out of the graph before they average the values.

    Named: weights_detached
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            with torch.no_grad():
                w = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1)), dim=-1)
            return torch.bmm(w, v), w


class weights_for_a_plot:
    """The weights that are returned are detached: they were meant for a plot.

    Named: returned_weights_detached
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.einsum("bqd,bkd->bqk", q, k).mul(q.size(-1) ** -0.5).softmax(-1)
            return torch.einsum("bqk,bkd->bqd", w, v), w.detach()


# --- what comes out ---


class weights_first:
    """The pair is (weights, output).

    Named: pair_swapped
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            attn = torch.softmax(torch.bmm(q, k.mT) / math.sqrt(q.size(-1)), dim=-1)
            return attn, torch.bmm(attn, v)


class weights_kept_as_an_attribute:
    """The output alone is returned, the weights are an attribute.

    Named: output_alone
    """

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            self.attention_weights = F.softmax(
                torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1)), dim=-1
            )
            return torch.bmm(self.attention_weights, v)


class nothing_returned:
    """Forward ends without a return.

    Named: nothing_returned
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
            self.output = weights @ v, weights


class a_list:
    """Output and weights come as a list.

    Named: list_returned
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
            return [weights @ v, weights]


class logits_returned:
    """The second result is what goes into the softmax.

    Named: scores_returned
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            scores = torch.einsum("bid,bjd->bij", q, k) * q.shape[-1] ** -0.5
            return torch.einsum("bij,bjd->bid", scores.softmax(-1), v), scores


class raw_scores_average:
    """The softmax is made and the scores are used.

    Named: scores_used_for_output
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            scores = torch.bmm(q, k.mT) / math.sqrt(q.size(-1))
            weights = torch.softmax(scores, dim=-1)
            return torch.bmm(scores, v), weights


class averaged_over_queries:
    """The letters of the second sum are mixed up: columns of the weights average the values.

    Named: output_by_columns
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.einsum("bqd,bkd->bqk", q, k).div(math.sqrt(q.size(-1))).softmax(dim=-1)
            return torch.einsum("bqk,bqd->bkd", w, v), w


class values_times_weights:
    """The product is the wrong way round: values times weights.

    Named: product_misfit
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), dim=-1)
            return v @ w, w


class pooled:
    """The output is averaged over the positions.

    Named: output_pooled
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), dim=-1)
            return (w @ v).mean(dim=1), w


class squeezed:
    """Axes of one are squeezed away at the end.

    Named: squeezed
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.softmax(torch.bmm(q, k.mT) / math.sqrt(q.size(-1)), dim=-1)
            return torch.bmm(w, v).squeeze(), w.squeeze()


class residual_and_all:
    """x is added to the output, as the layer around would do.

    Named: residual_added
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
            return x + w @ v, w


class dropout_on_the_weights:
    """The weights that average the values are dropped in train mode.

    Named: dropout_added
    """

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.attn_dropout = nn.Dropout(0.1)
        """

        def forward(self, x):
            att = nn.functional.softmax(
                (self.w_q(x) @ self.w_k(x).transpose(-2, -1)) * (1.0 / math.sqrt(self.w_k.out_features)),
                dim=-1,
            )
            att = self.attn_dropout(att)
            return att @ self.w_v(x), att


class input_scaled_in_place:
    """x is divided in place, so the caller's tensor is.

    Named: input_changed
    """

    class SelfAttention:
        def forward(self, x):
            v = self.w_v(x)
            x.div_(self.w_q.out_features**0.25)
            w = torch.softmax(torch.bmm(self.w_q(x), self.w_k(x).mT), dim=-1)
            return torch.bmm(w, v), w


class tables_in_float32:
    """Row by row into tables of zeros, which are float32 whatever x is.

    Named: float32_result
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            B, T, d_k = q.shape
            weights, output = torch.zeros(B, T, T), torch.zeros(B, T, d_k)
            for b in range(B):
                for t in range(T):
                    weights[b, t] = torch.softmax(k[b] @ q[b, t] / math.sqrt(d_k), dim=0)
                output[b] = (weights[b].clone().to(v) @ v[b]).float()
            return output, weights


class float32_softmax_kept:
    """The softmax is computed in float32 and stays there.

    Named: float32_result
    """

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = F.softmax(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), dim=-1, dtype=torch.float32)
            return w @ v.float(), w


class by_way_of_numpy:
    """The softmax is numpy's business, so no gradient comes back.

    Named: weights_detached
    """

    import numpy as np

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            scores = (q @ k.mT / math.sqrt(q.size(-1))).detach().numpy()
            e = np.exp(scores - scores.max(axis=-1, keepdims=True))
            w = torch.from_numpy(e / e.sum(axis=-1, keepdims=True))
            return w @ v, w


class last_position_forgotten:
    """A loop over the queries ends one too early, and the last row stays zero."""

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.zeros_like(q @ k.mT)
            for t in range(x.size(1) - 1):
                w[:, t] = torch.softmax((k @ q[:, t, :, None]).squeeze(-1) / math.sqrt(q.size(-1)), dim=-1)
            return w @ v, w


class keys_of_the_past:
    """Keys and values of earlier calls are kept and looked at, as a cache would.

    Named: keys_remembered
    """

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.past = None
        """

        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            if self.past is not None and self.past[0].shape == k.shape:
                k, v = torch.cat((self.past[0], k), dim=1), torch.cat((self.past[1], v), dim=1)
            self.past = k.detach(), v.detach()
            w = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
            return w @ v, w


class three_arguments:
    """Forward wants queries, keys and values from the caller.

    Named: three_arguments
    """

    class SelfAttention:
        def forward(self, q, k, v):
            q, k, v = self.w_q(q), self.w_k(k), self.w_v(v)
            w = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
            return w @ v, w


class torchs_own:
    """torch's own operator makes the output.

    Named: torch_attention
    """

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            w = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
            return F.scaled_dot_product_attention(q, k, v), w


class not_finished:
    """Projected and compared; then comes nothing yet."""

    class SelfAttention:
        def forward(self, x):
            q, k = self.w_q(x), self.w_k(x)
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            weights = scores.softmax(dim=-1)
            output = ...
            return output, weights


class output_as_data:
    """The output leaves its graph behind.

    Named: output_detached
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1)
            return torch.matmul(weights, v).data, weights
