"""How the probe goes wrong: ridge regression on one-hot labels, with a bias that is not penalised.

Features and one-hot rows are centred by the means of what the probe is fitted to; W solves (XᵀX + ridge · I) W = XᵀY.
"""

mistake(
    "places-returned",
    "your probe returns the places of the classes, 0, 1, 2, …; it should return their labels",
    probe="classes[scores.argmax(dim=-1)] -> scores.argmax(dim=-1)",
)

mistake(
    "labels-as-places",
    "your probe takes labels for places of columns; they may be any whole numbers, negative ones too",
    probe="labels.unique(return_inverse=True) -> torch.arange(int(labels.max()) + 1), labels",
)

mistake(
    "scores-returned",
    "your probe returns scores, a row for each example; it should return the label with the greatest one",
    probe="classes[scores.argmax(dim=-1)] -> scores",
)

mistake(
    "least-score",
    "your probe returns the label with the least score; it should return the one with the greatest",
    probe="scores.argmax(dim=-1) -> scores.argmin(dim=-1)",
)

mistake(
    "labels-regressed",
    "your probe fits the label as a number and rounds; give each class a column, as classes have no order",
    probe=[
        "torch.eye(len(classes), dtype=x.dtype, device=x.device)[number] -> number[:, None].to(x.dtype)",
        "scores.argmax(dim=-1) -> scores[:, 0].round().long().clamp(0, len(classes) - 1)",
    ],
)

mistake(
    "nearest-mean",
    "your probe takes the class whose mean is nearest; it should be ridge regression on one-hot labels",
    probe="""
        - weight = torch.linalg.solve(x.T @ x + penalty, x.T @ y)
        + means = torch.stack([x[number == one].mean(dim=0) for one in range(len(classes))])

        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = -torch.cdist(new.detach().double() - x_mean, means)
    """,
)

mistake(
    "no-bias",
    "your probe has no bias, so the boundaries of all classes go through zero; add a bias without a penalty",
    probe="x.mean(dim=0), y.mean(dim=0) -> torch.zeros_like(x[0]), torch.zeros_like(y[0])",
)

mistake(
    "bias-penalised",
    "your bias is penalised like the weights; leave its column of ones out of the penalty",
    probe="""
        - x, y = x - x_mean, y - y_mean
        - penalty = ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)
        + x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
        + penalty = ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)

        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = new.detach().double() @ weight[:-1] + weight[-1]
    """,
)

mistake(
    "shares-forgotten",
    "your probe centres the one-hot rows, which favours rare classes; add the mean of these rows to the scores",
    probe="(new.detach().double() - x_mean) @ weight + y_mean -> (new.detach().double() - x_mean) @ weight",
)

mistake(
    "new-features-not-centred",
    "your probe is fitted to centred features but predicts from uncentred ones; subtract the same mean from both",
    probe="(new.detach().double() - x_mean) @ weight -> new.detach().double() @ weight",
)

mistake(
    "own-mean-of-the-new",
    "your probe centres new features by their own mean; it should use that of the examples it was fitted to",
    probe="new.detach().double() - x_mean -> new.detach().double() - new.detach().double().mean(dim=0)",
)

mistake(
    "ridge-not-used",
    "your probe does not use ridge; it should add ridge times the squares of W to what it minimises",
    probe="torch.linalg.solve(x.T @ x + penalty, x.T @ y) -> torch.linalg.pinv(x) @ y",
)

mistake(
    "ridge-beside-a-mean",
    "your ridge is added to a mean of squared errors, so it counts N times too much; add it to their sum",
    probe="""
        - penalty = ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)
        + penalty = len(x) * ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)
    """,
)

mistake(
    "ridge-everywhere",
    "your ridge is added to every number of the matrix; add it on the diagonal only",
    probe="ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device) -> ridge",
)

mistake(
    "another-default",
    "your ridge is 1 by default; it should be 1e-3",
    probe="ridge: float = 1e-3 -> ridge: float = 1.0",
)

mistake(
    "standardised",
    "your features are divided by their deviation, so ridge means another thing; leave the scale as it is",
    probe="""
        - x, y = x - x_mean, y - y_mean
        + deviation = x.std(dim=0, correction=0)
        + x, y = (x - x_mean) / deviation, y - y_mean

        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = (new.detach().double() - x_mean) / deviation @ weight + y_mean
    """,
)

mistake(
    "squares-of-float32",
    "your probe squares float32 features before they are centred, which loses digits; subtract the mean first",
    probe=[
        "features.detach().double() -> features.detach().float()",
        "x, y = x - x_mean, y - y_mean -> y = y - y_mean",
        "x.T @ x + penalty -> x.T @ x - len(x) * torch.outer(x_mean, x_mean) + penalty",
        "new.detach().double() -> new.detach().float()",
    ],
)

mistake(
    "centred-in-place",
    "your probe centres the features in place, so the caller's are changed; leave the given features as they are",
    probe="""
        - x, y = x - x_mean, y - y_mean
        + features.sub_(x_mean)
        + x, y = x - x_mean, y - y_mean
    """,
)

mistake(
    "features-read-again",
    "your probe reads its training features again when it predicts, so it changes when they do; compute their "
    "mean once",
    probe="new.detach().double() - x_mean -> new.detach().double() - features.detach().double().mean(dim=0)",
)

mistake(
    "asked-the-other-way",
    "your probes share their fitted numbers, so the newest fit overwrites the others; each probe should keep its own",
    probe="""
        - def predict(new: Tensor) -> Tensor:
        -     scores = (new.detach().double() - x_mean) @ weight + y_mean
        -     return classes[scores.argmax(dim=-1)]
        + kept = probe.__dict__
        + kept.update(mean=x_mean, weight=weight, bias=y_mean, classes=classes)
        + def predict(new: Tensor) -> Tensor:
        +     scores = (new.detach().double() - kept["mean"]) @ kept["weight"] + kept["bias"]
        +     return kept["classes"][scores.argmax(dim=-1)]
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
