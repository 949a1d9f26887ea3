"""What `causal_mask` and `bidirectional_mask` get wrong.

Row i is query i, column j is key j, and True means "may look". So the causal mask is a lower triangle with its
diagonal: read its first row aloud, "the first query sees the first key alone", and most of these are heard.
"""


@mistake(
    "causal-sees-all",
    "your causal mask is the bidirectional one, so it hides nothing; it should hide the keys after each query",
)
def causal_mask(seq_len, *, device=None):
    return bidirectional_mask(seq_len, device=device)


mistake(
    "causal-transposed",
    "your causal mask is transposed, so each query sees the keys after it; it should see itself and the keys before it",
    causal_mask="key <= query -> query <= key",
)


@mistake(
    "causal-inverted",
    "your causal mask says True where attention is forbidden; True should mean that the query may look",
)
def causal_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).triu(diagonal=1)


mistake(
    "causal-shifted-late",
    "your causal mask also allows the key after the query; a query should see only itself and the keys before it",
    causal_mask="key <= query -> key <= query + 1",
)

mistake(
    "causal-shifted-early",
    "your causal mask ends one key too early, before the query itself; each query should see itself as well",
    causal_mask="key <= query -> key < query",
)


@mistake("causal-float", "your causal mask holds floats; it should hold True and False instead of 1.0 and 0.0")
def causal_mask(seq_len, *, device=None):
    return torch.tril(torch.ones(seq_len, seq_len, device=device))


@mistake("bidirectional-float", "your bidirectional mask holds floats; it should hold True instead of 1.0")
def bidirectional_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len, device=device)


mistake(
    "device-ignored",
    "your square masks ignore their device, so on a GPU they would stay on the CPU; make them on that device",
)


def bidirectional_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


def causal_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


mistake(
    "device-keyword-missing",
    "your square masks have no device argument; add one to both, and make the masks on that device",
)


def bidirectional_mask(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


def causal_mask(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


@mistake("causal-int", "your causal mask holds integers; it should hold True and False instead of 1 and 0")
def causal_mask(seq_len, *, device=None):
    return torch.tril(torch.ones(seq_len, seq_len, dtype=torch.long, device=device))


@mistake("causal-bytes", "your causal mask holds bytes; it should hold True and False instead of 1 and 0")
def causal_mask(seq_len, *, device=None):
    return torch.tril(torch.ones(seq_len, seq_len, dtype=torch.uint8, device=device))


@mistake(
    "causal-additive",
    "your causal mask holds 0 and -inf, to be added to scores; it should be boolean here, additive_mask comes last",
)
def causal_mask(seq_len, *, device=None):
    return torch.full((seq_len, seq_len), float("-inf"), device=device).triu(diagonal=1)


mistake(
    "causal-three-axes",
    "your causal mask is [1, T, T]; leave out the batch axis, as it broadcasts without one",
    causal_mask="key <= query -> (key <= query)[None]",
)

mistake(
    "causal-four-axes",
    "your causal mask is [1, 1, T, T]; leave out the axes for batch and heads, as it broadcasts without them",
    causal_mask="key <= query -> (key <= query)[None, None]",
)

mistake(
    "causal-device-ignored",
    "your causal mask ignores its device, so on a GPU it would stay on the CPU; make it on that device",
    causal_mask="seq_len, device=device -> seq_len",
)


@mistake(
    "bidirectional-inverted",
    "your bidirectional mask is False everywhere; True should mean that the query may look",
)
def bidirectional_mask(seq_len, *, device=None):
    return torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)


mistake(
    "true-blocks",
    "your masks are True where attention is forbidden, as torch's own modules have it; True should mean “may look”",
    bidirectional_mask="torch.ones -> torch.zeros",
    causal_mask="key <= query -> key > query",
    padding_mask="tokens != pad_id -> tokens == pad_id",
    combine_masks="allowed & mask -> allowed | mask",
    additive_mask="~mask -> mask",
    convention="torch's modules and 11-785 block where True is",
    costs="every mask is turned round",
)

mistake(
    "true-blocks-where-made",
    "your causal and padding masks are True where attention is forbidden; True should mean “may look”",
    causal_mask="key <= query -> key > query",
    padding_mask="tokens != pad_id -> tokens == pad_id",
    convention="torch's modules and 11-785 block where True is",
)


@mistake(
    "bidirectional-one-row",
    "your bidirectional mask is a single row; each query should have one of its own, [T, T]",
)
def bidirectional_mask(seq_len, *, device=None):
    return torch.ones(seq_len, dtype=torch.bool, device=device)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
