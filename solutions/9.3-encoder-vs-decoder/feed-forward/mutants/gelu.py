"""What gelu gets wrong.

gelu(x) = x · Φ(x), where Φ(x) = (1 + erf(x / √2)) / 2 is the probability that a normal number lies below x.
"""


@mistake("gelu-cdf-only", "your gelu returns Φ(x); multiply it by x")
def gelu(x):
    return 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


@mistake(
    "gelu-density",
    "your gelu multiplies x by the density φ(x); it should multiply x by Φ(x), the probability below x",
)
def gelu(x):
    return x * torch.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


@mistake("gelu-half-forgotten", "your gelu is twice too large; Φ(x) should be half of 1 + erf(x / √2)")
def gelu(x):
    return x * (1.0 + torch.erf(x / math.sqrt(2.0)))


@mistake("gelu-root-forgotten", "your gelu takes erf(x); Φ(x) should be (1 + erf(x / √2)) / 2")
def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x))


@mistake("gelu-root-multiplied", "your gelu takes erf(x · √2); divide by the root")
def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x * math.sqrt(2.0)))


@mistake(
    "gelu-tanh",
    "your gelu is the approximation with tanh; the exact one should take torch.erf",
    convention="GPT-2 and UvA take it",
)
def gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


@mistake(
    "gelu-sigmoid",
    "your gelu is x · sigmoid(1.702 x), a coarse approximation; the exact one should take torch.erf",
)
def gelu(x):
    return x * torch.sigmoid(1.702 * x)


@mistake("gelu-is-silu", "your gelu is x · sigmoid(x), which is silu; it should be x · Φ(x)")
def gelu(x):
    return x * torch.sigmoid(x)


@mistake(
    "gelu-detached",
    "your Φ(x) is cut from the graph, so the gradient of gelu lacks x · φ(x); let the gradient go through Φ(x) as well",
)
def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x.detach() / math.sqrt(2.0)))


@mistake("gelu-float32", "your gelu computes in float32 and returns float32; it should return the dtype of x")
def gelu(x):
    x = x.float()
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


@mistake(
    "gelu-in-place",
    "your gelu writes its result into x, the tensor of the caller; it should leave x as it is",
    FeedForward="h = gelu(h) -> h = gelu(h.clone())",
)
def gelu(x):
    return x.mul_(0.5 * (1.0 + torch.erf(x / math.sqrt(2.0))))


@mistake(
    "torch-gelu",
    "your gelu calls torch's GELU, which is what you are building here; compute it from the error function",
)
def gelu(x):
    return F.gelu(x)


@mistake("gelu-half-width", "your gelu takes erf(x / 2); divide x by the root of 2")
def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x / 2.0))


@mistake("gelu-one-forgotten", "your gelu takes only erf; Φ(x) should be half of 1 + erf(x / √2)")
def gelu(x):
    return x * 0.5 * torch.erf(x / math.sqrt(2.0))


@mistake(
    "gelu-brackets-forgotten",
    "your gelu multiplies x only by the 1; put brackets round 1 + erf(x / √2)",
)
def gelu(x):
    return x * 0.5 * 1.0 + torch.erf(x / math.sqrt(2.0))


@mistake(
    "gelu-complement",
    "your gelu takes the probability above x; Φ(x) should be the one below, (1 + erf(x / √2)) / 2",
)
def gelu(x):
    return x * 0.5 * (1.0 - torch.erf(x / math.sqrt(2.0)))


@mistake(
    "gelu-number-by-number",
    "your gelu makes its result of plain numbers, so it has no gradient; compute it from x by tensor operations",
)
def gelu(x):
    numbers = [v * 0.5 * (1.0 + math.erf(v / math.sqrt(2.0))) for v in x.flatten().tolist()]
    return torch.tensor(numbers, dtype=x.dtype).view(x.shape)


@mistake(
    "gelu-math-erf",
    "your gelu gives a tensor to math.erf, which takes one number; use torch.erf, which takes all of them",
    costs="no call of gelu ends with a value, and most checks of the layer try all three activations",
)
def gelu(x):
    return x * 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@mistake(
    "gelu-nothing-returned",
    "your gelu returns nothing; end it with return",
    costs="no call of gelu ends with a value, and most checks of the layer try all three activations",
)
def gelu(x):
    x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
