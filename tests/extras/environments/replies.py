"""Replies of models to `masks`: the right module, in every form in which models were seen to write one."""

from __future__ import annotations

import textwrap

from tests import ours

solution = ours.katas()["masks"].solution
assert solution is not None
CODE = solution.read_text()
F = "```"
BLOCK = f"{F}python\n{CODE}{F}\n"
USAGE = f"\n\nUSAGE = '''\n{F}python\nprint(causal_mask(3))\n{F}\n\nor\n\n{F}\ncausal_mask(3)\n{F}\n'''\n"
WITH_FENCES = CODE.rstrip() + USAGE
AROUND = f"{F}python\n{WITH_FENCES}{F}\n"
FIRST, SECOND = CODE[: CODE.index("def padding_mask")], CODE[CODE.index("def padding_mask") :]
DRAFT = "def causal_mask(n): return None\n"
OUTPUT = f"{F}\ntensor([[ True, False],\n        [ True,  True]])\n{F}\n"


def indented(text: str, by: str) -> str:
    return textwrap.indent(text, by)


RIGHT = {
    # As public threads have them.
    "plain": BLOCK,
    "no language": f"{F}\n{CODE}{F}\n",
    "python3": f"Here it is.\n\n{F}python3\n{CODE}{F}\n",
    "py3": f"{F}py3\n{CODE}{F}\n",
    "title": f'{F}python title="masks.py"\n{CODE}{F}\n',
    "filename": f"{F}python masks.py\n{CODE}{F}\n",
    "filename after a colon": f"{F}python:masks.py\n{CODE}{F}\n",
    "braces": f"{F}{{python}}\n{CODE}{F}\n",
    "text as the language": f"{F}text\n{CODE}{F}\n",
    "capital": f"{F}Python\n{CODE}{F}\n",
    "four backticks": f"{F}`python\n{CODE}{F}`\n",
    "tildes": f"~~~python\n{CODE}~~~\n",
    "not closed": f"Here it is.\n\n{F}python\n{CODE}",
    "closed alone": f"{CODE}{F}\n",
    "in a list": f"1. The module:\n\n{indented(BLOCK, '   ')}\n2. Done.\n",
    "in a quote": textwrap.indent(BLOCK, "> ", lambda line: True),
    "prose and no fence": f"Here is the module:\n\n{CODE}",
    "bare": CODE,
    "output after it": f"{BLOCK}\nFor T = 2 it prints:\n\n{OUTPUT}",
    "shell after it": f"{BLOCK}\nRun it:\n\n{F}bash\nkata check masks\n{F}\n",
    "text after it": f"{BLOCK}\n{F}text\nmasks.py\n{F}\n",
    "usage after it": f"{BLOCK}\nUsage:\n\n{F}python\nfrom masks import causal_mask\nprint(causal_mask(3))\n{F}\n",
    "thoughts before it": f"<think>\nMaybe\n{F}python\n{DRAFT}{F}\nNo.\n</think>\n\n{BLOCK}",
    "thoughts before it, which began in the prompt": f"Maybe\n{F}python\n{DRAFT}{F}\n</think>\n\n{BLOCK}",
    "thoughts before it, no fence": f"<think>\nMaybe\n{F}python\n{DRAFT}{F}\nNo.\n</think>\n\n{CODE}",
    "line ends of Windows": BLOCK.replace("\n", "\r\n"),
    "words after the end": f"{F}python\n{CODE}{F} This is all.\n",
    "token after the end": f"{F}python\n{CODE}{F}<|im_end|>",
    "token in a line of its own": f"{BLOCK}<|im_end|>\n",
    "answer as XML": f"<answer>\n{CODE}</answer>\n",
    "answer as XML, fenced": f"<answer>{F}python\n{CODE}{F}</answer>\n",
    # Others.
    "in a list in a list": f"- a\n  1. b\n\n{indented(BLOCK, '     ')}\n  2. c\n- d\n",
    "in a list, too far in": f"1. The module:\n\n{indented(BLOCK, ' ' * 9)}\n2. Done.\n",
    "in a list, only the fences": f"- So:\n\n  {F}python\n{CODE}  {F}\n\n- Done.\n",
    "in a list, not even the fences": f"1. So:\n{BLOCK}2. Done.\n",
    "begins with the list's item": f"- {F}python\n{indented(CODE, '  ')}  {F}\n",
    "indented by tabs": indented(BLOCK, "\t"),
    "a list in a quote": textwrap.indent(f"- So:\n\n{indented(BLOCK, '  ')}", "> ", lambda line: True),
    "details": f"<details>\n<summary>The module</summary>\n\n{BLOCK}\n</details>\n",
    "details, no empty line": f"<details><summary>The module</summary>\n{BLOCK}</details>\n",
    "line ends of an old Mac": f"So:\n\n{BLOCK}\nDone.\n".replace("\n", "\r"),
    "byte order mark": f"\ufeff{BLOCK}",
    "token of DeepSeek": f"{F}python\n{CODE}{F}<\uff5cend▁of▁sentence\uff5c>",
    "token after code": f"{CODE.rstrip()}</s>",
    "tokens after a block that is not closed": f"{F}python\n{CODE.rstrip()}<|eot_id|><|end_of_text|>\n",
    "opened twice": f"{F}\n{F}python\n{CODE}{F}\n{F}\n",
    "opened behind words": f"The module: {F}python\n{CODE}{F}\nDone.\n",
    "closed with too many": f"{F}python\n{CODE}{F}``\nDone.\n",
    "closed with too few": f"{F}``python\n{CODE}{F}\nDone.\n",
    "not closed before the next": f"{F}python\n{CODE}\nRun it:\n\n{F}bash\nkata check masks\n{F}\n".replace(
        "\nRun it:\n\n", ""
    ),
    "closed indented": f"{F}python\n{CODE}      {F}\nDone.\n",
    "spaces after the fences": f"{F}python   \n{CODE}{F}   \nDone.\n",
    "a space before the language": f"{F} python\n{CODE}{F}\n",
    "class of Pandoc": f"{F}{{.python .numberLines}}\n{CODE}{F}\n",
    "excerpt after it": f"{BLOCK}\nThe key:\n\n{F}python\ndef causal_mask(n):\n    # as above\n    ...\n{F}\n",
    "dots after it": f"{BLOCK}\n{F}python\ndef causal_mask(seq_len: int) -> Tensor: ...\n{F}\n",
    "a name for itself after it": f"{BLOCK}\n{F}python\ncausal_mask = causal_mask\nassert causal_mask(1).all()\n{F}\n",
    "thoughts named after it": f"{BLOCK}\n{F}python\nprint(causal_mask(3), '</think>', \"</think>\")\n{F}\n",
    "draft before it": f"{F}python\n{DRAFT}{F}\nBetter:\n\n{BLOCK}",
    "stub before it": f"{F}python\n{ours.katas()['masks'].stub.read_text()}\n{F}\nSo:\n\n{BLOCK}",
    "no fence, with prose around": f"Here is the module.\n\n{CODE}\nEach mask is boolean. This is all.\n",
    "heading, table and rule": f"# Masks\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n{BLOCK}\n---\n",
    "tests after it": f"{BLOCK}\n{F}python\nimport masks\n\ndef test_it():\n    assert masks\n{F}\n",
    "shell in the middle of tildes": f"~~~python\n{CODE}~~~\n\n~~~sh\n{F}\n~~~\n",
    "whole code indented in its fence": f"{F}python\n{indented(CODE, '    ')}{F}\n",
}
"""By form, a reply that holds CODE."""
FENCES_INSIDE = {
    "three around three": AROUND,
    "three around three, in a list": f"1. So:\n\n{indented(AROUND, '   ')}\n2. Done.\n",
    "three around three, not closed": f"{F}python\n{WITH_FENCES}",
    "four around three": f"{F}`python\n{WITH_FENCES}{F}`\n",
    "tildes around three": f"~~~python\n{WITH_FENCES}~~~\n",
    "words after the end": f"{F}python\n{WITH_FENCES}{F} is all.\n",
}
"""By form, a reply that holds WITH_FENCES."""
PIECES = {
    "an excerpt between": f"{F}python\n{FIRST}{F}\n{F}py\ndef causal_mask(n):\n    pass\n{F}\n{F}py\n{SECOND}{F}\n",
    "two": f"First\n\n{F}python\n{FIRST}{F}\n\nThen the rest.\n\n{F}python\n{SECOND}{F}\n",
    "imports apart": f"{F}python\n{FIRST[: FIRST.index('def ')]}{F}\n{F}py\n{FIRST[FIRST.index('def ') :]}{F}\n"
    f"{F}python\n{SECOND}{F}\n{OUTPUT}",
    "imports twice": f"{F}python\n{FIRST}{F}\n{F}python\n"
    f"from __future__ import annotations\nimport torch\n{SECOND}{F}\n",
    "one corrected": f"{F}python\n{CODE.replace('key <= query', 'key < query')}{F}\nThe first has to be:\n\n"
    f"{F}python\n{FIRST[FIRST.index('def causal') :]}{F}\n",
}
"""By form, a reply whose blocks are the module together."""
NONE = {
    "cut off while it thought": f"<think>\nMaybe\n{BLOCK}\nbut wait, that is wrong for",
    "nothing": "",
    "prose": "I cannot do that.",
}
"""By form, a reply without an answer."""
LONG = {
    "opened": "```python\n",
    "opened and closed": "```python\n```\n",
    "strings": "```\n'''\n```\n",
    "names": "def causal_mask\n",
    "strings and names": "```python\ndef causal_mask\n'''\n```\n'''\n```\n",
    "quotes": "> ```\n\n",
}
"""What is repeated to a long reply."""
