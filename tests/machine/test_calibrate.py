"""Hardware files from measurements: what is measured stands in them, and what cannot be true is refused with its
number.
"""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path

import pytest

from napkin_eq.cli.main import main
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine import calibrate
from napkin_eq.machine.gpu import load, place, read


def row(name, value, **parameters):
    return {"name": name, "value": value, "unit": "", "spread": 0.01, **parameters}


MEASURED = {
    "schema": 1, "tool": "microbench", "gpu": "NVIDIA H200", "arch": "sm_90", "date": "2026-11-21",
    "versions": {"torch": "2.11.0", "triton": "3.6.0"},
    "clocks": {"before": {"clocks.sm": "345 MHz"}, "after": {"clocks.sm": "1980 MHz"}}, "faults": {},
    "device": {
        "threads_per_block": 1024, "warp": 32, "clock_khz": 1980000, "sms": 132, "memory_clock_khz": 3201000,
        "bus_bits": 6144, "l2_bytes": 62914560,
        "threads_per_sm": 2048, "smem_sm_bytes": 233472, "registers_per_sm": 65536, "smem_block_bytes": 232448,
        "blocks_per_sm": 32,
        "memory_bytes": 150_000_000_000,
    },
    "rows": [
        row("clock_idle", 1.98e9), row("clock_product", 1.45e9), row("launch", 4.21e-6), row("launch_nothing", 1.5e-6),
        row("hbm_copy", 4.01e12, by="torch"), row("hbm_copy", 4.2678e12, by="triton"), row("l2_read", 6.5e12),
        row("l2_read_shared", 9.5e12),
        row("tile", 1.1e14, dtype="bfloat16", m=16, n=64, k=128, warps=4),
        row("tile", 7.4e14, dtype="bfloat16", m=128, n=256, k=64, warps=8),
        row("tile", 1.4e15, dtype="float8", m=128, n=256, k=128, warps=8),
        row("fma", 2.7e13), row("exp2", 3.6e12), row("mix", 1.8e12), row("overlap", -0.02), row("overlap", 0.3),
        row("overlap", 0.5),
    ],
}  # fmt: skip


def changed(tmp_path, change):
    data = copy.deepcopy(MEASURED)
    change(data)
    file = tmp_path / "microbench.json"
    file.write_text(json.dumps(data))
    return file


def value(name, number, **parameters):
    """Give every measurement of a name, with these parameters, another value."""

    def change(data):
        rows = [r for r in data["rows"] if r["name"] == name and all(r.get(k) == v for k, v in parameters.items())]
        assert rows
        for found in rows:
            found["value"] = number

    return change


def test_what_was_measured_stands_in_the_file(tmp_path, capsys):
    out = tmp_path / "mine.toml"
    assert main(["calibrate", "--from", str(changed(tmp_path, lambda data: None)), "-o", str(out)]) == 0
    assert "NVIDIA H200, measured 2026-11-21" in capsys.readouterr().out
    gpu, base = load(str(out)), load("h200")
    assert (gpu.hbm.copy_bandwidth, gpu.l2.copy_bandwidth, gpu.chip.launch_s, gpu.l2.capacity_bytes) == (
        4.27e12,
        9.5e12,
        4.21e-6,
        62914560,
    )
    assert (gpu.assumptions, gpu.tensor, gpu.divisors, gpu.chip.clock_hz) == (
        base.assumptions,
        base.tensor,
        base.divisors,
        base.chip.clock_hz,
    )
    text = out.read_text()
    for told in ("2026-11-21", "torch 2.11.0", "clocks.sm 1980 MHz", "128x256x64/8 740", "1.45e9 after"):
        assert told in text
    main(["calibrate", "--from", str(tmp_path / "microbench.json"), "--hardware", "h200"])
    assert capsys.readouterr().out == text


def test_assumptions_and_what_is_kept_have_the_measurement_beside_them(tmp_path):
    text = calibrate.calibrated(MEASURED, "h200", ["chip.launch_s"]).text
    # Exponentials are the slower of what is mixed: 1.8e12 of 16 a clock on 132 processors at 1.83 GHz.
    share = 1.8e12 / (16 * 132 * 1.83e9)
    assert share == pytest.approx(0.47, abs=0.005)
    for entry, told in (
        ("unit_efficiency = 0.8", "0.47 by itself"),
        ("overlap = 0.35", "0.30 by itself"),
        ("launch_s = 3.45e-6", "4.21e-06: from the event"),
    ):
        (line,) = (line for line in text.splitlines() if line.startswith(f"{entry} #"))
        assert line.count("; measured ") == 1 and told in line
    file = tmp_path / "h200.toml"
    file.write_text(text)
    assert read(file).chip.launch_s == 3.45e-6
    with pytest.raises(
        NapkinError, match="--keep 'chip.sums': expected an entry that is measured: chip.launch_s, chip.sms"
    ):
        calibrate.calibrated(MEASURED, "h200", ["chip.sums"])


def test_the_shipped_file_is_what_the_recorded_measurements_make_of_it():
    data = calibrate.read(Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "microbench_h200.json")
    assert calibrate.stated(data, None) == "h200"
    assert calibrate.calibrated(data, "h200", ["chip.launch_s", "l2.copy_bandwidth"]).text == place("h200").read_text()
    assert load("h200").hbm.copy_bandwidth == pytest.approx(
        max(r["value"] for r in data["rows"] if r["name"] == "hbm_copy"), rel=1e-3
    )


def test_a_file_that_cannot_be_changed_line_by_line_is_refused(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(place("h200").read_text().replace("[hbm]", "[ hbm ]"))
    assert load(str(mine)).hbm == load("h200").hbm
    with pytest.raises(NapkinError, match="write each on a line of its own"):
        calibrate.calibrated(MEASURED, str(mine))


WRONG = [
    (value("hbm_copy", 0), "hbm_copy is 0, expected a positive number"),
    (value("mix", math.nan), "mix is nan, expected a positive number"),
    (value("exp2", math.inf), "exp2 is inf"),
    (value("tile", "7e14"), "tile is '7e14'"),
    (value("overlap", math.nan), "overlap is nan"),
    (value("hbm_copy", 4.9e12), r"hbm_copy is 4.9e\+12, 102% of the stated 4.8e\+12, expected 20% to 100%"),
    (value("hbm_copy", 9e11), "hbm_copy is 9e[+]11, 19% of"),
    (value("l2_read_shared", 1.3e13), "l2_read_shared is 1.3e[+]13, 108% of"),
    (
        value("tile", 1.2e15, dtype="bfloat16"),
        "tile is 1.2e[+]15, 121% of the stated 9.894e[+]14, expected 20% to 110%",
    ),
    (value("tile", 1.5e14, dtype="bfloat16"), "tile is 1.5e[+]14, 15% of"),
    (value("fma", 1e12), "fma is 1e[+]12, 3% of"),
    (value("exp2", 5e12), "exp2 is 5e[+]12, 129% of"),
    (value("clock_idle", 2.5e9), "clock_idle is 2.5e[+]09, 137% of"),
    (value("launch", 2e-3), "launch is 0.002 s, expected"),
    (
        lambda data: data["rows"].clear() or data["faults"].update(memory="OutOfMemory: x"),
        "l2_read_shared is missing .memory failed: OutOfMemory: x.",
    ),
    (lambda data: data.update(tool="other"), "not a file of benchmarks/carried/microbench.py"),
    (lambda data: data.update(rows=3), "rows is no list"),
    (lambda data: data.update(date="2026\n11"), "gpu, arch or date is no text on one line"),
    (lambda data: data.update(arch="sm_75"), "NVIDIA H200: no hardware file states its peaks"),
    (lambda data: data["device"].update(sms=114), "no hardware file states its peaks"),
    (lambda data: data["device"].update(memory_bytes=30_000_000_000), "no hardware file states its peaks"),
    (lambda data: data["device"].pop("l2_bytes"), "device lacks one of .*l2_bytes"),
    (lambda data: data["device"].update(sms=0), "no positive integer"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_what_cannot_be_true_is_refused_with_its_number(tmp_path, change, message):
    with pytest.raises(NapkinError, match=message) as raised:
        data = calibrate.read(changed(tmp_path, change))
        calibrate.calibrated(data, calibrate.stated(data, None))
    assert "\n" not in str(raised.value)


def test_another_gpu_is_refused(tmp_path, capsys):
    file = str(changed(tmp_path, lambda data: None))
    for name, why in (("a100", "is sm_90, a100 sm_80"), ("h100", "bytes of memory")):
        assert main(["calibrate", "--from", file, "--hardware", name]) == 2
        assert why in capsys.readouterr().err


def test_files_that_are_none(tmp_path, capsys):
    (tmp_path / "text.json").write_text("{")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for name, why in (
        ("nowhere.json", "cannot be read"),
        ("text.json", "not a JSON file"),
        ("deep.json", "not a JSON file"),
    ):
        assert main(["calibrate", "--from", str(tmp_path / name)]) == 2
        said = capsys.readouterr().err
        assert why in said and said.count("\n") == 1


def test_without_a_device_it_says_so_in_one_line(capfd, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert main(["calibrate"]) == 2
    said = capfd.readouterr().err
    assert "no CUDA device here" in said and said.count("\n") == 1
