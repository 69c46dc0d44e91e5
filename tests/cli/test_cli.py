"""The command line: what each verb prints, exit statuses, and bad input answered with one clear line and nothing
half-written.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from napkin_eq.cli import main as cli
from napkin_eq.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["matmul", "--set", "m=512", "--set", "n=512", "--set", "k=512"]


def call(capsys, *argv: str) -> tuple[int, str, str]:
    """Run the command line in this process and return status, stdout, stderr."""
    try:
        status = cli.main(list(argv))
    except SystemExit as stop:
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def refused(capsys, *argv: str, status: int = 2) -> str:
    """Run what must be refused and return its one line."""
    got, out, err = call(capsys, *argv)
    assert got == status, (got, out, err)
    assert out == ""
    assert err.startswith("napkin-eq: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_help_is_quick(pace):
    def seconds() -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "napkin_eq.cli", "--help"], check=True, capture_output=True, cwd=ROOT)
        return time.perf_counter() - started

    assert min(seconds() for _ in range(5)) < 0.3 * pace()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_of_another_encoding_is_written_all_the_same(encoding):
    def written(told: str, *argv: str) -> str:
        env = {**os.environ, "PYTHONIOENCODING": told, "PYTHONUTF8": "0"}
        done = subprocess.run([sys.executable, "-m", "napkin_eq.cli", *argv], capture_output=True, cwd=ROOT, env=env)
        assert done.returncode == 0 and done.stderr == b"", done.stderr
        return done.stdout.decode(told)

    laws = json.loads(written(encoding, "laws", "distribute", "--json"))
    assert laws == json.loads(written("utf-8", "laws", "distribute", "--json"))
    assert "\\u03a3_x" in written(encoding, "laws", "distribute")


def test_every_verb_of_the_parser_exists(capsys):
    status, out, _ = call(capsys, "--help")
    assert status == 0
    for verb in VERBS:
        assert re.search(rf"\n    {verb}\s", out)
        assert call(capsys, verb, "--help")[0] == 0


def test_version(capsys):
    from napkin_eq import __version__

    assert call(capsys, "--version")[1] == f"napkin-eq {__version__}\n"


def test_list(capsys):
    _, out, _ = call(capsys, "list", "--json")
    data = json.loads(out)
    assert data["schema"] == 1
    assert data["hardware"] == ["a100", "h100", "h200"]
    names = [row["name"] for row in data["diagrams"]]
    assert {"attention", "matmul", "softmax"} <= set(names)
    assert names == sorted(names)
    _, text, _ = call(capsys, "list")
    assert all(name in text for name in (*names, *data["hardware"], *data["families"]))


def test_laws(capsys):
    _, out, _ = call(capsys, "laws", "reduction", "--json")
    rows = json.loads(out)["laws"]
    assert {row["family"] for row in rows} == {"reduction"}
    assert next(row for row in rows if row["name"] == "distribute")["both_ways"] is True
    _, text, _ = call(capsys, "laws", "distribute")
    assert "distribute" in text
    assert "fubini" not in text


# Bad words.


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "the following arguments are required: VERB"),
        (["fly"], "invalid choice: 'fly'"),
        (["derive"], "the following arguments are required: FILE_OR_NAME"),
        (["derive", "nothing"], "unknown diagram 'nothing'; one of"),
        (["derive", "matmul", "--hardware", "h300"], "unknown hardware 'h300'; one of a100, h100, h200"),
        (["derive", "matmul", "--dtype", "float7"], "unknown dtype 'float7'"),
        (["derive", "matmul", "--without", "magic"], "--without 'magic': no such law or family"),
        (["derive", "matmul", "--rules", "nowhere.py"], "'nowhere.py' does not exist"),
        (["derive", "matmul", "--set", "z=3"], "diagram matmul has no axis 'z'"),
        (["derive", "matmul", "--set", "m"], "--set 'm': expected AXIS=SIZE"),
        (["derive", "matmul", "--set", "m=1.5"], "--set 'm=1.5': expected AXIS=SIZE"),
        (["derive", "matmul", "--set", "m=-4"], "--set 'm=-4': expected AXIS=SIZE"),
        (["derive", "matmul", "--set", "m=²"], "--set 'm=²': expected AXIS=SIZE"),
        (["derive", "matmul", "--set", "m=0"], "axis m: size 0 is out of range"),
        (["derive", "matmul", "--set", "m=99999999999999"], "axis m: size 99999999999999 is out of range"),
        (["derive", "matmul", "--set", "m=4", "--set", "m=8"], "axis m is given the sizes 4 and 8; give it one"),
        (["derive", "nowhere.json"], "diagram nowhere.json: cannot be read"),
        (["derive", "nowhere.py"], "diagram nowhere.py: cannot be read: No such file"),
        (["run", "matmul", "--dtype", "float7"], "unknown dtype 'float7'"),
        (["prove", "no-such-law"], "unknown law or family 'no-such-law'"),
        (["laws", "no-such-law"], "unknown law or family 'no-such-law'"),
        (["check", "nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_words_are_refused_in_one_line(capsys, argv, message):
    assert message in refused(capsys, *argv)


# Bad files.

PREAMBLE = (
    "import napkin_eq as nq\nq, x, d = nq.axes('q x d', q=64, x=64, d=64)\nA, B = nq.array('A', q, d), nq.array('B', x,"
    " d)\n"
)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("out = (", "bad.py:4: '(' was never closed"),
        ("out = nope", "bad.py:4: NameError: name 'nope' is not defined"),
        ("nothing = 1", "defines neither `diagram` (a Diagram) nor `out` (a term)"),
        ("out = A * nq.array('C', nq.axes('d', d=32)[0])", "axis d has size"),
        ("out = nq.sum(A, x)", "the value has no axis x"),
        ("out = nq.matmul(A, nq.array('C', x), d)", "has no axis d"),
        ("out = nq.where(A, B, 0.0)", "argument 1 is real, expected bool"),
        ("out = nq.sum(A, d, where=A)", "the mask is real, expected bool"),
        ("out = nq.array('A', nq.axes('e', e=0)[0])", "axis e: size 0 is out of range"),
        ("out = nq.array('import', q)", "input 'import' is not a usable name"),
        ("out = nq.array('A', q, dtype='float7')", "input A: unknown dtype 'float7'"),
        ("out = A if A < B else B", "a term has no truth value"),
        ("out = nq.array('A; import os', q)", "is not a usable name"),
    ],
)
def test_bad_diagrams_are_refused_in_one_line(capsys, tmp_path, code, message):
    (tmp_path / "bad.py").write_text(PREAMBLE + code + "\n")
    assert message in refused(capsys, "derive", str(tmp_path / "bad.py"), "-o", str(tmp_path / "out"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.py"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 99}',
        "[" * 100_000 + "]" * 100_000,
        '{"schema": 1, "name": "__import__", "axes": {}, "outputs": {}}',
        '{"schema": 1, "name": "a", "axes": {"q": {"size": 1e400}}, "outputs": {}}',
        '{"schema": 1, "name": "a", "axes": {"q": ' + "9" * 10_000 + '}, "outputs": {}}',
        "\x00",
    ],
    ids=lambda text: text[:20],
)
def test_hostile_json_is_refused_in_one_line(capsys, tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    assert "bad.json" in refused(capsys, "derive", str(tmp_path / "bad.json"))


def test_json_that_is_no_text(capsys, tmp_path):
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe\x00")
    assert "is not a text in UTF-8" in refused(capsys, "derive", str(tmp_path / "bad.json"))


# Rules of a user's own.

FALSE_LAW = (
    'from napkin_eq.law import Sum, law\n\n\n@law("A square moves out of a sum.")\ndef wrong(a, x):\n    return Sum(x,'
    " a * a), Sum(x, a) * Sum(x, a)\n"
)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("from napkin_eq.law import law\nx = = 3\n", "mine.py:2: invalid syntax"),
        ("from napkin_eq.law import law\n\n1 / 0\n", "mine.py:3: ZeroDivisionError"),
        ("from napkin_eq.law import law\n\n\n@law('All.')\ndef bare(a, b):\n    return a, a + b\n", "law bare at"),
        (
            "from napkin_eq.law import law\n\n\n@law('Out of thin air.')\ndef thin(a, b):\n    return a * 1.0, a + b\n",
            "is not bound on the left",
        ),
        ("import sys\nsys.exit(0)\n", "mine.py:2: SystemExit"),
        ("raise GeneratorExit\n", "mine.py:1: GeneratorExit"),
        ("from napkin_eq.law import law\n", "states no law"),
        (
            "from napkin_eq.law import law\n\n\n@law\ndef f(a, b):\n    return a + b, b + a\n",
            "mine.py:4 lacks its reading",
        ),
        (
            "from napkin_eq.law import infer, le\n\n\n@infer\ndef f(a):\n    return le(a, a)\n",
            "mine.py:4 lacks its reading",
        ),
        ("from napkin_eq.law import law\n\n\n@law('')\ndef f(a, b):\n    return a + b, b + a\n", "its reading is ''"),
        ("from napkin_eq.law import law\nlaw('All.')(3)\n", "not by 3"),
        (
            "from napkin_eq.law import law\n\n\n@law('All.')\ndef f(a):\n    return a, 'b'\n",
            "'b' is neither a term nor a condition",
        ),
        (
            "from napkin_eq.law import law\n\n\n@law('All.')\ndef f(a, b):\n    return a + b, b + a, a\n",
            "expected two sides",
        ),
        (
            "from napkin_eq.law import law\n\n\n@law('All.')\ndef f(α, b):\n    return α + b, b + α\n",
            "'α' is no usable name",
        ),
        (
            (
                "from napkin_eq.law import law\n\n\ndef f(a, b):\n    return a + b, b + a\n\n\nf.__name__ ="
                " 'f\\n(assert false)'\nlaw('All.')(f)\n"
            ),
            "'f\\n(assert false)' is no usable name",
        ),
        (
            (
                "from napkin_eq.law import exp, law\n\n\n@law('All.')\ndef deep(a):\n    b = a\n    for _ in"
                " range(400):\n        b = exp(b)\n    return b, b + 0.0\n"
            ),
            "at most 64 are understood",
        ),
    ],
)
def test_bad_rules_are_refused_with_their_place(capsys, tmp_path, registry, code, message):
    (tmp_path / "mine.py").write_text(code)
    for argv in (("derive", *SMALL, "--rules", str(tmp_path / "mine.py")), ("prove", str(tmp_path / "mine.py"))):
        assert message in refused(capsys, *argv)


def test_what_a_rule_file_prints_is_no_part_of_the_answer(capsys, tmp_path, registry):
    (tmp_path / "mine.py").write_text(
        "from napkin_eq.law import law\nprint('noise')\n\n\n@law('All.')\ndef swapped(a, b):\n    return a + b, b + a\n"
    )
    status, out, err = call(capsys, "prove", str(tmp_path / "mine.py"), "--json")
    assert status == 0 and [row["name"] for row in json.loads(out)["laws"]] == ["swapped"] and err == "noise\n"


@pytest.mark.parametrize("argv", [["prove"], ["derive", *SMALL, "--rules"], ["derive", *SMALL, "--tuned"]])
def test_a_file_that_never_ends_is_refused(capsys, argv):
    assert "/dev/zero" in refused(capsys, *argv, "/dev/zero")


@pytest.mark.parametrize("name", ["pipe.json", "pipe.napkin", "pipe.py", "pipe.toml"])
def test_a_pipe_and_a_huge_file_are_refused_unread(capsys, tmp_path, name):
    pipe, huge = tmp_path / name, tmp_path / f"huge_{name}"
    os.mkfifo(pipe)
    with huge.open("wb") as opened:
        opened.truncate(1 << 32)
    argv = ["derive", *SMALL, "--hardware"] if name.endswith("toml") else ["derive"]
    assert "might never end" in refused(capsys, *argv, str(pipe)) and "4294967296 bytes" in refused(
        capsys, *argv, str(huge)
    )


def test_a_file_that_ends_the_process_is_refused(tmp_path):
    (tmp_path / "ends.py").write_text("import os\nif os.fork() == 0:\n    os._exit(0)\nos._exit(0)\n")
    for verb in ("prove", "derive"):
        done = subprocess.run(
            [sys.executable, "-m", "napkin_eq.cli", verb, str(tmp_path / "ends.py")],
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        assert (
            done.returncode == 2 and done.stderr.endswith("ends.py:4: SystemExit: 0\n") and done.stderr.count("\n") == 1
        )


def test_the_status_tells_where_the_error_cannot_be_written():
    for words in ("derive nothing", "list >/dev/full"):
        assert (
            subprocess.run(
                f"exec '{sys.executable}' -m napkin_eq.cli {words} 2>/dev/full", shell=True, cwd=ROOT
            ).returncode
            == 2
        )


def test_a_false_law_is_refuted_with_its_counterexample(capsys, tmp_path, registry):
    (tmp_path / "mine.py").write_text(FALSE_LAW)
    status, out, _ = call(capsys, "prove", str(tmp_path / "mine.py"))
    assert status == 1
    assert "refuted" in out
    assert "a" in out.split("wrong", 1)[1]  # in the law's own names


def test_a_false_law_never_enters_a_derivation(capsys, tmp_path, registry):
    (tmp_path / "mine.py").write_text(FALSE_LAW)
    line = refused(
        capsys, "derive", *SMALL, "--rules", str(tmp_path / "mine.py"), "-o", str(tmp_path / "out"), status=1
    )
    assert "wrong" in line
    assert not (tmp_path / "out").exists()


# Output folders.


def test_output_that_is_a_file(capsys, tmp_path):
    (tmp_path / "out").write_text("mine")
    assert "is a file, expected a folder" in refused(capsys, "derive", *SMALL, "-o", str(tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "mine"


def test_output_below_a_file(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused(capsys, "derive", *SMALL, "-o", str(tmp_path / "file" / "out"))


def test_output_that_may_not_be_written(capsys, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):  # the superuser may write anywhere but here
        folder = Path("/proc/napkin")
    assert "cannot be written" in refused(capsys, "derive", *SMALL, "-o", str(folder / "out"))


# The main job.


def test_derive_writes_everything_once_and_the_same_again(capsys, tmp_path):
    folder = tmp_path / "deep" / "out"
    status, out, _ = call(capsys, "derive", *SMALL, "--printer", "triton", "-o", str(folder))
    assert status == 0
    names = ["certificate.json", "matmul.py", "plan.txt", "report.json", "times.json"]
    assert sorted(p.name for p in folder.iterdir()) == names
    before = {name: (folder / name).read_bytes() for name in names if name != "times.json"}
    (folder / "mine.txt").write_text("kept")
    assert call(capsys, "derive", *SMALL, "--printer", "triton", "-o", str(folder))[0] == 0
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert (folder / "mine.txt").read_text() == "kept"
    assert sorted(p.name for p in folder.iterdir()) == sorted([*names, "mine.txt"])
    compile((folder / "matmul.py").read_text(), "matmul.py", "exec")
    status, out, _ = call(capsys, "check", str(folder / "certificate.json"))
    assert status == 0


def test_kernels_for_hopper_stand_beside_the_portable_ones(capsys, tmp_path):
    sizes = ["matmul", "--set", "m=512", "--set", "n=512", "--set", "k=512"]
    assert call(capsys, "derive", *sizes, "--printer", "gluon", "-o", str(tmp_path))[0] == 0
    assert "@gluon.jit" in (tmp_path / "matmul_hopper.py").read_text()
    assert "@triton.jit" in (tmp_path / "matmul.py").read_text()
    written = json.loads((tmp_path / "certificate.json").read_text())["evidence"]["kernels"]
    assert [kernel["file"] for kernel in written] == ["matmul.py", "matmul_hopper.py"]
    assert call(capsys, "check", str(tmp_path / "certificate.json"))[0] == 0


KEYS = (
    "schema diagram hardware dtype sizes kernels predicted_us bytes_hbm bytes_once unfused_bytes_hbm passes laws"
    " certificate egraph seconds"
).split()
KERNEL_KEYS = "name groups streams bytes_hbm flops_tensor ops_sfu smem_bytes predicted_us".split()


def test_derive_json_has_the_promised_keys(capsys):
    status, out, _ = call(capsys, "derive", *SMALL, "--json")
    assert status == 0
    data = json.loads(out)
    assert set(KEYS) <= set(data)
    assert data["schema"] == 1
    assert data["sizes"] == {"m": 512, "n": 512, "k": 512}
    for kernel in data["kernels"]:
        assert set(KERNEL_KEYS) <= set(kernel)
    assert data["kernels"][0]["flops_tensor"] == 2 * 512**3
    assert set(data["seconds"]) >= {"saturate", "extract", "total"}
    assert set(data["egraph"]) >= {"nodes", "classes", "rounds"}
    assert set(data["certificate"]) >= {"path", "status", "grade"}


def test_derive_source_is_the_kernel(capsys):
    _, out, _ = call(capsys, "derive", *SMALL, "--printer", "triton", "--source")
    assert "@triton.jit" in out
    compile(out, "kernel", "exec")


def test_own_diagram_from_python_and_json(capsys, tmp_path):
    from napkin_eq.cli.sources import find_diagram
    from napkin_eq.lang.json_form import dumps_diagram

    (tmp_path / "mine.py").write_text(PREAMBLE + "out = nq.sum(A * B, d)\n")
    diagram = find_diagram(str(tmp_path / "mine.py"))
    assert diagram.name == "mine"
    (tmp_path / "mine.json").write_text(dumps_diagram(diagram))
    assert find_diagram(str(tmp_path / "mine.json")).term is diagram.term
    assert find_diagram(str(tmp_path / "mine.json"), ["q=16"]).axes()[0].size == 16
    assert call(capsys, "derive", str(tmp_path / "mine.json"), "--json")[0] == 0


def test_without_a_family_the_plan_costs_more(capsys):
    # At its own sizes, where the GPU is full: at smaller ones most of the time goes to axes that might be cut
    best = json.loads(call(capsys, "derive", "attention", "--json")[1])
    worse = json.loads(call(capsys, "derive", "attention", "--without", "rescale", "--json")[1])
    assert best["passes"]["x"] == 1
    assert worse["passes"]["x"] > 1
    assert worse["predicted_us"] > best["predicted_us"]


# A fault of ours.


def test_a_fault_is_one_line_and_status_4(capsys, monkeypatch):
    def broken(args):
        raise KeyError("lost")

    monkeypatch.setitem(VERBS, "list", broken)
    monkeypatch.delenv("NAPKIN_DEBUG", raising=False)
    assert "internal fault, please report it: KeyError: 'lost'" in refused(capsys, "list", status=4)
    monkeypatch.setenv("NAPKIN_DEBUG", "1")
    with pytest.raises(KeyError):
        cli.main(["list"])


def test_a_reader_that_goes_away_is_no_fault():
    code = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'napkin_eq.cli.main', 'laws'],"
        " stdout=subprocess.PIPE, stderr=subprocess.PIPE)"
    )
    code += "; p.stdout.close(); p.wait(); print(p.returncode, p.stderr.read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "0 b''\n"


@pytest.mark.parametrize(
    ("redirected", "said"),
    [
        (">/dev/full", "the output cannot be written: No space left on device"),
        (">&-", "the standard output is closed; redirect it to a file or to /dev/null"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line(redirected, said):
    done = subprocess.run(
        f"exec '{sys.executable}' -m napkin_eq.cli list {redirected}",
        shell=True,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stderr) == (2, f"napkin-eq: {said}\n")


def test_with_no_stream_at_all_the_status_still_tells():
    assert (
        subprocess.run(f"exec '{sys.executable}' -m napkin_eq.cli list >&- 2>&-", shell=True, cwd=ROOT).returncode == 2
    )


@pytest.mark.parametrize(
    "argv",
    [["derive", *SMALL, "-o"], ["derive", *SMALL, "--rules"], ["prove", "--files"], ["derive", *SMALL, "--tuned"]],
)
def test_a_name_that_is_too_long_is_one_line(capsys, argv):
    assert "File name too long" in refused(capsys, *argv, "a" * 300)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 480 + "]" * 480, "name is None"),
        ("a = [\n" + "[\n" * 5000 + "]\n" * 5001, "not a"),
        ("a = " + "1" * 5000, "a line has 5004 characters"),
        ("a = 1e", "not a"),
        ("\x00", "not a"),
    ],
    ids=["nested", "deeper", "digits", "cut", "nul"],
)
def test_a_hostile_hardware_file_is_one_line(capsys, tmp_path, text, said):
    (tmp_path / "gpu.toml").write_text(text)
    assert said in refused(capsys, "derive", *SMALL, "--hardware", str(tmp_path / "gpu.toml"))


def test_a_reading_may_have_lines(tmp_path, registry, capsys):
    code = (
        'from napkin_eq.law import law\n\n\n@law("""Sums\n(assert false) turn.""")\ndef turned(a, b):\n    return a +'
        " b, b + a\n"
    )
    (tmp_path / "mine.py").write_text(code)
    assert call(capsys, "prove", str(tmp_path / "mine.py"))[0] == 0
    assert registry.statements["turned"].reading == "Sums (assert false) turn."


def test_an_interruption_leaves_no_traceback():
    # As it starts the process dies by the signal, later it says so; both before and after main nothing is left to print
    # a traceback.
    code = (
        "import signal, sys; sys.argv[0] = 'napkin-eq'; import napkin_eq.cli.main;"
        " print(signal.getsignal(signal.SIGINT) is signal.SIG_DFL)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True).stdout
        == "True\n"
    )
    code = (
        "import sys; sys.argv = ['napkin-eq', 'selftest']; import napkin_eq.cli.main as c; print('begun', flush=True);"
        " sys.exit(c.main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.0)
    process.send_signal(signal.SIGINT)
    # A first interrupt has it give what it has, once it looks; a second ends it.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    first, ended = (
        "napkin-eq: interrupted: this is what was seen until then; once more ends it\n",
        "napkin-eq: interrupted\n",
    )
    assert (process.returncode, said) in (
        (130, ended),
        (-signal.SIGINT, ""),
        (130, first + ended),
        (3, first),
        (-signal.SIGINT, first),
    )


TESTED_LAW = """
from napkin_eq.law import Map, exp, law, log, pos


@law("Half of a logarithm is that of the root.")
def half_log(a):
    return exp(log(a) * 0.5), Map("sqrt", (a,)), pos(a)
"""
ROOTS = """
import napkin_eq as nq
from napkin_eq.lang.diagram import Diagram

x, y = nq.axes("x y", x=64, y=64)
a = nq.array("A", x, y, facts=("pos",))
diagram = Diagram("roots", (("out", nq.sum(nq.exp(nq.log(a) * 0.5), y)),))
"""


def test_a_law_that_was_tested_only_enters_if_the_user_says_so(capsys, tmp_path, registry):
    law, diagram, folder = tmp_path / "mine.py", tmp_path / "roots.py", tmp_path / "out"
    law.write_text(TESTED_LAW)
    diagram.write_text(ROOTS)
    status, out, _ = call(capsys, "prove", str(law), "--json")
    (found,) = json.loads(out)["laws"]
    assert (status, found["verdict"], found["grade"], found["counterexample"]) == (3, "unknown", "D", None)
    line = refused(capsys, "derive", str(diagram), "--rules", str(law), status=3)
    assert "half-log" in line and "--allow-tested" in line
    status, out, _ = call(
        capsys, "derive", str(diagram), "--rules", str(law), "--allow-tested", "-o", str(folder), "--json"
    )
    report = json.loads(out)
    assert status == 0 and report["grades"]["half-log"] == "D" and report["certificate"]["grade"] == "D"
    certificate = json.loads((folder / "certificate.json").read_text())
    assert (certificate["status"], certificate["grade"], certificate["laws"]["half-log"]["proof"]["grade"]) == (
        "tested",
        "D",
        "D",
    )
    status, out, _ = call(capsys, "check", str(folder / "certificate.json"))
    assert status == 0 and "grade D" in out


def test_prove_json_has_the_promised_keys(capsys, registry):
    status, out, _ = call(capsys, "prove", "max-scale", "add-zero", "--json")
    data = json.loads(out)
    assert (
        status == 0
        and set(data) >= {"schema", "laws", "proved", "refuted", "unknown", "seconds"}
        and data["proved"] == 2
    )
    for law in data["laws"]:
        promised = {
            "name",
            "family",
            "verdict",
            "grade",
            "real",
            "floating_point",
            "solvers",
            "seconds",
            "conditions",
            "counterexample",
        }
        assert set(law) >= promised and law["verdict"] == "proved"
    by_name = {law["name"]: law for law in data["laws"]}
    assert by_name["max-scale"]["conditions"] == ["free(x, a)", "pos(a)"] and by_name["max-scale"]["solvers"] == {
        "z3": "proved",
        "cvc5": "proved",
    }
