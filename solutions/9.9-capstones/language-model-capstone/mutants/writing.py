"""What generation gets wrong: the text, the window, the temperature, and the model's mode."""

mistake(
    "prompt-dropped",
    "your generate returns only the new tokens; it should return those given before them",
    generate=[
        "training = model.training -> training, given = model.training, tokens.size(1)",
        "return tokens -> return tokens[:, given:]",
    ],
)

mistake(
    "whole-text-read",
    "your generate gives the model the whole text, beyond max_len; it should give only the last max_len tokens",
    generate="tokens[:, -model.max_len :] -> tokens",
)

mistake(
    "first-tokens-read",
    "your model reads the first max_len tokens; it should read the last ones",
    generate="-model.max_len : -> : model.max_len",
)

mistake(
    "window-too-short",
    "your generate gives the model too few tokens; it should give the last max_len, or all while there are fewer",
    generate="model.max_len -> (model.max_len + 1) // 2",
)

mistake(
    "scores-of-the-first-position",
    "your next token is chosen by the scores of the first position; take those of the last",
    generate="model(tokens[:, -model.max_len :])[:, -1] -> model(tokens[:, -model.max_len :])[:, 0]",
)

mistake(
    "temperature-ignored",
    "your temperature does nothing above 0; the logits should be divided by it before the softmax",
    generate="(logits / temperature).softmax(dim=-1) -> logits.softmax(dim=-1)",
)

mistake(
    "temperature-multiplied",
    "your logits are multiplied by the temperature; divide them by it",
    generate="logits / temperature -> logits * temperature",
)

mistake(
    "always-the-best",
    "your generate takes the best token at every temperature; above 0 it should draw",
    generate="temperature == 0 -> temperature >= 0",
)

mistake(
    "one-draw-for-a-batch",
    "your rows share one draw; each row should draw by itself",
    generate="""
        - chosen = torch.multinomial(shares, 1, generator=generator)
        + chosen = torch.multinomial(shares.mean(dim=0), 1, generator=generator).expand(len(shares), 1)
    """,
)

mistake(
    "generator-ignored",
    "your generate draws from torch's own generator though one is given; it should draw from the one given",
    generate="1, generator=generator -> 1",
)

mistake(
    "left-in-eval-mode",
    "your generate leaves the model in eval mode; it should restore the mode from before",
    generate="model.train(training) -> model.eval()",
)

mistake(
    "written-in-train-mode",
    "your generate writes in train mode when the model comes so, so dropout acts; switch to eval mode",
    generate="- model.eval()",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
