"""In which mode `generate` works, and what it leaves behind.

Dropout rests while it writes. Gradients, and train or eval mode, are afterwards what they were before, whichever way it
ends.
"""


class left_in_eval:
    """your generate leaves the model in eval mode

    Fails: test_restored
    """

    generate = """
        - training = model.training

        - model.train(training)
        + pass
    """


class left_in_train:
    """your generate puts the model into train mode at the end, even if it was not before

    Fails: test_restored
    """

    generate = """
        - training = model.training

        - model.train(training)
        + model.train()
    """


class left_early:
    """your generate returns early without putting the mode back

    Fails: test_restored
    """

    generate = """
        - break
        + training = False
        + break
    """


class grad_left_off:
    """your generate turns gradients off and not on again

    Fails: test_restored
    """

    generate = """
        - @torch.no_grad()

          training = model.training
        + torch.set_grad_enabled(False)
    """


class grad_left_on:
    """your generate turns gradients on at the end, even if they were off before

    Fails: test_restored
    """

    generate = """
        - @torch.no_grad()

          training = model.training
        + torch.set_grad_enabled(False)

          model.train(training)
        + torch.set_grad_enabled(True)
    """


class never_in_eval:
    """your generate never switches to eval mode: what it writes is spoilt by dropout

    Fails: test_rests_while_writing
    """

    generate = """
        - training = model.training
        - model.eval()

        - model.train(training)
        + pass
    """
