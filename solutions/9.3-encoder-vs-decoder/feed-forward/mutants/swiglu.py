"""What swiglu gets wrong.

linear2(silu(gate(x)) · linear1(x)): a third layer, there for swiglu alone, opens and shuts each hidden unit.
"""


class gate_forgotten:
    """your swiglu has no gate: it applies silu to linear1

    Fails: test_gate_parameters
    """

    class FeedForward:
        __init__ = """
            - if activation == "swiglu":
            -     self.gate = nn.Linear(d_model, d_ff)
        """

        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = F.silu(h)
        """


class gate_alone:
    """your swiglu passes silu of the gate on, without multiplying it by linear1

    Fails: test_swiglu_values
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = F.silu(self.gate(x))
        """


class gate_added:
    """your swiglu adds the gate to linear1: it multiplies

    Fails: test_swiglu_values
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = F.silu(self.gate(x)) + h
        """


class gate_swapped:
    """your swiglu applies silu to linear1 and leaves the gate linear: it is the gate that is bent

    Fails: test_swiglu_values
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = self.gate(x) * F.silu(h)
        """


class gate_sigmoid:
    """your gate is a plain sigmoid (GLU): swiglu takes silu, z · sigmoid(z)

    Fails: test_swiglu_values
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = torch.sigmoid(self.gate(x)) * h
        """


class gate_gelu:
    """your gate takes gelu (GEGLU): swiglu takes silu

    Fails: test_swiglu_values
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = gelu(self.gate(x)) * h
        """


class gate_detached:
    """your gate is cut from the graph: it never learns

    Fails: test_gradients
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = F.silu(self.gate(x)).detach() * h
        """


class gate_without_bias:
    """your gate has no bias

    Fails: test_gate_parameters
    """

    class FeedForward:
        __init__ = """
            - self.gate = nn.Linear(d_model, d_ff)
            + self.gate = nn.Linear(d_model, d_ff, bias=False)
        """


class gate_always:
    """your gate is there for every activation: only swiglu has one

    Fails: test_parameters
    """

    class FeedForward:
        __init__ = """
            - if activation == "swiglu":
            -     self.gate = nn.Linear(d_model, d_ff)
            + self.gate = nn.Linear(d_model, d_ff)
        """


class gate_narrowed:
    """your swiglu takes two thirds of d_ff: the caller has chosen d_ff already

    Fails: test_gate_parameters
    """

    class FeedForward:
        __init__ = """
              self.activation = activation
            + d_ff = 2 * d_ff // 3 if activation == "swiglu" else d_ff
        """


class gate_linear:
    """your gate is multiplied as it is: silu of it comes first

    Fails: test_swiglu_values
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = self.gate(x) * h
        """


class silu_of_product:
    """your swiglu takes silu of the product: it is silu of the gate, and then the product

    Fails: test_swiglu_values
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = F.silu(self.gate(x) * h)
        """


class gate_of_hidden:
    """your gate is given what linear1 made: like linear1 it takes x

    Fails: test_swiglu_values
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = F.silu(self.gate(h)) * h
        """


class gate_in_linear1:
    """your gate is a half of linear1, which is twice as wide for swiglu: it is a layer of its own

    Fails: test_gate_parameters
    """

    class FeedForward:
        __init__ = """
            - self.linear1 = nn.Linear(d_model, d_ff)
            + self.linear1 = nn.Linear(d_model, 2 * d_ff if activation == "swiglu" else d_ff)

            - if activation == "swiglu":
            -     self.gate = nn.Linear(d_model, d_ff)
        """

        forward = """
            - h = F.silu(self.gate(x)) * h
            + g, h = h.chunk(2, dim=-1)
            + h = F.silu(g) * h
        """
