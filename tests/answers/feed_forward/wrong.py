"""Feed-forward networks as other people get them wrong."""


# --- gelu ---


class tanh_of_gpt2:
    """The approximation with tanh, as in small GPTs.

    Named: gelu_tanh
    """

    def gelu(x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class tanh_with_a_constant:
    """The approximation with tanh, its root written as a number.

    Named: gelu_tanh
    """

    def gelu(x):
        return 0.5 * x * (1 + torch.tanh(x * 0.7978845608 * (1 + 0.044715 * x * x)))


class quick_gelu:
    """x · sigmoid(1.702 x), as in some vision models.

    Named: gelu_sigmoid
    """

    def gelu(x):
        return x * (1 / (1 + torch.exp(-1.702 * x)))


class swish:
    """x · sigmoid(x).

    Named: gelu_is_silu
    """

    def gelu(x):
        return F.silu(x)


class probability_alone:
    """Φ(x) and no x.

    Named: gelu_cdf_only
    """

    def gelu(x):
        return torch.special.ndtr(x)


class density:
    """The density in place of the probability.

    Named: gelu_density
    """

    def gelu(x):
        return x * (-(x**2) / 2).exp() / (2 * math.pi) ** 0.5


class no_half:
    """The half is forgotten.

    Named: gelu_half_forgotten
    """

    def gelu(x):
        return x * (1.0 + x.div(2**0.5).erf())


class no_root:
    """erf of x itself.

    Named: gelu_root_forgotten
    """

    def gelu(x):
        return x / 2 * (1 + x.erf())


class root_times:
    """x times the root.

    Named: gelu_root_multiplied
    """

    def gelu(x):
        return x * 0.5 * (1.0 + torch.erf(math.sqrt(2.0) * x))


class divided_by_two:
    """erf of x / 2: the root is not taken.

    Named: gelu_half_width
    """

    def gelu(x):
        return x * 0.5 * (1.0 + torch.erf(x / 2.0))


class no_one:
    """The 1 is forgotten: x · erf / 2.

    Named: gelu_one_forgotten
    """

    def gelu(x):
        return 0.5 * x * torch.erf(x / math.sqrt(2.0))


class brackets_left_out:
    """Brackets are missing: 0.5 · x · 1 + erf.

    Named: gelu_brackets_forgotten
    """

    def gelu(x):
        return 0.5 * x * 1.0 + torch.erf(x / math.sqrt(2.0))


class complement:
    """1 - erf: the share of the other side.

    Named: gelu_complement
    """

    def gelu(x):
        return x * 0.5 * torch.erfc(x / math.sqrt(2.0))


class share_without_gradient:
    """Φ is computed under no_grad.

    Named: gelu_detached
    """

    def gelu(x):
        with torch.no_grad():
            share = torch.special.ndtr(x)
        return x * share


class one_number_at_a_time:
    """math.erf, number by number: the graph ends there.

    Named: gelu_number_by_number
    """

    def gelu(x):
        numbers = [v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x.flatten().tolist()]
        return torch.tensor(numbers, dtype=x.dtype).view(x.shape)


class math_erf_of_a_tensor:
    """math.erf of a tensor.

    Named: gelu_math_erf
    """

    def gelu(x):
        return x * 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


class written_into_x:
    """The result is written into x.

    Named: gelu_in_place
    """

    def gelu(x):
        share = 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))
        x *= share
        return x

    class FeedForward:
        forward = """
            - h = gelu(h)
            + h = gelu(h.clone())
        """


class float32_throughout:
    """Everything is float32, and stays so.

    Named: gelu_float32
    """

    def gelu(x):
        y = x.to(torch.float32)
        return y * torch.special.ndtr(y)


class torchs_own:
    """torch's GELU.

    Named: torch_gelu
    """

    def gelu(x):
        return nn.functional.gelu(x)


class torchs_own_as_a_module:
    """torch's GELU, as a module.

    Named: torch_gelu
    """

    def gelu(x):
        return nn.GELU()(x)


class nothing_comes_back:
    """gelu computes and does not return.

    Named: gelu_nothing_returned
    """

    def gelu(x):
        x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


# --- the network ---


class no_bend:
    """relu is taken and not kept.

    Named: no_activation
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + F.relu(h)
        """


class nothing_between:
    """linear2(dropout(linear1(x))), whatever the activation.

    Named: no_activation_at_all, no_activation
    """

    class FeedForward:
        def forward(self, x):
            return self.linear2(self.dropout(self.linear1(x)))


class bent_at_the_end:
    """The activation comes last.

    Named: activation_at_the_end
    """

    class FeedForward:
        def forward(self, x):
            if self.activation == "swiglu":
                return self.linear2(self.dropout(F.silu(self.gate(x)) * self.linear1(x)))
            y = self.linear2(self.dropout(self.linear1(x)))
            return torch.relu(y) if self.activation == "relu" else gelu(y)


class bent_twice:
    """The activation stands between the layers and at the end.

    Named: activation_twice
    """

    class FeedForward:
        def forward(self, x):
            if self.activation == "swiglu":
                return self.linear2(self.dropout(F.silu(self.gate(x)) * self.linear1(x)))
            act = F.relu if self.activation == "relu" else gelu
            return act(self.linear2(self.dropout(act(self.linear1(x)))))


class always_relu:
    """nn.ReLU whatever was asked for.

    Named: activation_ignored
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation not in {"relu", "gelu", "swiglu"}:
                raise ValueError(activation)
            self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            if activation == "swiglu":
                self.gate = nn.Linear(d_model, d_ff)
            self.act, self.dropout = nn.ReLU(), nn.Dropout(dropout)

        def forward(self, x):
            h = self.linear1(x)
            h = F.silu(self.gate(x)) * h if hasattr(self, "gate") else self.act(h)
            return self.linear2(self.dropout(h))


class names_exchanged:
    """relu and gelu are exchanged in the table.

    Named: activations_swapped
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + h = gelu(h)

            - h = gelu(h)
            + h = F.relu(h)
        """


class approximate_in_the_network:
    """The network takes torch's GELU with tanh.

    Named: network_gelu_tanh
    """

    class FeedForward:
        __init__ = """
              self.activation = activation
            + self.act = nn.GELU(approximate="tanh")
        """

        forward = """
            - h = gelu(h)
            + h = self.act(h)
        """


class leaky:
    """leaky_relu for relu.

    Named: leaky_relu
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + h = F.leaky_relu(h)
        """


class residual_inside:
    """x is added, as the layer around would do.

    Named: residual_added
    """

    class FeedForward:
        def forward(self, x):
            residual = x
            h = self.linear1(x)
            if self.activation == "swiglu":
                h = F.silu(self.gate(x)) * h
            else:
                h = (torch.relu if self.activation == "relu" else gelu)(h)
            return self.linear2(self.dropout(h)) + residual


class norm_inside:
    """A layer norm in front, as some blocks have it.

    Named: norm_added
    """

    class FeedForward:
        __init__ = """
              super().__init__()
            + self.norm = nn.LayerNorm(d_model)
        """

        forward = """
            + x = self.norm(x)
              h = self.linear1(x)
        """


class default_of_gelu:
    """gelu by default, as in most models.

    Named: gelu_by_default
    """

    class FeedForward:
        __init__ = """
            - def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
            + def __init__(self, d_model, d_ff, activation="gelu", dropout=0.0):
        """


class names_of_the_paper:
    """The layers are called w_1 and w_2, as in annotated walks.

    Named: other_names
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation not in ("relu", "gelu", "swiglu"):
                raise ValueError(activation)
            self.activation = activation
            self.w_1, self.w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            if activation == "swiglu":
                self.gate = nn.Linear(d_model, d_ff)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            h = self.w_1(x)
            if self.activation == "swiglu":
                h = F.silu(self.gate(x)) * h
            else:
                h = gelu(h) if self.activation == "gelu" else h.relu()
            return self.w_2(self.dropout(h))


class a_sequence:
    """One nn.Sequential holds the layers.

    Named: other_names
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            acts = {"relu": nn.ReLU(), "gelu": nn.GELU(), "swiglu": nn.SiLU()}
            if activation not in acts:
                raise ValueError(activation)
            self.net = nn.Sequential(
                nn.Linear(d_model, d_ff), acts[activation], nn.Dropout(dropout), nn.Linear(d_ff, d_model)
            )

        def forward(self, x):
            return self.net(x)


class weights_of_llama:
    """No biases, as models with a gate have it.

    Named: no_biases, gate_without_bias
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation not in ("relu", "gelu", "swiglu"):
                raise ValueError(activation)
            self.activation = activation
            self.linear1 = nn.Linear(d_model, d_ff, bias=False)
            self.linear2 = nn.Linear(d_ff, d_model, bias=False)
            if activation == "swiglu":
                self.gate = nn.Linear(d_model, d_ff, bias=False)
            self.dropout = nn.Dropout(dropout)


class widths_exchanged:
    """Both layers are made with their widths exchanged.

    Named: widths_swapped
    """

    class FeedForward:
        __init__ = """
            - self.linear1 = nn.Linear(d_model, d_ff)
            - self.linear2 = nn.Linear(d_ff, d_model)
            + self.linear1 = nn.Linear(d_ff, d_model)
            + self.linear2 = nn.Linear(d_model, d_ff)
        """


class four_times_the_width:
    """The inner width is 4 · d_model, whatever d_ff is.

    Named: inner_width_fixed
    """

    class FeedForward:
        __init__ = """
            - self.linear1 = nn.Linear(d_model, d_ff)
            - self.linear2 = nn.Linear(d_ff, d_model)
            + self.linear1 = nn.Linear(d_model, 4 * d_model)
            + self.linear2 = nn.Linear(4 * d_model, d_model)
        """


class weights_in_zeros:
    """The output is written into zeros made by hand, in float32.

    Named: output_float32
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + y = torch.zeros(x.shape)
            + y[:] = self.linear2(self.dropout(h))
            + return y
        """


class flattened_for_good:
    """Positions are flattened and not folded again.

    Named: positions_flattened
    """

    class FeedForward:
        forward = """
            + x = x.reshape(-1, x.size(-1))
              h = self.linear1(x)
        """


class view_of_x:
    """x.view, which a scattered x refuses.

    Named: view_of_x
    """

    class FeedForward:
        forward = """
            + B, T, D = x.shape
            + x = x.view(B * T, D)
              h = self.linear1(x)

            - return self.linear2(self.dropout(h))
            + return self.linear2(self.dropout(h)).view(B, T, D)
        """


class softmax_inside:
    """A softmax over the hidden units in place of relu.

    Named: softmax_activation
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + h = F.softmax(h, dim=-1)
        """


class relu_in_place_on_x:
    """relu in place on x, before the first layer.

    Named: relu_on_input
    """

    class FeedForward:
        def forward(self, x):
            if self.activation == "relu":
                return self.linear2(self.dropout(self.linear1(F.relu(x))))
            if self.activation == "gelu":
                return self.linear2(self.dropout(gelu(self.linear1(x))))
            return self.linear2(self.dropout(F.silu(self.gate(x)) * self.linear1(x)))


class super_not_called:
    """The parent's constructor is not called.

    Named: super_forgotten
    """

    class FeedForward:
        __init__ = """
            - super().__init__()
            + pass
        """


class returned_with_hidden:
    """Output and hidden numbers are returned.

    Named: pair_returned
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + return self.linear2(self.dropout(h)), h
        """


# --- the gate ---


class silu_and_no_gate:
    """swiglu is silu between two layers.

    Named: gate_forgotten
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            acts = {"relu": F.relu, "gelu": gelu, "swiglu": F.silu}
            if activation not in acts:
                raise ValueError(f"unknown activation {activation}")
            self.act = acts[activation]
            self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            return self.linear2(self.dropout(self.act(self.linear1(x))))


class silu_on_the_other:
    """silu of linear1, times the gate.

    Named: gate_swapped
    """

    class FeedForward:
        def forward(self, x):
            h = self.linear1(x)
            if self.activation == "swiglu":
                return self.linear2(self.dropout(F.silu(h) * self.gate(x)))
            return self.linear2(self.dropout(torch.relu(h) if self.activation == "relu" else gelu(h)))


class plain_sigmoid:
    """A sigmoid for silu.

    Named: gate_sigmoid
    """

    class FeedForward:
        def forward(self, x):
            h = self.linear1(x)
            if self.activation == "swiglu":
                return self.linear2(self.dropout(self.gate(x).sigmoid() * h))
            return self.linear2(self.dropout(h.clamp_min(0) if self.activation == "relu" else gelu(h)))


class gelu_for_silu:
    """GEGLU.

    Named: gate_gelu
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = h * F.gelu(self.gate(x))
        """


class no_silu:
    """The gate is multiplied as it is.

    Named: gate_linear
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = self.gate(x) * h
        """


class silu_of_the_product:
    """silu of gate times linear1.

    Named: silu_of_product
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = F.silu(self.gate(x) * h)
        """


class gate_of_the_hidden:
    """The gate is given what linear1 made.

    Named: gate_of_hidden
    """

    class FeedForward:
        forward = """
            - h = F.silu(self.gate(x)) * h
            + h = F.silu(self.gate(h)) * h
        """


class gate_for_all:
    """The gate is made for every activation.

    Named: gate_always
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation not in ("relu", "gelu", "swiglu"):
                raise ValueError(activation)
            self.activation = activation
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)
            self.gate = nn.Linear(d_model, d_ff)
            self.dropout = nn.Dropout(dropout)


class gate_and_linear_in_one_layer:
    """linear1 is twice as wide for swiglu, and cut in two.

    Named: gate_in_linear1
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation not in ("relu", "gelu", "swiglu"):
                raise ValueError(activation)
            self.activation = activation
            self.linear1 = nn.Linear(d_model, 2 * d_ff if activation == "swiglu" else d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)
            self.dropout = nn.Dropout(dropout)

        forward = """
            - h = F.silu(self.gate(x)) * h
            + g, h = h.chunk(2, dim=-1)
            + h = F.silu(g) * h
        """


class width_of_llama:
    """The inner width is cut by a third.

    Named: gate_narrowed
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation not in ("relu", "gelu", "swiglu"):
                raise ValueError(activation)
            self.activation = activation
            width = int(2 * d_ff / 3) if activation == "swiglu" else d_ff
            self.linear1, self.linear2 = nn.Linear(d_model, width), nn.Linear(width, d_model)
            if activation == "swiglu":
                self.gate = nn.Linear(d_model, width)
            self.dropout = nn.Dropout(dropout)


# --- what is refused ---


class else_is_swiglu:
    """Whatever is neither relu nor gelu is swiglu.

    Named: unknown_accepted
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            self.activation = activation
            self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            if activation not in ("relu", "gelu"):
                self.gate = nn.Linear(d_model, d_ff)
            self.dropout = nn.Dropout(dropout)


class refused_in_forward:
    """The name is looked at in forward.

    Named: unknown_accepted
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            self.activation = activation
            self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            if activation == "swiglu":
                self.gate = nn.Linear(d_model, d_ff)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            h = self.linear1(x)
            if self.activation == "relu":
                h = F.relu(h)
            elif self.activation == "gelu":
                h = gelu(h)
            elif self.activation == "swiglu":
                h = F.silu(self.gate(x)) * h
            else:
                raise ValueError(f"unknown activation {self.activation}")
            return self.linear2(self.dropout(h))


class looked_up:
    """A table is asked for the name.

    Named: unknown_key_error
    """

    class FeedForward:
        __init__ = """
            - if activation not in ("relu", "gelu", "swiglu"):
            -     raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
            + self.act = {"relu": F.relu, "gelu": gelu, "swiglu": F.silu}[activation]
        """


class not_implemented:
    """NotImplementedError for what is not known.

    Named: unknown_other_error
    """

    class FeedForward:
        __init__ = """
            - raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
            + raise NotImplementedError(f"activation {activation} is not supported")
        """


class runtime_error:
    """RuntimeError for what is not known, as torch's layers have it.

    Named: unknown_other_error
    """

    class FeedForward:
        __init__ = """
            - raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
            + raise RuntimeError(f"activation should be relu/gelu, not {activation}")
        """


# --- dropout ---


class dropout_last:
    """Dropout on what comes out, as in small GPTs.

    Named: dropout_on_output
    """

    class FeedForward:
        def forward(self, x):
            h = self.linear1(x)
            if self.activation == "swiglu":
                h = F.silu(self.gate(x)) * h
            else:
                h = torch.relu(h) if self.activation == "relu" else gelu(h)
            x = self.linear2(h)
            return self.dropout(x)


class dropout_twice:
    """Dropout on the hidden numbers and on what comes out.

    Named: dropout_twice
    """

    class FeedForward:
        def forward(self, x):
            h = self.linear1(x)
            if self.activation == "swiglu":
                h = F.silu(self.gate(x)) * h
            else:
                h = torch.relu(h) if self.activation == "relu" else gelu(h)
            return F.dropout(self.linear2(self.dropout(h)), self.dropout.p, self.training)


class dropout_first:
    """Dropout on x.

    Named: dropout_on_input
    """

    class FeedForward:
        def forward(self, x):
            x = self.dropout(x)
            h = self.linear1(x)
            if self.activation == "swiglu":
                return self.linear2(F.silu(self.gate(x)) * h)
            return self.linear2(torch.relu(h) if self.activation == "relu" else gelu(h))


class dropout_before_the_bend:
    """Dropout between linear1 and the activation.

    Named: dropout_before_activation
    """

    class FeedForward:
        def forward(self, x):
            h = self.dropout(self.linear1(x))
            if self.activation == "swiglu":
                return self.linear2(F.silu(self.gate(x)) * h)
            return self.linear2(torch.relu(h) if self.activation == "relu" else gelu(h))


class dropout_not_for_the_gate:
    """The gated branch returns before dropout.

    Named: dropout_not_for_swiglu
    """

    class FeedForward:
        def forward(self, x):
            if self.activation == "swiglu":
                return self.linear2(F.silu(self.gate(x)) * self.linear1(x))
            h = self.linear1(x)
            return self.linear2(self.dropout(F.relu(h) if self.activation == "relu" else gelu(h)))


class dropout_made_and_left:
    """nn.Dropout is made and never called.

    Named: dropout_missing
    """

    class FeedForward:
        def forward(self, x):
            h = self.linear1(x)
            if self.activation == "swiglu":
                h = F.silu(self.gate(x)) * h
            else:
                h = torch.relu(h) if self.activation == "relu" else gelu(h)
            return self.linear2(h)


class dropout_never_ends:
    """F.dropout without self.training.

    Named: dropout_in_eval
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + return self.linear2(F.dropout(h, p=self.dropout))
        """


class dropout_made_in_forward:
    """nn.Dropout is made in forward, so eval() never reaches it.

    Named: dropout_in_eval
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + return self.linear2(nn.Dropout(self.dropout)(h))
        """


class dropout_unscaled:
    """A mask of coins, and nothing is scaled.

    Named: dropout_not_scaled
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.p = dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + if self.training:
            +     h = h.masked_fill(torch.rand_like(h) < self.p, 0.0)
            + return self.linear2(h)
        """


class dropout_of_the_keep_share:
    """Dropout is told what to keep.

    Named: dropout_keeps_p
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.drop = 1 - dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + return self.linear2(F.dropout(h, self.drop, self.training))
        """


class dropout_of_a_tenth:
    """A tenth by default, as in the paper.

    Named: dropout_by_default
    """

    class FeedForward:
        __init__ = """
            - def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
            + def __init__(self, d_model, d_ff, activation="relu", dropout=0.1):
        """


class dropout_fixed:
    """nn.Dropout without its share, so it is a half.

    Named: dropout_fixed
    """

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.dropout = nn.Dropout()
        """


class not_finished:
    """The gated branch is still to be written."""

    class FeedForward:
        def forward(self, x):
            h = self.linear1(x)
            if self.activation == "relu":
                h = F.relu(h)
            elif self.activation == "gelu":
                h = gelu(h)
            else:
                h = ...
            return self.linear2(self.dropout(h))


class attribute_misspelt:
    """Forward says fc2 where the layer is called linear2."""

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + return self.fc2(self.dropout(h))
        """
