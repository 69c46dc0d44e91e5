"""The fuzzer: random diagrams are derived, and everything that says what one means is held against everything else.

The value of the diagram's own term in float64 is the measure. Held against it: the value of the extracted term, the
plan as the NumPy printer runs it in float64 and, within its error bound, as its types round, products also fused with
what they are added to, where asked for the emitted kernels, on a GPU or in Triton's interpreter, within their bound,
the certificate by the independent checker, and the diagram read back from its JSON. A diagram of which some axes are
left open is held at several of their sizes. What disagrees is made smaller (shrink.py).
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any

from napkin_eq.egraph.budget import METER
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.term import Term
from napkin_eq.numerics.sample_inputs import Drawn, Family, Place, draw
from napkin_eq.prove.watch import reported
from napkin_eq.verify.fuzz.random_diagrams import Shape, random_diagram
from napkin_eq.verify.fuzz.shrink import shrunk

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from napkin_eq.pipeline.derivation import Derivation

SHRINK_SECONDS = 60.0
LATE = 15.0  # seconds past the time, and past the making of a finding smaller, after which a process is ended
INTERRUPTED = "fuzz: interrupted; this is what was seen until then"
NUMBERED = ("a", "a1", "b", "b1", "a2", "b2", "a11", "c")  # names that are given to what is named anew, too
REFUSED = 0.1  # the part of the diagrams beyond which a run says nothing: what is refused is not examined
PROGRAMS = 3000  # of the interpreter, which runs one after another
# One diagram in so many is examined with open axes, too; their sizes, how many choices of them, elements at most
OPEN_EVERY, OPEN_SIZES, OPEN_TRIALS, OPEN_ELEMENTS = 4, (1, 2, 3, 8, 15, 16, 17, 33, 64, 65, 129, 130), 4, 2**16


def _special(place: Place) -> Any:
    """Return normal numbers among which some are 0, -0, whole, large or tiny; now and then a row of one kind.

    All are numbers, as every certificate's preconditions ask: what is absent comes from the diagrams' masks and
    logarithms.
    """
    import numpy as np

    values = np.asarray(place.normal())
    kinds = np.asarray(place.random.integers(0, 40, place.shape))
    if len(place.shape) > 1:
        rows = place.random.integers(0, 60, place.shape[:-1])[..., None]
        kinds = np.where(rows < 5, rows, kinds)
    chosen = [0.0, -0.0, 60.0 * values, 1e-6 * values, np.round(2 * values), -np.abs(values), np.ones(())]
    return np.select([kinds == i for i in range(len(chosen))], chosen, values)


SPECIAL = Family("special", "normal numbers, some of them 0, -0, whole, large or tiny", _special)


class Disagreement(Exception):
    """Two ways to say what a diagram means that differ; `kind` names the second one."""

    kind = ""


KINDS: dict[str, type[Disagreement]] = {
    kind: type(kind.title(), (Disagreement,), {"kind": kind})
    for kind in ("fault", "wrong", "term", "plan", "shape", "rounded", "kernel", "certificate", "json")
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagram that something disagrees about, as small as it was made, and the storage type."""

    kind: str
    says: str
    diagram: Diagram
    dtype: str

    def data(self) -> dict[str, Any]:
        """Return the finding as data, the diagram in the JSON form that `napkin-eq derive` reads."""
        from napkin_eq.lang.json_form import diagram_to_json

        return {"kind": self.kind, "says": self.says, "dtype": self.dtype, "diagram": diagram_to_json(self.diagram)}


@dataclass(slots=True)
class Report:
    """What a run of the fuzzer saw: how many diagrams were drawn, what became of them, and the findings,
    each shrunk.
    """

    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # that each derivation took, as limits are counted
    slow: list[str] = field(default_factory=list)  # diagrams of which a search was ended by time, with what was ended
    # Diagrams that were done operator by operator though nothing ended the search, with why
    plain: list[str] = field(default_factory=list)
    first: dict[str, str] = field(default_factory=dict)  # of each reason for a refusal: the first diagram
    killed: list[str] = field(default_factory=list)  # the diagrams with which a process died
    smaller: dict[str, Finding] = field(default_factory=dict)  # of findings that are known, by their keys

    def add(self, other: Report) -> None:
        """Take in what was seen elsewhere; a finding like one that is known counts as seen again."""
        self.counts += other.counts
        self.refused += other.refused
        self.seconds += other.seconds
        self.slow += other.slow
        self.plain += other.plain
        self.first = {**other.first, **self.first}
        listed = [*(other.smaller.get(_key(f), f) for f in self.findings), *other.findings]
        found: dict[str, Finding] = {}
        for finding in listed:
            found.setdefault(_key(finding), finding)
        self.findings = list(found.values())
        self.counts["repeated"] += len(listed) - len(found)

    def died(self, name: str) -> None:
        """Note that a process was killed, by want of memory say, or by a fault of a compiler, and what it was at."""
        self.counts["drawn"] += bool(name)
        self.killed.append(name or "before its first diagram")

    @property
    def says_nothing(self) -> bool:
        """Whether too few of the diagrams were derived for a run without findings to mean anything."""
        return self.counts["refused"] > REFUSED * self.counts["drawn"] or not self.counts["derived"]

    def data(self) -> dict[str, Any]:
        """Return the report as data, keys stable."""
        names = ("drawn", "derived", "refused", "limited", "run", "repeated")
        return {
            "schema": 1, "seed": self.seed, **{name: self.counts[name] for name in names},
            "seconds": {"median": round(median(self.seconds), 2),
                "most": round(max(self.seconds), 2)} if self.seconds else {},
            "reasons": dict(sorted(self.refused.items())), "first": dict(sorted(self.first.items())),
            "slow": sorted(self.slow), "plain": sorted(self.plain), "killed": sorted(self.killed),
            "findings": [f.data() for f in self.findings],
        }  # fmt: skip

    def __str__(self) -> str:
        from napkin_eq.lang.json_form import dumps_diagram

        lines = []
        for finding in self.findings:
            lines.append(f"{finding.kind}: {finding.says}")
            lines += [
                f"  {name}[{', '.join(a.name for a in term.axes)}] = {term!s:.400}"
                for name, term in finding.diagram.outputs
            ]
            lines.append(f"  as a file for napkin-eq derive --dtype {finding.dtype}:")
            lines.append(dumps_diagram(finding.diagram).rstrip("\n"))
        counts = self.counts
        done = (
            f"{counts['derived']} derived ({counts['limited']} stopped at a limit), {counts['refused']} refused,"
            f" {counts['run']} run"
        )
        if self.seconds:
            most = max(self.seconds)
            done += f"; derived in {median(self.seconds):.1f} s of a core that is not slowed, {most:.0f} at most"
        lines.append(
            f"seed {self.seed}: {counts['drawn']} diagrams drawn, {done}; {len(self.findings)} findings, seen again"
            f" {counts['repeated']} times"
        )
        lines += [
            f"  refused {count} times: {reason}; first {self.first[reason]}"
            for reason, count in self.refused.most_common()
        ]
        if self.says_nothing:
            lines.append("  unknown: too few were derived to say that nothing differs")
        lines += [f"  a process was killed at {name}" for name in sorted(self.killed)]
        lines += [f"  ended by time: {slow}" for slow in sorted(self.slow)]
        lines += [f"  operator by operator, though no limit ended the search: {plain}" for plain in sorted(self.plain)]
        return "\n".join(lines)


def fuzz(
    seconds: float,
    seed: int = 0,
    *,
    run: bool = False,
    shape: Shape = Shape(),  # noqa: B008
    limit: float = 15.0,
    first: int = 0,
    jobs: int = 1,
) -> Report:
    """Draw and examine diagrams for so long; the same seed draws the same ones, the time only ends it.

    run: also run the emitted kernels, on the GPU where there is one, else in Triton's interpreter. limit: seconds for
    each derivation, as `derive` counts them. first: the number to begin with. jobs: how many processes share the
    numbers. An interrupt ends it as the time does. A finding is made smaller for a minute at most, which may be beyond
    the time. Of several processes one that is at a diagram long after that is ended; one that dies is told by what it
    was at.
    """
    part = Part(time.monotonic() + seconds, seed, run, shape, limit, first, jobs)
    if jobs > 1:
        return together([replace(part, first=first + number) for number in range(jobs)], Report(seed))
    whole = Report(seed)
    try:
        for found in part.examined():
            whole.add(found)
            reported(f"{whole.counts['drawn']} drawn, {len(whole.findings)} findings")
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
    return whole


@dataclass(frozen=True, slots=True)
class Part:
    """What one process examines: every so many-th diagram of a seed, until a time of the monotonic clock."""

    end: float
    seed: int
    run: bool
    shape: Shape
    limit: float
    first: int
    step: int

    def examined(self, begun: Callable[[str], object] = lambda _: None) -> Iterator[Report]:
        """Yield what is seen of each diagram; `begun` is told which one is next, and with which type."""
        device = ""
        if self.run:
            from napkin_eq.pipeline.validate import chosen_device

            device, _ = chosen_device("auto")
        work = _Work(Report(self.seed), device, self.limit)
        for number in itertools.count(self.first, self.step):
            if time.monotonic() >= self.end:
                return
            closed, dtype = drawn(self.seed, number, self.shape, device)
            for diagram in (closed, *(opened(closed) if self.shape.places and number % OPEN_EVERY == 0 else ())):
                begun(f"{diagram.name} {dtype}")
                finding = work.examine(diagram, dtype)
                yield work.report
                work.report = Report(self.seed)
                if finding is not None:
                    yield Report(self.seed, smaller={_key(finding): work.smaller(finding)})


def together(parts: Sequence[Part], whole: Report) -> Report:
    """Examine parts, each in a process that tells what it sees as it goes: what one was at is lost with it, no more.

    A process that dies is told by what it was at; one that is far past the time is ended, and so is said. An interrupt
    ends all of them.
    """
    import multiprocessing
    from multiprocessing.connection import Connection, wait

    context = multiprocessing.get_context("spawn")  # a GPU cannot be used in a process that was forked
    at: dict[Connection, str] = {}
    processes = []
    for part in parts:
        here, there = context.Pipe(duplex=False)
        processes.append(context.Process(target=_told, args=(part, there), daemon=True))
        processes[-1].start()
        there.close()
        at[here] = ""
    begun = time.monotonic()
    try:
        while at:
            for pipe in wait(list(at), timeout=1.0):
                assert isinstance(pipe, Connection)
                try:
                    said = pipe.recv()
                except (EOFError, OSError):
                    whole.died(at.pop(pipe))
                    continue
                if said is None:
                    del at[pipe]
                elif isinstance(said, str):
                    at[pipe] = said
                else:
                    whole.add(said)
            reported(
                f"{time.monotonic() - begun:.0f} s, {len(parts)} processes, {len(at)} at work,"
                f" {whole.counts['drawn']} drawn, {len(whole.findings)} findings"
            )
            if time.monotonic() > parts[0].end + SHRINK_SECONDS + LATE:
                whole.slow += [f"{name}: not done {SHRINK_SECONDS + LATE:.0f} s past the time" for name in at.values()]
                break
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
    for process in processes:
        process.kill()
        process.join()
    return whole


def _told(part: Part, pipe: Connection) -> None:
    """Examine a part in this process, and tell another of it, which an interrupt is for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for found in part.examined(pipe.send):
        pipe.send(found)
    pipe.send(None)


def drawn(seed: int, number: int, shape: Shape, device: str = "") -> tuple[Diagram, str]:
    """Return the diagram of a seed and a number, and the storage type to derive it for: of those that a
    device can run.
    """
    random = Random(f"{seed}/{number}")
    # Triton's interpreter does not round bfloat16 as a GPU does.
    dtype = random.choice(("float32", "float16") if device == "cpu" else ("float32", "float16", "bfloat16"))
    if shape.places and number % 4 == 3:
        shape = replace(shape, names=NUMBERED)
    return random_diagram(random.randrange, shape, f"drawn_{seed}_{number}"), dtype


def opened(diagram: Diagram) -> Iterator[Diagram]:
    """Yield a diagram with one or several of its axes left open, drawn by its name, if any may be."""
    random, names = Random(f"{diagram.name}/open"), [axis.name for axis in diagram.axes()]
    random.shuffle(names)
    for name in names[: 1 + random.randrange(len(names) or 1)]:
        with contextlib.suppress(NapkinError):
            diagram = diagram.with_sizes({name: None})
    if any(axis.size is None for axis in diagram.axes()):
        yield replace(diagram, name=f"{diagram.name}_open")


def _sized(diagram: Diagram) -> Iterator[Diagram]:
    """Yield a diagram at some sizes of its open axes, drawn by its name, that leave the others as they are."""
    random, axes = Random(diagram.name), diagram.axes()
    for _ in range(OPEN_TRIALS):
        asked = {axis.name: random.choice(OPEN_SIZES) * axis.multiple for axis in axes if axis.size is None}
        with contextlib.suppress(NapkinError):
            sized = diagram.with_sizes(asked)
            found = {axis.name: axis.size or OPEN_ELEMENTS + 1 for axis in sized.axes()}
            kept = all(found[axis.name] == axis.size for axis in axes if axis.size is not None)
            if kept and math.prod(found.values()) <= OPEN_ELEMENTS:
                yield sized


class _TimeUp(Exception):
    """Ends the search for a smaller diagram."""


class _Work:
    """One run: its report, and what findings are known by."""

    def __init__(self, report: Report, device: str, limit: float) -> None:
        self.report, self.device, self.limit = report, device, limit
        self.known: set[str] = set()

    def examine(self, diagram: Diagram, dtype: str) -> Finding | None:
        """Derive and examine a diagram, count what comes of it, and return what is found that was not before."""
        counts = self.report.counts
        counts["drawn"] += 1
        try:
            self.once(diagram, dtype, counts)
        except NapkinError as error:
            counts["refused"] += 1
            self.report.refused[_reason(error)] += 1
            self.report.first.setdefault(_reason(error), f"{diagram.name} {dtype}")
        except Disagreement as error:
            finding = Finding(error.kind, str(error), diagram, dtype)
            if _key(finding) in self.known:
                counts["repeated"] += 1
                return None
            self.known.add(_key(finding))
            print(
                f"fuzz: found {diagram.name} {dtype}, {error.kind}: {str(error):.300}; made smaller now",
                file=sys.stderr,
                flush=True,
            )
            self.report.findings.append(finding)
            return finding
        return None

    def once(self, diagram: Diagram, dtype: str, counts: Counter[str]) -> None:
        begun = METER.processor()
        derivation = derived(diagram, dtype, self.limit)
        taken = METER.processor() - begun
        if counts is self.report.counts:
            self.report.seconds.append(taken)
        counts["derived"] += 1
        if (derivation.limited or taken > self.limit) and counts is self.report.counts:
            counts["limited"] += 1
            self.report.slow.append(f"{diagram.name} {dtype}: {', '.join(derivation.limited) or 'none'}; {taken:.1f} s")
        if (why := gave_up(derivation)) and counts is self.report.counts:
            self.report.plain.append(f"{diagram.name} {dtype}: {why}"[:200])
        try:
            counts["run"] += examine(diagram, derivation, dtype, self.device)
        except (NapkinError, Disagreement):
            raise
        except Exception as error:  # of what examines: a finding, too, and no end of the run
            raise KINDS["fault"](f"examination: {_named(error)}{_where(error)}") from error

    def smaller(self, finding: Finding) -> Finding:
        """Return the finding with a smaller diagram that shows the same kind of it."""
        smallest, end = finding, time.monotonic() + SHRINK_SECONDS

        def holds(diagram: Diagram) -> bool:
            nonlocal smallest
            if time.monotonic() > end:
                raise _TimeUp
            try:
                self.once(diagram, finding.dtype, Counter())
            except NapkinError:
                return False
            except Disagreement as error:
                if error.kind == finding.kind:
                    smallest = Finding(error.kind, str(error), diagram, finding.dtype)
                return error.kind == finding.kind
            return False

        with contextlib.suppress(_TimeUp):
            shrunk(finding.diagram, holds)
        self.known.add(_key(smallest))
        return smallest


def _key(finding: Finding) -> str:
    """Return what two findings of one cause are likely to share: what is said, without numbers and names of arrays."""
    return finding.kind + re.sub(r"[\d.]+(e[-+]\d+)?|\b[A-Za-z]\w?\b", "", finding.says)[:60]


def _reason(error: NapkinError) -> str:
    said = re.sub(r"^diagram \w+: ", "", str(error))
    return ("undecided: " if isinstance(error, Undecided) else "") + re.sub(r"\d+", "N", said)[:120]


def derived(diagram: Diagram, dtype: str, limit: float) -> Derivation:
    """Derive a diagram; what is no NapkinError is a fault, raised as a Disagreement."""
    from napkin_eq.lang.errors import WrongPlan
    from napkin_eq.pipeline.derive import derive

    try:
        return derive(diagram, dtype=dtype, limit=limit)
    except WrongPlan as error:
        raise KINDS["wrong"](f"every plan was refused: {_named(error)}") from error
    except (NapkinError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise KINDS["fault"](f"derive: {_named(error)}{_where(error)}") from error


def gave_up(derivation: Derivation) -> str:
    """Return why a derivation is operator by operator though no limit ended its search, "" of any other: right, and
    slower than it need be.
    """
    from napkin_eq.pipeline.unfused import NOTE

    notes = [
        note
        for output in derivation.outputs
        for note in output.graph.notes
        if NOTE in output.graph.notes and note != NOTE
    ]
    return notes[0] if notes and not derivation.limited else ""


def examine(diagram: Diagram, derivation: Derivation, dtype: str, device: str = "") -> bool:
    """Hold all that a derivation gives against the diagram's own value; tell whether kernels were run.

    Raises a Disagreement, of a kind of KINDS, for the first thing that differs, and for whatever cannot be carried out.
    """
    from napkin_eq.certify.certificate import dumps
    from napkin_eq.certify.check import check
    from napkin_eq.lang.json_form import dumps_diagram, loads_diagram

    if loads_diagram(dumps_diagram(diagram)) != diagram:
        raise KINDS["json"]("the diagram that its JSON gives is another one")
    laid = diagram.layouts()
    for buffer, (name, _) in zip(derivation.plan.outputs, diagram.outputs, strict=True):
        if tuple(a.name for a in buffer.dims) != laid[name]:
            raise KINDS["shape"](f"output {name} has axes {laid[name]}, its array {[a.name for a in buffer.dims]}")
    verdict = _tried("certificate", "the checker", lambda: check(dumps(derivation.certificate).encode()))
    if verdict["status"] != "ok":
        raise KINDS["certificate"](f"refused: {verdict['problem']}")
    if any(axis.size is None for axis in diagram.axes()):
        for number, sized in enumerate(_sized(diagram)):
            sizes = {axis.name: axis.size or 1 for axis in sized.axes()}
            drawn = draw(sized, SPECIAL if number % 2 else _plain(), sizes, dtype, number)
            _held(diagram, derivation, drawn.clean, sizes)
        return False
    sizes = {axis.name: axis.size or 1 for axis in diagram.axes()}
    for family in (None, SPECIAL):
        drawn = draw(diagram, family or _plain(), sizes, dtype, 0)
        _held(diagram, derivation, drawn.clean, sizes)
        if device != "cuda" and _programs(derivation) <= PROGRAMS:
            _rounded(diagram, derivation, drawn, dtype)
    if not device or (device == "cpu" and _programs(derivation) > PROGRAMS):
        return False
    for family in (_plain(), SPECIAL):
        _run(diagram, derivation, dtype, family, device)
    return True


def _plain() -> Family:
    from napkin_eq.numerics.sample_inputs import family

    return family("normal")


def _held(diagram: Diagram, derivation: Derivation, arrays: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """Hold the extracted term and the plan, both in float64, against the diagram's own term."""
    import numpy as np

    from napkin_eq.lang.evaluate import axes_in, evaluate
    from napkin_eq.numerics.compare import compare
    from napkin_eq.numerics.error_bound import error_bound
    from napkin_eq.tile.printers import emit

    def known(term: Term) -> dict[str, int]:
        return {axis.name: sizes[axis.name] for axis in axes_in(term) if axis.name in sizes}

    given = {axis.name: sizes[axis.name] for axis in diagram.axes() if axis.size is None}
    found = _tried("plan", "the plan in NumPy", lambda: emit(derivation.plan, "numpy")(arrays, False, given))
    terms = [term for output in derivation.outputs for _, _, term in output.each()]
    for buffer, (name, source), term in zip(derivation.plan.outputs, diagram.outputs, terms, strict=True):
        order = [axis.name for axis in buffer.dims]
        first, second = (partial(evaluate, t, arrays, known(t), order=order) for t in (source, term))
        exact = _tried("fault", "evaluation of the diagram", first)
        other = _tried("term", "evaluation of the extracted term", second)
        own, others = (error_bound(t, arrays, known(t), "float64", order=order)[0] for t in (source, term))
        bound = own + others
        for kind, got in (("term", other), ("plan", found[name])):
            if got.shape != exact.shape:
                raise KINDS["shape"](f"output {name}: the {kind} has shape {got.shape}, the diagram {exact.shape}")
            seen = compare(got, exact, bound, "float32" if source.kind == "real" else "")
            if seen.bound_used > 1:
                with np.errstate(all="ignore"):
                    wrong = ~((got == exact) | ~np.isfinite(bound) | (np.abs(got * 1.0 - exact) <= bound))
                at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.any() else (0,) * exact.ndim
                raise KINDS[kind](
                    f"output {name}: the {kind} gives {got[at]!s} at {list(at)}, the diagram {exact[at]!s};"
                    f" {int(wrong.sum())} elements differ"
                )


def _rounded(diagram: Diagram, derivation: Derivation, drawn: Drawn, dtype: str) -> None:
    """Hold the plan, run as its types round, products as they are and fused with what they are added to, against the
    bounds of each output.
    """
    from napkin_eq.lang.dtypes import BY_SHORT
    from napkin_eq.lang.evaluate import evaluate
    from napkin_eq.numerics.compare import compare
    from napkin_eq.tile.printers import emit
    from napkin_eq.verify.tolerance import tolerances

    run, allowed = (
        emit(derivation.plan, "numpy"),
        _tried("fault", "the bounds", lambda: tolerances(derivation, drawn, {}, dtype)),
    )
    for fuse in (False, True):
        found = _tried("rounded", "the plan in NumPy, rounded", lambda: run(drawn.clean, True, {}, fuse))  # noqa: B023
        for buffer, (name, source) in zip(derivation.plan.outputs, diagram.outputs, strict=True):
            exact = evaluate(source, drawn.clean, order=[axis.name for axis in buffer.dims])
            bound = allowed[buffer.name].least
            seen = compare(found[name], exact, bound, BY_SHORT[buffer.dtype].name if source.kind == "real" else "")
            if seen.bound_used > 1:
                how = "products fused" if fuse else "each operation"
                raise KINDS["rounded"](
                    f"output {name}: the plan, {how} rounded, is off by {seen.max_error:.3g}, {seen.bound_used:.3g}"
                    " times its bound"
                )


def _run(diagram: Diagram, derivation: Derivation, dtype: str, family: Family, device: str) -> None:
    """Run the emitted kernels, in the interpreter as portable Triton, each output within its bound."""
    from napkin_eq.pipeline.top_k import portable
    from napkin_eq.pipeline.validate import compared

    made = portable(derivation) if device == "cpu" else derivation
    cases = _tried("kernel", "the emitted kernel", lambda: compared(diagram, made, dtype, device, 0, family))
    for case in cases:
        if case.bound_used > 1 or not case.repeatable:
            raise KINDS["kernel"](
                f"output {case.output}, inputs {case.family}: off by {case.max_error:.3g}, {case.bound_used:.3g} times"
                " its bound"
            )


def _programs(derivation: Derivation) -> int:
    """Return how many programs all kernels of a plan have, each loop's blocks counted."""
    total = 0
    for kernel in derivation.plan.kernels:
        blocks = 1
        for coord in kernel.coords:
            blocks *= -(-(coord.axis.size or 1) // coord.tile)
        total += blocks
    return total


def _tried(kind: str, what: str, made: Any) -> Any:
    """Return what a function gives; whatever it raises, but an interrupt, is a Disagreement."""
    try:
        return made()
    except Disagreement:
        raise
    except Exception as error:
        raise KINDS[kind](f"{what}: {_named(error)}") from error


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _where(error: Exception) -> str:
    """Return the line that raised an error, to be said after it."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return "".join(f", in {Path(frame.filename).name}, line {frame.lineno}" for frame in last)
