"""Self-attention as other people write it."""


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
