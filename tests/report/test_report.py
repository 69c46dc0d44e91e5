"""The report: one file that is whole in itself, shows what it says, runs nothing that a stranger wrote, and is laid out
in a real browser.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import napkin_eq as nq
from napkin_eq.cli.main import main
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.lang.diagram import Diagram
from napkin_eq.report.contents import contents, mapped
from napkin_eq.report.page import page
from napkin_eq.report.plots import Point, bars, roofline

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = "<script>document.title='run'</script>"


@pytest.fixture(scope="module")
def attention(within: Callable[..., tuple[dict[str, Any], str]]) -> tuple[dict[str, Any], str]:
    derivation = nq.derive(DIAGRAMS["attention"]())

    def made() -> tuple[dict[str, Any], str]:
        found = contents(derivation, "napkin-eq report attention")
        return found, page(found)

    return within(5.0, made, tries=1)


class Outline(HTMLParser):
    """What a page has: the ids, where its links lead, its tags in balance, what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loads: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a":
            self.links.add(given["href"])
        if tag in ("h1", "h2", "h3"):
            self.headings.append(tag)
        self.loads += [
            value
            for name, value in given.items()
            if name in ("src", "data", "xlink:href") or (tag == "link" and name == "href")
        ]


def test_it_is_one_file_that_loads_nothing(attention):
    _, text = attention
    seen = Outline()
    seen.feed(text)
    assert not seen.loads and "@import" not in text and "url(" not in text
    assert len(text.encode()) <= 3_000_000
    assert {link.removeprefix("#") for link in seen.links} <= seen.ids
    assert seen.headings[0] == "h1" and seen.headings.count("h1") == 1 and set(seen.headings) <= {"h1", "h2", "h3"}


def test_it_says_what_the_derivation_says(attention):
    found, text = attention
    report = found["report"]
    shown = html.unescape(re.sub(r"<[^>]+>", " ", text))
    assert found["sentence"] in shown and f"grade {report['certificate']['grade']}" in found["sentence"]
    for law in report["laws"]:
        assert law in shown
    for move, _, _ in found["moves"]:
        assert move.title in shown
    assert found["others"][0].predicted_us == pytest.approx(report["predicted_us"], rel=1e-3)
    assert [o.predicted_us for o in found["others"]] == sorted(o.predicted_us for o in found["others"])
    assert found["errors"] and all(row.used <= 1 for row in found["errors"])
    assert "moves 67.11 MB" in shown  # Q, K, V and the output of the gallery's attention, each once


def test_each_line_of_source_is_that_of_the_plan_which_defines_its_name(attention):
    found, _ = attention
    paired = [(line.text, found["plan"][line.plan - 1]) for line in found["source"] if line.plan]
    assert len(paired) > 15
    for text, planned in paired:
        if "=" in text and "store" not in text:
            assert re.match(r"\s*" + re.match(r"\s*(\w+)", text)[1] + r"\b", planned), (text, planned)
    twice = mapped("    a = 1\n    a = 2\n    a = 3", ["    a = 1", "    a[x] = 2"])
    assert [line.plan for line in twice] == [1, 2, 2]
    assert [
        line.plan for line in mapped("    a = 1\n    tl.store(p, a)\n    b = 2", ["    a = 1", "    store out = a"])
    ] == [1, 2, 0]


def test_what_a_stranger_writes_is_shown_and_not_run():
    x, y = nq.axes("x y", x=8, y=16)
    diagram = Diagram("probe", (("out", nq.sum(nq.array("A", x, y), y)),), HOSTILE)
    text = page(contents(nq.derive(diagram, dtype="float32"), f"napkin-eq report {HOSTILE}"))
    assert HOSTILE not in text and html.escape(HOSTILE, quote=False) in text.replace("&#39;", "'")
    assert text.count("<script>") == 1


def test_plots_put_points_where_they_belong():
    text = roofline([Point("k", "predicted", 100.0, 1e14), Point("k", "measured", 100.0, 5e13)], 4e12, 1e15)
    first, second = (float(y) for y in re.findall(r'cy="([\d.]+)"', text))
    assert first < second  # faster is higher
    widths = [float(w) for w in re.findall(r'class="bar"[^>]* width="([\d.]+)"', bars([("a", 1.0), ("b", 2.0)], "s"))]
    assert widths[1] == pytest.approx(2 * widths[0], rel=1e-2)


def test_the_verb_writes_one_file_and_refuses_a_place_that_is_not_there(tmp_path, capsys):
    file = tmp_path / "softmax.html"
    assert main(["report", "softmax", "--plain", "-o", str(file)]) == 0
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>") and "written to" in capsys.readouterr().out
    assert main(["report", "softmax", "--plain", "-o", str(tmp_path / "none" / "x.html")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "there is no folder" in said


WATCH = """<!doctype html><html><body><pre id="said"></pre><script>
const widths = [360, 768, 1440], said = [];
function tried(at) {
  if (at == widths.length) { document.getElementById('said').textContent = JSON.stringify(said); return; }
  const frame = document.createElement('iframe');
  frame.style.cssText = `width:${widths[at]}px;height:900px;border:0`;
  frame.onload = () => {
    const page = frame.contentDocument, view = frame.contentWindow, wide = page.documentElement;
    const details = page.querySelector('details'), before = details.open;
    details.querySelector('summary').click();
    const line = page.querySelector('.source [data-plan]');
    line.dispatchEvent(new view.MouseEvent('mouseenter'));
    said.push({width: widths[at], over: wide.scrollWidth - wide.clientWidth, opened: details.open && !before,
      lit: page.querySelectorAll('.on').length, title: page.title, text: page.body.innerText.length});
    frame.remove(); tried(at + 1);
  };
  frame.src = 'report.html';
  document.body.append(frame);
}
tried(0);
</script></body></html>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_browser_lays_it_out_without_overflow_and_its_toggles_work(attention, tmp_path):
    (tmp_path / "report.html").write_text(attention[1], encoding="utf-8")
    (tmp_path / "watch.html").write_text(WATCH, encoding="utf-8")
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        f"--user-data-dir={tmp_path}/profile",
        "--enable-logging=stderr",
    ]
    command = [
        str(BROWSER),
        *flags,
        "--window-size=1500,1000",
        "--virtual-time-budget=8000",
        "--dump-dom",
        (tmp_path / "watch.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    seen = json.loads(html.unescape(re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)[1]))
    assert [row["width"] for row in seen] == [360, 768, 1440]
    for row in seen:
        assert (
            row["over"] <= 0
            and row["opened"]
            and row["lit"] >= 2
            and row["text"] > 2000
            and row["title"].startswith("attention")
        ), row
    assert not re.search(r"CONSOLE.*(Error|error)", done.stderr), done.stderr


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        full = colour if len(colour) == 7 else "#" + "".join(c * 2 for c in colour[1:])
        parts = [int(full[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_stands_out_from_its_paper_in_both_themes():
    template = (Path(nq.__file__).parent / "report" / "style.css").read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--(\w+):(#[0-9a-f]+)", found)) for found in re.findall(r":root\{(.*?)\}", template)]
    assert len(themes) == 2
    for colours in themes:
        for name in ("ink", "soft", "blue", "orange", "green"):
            for paper in ("paper", "tint"):
                assert contrast(colours[name], colours[paper]) >= 4.5, (name, colours[name], colours[paper])
