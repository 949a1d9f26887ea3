"""What the checks bring into the worker: small models, a loss, and runs of training that are saved and loaded.

Nothing in here compares or judges; it shares its process with the submission.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

KINDS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.05),
    "SGD with momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.2, momentum=0.8),
}
DISK = 400
"""Bytes that a file may have on a disk that is full."""


class Model(nn.Module):
    """A table of words and a layer; in a run also a running mean, which is a buffer.

    Args:
        table, layer: [V, D] and [D, V], what the parameters begin with.
        note: gets "forward" and "backward" when such a pass begins.
        fails_at: the forward pass that raises.
    """

    def __init__(self, table: Tensor, layer: Tensor, note: Callable[[str], Any] = str, fails_at: int = 0,
                 running: bool = False) -> None:  # fmt: skip
        super().__init__()
        self.table = nn.Parameter(table.detach().clone())
        self.layer = nn.Parameter(layer.detach().clone())
        if running:
            self.register_buffer("mean", table.detach().new_zeros(table.shape[1]))
        self.note, self.fails_at, self.running, self.passes = note, fails_at, running, 0

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of the next word."""
        self.passes += 1
        self.note("forward")
        if self.passes == self.fails_at:
            raise RuntimeError("this model raises")
        hidden = self.table[x]
        if self.running:
            self.mean.mul_(0.5).add_(hidden.detach().flatten(0, -2).mean(0), alpha=0.5)
            hidden = hidden - self.mean
        logits = hidden @ self.layer
        if logits.requires_grad:
            logits.register_hook(lambda gradient: [self.note("backward")] and gradient)
        return logits

    def begin_with(self, gradients: Sequence[Tensor]) -> None:
        """Put gradients where a backward pass adds its own."""
        for parameter, gradient in zip(self.parameters(), gradients, strict=True):
            parameter.grad = gradient.detach().clone()

    def gradients(self) -> list[Tensor]:
        """Return the gradients, zeros where there is none."""
        return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in self.parameters()]


def mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Return torch's mean over the targets that are not -100: NaN where there is none."""
    return nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten())


class Run:
    """A run of training, whose rate falls at each step, and the file that it is saved in.

    Args:
        save, load: the learner's.
        table, layer: what the model begins with.
        kind: of optimizer.
        seed: of the generator that draws the batches.
        groups: how many groups of parameters there are.
        rename: whether the layer has another name.
    """

    def __init__(self, save: Any, load: Any, table: Tensor, layer: Tensor, kind: str = "AdamW", seed: int = 0,
                 groups: int = 1, rename: bool = False) -> None:  # fmt: skip
        self._save, self._load, self.words = save, load, len(table)
        self.model = Model(table, layer, running=True)
        if rename:
            self.model.other = nn.Parameter(torch.ones(2, device=table.device))
        own = [*self.model.parameters()]
        self.optimizer = KINDS[kind](own if groups == 1 else [{"params": own[:1]}, {"params": own[1:]}])
        self.generator = torch.Generator().manual_seed(seed)

    def train(self, steps: int) -> None:
        """Take some steps on drawn batches."""
        for _ in range(steps):
            rows = torch.randint(self.words, (2, 4, 3), generator=self.generator)
            x, targets = rows.to(self.model.table.device)
            self.optimizer.zero_grad()
            mean_loss(self.model(x), targets).backward()
            self.optimizer.step()
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.9

    def save(self, path: str, step: int, by_name: bool = False) -> None:
        """Save it; by name, and as a Path, too."""
        if by_name:
            mine = {"model": self.model, "optimizer": self.optimizer, "generator": self.generator}
            self._save(path=Path(path), **mine, step=step)
        else:
            self._save(path, self.model, self.optimizer, self.generator, step)

    def load(self, path: str, by_name: bool = False) -> Any:
        """Load it, and return what the learner's function returns."""
        if by_name:
            mine = {"model": self.model, "optimizer": self.optimizer, "generator": self.generator}
            return self._load(path=Path(path), **mine)
        return self._load(path, self.model, self.optimizer, self.generator)

    def save_on_a_full_disk(self, path: str, step: int) -> bool:
        """Save it where no file may grow; return whether that raised."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, hard))
        try:
            self.save(path, step)
        except NotImplementedError:
            raise
        except Exception:
            return True
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        return False

    def state(self) -> dict[str, Any]:
        """Return all that it goes on from, by name, and the modes of its model."""
        held = {f"model's {name}": value.clone() for name, value in self.model.state_dict().items()}
        for place, moments in enumerate(self.optimizer.state_dict()["state"].values()):
            held |= {f"{name} of parameter {place}": value.clone() for name, value in moments.items()}
        rates = torch.tensor([group["lr"] for group in self.optimizer.param_groups], dtype=torch.float64)
        return {**held, "rates": rates, "generator": self.generator.get_state()}


class Source:
    """A generator that stays here: it goes on from call to call, also where a call raises."""

    def __init__(self, number: int) -> None:
        self.generator = torch.Generator().manual_seed(number)

    def draw(self, windows: Any, tokens: Tensor, length: int, batch: int) -> Tensor:
        """Return x of a batch of windows."""
        return windows(tokens, length, self.generator, batch)[0]

    def state(self) -> Tensor:
        """Return where the generator is."""
        return self.generator.get_state()


def read(path: str) -> bytes:
    """Return what is in a file, nothing if there is none."""
    return Path(path).read_bytes() if Path(path).exists() else b""


def write(path: str, content: bytes) -> None:
    """Write a file."""
    Path(path).write_bytes(content)


def write_tensors(path: str, held: Any) -> None:
    """Write a file of torch's that is something else than a checkpoint."""
    torch.save(held, path)


def seed(number: int) -> None:
    """Seed torch's global generator."""
    torch.manual_seed(number)


def draw() -> float:
    """Return the next number of torch's global generator."""
    return torch.rand(()).item()
