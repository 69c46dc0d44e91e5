"""What `derive` was asked for, checked: the arguments, the laws that are chosen, and that each of them is proved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real

from napkin_eq.egraph.budget import SECONDS, Budget
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_NAME, STORAGE
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Term
from napkin_eq.laws.law import REGISTRY, Statement
from napkin_eq.laws.loader import folder, load_rules
from napkin_eq.machine import gpu as machines
from napkin_eq.machine.gpu import Hardware
from napkin_eq.prove.float_class import require_granted
from napkin_eq.prove.prove import require_proved
from napkin_eq.search.job import Aim, Laws
from napkin_eq.tile.ir import MATRIX_ROUNDOFF
from napkin_eq.tile.lower.reductions import NARROW

PRINTERS = ("auto", "gluon", "triton")


def aimed(
    diagram: Diagram,
    hardware: str | Hardware,
    dtype: str,
    printer: str,
    max_error: float | None,
    refused: Sequence[Term],
    limit: float | Budget,
    library: bool = False,
    precision: str = "",
) -> Aim:
    """Return what a plan is to be made for; raises NapkinError for a name, a number or a type that there is not."""
    if not isinstance(dtype, str) or dtype not in STORAGE:
        raise NapkinError(f"unknown dtype {dtype!r:.60}; one of {', '.join(STORAGE)}")
    if not isinstance(printer, str) or printer not in PRINTERS:
        raise NapkinError(f"unknown printer {printer!r:.60}; one of {', '.join(PRINTERS)}")
    if max_error is not None and (not isinstance(max_error, Real) or not max_error > 0):
        raise NapkinError(f"the largest relative error is {max_error!r:.60}, expected a positive number such as 1e-2")
    if isinstance(refused, (str, Term)) or not isinstance(refused, Iterable):
        raise NapkinError(f"refused is a {type(refused).__name__}, expected terms of plans that are not to be taken")
    asked = precision != ""
    if asked and (precision not in tuple(MATRIX_ROUNDOFF) or dtype != "float32" or max_error is not None):
        raise NapkinError(
            f"precision {precision!r:.60}: expected one of {', '.join(MATRIX_ROUNDOFF)}, of products of float32, here"
            f" of {dtype}, and no largest error beside it"
        )
    if not isinstance(limit, (Real, Budget)):
        raise NapkinError(f"the limit is a {type(limit).__name__}, expected a number of seconds such as {SECONDS:g}")
    if not isinstance(hardware, (str, Hardware)):
        raise NapkinError(f"hardware is a {type(hardware).__name__}, expected a name such as h200, or a file's path")
    budget = limit if isinstance(limit, Budget) else Budget(limit)
    if not budget.seconds > 0:
        raise NapkinError(f"the limit is {budget.seconds:g} seconds, expected a positive number such as {SECONDS:g}")
    machine = machines.load(hardware) if isinstance(hardware, str) else hardware
    for held in (dtype, *(array.dtype for array in diagram.inputs() if array.dtype != "float")):
        if (needed := BY_NAME[held].needs) and needed not in machine.tensor:
            raise NapkinError(f"{held} is not a type of {machine.title}, which has no contractions of {needed}")
    return Aim(
        machine,
        dtype,
        printer,
        max_error,
        precision or NARROW,
        refused=frozenset(refused),
        budget=budget,
        held=dict(diagram.held),
        laid=diagram.layouts(),  # whatever an output is rewritten to
        library=library,
    )


def proved_laws(without: Sequence[str], rules: Sequence[str], allow_tested: bool) -> Laws:
    """Return the laws in force, each proved; raises LawRefused for one that is false or claims too much of floating
    point, Undecided for one not proved.
    """
    for said, names in (("without", without), ("rules", rules)):
        if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
            raise NapkinError(f"{said} is a {type(names).__name__}, expected several names, as in {said}=('…',)")
    statements = chosen_statements(without, rules)
    if all(s.name != "level" for s in statements):
        raise NapkinError(
            "without the law level no value may be stored, not even an output, so there is no kernel; leave it in"
        )
    verdicts = require_proved(statements, allow_tested)
    if rules and not allow_tested:
        require_granted(s for s in statements if not s.place.startswith(str(folder("rules"))))
    return Laws(statements, verdicts)


def chosen_statements(without: Sequence[str], rules: Sequence[str]) -> list[Statement]:
    """Load the shipped rules and the user's, and leave out the laws and families named."""
    load_rules()
    known = set(REGISTRY.statements)
    if rules:
        load_rules(*rules)
    added = set(REGISTRY.statements) - known
    places = (str(folder("rules")), *map(str, rules))
    statements = [s for s in REGISTRY.statements.values() if s.name in added or s.place.startswith(places)]
    for name in without:
        if not any(name in (s.name, s.family, base_name(s.name)) for s in statements):
            families = ", ".join(sorted({s.family for s in statements}))
            raise NapkinError(
                f"--without {name!r:.60}: no such law or family; families: {families}; `napkin-eq laws` lists the laws"
            )
    return [s for s in statements if not {s.name, s.family, base_name(s.name)} & set(without)]


def base_name(name: str) -> str:
    """Return the name of the statement that a schema law is an instance of: fuse-sum is of fuse."""
    return name.rsplit("-", 1)[0]
