"""Archives that lie, break, escape or explode: that learner's row says why, and nobody else's changes."""

from __future__ import annotations

import errno
import io
import os
import random
import stat
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.data_files import UnreadableSubmission
from grader.errors import EngineError
from grader.instructor.lms.find import find_learners
from grader.instructor.submissions import archives
from tests.submissions.conftest import content, lay, tarred, zipped

GOOD = "work = 1\n"


@pytest.fixture
def ada(tmp_path, read):
    """Return a function that puts an archive beside an honest learner and returns the row for masks."""

    def row(packed: bytes, name: str = "ada.zip"):
        lay(tmp_path, {name: packed, "bob/masks.py": GOOD})
        rows = read()
        assert content(rows["bob", "masks"]) == {"masks.py": GOOD.encode()}
        return rows["ada", "masks"]

    return row


def with_info(change, name="masks.py", data=GOOD) -> bytes:
    """Return a zip of one file whose entry was changed first."""
    made = io.BytesIO()
    info = zipfile.ZipInfo(name)
    change(info)
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(info, data)
    return made.getvalue()


@pytest.mark.parametrize(
    "name",
    [
        "../masks.py",
        "/masks.py",
        "a/../../masks.py",
        "C:/masks.py",
        "..\\masks.py",
        "\\\\host\\share\\masks.py",
    ],
)
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_name_that_leads_out_is_never_read(ada, name, kind):
    packed = zipped({name: "evil"}) if kind == "zip" else tarred({name: "evil"})
    row = ada(packed, f"ada.{kind}")
    assert row.status == "error"
    assert "leads out of it" in row.message


def test_a_name_that_leads_out_does_not_harm_the_others(ada):
    row = ada(zipped({"../masks.py": "evil", "hw/masks.py": GOOD, "hw/h.py": "h"}))
    assert content(row) == {"masks.py": GOOD.encode(), "h.py": b"h"}
    assert any("leads out of it" in note for note in row.notes)


def test_windows_names(ada):
    row = ada(zipped({"hw\\sub\\h.py": "h", "hw\\masks.py": GOOD, "hw\\empty\\": ""}))
    assert content(row) == {"masks.py": GOOD.encode(), "sub/h.py": b"h"}


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_in_a_zip(ada, mode):
    row = ada(
        with_info(lambda info: setattr(info, "external_attr", (mode | 0o777) << 16), data="/etc/passwd")
    )
    assert row.status == "error"
    assert "link" in row.message or "not a regular file" in row.message


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_a_tar(ada, kind):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        info = tarfile.TarInfo("masks.py")
        info.type = kind
        info.linkname = "/etc/passwd"
        archive.addfile(info)
    row = ada(made.getvalue(), "ada.tar")
    assert row.status == "error"
    assert "link" in row.message or "not a regular file" in row.message


def test_an_entry_that_is_there_twice(ada):
    with pytest.warns(UserWarning, match="Duplicate"):
        packed = _twice("one", "two")
    row = ada(packed)
    assert row.status == "error"
    assert "two files could be the answer" in row.message


def test_an_entry_that_is_there_twice_and_equal(ada):
    with pytest.warns(UserWarning, match="Duplicate"):
        packed = _twice(GOOD, GOOD)
    assert content(ada(packed)) == {"masks.py": GOOD.encode()}


def _twice(first, second):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("masks.py", first)
        archive.writestr("masks.py", second)
    return made.getvalue()


def zip_bomb(size: int, name: str = "masks.py", claimed: int | None = None) -> bytes:
    """Return a zip whose one entry unpacks to `size` zeros; `claimed` is what its headers say."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = bytearray()
    for _ in range(size >> 20):
        packed += packer.compress(bytes(1 << 20))
    packed += packer.flush()
    says = min(size if claimed is None else claimed, 0xFFFFFFFE)
    raw = name.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(packed), says, len(raw), 0)
    local = b"PK\3\4" + common + raw + bytes(packed)
    entry = b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + raw
    return local + entry + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)


@pytest.mark.slow
@pytest.mark.parametrize("claimed", [None, 100])
@pytest.mark.parametrize("name", ["masks.py", "data.bin", "inner.zip"])
def test_a_zip_bomb_is_not_unpacked(ada, name, claimed):
    packed = zip_bomb(96 << 20, name, claimed)
    tracemalloc.start()
    try:
        row = ada(packed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert row.status in {"error", "missing"}
    assert row.bundle is None
    assert peak < 16 << 20
    if claimed is None:
        assert "bomb" in row.message


def test_ten_gigabytes_are_refused_by_what_the_zip_says(ada):
    row = ada(_claiming(10 << 30))
    assert row.status == "error"
    assert "10.0 GB; at most 1.0 GB" in row.message


def _claiming(size: int) -> bytes:
    """Return a small zip64 whose table of contents claims an entry of `size` bytes."""
    raw = b"masks.py"
    extra = struct.pack("<HHQ", 1, 8, size)
    common = struct.pack("<HHHHHIII", 45, 0, 8, 0, 33, 0, 2, 0xFFFFFFFF)
    local = b"PK\3\4" + common + struct.pack("<HH", len(raw), len(extra)) + raw + extra + b"\3\0"
    entry = (
        b"PK\1\2"
        + struct.pack("<H", 45)
        + common
        + struct.pack("<HHHHHII", len(raw), len(extra), 0, 0, 0, 0, 0)
    )
    entry += raw + extra
    return local + entry + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)


@pytest.mark.slow
def test_a_compressed_tar_bomb_is_not_unpacked(ada, monkeypatch):
    import gzip

    monkeypatch.setattr("grader.instructor.submissions.archives.MAX_TAR", 4 << 20)
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb") as stream:
        info = tarfile.TarInfo("masks.py")
        info.size = 64 << 20
        stream.write(info.tobuf())
        for _ in range(64):
            stream.write(bytes(1 << 20))
    row = ada(made.getvalue(), "ada.tar.gz")
    assert row.status == "error"
    assert "more than 4.0 MB" in row.message


def test_a_tar_whose_headers_are_huge(ada):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("masks.py")
        info.pax_headers = {"comment": "x" * (3 << 20)}
        archive.addfile(info)
    row = ada(made.getvalue(), "ada.tar")
    assert row.status == "error"
    assert "table of contents that is too large" in row.message


def test_a_sparse_tar(ada):
    info = tarfile.TarInfo("masks.py")
    info.pax_headers = {
        "GNU.sparse.map": "0,1",
        "GNU.sparse.size": str(1 << 40),
        "GNU.sparse.name": "masks.py",
    }
    info.size = 1
    packed = info.tobuf(tarfile.PAX_FORMAT) + b"x".ljust(512, b"\0") + bytes(1024)
    row = ada(packed, "ada.tar")
    assert row.status == "error"
    assert "sparse" in row.message


@pytest.mark.slow
def test_too_many_entries(ada):
    row = ada(zipped({f"f{number}": "" for number in range(archives.MAX_ENTRIES)} | {"masks.py": GOOD}))
    assert row.status == "error"
    assert str(archives.MAX_ENTRIES) in row.message


def test_an_encrypted_zip(ada):
    packed = bytearray(zipped({"masks.py": GOOD}))
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        packed[packed.index(mark) + offset] |= 1
    row = ada(bytes(packed))
    assert row.status == "error"
    assert "without a password" in row.message


def test_an_unusual_compression(ada):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("masks.py", bytes(1 << 20))
    row = ada(made.getvalue())
    assert row.status == "error"
    assert "usual settings" in row.message


@pytest.mark.parametrize("name", ["ada.rar", "ada.7z", "ada.tar.xz"])
def test_an_archive_of_another_kind(ada, name):
    row = ada(b"whatever", name)
    assert row.status == "error"
    assert "hand in a .zip or .tar.gz" in row.message


@pytest.mark.parametrize("name", ["ada.zip", "ada.tar", "ada.tar.gz"])
@pytest.mark.parametrize(
    "packed", [b"", b"\0" * 20, b"Rar!", b"<html>", b"PK\3\4", b"\x1f\x8b\x08", b"PK\5\6" + b"\xff" * 18]
)
def test_what_is_no_archive(ada, name, packed):
    row = ada(packed, name)
    if name == "ada.tar" and packed == b"\0" * 20:
        assert row.status in {"error", "missing"}
    else:
        assert row.status == "error"
        assert "ada." in row.message


@pytest.mark.parametrize("name", ["ada.zip", "ada.tar", "ada.tar.gz"])
@pytest.mark.parametrize("part", [0.2, 0.5, 0.8])
def test_an_archive_that_was_cut_short(ada, name, part):
    noise = random.Random(1).randbytes(20_000)
    files = {"masks.py": GOOD, "a.bin": noise, "b.bin": noise}
    packed = zipped(files) if name.endswith("zip") else tarred(files, "w" if name.endswith("tar") else "w:gz")
    row = ada(packed[: int(len(packed) * part)], name)
    assert row.status == "error"
    assert row.message.count(name)


def test_a_tar_that_was_cut_short_in_a_header(ada):
    packed = tarred({"helper.py": "h", "masks.py": GOOD}, "w")
    row = ada(packed[: 1024 + 200], "ada.tar")
    assert row.status == "error"
    assert "cut short" in row.message


def test_damage_inside_a_zip_hurts_only_that_file(ada):
    packed = bytearray(zipped({"masks.py": GOOD * 50, "masked_attention.py": "fine"}))
    start = packed.index(b"masks.py") + len("masks.py")
    packed[start : start + 4] = b"\xff\xff\xff\xff"
    row = ada(bytes(packed))
    assert row.status == "error"
    assert "damaged" in row.message


def test_one_archive_in_another_is_read_and_no_deeper(ada):
    one = zipped({"masks.py": GOOD})
    assert content(ada(zipped({"x/inner.zip": one}))) == {"masks.py": GOOD.encode()}


def test_two_levels_of_nesting_are_refused(ada):
    row = ada(zipped({"b.zip": zipped({"c.tar": tarred({"masks.py": GOOD}, "w")})}))
    assert row.status == "error"
    assert "ada.zip › b.zip › c.tar is an archive inside an archive inside an archive" in row.message


def test_a_broken_archive_beside_the_answer_is_a_note(tmp_path, read):
    lay(tmp_path, {"ada/masks.py": GOOD, "ada/old.zip": b"broken"})
    rows = read()
    assert rows["ada", "masks"].status == "found"
    assert any("ada/old.zip" in note for note in rows["ada", "masks"].notes)
    assert rows["ada", "masked-attention"].status == "error", "it may be in there"
    assert "ada/old.zip" in rows["ada", "masked-attention"].message


def test_names_of_other_encodings(tmp_path, read):
    utf8 = with_info(lambda info: None, "Übung/masks.py")
    unmarked = bytearray(utf8)
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = unmarked.index(mark) + offset
        unmarked[place : place + 2] = b"\0\0"
    dos = bytes(unmarked).replace("Ü".encode(), b"\x9aX")
    lay(tmp_path, {"ada.zip": utf8, "bob.zip": bytes(unmarked), "carol.zip": dos})
    rows = read()
    assert rows["ada", "masks"].origin == "ada.zip › Übung/masks.py"
    assert rows["bob", "masks"].origin == "bob.zip › Übung/masks.py"
    assert rows["carol", "masks"].origin == "carol.zip › ÜXbung/masks.py"


def test_names_that_no_file_can_have_are_left_out(ada):
    row = ada(
        zipped({"masks.py": GOOD, "n" * 300 + ".py": "x", "a": "file", "a/b.py": "below it", "ok.py": "o"})
    )
    assert content(row) == {"masks.py": GOOD.encode(), "a/b.py": b"below it", "ok.py": b"o"}
    assert len(row.notes) == 2
    long = "/".join(["d" * 200] * 2)
    assert content(ada(zipped({f"{long}/masks.py": GOOD}))) == {"masks.py": GOOD.encode()}


@pytest.mark.parametrize("folder", ["a/" * 30_000, "x" * 60_000 + "/", "a" + " " * 60_000 + "b"])
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_monstrous_names_are_not_taken_apart(ada, folder, kind):
    files = {f"{folder}masks.py": "evil", "masks.py": GOOD}
    row = ada(zipped(files) if kind == "zip" else tarred(files), f"ada.{kind}")
    assert content(row) == {"masks.py": GOOD.encode()}
    assert len(row.notes) == 1
    assert "folders deep" in row.notes[0] or "characters" in row.notes[0]


def test_a_file_name_that_is_no_text(tmp_path, read):
    lay(tmp_path, {"ada/masks.py": GOOD})
    with open(os.fsencode(tmp_path / "ada") + b"/\xff.py", "wb") as file:
        file.write(b"x")
    row = read()["ada", "masks"]
    assert content(row) == {"masks.py": GOOD.encode()}
    assert "\\udcff" in row.notes[0]
    assert row.bundle.digest


BASES = {
    "x.zip": zipped({"hw/masks.py": GOOD, "hw/h.py": "h" * 500, "d/": ""}),
    "x.tar": tarred({"hw/masks.py": GOOD, "n" * 150: "h" * 500}, "w"),
    "x.tar.gz": tarred({"hw/masks.py": GOOD, "n" * 150: "h" * 500}),
}


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(sorted(BASES)), data=st.data())
def test_no_archive_raises_anything_but_refused(name, data):
    packed = bytearray(BASES[name])
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(packed) - 1))
        what = data.draw(st.sampled_from(["set", "cut", "repeat"]))
        if what == "set":
            packed[place] = data.draw(st.integers(0, 255))
        elif what == "cut" and len(packed) > 2:
            del packed[place : place + data.draw(st.integers(1, 20))]
        else:
            packed[place:place] = packed[place : place + 40]
        if not packed:
            break
    try:
        members = archives.open_archive(bytes(packed), name)
    except UnreadableSubmission:
        return
    for member in members:
        assert member.path
        assert not {"", ".", ".."}.intersection(member.path)
        assert not any("/" in part or "\\" in part for part in member.path)
        with suppress(UnreadableSubmission):
            assert len(member.read(10_000)) <= 10_000


def test_many_small_archives_together_take_no_more_disk_than_one_may(tmp_path, katas, monkeypatch):
    monkeypatch.setattr(archives, "MAX_TAR", 3 << 20)
    large = {f"ada/{number:02}.tar.gz": tarred({f"x{number}": bytes(1 << 20)}) for number in range(9)}
    lay(tmp_path, {**large, "ada/99.tar.gz": tarred({"masks.py": "m"}), "bob/masks.py": GOOD})
    written = 0
    write = archives._write

    def counted(plain, chunk):
        nonlocal written
        written += len(chunk)
        write(plain, chunk)

    monkeypatch.setattr(archives, "_write", counted)
    scan = find_learners(tmp_path, katas)
    written = 0
    ada, bob = (folder.submissions(katas)[0] for folder in scan.learners)
    assert written <= 3 << 20
    assert ada.status == "error"
    assert "3.0 MB, the limit for all such archives together" in ada.message
    assert content(bob) == {"masks.py": GOOD.encode()}


def test_a_full_disk_is_nobodys_mark(tmp_path, katas, monkeypatch):
    lay(tmp_path, {"ada.tar.gz": tarred({"masks.py": GOOD})})

    class Full:
        def write(self, chunk):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(archives.tempfile, "SpooledTemporaryFile", lambda **_: Full())
    with pytest.raises(EngineError, match="No space left"):
        find_learners(tmp_path, katas)
