"""Layer norm live: what it keeps of a token, batch norm next to it, its place in a deep stack, its rounding."""

from __future__ import annotations

import torch
from mine import Encoder, LayerNorm, causal_mask, sinusoidal_positions
from torch import nn
from torch.nn import functional as F

from grader.learner.demos.exhibits import Exhibit, bars, choice, heatmap, lines, panel, question, table

WIDTH, DEPTH = 8, 12
D_MODEL, TOKENS, LENGTH, STEPS = 32, 8, 12, 60
STACKS = ("pre-norm", "post-norm", "no norm")


def demo() -> list[Exhibit]:
    """Return what the kata shows."""
    return [
        _one_token(),
        _louder(),
        _beside_torch(),
        *_beside_batch_norm(),
        *_by_depth(),
        _training(),
        _far_from_zero(),
        _question(),
    ]


def _one_token() -> Exhibit:
    a, b = torch.randn(2, WIDTH, generator=torch.Generator().manual_seed(0))
    tokens = {"a": a, "3 × a": 3 * a, "a + 3": a + 3, "b": b, "all 2": torch.full((WIDTH,), 2.0)}
    before = torch.stack(list(tokens.values()))
    after = LayerNorm(WIDTH)(before)
    mean, deviation = after[:4].mean(-1).abs().max(), after[:4].std(-1, unbiased=False).mean()
    return heatmap(
        "Five tokens before and after",
        [panel(name, x, tokens, range(WIDTH)) for name, x in (("before", before), ("after", after))],
        row_axis="token",
        column_axis="feature",
        diverging=True,
        note=f"Every row but the last comes out with a mean of {mean:.0f} and a deviation of "
        f"{deviation:.0f}, so the first three become one: how loud a token is and what its features share "
        "is taken away, its pattern is kept. A token without a pattern becomes zeros; eps keeps it from "
        "0/0. Weight and bias may then set any scale again.",
    )


def _louder() -> Exhibit:
    """Scale and shift one token, and look at what comes out."""
    token = torch.randn(WIDTH, generator=torch.Generator().manual_seed(0))
    changes = {
        "as it is": token,
        "× 0.001": token / 1000,
        "× 10": 10 * token,
        "× 1000": 1000 * token,
        "+ 100": token + 100,
    }
    norm = LayerNorm(WIDTH)
    with torch.no_grad():
        outputs = {name: norm(x) for name, x in changes.items()}
    apart = {name: float((y - outputs["as it is"]).abs().max()) for name, y in outputs.items()}
    return choice(
        "Louder, quieter, shifted: what the next layer reads",
        "the token",
        {
            name: bars(
                "after layer norm",
                [f"feature {i}" for i in range(WIDTH)],
                {"output": y},
                y_axis="output",
                log_y=False,
            )
            for name, y in outputs.items()
        },
        note="Largest change of an output, "
        + "; ".join(f"{name}: {change:.1g}" for name, change in apart.items())
        + ". Scale and shift are forgotten; only where the token is as small as √eps does eps make it smaller.",
    )


def _beside_torch() -> Exhibit:
    """Give both the same tokens, weights and biases, and compare what comes out and what goes back."""
    generator = torch.Generator().manual_seed(4)
    noise = torch.randn(64, WIDTH, generator=generator)
    inputs = {
        "64 tokens of noise": noise,
        "a hundred times as loud": 100 * noise,
        "a millionth as loud": noise / 1e6,
        "all features alike": noise[:, :1].expand(-1, WIDTH),
        "far from zero, at 1,000": noise + 1000,
        "float64": noise.double(),
        "bfloat16": noise.bfloat16(),
    }
    rows = []
    for name, tokens in inputs.items():
        norms = (LayerNorm(WIDTH).to(tokens.dtype), nn.LayerNorm(WIDTH).to(tokens.dtype))
        found = []
        for norm in norms:
            with torch.no_grad():
                norm.weight.copy_(torch.linspace(0.5, 2, WIDTH))
                norm.bias.copy_(torch.linspace(-1, 1, WIDTH))
            x = tokens.detach().clone().requires_grad_()
            output = norm(x)
            (output * torch.linspace(1, 2, WIDTH, dtype=x.dtype)).sum().backward()
            found.append((output.detach(), x.grad))
        rows.append(
            [
                name,
                *(f"{float((a - b).abs().max() / b.abs().max()):.1g}" for a, b in zip(*found, strict=True)),
            ]
        )
    same = all(cell == "0" for row in rows for cell in row[1:])
    return table(
        "Next to torch's own layer norm: the largest difference",
        ["input", "of the output, relative", "of the gradient for x, relative"],
        rows,
        note="Both have the same weight and bias. "
        + (
            "No difference at all: until yours passes, a given norm takes its place, which is torch's own."
            if same
            else "What differs is rounding: float32 keeps some 7 digits, float64 16, bfloat16 2 or 3. torch computes "
            "in one pass what is written here as a mean, a variance and a product."
        ),
    )


def _beside_batch_norm() -> list[Exhibit]:
    generator = torch.Generator().manual_seed(1)
    token = torch.randn(1, WIDTH, generator=generator)
    others = torch.randn(7, WIDTH, generator=generator)
    batches = {"quiet": others / 4, "loud": others * 4, "shifted": others + 3}
    layer, batch = LayerNorm(WIDTH), nn.BatchNorm1d(WIDTH)
    outputs = {
        name: torch.stack([norm(torch.cat((token, rest)))[0] for rest in batches.values()]).detach()
        for name, norm in (("layer norm", layer), ("batch norm", batch))
    }
    rows = []
    for name, norm in (("layer norm", layer), ("batch norm", batch)):
        try:
            norm(token)
            alone = "fine"
        except ValueError:
            alone = "ValueError"
        x = torch.cat((token, others))
        modes = (norm.train()(x) - norm.eval()(x)).abs().max()
        moved = (outputs[name] - outputs[name][0]).abs().max()
        kept = sum(buffer.numel() for buffer in norm.buffers())
        rows.append([name, round(float(moved), 3), alone, round(float(modes), 3), kept])
    return [
        heatmap(
            "One and the same token, in three batches",
            [panel(name, output, batches, range(WIDTH)) for name, output in outputs.items()],
            row_axis="its neighbours",
            column_axis="feature",
            diverging=True,
            note="Layer norm reads a row: the token's own features. Batch norm reads a column: one feature "
            "over the batch, so a token's output depends on who else is there, padding included.",
        ),
        table(
            "The two norms next to each other",
            ["", "moved by the batch", "a batch of one", "train against eval", "numbers in buffers"],
            rows,
            note="First and third column: the largest change of an output. A model that writes may have a "
            "batch of one sentence and one new token; layer norm needs nothing kept from training to treat "
            "it as before.",
        ),
    ]


def _stack(kind: str, depth: int, seed: int) -> Encoder:
    torch.manual_seed(seed)
    encoder = Encoder(depth, D_MODEL, 4, 4 * D_MODEL, norm_first=kind != "post-norm")
    for parameter in encoder.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    if kind == "no norm":
        encoder.norm = nn.Identity()
        for layer in encoder.layers:
            layer.norm1, layer.norm2 = nn.Identity(), nn.Identity()
    return encoder


def _by_depth() -> list[Exhibit]:
    generator = torch.Generator().manual_seed(2)
    inputs = torch.randn(16, LENGTH, D_MODEL, generator=generator)
    head = torch.randn(D_MODEL, TOKENS, generator=generator) / D_MODEL**0.5
    targets = torch.randint(TOKENS, (16, LENGTH), generator=generator)
    places = list(range(1, DEPTH + 1))
    gradients, sizes = {}, {}
    for kind in STACKS:
        gradient, size = torch.zeros(DEPTH), torch.zeros(DEPTH)
        for seed in range(3):
            encoder, x = _stack(kind, DEPTH, seed), inputs
            for place, layer in enumerate(encoder.layers):
                x = layer(x)
                size[place] += float(x.detach().std()) / 3
            F.cross_entropy((encoder.norm(x) @ head).flatten(0, 1), targets.flatten()).backward()
            for place, layer in enumerate(encoder.layers):
                squares = [p.grad.square().sum() for p in layer.parameters() if p.dim() > 1]
                gradient[place] += float(sum(squares) ** 0.5) / 3
        gradients[kind], sizes[kind] = (places, gradient), (places, size)
    ratio = float(gradients["post-norm"][1][-1] / gradients["pre-norm"][1][-1])
    rows = [
        [kind, *(float(f"{float(of[kind][1][at]):.2g}") for of in (gradients, sizes) for at in (0, -1))]
        for kind in STACKS
    ]
    return [
        lines(
            f"Size of the gradient in each of {DEPTH} encoder layers, before any training",
            {kind: gradients[kind] for kind in STACKS[:2]},
            x_axis="layer, from input to output",
            y_axis="norm of the gradient",
            note=f"The layer with the largest gradient: {_largest(gradients, 'pre-norm')} in the pre-norm stack, "
            f"{_largest(gradients, 'post-norm')} in the post-norm stack. The last layer's gradient is {ratio:.1f} "
            "times as "
            "large in the post-norm stack: that is where a large first step does harm. Mean of three draws of the "
            "weights.",
        ),
        table(
            "And without any norm?",
            ["", "gradient, first layer", "last layer", "numbers, first layer", "last layer"],
            rows,
            note="“Numbers”: the standard deviation of what a layer hands on. Post-norm sets it back to 1. "
            "Pre-norm lets the sum grow slowly and norms what a sublayer reads, so a pre-norm stack needs "
            "one more norm at its end. Without norms each layer multiplies, forward and back.",
        ),
    ]


def _largest(gradients: dict[str, tuple[list[int], torch.Tensor]], kind: str) -> int:
    return 1 + int(gradients[kind][1].argmax())


def _training() -> Exhibit:
    runs = {"pre-norm": ("pre-norm", 1), "post-norm": ("post-norm", 1)}
    runs["post-norm, rate warmed up"] = ("post-norm", STEPS // 2)
    curves = {name: (range(1, STEPS + 1), _train(*settings)) for name, settings in runs.items()}
    ends = "; ".join(f"{name}: {sum(losses[-5:]) / 5:.2f}" for name, (_, losses) in curves.items())
    return lines(
        "Six layers learn to repeat the token before, all with the same learning rate",
        curves,
        x_axis="step",
        y_axis="cross entropy",
        note=f"At the end, {ends}; a guess costs {torch.tensor(TOKENS).log():.2f}. Lowest: "
        f"{min(curves, key=lambda name: sum(curves[name][1][-5:]))}. Warm-up lets the learning rate grow over the "
        f"first {STEPS // 2} steps; it takes post-norm from {_end(curves, 'post-norm'):.2f} to "
        f"{_end(curves, 'post-norm, rate warmed up'):.2f}. In our log of 9.9.1 the order is the opposite: there, with "
        "two layers and another task, post-norm without warm-up ended lowest. Depth, task and rate differ; neither "
        "finding speaks for the other.",
    )


def _end(curves: dict[str, tuple[range, list[float]]], name: str) -> float:
    return sum(curves[name][1][-5:]) / 5


def _train(kind: str, warm_up: int) -> list[float]:
    encoder = _stack(kind, 6, 0)
    torch.manual_seed(0)
    embed, head = nn.Embedding(TOKENS, D_MODEL), nn.Linear(D_MODEL, TOKENS)
    positions, mask = sinusoidal_positions(LENGTH, D_MODEL), causal_mask(LENGTH)
    parameters = [*encoder.parameters(), *embed.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for step in range(1, STEPS + 1):
        optimizer.param_groups[0]["lr"] = 6e-3 * min(1.0, step / warm_up)
        tokens = torch.randint(TOKENS, (16, LENGTH), generator=generator)
        logits = head(encoder(embed(tokens) + positions, mask))
        loss = F.cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _far_from_zero() -> Exhibit:
    means = [10.0**power for power in range(7)]
    noise = torch.randn(64, 256, generator=torch.Generator().manual_seed(3))
    names = ("E[x²] - E[x]²", "E[(x - E[x])²]", "the variance that LayerNorm's output implies")
    errors: dict[str, list[float]] = {name: [] for name in names}
    for mean in means:
        x = noise + mean  # already rounded to float32: what is lost here is lost for all
        exact = x.double().var(-1, unbiased=False)
        output = LayerNorm(256, eps=1e-12)(x).detach().double()
        centred = x.double() - x.double().mean(-1, keepdim=True)
        implied = ((centred * centred).sum(-1) / (centred * output).sum(-1)).square()
        naive = x.square().mean(-1) - x.mean(-1).square()
        twice = (x - x.mean(-1, keepdim=True)).square().mean(-1)
        for name, variance in zip(errors, (naive, twice, implied), strict=True):
            errors[name].append(float(((variance.double() - exact) / exact).abs().max()))
    naive_4, (two_4, two_6) = errors[names[0]][4], errors[names[1]][4::2]
    return lines(
        "How wrong is the variance, in float32?",
        {name: (means, error) for name, error in errors.items()},
        x_axis="mean of the features (their deviation is 1)",
        y_axis="largest error, of the right variance",
        log_x=True,
        log_y=True,
        note=f"At a mean of 10,000 the difference of two numbers near 10⁸ is wrong by {naive_4:.0f} times "
        "the variance and may fall below zero, where the root is NaN. Subtracting the mean first costs one "
        f"more pass, and is wrong by {100 * two_4:.2g}% there, by {100 * two_6:.2g}% at a million.",
    )


def _question() -> Exhibit:
    return question(
        "You multiply a token by 100. How far does its output move, and when would it move?",
        seen="Louder, quieter, shifted",
        answer="Hardly at all: scale and shift are taken away. It moves only where the token is as small as the root "
        "of eps.",
    )
