"""How the cache goes wrong.

New positions come after the cached ones: they are turned so, see all that is cached, and the cache keeps G heads.
"""


class positions_begin_anew:
    """your new positions begin with 0 after a cache: the first of them comes after what is cached

    Fails: test_cache
    """

    class GroupedQueryAttention:
        forward = """
            - positions = torch.arange(start, start + x.size(1), device=x.device)
            + positions = torch.arange(x.size(1), device=x.device)
        """


class mask_not_moved:
    """your mask after a cache begins at its first key: it has to move right by what is cached

    Fails: test_cache
    """

    class GroupedQueryAttention:
        forward = """
            - mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start)
            + mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril()
        """


class no_mask_behind_a_cache:
    """your new positions see each other's future after a cache

    Fails: test_cache
    """

    class GroupedQueryAttention:
        forward = """
            - mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start)
            + mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device)
            + mask = mask if cache is not None else mask.tril()
        """


class only_new_ones_kept:
    """your cache holds the keys and values of the latest call alone: it has to grow

    Fails: test_cache_shape
    """

    class GroupedQueryAttention:
        forward = """
            - k = rotate(self._heads(self.w_k(x)), positions)
            - v = self._heads(self.w_v(x))
            + k = new_k = rotate(self._heads(self.w_k(x)), positions)
            + v = new_v = self._heads(self.w_v(x))

            - return self.w_o(mixed.transpose(1, 2).flatten(2)), (k, v)
            + return self.w_o(mixed.transpose(1, 2).flatten(2)), (new_k, new_v)
        """


class cache_forgets:
    """your cache holds the latest 64 positions alone: all that was read has to be in it

    Fails: test_text_cached
    """

    class GroupedQueryAttention:
        forward = """
            - return self.w_o(mixed.transpose(1, 2).flatten(2)), (k, v)
            + return self.w_o(mixed.transpose(1, 2).flatten(2)), (k[:, :, -64:], v[:, :, -64:])
        """


class cached_keys_turned_again:
    """your cached keys are turned once more at every call

    Fails: test_cache
    """

    class GroupedQueryAttention:
        forward = """
            - k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
            + seen = rotate(cache[0], torch.arange(start, device=x.device))
            + k, v = torch.cat((seen, k), dim=2), torch.cat((cache[1], v), dim=2)
        """


class copies_kept:
    """your cache holds the heads after they were copied: kept once each, it is H / G times smaller

    Fails: test_cache_shape
    """

    class GroupedQueryAttention:
        forward = """
            - k = rotate(self._heads(self.w_k(x)), positions)
            - v = self._heads(self.w_v(x))
            + k = rotate(self._heads(self.w_k(x)), positions).repeat_interleave(self.groups, dim=1)
            + v = self._heads(self.w_v(x)).repeat_interleave(self.groups, dim=1)

            - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
            - values = v.repeat_interleave(self.groups, dim=1)
            + keys, values = k, v
        """


class cache_not_read:
    """your attention does not look at the cache

    Fails: test_cache
    """

    class GroupedQueryAttention:
        forward = """
            - k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
            + start = 0
        """


class cache_changed:
    """your model writes into the list that it was given as a cache: the caller may want to continue from it again

    Fails: test_cache_twice
    """

    class ModernLM:
        forward = """
            - new = []
            - for layer, past in zip(self.layers, pasts, strict=True):
            -     x, past = layer(x, past)
            -     new.append(past)
            - return self.head(self.norm(x)), new
            + for index, layer in enumerate(self.layers):
            +     x, pasts[index] = layer(x, pasts[index])
            + return self.head(self.norm(x)), pasts
        """


class last_layers_cache:
    """your layers all continue from one cache, the last layer's: each has its own

    Fails: test_model_cache
    """

    class ModernLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return self.head(self.norm(x)), new[-1:] * len(new)
        """


class cache_not_handed_on:
    """your model does not pass the cache on to its layers

    Fails: test_model_cache
    """

    class ModernLM:
        forward = """
            - pasts = cache if cache is not None else [None] * len(self.layers)
            + pasts = [None] * len(self.layers)
        """
