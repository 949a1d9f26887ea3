"""What the cache of keys and values gets wrong.

With a cache, only new tokens come in. Their queries are the last rows of the whole causal square, their positions go on
where the past ends, and every layer has a past of its own.
"""

mistake(
    "cache-not-read",
    "your attention does not read the cache, or a mask hides it; each new token should attend to all of the cache",
    Block="past is not None -> False",
)

mistake(
    "cache-disregarded",
    "your forward does not look at its cache, so each call begins a new text; "
    "attention and positions should continue it",
    DecoderLM=[
        "cache if cache is not None else [None] * len(self.blocks) -> [None] * len(self.blocks)",
        "0 if cache is None else cache[0][0].size(2) -> 0",
    ],
)

mistake(
    "cache-not-extended",
    "your cache holds the keys and values of only the latest tokens; it should hold those of all tokens so far",
    Block="""
          q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
        + new = k, v

        - return self.attention.w_o(heads.transpose(1, 2).flatten(2)), (k, v)
        + return self.attention.w_o(heads.transpose(1, 2).flatten(2)), new
    """,
    DecoderLM="""
        - start = 0 if cache is None else cache[0][0].size(2)
        + start = 0 if cache is None else self.read

              new.append(past)
        + self.read = start + tokens.size(1)
    """,
)

mistake(
    "cache-of-latest-only",
    "your cache holds only the latest tokens, and positions count from it; it should hold all tokens so far",
    Block="""
          q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
        + new = k, v

        - return self.attention.w_o(heads.transpose(1, 2).flatten(2)), (k, v)
        + return self.attention.w_o(heads.transpose(1, 2).flatten(2)), new
    """,
)

mistake(
    "cache-of-first-layer",
    "your layers do not each have a cache of their own; give each layer the keys and values of its own past",
    DecoderLM="block(x, past) -> block(x, pasts[0])",
)

mistake(
    "cache-kept-in-module",
    "your model keeps its cache in itself, so a new text goes on from the old one; "
    "keep it only in what forward returns",
    DecoderLM="""
        + if cache is None:
        +     cache = self.__dict__.pop("kept", None)
          pasts = cache if cache is not None else [None] * len(self.blocks)

              new.append(past)
        + if start:
        +     self.kept = new
    """,
)

mistake(
    "offset-missing",
    "your positions start at 0 again with a cache; the new tokens should come after those in it",
    DecoderLM="0 if cache is None else cache[0][0].size(2) -> 0",
)

mistake(
    "offset-one-short",
    "your positions start one too early with a cache; after n tokens the next should have position n",
    DecoderLM="cache[0][0].size(2) -> cache[0][0].size(2) - 1",
)

mistake(
    "mask-top-rows",
    "your mask with a cache has the first rows of the causal one; it should have its last rows, for the new queries",
    Block="-q.size(2) : -> : q.size(2)",
)

mistake(
    "chunk-not-causal",
    "your mask is dropped with a cache, so new tokens see later ones; each should see itself and those before it",
    Block="""
        - mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
        + mask = causal_mask(k.size(2), device=x.device) if past is None else None
    """,
)

mistake(
    "chunk-mask-square",
    "your mask hides the cache when several tokens are new; each should see the cache, and the new ones up to itself",
    Block="""
          mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
        + if past is not None and q.size(2) > 1:
        +     mask = mask & (torch.arange(k.size(2), device=x.device) >= past[0].size(2))
    """,
)

mistake(
    "keys-detached",
    "your keys and values are detached before attention uses them, so w_k and w_v learn nothing; "
    "keep them in the graph",
    Block="""
              k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        + k, v = k.detach(), v.detach()
    """,
)

mistake(
    "offset-by-wrong-axis",
    "your model takes the length of its past from the axis of the heads; take axis 2 of [B, H, T, D/H], the "
    "positions",
    DecoderLM="cache[0][0].size(2) -> cache[0][0].size(1)",
)

mistake(
    "cache-wrong-axis",
    "your keys and values are joined to the cache along the heads; join them along axis 2 of [B, H, T, D/H]",
    Block="""
        - k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        + k, v = torch.cat((past[0], k), dim=1), torch.cat((past[1], v), dim=1)
    """,
)

mistake(
    "cache-wrong-order",
    "your new keys and values come before the old ones; they should come after them, as the tokens do",
    Block="""
        - k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        + k, v = torch.cat((k, past[0]), dim=2), torch.cat((v, past[1]), dim=2)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
