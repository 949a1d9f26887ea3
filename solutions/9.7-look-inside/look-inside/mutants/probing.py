"""How the probe goes wrong: ridge regression on one-hot labels, with a bias that is not penalised.

Features and one-hot rows are centred by the means of what the probe is fitted to; W solves (XᵀX + ridge · I) W = XᵀY.
"""


class places_returned:
    """your probe returns the places of the classes, 0, 1, 2, …: labels are asked for

    Fails: test_probe_labels
    """

    probe = """
        - return classes[scores.argmax(dim=-1)]
        + return scores.argmax(dim=-1)
    """


class labels_as_places:
    """your probe takes labels for places of columns: they may be any whole numbers, negative ones too

    Fails: test_probe_labels
    """

    probe = """
        - classes, number = labels.unique(return_inverse=True)
        + classes, number = torch.arange(int(labels.max()) + 1), labels
    """


class scores_returned:
    """your probe returns scores, a row for each example: the label with the greatest is asked for

    Fails: test_probe_labels
    """

    probe = """
        - return classes[scores.argmax(dim=-1)]
        + return scores
    """


class least_score:
    """your probe takes the label with the least score

    Fails: test_probe_labels
    """

    probe = """
        - return classes[scores.argmax(dim=-1)]
        + return classes[scores.argmin(dim=-1)]
    """


class labels_regressed:
    """your probe fits the label as a number and rounds: classes have no order, so each gets a column of its own

    Fails: test_probe_between
    """

    probe = """
        - y = torch.eye(len(classes), dtype=x.dtype, device=x.device)[number]
        + y = number[:, None].to(x.dtype)

        - return classes[scores.argmax(dim=-1)]
        + return classes[scores[:, 0].round().long().clamp(0, len(classes) - 1)]
    """


class nearest_mean:
    """your probe takes the class whose mean is nearest: ridge regression on one-hot labels is asked for

    Fails: test_probe_ridge
    """

    probe = """
        - weight = torch.linalg.solve(x.T @ x + penalty, x.T @ y)
        + means = torch.stack([x[number == one].mean(dim=0) for one in range(len(classes))])

        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = -torch.cdist(new.detach().double() - x_mean, means)
    """


class no_bias:
    """your probe has no bias: the boundaries of all classes go through zero

    Fails: test_probe_ridge
    """

    probe = """
        - x_mean, y_mean = x.mean(dim=0), y.mean(dim=0)
        + x_mean, y_mean = torch.zeros_like(x[0]), torch.zeros_like(y[0])
    """


class bias_penalised:
    """your bias is penalised like the weights: a column of ones has to be left out of the penalty

    Fails: test_probe_ridge
    """

    probe = """
        - x, y = x - x_mean, y - y_mean
        - penalty = ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)
        + x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
        + penalty = ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)

        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = new.detach().double() @ weight[:-1] + weight[-1]
    """


class shares_forgotten:
    """your probe centres the one-hot rows and does not add their mean again: rare classes get too much

    Fails: test_probe_ridge
    """

    probe = """
        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = (new.detach().double() - x_mean) @ weight
    """


class new_features_not_centred:
    """your probe is fitted to centred features and asked with features that are not

    Fails: test_probe_ridge
    """

    probe = """
        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = new.detach().double() @ weight + y_mean
    """


class own_mean_of_the_new:
    """your probe centres new features by their own mean: it has to be that of the examples it was fitted to

    Fails: test_probe_apart
    """

    probe = """
        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = (new.detach().double() - new.detach().double().mean(dim=0)) @ weight + y_mean
    """


class ridge_not_used:
    """your probe does not use ridge

    Fails: test_probe_ridge
    """

    probe = """
        - weight = torch.linalg.solve(x.T @ x + penalty, x.T @ y)
        + weight = torch.linalg.pinv(x) @ y
    """


class ridge_beside_a_mean:
    """your ridge is next to a mean of squared errors: next to their sum it counts N times less

    Fails: test_probe_ridge
    """

    probe = """
        - penalty = ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)
        + penalty = len(x) * ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)
    """


class ridge_everywhere:
    """your ridge is added to every number of the matrix: it belongs on the diagonal

    Fails: test_probe_ridge
    """

    probe = """
        - penalty = ridge * torch.eye(x.size(1), dtype=x.dtype, device=x.device)
        + penalty = ridge
    """


class another_default:
    """your ridge is 1 by default: it should be 1e-3

    Fails: test_probe_default
    """

    probe = """
        - def probe(features: Tensor, labels: Tensor, *, ridge: float = 1e-3) -> Callable[[Tensor], Tensor]:
        + def probe(features: Tensor, labels: Tensor, *, ridge: float = 1.0) -> Callable[[Tensor], Tensor]:
    """


class standardised:
    """your features are divided by their deviation: ridge then means another thing

    Fails: test_probe_ridge
    """

    probe = """
        - x, y = x - x_mean, y - y_mean
        + deviation = x.std(dim=0, correction=0)
        + x, y = (x - x_mean) / deviation, y - y_mean

        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = (new.detach().double() - x_mean) / deviation @ weight + y_mean
    """


class squares_of_float32:
    """your probe squares float32 features before they are centred: far from zero their differences are lost

    Fails: test_probe_bias
    """

    probe = """
        - x = features.detach().double()
        + x = features.detach().float()

        - x, y = x - x_mean, y - y_mean
        + y = y - y_mean

        - weight = torch.linalg.solve(x.T @ x + penalty, x.T @ y)
        + weight = torch.linalg.solve(x.T @ x - len(x) * torch.outer(x_mean, x_mean) + penalty, x.T @ y)

        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = (new.detach().float() - x_mean) @ weight + y_mean
    """


class centred_in_place:
    """your probe centres the features in place: the caller's are changed

    Fails: test_probe_promises
    """

    probe = """
        - x, y = x - x_mean, y - y_mean
        + features.sub_(x_mean)
        + x, y = x - x_mean, y - y_mean
    """


class features_read_again:
    """your probe reads the features that it was fitted to again when it is asked, so it changes when they do; compute
    their mean once, while it is fitted

    Fails: test_probe_apart
    """

    probe = """
        - scores = (new.detach().double() - x_mean) @ weight + y_mean
        + scores = (new.detach().double() - features.detach().double().mean(dim=0)) @ weight + y_mean
    """


class asked_the_other_way:
    """your probes share what they were fitted to: the newest fit overwrites the others

    Fails: test_probe_apart
    """

    probe = """
        - def predict(new: Tensor) -> Tensor:
        -     scores = (new.detach().double() - x_mean) @ weight + y_mean
        -     return classes[scores.argmax(dim=-1)]
        + kept = probe.__dict__
        + kept.update(mean=x_mean, weight=weight, bias=y_mean, classes=classes)
        + def predict(new: Tensor) -> Tensor:
        +     scores = (new.detach().double() - kept["mean"]) @ kept["weight"] + kept["bias"]
        +     return kept["classes"][scores.argmax(dim=-1)]
    """
