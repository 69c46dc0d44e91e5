"""Hardware files against published figures, and files that are wrong."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.cost import price, profile
from napkin_eq.machine.gpu import CAME_FROM, FITTED, FOLDER, known, load, read
from napkin_eq.machine.term_cost import TermCost
from tests import plans

# Dense 16-bit TFLOP/s and HBM TB/s from NVIDIA's data sheets, TFLOP/s of float32.
PUBLISHED = {"h200": (989.4, 4.8, 67), "h100": (989.4, 3.35, 67), "a100": (312, 2.039, 19.5)}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_rates_are_the_published_ones(name):
    gpu, (tensor, hbm, plain) = load(name), PUBLISHED[name]
    assert gpu.name == name
    assert gpu.flops("bfloat16") == gpu.flops("float16") == pytest.approx(tensor * 1e12, rel=2e-3)
    # The sheets quote float32 at a higher boost clock
    assert gpu.flops("float32") == pytest.approx(plain * 1e12, rel=0.09)
    assert gpu.hbm.bandwidth == pytest.approx(hbm * 1e12)


def test_every_shipped_file_is_tested():
    assert known() == sorted(PUBLISHED)


def test_chip_wide_exponentials_of_an_h200():
    assert load("h200").rate("sfu") == pytest.approx(3.9e12, rel=0.02)  # 16 a clock on 132 SMs at 1.83 GHz


def test_unknown_names_are_listed():
    with pytest.raises(NapkinError, match=r"unknown hardware 'h300'; one of a100, h100, h200"):
        load("h300")
    with pytest.raises(NapkinError, match="unknown unit 'warp'; one of sfu, fma, integer"):
        load("h200").rate("warp")


@pytest.mark.parametrize(
    ("smem", "threads", "registers", "blocks"),
    [
        (164_000, 256, 187, 1),  # a large attention tile: one block fits
        (98_304, 128, 255, 2),
        (0, 1024, 32, 2),  # bound by threads
        (0, 32, 16, 32),  # bound by blocks
        (232_448, 128, 64, 1),
        (232_449, 128, 64, 0),
        (0, 128, 256, 0),
        (0, 1056, 16, 0),
    ],
)
def test_resident_blocks(smem, threads, registers, blocks):
    assert load("h200").resident_blocks(smem_bytes=smem, threads=threads, registers_per_thread=registers) == blocks


def test_own_file(tmp_path):
    text = (FOLDER / "h100.toml").read_text().replace('name = "h100"', 'name = "mine"')
    (tmp_path / "mine.toml").write_text(text)
    assert load(str(tmp_path / "mine.toml")).name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sms = 132", "", r"\[chip\]: sms is missing"),
        ("sms = 132", "sms = 132.5", r"\[chip\]: sms is 132.5, expected a positive integer"),
        ("sms = 132", "sms = true", "sms is True, expected a positive integer"),
        ("sms = 132", "sms = -1", "sms is -1, expected a positive integer"),
        ("clock_hz = 1.83e9", "clock_hz = nan", "clock_hz is nan, expected a positive number"),
        (
            "clock_hz = 1.83e9",
            "clock_hz = 1e-300",
            "clock_hz is 1e-300, expected a positive number from 1e-12 to 1e\\+18",
        ),
        ("sms = 132", "sms = 132\n" + "a." * 50000 + "b = 1", "a line has 100005 characters; at most 1000 are read"),
        ("sms = 132", "sms = 132\n" + "# \n" * 90000, "has 27[0-9]* bytes; at most 262144 are read"),
        ("sms = 132", "sms = 132\ncores = 3", r"\[chip\]: unknown entry 'cores'"),
        ("tf32 =", "tf64 =", r"\[tensor\]: expected FLOP per clock"),
        ("bfloat16 = 4096", "bfloat16 = 0", r"\[tensor\]: bfloat16 is 0, expected a positive integer"),
        (r"\[l2\]", "[l3]", "l2 is missing"),
        ('name = "h200"', "name = 3", "name is 3, expected a text on one line"),
        ('name = "h200"', 'name = "a\\nb"', "expected a text on one line"),
        (
            "block_bytes = 232_448",
            "block_bytes = 300_000",
            "a block may take 300000 bytes of shared memory, an SM has 233472",
        ),
        (r"overlap = \S+", "overlap = 3.5", "overlap is 3.5, expected a fraction of at most 1"),
        (r"copy_bandwidth = \S+", "copy_bandwidth = 5e12", "more than the peak 4.8e"),
        (r"\[chip\]", "[chip", "not a TOML file"),
    ],
)
def test_wrong_files_are_refused(tmp_path, old, new, message):
    text = (FOLDER / "h200.toml").read_text()
    changed, count = re.subn(old, lambda _: new, text, count=1)
    assert count == 1
    (tmp_path / "wrong.toml").write_text(changed)
    with pytest.raises(NapkinError, match=message) as raised:
        read(tmp_path / "wrong.toml")
    assert "wrong.toml" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_missing_file():
    with pytest.raises(NapkinError, match="cannot be read"):
        read(Path("nowhere.toml"))


def test_every_number_of_the_model_says_where_it_came_from():
    names = {f"{section}.{entry.name}" for section, cls in FITTED.items() for entry in fields(cls)}
    for name in known():
        gpu = load(name)
        assert set(gpu.sources) == names
        assert {said.partition(":")[0] for said in gpu.sources.values()} <= set(CAME_FROM)
        # On others next to nothing of the model was measured, and they do not say so
        own = {at for at, said in gpu.sources.items() if not said.startswith("assumed: ")}
        fitted = ("skewed", "drifting", "pages", "taken", "kernel_s", "following_s")
        measured = {"groups.column_clocks", *(f"model.{entry}" for entry in fitted)}
        assert own == {"h100": measured, "a100": set()}.get(name, own)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("read_rate = 1.04", r"\[model\]: read_rate is 1.04, expected \[number, where it came from\]"),
        ('read_rate = [1.04, "somebody"]', "the latter measured, fitted or assumed, a colon and how"),
        ('read_rate = [-1, "fitted: so"]', r"\[model\]: read_rate is -1, expected a positive number"),
        ('read_rat = [1, "fitted: so"]', r"\[model\]: read_rate is missing"),
    ],
)
def test_a_number_of_the_model_without_a_source_is_refused(tmp_path, line, said):
    text = re.sub(r"(?m)^read_rate = .*$", line, (FOLDER / "h200.toml").read_text())
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(NapkinError, match=said):
        load(str(tmp_path / "mine.toml"))


def test_prices_follow_the_numbers_of_the_file():
    kernel = plans.matmul("bf16", (4096, 4096, 4096), (128, 128, 64), stages=3).plan.kernels[0]
    gpu = load("h200")

    def cost(machine):
        return price(profile(kernel), {}, 8, 3, machine).predicted_us

    for name, factor in (("kernel_s", 100.0), ("trip_clocks", 10.0), ("block_s", 10.0)):
        assert cost(replace(gpu, model=replace(gpu.model, **{name: factor * getattr(gpu.model, name)}))) > cost(gpu)


def test_what_ranks_forms_counts_as_the_model_does():
    gpu, x = load("h200"), nq.Axis("x", 4096)
    of = TermCost(gpu, 2)
    assert of.load(1000) == 2000 / gpu.l2.copy_bandwidth
    assert of.pointwise("exp", 1000, scaled=False) == 1000 / gpu.rate("sfu")
    assert (
        of.pointwise("mul", 1000, scaled=True)
        < of.pointwise("neg", 1000, scaled=False)
        < of.pointwise("add", 1000, scaled=False)
    )
    assert of.contraction(10**9, x, 1.0) == pytest.approx(2e9 / (gpu.flops("bfloat16") * gpu.ranking.matrix))
    assert of.contraction(10**9, nq.Axis("y", 4), 1.0) == 4 * of.contraction(10**9, x, 1.0)
    assert of.walk(shared=True) < of.walk(shared=False)
