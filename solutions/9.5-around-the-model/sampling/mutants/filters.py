"""How filters keep too much, too little or the wrong things.

What may be drawn keeps its logit, what may not becomes -inf; each row decides for itself.
"""

mistake(
    "top-k-strict",
    "your top_k keeps one token too few; it should keep the k-th as well",
    top_k="logits < least -> logits <= least",
)

mistake(
    "top-k-one-more",
    "your top_k keeps one token more than k, as its limit is the logit after the k-th; the limit should be the k-th",
    top_k="min(k, logits.size(-1)) -> min(k + 1, logits.size(-1))",
)

mistake(
    "top-k-zeroed",
    "your top_k sets the other logits to 0, which is a score like any other; set them to -inf",
    top_k="logits.masked_fill(logits < least, -math.inf) -> logits.masked_fill(logits < least, 0.0)",
)

mistake(
    "top-k-finite",
    "your removed logits are -1e9; set them to -inf, the only number that can never be drawn",
    top_k="logits.masked_fill(logits < least, -math.inf) -> logits.masked_fill(logits < least, -1e9)",
)

mistake(
    "top-k-too-large",
    "your top_k fails when k is larger than the vocabulary; it should then keep all tokens",
    top_k="min(k, logits.size(-1)) -> k",
)

mistake(
    "top-k-of-the-batch",
    "your top_k has one limit for all rows; each row should keep its own k best",
    top_k="""
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        + least = logits.flatten().topk(min(k, logits.size(-1))).values[-1]
    """,
)

mistake(
    "top-k-for-each-row-of-the-batch",
    "your top_k keeps the best of the batch together, k times as many as it has rows; each row should keep its "
    "own k best",
    top_k="""
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        + rows = logits.numel() // logits.size(-1)
        + least = logits.flatten().topk(min(k * rows, logits.numel())).values[-1]
    """,
)

mistake(
    "top-k-lowest-limit",
    "your top_k takes the lowest of the rows' limits for all of them; each row should keep its own k best",
    top_k="logits < least -> logits < least.min()",
)

mistake(
    "top-k-of-the-first-row",
    "your top_k takes its limit from the first row; each row should keep its own k best",
    top_k="logits < least -> logits < least.flatten()[0]",
)

mistake(
    "top-k-worst",
    "your top_k keeps the k worst tokens; it should keep the k best",
    top_k="""
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        - return logits.masked_fill(logits < least, -math.inf)
        + most = logits.topk(min(k, logits.size(-1)), dim=-1, largest=False).values[..., -1:]
        + return logits.masked_fill(logits > most, -math.inf)
    """,
)

mistake(
    "top-k-values-only",
    "your top_k returns only the k best logits; it should return all V, the others as -inf",
    top_k="""
        - least = logits.topk(min(k, logits.size(-1)), dim=-1).values[..., -1:]
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.topk(min(k, logits.size(-1)), dim=-1).values
    """,
)

mistake(
    "top-k-probabilities",
    "your top_k returns probabilities; a filter should return logits",
    top_k="""
        - return logits.masked_fill(logits < least, -math.inf)
        + return logits.masked_fill(logits < least, -math.inf).softmax(dim=-1)
    """,
)

mistake(
    "top-k-as-a-mask",
    "your top_k returns which tokens stay, as ones and zeros; a filter should return logits",
    top_k="logits.masked_fill(logits < least, -math.inf) -> (logits >= least).to(logits.dtype)",
)

mistake(
    "crossing-token-dropped",
    "your top_p drops the token with which p is reached; it should keep that one too",
    top_p="dropped = before >= p -> dropped = before + share >= p",
)

mistake(
    "exact-p-passed",
    "your top_p goes on where the sum is exactly p, as Hugging Face's does; it should stop as soon as p is reached",
    top_p="before >= p -> before > p",
    convention="Hugging Face keeps the token after an exact p",
)

mistake(
    "one-token-more",
    "your top_p keeps one token more than those that reach p; it should stop at the token with which p is reached",
    top_p="""
        - dropped[..., 0] = False
        + dropped[..., 1:] = dropped[..., :-1].clone()
        + dropped[..., 0] = False
    """,
)

mistake(
    "best-may-be-dropped",
    "your top_p drops all tokens where the best one has more than p by itself; it should always keep one",
    top_p="""
        - dropped = before >= p
        - dropped[..., 0] = False
        + dropped = (before + share > p) & ((before >= p) | (before == 0))
    """,
)

mistake(
    "none-reaches-one",
    "your top_p keeps a single token where the rounded probabilities never reach p = 1: it should keep all of them",
    top_p="""
        - before = share.cumsum(dim=-1) - share  # what the better ones have together
        - dropped = before >= p
        - dropped[..., 0] = False
        + last = (share.cumsum(dim=-1) >= p).int().argmax(dim=-1, keepdim=True)
        + dropped = torch.arange(share.size(-1), device=share.device) > last
    """,
)

mistake(
    "best-dropped-at-zero",
    "your top_p drops all tokens when p is 0; it should always keep the best one",
    top_p="- dropped[..., 0] = False",
)

mistake(
    "left-in-order",
    "your top_p leaves its decisions in sorted order; they should go back to the tokens' own places",
    top_p="- dropped = torch.zeros_like(dropped).scatter(-1, order, dropped)",
)

mistake(
    "sorted-logits-returned",
    "your top_p returns the logits sorted; each should stay at its token's place",
    top_p="""
        - dropped = torch.zeros_like(dropped).scatter(-1, order, dropped)  # back to the tokens' own places
        - return logits.masked_fill(dropped, -math.inf)
        + return ordered.masked_fill(dropped, -math.inf)
    """,
)

mistake(
    "summed-unsorted",
    "your top_p sums probabilities in the order of the tokens; sum from the best one on",
    top_p="""
        - ordered, order = logits.sort(dim=-1, descending=True)
        + ordered, order = logits, torch.arange(logits.size(-1)).expand(logits.shape)
    """,
)

mistake(
    "gathered-back",
    "your top_p goes back to the tokens' places by gather(order), which is the way there; use scatter for the way "
    "back",
    top_p="torch.zeros_like(dropped).scatter(-1, order, dropped) -> dropped.gather(-1, order)",
)

mistake(
    "worst-first",
    "your top_p sums from the least likely token up; begin with the best",
    top_p="dim=-1, descending=True -> dim=-1",
)

mistake(
    "sums-of-logits",
    "your top_p sums logits; sum probabilities, which add up to 1",
    top_p="ordered.softmax(dim=-1) -> ordered",
)

mistake(
    "softmax-of-the-rows",
    "your top_p takes the softmax over the rows; take it along the last axis, so that each row sums to 1",
    top_p="ordered.softmax(dim=-1) -> ordered.softmax(dim=0)",
)

mistake(
    "summed-over-the-rows",
    "your top_p adds up probabilities from row to row; each row should have its own sum, along the last axis",
    top_p="share.cumsum(dim=-1) -> share.cumsum(dim=0)",
)

mistake(
    "rest-not-normalised",
    "your top_p takes exp(logits) for probabilities; use the softmax, which makes them sum to 1",
    top_p="ordered.softmax(dim=-1) -> ordered.exp()",
)

mistake(
    "min-p-absolute",
    "your min_p keeps only probabilities above p; it should keep those above p times that of the best token",
    min_p="""
        - best = logits.amax(dim=-1, keepdim=True)
        - return logits.masked_fill(logits < best + math.log(p), -math.inf)
        + return logits.masked_fill(logits.softmax(dim=-1) < p, -math.inf)
    """,
)

mistake(
    "min-p-of-logits",
    "your min_p multiplies the best logit by p; add log(p) to it, as shares of probabilities are differences of "
    "logits",
    min_p="best + math.log(p) -> best * p",
)

mistake(
    "min-p-of-the-batch",
    "your min_p compares all rows with the best token of the batch; it should compare each row with its own best one",
    min_p="logits.amax(dim=-1, keepdim=True) -> logits.amax()",
)

mistake(
    "min-p-edge-dropped",
    "your min_p drops tokens that are exactly p times as likely as the best; it should keep them",
    min_p="logits < best + math.log(p) -> logits <= best + math.log(p)",
)

mistake(
    "min-p-overflows",
    "your min_p compares exp(logits), which overflows where logits are large; compare probabilities, or the logits",
    min_p=[
        "best = logits.amax(dim=-1, keepdim=True) -> likely = logits.exp()",
        "logits < best + math.log(p) -> likely < p * likely.amax(dim=-1, keepdim=True)",
    ],
)

mistake(
    "filtered-in-place",
    "your top_p writes -inf into the caller's logits; it should leave them as they are",
    top_p="logits.masked_fill(dropped, -math.inf) -> logits.masked_fill_(dropped, -math.inf)",
)

mistake(
    "result-in-float32",
    "your min_p always returns float32; it should return the dtype of the logits",
    min_p="logits.masked_fill -> logits.float().masked_fill",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
