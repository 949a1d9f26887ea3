"""Packs, units and katas written by hand, small and complete."""

from __future__ import annotations

from pathlib import Path

HINTS = "## 1\nLook.\n\n## 2\nThink.\n\n## 3\nWrite it.\n"


def write_pack(pack: Path, name: str) -> Path:
    pack.mkdir(parents=True, exist_ok=True)
    (pack / "pack.toml").write_text(f'name = "{name}"\ntitle = "{name.title()}"\nversion = "1.0"\n')
    return pack


def write_unit(pack: Path, number: str, slug: str) -> Path:
    folder = pack / f"{number}-{slug}"
    folder.mkdir(parents=True)
    (folder / "unit.toml").write_text(
        f'number = "{number}"\ntitle = "Unit {slug}"\nsummary = "About {slug}."\n'
    )
    (folder / "README.md").write_text(f"# {slug}\n")
    return folder


def write_kata(unit: Path, number: str, slug: str, more: str = "") -> Path:
    folder = unit / slug
    folder.mkdir()
    module = slug.replace("-", "_")
    (folder / "kata.toml").write_text(
        f'number = "{number}"\ntitle = "Do {slug}"\nsummary = "Doing {slug}."\nmodule = "{module}"\n'
        f'required = ["{module}"]\npoints = 5\n{more}'
    )
    (folder / "README.md").write_text(f"# Do {slug}\n")
    (folder / "hints.md").write_text(HINTS)
    (folder / "checks.py").write_text("")
    (folder / f"{module}.py").write_text(f"def {module}(value):\n    raise NotImplementedError\n")
    return folder
