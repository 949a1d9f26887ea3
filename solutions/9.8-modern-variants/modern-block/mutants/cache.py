"""How the cache goes wrong.

New positions come after the cached ones: they are turned so, see all that is cached, and the cache keeps G heads.
"""

mistake(
    "positions-begin-anew",
    "your new positions begin with 0 after a cache; the first of them should come after the cached ones",
    GroupedQueryAttention="start, start + x.size(1) -> x.size(1)",
)

mistake(
    "mask-not-moved",
    "your mask after a cache begins at its first key; move it right by the number of cached positions",
    GroupedQueryAttention="""
        - mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start)
        + mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril()
    """,
)

mistake(
    "no-mask-behind-a-cache",
    "your new positions see later new ones when there is a cache; the mask should be causal for them as well",
    GroupedQueryAttention="""
        - mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start)
        + mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device)
        + mask = mask if cache is not None else mask.tril()
    """,
)

mistake(
    "only-new-ones-kept",
    "your cache holds the keys and values of only the latest call; it should grow",
    GroupedQueryAttention="""
        - k = rotate(self._heads(self.w_k(x)), positions)
        - v = self._heads(self.w_v(x))
        + k = new_k = rotate(self._heads(self.w_k(x)), positions)
        + v = new_v = self._heads(self.w_v(x))

        - return self.w_o(mixed.transpose(1, 2).flatten(2)), (k, v)
        + return self.w_o(mixed.transpose(1, 2).flatten(2)), (new_k, new_v)
    """,
)

mistake(
    "cache-forgets",
    "your cache holds only the latest 64 positions; it should hold every position that was read",
    GroupedQueryAttention="(k, v) -> (k[:, :, -64:], v[:, :, -64:])",
)

mistake(
    "cached-keys-turned-again",
    "your cached keys are turned again at every call; turn only the new ones",
    GroupedQueryAttention="""
        - k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        + seen = rotate(cache[0], torch.arange(start, device=x.device))
        + k, v = torch.cat((seen, k), dim=2), torch.cat((cache[1], v), dim=2)
    """,
)

mistake(
    "copies-kept",
    "your cache holds the heads after they were copied; hold them once each, which is H / G times smaller",
    GroupedQueryAttention="""
        - k = rotate(self._heads(self.w_k(x)), positions)
        - v = self._heads(self.w_v(x))
        + k = rotate(self._heads(self.w_k(x)), positions).repeat_interleave(self.groups, dim=1)
        + v = self._heads(self.w_v(x)).repeat_interleave(self.groups, dim=1)

        - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
        - values = v.repeat_interleave(self.groups, dim=1)
        + keys, values = k, v
    """,
)

mistake(
    "cache-not-read",
    "your attention does not look at the cache; new queries should attend to cached keys and values as well",
    GroupedQueryAttention="""
        - k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        + start = 0
    """,
)

mistake(
    "cache-changed",
    "your model writes into the list given as a cache; make a new one, as the caller may continue from the old "
    "one again",
    ModernLM="""
        - new = []
        - for layer, past in zip(self.layers, pasts, strict=True):
        -     x, past = layer(x, past)
        -     new.append(past)
        - return self.head(self.norm(x)), new
        + for index, layer in enumerate(self.layers):
        +     x, pasts[index] = layer(x, pasts[index])
        + return self.head(self.norm(x)), pasts
    """,
)

mistake(
    "last-layers-cache",
    "your layers all continue from one cache, the last layer's; each should have its own",
    ModernLM="self.head(self.norm(x)), new -> self.head(self.norm(x)), new[-1:] * len(new)",
)

mistake(
    "cache-not-handed-on",
    "your model does not pass the cache on to its layers; each layer should get its own pair",
    ModernLM="cache if cache is not None else [None] * len(self.layers) -> [None] * len(self.layers)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
