"""What the stack of layers gets wrong.

Each layer is one of its own, takes what the one before gave, and gets every option and the mask. One norm follows the
last pre-norm layer.
"""

mistake(
    "layers-in-plain-list",
    "your layers are in a Python list, where no optimizer finds their parameters; use nn.ModuleList",
    Encoder="nn.ModuleList -> list",
)

mistake(
    "layers-shared",
    "your encoder uses one layer over and over, as [layer] * n repeats the same object; make a new layer each time",
    Encoder="""
        - self.layers = nn.ModuleList(
        -     EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
        - )
        + layer = EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
        + self.layers = nn.ModuleList([layer] * num_layers)
    """,
)

mistake(
    "layers-not-chained",
    "your layers all read the encoder's input; each must take the output of the one before",
    Encoder=[
        "x = layer(x, mask) -> y = layer(x, mask)",
        "self.norm(x) -> self.norm(y)",
    ],
)

mistake(
    "layers-reversed",
    "your encoder runs through its layers from last to first; it should run from first to last",
    Encoder="for layer in self.layers: -> for layer in reversed(self.layers):",
)

mistake(
    "stack-residual",
    "your encoder adds each layer to the stream once more; leave the residuals to the layers, which have them inside",
    Encoder="layer(x, mask) -> x + layer(x, mask)",
)

mistake(
    "outputs-stacked",
    "your encoder returns the outputs of all its layers; it should return only that of the last, after the norm",
    Encoder="""
        + outputs = []
          for layer in self.layers:
              x = layer(x, mask)
        - return self.norm(x)
        +     outputs.append(x)
        + return self.norm(torch.stack(outputs))
    """,
)

mistake(
    "encoder-mask-dropped",
    "your encoder does not pass the mask on, so its layers attend to everything; give the mask to each layer",
    Encoder="layer(x, mask) -> layer(x)",
)

mistake(
    "mask-for-first-layer-only",
    "your encoder masks only its first layer, so the others mix hidden positions in again; give the mask to each layer",
    Encoder="""
          x = layer(x, mask)
        + mask = None
    """,
)

mistake(
    "encoder-activation-dropped",
    "your encoder does not pass activation on, so its layers always use relu; give activation to each layer",
    Encoder="norm_first, activation -> norm_first",
)

mistake(
    "encoder-dropout-dropped",
    "your encoder does not pass dropout on, so its layers drop nothing; give dropout to each layer",
    Encoder="d_ff, dropout -> d_ff, 0.0",
)

mistake(
    "encoder-norm-first-dropped",
    "your encoder makes pre-norm layers whatever norm_first says; it should pass norm_first on to its layers",
    Encoder="dropout, norm_first -> dropout, True",
)

mistake(
    "final-norm-missing",
    "your pre-norm encoder has no norm after its last layer; it should end with a LayerNorm",
    Encoder="LayerNorm(d_model) if norm_first else nn.Identity() -> nn.Identity()",
)

mistake(
    "final-norm-unused",
    "your encoder makes the last norm and then does not apply it; it should apply it after the last layer",
    Encoder="self.norm(x) -> x",
)

mistake(
    "final-norm-always",
    "your post-norm encoder normalises one more time at the end; its norm should be nn.Identity",
    Encoder="LayerNorm(d_model) if norm_first else nn.Identity() -> LayerNorm(d_model)",
)

mistake(
    "final-norm-none",
    "your post-norm encoder has None for a norm; use nn.Identity, which can be called like any other",
    Encoder=[
        "nn.Identity() -> None",
        "self.norm(x) -> x if self.norm is None else self.norm(x)",
    ],
)

mistake(
    "final-norm-before-layers",
    "your encoder applies its norm before the first layer; it should apply it after the last",
    Encoder="""
        + x = self.norm(x)
          for layer in self.layers:

        - return self.norm(x)
        + return x
    """,
)

mistake(
    "final-norm-after-each-layer",
    "your encoder applies its norm after every layer; it should apply it only after the last",
    Encoder=[
        "layer(x, mask) -> self.norm(layer(x, mask))",
        "self.norm(x) -> x",
    ],
)

mistake(
    "encoder-options-swapped",
    "your encoder gives its layers activation in the place of norm_first; pass each to the argument of its name",
    Encoder="norm_first, activation -> activation, norm_first",
)

mistake(
    "layer-too-few",
    "your encoder makes one layer less than num_layers; it should make num_layers of them",
    Encoder="range(num_layers) -> range(1, num_layers)",
)

mistake(
    "encoder-tuple-returned",
    "your encoder returns a tuple; it should return only its output",
    Encoder="""
        + states = []
          for layer in self.layers:
              x = layer(x, mask)
        - return self.norm(x)
        +     states.append(x)
        + return self.norm(x), states
    """,
)

mistake(
    "input-scaled",
    "your encoder multiplies its input by the root of d_model; leave that to the embeddings, before the stack",
    Encoder="""
        + x = x * x.shape[-1] ** 0.5
          for layer in self.layers:
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
