"""What `fit` says wrongly about itself.

For each epoch one float: the mean over its examples, so the last batch counts for as many as it has.
"""

mistake(
    "last-batch-loss",
    "your loss is that of the last batch only; it should be the mean over all examples of the epoch",
    fit="""
        - total = 0.0

        -     total += loss.item() * len(batch)
        - losses.append(total / len(tokens))
        + losses.append(loss.item())
    """,
)

mistake(
    "loss-of-one-batch-per-item",
    "your fit returns the loss of every batch; it should return one number for each epoch",
    fit="""
        - total = 0.0

        -     total += loss.item() * len(batch)
        - losses.append(total / len(tokens))
        +     losses.append(loss.item())
    """,
)

mistake(
    "mean-of-batch-means",
    "your loss is the plain mean over batches, so a short last batch counts too much; weigh each by its size",
    fit="""
        - total = 0.0
        + total, count = 0.0, 0

        -     total += loss.item() * len(batch)
        - losses.append(total / len(tokens))
        +     total += loss.item()
        +     count += 1
        + losses.append(total / count)
    """,
)

mistake(
    "mean-over-a-loader",
    "your loss is the plain mean of the batch losses, so a short last batch counts too much; weigh each by its size",
)

from torch.utils.data import DataLoader, TensorDataset


def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    model.train()
    loader = DataLoader(TensorDataset(tokens, labels), batch_size, shuffle=True, generator=generator)
    losses = []
    for _ in range(epochs):
        total = 0.0
        for batch, wanted in loader:
            loss = cross_entropy(model(batch), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(loader))
    return losses


mistake(
    "sum-of-batch-losses",
    "your loss adds up batch means, without weights, and divides by how many examples there are; "
    "weigh each by its size",
    fit="loss.item() * len(batch) -> loss.item()",
)

mistake(
    "losses-as-tensors",
    "your losses are tensors; they should be floats",
    fit="loss.item() * len(batch) -> loss.detach() * len(batch)",
)

mistake(
    "losses-not-returned",
    "your fit ends without a return, so it gives None; it should return a list of each epoch's loss",
    fit="- return losses",
)

mistake(
    "model-returned",
    "your fit returns the model; it should return a list of each epoch's loss",
    fit="return losses -> return model",
)

mistake(
    "loss-not-cross-entropy",
    "your loss is the squared distance from one-hot labels; it should be cross-entropy",
    fit="""
        - loss = cross_entropy(model(tokens[batch]), labels[batch])  # the mean over this batch
        + logits = model(tokens[batch])
        + loss = nn.functional.mse_loss(logits, nn.functional.one_hot(labels[batch], logits.shape[-1]).to(logits.dtype))
    """,
)

mistake(
    "softmax-in-fit",
    "your fit applies softmax before cross-entropy, which applies it a second time; pass the logits as they are",
    fit="model(tokens[batch]) -> model(tokens[batch]).softmax(dim=-1)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
