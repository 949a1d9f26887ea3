"""What training gets wrong: what the decoder reads, what counts, seeds, the rate, and what is said about it."""

mistake(
    "target-read-as-it-is",
    "your decoder reads the words that it should predict; it should read BOS and the words before them",
    train="model(read, written) -> model(read, wanted)",
)

mistake(
    "padding-counted",
    "your loss counts targets that are padding; it should leave them out",
    train="wanted.flatten(), ignore_index=model.pad_id -> wanted.flatten()",
)

mistake(
    "pairs-not-from-the-seed",
    "your pairs come from torch's global generator; they should depend only on the seed",
    train="torch.Generator().manual_seed(seed) -> None",
)

mistake(
    "depth-not-passed-on",
    "your train always builds one layer; it should build num_layers layers",
    train="num_layers=num_layers, norm=norm -> norm=norm",
)

mistake(
    "loss-after-the-update",
    "your rows hold the loss after the update; it should be that of this step's batch before it",
    train="""
        - rows.append((step, loss.item(), rate))
        + after = F.cross_entropy(model(read, written).flatten(0, 1), wanted.flatten(), ignore_index=model.pad_id)
        + rows.append((step, after.item(), rate))
    """,
)

mistake(
    "rate-too-low",
    "your rate is too low to learn anything in 160 steps; raise the full rate",
    train="RATE * rate_at(step, steps, warmup) -> 0.01 * RATE * rate_at(step, steps, warmup)",
)


@mistake("cut-short", "your logged runs are too short; each should go on to step 160")
def training_log():
    head, *lines = LOG.splitlines()
    return "\n".join([head, *(line for line in lines if int(line.split(",")[2]) <= 100)])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
