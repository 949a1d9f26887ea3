"""What training gets wrong whatever is trained: weights, the rate, rows and updates."""

mistake(
    "weights-not-from-the-seed",
    "your weights come from torch's global generator as it happens to be, not from the seed",
    train="- torch.manual_seed(seed)",
)


@mistake("no-warmup", "your rate does not warm up")
def rate_at(step, steps, warmup):
    return 1 - 0.9 * (step - 1) / max(steps - 1, 1)


mistake(
    "warmup-from-zero",
    "your warm-up begins with a rate of 0; step s should have s / warmup of the full rate",
    rate_at="step / warmup -> (step - 1) / warmup",
)

mistake(
    "rate-not-used",
    "your rows say one rate and the optimizer uses another, so it never learns of the warm-up",
    train='- optimizer.param_groups[0]["lr"] = rate',
)

mistake(
    "steps-from-zero",
    "your rows count steps from 0; the first should be step 1",
    train="(step, loss.item(), rate) -> (step - 1, loss.item(), rate)",
    costs="every check that trains reads the rows",
)

mistake(
    "loss-not-a-number",
    "your rows hold the loss as a tensor; make a number of it with loss.item(), which lets its graph go",
    train="(step, loss.item(), rate) -> (step, loss, rate)",
    costs="every check that trains reads the rows",
)

mistake(
    "rows-left-out",
    "your rows leave steps out; there should be one for each",
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
    "your train never updates the parameters, as optimizer.step() is missing",
    train="- optimizer.step()",
    costs="nothing has been trained",
)

mistake(
    "gradients-pile-up",
    "your gradients pile up over the steps; clear them before each backward pass",
    train="- optimizer.zero_grad()",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
