"""What the cache of keys and values gets wrong.

With a cache, only new tokens come in. Their queries are the last rows of the whole causal square, their positions go on
where the past ends, and every layer has a past of its own.
"""


class cache_not_read:
    """your attention sees nothing of the cache: it does not read it, or a mask hides all that was before

    Fails: test_cache_steps
    """

    class Block:
        _attend = """
            - if past is not None:
            + if False:
        """


class cache_disregarded:
    """your forward does not look at its cache: attention and positions begin anew with each call

    Fails: test_cache_steps
    """

    class DecoderLM:
        forward = """
            - pasts = cache if cache is not None else [None] * len(self.blocks)
            - start = 0 if cache is None else cache[0][0].size(2)
            + pasts = [None] * len(self.blocks)
            + start = 0
        """


class cache_not_extended:
    """your cache holds the keys and values of the latest tokens only: what was before is forgotten

    Fails: test_cache_steps
    """

    class Block:
        _attend = """
              q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
            + new = k, v

            - return self.attention.w_o(heads.transpose(1, 2).flatten(2)), (k, v)
            + return self.attention.w_o(heads.transpose(1, 2).flatten(2)), new
        """

    class DecoderLM:
        forward = """
            - start = 0 if cache is None else cache[0][0].size(2)
            + start = 0 if cache is None else self.read

                  new.append(past)
            + self.read = start + tokens.size(1)
        """


class cache_of_latest_only:
    """your cache holds the latest tokens alone, and positions count from it: all that was before is forgotten

    Fails: test_cache_steps
    """

    class Block:
        _attend = """
              q, k, v = (self._heads(w(x)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
            + new = k, v

            - return self.attention.w_o(heads.transpose(1, 2).flatten(2)), (k, v)
            + return self.attention.w_o(heads.transpose(1, 2).flatten(2)), new
        """


class cache_of_first_layer:
    """your layers do not each go on from a cache of their own: one layer reads right, and two do not

    Fails: test_cache_steps
    """

    class DecoderLM:
        forward = """
            - x, past = block(x, past)
            + x, past = block(x, pasts[0])
        """


class cache_kept_in_module:
    """your model keeps its cache in itself, and goes on from it when a new text begins

    Fails: test_cache_fresh
    """

    class DecoderLM:
        forward = """
            + if cache is None:
            +     cache = self.__dict__.pop("kept", None)
              pasts = cache if cache is not None else [None] * len(self.blocks)

                  new.append(past)
            + if start:
            +     self.kept = new
        """


class offset_missing:
    """your positions start at 0 again with a cache: the new tokens come after those in it

    Fails: test_cache_steps
    """

    class DecoderLM:
        forward = """
            - start = 0 if cache is None else cache[0][0].size(2)
            + start = 0
        """


class offset_one_short:
    """your positions start one too early with a cache: after n tokens the next has position n

    Fails: test_cache_steps
    """

    class DecoderLM:
        forward = """
            - start = 0 if cache is None else cache[0][0].size(2)
            + start = 0 if cache is None else cache[0][0].size(2) - 1
        """


class mask_top_rows:
    """your mask with a cache has the first rows of the causal one; the new queries are its last rows

    Fails: test_cache_steps
    """

    class Block:
        _attend = """
            - mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
            + mask = causal_mask(k.size(2), device=x.device)[: q.size(2)]
        """


class chunk_not_causal:
    """your mask is dropped with a cache: right for one new token, but of several each sees those after it

    Fails: test_cache_chunks
    """

    class Block:
        _attend = """
            - mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
            + mask = causal_mask(k.size(2), device=x.device) if past is None else None
        """


class chunk_mask_square:
    """your mask covers the new tokens only when there is a cache, so several of them do not see the past

    Fails: test_cache_chunks
    """

    class Block:
        _attend = """
              mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
            + if past is not None and q.size(2) > 1:
            +     mask = mask & (torch.arange(k.size(2), device=x.device) >= past[0].size(2))
        """


class keys_detached:
    """your keys and values are detached for the cache before attention uses them: w_k and w_v learn nothing

    Fails: test_model_gradients
    """

    class Block:
        _attend = """
                  k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            + k, v = k.detach(), v.detach()
        """


class offset_by_wrong_axis:
    """your model takes the length of its past from the axis of the heads: positions are axis 2 of [B, H, T, D/H]

    Fails: test_cache_steps
    """

    class DecoderLM:
        forward = """
            - start = 0 if cache is None else cache[0][0].size(2)
            + start = 0 if cache is None else cache[0][0].size(1)
        """


class cache_wrong_axis:
    """your keys and values are joined to the cache along the heads: positions are axis 2 of [B, H, T, D/H]

    Fails: test_cache_steps
    """

    class Block:
        _attend = """
            - k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            + k, v = torch.cat((past[0], k), dim=1), torch.cat((past[1], v), dim=1)
        """


class cache_wrong_order:
    """your new keys and values come before the old ones: they come after them, as the tokens do

    Fails: test_cache_chunks
    """

    class Block:
        _attend = """
            - k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
            + k, v = torch.cat((k, past[0]), dim=2), torch.cat((v, past[1]), dim=2)
        """
