"""Which packs there are, and what an ID means."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from grader import __version__
from grader.catalogue import Catalogue, load_pack
from grader.catalogue import catalogue as module
from grader.errors import KataError, PackError, UsageError
from tests.pack_files import write_kata, write_pack, write_unit

TINY = Path(__file__).parents[1] / "packs" / "tiny"


@pytest.fixture
def catalogue(pack: Path) -> Catalogue:
    return Catalogue((load_pack(pack), load_pack(TINY)))


def slugs(catalogue: Catalogue, text: str) -> list[str]:
    return [kata.slug for kata in catalogue.resolve(text)]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("3.9", ["count-up", "count-down"]),
        ("3.9.2", ["count-down"]),
        ("3.10", ["add-all"]),
        ("3", ["count-up", "count-down", "add-all"]),
        ("03.9.", ["count-up", "count-down"]),
        ("count-down", ["count-down"]),
        ("count-d", ["count-down"]),
        ("Count_Down.py", ["count-down"]),
        ("count down", ["count-down"]),
        ("count_down.ipynb", ["count-down"]),
        ("counting", ["count-up", "count-down"]),
        ("counti", ["count-up", "count-down"]),
        ("3.9-counting/", ["count-up", "count-down"]),
        ("3.9-counting/count-up", ["count-up"]),
        ("sort", ["insertion-sort"]),
        ("1.1.1", ["insertion-sort"]),
    ],
)
def test_an_id_is_a_number_a_name_or_a_beginning(catalogue: Catalogue, text: str, meant: list[str]) -> None:
    assert slugs(catalogue, text) == meant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("count", "could be 3.9 counting or 3.9.1 count-up or 3.9.2 count-down"),
        ("cuont-down", "Did you mean count-down"),
        ("inserton", "Did you mean insertion-sort"),
        ("3.9.7", "There is no 3.9.7. Did you mean 3.9"),
        ("4", "There is no 4."),
        ("xyzzy", "There is no kata or unit called xyzzy."),
        ("", "The ID is empty."),
        ("/", "The ID is empty."),
        ("3.9..1", "There is no kata or unit called"),
        ("\N{SUPERSCRIPT TWO}", "There is no kata or unit called"),
    ],
)
def test_a_miss_is_a_usage_error_that_helps(catalogue: Catalogue, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        catalogue.resolve(text)
    assert said in caught.value.message


def test_a_whole_name_wins_over_being_the_beginning_of_another(pack: Path) -> None:
    write_kata(pack / "3.10-adding", "3.10.2", "add")
    write_kata(pack / "3.10-adding", "3.10.3", "adding-up")
    catalogue = Catalogue((load_pack(pack),))
    assert slugs(catalogue, "add") == ["add"]
    assert slugs(catalogue, "adding") == ["add-all", "add", "adding-up"]


def test_units_are_listed_by_number_across_packs(catalogue: Catalogue) -> None:
    assert [unit.number for unit in catalogue.units] == ["1.1", "3.9", "3.10"]


def test_one_kata_is_asked_for_when_a_unit_would_be_too_much(catalogue: Catalogue) -> None:
    assert catalogue.resolve_one("sorting").slug == "insertion-sort"
    with pytest.raises(UsageError, match=r"means 2 katas; name one: 3\.9\.1 count-up, 3\.9\.2 count-down"):
        catalogue.resolve_one("3.9")


def test_a_number_in_two_packs_is_ambiguous(pack: Path, tmp_path: Path) -> None:
    other = write_pack(tmp_path / "other", "letters")
    write_kata(write_unit(other, "3.9", "letters"), "3.9.1", "spell")
    catalogue = Catalogue((load_pack(pack), load_pack(other)))
    assert slugs(catalogue, "spell") == ["spell"]
    with pytest.raises(UsageError, match=r"3\.9 is in several packs"):
        catalogue.resolve("3.9")


def test_packs_that_clash_are_refused(pack: Path, tmp_path: Path) -> None:
    other = write_pack(tmp_path / "other", "more")
    write_kata(write_unit(other, "5.1", "more"), "5.1.1", "count-up")
    with pytest.raises(PackError, match="kata slug count-up is taken by"):
        Catalogue((load_pack(pack), load_pack(other)))


def test_packs_come_from_the_environment(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: None)
    monkeypatch.setenv("KATA_PACKS", os.pathsep.join([str(TINY), str(pack), str(TINY)]))
    assert [found.name for found in Catalogue.discover().packs] == ["tiny", "numbers"]


def test_a_pack_of_ones_own_takes_the_place_of_the_one_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builtin, own = (shutil.copytree(TINY, tmp_path / name / "katas") for name in ("kata", "mine"))
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: builtin)
    assert [found.root for found in Catalogue.discover().packs] == [builtin]
    monkeypatch.setenv("KATA_PACKS", str(own))
    assert [found.root for found in Catalogue.discover().packs] == [own]
    monkeypatch.setenv("KATA_PACKS", os.pathsep.join([str(own), str(TINY)]))
    with pytest.raises(PackError, match="the pack name tiny is taken by"):  # which of the two is meant?
        Catalogue.discover()


def test_the_built_in_pack_is_in_the_source_tree_or_inside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "__file__", str(tmp_path / "grader" / "catalogue" / "catalogue.py"))
    assert module.builtin_folder() is None
    for folder in (tmp_path / "grader" / "_katas", tmp_path / "katas"):
        folder.mkdir(parents=True)
        (folder / "pack.toml").write_text("")
        assert module.builtin_folder() == folder


def test_an_environment_without_a_pack_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: None)
    monkeypatch.setenv("KATA_PACKS", str(tmp_path))
    with pytest.raises(UsageError, match=r"KATA_PACKS names .*, which is not a pack"):
        Catalogue.discover()
    monkeypatch.setenv("KATA_PACKS", "")
    with pytest.raises(UsageError, match="No katas are installed"):
        Catalogue.discover()


def install(site: Path, value: str) -> None:
    metadata = site / "letters-1.0.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    text = f"[console_scripts]\nx = y:z\n\n[kata.packs]\nletters = {value}\n"
    (metadata / "entry_points.txt").write_text(text)


def test_packs_come_from_what_is_installed(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: None)
    site = tmp_path / "site-packages"
    install(site, "kata_numbers.pack")
    package = site / "kata_numbers"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('a pack is never imported')\n")
    pack.rename(package / "pack")
    monkeypatch.syspath_prepend(site)
    assert [found.name for found in Catalogue.discover().packs] == ["numbers"]


def test_an_installed_pack_takes_the_place_of_the_built_in_one_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the instructors' wheel of Kata's own pack does, which brings the solutions."""
    builtin = shutil.copytree(TINY, tmp_path / "kata" / "katas")
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: builtin)
    site = tmp_path / "site-packages"
    install(site, "kata_tiny.katas")
    own = shutil.copytree(TINY, site / "kata_tiny" / "katas")
    monkeypatch.syspath_prepend(site)
    assert [found.root for found in Catalogue.discover().packs] == [own]


@pytest.mark.parametrize(("needed", "refused"), [("99.0", True), ("0.0.1", False), (__version__, False)])
def test_a_pack_that_a_newer_kata_built_is_refused_by_name(
    needed: str, refused: bool, pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.catalogue.catalogue.builtin_folder", lambda: None)
    site = tmp_path / "site-packages"
    install(site, "kata_numbers.pack")
    (site / "letters-1.0.dist-info" / "METADATA").write_text(
        f"Name: letters\nRequires-Dist: tensor-kata>={needed}\n"
    )
    (site / "kata_numbers").mkdir()
    pack.rename(site / "kata_numbers" / "pack")
    monkeypatch.syspath_prepend(site)
    if not refused:
        assert [found.name for found in Catalogue.discover().packs] == ["numbers"]
        return
    with pytest.raises(PackError, match=r"this pack needs tensor-kata 99\.0 or newer; here is") as caught:
        Catalogue.discover()
    assert "pip install --upgrade tensor-kata" in (caught.value.hint or "")


@pytest.mark.parametrize("value", ["no_such_package", "email.mime"])
def test_an_entry_point_that_leads_nowhere_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    install(tmp_path / "site-packages", value)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    with pytest.raises(KataError, match=r"entry_points\.txt: the entry point letters"):
        Catalogue.discover()


def test_what_lies_in_the_current_folder_names_no_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "no_such_package")  # a class's folder: a learner may be called letters-1.0.dist-info
    monkeypatch.chdir(tmp_path)
    for entry in ("", ".", str(tmp_path)):
        monkeypatch.syspath_prepend(entry)
    assert "tiny" not in [found.name for found in Catalogue.discover().packs]
