"""`derive --sizes`: several plans of a diagram whose sizes are left open, in one file that takes one of them by the
sizes that it is given.
"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napkin_eq.cli.files import whole_folder
from napkin_eq.lang.errors import DONE, NapkinError

if TYPE_CHECKING:
    from napkin_eq.pipeline.sizes import Family

APART = ("front", "index", "probe", "tuned")


def derive(args: Namespace, diagram: Any) -> int:
    """Derive the plans; print the guards and the plans, the source, or write everything into a folder."""
    from napkin_eq.pipeline.sizes import family

    if asked := [name for name in APART if getattr(args, name)]:
        raise NapkinError(
            f"derive --sizes: --{asked[0]} is about one plan, and here are several; leave one of the two out"
        )
    found = family(
        diagram, hardware=args.hardware, dtype=args.dtype or "bfloat16", without=tuple(args.without),
        rules=tuple(args.rules),
        allow_tested=args.allow_tested, printer=args.printer, max_error=args.max_error, limit=args.limit,
        library=args.library,
    )  # fmt: skip
    if args.output is not None:
        with whole_folder(Path(args.output)) as folder:
            for name, text in files(found).items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
    if args.json:
        print(json.dumps(found.data(), indent=1))
    elif args.source:
        print(found.code(), end="")
    else:
        print(told(found))
        if args.output is not None:
            print(f"written to {args.output}")
    return DONE


def files(found: Family) -> dict[str, str]:
    """Return what is written: the kernels of all plans in one file, the guards, and each plan with its certificate."""
    from napkin_eq.certify.certificate import dumps

    written = {f"{found.diagram.name}.py": found.code(), "guards.json": json.dumps(found.data(), indent=1) + "\n"}
    for at, one in enumerate(found.sized):
        written[f"plan_{at}/certificate.json"] = dumps(one.derivation.certificate)
        written[f"plan_{at}/plan.txt"] = one.derivation.pseudocode().rstrip("\n") + "\n"
    return written


def told(found: Family) -> str:
    """Return the guards as text, and what each plan needs of sizes and was tiled for."""
    lines = [
        f"{found.diagram.name}: {len(found.sized)} plans for the sizes that are left open; exactly one guard holds of"
        " any sizes"
    ]
    for way, at in found.dispatch.guards():
        said = " and ".join(str(test) if held else f"not ({test})" for test, held in way)
        lines.append(f"  plan {at}  if {said or 'always'}")
    for at, one in enumerate(found.sized):
        kernels = "; ".join(
            ", ".join(f"{c.name} by {c.tile}" for c in k.coords if c.tile > 1) or "one by one"
            for k in one.derivation.plan.kernels
        )
        lines.append(f"plan {at}: {one.needs}; {kernels}")
    return "\n".join(lines)
