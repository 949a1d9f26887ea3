"""How masks end up in the wrong place.

self_mask goes to self-attention, memory_mask to cross-attention, in every layer.
"""

mistake(
    "masks-exchanged",
    "your two masks are exchanged; self_mask should go to self-attention, memory_mask to cross-attention",
    DecoderLayer="""
        + self_mask, memory_mask = memory_mask, self_mask
          if self.norm_first:
    """,
)

mistake(
    "self-mask-twice",
    "your cross-attention gets self_mask; it should get memory_mask",
    DecoderLayer="""
        + memory_mask = self_mask
          if self.norm_first:
    """,
)

mistake(
    "self-mask-ignored",
    "your self-attention ignores its mask, so each position sees those after it; pass self_mask to it",
    DecoderLayer="""
        + self_mask = None
          if self.norm_first:
    """,
)

mistake(
    "memory-mask-ignored",
    "your cross-attention ignores its mask, so it attends to the padding of the source; pass memory_mask to it",
    DecoderLayer="""
        + memory_mask = None
          if self.norm_first:
    """,
)

mistake(
    "always-causal",
    "your layer makes a causal mask of its own; it should use only the mask that the caller gives",
    DecoderLayer="""
        + T = x.size(1)
        + own = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        + self_mask = own if self_mask is None else self_mask & own
          if self.norm_first:
    """,
    costs="a whole layer is what is compared, in values, masks and gradients",
)

mistake(
    "decoder-drops-memory-mask",
    "your decoder does not pass memory_mask on, so its layers see all of the memory; give memory_mask to each layer",
    Decoder="self_mask, memory_mask -> self_mask",
)

mistake(
    "decoder-drops-self-mask",
    "your decoder does not pass self_mask on, so its layers see all of x; give self_mask to each layer",
    Decoder="layer(x, memory, self_mask, memory_mask) -> layer(x, memory, None, memory_mask)",
)

mistake(
    "masks-inverted",
    "your masks are inverted; True should mean that a query may look at a key",
    DecoderLayer="""
        + self_mask = None if self_mask is None else ~self_mask
        + memory_mask = None if memory_mask is None else ~memory_mask
          if self.norm_first:
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
