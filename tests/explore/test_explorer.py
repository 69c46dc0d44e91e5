"""The explorer, used in a real browser by clicks and keys; and what may not be asked of it."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from napkin_eq.cli.main import main
from napkin_eq.explore.guard import MAX_BODY
from napkin_eq.explore.state import checked
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.frontend.spelled import spelled
from napkin_eq.lang.errors import NapkinError

WAIT = 120.0  # seconds, of a machine that does other things too
SMALL = "axis t = 64, d = 32\narray A[t, d], B[d]\nout = Σ_d A · B"
HOSTILE = "diagram d: <img src=x onerror=document.title='ran'><script>document.title='ran'</script>\n"


@pytest.fixture(scope="module")
def server():
    """Serve on a free port, and give the port and the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "napkin_eq.cli", "serve", "--port", "0", "--limit", "10"],
        stdout=subprocess.PIPE,
        text=True,
    )
    said = process.stdout.readline()
    yield int(said.split(":")[3].partition("/")[0]), process
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    process.stdout.close()


@pytest.fixture
def page(server, browser):
    """Give a page of the explorer that shows a small diagram; whatever it complained of fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.goto(f"http://127.0.0.1:{server[0]}/{link(SMALL)}")
    until(opened, "document.querySelectorAll('#diagram option').length > 5")
    derived(opened)
    yield opened
    context.close()
    assert not complaints


def link(text):
    """Return the part of an address that holds a state."""
    state = {"text": text, "dtype": "bfloat16", "hardware": "h200", "without": []}
    return "#" + base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")


def write(page, text):
    page.fill("#text", text)


def until(page, expression, arg=None):
    """Wait until an expression of the page's holds; it is asked again and again, as its policy bars scripts
    from text.
    """
    end = time.monotonic() + WAIT
    while not page.evaluate(expression, arg):
        assert time.monotonic() < end, (
            expression,
            page.locator("#status").inner_text(),
            page.locator("#wrong").inner_text(),
        )
        page.wait_for_timeout(40)


def derived(page, says="kernel"):
    """Wait until everything is shown that follows of the last change."""
    page.wait_for_timeout(250)  # a change is asked for a little later
    idle = "!document.querySelector('#result').hasAttribute('aria-busy')"
    until(page, f"says => {idle} && document.querySelector('#status').textContent.includes(says)", says)


def test_a_page_follows_clicks_and_keys(page):
    assert page.locator("#result #diagram svg.napkin").count() == 2
    page.fill("#sizes input[data-axis=t]", "128")
    until(page, "document.querySelector('#text').value.includes('t = 128')")
    derived(page)
    assert "t=128" in page.locator("#result").inner_text() or "128" in page.locator("#result #diagram").inner_text()
    page.select_option("#dtype", "float32")
    page.select_option("#hardware", "a100")
    until(page, "document.querySelector('#result pre').textContent.length > 0")
    derived(page)
    assert (
        "float32" in page.locator("#result #made pre").inner_text() and "a100" in page.locator("#made pre").inner_text()
    )
    page.select_option("#diagram", "softmax")
    until(page, "document.querySelector('#name').textContent == 'softmax'")
    derived(page)
    page.locator("#moves details summary").first.click()
    assert page.locator("#moves details[open]").count() == 1
    page.hover(".source [data-plan] >> nth=3")
    assert page.locator("#result .on").count() >= 2


def test_a_law_that_is_left_out_changes_the_plan(page):
    page.select_option("#diagram", "softmax")
    derived(page, "softmax")
    before = page.locator("#proofs tbody").inner_text()
    page.click("#laws > summary")
    page.locator("#families details", has_text="rescale:").locator("summary").click()
    page.get_by_label("the whole family").and_(page.locator("[value=rescale]")).uncheck()
    until(page, "document.querySelector('#off').textContent == 'without rescale'")
    derived(page)
    assert page.locator("#proofs tbody").inner_text() != before
    page.click("#allon")
    derived(page)
    assert page.locator("#proofs tbody").inner_text() == before


def test_a_plan_is_shown_before_its_proof_is_found(server):
    asked = {"text": SMALL.replace("64", "96"), "dtype": "bfloat16", "hardware": "h200", "without": [], "sizes": {}}
    headers = {"content-type": "application/json", "origin": f"http://127.0.0.1:{server[0]}"}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server[0], timeout=WAIT)) as request:
        request.request("POST", "/derive", json.dumps(asked), headers)
        said = [json.loads(line) for line in request.getresponse().read().splitlines()]
    events = [event for event in said if event["event"] != "progress"]
    names = [event["event"] for event in events]
    assert names == ["read", "lead", "found", "plan", "tried", "end"]
    lead, found = events[names.index("lead")], events[names.index("found")]
    assert "its proof is looked for" in lead["sentence"] and "proved" not in lead["sentence"]
    assert "the certificate is proved" in found["sentence"]
    assert "<svg" in lead["picture"]


def test_what_is_wrong_is_said_under_its_place_and_the_last_plan_stays(page):
    write(page, "axis t = 64\narray A[t]\nout = A + B")
    page.wait_for_selector("#wrong pre", timeout=WAIT * 1000)
    assert page.locator("#wrong").inner_text().startswith("Line 3, column 11: 'B' is no array")
    line, under = page.locator("#wrong pre").inner_text().split("\n")[:2]
    assert line == "out = A + B" and under.index("^") == line.index("B")
    assert page.locator("#marks mark").inner_text() == "B" and page.get_attribute("#text", "aria-invalid") == "true"
    boxes = page.evaluate(
        "['#marks mark', '#text'].map(e => document.querySelector(e).getBoundingClientRect().toJSON())"
    )
    assert boxes[1]["top"] < boxes[0]["top"] < boxes[1]["bottom"]
    assert page.locator("#result svg").count() >= 2
    write(page, SMALL)
    derived(page)
    assert page.locator("#wrong").inner_text() == "" and page.locator("#marks mark").count() == 0


def test_a_link_shows_the_same_to_another_tab_and_markup_is_shown(page, server):
    write(page, HOSTILE + SMALL)
    derived(page, "moves")
    other = page.context.new_page()
    other.goto(page.url)
    derived(other, "moves")
    assert other.input_value("#text") == HOSTILE + SMALL
    assert other.locator("#result svg").count() == page.locator("#result svg").count()
    assert other.evaluate("document.title") == "d · napkin_eq explorer"
    assert other.locator("#result img, #result script").count() == 0
    assert "<script>" in other.locator("#result svg desc").first.text_content()
    other.goto(f"http://127.0.0.1:{server[0]}/#not-a-state")
    other.close()


def test_a_page_that_is_loaded_again_in_the_middle_finds_its_derivation(page):
    write(page, spelled(DIAGRAMS["attention"]()).replace("4096", "2048"))
    until(
        page,
        "document.querySelector('#status').textContent.startsWith('Deriving') || "
        "document.querySelector('#status').textContent.includes(' s, ')",
    )
    page.reload()
    derived(page, "computes attention")
    assert "2048" in page.input_value("#text")


def children(server):
    found = subprocess.run(["pgrep", "-P", str(server[1].pid), "-f", "explore.worker"], capture_output=True, text=True)
    return [int(number) for number in found.stdout.split()]


def test_a_killed_worker_does_no_harm(page, server):
    assert len(children(server)) == 3
    for child in children(server):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    time.sleep(0.3)
    write(page, SMALL.replace("64", "96"))
    until(page, "document.querySelector('#status').textContent.length > 3")
    for _ in range(3):  # what was killed before it knew says so, and the next attempt is answered
        until(page, "!document.querySelector('#result').hasAttribute('aria-busy')")
        if "kernel" in page.locator("#status").inner_text():
            break
        write(page, page.input_value("#text") + "\n")
        time.sleep(0.4)
    derived(page)


@pytest.mark.slow
def test_two_hundred_random_edits_leave_a_page_that_works(page, server):
    rng = random.Random(0)
    texts = [spelled(DIAGRAMS[name]()) for name in ("matmul", "variance")] + [SMALL]
    signs = "()[]{}Σ_x·/+-e^√|?:=<≤ \n#1AQtmax,%<b>é\u202e"
    for number in range(200):
        text = rng.choice(texts)
        for _ in range(rng.randint(0, 2)):
            at = rng.randrange(len(text) + 1)
            stranger = "".join(rng.choice(signs) for _ in range(rng.randint(0, 3)))
            text = text[:at] + stranger + text[at + rng.randint(0, 2) :]
        write(page, text)
        if number % 10 == 0:
            until(page, "document.querySelector('#result').hasAttribute('aria-busy') == false")
            said = page.locator("#status").inner_text() + page.locator("#wrong").inner_text()
            assert not any(word in said for word in ("does not answer", "broke off", "fault"))
    write(page, SMALL)
    derived(page)


def asked(port, method="GET", path="/", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body=body, headers=given)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())
    finally:
        connection.close()


def test_only_a_page_of_ours_is_answered(server):
    port = server[0]
    body = json.dumps({"text": SMALL})
    good = {"content_type": "application/json"}
    assert asked(port)[0] == 200
    assert asked(port, Host="evil.example")[0] == 421 and asked(port, Host=f"127.0.0.1.evil.example:{port}")[0] == 421
    assert asked(port, Host=f"127.0.0.1:{port + 1}")[0] == 421 and asked(port, Host="localhost:" + str(port))[0] == 200
    assert asked(port, "POST", "/derive", body, **good, Origin="http://evil.example")[0] == 403
    assert asked(port, "POST", "/derive", body, **good, Origin="null")[0] == 403
    assert asked(port, "POST", "/derive", body, **good, Sec_Fetch_Site="cross-site")[0] == 403
    assert asked(port, "POST", "/derive", body, content_type="text/plain")[0] == 415
    assert asked(port, "PUT", "/derive", body, **good)[0] == 405
    assert asked(port, "POST", "/derive", "x" * (MAX_BODY + 1), **good)[0] == 413
    assert asked(port, "POST", "/derive", body, **good, content_length="-1")[0] in (400, 413)
    assert asked(port, "POST", "/derive", "[" * 100_000, **good)[0] == 400
    assert asked(port, "POST", "/derive", b"\xff\xfe", **good)[0] == 400
    for path in (
        "/../pyproject.toml",
        "/%2e%2e/%2e%2e/pyproject.toml",
        "/explorer.js/../server.py",
        "//etc/passwd",
        "/server.py",
        "/report.css%00",
    ):
        assert asked(port, path=path)[0] == 404, path
    status, text, headers = asked(
        port, "POST", "/derive", body, **good, Origin=f"http://127.0.0.1:{port}", Host=f"127.0.0.1:{port}"
    )
    events = [json.loads(line)["event"] for line in text.splitlines()]
    assert status == 200 and events[0] == "read" and events[-1] == "end" and {"found", "plan", "tried"} <= set(events)
    policy = headers["content-security-policy"]
    assert (
        "default-src 'none'" in policy
        and "script-src 'self';" in policy
        and headers["x-content-type-options"] == "nosniff"
    )


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "expected an object"),
        ({"text": 1}, "text"),
        ({"text": "x" * 30_000}, "text"),
        ({"text": "", "rules": ["/etc"]}, "unknown key"),
        ({"text": "", "hardware": "../../x.toml"}, "is not one of"),
        ({"text": "", "dtype": "float8"}, "is not one of"),
        ({"text": "", "sizes": {"x": True}}, "whole number"),
        ({"text": "", "sizes": {"x": 2**50}}, "whole number"),
        ({"text": "", "sizes": {"x" * 100: 1}}, "sizes"),
        ({"text": "", "without": ["x"] * 1000}, "without"),
    ],
)
def test_a_state_that_is_none_is_refused(data, says):
    with pytest.raises(NapkinError, match=says):
        checked(data, ["h200"])


def test_another_address_and_a_port_in_use_are_one_line(server, capsys):
    assert main(["serve", "--port", str(server[0])]) == 2
    assert main(["serve", "--address", "0.0.0.0"]) == 2
    assert main(["serve", "--address", "example.com"]) == 2
    assert main(["serve", "--port", "99999"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 4 and "already in use" in said[0] and "--expose" in said[1] and "out of range" in said[3]


def test_what_is_served_stands_in_the_package():
    from napkin_eq.explore.server import FILES

    assert all(place.is_file() and Path(place).suffix in (".js", ".css") for place, _ in FILES.values())


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_the_page_has_nothing_that_axe_finds_serious(server, browser, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    # The page's policy lets no script in, not even this one.
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server[0]}/{link(SMALL)}")
    derived(page)
    for text in (SMALL, "out = A"):
        write(page, text)
        page.wait_for_timeout(600)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = [v for v in axe.run(page).response["violations"] if v["impact"] in ("serious", "critical")]
        assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
