"""Decoder layers as other people get them wrong."""


class masks_joined:
    """Both masks are joined, and both attentions get the result."""

    class DecoderLayer:
        forward = """
            + if self_mask is not None and memory_mask is not None:
            +     self_mask = memory_mask = self_mask & memory_mask
              if self.norm_first:
        """


class memory_asks_in_pre_norm:
    """Query and memory change places in one of the two orders; every mask is where it belongs.

    Named: memory_asks
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(memory, memory_mask, self.norm2(x)))
        """


class memory_as_mask_in_pre_norm:
    """The memory arrives as a mask in one of the two orders.

    Named: memory_as_mask
    """

    class DecoderLayer:
        forward = """
            - x = x + self.dropout(self.cross_attention(self.norm2(x), memory_mask, memory))
            + x = x + self.dropout(self.cross_attention(self.norm2(x), memory, memory_mask))
        """
