"""Stacks that are right and do again what is done already."""


@mistake(
    "layers-again",
    "you begin at the input again for every layer; give each layer only the output of the one before",
    fails=["test_encoder_speed"],
)
class Encoder:
    def forward(self, x, mask=None):
        out = x
        for depth in range(len(self.layers)):
            out = x
            for layer in self.layers[: depth + 1]:
                out = layer(out, mask)
        return self.norm(out)


@mistake(
    "mask-by-row",
    "you build the mask again in every layer, head by head and row by row; let one mask broadcast over all of them",
    EncoderLayer="""
        + if mask is not None:
        +     mask = self._rebuilt(mask.expand(len(x), self.attention.num_heads, x.shape[1], x.shape[1]))
          if self.norm_first:
    """,
    fails=["test_encoder_speed"],
)
class EncoderLayer:
    @staticmethod
    def _rebuilt(mask):
        return torch.stack([torch.stack([torch.stack(list(head)) for head in heads]) for heads in mask])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
