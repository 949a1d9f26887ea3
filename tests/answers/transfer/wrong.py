"""Heads, frozen bodies and shared ones as they go wrong for other people."""


class mean_over_time:
    """Everybody's first idea.

    Named: mean_with_padding
    """

    class RegressionHead:
        def forward(self, hidden, mask):
            return self.linear(torch.mean(hidden, dim=1)).squeeze(-1)

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear(torch.mean(hidden, dim=1))


class frozen_children:
    """Children of the first level and their own weights; what stands deeper learns on."""

    def freeze(module):
        for child in module.children():
            for name in ("weight", "bias"):
                if hasattr(child, name):
                    getattr(child, name).requires_grad = False


class mask_with_an_axis_too_many:
    """The mask as attention wants it, [B, 1, 1, T]."""

    class MultiTask:
        def forward(self, tokens, task):
            if task not in self.heads:
                raise ValueError(task)
            return self.heads[task](self.body(tokens), (tokens != self.body.pad_id)[:, None, None, :])
