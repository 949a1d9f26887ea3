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


class combine_into_the_first:
    """your combine_masks writes into the first mask, which the caller still needs, and which others may not fit

    Fails: test_arguments_unchanged, test_combine_broadcasts
    """

    combine_masks = """
        - allowed = allowed & mask
        + allowed &= mask
    """


class combine_shape_of_the_first:
    """your combine_masks joins in a tensor of the first mask's shape, and a wider mask does not fit: a & b broadcasts

    Fails: test_combine_broadcasts
    """

    def combine_masks(*masks):
        allowed = masks[0].clone()
        for mask in masks[1:]:
            allowed &= mask
        return allowed


class combine_two_only:
    """your combine_masks takes exactly two masks: it is given one, two or more

    Fails: test_combine_counts, test_combine_broadcasts
    """

    def combine_masks(mask, other):
        return mask & other


class combine_logical_and_of_all:
    """your masks all go into one torch.logical_and, which takes exactly two

    Fails: test_combine_counts, test_combine_broadcasts
    """

    def combine_masks(*masks):
        return torch.logical_and(*masks)


class combine_python_and:
    """your masks are joined by Python's `and`, which asks a whole tensor for one truth: & goes entry by entry

    Fails: test_combine_counts, test_combine_broadcasts
    """

    combine_masks = """
        - allowed = allowed & mask
        + allowed = allowed and mask
    """


class combine_float:
    """your combined mask holds the numbers 0.0 and 1.0 instead of True and False

    Fails: test_combine_counts, test_combine_broadcasts
    """

    def combine_masks(*masks):
        allowed = masks[0].float()
        for mask in masks[1:]:
            allowed = allowed * mask.float()
        return allowed
