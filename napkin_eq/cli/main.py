"""The command line: `napkin-eq VERB`. Exit status 0 done, 1 refuted or failed, 2 bad input, 3 unknown, 4 a fault of
ours.
"""

from __future__ import annotations

import _thread
import argparse
import codecs
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

from napkin_eq.egraph.budget import SECONDS
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.errors import INTERNAL, USAGE, NapkinError

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

DTYPES, PRINTERS = tuple(STORAGE), ("auto", "gluon", "triton")
LATER = 0.01  # seconds, by which a destructor is done


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"napkin-eq: {' '.join(message.split())}; see {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status; errors become one line on stderr."""
    whole = argv is None  # this process is the command line's own
    try:
        if whole:
            if isinstance(sys.stdout, TextIOWrapper):  # which may be of another encoding than UTF-8
                codecs.register_error("napkin", _escaped)
                sys.stdout.reconfigure(errors="napkin")
            sys.unraisablehook = _again
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = _main(argv)
    except KeyboardInterrupt:
        status = _say("interrupted", 130)
        if whole:
            # What was stopped half-way, a solver say, is not taken apart piece by piece, with complaints
            os._exit(status)
    if whole:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return status


def _escaped(problem: UnicodeError) -> tuple[str, int]:
    """Return what an encoding lacks as JSON writes it, an arrow as \\u2192, and where the text goes on."""
    assert isinstance(problem, UnicodeEncodeError)
    units = problem.object[problem.start : problem.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)), problem.end


def _again(problem: UnraisableHookArgs) -> None:
    """Interrupt the process again where an interrupt fell into a destructor, which loses it; other complaints go their
    usual way.
    """
    if isinstance(problem.exc_value, KeyboardInterrupt):
        threading.Timer(LATER, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(problem)


def _main(argv: Sequence[str] | None) -> int:
    args = _parser().parse_args(argv)
    if sys.stdout is None:  # closed before the process began
        return _say("the standard output is closed; redirect it to a file or to /dev/null", USAGE)
    try:
        # The verbs are a file of their own, so that --help stays light.
        from napkin_eq.cli.verbs import VERBS

        status = VERBS[args.verb](args)
        sys.stdout.flush()
        return status
    except NapkinError as error:
        return _say(str(error), error.exit_code)
    except BrokenPipeError:
        _forget_output()  # the reader went away (head, less): nobody is left to tell
        return 0
    except OSError as error:
        # What the system refuses is no fault of ours: a file by its name, or else the standard output.
        if error.filename is None:
            _forget_output()
            return _say(f"the output cannot be written: {error.strerror or error}", USAGE)
        return _say(f"{error.filename!s:.120}: {error.strerror or error}", USAGE)
    except Exception as error:
        if os.environ.get("NAPKIN_DEBUG"):
            raise
        fault = f"{type(error).__name__}: {error!s:.300}"
        return _say(f"internal fault, please report it: {fault} (NAPKIN_DEBUG=1 shows where)", INTERNAL)


def _forget_output() -> None:
    """Send what is still to be written nowhere, so that the interpreter does not fail on it once more as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, status: int) -> int:
    if sys.stderr is not None:
        with suppress(OSError):  # where it is full, the status still tells
            print(f"napkin-eq: {' '.join(message.split())}", file=sys.stderr)
    return status


def _parser() -> Parser:
    from napkin_eq import __version__

    parser = Parser(prog="napkin-eq", description="Derive fused GPU kernels from diagrams, by proved laws.")
    parser.add_argument("--version", action="version", version=f"napkin-eq {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)

    derive = verbs.add_parser("derive", help="the main job: diagram → plan, kernel, certificate")
    _diagram(derive)
    _search(derive)
    _budget(derive)
    derive.add_argument(
        "-o", "--output", metavar="DIR", help="write kernel, certificate, plan and report into this folder"
    )
    _tested(derive)
    derive.add_argument(
        "--front", action="store_true", help="show the plans that no other is both faster and more accurate than"
    )
    derive.add_argument(
        "--index", action="store_true", help="prove that no access is out of bounds and every element is written once"
    )
    derive.add_argument(
        "--probe",
        action="store_true",
        help="evaluate more of what the e-graph holds equal, in float64, and say how much; exit 1 if it is not",
    )
    derive.add_argument(
        "--tuned", metavar="FILE", help="take the tiles that `napkin-eq tune` measured, where this file has them"
    )
    derive.add_argument(
        "--sizes",
        action="store_true",
        help="several plans for the sizes that are left open, and the guards that choose among them",
    )
    derive.add_argument("--source", action="store_true", help="print the kernels' source instead of the report")
    _json(derive)

    explain = verbs.add_parser("explain", help="why this plan: what it costs without each family of laws it used")
    _diagram(explain)
    _tested(explain)
    _search(explain)
    _budget(explain)
    explain.add_argument("--steps", action="store_true", help="say how instead: the derivation, move by move")
    _json(explain)

    draw = verbs.add_parser(
        "draw", help="a diagram or a law as a picture; with --plan what was derived, with --steps how"
    )
    _diagram(draw)
    told = "write into this .svg, .png or .pdf file, of --steps also .html (default: print SVG)"
    draw.add_argument("-o", "--output", metavar="FILE", help=told)
    shown = draw.add_mutually_exclusive_group()
    shown.add_argument(
        "--plan", action="store_true", help="draw the derived plan: memory levels, groups, streams, costs"
    )
    shown.add_argument("--steps", action="store_true", help="draw the derivation, move by move")
    theme = draw.add_mutually_exclusive_group()
    theme.add_argument(
        "--dark",
        dest="theme",
        action="store_const",
        const="dark",
        help="dark paper (default: as the reader's screen prefers)",
    )
    theme.add_argument("--light", dest="theme", action="store_const", const="light", help="light paper")
    _search(draw)
    _budget(draw)
    draw.set_defaults(allow_tested=False)

    report = verbs.add_parser(
        "report", help="one HTML file: what changed, why it is right, why it is fast, and why not otherwise"
    )
    _diagram(report)
    _tested(report)
    _search(report)
    _budget(report)
    report.add_argument("-o", "--output", metavar="FILE", help="default: the diagram's name with .html, in this folder")
    report.add_argument(
        "--tuned", metavar="FILE", help="take the tiles that `napkin-eq tune` measured, where this file has them"
    )
    report.add_argument("--plain", action="store_true", help="without compiling the kernels ahead of time")

    told = "the report live, in a browser on this machine: write diagrams, change sizes, GPUs and laws"
    serve = verbs.add_parser("serve", help=told)
    serve.add_argument("--port", type=int, default=8733, metavar="PORT", help="default 8733; 0 takes a free one")
    serve.add_argument("--address", default="127.0.0.1", metavar="ADDRESS", help="of this machine (default 127.0.0.1)")
    serve.add_argument("--expose", action="store_true", help="allow an address that others can reach")
    serve.add_argument("--workers", type=int, default=2, metavar="N", help="processes that derive (default 2)")
    serve.add_argument("--limit", type=float, default=SECONDS, metavar="SECONDS",
                       help=f"for each search, counted by what it does (default {SECONDS:g})")

    told = "the model on a napkin: what is moved and held, in closed form, beside what is predicted and was measured"
    model = verbs.add_parser("model", help=told)
    _diagram(model)
    _tested(model)
    _search(model)
    _budget(model)
    model.add_argument("--level", metavar="LEVEL", help="only this level of memory: l2 or smem (default: all)")
    model.add_argument("--type", dest="types", action="append", default=[], metavar="ARRAY=TYPE",
                       help="in the configuration, of an array or of `work`, what is computed: float8, float16, "
                            "bfloat16, float32; repeatable")
    model.add_argument("--tile", dest="tiles", action="append", default=[], metavar="AXIS=SIZE",
                       help="in the configuration, of an axis; repeatable")
    model.add_argument("--piece", dest="pieces", action="append", type=int, default=[], metavar="N",
                       help="columns of a result that is rescaled, added up at a time; repeatable (default 32 and 8)")
    _json(model)

    run = verbs.add_parser("run", help="run the derived kernel against float64 (GPU, or Triton's interpreter on a CPU)")
    _diagram(run)
    _search(run)
    _budget(run)
    run.add_argument(
        "--device", choices=("auto", "cuda", "cpu"), default="auto", help="default: the GPU where there is one"
    )
    run.add_argument(
        "--into", metavar="CERTIFICATE", help="add what is seen, seeds included, to this certificate's evidence"
    )
    run.add_argument("--seed", type=int, default=0, help="of the random inputs (default 0)")
    run.add_argument(
        "--family",
        action="append",
        default=[],
        metavar="NAME",
        help="inputs to try: a family by name, or all; repeatable (default normal)",
    )
    _json(run)

    prove = verbs.add_parser("prove", help="prove the laws; a false one prints its counterexample")
    prove.add_argument(
        "what", nargs="*", metavar="LAW_OR_PATH", help="names of laws or families, rule files or folders (default: all)"
    )
    prove.add_argument(
        "--write",
        metavar="PATH",
        help="write the scripts that the proofs rest on below this folder, or the theorems for Rocq to this FILE.v",
    )
    prove.add_argument(
        "--files",
        metavar="DIR",
        nargs="?",
        const="",
        help="have every solver answer the scripts below a folder (default: the shipped ones)",
    )
    _quiet(prove)
    _json(prove)

    check = verbs.add_parser("check", help="re-validate a certificate, trusting neither the e-graph nor the search")
    check.add_argument("certificate", metavar="FILE")
    check.add_argument(
        "--of",
        metavar="DIAGRAM",
        help="refuse a theorem that is not about this diagram: a name of the gallery, or a file",
    )
    check.add_argument(
        "--set", action="append", default=[], metavar="AXIS=SIZE", help="with --of: the sizes that it was derived with"
    )
    check.add_argument(
        "--smt", action="store_true", help="have the solvers answer the scripts again that its laws rest on"
    )
    check.add_argument(
        "--rocq",
        action="store_true",
        help="have Rocq check the core theorem again, and the theorems that its laws cite, by coqc and coqchk",
    )
    _json(check)

    laws = verbs.add_parser("laws", help="the catalogue of laws")
    laws.add_argument(
        "what", nargs="*", metavar="LAW_OR_PATH", help="names of laws or families, rule files or folders (default: all)"
    )
    laws.add_argument("--markdown", action="store_true", help="as docs/laws.md")
    _json(laws)

    told = (
        "test the verifier itself: wrong laws, forged certificates and broken kernels that it must refuse, good ones"
        " that it must accept"
    )
    selftest = verbs.add_parser("selftest", help=told)
    selftest.add_argument(
        "part", nargs="?", choices=("laws", "certificates", "kernels"), help="only this part (default: all)"
    )
    _quiet(selftest)
    _json(selftest)

    fuzz = verbs.add_parser(
        "fuzz",
        help=(
            "derive random diagrams and hold term, plan, kernel and certificate against each other; exit 1 if any"
            " differ, 3 if too few derive"
        ),
    )
    fuzz.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        metavar="N",
        help="how long (default 60); what is found may be shrunk a minute longer",
    )
    fuzz.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="of the diagrams (default 0): the same seed draws the same ones",
    )
    fuzz.add_argument("--nodes", type=int, default=45, metavar="N", help="the most nodes of a diagram (default 45)")
    fuzz.add_argument(
        "--run", action="store_true", help="also run the emitted kernels: on the GPU here, else in Triton's interpreter"
    )
    fuzz.add_argument(
        "--first", type=int, default=0, metavar="N", help="begin with this diagram of the seed (default 0)"
    )
    fuzz.add_argument("--jobs", type=int, default=1, metavar="N", help="processes that share the diagrams (default 1)")
    fuzz.add_argument(
        "-o", "--output", metavar="DIR", help="write each diagram that was found into this folder, as JSON"
    )
    _quiet(fuzz)
    _json(fuzz)

    calibrate = verbs.add_parser(
        "calibrate", help="measure the GPU here by micro-benchmarks and make its hardware file"
    )
    calibrate.add_argument(
        "--hardware",
        metavar="GPU",
        help="whose stated peaks hold: a name or a .toml file (default: the shipped GPU that fits)",
    )
    calibrate.add_argument(
        "--from", dest="from_", metavar="RESULTS", help="take what microbench.py wrote on another machine"
    )
    calibrate.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="ENTRY",
        help="leave an entry, such as chip.launch_s, as it is; repeatable",
    )
    calibrate.add_argument("-o", "--output", metavar="FILE", help="write the hardware file here instead of printing it")

    tune = verbs.add_parser(
        "tune", help="measure the best plans on the GPU here and keep the fastest in a file to ship"
    )
    _diagram(tune)
    _search(tune)
    tune.set_defaults(max_error=None, limit=SECONDS)
    _tested(tune)
    tune.add_argument("-k", "--keep", type=int, default=8, metavar="N", help="how many plans to measure (default 8)")
    elsewhere = tune.add_mutually_exclusive_group()
    elsewhere.add_argument(
        "--emit",
        metavar="DIR",
        help="write the plans and what measures them into a folder to carry to a GPU, and measure nothing",
    )
    elsewhere.add_argument("--from", dest="from_", metavar="RESULTS", help="take what that folder's trial.py wrote")
    tune.add_argument(
        "-o",
        "--output",
        default="tuned.json",
        metavar="FILE",
        help="the file that keeps the fastest plans (default tuned.json)",
    )
    _json(tune)

    listing = verbs.add_parser("list", help="the diagrams, the GPUs, the families of laws")
    _json(listing)
    return parser


def _diagram(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("diagram", metavar="FILE_OR_NAME",
                      help="a diagram of the gallery, a .json or .napkin file, or a .py file that defines `diagram`")
    verb.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="AXIS=SIZE",
        help="give an axis a size, any to leave it open; repeatable",
    )


def _search(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--hardware", default="h200", metavar="GPU", help="a name or a .toml file (default h200)")
    verb.add_argument("--dtype", default=None, metavar="DTYPE", help=f"storage type: {', '.join(DTYPES)}")
    verb.add_argument(
        "--printer",
        choices=PRINTERS,
        default="auto",
        help="kernels in portable Triton, in Gluon for Hopper, or each as is faster (default)",
    )
    verb.add_argument(
        "--library",
        action="store_true",
        help="let a library's matrix products take the place of kernels: trusted, not proved",
    )
    verb.add_argument(
        "--without", action="append", default=[], metavar="LAW_OR_FAMILY", help="leave out a law or family; repeatable"
    )
    verb.add_argument(
        "--rules",
        action="append",
        default=[],
        metavar="PATH",
        help="more laws: a .py file or a folder of them; repeatable",
    )
    _quiet(verb)


def _quiet(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def _budget(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--max-error",
        type=float,
        metavar="X",
        help="the relative rounding error that a plan may have: slower plans may round less",
    )
    verb.add_argument(
        "--limit",
        type=float,
        default=SECONDS,
        metavar="SECONDS",
        help=f"for the search, counted by what it does (default {SECONDS:g}); then the best plan so far is taken",
    )


def _tested(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--allow-tested",
        action="store_true",
        help="let in laws that were tested but not proved; what uses one is graded D",
    )


def _json(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="print one JSON object (schema 1)")
