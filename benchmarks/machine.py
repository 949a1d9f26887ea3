"""What a figure depends on: processor, memory, versions. Nothing that names a host or a person."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from grader import __version__


def describe() -> list[str]:
    """Return the machine in lines of Markdown."""
    return [
        f"- {cores()} cores of {processor()}, {memory_gb():.0f} GB memory, {system()}",
        f"- Python {platform.python_version()}, torch {metadata.version('torch')}, "
        f"pytest {metadata.version('pytest')}, kata {__version__}",
        f"- {datetime.now(UTC):%Y-%m-%d}; load average at the end {os.getloadavg()[0]:.1f}",
    ]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """Return the processor's model."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def memory_gb() -> float:
    """Return how much memory there is."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def system() -> str:
    """Return the operating system."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except (OSError, AttributeError):
        name = ""
    return name or f"{platform.system()} {platform.release()}"
