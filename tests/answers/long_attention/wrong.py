"""Attention for long sequences as it goes wrong for other people."""


class softmax_features_of_another_paper:
    """Efficient attention: softmax over features of queries, over positions of keys.

    Named: softmaxed_features, not_divided
    """

    def linear_attention(query, key, value, causal=False):
        q, k = query.softmax(-1), key.softmax(-2)
        if causal:
            return torch.einsum(
                "...nd,...ndm->...nm", q, torch.einsum("...nd,...nm->...ndm", k, value).cumsum(-3)
            )
        return q @ (k.mT @ value)


class performers_relu:
    """relu features with an epsilon, as a later paper has them.

    Named: relu_for_elu
    """

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.relu(query.to(wide)) + 1e-6, F.relu(key.to(wide)) + 1e-6, value.to(wide)
        if causal:
            w = (q @ k.mT).tril()
            return (w @ v / w.sum(-1, keepdim=True)).to(query.dtype)
        return (q @ (k.mT @ v) / (q @ k.sum(-2)[..., None])).to(query.dtype)


class plain_elu:
    """elu alone.

    Named: one_forgotten
    """

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.elu(query.to(wide)), F.elu(key.to(wide)), value.to(wide)
        w = q @ k.mT
        w = w.tril() if causal else w
        return (w / w.sum(-1, keepdim=True) @ v).to(query.dtype)


class scaled_as_ever:
    """1/sqrt(D), out of habit, on the queries.

    Named: features_scaled
    """

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q = F.elu(query.to(wide) / query.shape[-1] ** 0.5) + 1
        k, v = F.elu(key.to(wide)) + 1, value.to(wide)
        w = q @ k.mT
        w = w.tril() if causal else w
        return (w / w.sum(-1, keepdim=True) @ v).to(query.dtype)


class numerator_only:
    """No denominator: the products as they are.

    Named: not_divided, causal_not_divided
    """

    def linear_attention(query, key, value, causal=False):
        q, k = F.elu(query) + 1, F.elu(key) + 1
        if causal:
            return (q @ k.mT).tril() @ value
        return q @ (k.mT @ value)


class causal_mask_before_the_division:
    """The mask takes away what stands behind, the sum that divides still has it.

    Named: all_keys_divide
    """

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.elu(query.to(wide)) + 1, F.elu(key.to(wide)) + 1, value.to(wide)
        w = q @ k.mT
        total = w.sum(-1, keepdim=True)
        w = w.tril() if causal else w
        return (w @ v / total).to(query.dtype)


class strictly_before:
    """tril(-1): a query sees what stands before it and not itself.

    Named: own_key_not_seen
    """

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.elu(query.to(wide)) + 1, F.elu(key.to(wide)) + 1, value.to(wide)
        w = q @ k.mT
        w = w.tril(-1) if causal else w
        return (w @ v / w.sum(-1, keepdim=True)).to(query.dtype)


class causal_as_an_afterthought:
    """The argument is there and nothing is done with it.

    Named: causal_ignored
    """

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.elu(query.to(wide)) + 1, F.elu(key.to(wide)) + 1, value.to(wide)
        return (q @ (k.mT @ v) / (q @ k.sum(-2)[..., None])).to(query.dtype)


class summed_over_the_wrong_axis:
    """cumsum over the features, one axis too far to the right."""

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.elu(query.to(wide)) + 1, F.elu(key.to(wide)) + 1, value.to(wide)
        if causal:
            state = torch.einsum("...nd,...nm->...ndm", k, v).cumsum(-2)
            return ((q[..., None, :] @ state)[..., 0, :] / (q * k.cumsum(-2)).sum(-1, keepdim=True)).to(
                query.dtype
            )
        return (q @ (k.mT @ v) / (q @ k.sum(-2)[..., None])).to(query.dtype)


class four_axes:
    """Written for [B, H, T, D] alone.

    Named: four_axes_only
    """

    def linear_attention(query, key, value, causal=False):
        b, h, n, d = query.shape
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.elu(query.to(wide)) + 1, F.elu(key.to(wide)) + 1, value.to(wide)
        w = torch.einsum("bhnd,bhmd->bhnm", q, k)
        w = w.tril() if causal else w
        return (w / w.sum(-1, keepdim=True) @ v).to(query.dtype)


class in_half:
    """No sum is wider than its input.

    Named: half_sums
    """

    def linear_attention(query, key, value, causal=False):
        q, k = F.elu(query) + 1, F.elu(key) + 1
        w = q @ k.mT
        w = w.tril() if causal else w
        return (w @ value) / w.sum(-1, keepdim=True)


class one_projection_for_both:
    """Parameter sharing of the paper's section on efficiency: one matrix for keys and values.

    Named: keys_alone_mixed
    """

    class Linformer:
        def forward(self, x, mask=None):
            n, E = x.shape[1], self.key_projection
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            if mask is not None:
                k, v = k * mask[..., None], v * mask[..., None]
            q, k, v = (
                y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (q, E[:, :n] @ k, E[:, :n] @ v)
            )
            return self.w_o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class mixed_before_the_projections:
    """x is mixed first, then w_k and w_v: their biases are added once to a mixture, not summed in it."""

    class Linformer:
        def forward(self, x, mask=None):
            n = x.shape[1]
            source = x if mask is None else x * mask[..., None]
            q = self.w_q(x)
            k, v = (
                self.w_k(self.key_projection[:, :n] @ source),
                self.w_v(self.value_projection[:, :n] @ source),
            )
            q, k, v = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (q, k, v))
            return self.w_o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class padded_to_max_len:
    """A short sequence is filled with zeros in front.

    Named: last_columns
    """

    class Linformer:
        def forward(self, x, mask=None):
            missing = self.key_projection.shape[1] - x.shape[1]
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            if mask is not None:
                k, v = k * mask[..., None], v * mask[..., None]
            k, v = (F.pad(y, (0, 0, missing, 0)) for y in (k, v))
            q, k, v = (
                y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
                for y in (q, self.key_projection @ k, self.value_projection @ v)
            )
            return self.w_o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class no_mask:
    """The mask is taken and forgotten.

    Named: mask_ignored
    """

    class Linformer:
        def forward(self, x, mask=None):
            n = x.shape[1]
            q, k, v = (
                y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
                for y in (
                    self.w_q(x),
                    self.key_projection[:, :n] @ self.w_k(x),
                    self.value_projection[:, :n] @ self.w_v(x),
                )
            )
            return self.w_o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class tokens_zeroed:
    """Padding is taken out of x before anything else.

    Named: x_blotted_out
    """

    class Linformer:
        def forward(self, x, mask=None):
            n = x.shape[1]
            y = x if mask is None else x * mask.unsqueeze(-1).to(x.dtype)
            q, k, v = (
                each.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
                for each in (
                    self.w_q(y),
                    self.key_projection[:, :n] @ self.w_k(y),
                    self.value_projection[:, :n] @ self.w_v(y),
                )
            )
            return self.w_o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class unscaled:
    """Scores without their scale.

    Named: not_scaled
    """

    class Linformer:
        def forward(self, x, mask=None):
            n = x.shape[1]
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            if mask is not None:
                k, v = k * mask[..., None], v * mask[..., None]
            k, v = self.key_projection[:, :n] @ k, self.value_projection[:, :n] @ v
            q, k, v = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (q, k, v))
            return self.w_o(((q @ k.mT).softmax(-1) @ v).transpose(1, 2).flatten(2))
