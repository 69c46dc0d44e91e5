"""The report by axe-core in Chromium: nothing serious, in the light and in the dark, wide and narrow."""

from __future__ import annotations

import pytest

import napkin_eq as nq
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.report.contents import contents
from napkin_eq.report.page import page as report_page

axe_core = pytest.importorskip("axe_playwright_python.sync_playwright")
SERIOUS = ("serious", "critical")


def serious(page):
    """Return what axe finds serious: the rule, how serious, the first element."""
    found = axe_core.Axe().run(page).response["violations"]
    return [(v["id"], v["impact"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in SERIOUS]


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_a_report_has_nothing_that_axe_finds_serious(browser, tmp_path, scheme, width):
    file = tmp_path / "softmax.html"
    file.write_text(
        report_page(contents(nq.derive(DIAGRAMS["softmax"]()), "napkin-eq report softmax")), encoding="utf-8"
    )
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert serious(page) == []
    page.evaluate("document.querySelector('a').style.color = '#eeeeee'")  # a fault is found
    page.evaluate("document.querySelector('a').style.background = '#ffffff'")
    assert [rule for rule, _, _ in serious(page)] == ["color-contrast"]
    context.close()
