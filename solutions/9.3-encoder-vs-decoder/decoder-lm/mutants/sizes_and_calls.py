"""A model that is right for a short text, or for one text at a time.

Every position sees all that was before it, and nothing of a text is kept outside its cache.
"""

mistake(
    "table-of-1024",
    "your model's causal mask is cut from a table of 1024 positions; it should be as large as the text is long",
    Block="""
        - mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
        + mask = causal_mask(1024, device=x.device)[k.size(2) - q.size(2) : k.size(2), : k.size(2)]
    """,
    unnamed="no visible text is as long",
)

mistake(
    "past-kept-in-layer",
    "your layers store the latest text's keys and values, so two texts read in turns mix; keep them in the cache only",
    Block="""
        - if past is not None:
        -     k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        + if past is not None and len(past[0]) == len(self.kept[0]):
        +     k, v = torch.cat((self.kept[0], k), dim=2), torch.cat((self.kept[1], v), dim=2)
        + self.kept = (k, v)
    """,
)

mistake(
    "context-window",
    "your generate feeds only the last 64 tokens; the model should read all tokens so far",
    generate="model(new, cache) -> model(tokens[:, -64:])",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
