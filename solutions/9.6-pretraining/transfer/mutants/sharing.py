"""What goes wrong when tasks share a body: which head answers, what it is given, and who hears of its parameters."""

mistake(
    "first-head-always",
    "your model always answers with the first head; it should use the head of the task",
    MultiTask="self.heads[task] -> next(iter(self.heads.values()))",
)

mistake(
    "all-tokens-real",
    "your mask calls padding real; it should be False where tokens are body.pad_id",
    MultiTask="tokens != self.body.pad_id -> torch.ones_like(tokens, dtype=torch.bool)",
)

mistake(
    "padding-is-zero",
    "your mask takes 0 for padding; it should take the token that body.pad_id names",
    MultiTask="self.body.pad_id -> 0",
)

mistake(
    "mask-of-padding",
    "your mask is True at padding; it should be True at real tokens",
    MultiTask="tokens != self.body.pad_id -> tokens == self.body.pad_id",
)

mistake(
    "heads-in-a-dict",
    "your heads are in a plain dict; use nn.ModuleDict, which makes their parameters known",
    MultiTask="nn.ModuleDict(heads) -> dict(heads)",
)

mistake(
    "body-copied",
    "your model copies its body, so training a task never changes the body itself; keep the body that is given",
    MultiTask="""
        - self.body = body
        + import copy
        + self.body = copy.deepcopy(body)
    """,
)

mistake(
    "body-without-gradient",
    "your body reads without gradients; a task should teach the body as well as its head",
    MultiTask="""
        - return self.heads[task](self.body(tokens), tokens != self.body.pad_id)
        + with torch.no_grad():
        +     hidden = self.body(tokens)
        + return self.heads[task](hidden, tokens != self.body.pad_id)
    """,
)

mistake(
    "unknown-task-is-a-key-error",
    "your model raises a KeyError for an unknown task; raise ValueError",
    MultiTask="""
        - if task not in self.heads:
        -     raise ValueError(f"there is no task {task!r}: {', '.join(self.heads)}")
    """,
)

mistake(
    "unknown-task-is-an-assertion",
    "your model asserts that it knows the task; raise ValueError, which python -O does not remove",
    MultiTask="""
        - if task not in self.heads:
        -     raise ValueError(f"there is no task {task!r}: {', '.join(self.heads)}")
        + assert task in self.heads
    """,
)

mistake(
    "unknown-task-guessed",
    "your model answers an unknown task with another head; raise ValueError",
    MultiTask="""
        - if task not in self.heads:
        -     raise ValueError(f"there is no task {task!r}: {', '.join(self.heads)}")
        + if task not in self.heads:
        +     task = next(iter(self.heads))
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
