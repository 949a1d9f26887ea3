"""What translation gets wrong: its first word, its ends, and the model's mode."""

mistake(
    "bos-returned",
    "your translations begin with BOS; leave it out",
    translate="written[:, 1:] -> written",
)

mistake(
    "end-ignored",
    "your translations go on after EOS; they should have pad_id there",
    translate="- ended |= word == EOS",
)

mistake(
    "stops-at-the-first-end",
    "your search stops for all sentences as soon as one has ended; it should stop when all have ended",
    translate="bool(ended.all()) -> bool(ended.any())",
)

mistake(
    "padded-with-0",
    "your translations are always padded with 0; they should be padded with model.pad_id",
    translate="model.pad_id -> 0",
)

mistake(
    "padded-with-another-token",
    "your translations go on with another token than pad_id after EOS; they should have only pad_id there",
    translate="model.pad_id -> BOS",
)

mistake(
    "one-word-too-many",
    "your translations may have one word more than max_len; they should have max_len at most",
    translate="range(max_len) -> range(max_len + 1)",
)

mistake(
    "left-in-eval-mode",
    "your translate leaves the model in eval mode; it should restore the mode that the model had",
    translate="model.train(training) -> model.eval()",
)

mistake(
    "written-in-train-mode",
    "your translate writes in train mode when the model comes so, so dropout acts; switch to eval mode",
    translate="- model.eval()",
)

mistake(
    "worst-word",
    "your translate chooses the word with the lowest score; it should choose the one with the highest",
    translate="argmax -> argmin",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
