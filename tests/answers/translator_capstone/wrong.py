"""Translators as other people get them wrong."""


class padding_masked_for_queries:
    """The mask has its axes the wrong way round: rows of padding are hidden, not its columns.

    Named: source_padding_seen_by_the_encoder
    """

    class TranslationModel:
        forward = """
            - memory = layer(memory, real)
            + memory = layer(memory, real.transpose(2, 3) | torch.ones_like(real))
        """


class warmup_overshoots:
    """The rate goes on rising after the warm-up.

    Named: no_warmup, rate_rises_on
    """

    def rate_at(step, steps, warmup):
        return step / warmup if warmup else 1.0


class log_of_one_run:
    """The log has the base run alone.

    Named: run_missing
    """

    def training_log():
        return "\n".join(line for line in LOG.splitlines() if line.startswith(("run,", "base,")))
