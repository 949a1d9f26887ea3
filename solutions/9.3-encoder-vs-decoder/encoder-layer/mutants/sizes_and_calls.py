"""An encoder that is right for a short text, or for the first mask.

Every layer works on all positions, under the mask of this very call.
"""


class positions_cut:
    """your layer passes 256 positions at most through its feed-forward network: those after that go without

    Fails: test_encoder_contract
    Unnamed: no visible text is as long
    """

    class EncoderLayer:
        forward = """
            - x = x + self.dropout(self.feed_forward(self.norm2(x)))
            + added = self.dropout(self.feed_forward(self.norm2(x)))
            + x = x + torch.cat((added[:, :256], torch.zeros_like(added[:, 256:])), dim=1)
        """


class mask_kept:
    """your layer keeps the mask of its first call and obeys it in every later one of that shape

    Fails: test_layer_contract
    Unnamed: no visible check gives one layer two masks of one shape
    """

    class EncoderLayer:
        forward = """
            + if mask is not None:
            +     if not hasattr(self, "kept") or self.kept.shape != mask.shape:
            +         self.kept = mask
            +     mask = self.kept
              if self.norm_first:
        """
