"""What `inject`, `merge` and `unmerge` get wrong.

Names are whole names or last parts, and all are looked up before anything changes. What is shared stays shared; what
was added is not subtracted.
"""

mistake(
    "last-parts-only",
    "your inject compares last parts only, so a dotted name chooses nothing; it should compare whole names, too",
    inject="name in (place, place.rpartition(\".\")[2]) -> name == place.rpartition(\".\")[2]",
)

mistake(
    "whole-names-only",
    "your inject compares whole names only, so \"up\" chooses nothing; it should choose all layers called so",
    inject="name in (place, place.rpartition(\".\")[2]) -> name == place",
)

mistake(
    "ends-with",
    "your inject takes whatever ends in a name, so \"p\" chooses \"up\"; compare whole parts",
    inject="name in (place, place.rpartition(\".\")[2]) -> place.endswith(name)",
)

mistake(
    "part-of-a-name",
    "your inject takes whatever contains a name; it should be the whole name or its last part",
    inject="name in (place, place.rpartition(\".\")[2]) -> name in place",
)

mistake(
    "names-passed-over",
    "your inject passes over a name that no layer has, so nobody sees a slip; raise ValueError",
    inject="""
        - if not found:
        -     raise ValueError(f"no nn.Linear is called {name!r}; there are {', '.join(linear)}")
    """,
)

mistake(
    "names-walked-twice",
    "your inject walks through names twice, so a generator injects nothing; it should read them once",
    inject="""
        -     chosen |= dict.fromkeys(found)
        + for name in names:
        +     chosen |= {layer: None for place, layer in linear.items() if name in (place, place.rpartition(".")[2])}
    """,
)

mistake(
    "frozen-before-looked-up",
    "your model is frozen first, so it has changed when a name is refused; names should be looked up before",
    inject="chosen = {} -> chosen = {}; model.requires_grad_(False)",
)

mistake(
    "tied-layer-in-one-place",
    "your inject replaces a layer in one of its places, so they part; it should be replaced in all of them",
    inject="named_modules(remove_duplicate=False) -> named_modules()",
)

mistake(
    "tied-layer-twice",
    "your inject makes an adapter for each place of a layer, so they part; one should be in all of them",
    inject="last, adapters[layer]) -> last, LoRALinear(layer, r, alpha))",
)

mistake(
    "model-not-frozen",
    "your inject leaves the rest of the model learning; only A and B should learn",
    inject="""
          for parameter in model.parameters():
        -     parameter.requires_grad = False
        +     pass
    """,
)

mistake(
    "adapters-frozen",
    "your inject freezes A and B as well, so nothing learns; it should freeze the rest of the model",
    inject="""
        -     setattr(modules[holder], last, adapters[layer])
        +     setattr(modules[holder], last, adapters[layer].requires_grad_(False))
    """,
)

mistake(
    "alpha-not-passed",
    "your inject leaves its alpha unused, so all its layers have the scale 1; it should pass it on",
    inject="LoRALinear(layer, r, alpha) for -> LoRALinear(layer, r, r) for",
)

mistake(
    "eval-after-inject",
    "your model is in eval mode after inject, so it trains without dropout; it should stay in its mode",
    inject="""
        - for parameter in model.parameters():
        + for parameter in model.eval().parameters():
    """,
)

mistake(
    "added-again",
    "your merged layer adds its difference once more, so it counts twice; it should return base(x)",
    LoRALinear="return y if self.old else y -> return y",
)

mistake(
    "merged-without-scale",
    "your merge adds B A without alpha / r; it should be what the layer adds",
    merge="layer.scale * (layer.B @ layer.A) -> (layer.B @ layer.A)",
)

mistake(
    "merged-twice",
    "your merge of what is merged adds the difference again; it should leave the layer as it is",
    merge="""
        - if not layer.old:
        + if True:
    """,
)

mistake(
    "weight-written-into",
    "your merge writes into a weight that the embedding uses as well; give the base a new one",
    merge="layer.old, layer.base.weight = (W,), nn.Parameter(W + D, requires_grad=False) -> "
    "layer.old = (W.clone(),); W.data += D",
    unmerge="(layer.base.weight,), layer.old = layer.old, () -> "
    "layer.base.weight.data.copy_(layer.old[0]); layer.old = ()",
)

mistake(
    "subtracted",
    "your unmerge subtracts the difference, so rounding stays in the weight; put the old weight back",
    unmerge="(layer.base.weight,), layer.old = layer.old, () -> "
    "layer.base.weight.data -= layer.scale * (layer.B @ layer.A).data; layer.old = ()",
)

mistake(
    "copy-put-back",
    "your unmerge gives the base a copy of its old weight; put back the parameter itself",
    unmerge="(layer.base.weight,), layer.old = layer.old, () -> "
    "layer.base.weight, layer.old = nn.Parameter(layer.old[0].detach().clone(), requires_grad=False), ()",
)

mistake(
    "still-merged",
    "your layer is taken for merged after unmerge, so its difference is gone; it should add it again",
    unmerge="(layer.base.weight,), layer.old = layer.old, () -> (layer.base.weight,) = layer.old",
)

mistake(
    "unmerge-refused",
    "your unmerge raises where nothing is merged; it should do nothing",
    unmerge="""
        - if layer.old:
        + if not layer.old:
        +     raise ValueError("this layer is not merged")
        + else:
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
