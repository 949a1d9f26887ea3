"""A model that is right for a short text, or for one text at a time.

Every position sees all that was before it, and nothing of a text is kept outside its cache.
"""


class table_of_1024:
    """your model's causal mask is cut from a table of 1024 positions: a longer text gets a mask that is too small

    Fails: test_long
    Unnamed: no visible text is as long
    """

    class Block:
        _attend = """
            - mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
            + mask = causal_mask(1024, device=x.device)[k.size(2) - q.size(2) : k.size(2), : k.size(2)]
        """


class past_kept_in_layer:
    """your layers keep keys and values of the latest text themselves: two texts that are read in turns are mixed up

    Fails: test_cache_fresh
    """

    class Block:
        _attend = """
            - if past is not None:
            -     k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            + if past is not None and len(past[0]) == len(self.kept[0]):
            +     k, v = torch.cat((self.kept[0], k), dim=2), torch.cat((self.kept[1], v), dim=2)
            + self.kept = (k, v)
        """


class context_window:
    """your generate feeds the last 64 tokens alone: what was before is forgotten

    Fails: test_greedy
    """

    generate = """
        - logits, cache = model(new, cache)
        + logits, cache = model(tokens[:, -64:])
    """
