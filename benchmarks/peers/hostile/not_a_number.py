"""Returns NaN everywhere."""


def attention(query, key, value, mask=None):
    weights = torch.full((*query.shape[:-1], key.shape[-2]), torch.nan)
    return weights @ value, weights
