"""What a speed check times, as its author states it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from grader.errors import PackError

if TYPE_CHECKING:
    from grader.catalogue import Kata
    from grader.catalogue.file_types import Threshold
    from grader.engine.checks.draw import Draw


@dataclass(frozen=True, kw_only=True)
class Work:
    """One piece of work, done by a submission and by the baseline alike, at several sizes."""

    inputs: Callable[[Draw, int], tuple[Any, ...]]
    """Draws the arguments of one call at a size; asked anew for every call."""
    call: Callable[..., Any]
    """`call(prepared, *inputs)`: what is timed. It may make several calls, each of which waits for the one before."""
    right: Callable[..., None]
    """`right(result, *inputs)`: fails when the result is wrong. It may ask for `prepared` by that name, too:
    what `prepare` made in another process of the submission, which has seen nothing of what was timed."""
    sizes: Mapping[str, tuple[int, ...]]
    """By kind of device, `cuda` for all accelerators that are not named; ascending, the last counts, all are drawn."""
    axis: str = "size"
    """What a size is, for people."""
    prepare: Callable[[Any, int], Any] | None = None
    """`prepare(kata, size)`, once per process and size, not timed; without it calls get the kata's module."""
    begin: Callable[..., Any] | None = None
    """`begin(prepared, *inputs)`, before every call, not timed; what it returns is what `call` gets for `prepared`."""
    flops: Callable[[int], float] | None = None
    """Floating-point operations that no answer can do without."""
    traffic: Callable[[int], float] | None = None
    """Bytes that every answer must read and write."""

    def sizes_on(self, kind: str) -> tuple[int, ...]:
        """Return the sizes for a kind of device: those of a GPU for every accelerator that has none of its own.

        Raises:
            PackError: there are none, or they do not ascend.
        """
        sizes = tuple(self.sizes.get(kind) or (self.sizes.get("cuda", ()) if kind != "cpu" else ()))
        if not sizes or list(sizes) != sorted(set(sizes)):
            raise PackError(
                f"the sizes of a speed check on {kind} are {sizes}: there must be some, in ascending order"
            )
        return sizes

    def begun(self, prepared: Any, inputs: tuple[Any, ...]) -> Any:
        """Return what `call` gets for `prepared`: what `begin` makes of it for these inputs, where there is one."""
        return prepared if self.begin is None else self.begin(prepared, *inputs)

    def verify(self, result: Any, inputs: tuple[Any, ...], prepared: Any) -> None:
        """Let the author's `right` look at a result."""
        __tracebackhide__ = True
        if self.asks_afterwards:
            self.right(result, *inputs, prepared=prepared)
        else:
            self.right(result, *inputs)

    @cached_property
    def asks_afterwards(self) -> bool:
        """Whether `right` may make calls of its own."""
        return "prepared" in inspect.signature(self.right).parameters


@dataclass(frozen=True)
class PerfRequest:
    """One speed check: which form it asks for, and of which work."""

    kata: Kata
    check: str
    """The check's function."""
    title: str
    name: str
    """The threshold's, as kata.toml has it."""
    form: str
    work: Work

    @property
    def threshold(self) -> Threshold:
        """What kata.toml says of it."""
        return self.kata.speed[self.name]
