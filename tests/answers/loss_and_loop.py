"""Answers to loss-and-loop."""

# ==== right ====
"""Losses and loops as other people write them, from the lesson and the stub alone."""

answer("one-hot-loss", "The loss is a product with one-hot rows, over flat rows that count.")


def log_softmax(x, dim=-1):
    m = x.max(dim=dim, keepdim=True).values.detach()
    return x - m - torch.log(torch.exp(x - m).sum(dim=dim, keepdim=True))


def cross_entropy(logits, targets, ignore=-100):
    V = logits.size(-1)
    logits, targets = logits.reshape(-1, V), targets.reshape(-1)
    logits, targets = logits[targets != ignore], targets[targets != ignore]
    if len(targets) == 0:
        return (logits * 0.0).sum()
    if targets.min() < 0 or targets.max() >= V:
        raise ValueError(f"targets must be in [0, {V}), found {targets.min()} to {targets.max()}")
    rows = torch.nn.functional.one_hot(targets, V).to(logits.dtype)
    return -(log_softmax(logits) * rows).sum(1).mean()


answer(
    "slices-and-sums",
    "Windows are slices that are stacked; sums of the loss are collected, and divided once.",
)


def windows(tokens, length, generator, batch):
    N = tokens.numel()
    if length <= 0 or N - length <= 0:
        raise ValueError(f"cannot cut windows of {length} + 1 out of {N} tokens")
    starts = [int(torch.randint(0, N - length, (), generator=generator)) for _ in range(batch)]
    return (
        torch.stack([tokens[s : s + length] for s in starts]),
        torch.stack([tokens[s + 1 : s + 1 + length] for s in starts]),
    )


def accumulate(model, batches, loss):
    real = [(x, y, (y != -100).sum().item()) for x, y in batches if (y != -100).any()]
    whole, total = 0.0, sum(n for _, _, n in real)
    for x, y, n in real:
        value = loss(model(x), y)
        (value * n / total).backward()
        whole += float(value) * n
    return whole / total if total else 0.0


answer("put-back", "A load that fails puts everything back; the file is written by way of bytes in memory.")

import copy
import io


def save(path, model, optimizer, generator, step):
    buffer = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict(), generator.get_state(), step], buffer)
    with open(str(path) + "~", "wb") as file:
        file.write(buffer.getvalue())
    os.rename(str(path) + "~", path)


def load(path, model, optimizer, generator):
    with open(path, "rb") as file:
        content = file.read()
    before = copy.deepcopy((model.state_dict(), optimizer.state_dict())), generator.get_state()
    try:
        m, o, g, step = torch.load(io.BytesIO(content))
        model.load_state_dict(m)
        optimizer.load_state_dict(o)
        generator.set_state(g)
        return step
    except Exception as error:
        (m, o), g = before
        model.load_state_dict(m)
        optimizer.load_state_dict(o)
        generator.set_state(g)
        raise ValueError(f"cannot load {path}: {error}")


# ==== wrong ====
"""Losses and loops as other people get them wrong."""


@answer("clamped-log", "Probabilities are kept from being 0 by a clamp.")
def log_softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return (e / e.sum(dim, keepdim=True)).clamp(min=1e-12).log()


@answer(
    "negative-is-ignored",
    "Whatever is negative does not count, and `ignore` is not looked at.",
    named=["ignore-not-looked-at"],
)
def cross_entropy(logits, targets, ignore=-100):
    keep = targets >= 0
    if (targets[keep] >= logits.shape[-1]).any():
        raise ValueError("target outside the table")
    picked = log_softmax(logits).gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -(picked * keep).sum() / keep.sum().clamp(min=1)


@answer(
    "no-last-window",
    "One place too few to begin: the last token is never a target.",
    named=["last-window-missing"],
)
def windows(tokens, length, generator, batch):
    if length < 1 or length >= len(tokens):
        raise ValueError(f"length {length}, {len(tokens)} tokens")
    starts = torch.randint(max(1, len(tokens) - length - 1), (batch,), generator=generator)
    x = torch.stack([tokens[s : s + length] for s in starts])
    return x, torch.stack([tokens[s + 1 : s + length + 1] for s in starts])


@answer("one-long-row", "One beginning is drawn, and the windows follow each other from there on.")
def windows(tokens, length, generator, batch):
    if length < 1 or length >= len(tokens):
        raise ValueError(f"length {length}, {len(tokens)} tokens")
    first = torch.randint(len(tokens) - length, (), generator=generator)
    starts = (first + length * torch.arange(batch)) % (len(tokens) - length)
    places = starts[:, None] + torch.arange(length)
    return tokens[places], tokens[places + 1]


@answer("drawn-before-refused", "The length is looked at when the windows are there.")
def windows(tokens, length, generator, batch):
    places = torch.randint(max(1, len(tokens) - length), (batch, 1), generator=generator) + torch.arange(
        length
    )
    if length < 1 or places.max() + 1 >= len(tokens):
        raise ValueError(f"length {length}, {len(tokens)} tokens")
    return tokens[places], tokens[places + 1]


@answer(
    "weighed-by-size",
    "Parts are weighed by how many targets they have, padding included.",
    named=["weighed-by-size"],
)
def accumulate(model, batches, loss):
    total = sum(y.numel() for _, y in batches)
    mean = 0.0
    for x, y in batches:
        part = loss(model(x), y) * y.numel() / total
        part.backward()
        mean += part.item()
    return mean


@answer(
    "weighed-at-the-end",
    "Each gradient is scaled when its part is done, and so are those that were there before.",
    named=["emptied-first"],
)
def accumulate(model, batches, loss):
    seen, mean = 0, 0.0
    for x, y in batches:
        n = int((y != -100).sum())
        if not n:
            continue
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= seen / (seen + n)
        part = loss(model(x), y)
        (part * n / (seen + n)).backward()
        mean = (mean * seen + part.item() * n) / (seen + n)
        seen += n
    return mean


@answer(
    "seed-for-state",
    "Of the generator its seed is saved, from which it begins again.",
    named=["seed-for-a-state"],
)
def save(path, model, optimizer, generator, step):
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": torch.Generator().manual_seed(generator.initial_seed()).get_state(),
            "step": step,
        },
        str(path) + ".new",
    )
    os.replace(str(path) + ".new", path)


@answer(
    "backup-first",
    "The old file is moved away, the new one is written, and the old one deleted.",
    named=["written-in-place"],
)
def save(path, model, optimizer, generator, step):
    backup = str(path) + ".old"
    if os.path.exists(path):
        os.replace(path, backup)
    held = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({**held, "generator": generator.get_state(), "step": step}, path)
    if os.path.exists(backup):
        os.remove(backup)


@answer("optimizer-second", "The model is loaded before the optimizer has been looked at.")
def load(path, model, optimizer, generator):
    try:
        held = torch.load(path)
        own = model.state_dict()
        assert own.keys() == held["model"].keys(), "other names"
        assert all(own[name].shape == value.shape for name, value in held["model"].items()), "other shapes"
        model.load_state_dict(held["model"])
        optimizer.load_state_dict(held["optimizer"])
        generator.set_state(held["generator"])
    except Exception as error:
        raise ValueError(f"{path}: {error}") from error
    return held["step"]
