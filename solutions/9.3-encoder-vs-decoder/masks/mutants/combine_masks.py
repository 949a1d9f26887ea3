"""What `combine_masks` gets wrong.

A pair is allowed where every mask allows it, in the shape that all broadcast to, and the masks stay as they were.
"""


class combine_or:
    """your masks are joined by or: a pair is now allowed as soon as one mask allows it

    Fails: test_combine_counts, test_combine_broadcasts
    """

    combine_masks = """
        - allowed = allowed & mask
        + allowed = allowed | mask
    """


class combine_first_two:
    """your combine_masks joins the first two masks and drops the others

    Fails: test_combine_counts, test_combine_broadcasts
    """

    def combine_masks(*masks):
        if len(masks) == 1:
            return masks[0]
        return masks[0] & masks[1]


class combine_same_shape_only:
    """your combine_masks needs masks of one shape: [T, T] and [B, 1, 1, T] do not broadcast

    Fails: test_combine_broadcasts
    """

    def combine_masks(*masks):
        return torch.stack(masks).all(dim=0)


class combine_in_place:
    """your combine_masks writes into the first mask: the caller's own mask changes

    Fails: test_arguments_unchanged
    """

    combine_masks = """
        - allowed = allowed & mask
        + if torch.broadcast_shapes(allowed.shape, mask.shape) == allowed.shape:
        +     allowed &= mask
        + else:
        +     allowed = allowed & mask
    """
