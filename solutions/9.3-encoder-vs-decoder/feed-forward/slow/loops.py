"""Networks that are right and do by hand what one matrix product does."""


@mistake(
    "token-loop",
    "you loop over the positions in Python; give nn.Linear all axes, which it takes in one product",
    fails=["test_feed_forward_speed", "test_gate_speed"],
)
class FeedForward:
    def forward(self, x):
        rows = [self._one(row) for row in x.reshape(-1, x.shape[-1])]
        return torch.stack(rows).reshape(x.shape)

    def _one(self, row):
        h = self.linear1(row)
        if self.activation == "relu":
            h = F.relu(h)
        elif self.activation == "gelu":
            h = gelu(h)
        else:
            h = F.silu(self.gate(row)) * h
        return self.linear2(self.dropout(h))


@mistake(
    "unit-loop",
    "you loop over the hidden units in Python; compute all of them in one product with the whole weight matrix",
    fails=["test_feed_forward_speed", "test_gate_speed"],
)
class FeedForward:
    def forward(self, x):
        out = self.linear2.bias.expand_as(x)
        for unit in range(self.linear1.out_features):
            h = x @ self.linear1.weight[unit] + self.linear1.bias[unit]
            if self.activation == "relu":
                h = F.relu(h)
            elif self.activation == "gelu":
                h = gelu(h)
            else:
                h = F.silu(x @ self.gate.weight[unit] + self.gate.bias[unit]) * h
            out = out + self.dropout(h).unsqueeze(-1) * self.linear2.weight[:, unit]
        return out


@mistake(
    "products-by-hand",
    "you write out every product of a position and a weight before they are summed; use a matrix product, which "
    "never does",
    FeedForward=[
        "self.linear1(x) -> self._layer(self.linear1, x)",
        "self.gate(x) -> self._layer(self.gate, x)",
        "self.linear2(self.dropout(h)) -> self._layer(self.linear2, self.dropout(h))",
    ],
    fails=["test_feed_forward_speed", "test_gate_speed"],
)
class FeedForward:
    @staticmethod
    def _layer(linear, x):
        return (x.unsqueeze(-2) * linear.weight).sum(-1) + linear.bias
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
