"""What scale and shift get wrong.

Each feature has a weight, which starts at one, and a bias, which starts at zero: a new module only normalises.
"""

mistake(
    "affine-forgotten",
    "your output is the plain normalisation, without weight and bias; multiply by weight, then add bias",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps)
    """,
)

mistake(
    "bias-forgotten",
    "your bias is never added; it should be added last",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * self.weight
    """,
)

mistake(
    "bias-scaled-too",
    "your bias is added before the weight multiplies; add it last, so that it is not scaled",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return (centred / torch.sqrt(variance + self.eps) + self.bias) * self.weight
    """,
)


@mistake(
    "weight-before-statistics",
    "your x is scaled and shifted before it is normalised, so the learned scale is divided away; normalise first",
)
class LayerNorm:
    def forward(self, x):
        x = x * self.weight + self.bias
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True)
        return centred / torch.sqrt(variance + self.eps)


mistake(
    "no-bias",
    "your module has no bias; it should have a parameter bias, of zeros at the start",
    LayerNorm="""
        - self.bias = nn.Parameter(torch.zeros(d_model))

        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * self.weight
    """,
)


@mistake("one-weight-for-all", "your weight and bias are single numbers; each feature should have its own")
class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(1))


@mistake(
    "no-parameters",
    "your weight and bias are plain tensors or buffers; make them nn.Parameter, or they are not learned",
)
class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = torch.ones(d_model)
        self.bias = torch.zeros(d_model)


@mistake(
    "gamma-and-beta",
    "your parameters are called gamma and beta; they should be called weight and bias",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * self.gamma + self.beta
    """,
)
class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))


mistake(
    "weight-zeros",
    "your weight starts as zeros; it should start as ones",
    LayerNorm="torch.ones(d_model) -> torch.zeros(d_model)",
)

mistake(
    "weight-random",
    "your weight starts as random numbers; it should start as ones",
    LayerNorm="torch.ones(d_model) -> torch.randn(d_model)",
)

mistake(
    "bias-ones",
    "your bias starts as ones; it should start as zeros",
    LayerNorm="torch.zeros(d_model) -> torch.ones(d_model)",
)

mistake(
    "weight-plus-one",
    "your output is multiplied by 1 + weight; multiply by the weight itself, which should start as ones",
    LayerNorm="""
        - self.weight = nn.Parameter(torch.ones(d_model))
        + self.weight = nn.Parameter(torch.zeros(d_model))

        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * (1 + self.weight) + self.bias
    """,
)

mistake(
    "weight-and-bias-swapped",
    "your bias multiplies and your weight is added; it should be the other way round",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * self.bias + self.weight
    """,
)


@mistake(
    "a-2-and-b-2",
    "your parameters are called a_2 and b_2; they should be called weight and bias",
    LayerNorm="""
        - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        + return centred / torch.sqrt(variance + self.eps) * self.a_2 + self.b_2
    """,
)
class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.a_2 = nn.Parameter(torch.ones(d_model))
        self.b_2 = nn.Parameter(torch.zeros(d_model))


@mistake(
    "parameters-with-axes",
    "your weight and bias have axes for batch and time; they should be [D], which broadcasts without those",
    costs="[1, 1, D] takes no state of [D], and makes an output of three axes of any x",
)
class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(1, 1, d_model))
        self.bias = nn.Parameter(torch.zeros(1, 1, d_model))


mistake(
    "super-forgotten",
    "your __init__ never calls super().__init__(), so the module can hold no parameter; call it first",
    LayerNorm="- super().__init__()",
    costs="no module can be made",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
