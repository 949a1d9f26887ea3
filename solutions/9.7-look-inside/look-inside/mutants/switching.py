"""How switching heads off goes wrong: its columns of what w_o reads count as zero, and only within the block."""


@mistake(
    "rows-for-columns",
    "your zeros are in w_o's output, to which every head writes; put them in the head's columns of its input",
    ablate_heads="register_forward_pre_hook -> register_forward_hook",
)
def silenced(columns, _, args, output):
    return output.masked_fill(columns.to(output.device), 0)


mistake(
    "heads-interleaved",
    "your heads have every H-th column; a head's columns should lie next to each other",
    ablate_heads="off.repeat_interleave(width) -> off.repeat(width)",
)

mistake(
    "others-off",
    "your ablate_heads switches the other heads off, and leaves those that were named on; it should do the opposite",
    ablate_heads="off.repeat_interleave(width) -> ~off.repeat_interleave(width)",
)

mistake(
    "first-head-alone",
    "your ablate_heads switches off only the first of the heads; it should switch off all that were named",
    ablate_heads="off[heads] = True -> off[heads[:1]] = True",
)

mistake(
    "whole-attention-off",
    "your ablate_heads switches all heads of the layer off; it should switch off only those that were named",
    ablate_heads="off[heads] = True -> off[:] = True",
)

mistake(
    "every-layer",
    "your heads go off in every layer; they should go off only in the one that was named",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + parts = [one.attention if hasattr(one, "attention") else one.self_attention for one in model.layers]
        + handles = [part.w_o.register_forward_pre_hook(partial(silenced, columns)) for part in parts]

        - handle.remove()
        + for handle in handles:
        +     handle.remove()
    """,
)

mistake(
    "layers-from-one",
    "your layers are counted from 1; layer 0 should be the first",
    ablate_heads="model.layers[layer] -> model.layers[layer - 1]",
)

mistake(
    "heads-from-one",
    "your heads are counted from 1; head 0 should be the first",
    ablate_heads="off[heads] = True -> off[[head - 1 for head in heads]] = True",
)


@mistake(
    "queries-zeroed",
    "your zeros are in the head's queries, so it still adds its values; put them in its columns of w_o's input",
    ablate_heads="attention.w_o.register_forward_pre_hook -> attention.w_q.register_forward_hook",
)
def silenced(columns, _, args, output):
    return output.masked_fill(columns.to(output.device), 0)


@mistake(
    "shared-values-zeroed",
    "your zeros are in the values, so heads that share them go off, too; put them in one head's columns of w_o's input",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + shared = off.unflatten(0, (attention.w_v.out_features // width, -1)).any(dim=1).repeat_interleave(width)
        + handle = attention.w_v.register_forward_hook(partial(silenced, shared))
    """,
)
def silenced(columns, _, args, output):
    return output.masked_fill(columns.to(output.device), 0)


mistake(
    "shared-heads-counted",
    "your heads are those of keys and values; where query heads share them, each should have its own number",
    ablate_heads="""
        - columns = off.repeat_interleave(width)
        + group = attention.w_q.out_features // attention.w_v.out_features
        + columns = off[torch.arange(attention.num_heads) // group].repeat_interleave(width)
    """,
)


@mistake(
    "bias-off-too",
    "your w_o loses its bias, too; it should keep it, as the bias belongs to no head",
    ablate_heads="register_forward_pre_hook -> register_forward_hook",
)
def silenced(columns, module, args, _):
    return args[0].masked_fill(columns.to(args[0].device), 0) @ module.weight.T


mistake(
    "means-for-zeros",
    "your head's output becomes its mean over the positions; it should be zero",
    silenced="""
        - return (args[0].masked_fill(columns.to(args[0].device), 0), *args[1:])
        + return (torch.where(columns.to(args[0].device), args[0].mean(dim=1, keepdim=True), args[0]), *args[1:])
    """,
)

mistake(
    "others-scaled-up",
    "your other heads are scaled up as dropout does; leave them as they are",
    silenced="""
        - return (args[0].masked_fill(columns.to(args[0].device), 0), *args[1:])
        + factor = len(columns) / max(1, int((~columns).sum()))
        + return (args[0].masked_fill(columns.to(args[0].device), 0) * factor, *args[1:])
    """,
)

mistake(
    "first-part-with-heads",
    "your attention is the first part of the layer that has heads, in a decoder perhaps cross_attention; take it "
    "by name",
    ablate_heads="""
        - attention = block.attention if hasattr(block, "attention") else block.self_attention
        + attention = next(part for part in block.modules() if hasattr(part, "num_heads"))
    """,
)

mistake(
    "self-attention-unknown",
    "your ablate_heads knows only attention; it should find self_attention in a decoder's layer",
    ablate_heads="""
        - attention = block.attention if hasattr(block, "attention") else block.self_attention
        + attention = block.attention
    """,
)

mistake(
    "copy-silenced",
    "your heads go off in a copy, so the caller's model computes as before; switch them off in the model itself",
    ablate_heads="model.layers -> copy.deepcopy(model).layers",
)

import copy

mistake(
    "never-undone",
    "your heads stay off when the block has ended; switch them on again, even if the block raised",
    ablate_heads="""
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + yield
    """,
)

mistake(
    "lost-with-an-exception",
    "your undoing comes only after yield, so an exception in the block skips it; put it into finally",
    ablate_heads="""
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + yield
        + handle.remove()
    """,
)

mistake(
    "exception-swallowed",
    "your context manager swallows the exceptions of its block; it should pass them on",
    ablate_heads="""
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + try:
        +     yield
        + except Exception:
        +     pass
        + finally:
        +     handle.remove()
    """,
)

mistake(
    "idle-hook-left",
    "your hook stays and does nothing any more; remove it",
    ablate_heads="handle.remove() -> columns.fill_(False)",
)

mistake(
    "other-parameter-left",
    "your w_o gets a new parameter, which an optimizer does not know; keep the same parameter object",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + weight = attention.w_o.weight.detach().clone()
        + attention.w_o.weight = nn.Parameter(weight.masked_fill(columns.to(weight.device), 0))
        + try:
        +     yield
        + finally:
        +     attention.w_o.weight = nn.Parameter(weight)
    """,
)

mistake(
    "scaled-and-back",
    "your columns of w_o are scaled down and up again, so rounding changes them; restore exactly the same bits",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + columns = columns.to(attention.w_o.weight.device)
        + with torch.no_grad():
        +     attention.w_o.weight[:, columns] *= 1e-9
        + try:
        +     yield
        + finally:
        +     with torch.no_grad():
        +         attention.w_o.weight[:, columns] /= 1e-9
    """,
)

mistake(
    "zeroed-and-kept-by-name",
    "your saved weight of w_o is a reference, not a copy, so it has the zeros, too; store a copy",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + weight = attention.w_o.weight.data
        + attention.w_o.weight.data[:, columns.to(weight.device)] = 0
        + try:
        +     yield
        + finally:
        +     attention.w_o.weight.data = weight
    """,
)

mistake(
    "put-back-in-order",
    "your heads are saved and zeroed one by one, so one named twice stays zero; store all before you change any",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + weight, saved = attention.w_o.weight.data, []
        + for head in heads:
        +     place = slice(head * width, (head + 1) * width)
        +     saved.append((place, weight[:, place].clone()))
        +     weight[:, place] = 0
        + try:
        +     yield
        + finally:
        +     for place, columns in saved:
        +         weight[:, place] = columns
    """,
)

mistake(
    "all-hooks-removed",
    "your block removes all hooks of w_o at its end, so those of an outer block go, too; remove only its own",
    ablate_heads="handle.remove() -> attention.w_o._forward_pre_hooks.clear()",
)

mistake(
    "newest-block-counts",
    "your blocks overwrite each other, so of two around the same layer only the inner one counts; both should count",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + outer = dict(attention.w_o._forward_pre_hooks)
        + attention.w_o._forward_pre_hooks.clear()
        + handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))

        - handle.remove()
        + handle.remove()
        + attention.w_o._forward_pre_hooks.update(outer)
    """,
)

mistake(
    "heads-not-looked-at",
    "your heads are not checked, so for one past the last nothing is switched off; raise ValueError",
    ablate_heads="""
        - if any(not 0 <= head < attention.num_heads for head in heads):
        -     raise ValueError(f"heads {heads} of {attention.num_heads}")
        + heads = [head for head in heads if 0 <= head < attention.num_heads]
    """,
)

mistake(
    "negative-heads-taken",
    "your negative heads are counted from the last one; only 0 to num_heads - 1 should be allowed",
    ablate_heads="0 <= head < attention.num_heads -> head < attention.num_heads",
)

mistake(
    "index-error",
    "your heads that do not exist end in torch's own IndexError; raise ValueError",
    ablate_heads="""
        - if any(not 0 <= head < attention.num_heads for head in heads):
        -     raise ValueError(f"heads {heads} of {attention.num_heads}")
    """,
)

mistake(
    "refused-too-late",
    "your zeros are set before another head is found not to exist, so they stay; check all heads first",
    ablate_heads="""
        - if any(not 0 <= head < attention.num_heads for head in heads):
        -     raise ValueError(f"heads {heads} of {attention.num_heads}")
        - width = attention.w_o.in_features // attention.num_heads
        - off = torch.zeros(attention.num_heads, dtype=torch.bool)
        - off[heads] = True
        - columns = off.repeat_interleave(width)
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + width = attention.w_o.in_features // attention.num_heads
        + weight, saved = attention.w_o.weight.data, attention.w_o.weight.data.clone()
        + for head in heads:
        +     if not 0 <= head < attention.num_heads:
        +         raise ValueError(f"heads {heads} of {attention.num_heads}")
        +     weight[:, head * width : (head + 1) * width] = 0
        + try:
        +     yield
        + finally:
        +     weight.copy_(saved)
    """,
)

mistake(
    "parameters-frozen",
    "your w_o no longer trains after the block, as its requires_grad stays off; leave requires_grad as it was",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + attention.w_o.requires_grad_(False)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
