"""What dropout gets wrong.

In train mode each hidden unit of each position is dropped with probability p, after the activation, and what is kept is
scaled by 1 / (1 - p).
"""


class dropout_missing:
    """your module takes dropout and never drops anything

    Fails: test_dropout_places
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + return self.linear2(h)
        """


class dropout_by_default:
    """your dropout is 0.1 by default: here it is 0

    Fails: test_no_dropout
    """

    class FeedForward:
        __init__ = """
            - def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
            + def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.1) -> None:
        """


class dropout_in_eval:
    """your dropout drops in eval mode too: pass it self.training, or use nn.Dropout

    Fails: test_eval
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.p = dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + return self.linear2(F.dropout(h, self.p))
        """


class dropout_keeps_p:
    """your dropout keeps the share p instead of dropping it

    Fails: test_dropout_places, test_no_dropout
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout(1.0 - dropout)
        """


class dropout_share_inverted:
    """your dropout drops the share 1 - p, and scales as if it were p

    Fails: test_dropout_share, test_no_dropout
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.p = dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + if self.training:
            +     h = h * (torch.rand_like(h) < self.p) / (1 - self.p)
            + return self.linear2(h)
        """


class dropout_not_scaled:
    """your dropout does not scale up what it keeps: multiply by 1/(1 - p)

    Fails: test_dropout_places
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.p = dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + if self.training:
            +     h = h * (torch.rand_like(h) >= self.p)
            + return self.linear2(h)
        """


class dropout_shared:
    """your dropout draws one mask for all positions: each number is dropped or kept by itself

    Fails: test_dropout_share
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + h = h * self.dropout(torch.ones_like(h[:1, :1]))
            + return self.linear2(h)
        """


class dropout_on_input:
    """your dropout drops features of x: drop hidden units, after the activation

    Fails: test_dropout_places
    """

    class FeedForward:
        forward = """
            + x = self.dropout(x)
              h = self.linear1(x)

            - return self.linear2(self.dropout(h))
            + return self.linear2(h)
        """


class dropout_before_activation:
    """your dropout comes before the activation: what is scaled up there does not come out scaled up

    Fails: test_dropout_places
    """

    class FeedForward:
        forward = """
            - h = self.linear1(x)
            + h = self.dropout(self.linear1(x))

            -     h = F.silu(self.gate(x)) * h
            - return self.linear2(self.dropout(h))
            +     h = F.silu(self.dropout(self.gate(x))) * h
            + return self.linear2(h)
        """


class dropout_on_output:
    """your dropout comes after linear2: drop hidden units, before it

    Fails: test_dropout_places
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + return self.dropout(self.linear2(h))
        """


class dropout_twice:
    """your dropout is applied twice, before and after linear2

    Fails: test_dropout_places
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + return self.dropout(self.linear2(self.dropout(h)))
        """


class dropout_not_for_swiglu:
    """your swiglu drops nothing: dropout comes before linear2 in all three cases

    Fails: test_dropout_places
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + return self.linear2(F.silu(self.gate(x)) * h)
        """


class dropout_fixed:
    """your dropout drops a half whatever is asked for: nn.Dropout takes the share

    Fails: test_dropout_places, test_no_dropout
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout()
        """
