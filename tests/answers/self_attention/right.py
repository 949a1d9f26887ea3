"""Self-attention as other people write it."""


class annotated:
    """A function attends, and the module only projects, as in annotated walks through the paper."""

    import torch.nn.functional as F

    def attention(query, key, value):
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
        p_attn = F.softmax(scores, dim=-1)
        return torch.matmul(p_attn, value), p_attn

    class SelfAttention:
        def forward(self, x):
            return attention(self.w_q(x), self.w_k(x), self.w_v(x))


class small_gpt_head:
    """A head of a small GPT: letters for sizes, the width multiplied with a negative power."""

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            B, T, C = x.shape
            k = self.w_k(x)
            q = self.w_q(x)
            wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
            wei = F.softmax(wei, dim=-1)
            v = self.w_v(x)
            return wei @ v, wei


class textbook_bmm:
    """Batched products of three axes, and the weights kept as an attribute for later plots."""

    class SelfAttention:
        def forward(self, x):
            queries, keys, values = self.w_q(x), self.w_k(x), self.w_v(x)
            d = queries.shape[-1]
            scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
            self.attention_weights = nn.functional.softmax(scores, dim=-1)
            return torch.bmm(self.attention_weights, values), self.attention_weights


class einsum_twice:
    """Both products are sums over named axes."""

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            energy = torch.einsum("b i d, b j d -> b i j", q, k) * q.shape[-1] ** -0.5
            attention = energy.softmax(dim=-1)
            return torch.einsum("b i j, b j d -> b i d", attention, v), attention


class einsum_from_the_weights:
    """Even the projections are sums over named axes, from the layers' own weights."""

    class SelfAttention:
        def forward(self, x):
            q = torch.einsum("btd,kd->btk", x, self.w_q.weight)
            k = torch.einsum("btd,kd->btk", x, self.w_k.weight)
            v = torch.einsum("btd,kd->btk", x, self.w_v.weight)
            weights = torch.softmax(torch.einsum("bqk,btk->bqt", q, k) / q.size(2) ** 0.5, dim=2)
            return torch.einsum("bqt,btk->bqk", weights, v), weights


class queries_scaled_in_place:
    """The fresh queries are scaled in place before the product, as sequence toolkits have it."""

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.scaling = d_k**-0.5
        """

        def forward(self, x):
            q = self.w_q(x)
            q *= self.scaling
            weights = torch.bmm(q, self.w_k(x).transpose(1, 2)).softmax(-1)
            return torch.bmm(weights, self.w_v(x)), weights


class scores_divided_in_place:
    """The scores are divided in place; they belong to nobody else."""

    class SelfAttention:
        def forward(self, x):
            scores = torch.matmul(self.w_q(x), self.w_k(x).mT)
            scores.div_(math.sqrt(self.w_k.out_features))
            weights = torch.softmax(scores, dim=-1)
            return weights.matmul(self.w_v(x)), weights


class one_product_for_three:
    """The three weights are joined and multiplied at once, the result is cut into three."""

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            qkv = F.linear(x, torch.cat((self.w_q.weight, self.w_k.weight, self.w_v.weight), dim=0))
            q, k, v = qkv.chunk(3, dim=-1)
            attn = (q @ k.transpose(-2, -1)) * (q.shape[-1] ** -0.5)
            attn = attn.softmax(dim=-1)
            return attn @ v, attn


class softmax_in_float32:
    """The softmax is computed in float32 and cast back, as models for half precision do."""

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            xq, xk, xv = self.w_q(x), self.w_k(x), self.w_v(x)
            scores = torch.matmul(xq, xk.transpose(1, 2)) / math.sqrt(xq.shape[-1])
            scores = F.softmax(scores.float(), dim=-1).type_as(xq)
            return torch.matmul(scores, xv), scores


class softmax_by_hand:
    """Whoever comes from numpy writes the softmax out, and subtracts the row's maximum."""

    def softmax(z):
        e = torch.exp(z - z.max(dim=-1, keepdim=True).values)
        return e / e.sum(dim=-1, keepdim=True)

    class SelfAttention:
        def forward(self, x):
            Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
            W = softmax(Q @ K.swapaxes(1, 2) / K.shape[-1] ** 0.5)
            return W @ V, W


class log_sum_exp:
    """The softmax is an exponential of what is left of the logarithm of the sum."""

    class SelfAttention:
        def forward(self, x):
            scores = self.w_q(x) @ self.w_k(x).transpose(1, 2) / math.sqrt(self.w_q.out_features)
            weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
            return weights @ self.w_v(x), weights


class softmax_module:
    """The softmax is a module, the root is taken once when the layer is made."""

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super(SelfAttention, self).__init__()
            self.w_q = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
            self.w_k = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
            self.w_v = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
            self.scale = math.sqrt(d_k)
            self.softmax = nn.Softmax(dim=2)

        def forward(self, x):
            attn = self.softmax(torch.bmm(self.w_q(x), self.w_k(x).permute(0, 2, 1)) / self.scale)
            context = torch.bmm(attn, self.w_v(x))
            return context, attn


class attention_is_a_module:
    """A module without parameters attends; it is told its temperature."""

    class ScaledDotProduct(nn.Module):
        """Scores, softmax, average."""

        def __init__(self, temperature):
            super().__init__()
            self.temperature = temperature

        def forward(self, q, k, v):
            attn = torch.matmul(q / self.temperature, k.transpose(-1, -2)).softmax(dim=-1)
            return torch.matmul(attn, v), attn

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.attend = ScaledDotProduct(temperature=d_k**0.5)
        """

        def forward(self, x):
            output, attn = self.attend(self.w_q(x), self.w_k(x), self.w_v(x))
            return output, attn


class one_sequence_at_a_time:
    """A loop over the batch with plain matrices."""

    class SelfAttention:
        def forward(self, x):
            outputs, maps = [], []
            for sequence in x:
                q, k, v = self.w_q(sequence), self.w_k(sequence), self.w_v(sequence)
                w = torch.softmax(q @ k.T / math.sqrt(k.shape[1]), dim=1)
                outputs.append(w @ v)
                maps.append(w)
            return torch.stack(outputs, dim=0), torch.stack(maps, dim=0)


class rows_filled_one_by_one:
    """The tables are made first, in the dtype of the queries, and filled row by row."""

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            B, T, d_k = q.shape
            weights = q.new_zeros(B, T, T)
            output = torch.zeros_like(v)
            for b in range(B):
                for t in range(T):
                    weights[b, t] = torch.softmax(k[b].mv(q[b, t]) / math.sqrt(d_k), dim=0)
                    output[b, t] = weights[b, t].clone() @ v[b]
            return output, weights


class every_pair_by_broadcasting:
    """Each pair of query and key is multiplied element by element, and summed."""

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            pairs = q.unsqueeze(2) * k.unsqueeze(1)  # [B, T, T, d_k]
            weights = (pairs.sum(-1) / pairs.size(-1) ** 0.5).softmax(-1)
            return (weights.unsqueeze(-1) * v.unsqueeze(1)).sum(2), weights


class vectorised_over_the_batch:
    """What one sequence needs is a function, mapped over the batch by torch."""

    class SelfAttention:
        def one(self, q, k, v):
            w = (q @ k.t() * k.shape[-1] ** -0.5).softmax(-1)
            return w @ v, w

        def forward(self, x):
            return torch.vmap(self.one)(self.w_q(x), self.w_k(x), self.w_v(x))


class scale_is_a_buffer:
    """The scale is a buffer that is not saved."""

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.register_buffer("scale", torch.tensor(d_k**-0.5), persistent=False)
        """

        def forward(self, x):
            weights = ((self.w_q(x) @ self.w_k(x).mT) * self.scale).softmax(-1)
            return weights @ self.w_v(x), weights


class initialised_like_gpt2:
    """Normal weights of a small deviation, set by a method that is applied to every layer."""

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.w_q = nn.Linear(d_model, d_k, bias=False)
            self.w_k = nn.Linear(d_model, d_k, bias=False)
            self.w_v = nn.Linear(d_model, d_k, bias=False)
            self.apply(self._init_weights)

        def _init_weights(self, module):
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)


class layers_made_in_a_loop:
    """One small function makes all three layers, xavier-initialised."""

    def projection(d_in, d_out):
        layer = nn.Linear(d_in, d_out, bias=False)
        nn.init.xavier_uniform_(layer.weight)
        return layer

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            for name in "qkv":
                setattr(self, f"w_{name}", projection(d_model, d_k))


class keys_transposed_first:
    """Columns are queries at first, so the softmax runs over the rows, and the table is turned at the end."""

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            by_key = torch.matmul(k, q.transpose(1, 2)) / q.size(-1) ** 0.5
            weights = by_key.softmax(dim=1).transpose(1, 2)
            return weights @ v, weights


class queries_in_chunks:
    """Queries are taken a few at a time, which saves memory elsewhere."""

    class SelfAttention:
        def forward(self, x, chunk=4):
            k, v = self.w_k(x), self.w_v(x)
            parts = []
            for q in self.w_q(x).split(chunk, dim=1):
                w = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(k.size(-1)), dim=-1)
                parts.append((w @ v, w))
            outputs, weights = zip(*parts)
            return torch.cat(outputs, dim=1), torch.cat(weights, dim=1)


class baddbmm_without_a_bias:
    """The scale is the alpha of a fused product, whose first argument does not count."""

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            B, T, d_k = q.shape
            table = torch.empty(B, T, T, dtype=q.dtype, device=q.device)
            scores = torch.baddbmm(table, q, k.transpose(1, 2), beta=0.0, alpha=1.0 / math.sqrt(d_k))
            probs = nn.functional.softmax(scores, dim=-1)
            return torch.bmm(probs, v), probs


class scale_in_the_weight:
    """The queries' weight carries the scale, whenever it is used."""

    import torch.nn.functional as F

    class SelfAttention:
        def forward(self, x):
            q = F.linear(x, self.w_q.weight / math.sqrt(self.w_q.out_features))
            w = F.softmax(q @ self.w_k(x).transpose(-2, -1), dim=-1)
            return w @ self.w_v(x), w


class a_head_axis_of_one:
    """Written for many heads and used with one: an axis is put in and taken out again."""

    class SelfAttention:
        def heads(self, y):
            return y.view(y.size(0), y.size(1), 1, -1).transpose(1, 2)

        def forward(self, x):
            q, k, v = self.heads(self.w_q(x)), self.heads(self.w_k(x)), self.heads(self.w_v(x))
            att = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(dim=-1)
            return (att @ v).transpose(1, 2).contiguous().view(x.size(0), x.size(1), -1), att.squeeze(1)


class typed_and_checked:
    """Asserts about shapes, names for everything, keyword arguments throughout."""

    class SelfAttention:
        def _scores(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
            assert query.shape == key.shape, "queries and keys come from one sequence"
            return torch.matmul(query, key.transpose(dim0=-2, dim1=-1)) / query.size(dim=-1) ** 0.5

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            assert x.ndim == 3, f"expected [B, T, D], got {tuple(x.shape)}"
            weights = torch.softmax(self._scores(query=self.w_q(x), key=self.w_k(x)), dim=-1)
            output = torch.matmul(weights, self.w_v(x))
            assert output.shape[:2] == x.shape[:2]
            return output, weights
