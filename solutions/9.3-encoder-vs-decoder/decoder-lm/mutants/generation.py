"""What the loop of `generate` gets wrong.

The prompt goes in once; then each new token, chosen from the last position, goes in alone with the newest cache.
"""

mistake(
    "first-position",
    "your generate takes the logits of the first position; it should take those of the last, which has read "
    "everything",
    generate="logits[:, -1] -> logits[:, 0]",
)

mistake(
    "batch-of-one",
    "your generate decides by the first row for all rows; it should decide for each row by its own logits",
    generate="logits[:, -1] -> logits[:1, -1].expand(len(prompt), -1)",
)

mistake(
    "one-too-many",
    "your generate writes one token too many; it should write max_new_tokens at most",
    generate="range(max_new_tokens) -> range(max_new_tokens + 1)",
)

mistake(
    "stops-before-max-len",
    "your generate leaves the last of max_len free; prompt and continuation together should reach max_len",
    generate="""
        - for _ in range(max_new_tokens):
        + longest = model.position.num_embeddings - 1 if hasattr(model, "position") else 10**9
        + for _ in range(min(max_new_tokens, longest - prompt.size(1))):
    """,
)

mistake(
    "new-tokens-only",
    "your generate returns the new tokens without the prompt; it should return the prompt, then the new tokens",
    generate="return tokens -> return tokens[:, prompt.size(1) :]",
)

mistake(
    "text-forgotten",
    "your generate feeds only the last token, without the cache; give the model the cache as well, or the whole text",
    generate=[
        "cache = prompt -> _cache = prompt",
        "logits, cache = model(new, cache) -> logits, _cache = model(new)",
    ],
)

mistake(
    "text-fed-twice",
    "your generate feeds the whole text and the cache; with a cache, it should feed only the new tokens",
    generate="model(new, cache) -> model(tokens, cache)",
)

mistake(
    "cache-never-renewed",
    "your generate passes the first cache each time; pass the newest",
    generate="""
        - logits, cache = model(new, cache)
        + logits, latest = model(new, cache)
        + cache = latest if cache is None else cache
    """,
)

mistake(
    "prompt-overwritten",
    "your generate moves the text along inside the prompt that it was given; it should leave the prompt as it is",
    generate="""
          tokens = torch.cat((tokens, new), dim=1)
        + prompt[:] = tokens[:, -prompt.size(1) :]
    """,
)

mistake(
    "window-of-prompt",
    "your generate feeds only as many tokens as the prompt had; the model should read all tokens so far",
    generate="model(new, cache) -> model(tokens[:, -prompt.size(1) :])",
)

mistake(
    "new-tokens-without-axis",
    "your generate joins the new tokens [B] to the text [B, T]; give them an axis of length one",
    generate="""
        - logits, cache = model(new, cache)
        + logits, _ = model(tokens)

        - new = new[:, None]
    """,
)

mistake(
    "model-output-not-unpacked",
    "your generate takes the model's result for logits; unpack the pair of logits and cache",
    generate="logits, cache = model(new, cache) -> logits = model(tokens)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
