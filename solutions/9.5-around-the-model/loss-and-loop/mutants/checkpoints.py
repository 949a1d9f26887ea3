"""What `save` and `load` get wrong.

All that the next step reads is in the file; a file is whole before it has its name; what does not fit is refused
before anything is changed.
"""

mistake(
    "optimizer-not-restored",
    "your optimizer begins with new moments, so the run goes on along another path; restore its state_dict, too",
    load='optimizer.load_state_dict(whole["optimizer"]) ->',
)

mistake(
    "generator-not-restored",
    "your generator stays where it is, so other batches follow; set it to the state that was saved",
    load='generator.set_state(whole["generator"]) ->',
)

mistake(
    "seed-for-a-state",
    "your checkpoint has the generator's seed, so its batches come from the beginning; store its state",
    save="generator.get_state() -> torch.Generator().manual_seed(generator.initial_seed()).get_state()",
)

mistake(
    "buffers-not-restored",
    "your load restores parameters and no buffers; the whole state_dict should be loaded",
    load="""
        - model.load_state_dict(whole["model"])
        + own = dict(model.named_parameters())
        + model.load_state_dict({name: whole["model"][name] for name in own}, strict=False)
    """,
)

mistake(
    "rates-not-restored",
    "your optimizer's moments come back and its rates do not; restore its groups as well",
    load='optimizer.load_state_dict(whole["optimizer"]) -> '
    'optimizer.load_state_dict({**optimizer.state_dict(), "state": whole["optimizer"]["state"]})',
)

mistake(
    "parameters-exchanged",
    "your model gets new tensors, and the optimizer moves the old ones; keep the parameters and change their numbers",
    load='model.load_state_dict(whole["model"]) -> model.load_state_dict(whole["model"], assign=True)',
)

mistake(
    "rounded",
    "your checkpoint rounds the parameters, so the run goes on almost as it was; store every bit",
    save='model.state_dict(), -> {name: value.bfloat16().to(value) for name, value in model.state_dict().items()},',
)

mistake(
    "step-forgotten",
    "your load returns nothing; it should return the step that was saved",
    load="return step ->",
)

mistake(
    "cut-off-unrefused",
    "your load lets through what torch raises for a file that is not a checkpoint; raise ValueError in its place",
    load="raise ValueError(f\"{path} is not a whole checkpoint: {error}\") from error -> raise",
)

mistake(
    "some-errors-caught",
    "your load expects one kind of exception, and torch has several; turn all of them into ValueError",
    load="except Exception as error: -> except (RuntimeError, KeyError) as error:",
)

mistake(
    "half-loaded",
    "your model is loaded before anything is compared, so half of it has changed when it is refused; compare first",
    load="""
          expected = _outline(model.state_dict(), optimizer.state_dict())
        + try:
        +     model.load_state_dict(whole["model"])
        + except RuntimeError as error:
        +     raise ValueError("another model") from error
    """,
)

mistake(
    "another-model-taken",
    "your load takes what fits of another model's checkpoint, and says nothing; raise ValueError",
    load=[
        "if found.get(name) != expected.get(name): -> if False:",
        "model.load_state_dict(whole[\"model\"]) -> model.load_state_dict("
        "{n: v for n, v in whole[\"model\"].items() if expected.get(n) == list(v.shape)}, strict=False)",
    ],
)

mistake(
    "groups-not-compared",
    "your model has changed when the optimizer refuses its groups; compare both before either is loaded",
    _outline="return {name: list(value.shape) for name, value in model.items()} | groups -> "
    "return {name: list(value.shape) for name, value in model.items()}",
)

mistake(
    "written-in-place",
    "your new file is written in the place of the old one; write it under another name, then replace",
    save="""
        - try:
        -     torch.save(whole, draft)
        -     os.replace(draft, path)
        - finally:
        -     draft.unlink(missing_ok=True)
        + torch.save(whole, path)
    """,
)

mistake(
    "removed-first",
    "your old file is removed before the new one is written; write the new one first, then replace",
    save="""
          try:
        +     Path(path).unlink(missing_ok=True)
    """,
)

mistake(
    "failure-hidden",
    "your save hides that it failed, so nobody knows that there is not a checkpoint; let the exception through",
    save="""
        - finally:
        + except Exception:
    """,
)

mistake(
    "eval-after-load",
    "your model is in eval mode after load, so training goes on without dropout; leave it in its mode",
    load="""
          generator.set_state(whole["generator"])
        + model.eval()
    """,
)

mistake(
    "kept-in-the-process",
    "your step is kept in the process, so another one cannot resume; all of it should be in the file",
    save="draft = Path -> save.step, draft = step, Path",
    load="return step -> return save.step",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
