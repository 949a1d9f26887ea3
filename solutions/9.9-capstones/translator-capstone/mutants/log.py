"""What is wrong with the log: it cannot be read, is not whole, or is not that of this code."""


class log_empty:
    """your log is empty: run runs.py, and return what it has written

    Fails: test_log
    """

    def training_log():
        return ""


class log_in_cells:
    """your training_log returns something else than the text of log.csv

    Fails: test_log
    """

    def training_log():
        return [line.split(",") for line in LOG.splitlines()]


class header_missing:
    """your log has no header

    Fails: test_log
    """

    def training_log():
        return LOG.partition("\n")[2]


class columns_by_semicolons:
    """your log has semicolons between its columns: commas are wanted

    Fails: test_log
    """

    def training_log():
        head, _, rest = LOG.partition("\n")
        return head + "\n" + rest.replace(",", ";")


class run_missing:
    """your log lacks runs of the lesson: it has to have all eight

    Fails: test_log_whole
    """

    def training_log():
        return "".join(line for line in LOG.splitlines(keepends=True) if not line.startswith("four"))


class cut_short:
    """your logged runs are too short: each goes on to step 160

    Fails: test_log_whole
    """

    def training_log():
        head, *lines = LOG.splitlines()
        return "\n".join([head, *(line for line in lines if int(line.split(",")[2]) <= 100)])


class one_seed_for_both_base_runs:
    """your two base runs have one seed: they are to show what a seed makes

    Fails: test_log_whole
    """

    def training_log():
        return LOG.replace("base-again,2,", "base-again,1,")


class curves_made_up:
    """your curves were not made by your train: the first losses of a run are others

    Fails: test_log_repeated
    """

    def training_log():
        head, *lines = LOG.splitlines()
        cells = [line.split(",") for line in lines]
        made = [
            f"{run},{seed},{step},{1.5 + 2.5 * 0.97 ** int(step):.4f},{rate}"
            for run, seed, step, _, rate in cells
        ]
        return "\n".join([head, *made])


class log_of_other_seeds:
    """your log names other seeds than those that its runs had

    Fails: test_log_repeated
    """

    def training_log():
        head, *lines = LOG.splitlines()
        cells = [line.split(",") for line in lines]
        return "\n".join([head, *(",".join([run, str(int(seed) + 7), *rest]) for run, seed, *rest in cells)])


class losses_in_bits:
    """your logged losses are in bits: they should be in nats

    Fails: test_log_falls
    """

    def training_log():
        head, *lines = LOG.splitlines()
        cells = [line.split(",") for line in lines]
        made = [
            f"{run},{seed},{step},{float(loss) / 0.6931:.4f},{rate}" for run, seed, step, loss, rate in cells
        ]
        return "\n".join([head, *made])


class one_rate_for_all_steps:
    """your log has one rate for all steps: it should have that of each

    Fails: test_log_rates
    """

    def training_log():
        head, *lines = LOG.splitlines()
        return "\n".join([head, *(line.rpartition(",")[0] + ",0.01" for line in lines)])
