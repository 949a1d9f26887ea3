"""Language models as other people get them wrong."""


class first_norm_of_the_paper:
    """Whoever knows the paper of 2017 alone writes norm last, always.

    Named: always_norm_last
    """

    class Layer:
        def forward(self, x):
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.think(x))


class decay_alone:
    """The rate falls from the start, and nothing warms up.

    Named: no_warmup
    """

    def rate_at(step, steps, warmup):
        return 1 - (step - 1) / (steps + 1)


class log_of_one_run:
    """The log has the base run alone.

    Named: run_missing
    """

    def training_log():
        return "\n".join(line for line in LOG.splitlines() if line.startswith(("run,", "base,")))
