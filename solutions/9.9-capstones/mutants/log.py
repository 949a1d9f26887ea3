"""What is wrong with the log: it cannot be read, is not whole, or is not that of this code."""


@mistake("log-empty", "your log is empty; run runs.py, and return the text that it has written")
def training_log():
    return ""


@mistake("log-in-cells", "your training_log returns something else than the text of log.csv")
def training_log():
    return [line.split(",") for line in LOG.splitlines()]


@mistake("header-missing", "your log has no header")
def training_log():
    return LOG.partition("\n")[2]


@mistake("columns-by-semicolons", "your log has semicolons between its columns; it should have commas")
def training_log():
    head, _, rest = LOG.partition("\n")
    return head + "\n" + rest.replace(",", ";")


@mistake("run-missing", "your log lacks runs of the lesson; it should have all ten")
def training_log():
    return "".join(line for line in LOG.splitlines(keepends=True) if not line.startswith("four"))


@mistake(
    "one-seed-for-two-base-runs",
    "your two base runs have one seed, so they show nothing of what chance does; each should have its own",
)
def training_log():
    return LOG.replace("base-2,2,", "base-2,1,")


@mistake("curves-made-up", "your curves were not made by your train, whose first losses are different")
def training_log():
    head, *lines = LOG.splitlines()
    cells = [line.split(",") for line in lines]
    made = [
        f"{run},{seed},{step},{1.5 + 2.5 * 0.97 ** int(step):.4f},{rate}"
        for run, seed, step, _, rate in cells
    ]
    return "\n".join([head, *made])


@mistake("log-of-other-seeds", "your log names other seeds than those that its runs had")
def training_log():
    head, *lines = LOG.splitlines()
    cells = [line.split(",") for line in lines]
    return "\n".join([head, *(",".join([run, str(int(seed) + 7), *rest]) for run, seed, *rest in cells)])


@mistake("losses-in-bits", "your logged losses are in bits; they should be in nats")
def training_log():
    head, *lines = LOG.splitlines()
    cells = [line.split(",") for line in lines]
    made = [f"{run},{seed},{step},{float(loss) / 0.6931:.4f},{rate}" for run, seed, step, loss, rate in cells]
    return "\n".join([head, *made])


@mistake("one-rate-for-all-steps", "your log has one rate for all steps; it should have that of each")
def training_log():
    head, *lines = LOG.splitlines()
    return "\n".join([head, *(line.rpartition(",")[0] + ",0.01" for line in lines)])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
