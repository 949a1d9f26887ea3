"""What the loop of `generate` gets wrong.

The prompt goes in once; then each new token, chosen from the last position, goes in alone with the newest cache.
"""


class first_position:
    """your generate takes the logits of the first position: the last one knows the whole text

    Fails: test_greedy
    """

    generate = """
        - new = _choose(logits[:, -1], temperature, top_k, generator)
        + new = _choose(logits[:, 0], temperature, top_k, generator)
    """


class batch_of_one:
    """your generate decides by the first row for all rows

    Fails: test_greedy
    """

    generate = """
        - new = _choose(logits[:, -1], temperature, top_k, generator)
        + new = _choose(logits[:1, -1].expand(len(prompt), -1), temperature, top_k, generator)
    """


class one_too_many:
    """your generate writes one token too many

    Fails: test_greedy
    """

    generate = """
        - for _ in range(max_new_tokens):
        + for _ in range(max_new_tokens + 1):
    """


class stops_before_max_len:
    """your generate leaves the last of max_len free: prompt and continuation together may be max_len long

    Fails: test_own_model
    """

    generate = """
        - for _ in range(max_new_tokens):
        + longest = model.position.num_embeddings - 1 if hasattr(model, "position") else 10**9
        + for _ in range(min(max_new_tokens, longest - prompt.size(1))):
    """


class new_tokens_only:
    """your generate returns the new tokens without the prompt

    Fails: test_greedy
    """

    generate = """
        - return tokens
        + return tokens[:, prompt.size(1) :]
    """


class text_forgotten:
    """your generate feeds the last token only, without the cache: all that was before is forgotten

    Fails: test_greedy
    """

    generate = """
        - tokens, new, cache = prompt, prompt, None
        + tokens, new, _cache = prompt, prompt, None

        - logits, cache = model(new, cache)
        + logits, _cache = model(new)
    """


class text_fed_twice:
    """your generate feeds the whole text and the cache: with a cache, only what is new

    Fails: test_greedy
    """

    generate = """
        - logits, cache = model(new, cache)
        + logits, cache = model(tokens, cache)
    """


class cache_never_renewed:
    """your generate hands back the first cache each time: take the newest

    Fails: test_greedy
    """

    generate = """
        - logits, cache = model(new, cache)
        + logits, latest = model(new, cache)
        + cache = latest if cache is None else cache
    """


class prompt_overwritten:
    """your generate moves the text along inside the prompt it was given

    Fails: test_prompt
    """

    generate = """
          tokens = torch.cat((tokens, new), dim=1)
        + prompt[:] = tokens[:, -prompt.size(1) :]
    """


class window_of_prompt:
    """your generate feeds as many tokens as the prompt had: what was before is forgotten

    Fails: test_greedy
    """

    generate = """
        - logits, cache = model(new, cache)
        + logits, cache = model(tokens[:, -prompt.size(1) :])
    """


class new_tokens_without_axis:
    """your generate joins the new tokens [B] to the text [B, T]: give them an axis of length one

    Fails: test_greedy
    """

    generate = """
        - logits, cache = model(new, cache)
        + logits, _ = model(tokens)

        - new = new[:, None]
    """


class model_output_not_unpacked:
    """your generate takes what the model gives for logits: it is a pair of logits and cache

    Fails: test_greedy
    """

    generate = """
        - logits, cache = model(new, cache)
        + logits = model(tokens)
    """
