"""What each lesson has next to its text: minutes of each part, a first step, experiments, its demo named in place."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
import torch

from grader.catalogue import Kata
from tests.conftest import Run
from tests.ours import ROOT, demos, katas

KATAS = katas()
DIFFICULTIES = ("easy", "medium", "hard")

# What is written in place of the stub's `raise` where the lesson says so.
STEPS = {
    "tensors": {"outer_compare": "return a[:, None] <= b"},
    "self-attention": {
        "SelfAttention.__init__": "self.w_q, self.w_k, self.w_v = "
        "(nn.Linear(d_model, d_k, bias=False) for _ in range(3))"
    },
    "positional-encoding": {
        "LearnedPositionalEncoding.__init__": "self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)"
    },
    "rotary-positions": {"alibi_slopes": "return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)"},
    "masks": {"bidirectional_mask": "return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)"},
    "masked-attention": {
        "MultiHeadAttention.__init__": "self.w_q, self.w_k, self.w_v, self.w_o = "
        "(nn.Linear(d_model, d_model, bias=bias) for _ in range(4))"
    },
    "layer-norm": {
        "LayerNorm.__init__": "self.weight, self.bias = (nn.Parameter(f(d_model)) for f in (torch.ones, torch.zeros))"
    },
    "feed-forward": {"gelu": "return x * (1 + torch.erf(x / 2**0.5)) / 2"},
    "encoder-layer": {
        "EncoderLayer.__init__": "self.attention = MultiHeadAttention(d_model, num_heads); "
        "self.feed_forward = FeedForward(d_model, d_ff); "
        "self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)"
    },
    "classifier": {"pool": "return hidden[:, 0]"},
    "decoder-lm": {
        "next_token_loss": "return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())"
    },
    "decoder-layer": {
        "DecoderLayer.__init__": "self.self_attention, self.cross_attention = "
        "(MultiHeadAttention(d_model, num_heads) for _ in range(2)); self.feed_forward = FeedForward(d_model, d_ff); "
        "self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model) for _ in range(3))"
    },
    "translator": {
        "smoothed_loss": "return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())"
    },
    "byte-pairs": {
        "Tokenizer": "self.merges = merges",
        "Tokenizer.encode": "return list(text.encode())",
    },
    "optimizer": {"warmup_cosine": "return peak * step / warmup"},
    "accounting": {"mfu": "return flops / seconds / peak"},
    "loss-and-loop": {"log_softmax": "return x - x.exp().sum(dim, keepdim=True).log()"},
    "sampling": {
        "min_p": "return logits.masked_fill("
        "logits.softmax(-1) < p * logits.softmax(-1).amax(-1, keepdim=True), -torch.inf)"
    },
    "masked-lm": {
        "hide": "chosen = torch.rand(tokens.shape, generator=generator) < rate; "
        "return torch.where(chosen, mask_id, tokens), torch.where(chosen, tokens, -100)"
    },
    "transfer": {"freeze": "module.requires_grad_(False)"},
    "lora": {
        "LoRALinear.__init__": "self.base = base.requires_grad_(False); W = base.weight; "
        "self.A = nn.Parameter(torch.randn(r, base.in_features).to(W) / base.in_features**0.5); "
        "self.B = nn.Parameter(W.new_zeros(base.out_features, r))",
        "LoRALinear.forward": "return self.base(x)",
    },
    "preferences": {
        "sft_loss": "return torch.nn.functional.cross_entropy("
        "logits[:, prompt_length - 1 : -1].flatten(0, 1), tokens[:, prompt_length:].flatten())"
    },
    "look-inside": {"attention_entropy": "return -(weights * weights.log()).sum(-1)"},
    "modern-block": {"RMSNorm.__init__": "self.weight = nn.Parameter(torch.ones(d_model))"},
    "long-attention": {
        "linear_attention": "f = lambda x: nn.functional.elu(x) + 1; "
        "return f(query) @ (f(key).transpose(-2, -1) @ value)"
    },
    "patches": {
        "patchify": "if images.shape[2] % size or images.shape[3] % size: raise ValueError('not a multiple')"
    },
    "mixture-of-experts": {
        "route": "logits, order = logits.sort(dim=-1, descending=True, stable=True); "
        "return logits[..., :k].softmax(-1), order[..., :k]"
    },
    "tiled-attention": {
        "tiled_attention": "scores = query @ key.mT / query.shape[-1] ** 0.5; "
        "return scores.softmax(-1) @ value, scores.logsumexp(-1)"
    },
    "language-model-capstone": {
        "LanguageModel.__init__": "self.max_len = max_len; self.tokens = nn.Embedding(vocab_size, d_model); "
        "self.head = nn.Linear(d_model, vocab_size)",
        "LanguageModel.forward": "return self.head(self.tokens(tokens))",
    },
    "translator-capstone": {
        "TranslationModel.__init__": "self.pad_id = pad_id; self.words = nn.Embedding(target_vocab, d_model); "
        "self.head = nn.Linear(d_model, target_vocab)",
        "TranslationModel.forward": "return self.head(self.words(target))",
    },
}


def lesson(slug: str) -> str:
    return (KATAS[slug].folder / "README.md").read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## (?!#)[A-Z]|\Z)", text, re.M | re.S)
    assert found, f"the lesson has no section “{title}”"
    return found[1]


def step_of(slug: str) -> str:
    """Return the command of a lesson's first step."""
    (command,) = re.findall(r"```sh\n(.+)\n```", section(lesson(slug), "First step"))
    return str(command)


def experiments_of(slug: str) -> list[tuple[str, str]]:
    """Return what each experiment asks, and its lines."""
    found = re.findall(
        r"^\d\. (.+?)\n\n   ```python\n(.*?)\n   ```$", section(lesson(slug), "Go further"), re.M | re.S
    )
    return [(" ".join(words.split()), re.sub(r"^   ", "", lines, flags=re.M)) for words, lines in found]


@pytest.mark.parametrize("slug", KATAS)
def test_the_minutes_of_the_parts_are_those_of_the_kata(slug: str) -> None:
    kata = KATAS[slug]
    rows = re.findall(r"^\| (.+?) \| (\d+) \| (\w*) ?\|$", section(lesson(slug), "What you write"), re.M)
    assert sum(int(minutes) for _, minutes, _ in rows) == kata.minutes
    named = {name.split(".")[0] for part, *_ in rows for name in re.findall(r"`([\w.]+)`", part)}
    assert set(kata.required) <= named
    difficulties = [DIFFICULTIES.index(difficulty) for *_, difficulty in rows if difficulty]
    assert DIFFICULTIES[max(difficulties)] == kata.difficulty, "that of the hardest part"
    assert len(difficulties) == len(rows) - 1, "the first row is the lesson itself"


@pytest.mark.parametrize("slug", KATAS)
def test_a_lesson_has_three_experiments_of_a_few_lines_and_a_question_each(slug: str) -> None:
    found = experiments_of(slug)
    assert len(found) == 3
    for words, lines in found:
        assert "?" in words, words
        assert len(lines.splitlines()) <= 5, words
    assert f"`from {KATAS[slug].module} import *`" in section(lesson(slug), "Go further")


@pytest.mark.parametrize("slug", KATAS)
def test_demo_and_run_are_named_where_they_answer_the_text(slug: str) -> None:
    text = lesson(slug).partition("\n## Words of the field\n")[0]
    for command, path in (("demo", KATAS[slug].demo), ("run", KATAS[slug].real)):
        assert (f"`kata {command} {slug}`" in text) == path.is_file(), command


def test_units_name_their_demos() -> None:
    units = {kata.unit.slug: kata.unit for kata in KATAS.values()}
    for unit in units.values():
        if (unit.folder / "demo.py").is_file():
            assert f"`kata demo {unit.number}`" in (unit.folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", demos())
def test_a_demo_ends_with_a_question(name: str) -> None:
    source = demos()[name].read_text(encoding="utf-8")
    assert re.search(r"_question\(\),?\s*\]", source)


@pytest.mark.parametrize("slug", KATAS)
def test_the_stub_names_the_first_step_of_the_lesson(slug: str) -> None:
    stub = (KATAS[slug].folder / f"{KATAS[slug].module}.py").read_text(encoding="utf-8")
    assert f"`{step_of(slug)}`" in stub
    assert all(f'NotImplementedError("{name}")' in stub for name in STEPS[slug])
    assert f"`{next(iter(STEPS[slug])).removesuffix('.__init__')}" in section(lesson(slug), "First step")


@pytest.mark.slow
@pytest.mark.parametrize("slug", KATAS)
def test_the_first_step_is_shown_right(slug: str, kata: Run, folder: Path) -> None:
    kata("start", slug).done()
    (file,) = folder.rglob(f"{KATAS[slug].module}.py")
    text = file.read_text(encoding="utf-8")
    for name, line in STEPS[slug].items():
        found = re.search(rf'^( *)raise NotImplementedError\("{re.escape(name)}"\)$', text, re.M)
        assert found
        rest = f"\n{found[0]}" if line.startswith("if ") else ""
        text = f"{text[: found.start()]}{found[1]}{line}{rest}{text[found.end() :]}"
    file.write_text(text, encoding="utf-8")
    program, *arguments = shlex.split(step_of(slug))
    assert program == "kata"
    ran = kata(*arguments).done()
    assert re.search(r"this 1 of \d+ holds|these 2 of \d+ hold", ran.out)


@pytest.mark.slow
@pytest.mark.parametrize("slug", KATAS)
def test_experiments_run_and_print_something(
    slug: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kata = KATAS[slug]
    for path in (
        *(file.parent for file in kata.given),
        *places(kata),
    ):  # the solution's folder comes to lie in front
        monkeypatch.syspath_prepend(path)
    monkeypatch.delitem(sys.modules, kata.module, raising=False)  # another test may have read the stub
    before = {*sys.modules}
    try:
        for words, lines in experiments_of(slug):
            torch.manual_seed(0)
            exec(f"import torch\nfrom {kata.module} import *\n{lines}", {})
            assert capsys.readouterr().out, words
    finally:
        # Several katas have a module `blocks`, and each of them its own.
        for name in {*sys.modules} - before:
            if any(str(file.parent) in str(getattr(sys.modules[name], "__file__", "")) for file in own(kata)):
                del sys.modules[name]


def places(kata: Kata) -> list[Path]:
    return [kata.folder, ROOT / "solutions" / kata.folder.relative_to(ROOT / "katas")]


def own(kata: Kata) -> list[Path]:
    return [*kata.given, *(place / "x" for place in places(kata))]
