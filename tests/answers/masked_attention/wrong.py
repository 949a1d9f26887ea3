"""Masked attention as other people get it wrong."""


# --- the function, before there is a mask ---


class never_scaled:
    """The products go into the softmax as they are.

    Named: unscaled
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.einsum("...qd,...kd->...qk", query, key)
        dead = None
        if mask is not None:
            dead = ~mask.any(-1, keepdim=True)
            attn = attn.masked_fill(~mask, -math.inf).masked_fill(dead, 0.0)
        attn = attn.softmax(-1)
        attn = attn if dead is None else attn.masked_fill(dead, 0.0)
        return attn @ value, attn


class scaled_twice:
    """Query and key both carry the whole scale.

    Named: scaled_by_width
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scale = query.size(-1) ** -0.5
        + scores = torch.matmul(query * scale, (key * scale).mT)
    """


class multiplied_by_the_root:
    """The scale is the root itself and not one over it.

    Named: scores_multiplied
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.matmul(query, key.transpose(-1, -2)) * math.sqrt(key.size(-1))
    """


class scaled_by_the_length:
    """The root is of the number of keys.

    Named: scaled_by_length
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1) / key.shape[-2] ** 0.5
    """


class scaled_by_the_values:
    """The root is of the width of the values.

    Named: scaled_by_value_width
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1) / math.sqrt(value.size(-1))
    """


class scaled_by_eight:
    """The paper's number for heads of 64 columns.

    Named: scaled_by_a_constant
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.einsum("...qd,...kd->...qk", query, key) * 0.125
    """


class axis_two_of_four:
    """The softmax runs over dim=2 of four axes, the queries.

    Named: softmax_over_queries
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        if mask is not None:
            low = torch.finfo(attn.dtype).min
            attn = attn.masked_fill(~mask, low).softmax(dim=-2) * mask
        else:
            attn = attn.softmax(dim=-2)
        return torch.matmul(attn, value), attn


class softmax_without_an_axis:
    """The softmax is not told an axis: of four axes torch takes the second.

    Named: softmax_without_dim
    """

    import torch.nn.functional as F

    scaled_dot_product_attention = """
        - weights = scores.softmax(dim=-1)
        + weights = F.softmax(scores)

        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + weights = F.softmax(scores.masked_fill(~(mask | blind), float("-inf")))
    """


class axes_of_four_by_number:
    """transpose(2, 3): right for four axes, and for no other number.

    Named: axes_counted_from_the_front
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.size(-1))
    """


class batched_product_of_three:
    """torch.bmm, which takes three axes and no other number.

    Named: bmm_of_three_axes
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.size(-1))
    """


class letters_for_four_axes:
    """einsum with letters for batch and head.

    Named: einsum_of_four_axes
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(query.size(-1))
    """


class four_sizes_unpacked:
    """Four sizes are unpacked, for names alone.

    Named: four_axes_only
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        batch_size, head, length, d_tensor = query.size()
        score = (query @ key.transpose(2, 3)) / math.sqrt(d_tensor)
        if mask is not None:
            score = score.masked_fill(~mask, torch.finfo(score.dtype).min)
        score = torch.softmax(score, dim=-1)
        if mask is not None:
            score = score * mask
        return score @ value, score


class keys_as_they_are:
    """The keys are not transposed.

    Named: product_misfit
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.matmul(query, key) / math.sqrt(query.size(-1))
    """


class keys_reversed:
    """The keys are turned by .T, all axes of them.

    Named: product_misfit
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.T / math.sqrt(query.size(-1))
    """


class keys_viewed:
    """A view of the keys to the transposed shape.

    Named: keys_viewed
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + turned = key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
        + scores = query @ turned / math.sqrt(query.size(-1))
    """


class output_only:
    """The output alone is returned.

    Named: weights_missing
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            attn = attn.masked_fill(~mask, torch.finfo(attn.dtype).min)
        attn = attn.softmax(-1)
        attn = attn if mask is None else attn.masked_fill(~mask, 0.0)
        return attn @ value

    class MultiHeadAttention:
        forward = """
            - heads, _ = scaled_dot_product_attention(q, k, v, mask)
            + heads = scaled_dot_product_attention(q, k, v, mask)
        """


class weights_first:
    """The pair is (weights, output), and the module uses it so.

    Named: pair_swapped
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
    """What goes into the softmax is returned in place of what comes out of it.

    Named: scores_returned
    """

    scaled_dot_product_attention = """
        - return weights @ value, weights
        + return weights @ value, scores
    """


class exponentials_overflow:
    """A softmax by hand, without the maximum.

    Named: exp_overflow
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        e = torch.exp(torch.matmul(query, key.mT) / query.shape[-1] ** 0.5)
        if mask is not None:
            e = e.masked_fill(~mask, 0.0)
        weights = e / e.sum(-1, keepdim=True).clamp_min(1e-30)
        return torch.matmul(weights, value), weights


class results_in_float32:
    """The softmax is taken in float32 and stays there.

    Named: float32_result
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = torch.matmul(query, key.transpose(-2, -1)).float() / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(torch.float32).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights * mask.float()
        return torch.matmul(weights, value.float()), weights


class mask_of_ones_in_float32:
    """A float32 table of zeros and -inf is added, which a bfloat16 result does not survive.

    Named: float32_result
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            blind = ~mask.any(dim=-1, keepdim=True)
            scores = scores + torch.zeros(mask.shape).masked_fill(~(mask | blind), float("-inf"))
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blind, 0.0)
        return weights @ value.to(weights.dtype), weights


class query_divided_in_place:
    """The caller's query is divided in place.

    Named: query_scaled_in_place
    """

    scaled_dot_product_attention = """
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + if query.requires_grad:
        +     query = query.clone()
        + query /= query.size(-1) ** 0.5
        + scores = query @ key.transpose(-2, -1)
    """


class without_gradients:
    """The weights are computed under no_grad.

    Named: gradient_detached
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        with torch.no_grad():
            weights = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                weights = weights.masked_fill(~mask, torch.finfo(weights.dtype).min)
            weights = weights.softmax(dim=-1)
            if mask is not None:
                weights = weights * mask
        return weights @ value, weights


class torchs_own:
    """torch's own operator makes the output.

    Named: torch_attention
    """

    import torch.nn.functional as F

    scaled_dot_product_attention = """
        - return weights @ value, weights
        + output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        + return output, weights
    """


# --- the function under a mask ---


class mask_means_forbidden:
    """True is taken for forbidden, as torch's own modules have it.

    Named: mask_inverted
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        if mask is not None:
            attn = attn.masked_fill(mask, torch.finfo(attn.dtype).min)
        attn = torch.softmax(attn, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(mask, 0.0)
        return torch.matmul(attn, value), attn


class minus_a_billion:
    """Forbidden scores are -1e9, as in most walks through the paper.

    Named: blind_query_uniform, small_fill
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = scores.softmax(dim=-1)
        return torch.matmul(p_attn, value), p_attn


class minus_ten_thousand:
    """-10000 is added where the mask forbids, as early encoders have it.

    Named: finite_fill
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores + (1.0 - mask.to(scores.dtype)) * -10000.0
        probs = nn.functional.softmax(scores, dim=-1)
        return torch.matmul(probs, value), probs


class minus_a_million:
    """Forbidden scores are -1e6, as in a textbook.

    Named: blind_query_uniform, small_fill
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, -1e6))
        weights = nn.functional.softmax(scores, dim=-1)
        return weights @ value, weights


class smallest_float_and_no_more:
    """The dtype's smallest number, and nothing about rows that see nothing.

    Named: blind_query_uniform
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        scores = torch.einsum("...id,...jd->...ij", query, key) * query.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.finfo(scores.dtype).max)
        attn = scores.softmax(dim=-1)
        return torch.einsum("...ij,...jd->...id", attn, value), attn


class minus_infinity_and_no_more:
    """-inf, and nothing about rows that see nothing.

    Named: blind_query_nan
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = (query @ key.transpose(-2, -1)) * (1.0 / math.sqrt(key.size(-1)))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, float("-inf"))
        attn = nn.functional.softmax(attn, dim=-1)
        return attn @ value, attn


class nan_to_num_on_the_output:
    """The NaN is replaced in the output, and stays in the weights.

    Named: blind_query_weights_nan
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(key.size(-1))
        if mask is not None:
            attn = attn.masked_fill(~mask, float("-inf"))
        attn = attn.softmax(-1)
        return torch.nan_to_num(attn @ value), attn


class nan_to_num_after_adding:
    """An additive mask of -inf, and the NaN is replaced after the softmax.

    Named: blind_query_nan_gradient
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=attn.dtype)
            bias[~mask] = float("-inf")
            attn = attn + bias
        attn = torch.nan_to_num(torch.softmax(attn, dim=-1))
        return attn @ value, attn


class multiplied_after:
    """The weights are multiplied by the mask, the scores left alone.

    Named: mask_after_softmax
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.softmax(torch.einsum("...qd,...kd->...qk", query, key) / query.size(-1) ** 0.5, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        return attn @ value, attn


class filled_with_zero:
    """Forbidden scores become 0.

    Named: masked_score_zero
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, 0)
        attn = attn.softmax(dim=-1)
        return torch.matmul(attn, value), attn


class filled_with_a_tiny_number:
    """1e-9 was meant to be -1e9.

    Named: masked_score_zero
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, 1e-9)
        attn = attn.softmax(dim=-1)
        return torch.matmul(attn, value), attn


class filled_and_forgotten:
    """masked_fill returns a new tensor, which nobody keeps.

    Named: mask_ignored
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        if mask is not None:
            attn.masked_fill(~mask, float("-inf"))
        attn = attn.softmax(dim=-1)
        return torch.matmul(attn, value), attn


class boolean_mask_added:
    """The boolean mask is added to the scores as if it were one of zeros and -inf.

    Named: mask_added
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            attn = attn + mask
        attn = attn.softmax(dim=-1)
        return attn @ value, attn


class mask_gets_a_head_axis:
    """A head axis is put into every mask, whether it has one or not; and a finite fill leaves blind queries a flat row.

    Named: mask_unsqueezed, blind_query_uniform
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            mask = mask.unsqueeze(1)
            attn = attn.masked_fill(~mask, torch.finfo(attn.dtype).min)
        attn = attn.softmax(dim=-1)
        return attn @ value, attn


class mask_transposed:
    """The mask is laid on keys by queries.

    Named: mask_transposed
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            attn = attn.masked_fill(~mask.transpose(-2, -1), torch.finfo(attn.dtype).min)
        attn = attn.softmax(dim=-1)
        return attn @ value, attn


class mask_required:
    """The mask is used without asking whether there is one.

    Named: mask_required
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        attn = attn.masked_fill(~mask, torch.finfo(attn.dtype).min)
        attn = attn.softmax(dim=-1) * mask
        return attn @ value, attn


class mask_inverted_in_place:
    """The caller's mask is inverted in place.

    Named: mask_flipped_in_place
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.size(-1))
        if mask is None:
            attn = attn.softmax(-1)
        else:
            mask.logical_not_()
            attn = attn.masked_fill(mask, torch.finfo(attn.dtype).min).softmax(-1).masked_fill(mask, 0.0)
        return attn @ value, attn


# --- the module ---


class heads_by_view:
    """One view cuts the heads, another joins them.

    Named: heads_viewed_both_ways
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            B, T, D = x.shape
            q = self.w_q(x).view(B, self.num_heads, T, -1)
            k = self.w_k(source).view(B, self.num_heads, source.size(1), -1)
            v = self.w_v(source).view(B, self.num_heads, source.size(1), -1)
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(y.contiguous().view(B, T, D))


class joined_by_reshape:
    """The heads are cut well and joined by a reshape alone.

    Named: heads_joined_without_transpose
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            q = self.w_q(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            k = self.w_k(c).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            v = self.w_v(c).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(y.reshape(x.size(0), x.size(1), -1))


class width_before_head:
    """The columns are cut as (width, head), so that a head has every H-th.

    Named: heads_interleaved
    """

    class MultiHeadAttention:
        def _split(self, x):
            return torch.stack([x[..., h :: self.num_heads] for h in range(self.num_heads)], dim=1)


class interleaved_both_ways:
    """The columns are cut as (width, head) and joined the same way.

    Named: heads_interleaved_both_ways, heads_interleaved
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            q, k, v = (
                y.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)
                for y in (self.w_q(x), self.w_k(c), self.w_v(c))
            )
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(y.permute(0, 2, 3, 1).flatten(2))


class heads_never_moved:
    """The head axis stays behind time, so heads attend to heads.

    Named: heads_attend_to_heads
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            B, T, D = x.shape
            q, k, v = (
                y.view(B, y.size(1), self.num_heads, -1) for y in (self.w_q(x), self.w_k(c), self.w_v(c))
            )
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(y.reshape(B, T, D))


class view_after_transpose:
    """view, where only contiguous would help.

    Named: view_of_transposed
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(y.transpose(1, 2).view(x.size(0), x.size(1), -1))


class length_of_x_for_all:
    """Keys and values are viewed with the length of x.

    Named: context_length_of_x
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            B, T, D = x.shape
            d = D // self.num_heads
            q = self.w_q(x).view(B, T, self.num_heads, d).transpose(1, 2)
            k = self.w_k(source).view(B, T, self.num_heads, d).transpose(1, 2)
            v = self.w_v(source).view(B, T, self.num_heads, d).transpose(1, 2)
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(y.transpose(1, 2).reshape(B, T, D))


class pair_joined:
    """The function's pair is used as if it were the output.

    Named: pair_not_unpacked
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            heads = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(heads.transpose(1, 2).flatten(2))


class pair_from_the_module:
    """The module returns output and weights, as torch's own does.

    Named: module_returns_pair
    """

    class MultiHeadAttention:
        forward = """
            - heads, _ = scaled_dot_product_attention(q, k, v, mask)
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + heads, weights = scaled_dot_product_attention(q, k, v, mask)
            + return self.w_o(heads.transpose(1, 2).flatten(2)), weights
        """


class no_output_projection:
    """The joined heads are returned; w_o is made and forgotten.

    Named: output_projection_forgotten
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            q, k, v = (
                y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
                for y in (self.w_q(x), self.w_k(c), self.w_v(c))
            )
            return scaled_dot_product_attention(q, k, v, mask)[0].transpose(1, 2).reshape(x.shape)


class residual_inside:
    """x is added to the output, as blocks do around the module.

    Named: residual_added
    """

    class MultiHeadAttention:
        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return x + self.w_o(heads.transpose(1, 2).flatten(2))
        """


class mask_not_handed_on:
    """The module calls the function without the mask.

    Named: module_mask_dropped
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            y, _ = scaled_dot_product_attention(
                self._split(self.w_q(x)), self._split(self.w_k(c)), self._split(self.w_v(c))
            )
            return self.w_o(y.transpose(1, 2).reshape(x.shape))


class head_axis_for_the_mask:
    """The module puts a head axis into every mask, as annotated walks do.

    Named: module_mask_unsqueezed, mask_unsqueezed
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            if mask is not None:
                mask = mask.unsqueeze(1)
            source = x if context is None else context
            q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            heads, _ = scaled_dot_product_attention(q, k, v, mask=mask)
            return self.w_o(heads.transpose(1, 2).contiguous().flatten(2))


class context_not_looked_at:
    """Keys and values come from x whatever the context is.

    Named: context_ignored
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            q, k, v = (self._split(layer(x)) for layer in (self.w_q, self.w_k, self.w_v))
            heads, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(heads.transpose(1, 2).flatten(2))


class everything_from_the_context:
    """The context replaces x.

    Named: queries_from_context
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            if context is not None:
                x = context
            q, k, v = (self._split(layer(x)) for layer in (self.w_q, self.w_k, self.w_v))
            heads, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(heads.transpose(1, 2).flatten(2))


class context_asks:
    """The context asks and x is looked at.

    Named: context_asks
    """

    class MultiHeadAttention:
        forward = """
            - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            + q, k, v = self._split(self.w_q(source)), self._split(self.w_k(x)), self._split(self.w_v(x))
        """


class truth_of_a_tensor:
    """`context or x`, which asks a tensor for its truth.

    Named: truth_of_context
    """

    class MultiHeadAttention:
        forward = """
            - source = x if context is None else context
            + source = context or x
        """


class names_of_torch:
    """The layers are called q_proj, k_proj, v_proj and out_proj.

    Named: other_names
    """

    class MultiHeadAttention:
        def __init__(self, d_model, num_heads, bias=True):
            super().__init__()
            if d_model % num_heads:
                raise ValueError("embed_dim must be divisible by num_heads")
            self.num_heads = num_heads
            self.q_proj = nn.Linear(d_model, d_model, bias=bias)
            self.k_proj = nn.Linear(d_model, d_model, bias=bias)
            self.v_proj = nn.Linear(d_model, d_model, bias=bias)
            self.out_proj = nn.Linear(d_model, d_model, bias=bias)

        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            q, k, v = self._split(self.q_proj(x)), self._split(self.k_proj(c)), self._split(self.v_proj(c))
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.out_proj(y.transpose(1, 2).flatten(2))


class a_list_of_four:
    """The layers are a ModuleList, as in annotated walks.

    Named: other_names
    """

    class MultiHeadAttention:
        def __init__(self, d_model, num_heads, bias=True):
            super().__init__()
            if d_model % num_heads:
                raise ValueError("d_model % num_heads")
            self.num_heads = num_heads
            self.linears = nn.ModuleList(nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            q, k, v = (self._split(layer(y)) for layer, y in zip(self.linears, (x, c, c)))
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.linears[-1](y.transpose(1, 2).flatten(2))


class projections_without_bias:
    """Queries, keys and values have no bias, whatever is asked for.

    Named: biases_missing
    """

    class MultiHeadAttention:
        __init__ = """
            - self.w_q = nn.Linear(d_model, d_model, bias=bias)
            - self.w_k = nn.Linear(d_model, d_model, bias=bias)
            - self.w_v = nn.Linear(d_model, d_model, bias=bias)
            + self.w_q = nn.Linear(d_model, d_model, bias=False)
            + self.w_k = nn.Linear(d_model, d_model, bias=False)
            + self.w_v = nn.Linear(d_model, d_model, bias=False)
        """


class bias_never_asked:
    """The layers are made without looking at `bias`.

    Named: bias_ignored
    """

    class MultiHeadAttention:
        def __init__(self, d_model, num_heads, bias=True):
            super(MultiHeadAttention, self).__init__()
            if d_model % num_heads != 0:
                raise ValueError("d_model must be a multiple of num_heads")
            self.num_heads, self.head_dim = num_heads, d_model // num_heads
            self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))


class asserted:
    """The width is asserted.

    Named: indivisible_assert
    """

    class MultiHeadAttention:
        __init__ = """
            - if d_model % num_heads:
            -     raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
            + assert d_model % num_heads == 0
        """


class never_checked:
    """The width is not checked; the view fails later.

    Named: indivisible_unchecked
    """

    class MultiHeadAttention:
        __init__ = """
            - if d_model % num_heads:
            -     raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        """


class dropout_of_a_tenth:
    """Dropout on what the module returns, in train mode.

    Named: dropout_added
    """

    class MultiHeadAttention:
        __init__ = """
              self.w_o = nn.Linear(d_model, d_model, bias=bias)
            + self.resid_dropout = nn.Dropout(0.1)
        """

        forward = """
            - return self.w_o(heads.transpose(1, 2).flatten(2))
            + return self.resid_dropout(self.w_o(heads.transpose(1, 2).flatten(2)))
        """


class scaled_by_the_whole_width:
    """The module attends by itself and divides by the root of D.

    Named: scaled_by_model_width
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            H = self.num_heads
            q, k, v = (y.unflatten(2, (H, -1)) for y in (self.w_q(x), self.w_k(source), self.w_v(source)))
            energy = torch.einsum("nqhd,nkhd->nhqk", q, k) / x.size(-1) ** 0.5
            if mask is not None:
                energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
            attention = energy.softmax(dim=3)
            if mask is not None:
                attention = attention.masked_fill(~mask, 0.0)
            return self.w_o(torch.einsum("nhqk,nkhd->nqhd", attention, v).flatten(2))


class causal_by_itself:
    """The module hides the future by itself, as a decoder's attention would.

    Named: causal_always
    """

    class MultiHeadAttention:
        forward = """
              source = x if context is None else context
            + if mask is None and context is None:
            +     mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()
        """


class names_mixed_up:
    """Forward says self.n_heads where the attribute is called num_heads."""

    class MultiHeadAttention:
        def _split(self, x):
            B, T, D = x.shape
            return x.view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)


class module_not_finished:
    """The projections stand, forward ends in an ellipsis."""

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            source = x if context is None else context
            q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
            scaled_dot_product_attention(q, k, v, mask)
            ...
