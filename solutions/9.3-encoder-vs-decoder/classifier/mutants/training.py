"""What `fit` gets wrong in its steps.

In train mode, for each batch: forward, empty the gradients, backward, step.
"""

mistake(
    "stays-in-eval-mode",
    "your fit never switches to train mode; it should put the model into train mode before it trains",
    fit="- model.train()",
)

mistake(
    "eval-after-first-epoch",
    "your fit stays in eval mode after it has measured the accuracy; it should switch back to train mode",
    fit="""
          losses.append(total / len(tokens))
        + model.eval()
        + with torch.no_grad():
        +     model(tokens)
    """,
)

mistake(
    "gradients-pile-up",
    "your fit never empties the gradients, so each update repeats all earlier ones; "
    "clear them before each backward pass",
    fit="- optimizer.zero_grad()",
)

mistake(
    "gradients-emptied-too-late",
    "your fit takes no step, or empties the gradients just before it; clear them first, then call backward and step",
    fit="""
          loss = cross_entropy(model(tokens[batch]), labels[batch])
        + loss.backward()

        - loss.backward()
    """,
)

mistake(
    "one-step-an-epoch",
    "your fit updates once an epoch, after the last batch; it should update after each batch",
    fit="""
        - optimizer.step()

              total += loss.item() * len(batch)
        + optimizer.step()
    """,
)

mistake(
    "lr-ignored",
    "your fit uses a learning rate of its own; it should use lr",
    fit="torch.optim.AdamW(model.parameters(), lr=lr) -> torch.optim.AdamW(model.parameters(), lr=1e-3)",
)

mistake(
    "optimizer-anew-each-batch",
    "your fit makes a new optimizer for each batch, which forgets the batches before; make one before the loops",
    fit="""
        + optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
          optimizer.zero_grad()
    """,
)

mistake(
    "optimizer-anew-each-epoch",
    "your fit makes a new optimizer in each epoch, which forgets the epochs before; make one before the loops",
    fit="""
          total = 0.0
        + optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    """,
)

mistake(
    "gradients-emptied-once-an-epoch",
    "your fit empties the gradients only when an epoch begins, so they pile up; clear them before each backward pass",
    fit="""
        - total = 0.0
        + total = 0.0
        + optimizer.zero_grad()

        - optimizer.zero_grad()
    """,
)

mistake(
    "plain-sgd",
    "your fit takes plain SGD, which hardly learns at such an lr; take AdamW or one of its relatives",
    fit="torch.optim.AdamW(model.parameters(), lr=lr) -> torch.optim.SGD(model.parameters(), lr=lr)",
    unnamed="only training to the end tells it apart",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
