"""What training gets wrong: targets, seeds, the rate, and what is said about it."""

mistake(
    "target-not-shifted",
    "your targets are the tokens that the model reads: they have to be those that come next",
    train="batch[:, 1:] -> batch[:, :-1]",
)

mistake(
    "target-too-far-ahead",
    "your targets lie further ahead than the next token",
    train="""
        - loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        + loss = F.cross_entropy(logits[:, :-2].flatten(0, 1), batch[:, 3:].flatten())
    """,
)

mistake(
    "weights-not-from-the-seed",
    "your weights come from wherever torch's global generator stands, not from the seed",
    train="- torch.manual_seed(seed)",
)

mistake(
    "pieces-not-from-the-seed",
    "your pieces of text come from torch's global generator, not from the seed",
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
    "warmup-one-step-late",
    "your warm-up reaches the full rate one step late: step warmup has it",
    rate_at="step / warmup -> step / (warmup + 1)",
)

mistake(
    "warmup-by-squares",
    "your rate rises by squares: it should rise in equal steps",
    rate_at="step / warmup -> (step / warmup) ** 2",
)

mistake(
    "full-rate-hangs-on-warmup",
    "your full rate falls with the length of the warm-up, as in the first transformer: it should be one",
    train="rate_at(step, steps, warmup) -> rate_at(step, steps, warmup) / max(warmup, 1) ** 0.5",
)

mistake(
    "rate-not-used",
    "your rows say one rate and the optimizer uses another: it never learns of the warm-up",
    train='- optimizer.param_groups[0]["lr"] = rate',
)

mistake(
    "depth-not-passed-on",
    "your train builds two layers whatever num_layers says",
    train="num_layers=num_layers -> num_layers=2",
)

mistake(
    "norm-not-passed-on",
    "your train builds the model without handing on norm",
    train="norm=norm, positions=positions -> positions=positions",
)

mistake(
    "positions-not-passed-on",
    "your train builds the model without handing on positions",
    train="norm=norm, positions=positions -> norm=norm",
)

mistake(
    "steps-from-zero",
    "your rows count steps from 0: the first is step 1",
    train="(step, loss.item(), rate) -> (step - 1, loss.item(), rate)",
    costs="every check that trains reads the rows",
)

mistake(
    "summed-loss",
    "your loss is the sum over the batch: it should be the mean",
    train='batch[:, 1:].flatten() -> batch[:, 1:].flatten(), reduction="sum"',
)

mistake(
    "loss-after-the-update",
    "your rows hold the loss after the update: it is that of this step's batch before it",
    train="""
        - rows.append((step, loss.item(), rate))
        + after = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        + rows.append((step, after.item(), rate))
    """,
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
    "gradients-pile-up",
    "your gradients pile up over the steps: they have to be cleared before each backward pass",
    train="- optimizer.zero_grad()",
)

mistake(
    "model-missing",
    "your train returns the rows alone, not (model, rows)",
    train="return model, rows -> return rows",
    costs="nothing of training can be looked at",
)

mistake(
    "rate-too-low",
    "your rate is too low to learn anything in 150 steps",
    train="RATE * rate_at(step, steps, warmup) -> 0.01 * RATE * rate_at(step, steps, warmup)",
)
