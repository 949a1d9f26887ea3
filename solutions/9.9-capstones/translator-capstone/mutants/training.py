"""What training gets wrong: what the decoder reads, what counts, seeds, the rate, and what is said about it."""

mistake(
    "target-read-as-it-is",
    "your decoder reads the words that it should predict: BOS and the words before are what it reads",
    train="model(read, written) -> model(read, wanted)",
)

mistake(
    "padding-counted",
    "your loss counts targets that are padding",
    train="wanted.flatten(), ignore_index=model.pad_id -> wanted.flatten()",
)

mistake(
    "weights-not-from-the-seed",
    "your weights come from wherever torch's global generator stands, not from the seed",
    train="- torch.manual_seed(seed)",
)

mistake(
    "pairs-not-from-the-seed",
    "your pairs come from torch's global generator, not from the seed",
    train="torch.Generator().manual_seed(seed) -> None",
)


@mistake("no-warmup", "your rate does not warm up")
def rate_at(step, steps, warmup):
    return 1 - 0.9 * (step - 1) / max(steps - 1, 1)


mistake(
    "warmup-from-zero",
    "your warm-up begins with a rate of 0: step s has s / warmup of the full rate",
    rate_at="step / warmup -> (step - 1) / warmup",
)

mistake(
    "rate-not-used",
    "your rows say one rate and the optimizer uses another: it never learns of the warm-up",
    train='- optimizer.param_groups[0]["lr"] = rate',
)

mistake(
    "depth-not-passed-on",
    "your train builds one layer whatever num_layers says",
    train="num_layers=num_layers, norm=norm -> norm=norm",
)

mistake(
    "steps-from-zero",
    "your rows count steps from 0: the first is step 1",
    train="(step, loss.item(), rate) -> (step - 1, loss.item(), rate)",
    costs="every check that trains reads the rows",
)

mistake(
    "loss-not-a-number",
    "your rows hold the loss as a tensor: loss.item() makes a number of it, and lets its graph go",
    train="(step, loss.item(), rate) -> (step, loss, rate)",
    costs="every check that trains reads the rows",
)

mistake(
    "rows-left-out",
    "your rows leave steps out: there is one for each",
    train="""
        - rows.append((step, loss.item(), rate))
        + if step % 2 == 0:
        +     rows.append((step, loss.item(), rate))
    """,
    costs="every check that trains reads the rows",
)

mistake(
    "rate-rises-on",
    "your rate rises beyond the full one after the warm-up",
    rate_at="1 - 0.9 * (step - first) / max(steps - first, 1) -> 1 + 0.5 * (step - first) / first",
)

mistake(
    "update-left-out",
    "your train never updates the parameters: optimizer.step() is missing",
    train="- optimizer.step()",
    costs="nothing has been trained",
)

mistake(
    "loss-after-the-update",
    "your rows hold the loss after the update: it is that of this step's batch before it",
    train="""
        - rows.append((step, loss.item(), rate))
        + after = F.cross_entropy(model(read, written).flatten(0, 1), wanted.flatten(), ignore_index=model.pad_id)
        + rows.append((step, after.item(), rate))
    """,
)

mistake(
    "gradients-pile-up",
    "your gradients pile up over the steps: they have to be cleared before each backward pass",
    train="- optimizer.zero_grad()",
)

mistake(
    "rate-too-low",
    "your rate is too low to learn anything in 160 steps",
    train="RATE * rate_at(step, steps, warmup) -> 0.01 * RATE * rate_at(step, steps, warmup)",
)
