"""Modern blocks as other people get them wrong."""


class rotate_half:
    """The turn of GPT-NeoX: the first half of the columns with the second.

    Named: halves_turned
    """

    def rotate(x, positions, base=10000.0):
        d = x.size(-1)
        pair = torch.arange(0, d, 2, dtype=torch.float32, device=x.device)
        angle = positions.float()[:, None] * base ** (-pair / d)
        cos, sin = (torch.cat((part, part), -1).to(x.dtype) for part in (angle.cos(), angle.sin()))
        half = torch.cat((-x[..., d // 2 :], x[..., : d // 2]), -1)
        return x * cos + half * sin


class t5_without_root:
    """The norm divides by the mean square itself.

    Named: root_missing
    """

    class RMSNorm:
        def forward(self, x):
            wide = x.to(torch.promote_types(x.dtype, torch.float32))
            variance = wide.pow(2).mean(-1, keepdim=True)
            return self.weight * (wide / (variance + self.eps)).to(x.dtype)


class relu_gate:
    """The gate is a relu, as in ReGLU.

    Named: sigmoid_gate, gelu_gate, no_gate
    """

    class FeedForward:
        def forward(self, x):
            return self.linear2(F.relu(self.gate(x)) * self.linear1(x))
