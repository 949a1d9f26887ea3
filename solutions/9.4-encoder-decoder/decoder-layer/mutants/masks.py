"""How masks end up in the wrong place.

self_mask goes to self-attention, memory_mask to cross-attention, in every layer.
"""


class masks_exchanged:
    """your two masks are exchanged: self_mask is for self-attention, memory_mask for cross-attention

    Fails: test_self_mask, test_memory_mask
    """

    class DecoderLayer:
        forward = """
            + self_mask, memory_mask = memory_mask, self_mask
              if self.norm_first:
        """


class self_mask_twice:
    """your cross-attention gets self_mask: every position may look at the whole memory

    Fails: test_self_mask
    """

    class DecoderLayer:
        forward = """
            + memory_mask = self_mask
              if self.norm_first:
        """


class self_mask_ignored:
    """your self-attention ignores its mask: each position sees what comes after it

    Fails: test_self_mask
    """

    class DecoderLayer:
        forward = """
            + self_mask = None
              if self.norm_first:
        """


class memory_mask_ignored:
    """your cross-attention ignores its mask: it attends to the padding of the source

    Fails: test_memory_mask
    """

    class DecoderLayer:
        forward = """
            + memory_mask = None
              if self.norm_first:
        """


class always_causal:
    """your layer makes a causal mask of its own: the caller says which mask applies

    Fails: test_self_attention_sublayer, test_pre_norm, test_post_norm
    Costs: a whole layer is what is compared, in values, masks and gradients
    """

    class DecoderLayer:
        forward = """
            + T = x.size(1)
            + own = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
            + self_mask = own if self_mask is None else self_mask & own
              if self.norm_first:
        """


class decoder_drops_memory_mask:
    """your decoder does not pass memory_mask on to its layers

    Fails: test_decoder_masks
    """

    class Decoder:
        forward = """
            - x = layer(x, memory, self_mask, memory_mask)
            + x = layer(x, memory, self_mask)
        """


class decoder_drops_self_mask:
    """your decoder does not pass self_mask on to its layers

    Fails: test_decoder_masks
    """

    class Decoder:
        forward = """
            - x = layer(x, memory, self_mask, memory_mask)
            + x = layer(x, memory, None, memory_mask)
        """


class masks_inverted:
    """your masks are inverted: True says that a query may look at a key

    Fails: test_self_mask, test_memory_mask
    """

    class DecoderLayer:
        forward = """
            + self_mask = None if self_mask is None else ~self_mask
            + memory_mask = None if memory_mask is None else ~memory_mask
              if self.norm_first:
        """
