"""What `windows` and `accumulate` get wrong.

Every window that fits is equally likely, drawn by itself from the generator that is given. The mean of a batch is
weighed by the targets that count in each part, and a part's graph is gone before the next one begins.
"""

mistake(
    "y-is-x",
    "your y is x itself, so a model only learns to copy; it should begin one token later",
    windows="tokens[places + 1] -> tokens[places]",
)

mistake(
    "last-window-missing",
    "your last window is never drawn, so the last token is never learned; draw from N - T places",
    windows="torch.randint(len(tokens) - length, -> torch.randint(max(1, len(tokens) - length - 1),",
)

mistake(
    "past-the-end",
    "your windows may begin one place too late, where y runs past the end; draw from N - T places",
    windows="torch.randint(len(tokens) - length, -> torch.randint(len(tokens) - length + 1,",
)

mistake(
    "windows-in-order",
    "your windows follow each other from the beginning on, so nothing is drawn; draw each beginning",
    windows="torch.randint(len(tokens) - length, (batch, 1), generator=generator) -> "
    "torch.arange(batch)[:, None] % (len(tokens) - length)",
)

mistake(
    "without-putting-back",
    "your windows are drawn without putting any back, so a large batch comes out too small; draw each by itself",
    windows="torch.randint(len(tokens) - length, (batch, 1), generator=generator) -> "
    "torch.randperm(len(tokens) - length, generator=generator)[:batch, None]",
)

mistake(
    "generator-not-used",
    "your windows come from torch's global generator, so no seed of yours repeats them; draw from the one given",
    windows=", generator=generator ->",
)

mistake(
    "seeded-anew",
    "your generator is seeded again in each call, so every batch is the same; let it go on",
    windows="generator=generator -> generator=torch.Generator().manual_seed(generator.initial_seed())",
)

mistake(
    "length-unrefused",
    "your length is not examined, so one that does not fit raises something else; raise ValueError",
    windows="if not 1 <= length < len(tokens): -> if False:",
)

mistake(
    "mean-of-means",
    "your parts weigh the same, however much padding they hold; weigh each by the targets that count in it",
    accumulate="count / sum(counts) -> 1 / len(batches)",
)

mistake(
    "sum-of-means",
    "your parts' means are added up, so more parts make longer steps; weigh each by its share of the targets",
    accumulate=" * (count / sum(counts)) ->",
)

mistake(
    "weighed-by-size",
    "your parts are weighed by their size, padding included; only targets that are not -100 should count",
    accumulate="int((targets != IGNORED).sum()) -> targets.numel()",
)

mistake(
    "empty-part-kept",
    "your part in which nothing counts is weighed with 0, and 0 times NaN is NaN; leave it out",
    accumulate="""
        - if count:
        + if sum(counts):
    """,
)

mistake(
    "emptied-first",
    "your gradients are emptied first, so what was there is lost; add to it, as backward does",
    accumulate="""
        + model.zero_grad()
          mean = 0.0
    """,
)

mistake(
    "graphs-kept",
    "your losses are added up and backward comes once, so all graphs are in memory; call it for each part",
    accumulate="""
          mean = 0.0
        + parts = []

        - share.backward()
        + parts.append(share)

        - return mean
        + if parts:
        +     sum(parts).backward()
        + return mean
    """,
)

mistake(
    "tensor-for-a-float",
    "your mean is a tensor, which keeps its graph alive; it should be a Python float",
    accumulate="share.item() -> share",
)

mistake(
    "train-mode-forced",
    "your model is put into train mode and stays there; leave it in the mode in which it came",
    accumulate="""
        + model.train()
          mean = 0.0
    """,
)

mistake(
    "backward-unweighed",
    "your backward pass goes through the part's own mean; it should go through the weighed one",
    accumulate="share.backward() -> loss(model(x), targets).backward()",
)

mistake(
    "targets-before",
    "your y holds the token before each of x's; it should hold the one after",
    windows="tokens[places + 1] -> tokens[places - 1]",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
