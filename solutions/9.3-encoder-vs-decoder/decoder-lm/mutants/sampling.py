"""How `generate` chooses wrongly.

Temperature 0 is the best token. Otherwise logits are divided by the temperature, all but the k best become -inf, and
each row is drawn by itself, from the generator.
"""


class greedy_divides:
    """your generate divides by the temperature 0

    Fails: test_greedy
    """

    _choose = """
        - if temperature == 0:
        -     return logits.argmax(dim=-1)
    """


class always_greedy:
    """your generate takes the best token at any temperature

    Fails: test_sampling
    """

    _choose = """
        - if temperature == 0:
        + if temperature >= 0:
    """


class temperature_ignored:
    """your temperature changes nothing: divide the logits by it, before the softmax

    Fails: test_sampling
    """

    _choose = """
        - logits = logits / temperature
        + logits = logits / 1.0
    """


class temperature_multiplied:
    """your generate multiplies the logits by the temperature: dividing makes a high one flat

    Fails: test_sampling
    """

    _choose = """
        - logits = logits / temperature
        + logits = logits * temperature
    """


class top_k_ignored:
    """your generate ignores top_k

    Fails: test_top_k
    """

    _choose = """
        - if top_k is not None:
        + if False:
    """


class top_k_zeroed:
    """your top_k sets the other logits to 0, which is a score like any other: -inf is none

    Fails: test_top_k
    """

    _choose = """
        - logits = logits.masked_fill(logits < least, float("-inf"))
        + logits = logits.masked_fill(logits < least, 0.0)
    """


class top_k_one_less:
    """your top_k keeps one token less: the k-th itself stays

    Fails: test_top_k
    """

    _choose = """
        - logits = logits.masked_fill(logits < least, float("-inf"))
        + logits = logits.masked_fill(logits <= least, float("-inf"))
    """


class top_k_too_large:
    """your top_k fails when it is larger than the vocabulary: then every token may be drawn

    Fails: test_top_k
    """

    _choose = """
        - least = logits.topk(min(top_k, logits.size(-1))).values[:, -1:]
        + least = logits.topk(top_k).values[:, -1:]
    """


class one_draw_for_all:
    """your generate draws once for all rows

    Fails: test_sampling
    """

    _choose = """
        - return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(1)
        + return torch.multinomial(logits[:1].softmax(dim=-1), 1, generator=generator)[0].expand(len(logits))
    """


class generator_ignored:
    """your generate ignores the generator

    Fails: test_generator
    """

    _choose = """
        - return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(1)
        + return torch.multinomial(logits.softmax(dim=-1), 1).squeeze(1)
    """


class generator_reseeded:
    """your generate starts the generator again from its seed: it must go on from where it is

    Fails: test_generator
    """

    _choose = """
        + if generator is not None:
        +     generator.manual_seed(generator.initial_seed())
          if temperature == 0:
    """
