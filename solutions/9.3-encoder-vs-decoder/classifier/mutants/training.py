"""What `fit` gets wrong in its steps.

In train mode, for each batch: forward, empty the gradients, backward, step.
"""


class stays_in_eval_mode:
    """your fit never switches to train mode

    Fails: test_fit_train_mode
    """

    fit = """
        - model.train()
    """


class eval_after_first_epoch:
    """your fit stays in eval mode once it has looked at the accuracy

    Fails: test_fit_train_mode
    """

    fit = """
          losses.append(total / len(tokens))
        + model.eval()
        + with torch.no_grad():
        +     model(tokens)
    """


class gradients_pile_up:
    """your fit never empties the gradients: each update repeats all earlier ones

    Fails: test_fit_zeroes_gradients
    """

    fit = """
        - optimizer.zero_grad()
    """


class gradients_emptied_too_late:
    """your fit takes no step, or empties the gradients between backward and step: no parameter moves

    Fails: test_fit_updates, test_learning
    """

    fit = """
          loss = cross_entropy(model(tokens[batch]), labels[batch])
        + loss.backward()

        - loss.backward()
    """


class one_step_an_epoch:
    """your fit updates once an epoch, after the last batch

    Fails: test_fit_updates
    """

    fit = """
        - optimizer.step()

              total += loss.item() * len(batch)
        + optimizer.step()
    """


class lr_ignored:
    """your fit uses a learning rate of its own

    Fails: test_fit_updates
    """

    fit = """
        - optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        + optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    """


class gradients_emptied_once_an_epoch:
    """your fit empties the gradients once an epoch: each update repeats those of the batches before it

    Fails: test_fit_zeroes_gradients
    """

    fit = """
        - total = 0.0
        + total = 0.0
        + optimizer.zero_grad()

        - optimizer.zero_grad()
    """


class plain_sgd:
    """your fit takes plain SGD, which hardly learns at such an lr: take AdamW or one of its relatives

    Fails: test_learning
    Unnamed: only training to the end tells it apart
    """

    fit = """
        - optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        + optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    """
