"""What `fit` gets wrong in its batches.

An epoch is every example once, in an order drawn from the generator, and an example keeps its label.
"""

mistake(
    "never-shuffled",
    "your fit goes through the examples in the order given; it should draw a new order in each epoch",
    fit="torch.randperm(len(tokens), generator=generator) -> torch.arange(len(tokens))",
)

mistake(
    "generator-ignored",
    "your fit shuffles with torch's global generator though one is given; it should draw from the one given",
    fit="len(tokens), generator=generator -> len(tokens)",
)

mistake(
    "seed-fixed",
    "your fit seeds the generator again, so every run has the same order; use the generator in the state it is given",
    fit="""
          model.train()
        + if generator is not None:
        +     generator.manual_seed(0)
    """,
)

mistake(
    "drawn-with-replacement",
    "your epochs repeat some examples and miss others; each should go through all of them once",
    fit="""
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + for batch in torch.randint(len(tokens), (len(tokens),), generator=generator).split(batch_size):
    """,
)

mistake(
    "batch-size-ignored",
    "your fit puts all examples into one batch; it should split them into batches of batch_size",
    fit="""
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + for batch in torch.randperm(len(tokens), generator=generator).split(len(tokens)):
    """,
)

mistake(
    "last-batch-dropped",
    "your fit leaves out the last batch when it is short; it should train on every example in each epoch",
    fit="""
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + order = torch.randperm(len(tokens), generator=generator)
        + batches = [b for b in order.split(batch_size) if len(b) == batch_size] or [order]
        + for batch in batches:
    """,
)

mistake(
    "labels-left-behind",
    "your fit shuffles the tokens but not the labels; it should put both into the same order",
    fit="""
        - total = 0.0
        + total, seen = 0.0, 0

        - loss = cross_entropy(model(tokens[batch]), labels[batch])
        + loss = cross_entropy(model(tokens[batch]), labels[seen : seen + len(batch)])
        + seen += len(batch)
    """,
)

mistake(
    "shuffled-in-place",
    "your fit shuffles the tensors that it was given; it should leave them as they are",
    fit="""
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + order = torch.randperm(len(tokens), generator=generator)
        + tokens[:], labels[:] = tokens[order], labels[order]
        + for batch in torch.arange(len(tokens)).split(batch_size):
    """,
)

mistake(
    "order-drawn-once",
    "your fit draws the order once, so neighbours always share a batch; each epoch should draw its own",
    fit="""
        - for _ in range(epochs):
        + order = torch.randperm(len(tokens), generator=generator)
        + for _ in range(epochs):

        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + for batch in order.split(batch_size):
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
