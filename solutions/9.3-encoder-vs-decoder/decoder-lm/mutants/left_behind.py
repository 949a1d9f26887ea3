"""In which mode `generate` works, and what it leaves behind.

Dropout rests while it writes. Gradients, and train or eval mode, are afterwards what they were before, whichever way it
ends.
"""

mistake(
    "left-in-eval",
    "your generate leaves the model in eval mode; it should restore the mode from before",
    generate="""
        - training = model.training

        - model.train(training)
        + pass
    """,
)

mistake(
    "left-in-train",
    "your generate puts the model into train mode at the end, even if it was not before; restore the mode from before",
    generate="""
        - training = model.training

        - model.train(training)
        + model.train()
    """,
)

mistake(
    "left-early",
    "your generate returns early without putting the mode back; it should restore the mode however it ends",
    generate="""
        - break
        + training = False
        + break
    """,
)

mistake(
    "grad-left-off",
    "your generate turns gradients off and not on again; it should restore the grad mode from before",
    generate="""
        - @torch.no_grad()

          training = model.training
        + torch.set_grad_enabled(False)
    """,
)

mistake(
    "grad-left-on",
    "your generate turns gradients on at the end, even if they were off before; it should restore the mode from before",
    generate="""
        - @torch.no_grad()

          training = model.training
        + torch.set_grad_enabled(False)

          model.train(training)
        + torch.set_grad_enabled(True)
    """,
)

mistake(
    "never-in-eval",
    "your generate never switches to eval mode, so dropout spoils what it writes; switch to eval mode first",
    generate="""
        - training = model.training
        - model.eval()

        - model.train(training)
        + pass
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
