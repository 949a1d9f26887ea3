"""What `combine_masks` gets wrong.

A pair is allowed where every mask allows it, in the shape that all broadcast to, and the masks stay as they were.
"""

mistake(
    "combine-or",
    "your masks are joined by or, so one mask is enough to allow a pair; join them by and",
    combine_masks="allowed & mask -> allowed | mask",
)


@mistake(
    "combine-first-two",
    "your combine_masks joins the first two masks and drops the others; it should join all of them",
)
def combine_masks(*masks):
    if len(masks) == 1:
        return masks[0]
    return masks[0] & masks[1]


@mistake(
    "combine-same-shape-only",
    "your combine_masks takes only masks of one shape; it should broadcast, [T, T] with [B, 1, 1, T] for example",
)
def combine_masks(*masks):
    return torch.stack(masks).all(dim=0)


mistake(
    "combine-in-place",
    "your combine_masks writes into the first mask, so the caller's own mask changes; "
    "leave the given masks as they are",
    combine_masks="""
        - allowed = allowed & mask
        + if torch.broadcast_shapes(allowed.shape, mask.shape) == allowed.shape:
        +     allowed &= mask
        + else:
        +     allowed = allowed & mask
    """,
)

mistake(
    "combine-into-the-first",
    "your combine_masks writes into the first mask, which the caller still needs; leave the given masks as they are",
    combine_masks="allowed = allowed & mask -> allowed &= mask",
)


@mistake(
    "combine-shape-of-the-first",
    "your combine_masks joins in a tensor of the first mask's shape, so a wider one does not fit; use a & b",
)
def combine_masks(*masks):
    allowed = masks[0].clone()
    for mask in masks[1:]:
        allowed &= mask
    return allowed


@mistake("combine-two-only", "your combine_masks takes exactly two masks; it should take one, two or more")
def combine_masks(mask, other):
    return mask & other


@mistake(
    "combine-logical-and-of-all",
    "your masks all go into one torch.logical_and, which takes exactly two; join them one after the other",
)
def combine_masks(*masks):
    return torch.logical_and(*masks)


mistake(
    "combine-python-and",
    "your masks are joined by Python's `and`, which needs one truth for a whole tensor; use &, which goes entry "
    "by entry",
    combine_masks="allowed & mask -> allowed and mask",
)


@mistake("combine-float", "your combined mask holds floats; it should hold True and False instead of 1.0 and 0.0")
def combine_masks(*masks):
    allowed = masks[0].float()
    for mask in masks[1:]:
        allowed = allowed * mask.float()
    return allowed
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
