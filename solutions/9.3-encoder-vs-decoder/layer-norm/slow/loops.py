"""Layer norms that are right and loop in Python.

`mean` with `keepdim=True` and arithmetic on whole tensors serve all positions and features in a few calls.
"""


@mistake(
    "row-loop",
    "you loop over the positions in Python; take a mean over the last axis with `keepdim=True`, for all at once",
    fails=["test_layer_norm_speed", "test_layer_norm_roofline"],
)
class LayerNorm:
    def forward(self, x):
        rows = []
        for row in x.reshape(-1, x.shape[-1]):
            centred = row - row.mean()
            variance = centred.square().mean()
            rows.append(centred / torch.sqrt(variance + self.eps) * self.weight + self.bias)
        return torch.stack(rows).reshape(x.shape)


@mistake(
    "feature-loop",
    "you go over the features in Python; use `mean` and arithmetic on whole tensors, which do all of them in one "
    "call",
    fails=["test_layer_norm_speed", "test_layer_norm_roofline"],
)
class LayerNorm:
    def forward(self, x):
        features = x.unbind(-1)
        mean = sum(features) / len(features)
        variance = sum((feature - mean).square() for feature in features) / len(features)
        scale = 1.0 / torch.sqrt(variance + self.eps)
        parts = [
            (feature - mean) * scale * self.weight[index] + self.bias[index]
            for index, feature in enumerate(features)
        ]
        return torch.stack(parts, dim=-1)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
