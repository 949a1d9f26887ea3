"""What `fit` gets wrong in its batches.

An epoch is every example once, in an order drawn from the generator, and an example keeps its label.
"""


class never_shuffled:
    """your fit takes the examples in the order in which they stand

    Fails: test_fit_generator
    """

    fit = """
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + for batch in torch.arange(len(tokens)).split(batch_size):
    """


class generator_ignored:
    """your fit shuffles with the global generator, not with the one handed in

    Fails: test_fit_generator
    """

    fit = """
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + for batch in torch.randperm(len(tokens)).split(batch_size):
    """


class seed_fixed:
    """your fit seeds the generator anew, so every run has the same order

    Fails: test_fit_generator
    """

    fit = """
          model.train()
        + if generator is not None:
        +     generator.manual_seed(0)
    """


class drawn_with_replacement:
    """your epochs repeat some examples and miss others; each should go through all of them once

    Fails: test_fit_every_example
    """

    fit = """
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + for batch in torch.randint(len(tokens), (len(tokens),), generator=generator).split(batch_size):
    """


class batch_size_ignored:
    """your fit puts all examples into one batch

    Fails: test_fit_every_example
    """

    fit = """
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + for batch in torch.randperm(len(tokens), generator=generator).split(len(tokens)):
    """


class last_batch_dropped:
    """your fit leaves out the last batch when it is short

    Fails: test_fit_every_example
    """

    fit = """
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + order = torch.randperm(len(tokens), generator=generator)
        + batches = [b for b in order.split(batch_size) if len(b) == batch_size] or [order]
        + for batch in batches:
    """


class labels_left_behind:
    """your fit shuffles the tokens but not the labels

    Fails: test_fit_losses, test_learning
    """

    fit = """
        - total = 0.0
        + total, seen = 0.0, 0

        - loss = cross_entropy(model(tokens[batch]), labels[batch])
        + loss = cross_entropy(model(tokens[batch]), labels[seen : seen + len(batch)])
        + seen += len(batch)
    """


class shuffled_in_place:
    """your fit shuffles the tensors that it was given

    Fails: test_fit_arguments
    """

    fit = """
        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + order = torch.randperm(len(tokens), generator=generator)
        + tokens[:], labels[:] = tokens[order], labels[order]
        + for batch in torch.arange(len(tokens)).split(batch_size):
    """


class order_drawn_once:
    """your fit draws the order once: each epoch needs one of its own, or neighbours always share a batch

    Fails: test_fit_generator
    """

    fit = """
        - for _ in range(epochs):
        + order = torch.randperm(len(tokens), generator=generator)
        + for _ in range(epochs):

        - for batch in torch.randperm(len(tokens), generator=generator).split(batch_size):
        + for batch in order.split(batch_size):
    """
