"""What one may play with on a demo's page, in a browser: by keyboard, on a phone, and without any script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.learner.demos import exhibits as make
from grader.learner.demos.exhibit_types import read_exhibits
from grader.learner.demos.page import page
from grader.learner.demos.pictures import draw

pytestmark = pytest.mark.slow

PLAY = Path(__file__).parents[2] / "katas" / "play"
WORDS = ["river", "bank", "floods"]
STILL = make.table("still", ["word"], [[word] for word in WORDS])
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = torch.Generator().manual_seed(0)
    attention = {
        "vectors": dict(zip(WORDS, torch.randn(3, 4, generator=generator), strict=True)),
        "w_q": torch.eye(4),
        "w_k": torch.eye(4),
        "positions": None,
        "sentence": "river bank",
        "masks": True,
        "causal": True,
        "limit": 4,
    }
    sentence = {
        "slots": [{"label": "adjective", "options": ["good", "bad"], "start": 0}],
        "joins": ["it was", ""],
        "models": ["mean"],
        "classes": ["negative", "positive"],
        "answers": [[0.9], [0.2]],
    }
    frames = {step: make.heatmap("m", [make.panel("p", [[step]], "a", "b")]) for step in (0, 10, 20)}
    pair = [make.panel(title, [[0.25] * 4] * 4, ["again"] * 4, ["again"] * 4) for title in ("left", "right")]
    shown = read_exhibits([
        make.heatmap("Pair", pair),
        make.choice("Steps", "training step", frames, start=1, slider=True),
        make.choice("Masks", "mask", {"causal": make.text("t", 200 * "#"), "all": make.text("t", "everybody")}),
        make.play("Attention", "attention.js", attention, STILL),
        make.play("Sentence", "sentence.js", sentence, STILL),
    ])  # fmt: skip
    scripts = {name: (PLAY / name).read_text() for name in ("attention.js", "sentence.js")}
    path = tmp_path_factory.mktemp("demo") / "index.html"
    path.write_text(page("A demo", "given", [(one, draw(one)) for one in shown], scripts))
    return path


@pytest.fixture
def show(look: Open, file: Path) -> Open:
    """Open the page."""
    return lambda width=1200, **settings: look(file.as_uri(), width, **settings)


def frames(opened: Any, axis: str) -> list[str]:
    """Return the labels of the states that are seen."""
    return opened.locator(f'[data-axis="{axis}"] > [data-frame]:visible').evaluate_all(  # type: ignore[no-any-return]
        "all => all.map((one) => one.dataset.frame)"
    )


@pytest.mark.nightly
def test_a_slider_and_buttons_choose_by_keyboard(show: Open) -> None:
    opened = show()
    assert frames(opened, "training step") == ["10"]
    opened.get_by_role("slider", name="training step").focus()
    opened.keyboard.press("ArrowRight")
    assert frames(opened, "training step") == ["20"]
    assert opened.get_by_role("slider").get_attribute("aria-valuetext") == "20"
    assert frames(opened, "mask") == ["causal"]
    opened.get_by_role("radio", name="causal", exact=True).focus()
    opened.keyboard.press("ArrowDown")
    assert frames(opened, "mask") == ["all"]


@pytest.mark.nightly
def test_weights_follow_the_sentence_and_the_mask(show: Open) -> None:
    opened = show()
    box = opened.get_by_role("textbox")
    box.fill("river bank floods")
    cells = opened.locator(".grid button")
    assert cells.count() == 9
    assert cells.nth(0).inner_text() == "1.00"
    assert cells.nth(1).inner_text() == "–", "the causal mask hides what is later"
    before = float(cells.nth(8).inner_text())
    cells.nth(6).press("Enter")
    assert cells.nth(6).get_attribute("aria-pressed") == "false"
    assert float(cells.nth(8).inner_text()) > before, "what is left shares the whole weight"
    assert sum(float(cells.nth(place).inner_text()) for place in (7, 8)) == pytest.approx(1, abs=0.011)
    cells.nth(0).press("Enter")
    assert "may look at nothing" in opened.locator("[role=status]").first.inner_text()
    box.fill("river <img src=x onerror=alert(1)> unknown")
    assert "no vector for: img, src" in opened.locator("[role=status]").first.inner_text()
    opened.get_by_role("radio", name="everyone (bidirectional)").check()
    assert cells.all_inner_texts() == ["1.00"]


@pytest.mark.nightly
def test_a_sentence_is_put_together(show: Open) -> None:
    opened = show()
    assert opened.locator("[data-play='sentence.js'] td").first.inner_text() == "positive"
    opened.get_by_label("adjective").select_option("bad")
    assert opened.locator("[data-play='sentence.js'] td").first.inner_text() == "negative"


@pytest.mark.nightly
def test_without_a_script_every_state_is_there(show: Open) -> None:
    opened = show(java_script_enabled=False)
    assert opened.locator("input, button, select").count() == 0
    assert frames(opened, "training step") == ["0", "10", "20"]
    assert frames(opened, "mask") == ["causal", "all"]
    assert opened.locator("td:visible").count() == 2 * len(WORDS)


@pytest.mark.nightly
def test_the_page_is_as_wide_as_a_phone(show: Open) -> None:
    opened = show(390)
    for width in (320, 390, 700, 1200):
        opened.set_viewport_size({"width": width, "height": 900})
        assert opened.evaluate("document.documentElement.scrollWidth") == width
        pair = opened.locator("section", has_text="Pair").locator("svg:visible")
        assert pair.count() == 1
        assert pair.get_attribute("class") == ("narrow" if width < 500 else "wide")
        # A model may write a word without end.
        assert opened.get_by_text("###").evaluate("one => one.scrollWidth <= one.clientWidth")
        if width >= 375:
            assert pair.evaluate("one => one.parentNode.scrollWidth <= one.parentNode.clientWidth")
