"""What training gets wrong: targets, seeds, the rate, and what is said about it."""

mistake(
    "target-not-shifted",
    "your targets are the tokens that the model reads; they should be those that come next",
    train="batch[:, 1:] -> batch[:, :-1]",
)

mistake(
    "target-too-far-ahead",
    "your targets lie further ahead than the next token; the target at position t should be token t + 1",
    train="""
        - loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        + loss = F.cross_entropy(logits[:, :-2].flatten(0, 1), batch[:, 3:].flatten())
    """,
)

mistake(
    "pieces-not-from-the-seed",
    "your pieces of text come from torch's global generator; the seed should decide which are drawn",
    train="torch.Generator().manual_seed(seed) -> None",
)

mistake(
    "warmup-one-step-late",
    "your warm-up reaches the full rate one step late; it should reach it at step warmup",
    rate_at="step / warmup -> step / (warmup + 1)",
)

mistake(
    "warmup-by-squares",
    "your rate rises by squares; it should rise in equal steps",
    rate_at="step / warmup -> (step / warmup) ** 2",
)

mistake(
    "full-rate-hangs-on-warmup",
    "your full rate falls with the length of the warm-up, as in the first transformer; it should not depend on it",
    train="rate_at(step, steps, warmup) -> rate_at(step, steps, warmup) / max(warmup, 1) ** 0.5",
)

mistake(
    "depth-not-passed-on",
    "your train builds two layers whatever num_layers says; it should build num_layers of them",
    train="num_layers=num_layers -> num_layers=2",
)

mistake(
    "norm-not-passed-on",
    "your train does not pass norm on, so the model always has norm='first'; pass norm to the model",
    train="norm=norm, positions=positions -> positions=positions",
)

mistake(
    "positions-not-passed-on",
    "your train does not pass positions on, so the model has them even with False; pass positions to the model",
    train="norm=norm, positions=positions -> norm=norm",
)

mistake(
    "summed-loss",
    "your loss is the sum over the batch; it should be the mean",
    train='batch[:, 1:].flatten() -> batch[:, 1:].flatten(), reduction="sum"',
)

mistake(
    "loss-after-the-update",
    "your rows hold the loss after the update; it should be that of this step's batch before it",
    train="""
        - rows.append((step, loss.item(), rate))
        + after = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        + rows.append((step, after.item(), rate))
    """,
)

mistake(
    "model-missing",
    "your train returns only the rows; it should return (model, rows)",
    train="return model, rows -> return rows",
    costs="nothing of training can be looked at",
)

mistake(
    "rate-too-low",
    "your rate is too low to learn anything in 150 steps; raise the full rate",
    train="RATE * rate_at(step, steps, warmup) -> 0.01 * RATE * rate_at(step, steps, warmup)",
)


@mistake("cut-short", "your logged runs are too short; each should go on to step 150")
def training_log():
    head, *lines = LOG.splitlines()
    return "\n".join([head, *(line for line in lines if int(line.split(",")[2]) <= 100)])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
