def top_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the best tokens until their probabilities sum up to more than p."""
    ordered, order = logits.sort(dim=-1, descending=True)
    share = ordered.softmax(dim=-1)
    before = share.cumsum(dim=-1) - share  # what the better ones have together
    dropped = before > p
    dropped[..., 0] = False
    dropped = torch.zeros_like(dropped).scatter(-1, order, dropped)  # back to the tokens' own places
    return logits.masked_fill(dropped, -math.inf)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
