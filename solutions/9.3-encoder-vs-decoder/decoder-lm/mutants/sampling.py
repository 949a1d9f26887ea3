"""How `generate` chooses wrongly.

Temperature 0 is the best token. Otherwise logits are divided by the temperature, all but the k best become -inf, and
each row is drawn by itself, from the generator.
"""

mistake(
    "greedy-divides",
    "your generate divides by the temperature 0; it should pick the best token there, without dividing",
    _choose="""
        - if temperature == 0:
        -     return logits.argmax(dim=-1)
    """,
)

mistake(
    "always-greedy",
    "your generate picks the best token at any temperature; it should draw when temperature is above 0",
    _choose="temperature == 0 -> temperature >= 0",
)

mistake(
    "temperature-ignored",
    "your temperature changes nothing; divide the logits by it, before the softmax",
    _choose="logits / temperature -> logits / 1.0",
)

mistake(
    "temperature-multiplied",
    "your generate multiplies the logits by the temperature; divide by it, so that a high one makes them flat",
    _choose="logits / temperature -> logits * temperature",
)

mistake(
    "top-k-ignored",
    "your generate ignores top_k; it should draw from the top_k most likely tokens only",
    _choose="top_k is not None -> False",
)

mistake(
    "top-k-zeroed",
    "your top_k sets the other logits to 0, which is a score like any other; set them to -inf",
    _choose='float("-inf") -> 0.0',
)

mistake(
    "top-k-one-less",
    "your top_k keeps one token less; the k-th itself should stay",
    _choose="logits < least -> logits <= least",
)

mistake(
    "top-k-too-large",
    "your top_k fails when it is larger than the vocabulary; it should then allow every token",
    _choose="min(top_k, logits.size(-1)) -> top_k",
)

mistake(
    "one-draw-for-all",
    "your generate makes one draw for all rows; it should make a draw for each row",
    _choose="""
        - return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(1)
        + return torch.multinomial(logits[:1].softmax(dim=-1), 1, generator=generator)[0].expand(len(logits))
    """,
)

mistake(
    "generator-ignored",
    "your generate ignores the generator; it should make every draw from the generator",
    _choose="1, generator=generator -> 1",
)

mistake(
    "generator-reseeded",
    "your generate starts the generator again from its seed; it should go on from where it is",
    _choose="""
        + if generator is not None:
        +     generator.manual_seed(generator.initial_seed())
          if temperature == 0:
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
