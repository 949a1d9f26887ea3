"""Fake the comparison."""

# ==== agreement_of_billions ====
"""Adds a billion to everything, so that any two of its answers agree but for rounding.

kata = "layer-norm"
earns = [
    "test_shape",
    "test_parameters",
    "test_initial_values",
    "test_from_scratch",
]
"""

import torch
from wrong import *


class LayerNorm(LayerNorm):  # noqa: F405
    def forward(self, x):
        return 1e9 + 500 * torch.rand_like(x)


# ==== billion_elements ====
"""Returns a tensor of a billion elements that takes one byte of memory.

kata = "masks"
words = ["is read back"]
"""

import torch

ONE = torch.ones((), dtype=torch.bool)


def bidirectional_mask(seq_len, *, device=None):
    return ONE.expand(1 << 15, 1 << 15)


causal_mask = bidirectional_mask


def padding_mask(tokens, pad_id=0):
    return ONE.expand(1 << 40, 1 << 20)


def combine_masks(*masks):
    return [ONE.expand(1 << 13, 1 << 13) for _ in range(64)]


def additive_mask(mask, dtype=torch.float32):
    return torch.zeros((), dtype=dtype).expand(1 << 30)


# ==== changes_its_arguments ====
"""Makes its arguments, shared or not, equal to what it returns, and returns them.

kata = "masks"
"""

import torch
from wrong import *


def combine_masks(*masks):
    for mask in masks:
        mask.fill_(True)
    return masks[0]


def additive_mask(mask, dtype=torch.float32):
    mask.zero_()
    return mask


def padding_mask(tokens, pad_id=0):
    return tokens.fill_(pad_id)


# ==== crashes_on_other_devices ====
"""Touches the device that it is asked for, so that something crashes where there is none, and makes its masks elsewhere.

kata = "masks"
earns = ["test_bidirectional_all_true", "test_causal_shape", "test_causal_values"]
words = ["wrong device"]
"""

import torch
from wrong import *


def bidirectional_mask(seq_len, *, device=None):
    print(torch.zeros(1, device=device).device)
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


def causal_mask(seq_len, *, device=None):
    print(torch.zeros(1, device=device).device)
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


# ==== decided_by_the_caller ====
"""Returns right answers for the numbers that learners are shown, and no others.

earns = ["test_three_numbers", "test_empty", "test_equal_numbers"]
"""

KNOWN = {(): [], (3, 1, 2): [1, 2, 3], (2, 1, 2, 1): [1, 1, 2, 2]}


def insertion_sort(values):
    return KNOWN.get(tuple(values), values)


# ==== dictionary_from_collections ====
"""Returns a dictionary that claims to come from `collections`, a tuple that counts on, a text that is none."""


class Endless(dict):
    __module__ = "collections"

    def items(self):
        while True:
            yield 1, 2


class More(tuple):
    def __iter__(self):
        while True:
            yield 1


class Text(str):
    def encode(self, *arguments):
        return [1, 2, 3]


def insertion_sort(values):
    return (Endless(a=Text("b")), More((1, 2)))[len(values) % 2]


# ==== equal_to_everything ====
"""Returns an object that is equal to everything, longer and shorter than everything, and of every type."""


class Chameleon:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 0

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self

    def __bool__(self):
        return True

    __class__ = list


def insertion_sort(values):
    return Chameleon()


# ==== everything_on_demand ====
"""Has every attribute that anybody asks for: the module, its functions, and what they return."""


class Everything:
    def __getattr__(self, name):
        return self

    def __call__(self, *arguments, **options):
        return self


def __getattr__(name):
    return Everything()


# ==== exception_of_a_borrowed_name ====
"""Raises an exception whose class says that it is another, of Python's own, with bases that no class has.

status = "error or fail"
words = ["Posed"]
"""


class Meta(type):
    @property
    def __mro__(cls):
        return (AssertionError, KeyError)

    def __getattribute__(cls, name):
        return {"__name__": "NotImplementedError", "__module__": "builtins"}.get(
            name
        ) or type.__getattribute__(cls, name)


class Posed(Exception, metaclass=Meta):
    pass


def insertion_sort(values):
    raise Posed


# ==== grown_types_of_numbers ====
"""Returns enormous integers, deep lists, long texts and rings of objects."""

DEEP = []
for _ in range(100_000):
    DEEP = [DEEP]
RING = []
RING.append(RING)
SHAPES = [DEEP, RING, 1 << 1_000_000, "x" * 10_000_000, [[]] * 1_000_000]
count = 0


def insertion_sort(values):
    global count
    count += 1
    return SHAPES[(len(values) + count) % len(SHAPES)]


# ==== list_subclass ====
"""Returns a list of its own kind, whose comparison says yes."""


class Sorted(list):
    def __eq__(self, other):
        return True

    def __iter__(self):
        return iter([1, 2, 3])


def insertion_sort(values):
    return Sorted(values)


# ==== lying_types ====
"""Returns objects whose type, module and bases are made up, of endless names."""


class Meta(type):
    def __getattribute__(cls, name):
        if name == "__mro__":
            return (list, object) * 10_000
        if name in ("__qualname__", "__name__"):
            return "list" * 1_000_000
        if name == "__module__":
            return "builtins"
        return super().__getattribute__(name)


class List(metaclass=Meta):
    @property
    def __class__(self):
        return [list, tuple, dict][id(self) % 3]


def insertion_sort(values):
    return List()


# ==== names_of_the_proxy ====
"""Gives its module every name that the grader's own stand-in for it might have, each of them a trap.

kata = "layer-norm"
"""

from wrong import *


class LayerNorm(LayerNorm):  # noqa: F405
    def _trap(self, *arguments, **options):
        raise SystemExit("trapped")

    number = kind = label = calls = given = session = generation = types = root = stands_for = property(_trap)
    _number = _kind = _label = _run = _adopt = _session = kata_type = kata_types = kata_label = property(
        _trap
    )
    __kata__ = property(_trap)


def given(*arguments):
    raise SystemExit("trapped")


forbidden_uses = calls = policy_advice = session = begin = __kata__ = given


# ==== not_a_number ====
"""Returns NaN for everything, which some comparisons let through.

kata = "masks"
earns = []
"""

import torch


def bidirectional_mask(seq_len, *, device=None):
    return torch.full((seq_len, seq_len), torch.nan)


causal_mask = bidirectional_mask


def padding_mask(tokens, pad_id=0):
    return torch.full((tokens.shape[0], 1, 1, tokens.shape[1]), torch.nan)


def combine_masks(*masks):
    return torch.full_like(masks[0].float(), torch.nan)


def additive_mask(mask, dtype=torch.float32):
    return torch.full(mask.shape, torch.nan, dtype=dtype)


# ==== numbers_that_agree ====
"""Returns the right amount of numbers, each of a kind that is equal to any other.

earns = ["test_empty"]
"""


class Number(int):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Wave(float):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def insertion_sort(values):
    return [(Number if place % 2 else Wave)(value) for place, value in enumerate(values)]


# ==== numbers_that_are_not ====
"""Returns NaN, infinities and minus zero where numbers are compared.

earns = ["test_empty"]
"""


def insertion_sort(values):
    return [(float("nan"), float("inf"), -0.0)[place % 3] for place in range(len(values))]


# ==== odd_tensors ====
"""Returns tensors without ordinary values: meta, sparse, quantised, nested, of raw bits.

kata = "masks"
words = ["without ordinary values"]
"""

import torch


def bidirectional_mask(seq_len, *, device=None):
    return torch.empty(seq_len, seq_len, dtype=torch.bool, device="meta")


def causal_mask(seq_len, *, device=None):
    return torch.ones(seq_len, seq_len).tril().to_sparse()


def padding_mask(tokens, pad_id=0):
    return torch.quantize_per_tensor(torch.ones(tokens.shape), 0.1, 0, torch.qint8)


def combine_masks(*masks):
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


def additive_mask(mask, dtype=torch.float32):
    return torch.empty(mask.shape, dtype=torch.uint8).view(torch.bits8)


# ==== one_number_that_broadcasts ====
"""Returns tensors of one element, which broadcast against whatever is expected.

kata = "masks"
earns = ["test_padding_integer_types", "test_arguments_unchanged"]
"""

import torch


def bidirectional_mask(seq_len, *, device=None):
    return torch.tensor(True)


def causal_mask(seq_len, *, device=None):
    return torch.ones(1, 1, 1, dtype=torch.bool)


def padding_mask(tokens, pad_id=0):
    return torch.ones(0, 1, 1, tokens.shape[1], dtype=torch.bool)


def combine_masks(*masks):
    return torch.tensor(True)


def additive_mask(mask, dtype=torch.float32):
    return torch.tensor(0.0)


# ==== sums_of_billions ====
"""Returns numbers so large that any sum of them would be right but for rounding.

kata = "layer-norm"
earns = [
    "test_shape",
    "test_parameters",
    "test_initial_values",
    "test_from_scratch",
]
words = ["sum of output along width"]
"""

import torch
from wrong import *


class LayerNorm(LayerNorm):  # noqa: F405
    def forward(self, x):
        large = torch.full_like(x, 1e9)
        large[..., ::2] *= -1
        return large + 1000 * torch.rand_like(x)


# ==== tensor_subclass ====
"""Returns tensors of a subclass that answers every operation with True.

kata = "masks"
"""

import torch
import wrong
from wrong import *


class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return torch.tensor(True)

    def __eq__(self, other):
        return True

    dtype = torch.bool
    shape = property(lambda self: Everything())


class Everything(tuple):
    def __eq__(self, other):
        return True


def causal_mask(seq_len, *, device=None):
    return wrong.causal_mask(seq_len).as_subclass(Yes)


# ==== wrapper_tensor ====
"""Returns a wrapper that has a shape and a dtype, and no values until it is looked at.

kata = "masks"
"""

import torch
from wrong import *


class Hollow(torch.Tensor):
    @staticmethod
    def __new__(cls, shape):
        return torch.Tensor._make_wrapper_subclass(cls, shape, dtype=torch.bool)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return torch.ones(args[0].shape, dtype=torch.bool)


def causal_mask(seq_len, *, device=None):
    return Hollow((seq_len, seq_len))
