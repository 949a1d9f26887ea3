"""What `adapter_state` and `load_adapter` get wrong.

A state has A and B of every layer, copied, and no more; what does not fit is refused before anything is copied.
"""

mistake(
    "whole-state",
    "your adapter_state has the base as well, so it is as large as the model; it should have A and B only",
    adapter_state="_parts(model).items() -> model.state_dict().items()",
)

mistake(
    "found-by-name",
    "your adapter_state takes all that is called A or B, so others' come along; it should look for LoRALinears",
    adapter_state="_parts(model).items() -> model.named_parameters() if name[-1] in \"AB\"",
)

mistake(
    "not-copied",
    "your state holds the parameters themselves, so later steps change it; return copies",
    adapter_state="part.detach().clone() -> part.detach()",
)

mistake(
    "tied-layer-listed-twice",
    "your state has a layer in two places twice; each should be there once, under its first name",
    _layers="model.named_modules() -> model.named_modules(remove_duplicate=False)",
)

mistake(
    "part-missing-taken",
    "your load_adapter takes a state that lacks a part, so half of an adapter is another's; raise ValueError",
    load_adapter=["for name in [*expected, *given]: -> for name in given:",
                  "part.data.copy_(state[name]) -> part.data.copy_(state.get(name, part))"],
)

mistake(
    "unknown-taken",
    "your load_adapter passes over names that the model lacks; raise ValueError",
    load_adapter="for name in [*expected, *given]: -> for name in expected:",
)

mistake(
    "shape-broadcast",
    "your load_adapter takes another shape where it broadcasts; compare shapes, and raise ValueError",
    load_adapter="""
        - if given.get(name) != expected.get(name):
        + if (name in given) != (name in expected):
    """,
)

mistake(
    "half-copied",
    "your load_adapter copies until something does not fit; compare everything before you copy",
    load_adapter="""
          for name in [*expected, *given]:
        +     if name in parts and given.get(name) == expected[name]:
        +         parts[name].data.copy_(state[name])
    """,
)

mistake(
    "shape-met-late",
    "your load_adapter meets a wrong shape while it copies, so half has changed; it should compare all before",
    load_adapter=["given.get(name) != expected.get(name) -> (name in given) != (name in expected)", """
          for name, part in parts.items():
        +     if given[name] != expected[name]:
        +         raise ValueError(f"the state has {given[name]} for {name}; {expected[name]} was expected")
    """],
)

mistake(
    "merged-taken",
    "your load_adapter takes a merged model, whose bases hold the old difference; raise ValueError",
    load_adapter="""
        - for name, layer in _layers(model).items():
        -     if layer.old:
        -         raise ValueError(f"{name} is merged: an unmerged layer was expected")
    """,
)

mistake(
    "state-added",
    "your load_adapter adds the state to what is there; it should take its place",
    load_adapter="part.data.copy_(state[name]) -> part.data.add_(state[name])",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
