"""A model told to a person, in lines of at most 100 columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from napkin_eq.napkin.formula import count, kib, micros, summed, written
from napkin_eq.napkin.levels import CLUSTERS, Moved, quantised, saving
from napkin_eq.napkin.measured import rows
from napkin_eq.napkin.model import KernelModel, Model
from napkin_eq.napkin.posynomial import variable
from napkin_eq.napkin.processor import configuration_told
from napkin_eq.napkin.text import equation, wrapped
from napkin_eq.napkin.text import table as aligned

BAR = 28


_OF = {"group": "group", "stream": "block", "walk": "block"}


def told(found: Model) -> str:
    """Return the whole model as text."""
    sizes = " ".join(f"{a}={'any' if a in found.unknown else found.sizes[a]}" for a in found.order)
    made = found.derivation
    title = f"{made.diagram.name}  {made.dtype}, {found.bytes_each} bytes a value  {found.hardware.title}"
    lines = [title, *wrapped(sizes, "  ")]
    if found.unknown:
        lines += wrapped(
            f"where numbers are asked for, {', '.join(found.unknown)} = {found.sizes[found.unknown[0]]}", "  "
        )
    for kernel in found.kernels:
        lines += ["", *_kernel(kernel, found)]
    if len(found.kernels) > 1:
        lines += ["", *_kernels(found)]
    return "\n".join([*lines, "", *_columns(found)])


def _kernels(found: Model) -> list[str]:
    """Return a line for each of several kernels: its optimum, the napkin's time and the predicted one."""
    table: list[tuple[str, ...]] = [("all kernels", "napkin", "predicted", "H*(a, M)")]
    for kernel in found.kernels:
        shape = written(kernel.form.expression(), _order(found, kernel))
        predicted = micros(kernel.cost.predicted_us * 1e-6)
        table.append((f"  {kernel.read.kernel.name}", micros(kernel.seconds), predicted, shape))
    return aligned(table)


def _kernel(kernel: KernelModel, found: Model) -> list[str]:
    read = kernel.read
    groups = [v for v in read.variables.values() if v.role == "group"]
    others = [v for v in read.variables.values() if v.role != "group"]
    parts = []
    if groups:
        parts.append(f"{', '.join(v.name for v in groups)} of {', '.join(v.axis.name for v in groups)} a group")
    parts += [
        f"{v.axis.name} {'streams past' if v.role == 'stream' else 'is walked'}, {v.name} at a time" for v in others
    ]
    lines = wrapped(f"{read.kernel.name}: {'; '.join(parts) or 'one group holds everything'}", "  ", first="")
    sections = (
        lines, _formulas(kernel, found), [*_terms(kernel, found), *_intensity(kernel, found)], _levels(kernel, found),
        configuration_told(kernel.configuration) if kernel.configuration else _plain(kernel),
    )  # fmt: skip
    return [line for at, section in enumerate(sections) for line in (*([""] if at else []), *section)]


def _formulas(kernel: KernelModel, found: Model) -> list[str]:
    read, order = kernel.read, _order(found, kernel)
    table = [(f"  {name}", summed(values, order), _how(name, kernel)) for name, values in read.moved.items()]
    lines = [*aligned(table), "", *equation("H", "=", summed(read.transfers, order), "values moved, over all groups")]
    memory = "Mem" if "M" in found.order else "M"
    for column in read.columns:
        arrays = " + ".join(dict.fromkeys(name for name, _ in column.arrays))
        lines += equation(memory, "≥", summed(column.memory, order), f"at hand: {arrays}" if arrays else "")
    if read.beside:
        lines += wrapped(f"left out, a number beside a row: {', '.join(read.beside)}", "       ")
    shape = kernel.form
    return [
        *lines,
        *equation("H*", "=" if shape.exact else "≥", written(shape.expression(), order), _at(kernel, order)),
    ]


def _how(name: str, kernel: KernelModel) -> str:
    """Say how often an array is moved."""
    read = kernel.read
    walked = read.shares.get(name, 1.0)
    again = [v for v in read.variables.values() if any(e < 0 for e in read.moved[name].powers(v.name))]
    verb = "saved" if name in read.saved else "read"
    if again:
        how = f"{verb} by {' and '.join(f'each {_OF[v.role]} of {v.axis.name}' for v in again)}"
    else:
        how = f"{verb} {walked:.3g} times" if walked > 1 + 1e-9 else f"{verb} once"
    parts = [c.axis.size for c in read.kernel.coords if c.name in read.kernel.grid and c.axis.size]
    if walked < 1 - 1e-9 and not any(abs(walked * n - 1) < 1e-9 for n in parts):
        how += f", {walked:.0%} of it"
    return how


def _at(kernel: KernelModel, order: Sequence[str]) -> str:
    """Say at which group sizes the optimum is."""
    import sympy

    shape, read = kernel.form, kernel.read
    memory = variable("M")
    held = [
        f"{written(left, order)} = {written(right, order)}" for left, right in shape.equations
        if memory in right.free_symbols and not any(e < 0 for e in left.as_powers_dict().values())
    ]  # fmt: skip
    moved = [(left, right) for left, right in shape.equations if any(e < 0 for e in left.as_powers_dict().values())]
    for (one, own), (other, its) in itertools.pairwise(moved):
        above, below = sympy.fraction(sympy.powsimp(sympy.simplify(one / other * its / own)))
        held.append(f"{written(above, order)} = {written(below, order)}")
    ends: dict[str, list[str]] = {}
    for name, value in (shape.fixed or {}).items():
        ends.setdefault(str(value), []).append(name)
    held += [f"{' = '.join(names)} = {value}" for value, names in ends.items() if names]
    gone = [
        v.name
        for v in read.variables.values()
        if v.role != "group"
        and v.name not in (shape.fixed or {})
        and not any(e < 0 for e in read.transfers.powers(v.name))
    ]
    held += [f"{', '.join(gone)} → 0"] if gone else []
    return f"at {', '.join(held)}" if held else ""


def _terms(kernel: KernelModel, found: Model) -> list[str]:
    why = {0: "moved once, whatever the memory", 0.5: "square tiles", 1: "sent to every group"}
    table = [("  a term of H*", "β", "", "with half the bytes a value")]
    for power in kernel.form.powers:
        beta = f"{power.beta}"
        text = written(power.expression(), _order(found, kernel))
        gain = f"÷ {quantised(power.beta):.3g}"
        table.append((f"  {text}", beta, why.get(float(power.beta), "groups of unequal sides"), gain))
    return aligned(table)


def _intensity(kernel: KernelModel, found: Model) -> list[str]:
    flops = kernel.read.flops
    if flops.constant == 0:
        return [
            "  K = 0: no contraction for the matrix unit; the memory decides"
            if not flops.terms
            else f"  K = {summed(flops)} FLOP"
        ]
    order = _order(found, kernel)
    import sympy

    ratio = written(sympy.expand(kernel.form.expression() / flops.constant), order)
    lines = equation("K", "=", f"{summed(flops, order)} FLOP", f"H*/K = {ratio}")
    table = [("  compute binds from", "memory, streams → ∞", "streams, M → ∞", "streams with the memory it has")]
    for at in _shown(kernel.thresholds, found):
        lengths = {n: pair for n, pair in at.lengths.items() if pair[0] >= 1}
        free = ", ".join(f"{n} ≥ {least:.0f}" for n, (least, _) in lengths.items())
        own = ", ".join(
            f"{n} ≥ {least:.0f}" if least is not None else f"{n}: never" for n, (_, least) in lengths.items()
        )
        if at.memory_bytes or lengths:
            table.append((f"  into {at.level.name}", kib(at.memory_bytes) if at.memory_bytes else "any", free, own))
    return [*lines, *([""] + aligned(table) if len(table) > 1 else [])]


def _levels(kernel: KernelModel, found: Model) -> list[str]:
    table = [("  level", "holds", "rate", "values", "bytes", "time", "groups at the optimum")]
    for at in _shown(kernel.moved, found):
        values = at.bound if at.values is None else at.values
        holds = kib(at.level.capacity_bytes) + (f" × {at.level.cores}" if at.level.cores > 1 else "")
        if at.level.name == "L2" and at.level.capacity_bytes < found.hardware.l2.capacity_bytes:
            holds += (
                f" of {kib(found.hardware.l2.capacity_bytes)}"  # what its children hold together: outputs stay there
            )
        size = values * found.bytes_each
        moved = f"{count(size)} B" if size < 1000 else f"{count(size)}B"
        table.append(
            (
                f"  {at.level.name}",
                holds,
                f"{at.level.bandwidth / 1e12:.3g} TB/s",
                count(values),
                moved,
                micros(at.seconds(found.bytes_each)),
                _groups(at, kernel, found),
            )
        )
    if len(table) > 2:
        table.append(
            (
                "  sum",
                "",
                "",
                "",
                "",
                micros(sum(m.seconds(found.bytes_each) for m in kernel.moved)),
                "one after the other",
            )
        )
    lines = aligned(table)
    if found.clusters and any(p.beta for p in kernel.form.powers):
        beta = max(p.beta for p in kernel.form.powers)
        saved = [(c.cores, saving(c, beta)) for c in CLUSTERS]
        best = max(saved, key=lambda s: s[1])
        each = " and ".join(f"{n} cores save {s:.1%}" for n, s in saved)
        lines += wrapped(f"clusters, at an H800's rates: {each} of the term with M; take {best[0]}", "  ")
    return lines


def _shown(of: Sequence[Any], found: Model) -> list[Any]:
    """Return what belongs to the level asked for, all of it where none was."""
    return [each for each in of if found.target is None or each.level.name == found.target.name]


def _groups(at: Moved, kernel: KernelModel, found: Model) -> str:
    if at.values is None:
        return f"does not fit: the smallest tiles hold {kib(at.least * found.bytes_each)}"
    if at.found is None:
        return ", ".join(f"{n} = {t:.0f}" for n, t in at.tiles.items()) + " (tried)"
    shown = []
    for name, value in at.tiles.items():
        found_at = kernel.read.variables[name]
        if found_at.role != "group" and not any(e < 0 for e in kernel.read.transfers.powers(name)):
            continue
        if round(value, 6) == found.sizes[found_at.axis.name]:
            shown.append(f"{name} = {value:.0f} (all)")
        elif value > 1 + 1e-9:
            shown.append(f"{name} = {value:.0f}")
    return ", ".join(shown) or "one element each"


def _plain(kernel: KernelModel) -> list[str]:
    if not kernel.read.flops.terms:
        return ["  no contraction: nothing for warpgroups to share"]
    return ["  the rows of the contraction are fewer than a group cuts: no configuration by warpgroups"]


def _columns(found: Model) -> list[str]:
    """Return what each assumption costs, with bars, and the three columns."""
    steps = found.steps()
    seen = [(s.name, s.us) for s in steps]
    where = found.hardware.name.upper()
    if found.measured:
        seen.append((f"measured on the {where}, {found.measured.date}", found.measured.us))
    longest = max(us for _, us in seen) or 1.0
    table = [(f"  {name}", micros(us * 1e-6), "█" * max(1, round(BAR * us / longest))) for name, us in seen]
    lines = ["what each assumption costs", *aligned(table, right=(1,))]
    if not found.measured:
        known = [r["sizes"] for r in rows(found.derivation.diagram, found.derivation.dtype, found.hardware)]
        lines += wrapped(
            f"measured on the {where}: — at these sizes"
            + (f"; {len(known)} other sizes were, such as {_sizes(known[0])}" if known else ""),
            "  ",
        )
    measured = micros(found.measured.us * 1e-6) if found.measured else "—"
    three: list[tuple[str, ...]] = [
        ("", "napkin", "predicted", f"{where} measured"),
        ("  time", micros(steps[0].us * 1e-6), micros(found.predicted_us * 1e-6), measured),
    ]
    flops = sum(k.flops for k in found.kernels)
    if flops:
        rates = [f"{count(flops / (us * 1e-6))}FLOP/s" for us in (steps[0].us, found.predicted_us)]
        three.append(
            ("  rate", *rates, f"{count(flops / (found.measured.us * 1e-6))}FLOP/s" if found.measured else "—")
        )
    return [*lines, "", *aligned(three)]


def _sizes(sizes: dict[str, Any]) -> str:
    return " ".join(f"{n}={s}" for n, s in sizes.items())


def _order(found: Model, kernel: KernelModel) -> list[str]:
    return [*found.order, *kernel.read.variables]
