"""Instruments for a trained model as they go wrong for other people."""


class asserted:
    """An AssertionError for a bad period."""

    def induction_score(weights, period):
        assert 0 < period < weights.shape[-1]
        return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean(-1)


class kept_in_a_list:
    """Hooks are put in a list of the module and all removed by the first that ends.

    Named: all_hooks_removed
    """

    HOOKS = []  # noqa: RUF012

    ablate_heads = """
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + HOOKS.append(attention.w_o.register_forward_pre_hook(partial(silenced, columns)))

        - handle.remove()
        + while HOOKS:
        +     HOOKS.pop().remove()
    """


class values_off:
    """The head's rows of w_v are set to zero; their bias still comes through, and groups go off together.

    Named: shared_values_zeroed, shared_heads_counted
    """

    @contextmanager
    def ablate_heads(model, layer, heads):
        block = model.layers[layer]
        attn = block.attention if hasattr(block, "attention") else block.self_attention
        heads = list(heads)
        if any(h < 0 or h >= attn.num_heads for h in heads):
            raise ValueError("no such head")
        d = attn.w_v.in_features // attn.num_heads
        saved = attn.w_v.weight.data.clone()
        try:
            for h in heads:
                attn.w_v.weight.data[h * d : (h + 1) * d] = 0
            yield
        finally:
            attn.w_v.weight.data.copy_(saved)


class state_dict_reloaded:
    """state_dict is saved without copies and loaded again.

    Named: zeroed_and_kept_by_name
    """

    @contextmanager
    def ablate_heads(model, layer, heads):
        block = model.layers[layer]
        attn = block.attention if hasattr(block, "attention") else block.self_attention
        heads = list(heads)
        if any(h < 0 or h >= attn.num_heads for h in heads):
            raise ValueError("no such head")
        d = attn.w_o.in_features // attn.num_heads
        saved = model.state_dict()
        try:
            for h in heads:
                attn.w_o.weight.data[:, h * d : (h + 1) * d] = 0
            yield
        finally:
            model.load_state_dict(saved)
