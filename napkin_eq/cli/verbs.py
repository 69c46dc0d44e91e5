"""What each verb of the command line does; heavy modules are imported by the verb that needs them."""

from __future__ import annotations

import hashlib
import json
import sys
from argparse import Namespace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.errors import DONE, FAILED, UNKNOWN, NapkinError
from napkin_eq.laws.law import REGISTRY, Law, Statement

if TYPE_CHECKING:
    from napkin_eq.pipeline.compiled import Compiled
    from napkin_eq.pipeline.derivation import Derivation
    from napkin_eq.verify.index.prove_index import Report as Index

SCHEMA = 1


def derive(args: Namespace) -> int:
    """Derive the cheapest plan; print the report, or write everything into a folder. With --index also prove its
    kernels' coordinates.
    """
    from napkin_eq.cli.files import whole_folder
    from napkin_eq.verify.index.prove_index import proved, scripts

    diagram = _diagram(args)
    if args.sizes:
        from napkin_eq.cli import sizes

        return sizes.derive(args, diagram)
    if args.output is None:
        derivation = _tuned(args, diagram)
        index = proved(derivation) if args.index else None
        _print_derivation(args, derivation, index)
        return _probed(args, derivation) or _status(index)
    with whole_folder(Path(args.output)) as folder:
        made = _tuned(args, diagram).compiled()
        derivation = made.derivation
        index = proved(derivation) if args.index else None
        files = {**_files(diagram.name, made, index), **(scripts(index) if index else {})}
        for name, content in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
    _print_derivation(args, derivation, index, made)
    if not args.json:
        print(f"\nwritten to {args.output}: {', '.join(sorted({name.partition('/')[0] for name in files}))}")
    return _probed(args, derivation) or _status(index)


def _probed(args: Namespace, derivation: Derivation) -> int:
    """Evaluate members of the e-graphs' classes, more of them where that is asked for or files are written; say on
    stderr what was asked for or is false.
    """
    from napkin_eq.verify.probe import BRIEFLY, probe

    briefly = {} if args.probe or args.output is not None else BRIEFLY
    found = [probe(output.graph, **briefly) for output in derivation.outputs]
    for output, probed in zip(derivation.outputs, found, strict=True):
        if args.probe or probed.false:
            print(f"probe of {', '.join(output.names)}: {probed}", file=sys.stderr)
    return FAILED if any(probed.false for probed in found) else DONE


def _status(index: Index | None) -> int:
    return DONE if index is None else {"proved": DONE, "refuted": FAILED}.get(index.verdict, UNKNOWN)


def _diagram(args: Namespace) -> Any:
    from napkin_eq.cli.sources import find

    found = find(args.diagram, args.set)
    if found.dtype is not None and getattr(args, "dtype", "") is None:
        args.dtype = found.dtype  # a program of PyTorch says what its numbers are
    return found.diagram


def _derived(args: Namespace, diagram: Any, without: tuple[str, ...] = ()) -> Derivation:
    from napkin_eq.cli.progress import shown
    from napkin_eq.pipeline.derive import derive as derived

    with shown(args.limit, args.quiet) as budget:
        return derived(
            diagram, hardware=args.hardware, dtype=args.dtype or "bfloat16", without=(*args.without, *without),
            rules=tuple(args.rules),
            allow_tested=args.allow_tested, printer=args.printer, max_error=args.max_error, limit=budget,
            library=getattr(args, "library", False),
        )  # fmt: skip


def _tuned(args: Namespace, diagram: Any) -> Derivation:
    """Derive, and take the tiles that a file of tuned plans holds for this, if one is named; what is taken is said on
    stderr.
    """
    if args.tuned is None:
        return _derived(args, diagram)
    from napkin_eq.pipeline import tuned

    tuned.read(Path(args.tuned))  # a damaged file is refused before any work
    derivation, note = tuned.applied(_derived(args, diagram), Path(args.tuned))
    print(note, file=sys.stderr)
    return derivation


def _files(name: str, made: Compiled[Derivation], index: Index | None = None) -> dict[str, str]:
    from napkin_eq.certify.certificate import dumps, with_evidence

    derivation = made.derivation
    kernels = {f"{name}.py": made.portable.triton()}
    if any(kernel.workers for kernel in derivation.plan.kernels):
        kernels[f"{name}_hopper.py"] = derivation.code()
    found: dict[str, Any] = {
        "kernels": [
            {"file": file, "sha256": hashlib.sha256(text.encode()).hexdigest()} for file, text in kernels.items()
        ]
    }
    if index:
        found["index"] = index.data()
    report = derivation.report()
    times = {"schema": SCHEMA, "seconds": report.pop("seconds")}  # apart: all else is the same bytes on every run
    return {
        **kernels,
        "certificate.json": dumps(with_evidence(derivation.certificate, **found)),
        "plan.txt": derivation.pseudocode().rstrip("\n") + "\n",
        "report.json": _dumped({**report, "compiled": made.data()}),
        "times.json": _dumped(times),
    }


def _print_derivation(
    args: Namespace, derivation: Derivation, index: Index | None, made: Compiled[Derivation] | None = None
) -> None:
    from napkin_eq.pipeline import front

    if args.json:
        more: dict[str, Any] = {
            **({"index": index.data()} if index else {}),
            **({"compiled": made.data()} if made else {}),
        }
        if args.front:
            more["front"] = front.data(front.front(derivation))
        print(_dumped({**derivation.report(), **more}), end="")
    elif args.source:
        print(derivation.code(), end="")
    else:
        from napkin_eq.pipeline.text import told

        print(told(derivation))
        if args.front:
            print(front.told(front.front(derivation)))
        if made:
            print(made)
        if index:
            print(index)


def explain(args: Namespace) -> int:
    """Say why this plan: derive it again without each family of laws that it used, and show what that costs."""
    from napkin_eq.pipeline.text import ablations_told, summary

    diagram = _diagram(args)
    base = _derived(args, diagram)
    if args.steps:
        from napkin_eq.draw.moves import moves
        from napkin_eq.draw.strip import text_of

        found = moves(base)
        data = {"schema": SCHEMA, "diagram": diagram.name, "moves": [move.data() for move in found]}
        print(_dumped(data).rstrip() if args.json else text_of(found))
        return DONE
    family_of = {s.name: s.family for s in REGISTRY.statements.values()}
    families = sorted({family_of[name] for name in base.report()["laws"] if name in family_of})
    rows = [summary("", base)]
    for family in families:
        try:
            rows.append(summary(family, _derived(args, diagram, (family,))))
        except NapkinError as error:
            rows.append({"without": family, "refused": str(error)})
    print(
        _dumped({"schema": SCHEMA, "diagram": diagram.name, "plans": rows})
        if args.json
        else ablations_told(diagram.name, rows)
    )
    return DONE


def draw(args: Namespace) -> int:
    """Draw a diagram, a law, the plan that is derived of a diagram, or the derivation move by move, as SVG,
    PNG or PDF.
    """
    from napkin_eq.draw import drawn, strip
    from napkin_eq.draw.markup import rendered, svg

    form = "svg" if args.output is None else Path(args.output).suffix.lower().removeprefix(".")
    if form not in ("svg", "png", "pdf", *(["html"] if args.steps else [])):
        endings = ".svg, .png or .pdf, with --steps also .html"
        raise NapkinError(f"draw: {args.output!r:.80} has no ending that is known; name a file in {endings}")
    law = _named_law(args.diagram)
    if law and (args.plan or args.steps):
        raise NapkinError(f"draw: {law.name} is a law, of which nothing is derived; leave out --plan and --steps")
    thing = law or _diagram(args)
    made: Any = _derived(args, thing) if args.plan or args.steps else thing
    if form == "html":
        text = strip.page(made)
    else:
        text = svg(
            strip.strip(made) if args.steps else drawn(made), args.theme or ("auto" if form == "svg" else "light")
        )
    if args.output is None:
        print(text, end="")
    else:
        _written(Path(args.output), rendered(text, form) if form in ("png", "pdf") else text)
        print(f"{thing.name} drawn to {args.output}")
    return DONE


def _named_law(name: str) -> Law | None:
    """Return the law of a name that no diagram has; None of anything else."""
    from napkin_eq.frontend.gallery import DIAGRAMS
    from napkin_eq.laws.loader import load_rules

    if name in DIAGRAMS or name.endswith((".py", ".json")):
        return None
    load_rules()
    found = REGISTRY.statements.get(name)
    return found if isinstance(found, Law) else None


def model(args: Namespace) -> int:
    """Print what the plan moves and holds, in closed form, beside what is predicted and was measured."""
    from napkin_eq.cli.sources import parsed_sizes
    from napkin_eq.napkin.configuration import PIECES
    from napkin_eq.napkin.data import data
    from napkin_eq.napkin.model import model as modelled
    from napkin_eq.napkin.told import told

    types: dict[str, str] = {}
    for text in args.types:
        name, sign, kind = text.partition("=")
        if not sign or types.setdefault(name, kind) != kind:
            raise NapkinError(f"--type {text!r:.60}: expected ARRAY=TYPE, each array once, such as K=float8")
    derivation = _derived(args, _diagram(args))
    found = modelled(derivation, args.level, types, parsed_sizes(args.tiles, "--tile"), tuple(args.pieces) or PIECES)
    print(_dumped(data(found)) if args.json else told(found), end="" if args.json else "\n")
    return DONE


def run(args: Namespace) -> int:
    """Run the derived kernel against float64, at sizes that no tile divides too."""
    from napkin_eq.pipeline.validate import validate

    report = validate(
        _diagram(args), dtype=args.dtype, sizes=None, device=args.device, hardware=args.hardware,
        without=tuple(args.without), rules=tuple(args.rules), printer=args.printer, seed=args.seed, fixed=_fixed(args),
        inputs=args.family or ("normal",),
        max_error=args.max_error,
    )  # fmt: skip
    if args.into:
        from napkin_eq.certify.recheck import with_numeric

        with_numeric(Path(args.into), report.data())
    print(_dumped(report.data()) if args.json else str(report), end="" if args.json else "\n")
    return {"ok": DONE, "unknown": UNKNOWN, "failed": FAILED}[report.verdict]


def _fixed(args: Namespace) -> dict[str, int]:
    from napkin_eq.cli.sources import parsed_sizes

    return parsed_sizes(args.set)


def prove(args: Namespace) -> int:
    """Prove laws, or have every solver answer the scripts again; 1 if one is refuted, 3 if one stays undecided."""
    from napkin_eq.cli.progress import watching
    from napkin_eq.prove import abduction as abduce
    from napkin_eq.prove import float_class as floating
    from napkin_eq.prove import prove as proving
    from napkin_eq.prove import rocq, verdict
    from napkin_eq.prove import smt_archive as smtfiles

    if args.files is not None:
        report = smtfiles.rechecked(Path(args.files) if args.files else smtfiles.shipped())
        print(_dumped(report) if args.json else verdict.files_told(report), end="" if args.json else "\n")
        return FAILED if report["refuted"] else UNKNOWN if report["unknown"] else DONE
    statements = _statements(args.what)
    if args.write is not None:
        theorems = args.write.endswith(".v")
        number = (
            rocq.write(Path(args.write), statements)
            if theorems
            else smtfiles.write(Path(args.write), proving.files_of(statements), whole=not args.what)
        )
        told = (
            f"{number} theorems written to {args.write}" if theorems else f"{number} scripts written below {args.write}"
        )
        print(_dumped({"schema": SCHEMA, "written": number}) if args.json else told, end="" if args.json else "\n")
        return DONE
    begun = perf_counter()
    with watching(args.quiet):
        with floating.assessed_beside(statements):
            report = proving.prove_report(statements)
        found = abduce.advised(statements, [row["verdict"] for row in report["laws"]])
        for row, advice in zip(report["laws"], found, strict=True):
            row["advice"] = None if advice is None else abduce.data(advice)
        floating.noted(statements, report)
    report["seconds"] = round(perf_counter() - begun, 3)  # advice and both kinds of verdicts included
    failed, undecided = (
        report["refuted"] + report["floating"]["refused"],
        report["unknown"] + report["floating"]["unknown"],
    )
    print(
        _dumped(report) if args.json else "\n".join([*abduce.texts(statements, found), verdict.told(report)]),
        end="" if args.json else "\n",
    )
    return FAILED if failed else UNKNOWN if undecided else DONE


def check(args: Namespace) -> int:
    """Re-validate a certificate with the independent checker; 1 if it is refused, 3 if a solver or Rocq has
    no answer.
    """
    from napkin_eq.certify import check as checker

    file = Path(args.certificate)
    try:
        with file.open("rb") as opened:
            content = opened.read(checker.MAX_BYTES + 1)
    except OSError as error:
        raise NapkinError(f"certificate {file}: cannot be read: {error.strerror or error}") from None
    found: dict[str, Any] = {"schema": SCHEMA, **checker.check(content)}
    if found["status"] == "ok":
        from napkin_eq.certify.certificate import loads
        from napkin_eq.certify.recheck import proved_again
        from napkin_eq.laws.loader import load_rules

        load_rules()
        found["other_laws"] = proved_again(loads(content)["laws"])
        if refuted := [
            f"law {row['name']} {row['detail']}" for row in found["other_laws"] if row["verdict"] == "refuted"
        ]:
            found |= {"status": "refused", "problem": refuted[0]}
    if found["status"] == "ok" and args.of is not None:
        from napkin_eq.certify.recheck import about
        from napkin_eq.cli.sources import find_diagram

        if problem := about(loads(content), find_diagram(args.of, args.set)):
            found |= {"status": "refused", "problem": problem}
    if found["status"] == "ok" and args.smt:
        from napkin_eq.certify.recheck import by_solvers

        found["smt"] = by_solvers(loads(content), file.parent)
    if found["status"] == "ok" and args.rocq:
        from napkin_eq.prove import rocq

        found["rocq"] = rocq.again(loads(content)["laws"], REGISTRY.statements)
    print(_dumped(found) if args.json else _check_told(found, content), end="" if args.json else "\n")
    again = found.get("smt", {"refuted": 0, "unknown": 0})
    unknown = again["unknown"] or any(row["verdict"] == "unknown" for row in found.get("other_laws", []))
    return FAILED if found["status"] != "ok" or again["refuted"] else UNKNOWN if unknown else DONE


def _check_told(found: dict[str, Any], content: bytes) -> str:
    from napkin_eq.certify.certificate import ends, loads

    if found["status"] != "ok":
        return f"refused: {found['problem']}"
    lines = [
        f"ok: {found['steps']} steps by {len(found['laws'])} statements, grade {found['grade']}; nothing of the search"
        " was trusted"
    ]
    lines += [f"    {found['trusted'].lstrip(',')}"] if found["trusted"] else []
    try:
        source, destination = ends(loads(content))
        lines += [f"     {source!s:.300}", f"  =  {destination!s:.300}"]
    except NapkinError as error:
        lines.append(f"     its terms are not shown: {error}")
    for row in found.get("other_laws", []):
        lines.append(
            f"law {row['name']} does not ship as it stands there:"
            f" {'proved again' if row['verdict'] == 'confirmed' else row['detail']}"
        )
    if "smt" in found:
        from napkin_eq.certify.recheck import told

        lines.append(told(found["smt"]))
    if "rocq" in found:
        names, tools = (" and ".join(found["rocq"][what]) for what in ("files", "tools"))
        lines.append(
            f"rocq: {names} are accepted by {tools}; {len(found['rocq']['laws'])} of the {len(found['laws'])}"
            " statements are theorems there"
        )
    return "\n".join(lines)


def laws(args: Namespace) -> int:
    """Print the catalogue of laws."""
    from napkin_eq.laws import catalogue
    from napkin_eq.prove import float_class as floating
    from napkin_eq.prove import prove as proving

    chosen = _statements(args.what)
    if args.markdown:
        chosen_laws = [s for s in chosen if isinstance(s, Law)]
        floats = {s.name: str(v) for s, v in zip(chosen_laws, floating.assess(chosen_laws), strict=True)}
        print(catalogue.markdown(chosen, {v.name: v.grade for v in proving.prove(chosen)}, floats), end="")
        return DONE
    grades = proving.known_grades(chosen)
    if args.json:
        print(_dumped({"schema": SCHEMA, "laws": [catalogue.row(s, grades.get(s.name)) for s in chosen]}), end="")
        return DONE
    print(catalogue.text(chosen, grades))
    if len(grades) < len(chosen):
        print("\n[?]: napkin-eq prove finds the grade")
    return DONE


def _statements(what: list[str]) -> list[Statement]:
    """Return the statements named, by law, family or path; all shipped ones for no name."""
    from napkin_eq.laws.loader import load_rules

    paths = [name for name in what if name.endswith(".py") or "/" in name or Path(name).is_dir()]
    names = [name for name in what if name not in paths]
    load_rules()
    shipped = dict(REGISTRY.statements)
    if paths:
        load_rules(*paths)
    files = [str(Path(path)) for path in paths]
    everything = REGISTRY.statements.values()
    for name in names:
        if not any(name in (s.name, s.family) for s in everything):
            raise NapkinError(
                f"unknown law or family {name!r:.60}; families: {', '.join(sorted({s.family for s in everything}))};"
                " napkin-eq laws lists all"
            )
    if not what:
        return list(shipped.values())
    return [
        s for s in everything if s.name in names or s.family in names or any(s.place.startswith(file) for file in files)
    ]


def selftest(args: Namespace) -> int:
    """Put wrong laws, forged certificates and broken kernels before the verifier, and good ones.

    1 unless all are judged rightly, 3 if an interrupt left some untried.
    """
    from napkin_eq.cli.progress import watching
    from napkin_eq.verify.selftest.selftest import PARTS, perfect, report, told

    with watching(args.quiet):
        data = report((args.part,) if args.part else PARTS)
    print(_dumped(data) if args.json else told(data), end="" if args.json else "\n")
    return FAILED if not perfect(data) else UNKNOWN if "interrupted" in data else DONE


def fuzz(args: Namespace) -> int:
    """Derive random diagrams and hold all they give against each other; 1 if anything differs, 3 if too few derive."""
    from napkin_eq.cli.files import whole_folder
    from napkin_eq.cli.progress import watching
    from napkin_eq.verify.fuzz.fuzz import fuzz as fuzzed
    from napkin_eq.verify.fuzz.random_diagrams import Shape

    if not 0 < args.seconds < 1e6 or not 1 <= args.nodes <= 500 or args.seed < 0:
        raise NapkinError("fuzz: expected a positive number of --seconds, 1 to 500 --nodes and a --seed of 0 or more")
    if args.first < 0 or not 1 <= args.jobs <= 512:
        raise NapkinError("fuzz: expected a --first number of 0 or more and 1 to 512 --jobs")
    with watching(args.quiet, ending=False):
        report = fuzzed(
            args.seconds,
            args.seed,
            run=args.run,
            shape=Shape(nodes=args.nodes, places=True),
            first=args.first,
            jobs=args.jobs,
        )
    if args.output is not None:
        with whole_folder(Path(args.output)) as folder:
            for number, finding in enumerate(report.findings):
                (folder / f"found_{number}.json").write_text(_dumped(finding.data()["diagram"]), encoding="utf-8")
    print(_dumped(report.data()) if args.json else report, end="" if args.json else "\n")
    return FAILED if report.findings or report.killed else UNKNOWN if report.says_nothing else DONE


def calibrate(args: Namespace) -> int:
    """Print, or write, the hardware file of the GPU here, or of the one that a JSON of the micro-benchmark is of."""
    from napkin_eq.machine import calibrate as calibration

    data = calibration.read(Path(args.from_)) if args.from_ else calibration.measure()
    found = calibration.calibrated(data, calibration.stated(data, args.hardware), args.keep)
    if args.output is None:
        print(found.text, end="")
        return DONE
    _written(Path(args.output), found.text)
    print(f"{data['gpu']}, measured {data['date']}, written to {args.output}; --hardware {args.output} derives for it")
    return DONE


def tune(args: Namespace) -> int:
    """Measure the best plans on the GPU here and keep the fastest; or write the trial, or take its results from another
    machine.
    """
    from napkin_eq.cli.files import whole_folder
    from napkin_eq.machine import gpu as hardware
    from napkin_eq.pipeline import tuned

    diagram, dtype = _diagram(args), args.dtype or "bfloat16"
    if args.emit:
        with whole_folder(Path(args.emit)) as folder:
            count = tuned.write_trial(folder, _derived(args, diagram), args.keep)
        print(
            f"{count} plans of {diagram.name} written to {args.emit}; run trial.py there, then tune --from its results"
        )
        return DONE
    machine = hardware.load(args.hardware)
    if args.from_:
        entry = tuned.entry_of(Path(args.from_), tuned.key_of(diagram, machine, dtype), machine)
    else:
        tuned.require_device()
        entry = tuned.measure(_derived(args, diagram), args.keep)
    tuned.keep(Path(args.output), entry)
    print(
        _dumped({"schema": SCHEMA, **entry}) if args.json else tuned.told(diagram.name, entry, args.output),
        end="" if args.json else "\n",
    )
    return DONE


def report(args: Namespace) -> int:
    """Write what was derived, why it is right and why it is fast as one HTML file."""
    import shlex

    from napkin_eq.report.contents import contents
    from napkin_eq.report.page import page

    diagram = _diagram(args)
    file = Path(args.output or f"{diagram.name}.html")
    if not file.parent.is_dir():
        raise NapkinError(
            f"output {file}: cannot be written: there is no folder {str(file.parent)!r:.120}; name another file with -o"
        )
    derivation = _tuned(args, diagram)
    made = None if args.plain else derivation.compiled()
    found = contents(derivation if made is None else made.derivation, f"napkin-eq {shlex.join(sys.argv[1:])}", made)
    _written(file, page(found))
    print(f"{found['sentence']}\nwritten to {file}")
    return DONE


def serve(args: Namespace) -> int:
    """Serve the explorer on this machine until it is interrupted."""
    from napkin_eq.explore.server import serve as served

    if not 1 <= args.workers <= 64 or not 0 < args.limit <= 3600:
        raise NapkinError("serve: expected 1 to 64 --workers and a --limit of at most 3600 seconds")
    served(args.address, args.port, args.workers, args.limit, args.expose)
    return DONE


def _written(file: Path, content: str | bytes) -> None:
    try:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise NapkinError(
            f"output {file}: cannot be written: {error.strerror or error}; name another file with -o"
        ) from None


def listing(args: Namespace) -> int:
    """Print the diagrams, the GPUs and the families of laws."""
    from napkin_eq.frontend.gallery import DIAGRAMS
    from napkin_eq.laws.loader import load_rules
    from napkin_eq.machine.gpu import known, load

    load_rules()
    families = sorted({s.family for s in REGISTRY.statements.values()})
    docs = {name: DIAGRAMS[name]().doc for name in sorted(DIAGRAMS)}
    if args.json:
        rows = [{"name": name, "doc": doc} for name, doc in docs.items()]
        print(_dumped({"schema": SCHEMA, "diagrams": rows, "hardware": known(), "families": families}), end="")
        return DONE
    width = max(map(len, docs))
    print("diagrams\n" + "\n".join(f"  {name:{width}}  {doc}" for name, doc in docs.items()))
    print("hardware\n" + "\n".join(f"  {name:{width}}  {load(name).title}" for name in known()))
    print("families of laws\n  " + ", ".join(families))
    return DONE


def _dumped(data: Any) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


VERBS = {
    "derive": derive, "draw": draw, "explain": explain, "run": run, "prove": prove, "check": check, "laws": laws,
    "selftest": selftest, "calibrate": calibrate,
    "fuzz": fuzz, "model": model, "report": report, "serve": serve, "tune": tune, "list": listing,
}  # fmt: skip
