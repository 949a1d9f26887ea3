"""What goes wrong with who may learn, and how fast.

A frozen parameter takes no gradient; all else of its module stays. Rates fall from the last layer to the first.
"""


class children_only:
    """your freeze stops at the first level: module.parameters() goes as deep as there are parameters

    Fails: test_freeze
    """

    freeze = """
        - for parameter in module.parameters():
        + for parameter in module.parameters(recurse=False):
    """


class weights_only:
    """your freeze leaves biases learning: no parameter does

    Fails: test_freeze
    """

    freeze = """
        - for parameter in module.parameters():
        -     parameter.requires_grad = False
        + for name, parameter in module.named_parameters():
        +     parameter.requires_grad = name.endswith("bias")
    """


class nothing_frozen:
    """your freeze leaves every parameter learning: requires_grad belongs to parameters, a module has none

    Fails: test_freeze
    """

    freeze = """
        - for parameter in module.parameters():
        -     parameter.requires_grad = False
        + module.requires_grad = False
    """


class eval_mode_only:
    """your freeze sets eval mode: that stops dropout, not training

    Fails: test_freeze
    """

    freeze = """
        - for parameter in module.parameters():
        -     parameter.requires_grad = False
        + module.eval()
    """


class eval_mode_too:
    """your freeze sets eval mode as well: modes are left as they are

    Fails: test_freeze_leaves
    """

    freeze = """
        - for parameter in module.parameters():
        + module.eval()
        + for parameter in module.parameters():
    """


class gradient_forbidden:
    """your frozen module lets no gradient through: what comes before it could not learn

    Fails: test_freeze_leaves
    """

    freeze = """
        - for parameter in module.parameters():
        -     parameter.requires_grad = False
        + for parameter in module.parameters():
        +     parameter.requires_grad = False
        + module.forward = torch.no_grad()(module.forward)
    """


class frozen_at_zero:
    """your freeze clears the parameters: they keep their numbers

    Fails: test_freeze_leaves
    """

    freeze = """
        -     parameter.requires_grad = False
        +     parameter.requires_grad = False
        +     parameter.data.zero_()
    """


class rates_reversed:
    """your first layer learns fastest: the last one does, and each below it slower

    Fails: test_rates
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": list(layer.parameters()), "lr": lr * decay**depth}
    """


class last_decayed_too:
    """your last layer learns at lr · decay: it learns at lr

    Fails: test_rates
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - depth)}
    """


class one_rate_for_all:
    """your layers all learn at lr: each earlier one at decay times the rate after it

    Fails: test_rates
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": list(layer.parameters()), "lr": lr}
    """


class rates_subtracted:
    """your rates fall by steps of the same size: each is decay times the one after it

    Fails: test_rates
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": list(layer.parameters()), "lr": lr * (1 - (1 - decay) * (len(layers) - 1 - depth))}
    """


class rates_divided:
    """your earlier layers learn faster, at lr / decay: multiply by decay for each layer further down

    Fails: test_rates
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": list(layer.parameters()), "lr": lr / decay ** (len(layers) - 1 - depth)}
    """


class groups_from_the_last:
    """your groups begin with the last layer: they are in the order of the layers

    Fails: test_groups
    """

    layerwise_groups = """
        - for depth, layer in enumerate(layers)
        + for depth, layer in list(enumerate(layers))[::-1]
    """


class a_group_for_each_parameter:
    """your groups are one for each parameter: there is one for each layer

    Fails: test_groups
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        - for depth, layer in enumerate(layers)
        + {"params": [parameter], "lr": lr * decay ** (len(layers) - 1 - depth)}
        + for depth, layer in enumerate(layers)
        + for parameter in layer.parameters()
    """


class weights_in_groups_only:
    """your groups hold weights and no biases: all parameters of a layer are in its group

    Fails: test_groups
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": [layer.weight], "lr": lr * decay ** (len(layers) - 1 - depth)}
    """


class parameters_in_a_set:
    """your groups hold sets of parameters: an optimizer wants an order that stays, so make them lists

    Fails: test_groups_step
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": set(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
    """


class parameters_copied:
    """your groups hold copies of the parameters: an optimizer would update the copies, and the layers would not learn

    Fails: test_groups
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": [p.detach() for p in layer.parameters()], "lr": lr * decay ** (len(layers) - 1 - depth)}
    """


class rates_of_one_decay:
    """your earlier layers all learn at lr · decay: each one is slower than the one after it

    Fails: test_rates
    """

    layerwise_groups = """
        - {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - depth)}
        + {"params": list(layer.parameters()), "lr": lr if depth == len(layers) - 1 else lr * decay}
    """
