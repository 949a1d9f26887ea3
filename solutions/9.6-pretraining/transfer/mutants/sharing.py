"""What goes wrong when tasks share a body: which head answers, what it is given, and who hears of its parameters."""


class first_head_always:
    """your model answers with the first head, whatever the task is

    Fails: test_multi_task
    """

    class MultiTask:
        forward = """
            - return self.heads[task](self.body(tokens), tokens != self.body.pad_id)
            + return next(iter(self.heads.values()))(self.body(tokens), tokens != self.body.pad_id)
        """


class all_tokens_real:
    """your mask calls padding real: it is where tokens are body.pad_id

    Fails: test_multi_task
    """

    class MultiTask:
        forward = """
            - return self.heads[task](self.body(tokens), tokens != self.body.pad_id)
            + return self.heads[task](self.body(tokens), torch.ones_like(tokens, dtype=torch.bool))
        """


class padding_is_zero:
    """your mask takes 0 for padding: body.pad_id says which token it is

    Fails: test_multi_task
    """

    class MultiTask:
        forward = """
            - return self.heads[task](self.body(tokens), tokens != self.body.pad_id)
            + return self.heads[task](self.body(tokens), tokens != 0)
        """


class mask_of_padding:
    """your mask is True at padding: it is True at real tokens

    Fails: test_multi_task
    """

    class MultiTask:
        forward = """
            - return self.heads[task](self.body(tokens), tokens != self.body.pad_id)
            + return self.heads[task](self.body(tokens), tokens == self.body.pad_id)
        """


class heads_in_a_dict:
    """your heads are in a plain dict: nn.ModuleDict makes their parameters known

    Fails: test_multi_task_parameters
    """

    class MultiTask:
        __init__ = """
            - self.heads = nn.ModuleDict(heads)
            + self.heads = dict(heads)
        """


class body_copied:
    """your model copies its body: the body itself would never get what one task learns

    Fails: test_multi_task_parameters
    """

    class MultiTask:
        __init__ = """
            - self.body = body
            + import copy
            + self.body = copy.deepcopy(body)
        """


class body_without_gradient:
    """your body reads without gradients: a task teaches the body as well as its head

    Fails: test_multi_task_gradients
    """

    class MultiTask:
        forward = """
            - return self.heads[task](self.body(tokens), tokens != self.body.pad_id)
            + with torch.no_grad():
            +     hidden = self.body(tokens)
            + return self.heads[task](hidden, tokens != self.body.pad_id)
        """


class unknown_task_is_a_key_error:
    """your model raises a KeyError for an unknown task: raise ValueError

    Fails: test_unknown_task
    """

    class MultiTask:
        forward = """
            - if task not in self.heads:
            -     raise ValueError(f"there is no task {task!r}: {', '.join(self.heads)}")
        """


class unknown_task_is_an_assertion:
    """your model asserts that it knows the task: raise ValueError, which python -O does not remove

    Fails: test_unknown_task
    """

    class MultiTask:
        forward = """
            - if task not in self.heads:
            -     raise ValueError(f"there is no task {task!r}: {', '.join(self.heads)}")
            + assert task in self.heads
        """


class unknown_task_guessed:
    """your model answers an unknown task with another head: raise ValueError

    Fails: test_unknown_task
    """

    class MultiTask:
        forward = """
            - if task not in self.heads:
            -     raise ValueError(f"there is no task {task!r}: {', '.join(self.heads)}")
            + if task not in self.heads:
            +     task = next(iter(self.heads))
        """
