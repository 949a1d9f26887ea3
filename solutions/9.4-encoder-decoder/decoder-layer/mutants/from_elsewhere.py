"""What is taken from torch in place of the given blocks, or kept for longer than a call.

The layer is what is being written, so torch's own Transformer is not to be used; each call has its own memory.
"""

mistake(
    "torchs-own-layer",
    "your layer makes a torch Transformer layer; build it from the given blocks",
    DecoderLayer="""
        + nn.TransformerDecoderLayer(x.size(-1), 1, 4, batch_first=True)
          if self.norm_first:
    """,
    costs="what rests on excluded code earns nothing",
)

mistake(
    "memory-kept",
    "your layer stores the first memory that it meets; each call should use its own",
    DecoderLayer="""
        + kept = self.__dict__.setdefault("kept", memory)
        + memory = kept if kept.shape == memory.shape else memory
          if self.norm_first:
    """,
)

mistake(
    "short-memory",
    "your cross-attention sees only the first 128 positions of the memory; it should see all that the mask allows",
    DecoderLayer="""
        + if memory_mask is not None and memory.size(1) > 128:
        +     memory, memory_mask = memory[:, :128], memory_mask[..., :128]
          if self.norm_first:
    """,
    unnamed="no visible memory is as long",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
