"""What goes wrong with who may learn, and how fast.

A frozen parameter takes no gradient; all else of its module stays. Rates fall from the last layer to the first.
"""

mistake(
    "children-only",
    "your freeze stops at the first level; use module.parameters(), which goes as deep as there are parameters",
    freeze="module.parameters() -> module.parameters(recurse=False)",
)

mistake(
    "weights-only",
    "your freeze leaves biases learning; no parameter should learn",
    freeze=[
        "for parameter in module.parameters(): -> for name, parameter in module.named_parameters():",
        'parameter.requires_grad = False -> parameter.requires_grad = name.endswith("bias")',
    ],
)

mistake(
    "nothing-frozen",
    "your freeze leaves every parameter learning; it should set requires_grad (spelt so) of each, not of the module",
    freeze="""
        - for parameter in module.parameters():
        -     parameter.requires_grad = False
        + module.requires_grad = False
    """,
)

mistake(
    "eval-mode-only",
    "your freeze sets eval mode, which stops dropout, not training; leave the mode as it is and freeze each parameter",
    freeze="""
        - for parameter in module.parameters():
        -     parameter.requires_grad = False
        + module.eval()
    """,
)

mistake(
    "eval-mode-too",
    "your freeze sets eval mode as well; it should leave modes as they are",
    freeze="""
        - for parameter in module.parameters():
        + module.eval()
        + for parameter in module.parameters():
    """,
)

mistake(
    "gradient-forbidden",
    "your frozen module lets no gradient through, so layers before it cannot learn; stop only its parameters",
    freeze="""
        - for parameter in module.parameters():
        -     parameter.requires_grad = False
        + for parameter in module.parameters():
        +     parameter.requires_grad = False
        + module.forward = torch.no_grad()(module.forward)
    """,
)

mistake(
    "frozen-at-zero",
    "your freeze clears the parameters; it should leave their numbers as they are",
    freeze="""
        - parameter.requires_grad = False
        + parameter.requires_grad = False
        + parameter.data.zero_()
    """,
)

mistake(
    "rates-reversed",
    "your first layer learns fastest; the last one should, and each below it slower",
    layerwise_groups="decay ** (len(layers) - 1 - depth) -> decay**depth",
)

mistake(
    "last-decayed-too",
    "your last layer learns at lr · decay; it should learn at lr",
    layerwise_groups="len(layers) - 1 - depth -> len(layers) - depth",
)

mistake(
    "one-rate-for-all",
    "your layers all learn at lr; each earlier one should learn at decay times the rate after it",
    layerwise_groups="lr * decay ** (len(layers) - 1 - depth) -> lr",
)

mistake(
    "rates-subtracted",
    "your rates fall by steps of the same size; each should be decay times the one after it",
    layerwise_groups="decay ** (len(layers) - 1 - depth) -> (1 - (1 - decay) * (len(layers) - 1 - depth))",
)

mistake(
    "rates-divided",
    "your earlier layers learn faster, at lr / decay; multiply by decay for each layer further down",
    layerwise_groups="lr * decay ** (len(layers) - 1 - depth) -> lr / decay ** (len(layers) - 1 - depth)",
)

mistake(
    "groups-from-the-last",
    "your groups begin with the last layer; they should be in the order of the layers",
    layerwise_groups="enumerate(layers) -> list(enumerate(layers))[::-1]",
)

mistake(
    "a-group-for-each-parameter",
    "your groups are one for each parameter; there should be one for each layer",
    layerwise_groups="""
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        - for depth, layer in enumerate(layers)
        + {"params": [parameter], "lr": lr * decay ** (len(layers) - 1 - depth)}
        + for depth, layer in enumerate(layers)
        + for parameter in layer.parameters()
    """,
)

mistake(
    "weights-in-groups-only",
    "your groups hold weights and no biases; all parameters of a layer should be in its group",
    layerwise_groups="list(layer.parameters()) -> [layer.weight]",
)

mistake(
    "parameters-in-a-set",
    "your groups hold sets of parameters, which have no order that stays; make them lists",
    layerwise_groups="list(layer.parameters()) -> set(layer.parameters())",
)

mistake(
    "parameters-copied",
    "your groups hold copies, so an optimizer never updates the layers; they should hold the parameters themselves",
    layerwise_groups="list(layer.parameters()) -> [p.detach() for p in layer.parameters()]",
)

mistake(
    "rates-of-one-decay",
    "your earlier layers all learn at lr · decay; each should be slower than the one after it",
    layerwise_groups="""
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": list(layer.parameters()), "lr": lr if depth == len(layers) - 1 else lr * decay}
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
