"""Masked attention as other people write it."""


# --- the function ---


class dead_rows_set_to_zero:
    """Rows that see nothing get zeros as scores, so that the softmax is finite, and are zeroed after it."""

    def scaled_dot_product_attention(query, key, value, mask=None):
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
        dead = None
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
            dead = (scores == -math.inf).all(dim=-1, keepdim=True)
            scores = scores.masked_fill(dead, 0.0)
        p_attn = scores.softmax(dim=-1)
        if dead is not None:
            p_attn = p_attn.masked_fill(dead, 0.0)
        return torch.matmul(p_attn, value), p_attn


class where_on_both_sides:
    """torch.where before the softmax and after it."""

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            sees = mask.any(-1, keepdim=True)
            low = torch.where(mask | ~sees, scores, float("-inf"))
            weights = torch.where(sees, torch.softmax(low, dim=-1), 0.0)
        return torch.einsum("...qk,...kv->...qv", weights, value), weights


class smallest_number_of_the_dtype:
    """Forbidden scores are the smallest number of the dtype; afterwards the weights are cut by the mask."""

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = query @ key.transpose(-1, -2) * (query.size(-1) ** -0.5)
        if mask is not None:
            attn = attn.masked_fill(~mask, torch.finfo(attn.dtype).min)
        attn = attn.softmax(dim=-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        return attn @ value, attn


class additive_mask:
    """A mask of zeros and of the dtype's smallest number is added, in the scores' dtype."""

    def extended(mask, dtype):
        return (1.0 - mask.to(dtype)) * torch.finfo(dtype).min

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = torch.where(mask, scores, extended(mask, scores.dtype))
        probs = nn.functional.softmax(scores, dim=-1)
        if mask is not None:
            probs = probs * mask.to(probs.dtype)
        return torch.matmul(probs, value), probs


class softmax_by_hand:
    """Exponentials of allowed scores only, without their maximum, over their sum."""

    def masked_softmax(scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        top = scores.amax(dim=-1, keepdim=True).detach()
        e = (scores - top.masked_fill(top == float("-inf"), 0.0)).exp()
        total = e.sum(dim=-1, keepdim=True)
        return e / total.masked_fill(total == 0, 1.0)

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.mT / math.sqrt(key.shape[-1])
        weights = masked_softmax(scores, mask)
        return weights @ value, weights


class queries_scaled_first:
    """The queries are scaled, not the scores."""

    def scaled_dot_product_attention(query, key, value, mask=None):
        query = query * query.size(-1) ** -0.5
        scores = torch.matmul(query, key.swapaxes(-1, -2))
        if mask is None:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
        nothing = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask & ~nothing, -float("inf"))
        weights = scores.softmax(-1) * ~nothing
        return torch.matmul(weights, value), weights


class softmax_in_float32:
    """The softmax is taken in float32 and cast back, as models for half precision do."""

    import torch.nn.functional as F

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        scores = F.softmax(scores.float(), dim=-1).type_as(query)
        if mask is not None:
            scores = scores.masked_fill(~mask, 0)
        return torch.matmul(scores, value), scores


class mask_inverted_first:
    """The mask is turned into one of what is forbidden, a copy, and used in place on the scores."""

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = (query @ key.transpose(-2, -1)).div_(query.size(-1) ** 0.5)
        if mask is None:
            weights = torch.softmax(scores, -1)
            return weights @ value, weights
        forbidden = torch.logical_not(mask)
        blind = forbidden.all(dim=-1, keepdim=True)
        scores.masked_fill_(forbidden.logical_and(blind.logical_not()), float("-inf"))
        weights = torch.softmax(scores, -1).masked_fill(blind, 0.0)
        return weights @ value, weights


class expanded_mask:
    """The mask is spread out over all scores before it is used."""

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
        scores = torch.where(allowed, scores, torch.full_like(scores, torch.finfo(scores.dtype).min))
        weights = torch.where(allowed, scores.softmax(dim=-1), torch.zeros_like(scores))
        return torch.matmul(weights, value), weights


class float64_inside:
    """The scores and weights are computed in float64, and cast back at the end."""

    def scaled_dot_product_attention(query, key, value, mask=None):
        q, k, v = query.double(), key.double(), value.double()
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e300)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return (weights @ v).to(query.dtype), weights.to(query.dtype)


class one_query_at_a_time:
    """A loop over the queries."""

    def scaled_dot_product_attention(query, key, value, mask=None):
        Tq, Tk = query.size(-2), key.size(-2)
        if mask is None:
            mask = torch.ones(1, 1, dtype=torch.bool, device=query.device)
        mask = mask.expand(*torch.broadcast_shapes(mask.shape, (Tq, Tk)))
        rows, outputs = [], []
        for t in range(Tq):
            s = (query[..., t, None, :] * key).sum(-1) / math.sqrt(query.size(-1))
            m = mask[..., t, :].expand(s.shape)
            w = s.masked_fill(~m, torch.finfo(s.dtype).min).softmax(-1).masked_fill(~m, 0.0)
            rows.append(w)
            outputs.append((w.unsqueeze(-1) * value).sum(-2))
        return torch.stack(outputs, dim=-2), torch.stack(rows, dim=-2)


class early_return_without_a_mask:
    """Two helpers, one for the scores, one for the weights."""

    def _scores(q, k):
        return torch.einsum("...id,...jd->...ij", q, k) / k.size(-1) ** 0.5

    def _weights(scores, mask):
        if mask is None:
            return scores.softmax(-1)
        blocked = (~mask).all(-1, keepdim=True)
        return scores.masked_fill(~(mask + blocked), -math.inf).softmax(-1) * (1 - blocked.to(scores))

    def scaled_dot_product_attention(query, key, value, mask=None):
        weights = _weights(_scores(query, key), mask)
        return torch.einsum("...ij,...jd->...id", weights, value), weights


# --- the module ---


class annotated_heads:
    """view and transpose with -1 for the batch's length, contiguous and view to join, as in annotated walks."""

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            if context is None:
                context = x
            nbatches = x.size(0)
            d_k = x.size(-1) // self.num_heads
            query, key, value = [
                lin(t).view(nbatches, -1, self.num_heads, d_k).transpose(1, 2)
                for lin, t in zip((self.w_q, self.w_k, self.w_v), (x, context, context), strict=True)
            ]
            y, self.attn = scaled_dot_product_attention(query, key, value, mask=mask)
            y = y.transpose(1, 2).contiguous().view(nbatches, -1, self.num_heads * d_k)
            return self.w_o(y)


class transpose_for_scores:
    """The heads are cut by a method that permutes, as in published encoders."""

    class MultiHeadAttention:
        def transpose_for_scores(self, x):
            size = x.size()[:-1] + (self.num_heads, x.size(-1) // self.num_heads)
            return x.view(size).permute(0, 2, 1, 3)

        def forward(self, x, mask=None, context=None):
            source = context if context is not None else x
            q = self.transpose_for_scores(self.w_q(x))
            k = self.transpose_for_scores(self.w_k(source))
            v = self.transpose_for_scores(self.w_v(source))
            layer, _ = scaled_dot_product_attention(q, k, v, mask)
            layer = layer.permute(0, 2, 1, 3).contiguous()
            return self.w_o(layer.view(layer.size()[:-2] + (x.size(-1),)))


class heads_by_chunk:
    """The columns are cut by chunk and stacked as heads; unbind and cat join them."""

    class MultiHeadAttention:
        def cut(self, y):
            return torch.stack(y.chunk(self.num_heads, dim=-1), dim=1)

        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            y, _ = scaled_dot_product_attention(
                self.cut(self.w_q(x)), self.cut(self.w_k(source)), self.cut(self.w_v(source)), mask
            )
            return self.w_o(torch.cat(y.unbind(dim=1), dim=-1))


class heads_by_unflatten:
    """unflatten and movedim cut, movedim and flatten join."""

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            q = self.w_q(x).unflatten(-1, (self.num_heads, -1)).movedim(-2, -3)
            k = self.w_k(c).unflatten(-1, (self.num_heads, -1)).movedim(-2, -3)
            v = self.w_v(c).unflatten(-1, (self.num_heads, -1)).movedim(-2, -3)
            y = scaled_dot_product_attention(q, k, v, mask)[0]
            return self.w_o(y.movedim(-3, -2).flatten(-2))


class one_product_for_three:
    """One product for all three projections where x looks at itself."""

    import torch.nn.functional as F

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            if context is None:
                weight = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight])
                bias = None
                if self.w_q.bias is not None:
                    bias = torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])
                q, k, v = F.linear(x, weight, bias).chunk(3, dim=-1)
            else:
                q, k, v = self.w_q(x), self.w_k(context), self.w_v(context)
            q, k, v = self._split(q), self._split(k), self._split(v)
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            B, H, T, d = y.shape
            return self.w_o(y.transpose(1, 2).reshape(B, T, H * d))


class head_after_head:
    """A loop over the heads, each with its slice of the columns and of the mask."""

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            q, k, v = self.w_q(x), self.w_k(source), self.w_v(source)
            d = x.size(-1) // self.num_heads
            if mask is not None:
                mask = mask.expand(x.size(0), self.num_heads, x.size(1), source.size(1))
            heads = []
            for h in range(self.num_heads):
                own = slice(h * d, (h + 1) * d)
                y, _ = scaled_dot_product_attention(
                    q[..., own], k[..., own], v[..., own], None if mask is None else mask[:, h]
                )
                heads.append(y)
            return self.w_o(torch.cat(heads, dim=-1))


class batch_and_heads_in_one_axis:
    """Batch and heads share one axis during attention, as sequence toolkits have it."""

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            B, T, D = x.shape
            S, H = source.size(1), self.num_heads

            def shape(y, length):
                return y.view(B, length, H, D // H).transpose(1, 2).reshape(B * H, length, D // H)

            if mask is not None:
                mask = mask.expand(B, H, T, S).reshape(B * H, T, S)
            y, _ = scaled_dot_product_attention(
                shape(self.w_q(x), T), shape(self.w_k(source), S), shape(self.w_v(source), S), mask
            )
            return self.w_o(y.view(B, H, T, D // H).transpose(1, 2).reshape(B, T, D))


class attends_by_itself:
    """The module does not call the function: einsum over named axes, with the mask handled again."""

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            H = self.num_heads
            q = self.w_q(x).unflatten(2, (H, -1))
            k = self.w_k(source).unflatten(2, (H, -1))
            v = self.w_v(source).unflatten(2, (H, -1))
            energy = torch.einsum("nqhd,nkhd->nhqk", q, k) / math.sqrt(q.size(-1))
            if mask is not None:
                energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
            attention = energy.softmax(dim=3)
            if mask is not None:
                attention = attention.masked_fill(~mask, 0.0)
            return self.w_o(torch.einsum("nhqk,nkhd->nqhd", attention, v).flatten(2))


class helper_makes_layers:
    """Layers are xavier-initialised by a helper; sizes are kept under the paper's names."""

    def linear(d_in, d_out, bias):
        layer = nn.Linear(d_in, d_out, bias=bias)
        nn.init.xavier_uniform_(layer.weight)
        if bias:
            nn.init.constant_(layer.bias, 0.0)
        return layer

    class MultiHeadAttention:
        def __init__(self, d_model, num_heads, bias=True):
            super().__init__()
            self.d_k, remainder = divmod(d_model, num_heads)
            if remainder != 0:
                raise ValueError("d_model must be divisible by num_heads")
            self.d_model, self.num_heads = d_model, num_heads
            self.w_q, self.w_k, self.w_v, self.w_o = (linear(d_model, d_model, bias) for _ in range(4))


class attention_is_a_module:
    """An attention module without parameters is part of the module."""

    class DotProductAttention(nn.Module):
        """What is between the projections."""

        def forward(self, queries, keys, values, mask=None):
            output, self.attention_weights = scaled_dot_product_attention(queries, keys, values, mask)
            return output

    class MultiHeadAttention:
        def __init__(self, d_model, num_heads, bias=True):
            super().__init__()
            if d_model % num_heads != 0:
                raise ValueError(f"{d_model=} is no multiple of {num_heads=}")
            self.num_heads = num_heads
            self.attention = DotProductAttention()
            self.w_o = nn.Linear(d_model, d_model, bias=bias)
            self.w_v = nn.Linear(d_model, d_model, bias=bias)
            self.w_k = nn.Linear(d_model, d_model, bias=bias)
            self.w_q = nn.Linear(d_model, d_model, bias=bias)

        def forward(self, x, mask=None, context=None):
            context = x if context is None else context
            queries = self._split(self.w_q(x))
            keys = self._split(self.w_k(context))
            values = self._split(self.w_v(context))
            output = self.attention(queries, keys, values, mask)
            return self.w_o(output.permute(0, 2, 1, 3).flatten(start_dim=2))


class joined_by_the_output_weight:
    """Each head meets its own columns of w_o; the sum of the heads is the output."""

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            heads, _ = scaled_dot_product_attention(q, k, v, mask)
            w = self.w_o.weight.view(x.size(-1), self.num_heads, -1)
            y = torch.einsum("bhtd,ohd->bto", heads, w)
            return y if self.w_o.bias is None else y + self.w_o.bias


class heads_mixed_in:
    """A class for splitting and joining is mixed in; typed throughout."""

    class Heads:
        """Cuts and joins columns."""

        def split(self, x: torch.Tensor, num_heads: int) -> torch.Tensor:
            *lead, time, width = x.shape
            return x.reshape(*lead, time, num_heads, width // num_heads).transpose(-3, -2)

        def join(self, x: torch.Tensor) -> torch.Tensor:
            *lead, heads, time, width = x.shape
            return x.transpose(-3, -2).reshape(*lead, time, heads * width)

    class MultiHeadAttention(nn.Module, Heads):
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            q, k, v = (
                self.split(layer(y), self.num_heads)
                for layer, y in ((self.w_q, x), (self.w_k, source), (self.w_v, source))
            )
            return self.w_o(self.join(scaled_dot_product_attention(q, k, v, mask)[0]))
