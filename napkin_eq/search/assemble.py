"""The kernels of a diagram's outputs put together as one plan: numbered, their arrays named, with notes for
the reader.
"""

from __future__ import annotations

from dataclasses import replace

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import STORAGE, held_as
from napkin_eq.lang.errors import WrongPlan
from napkin_eq.lang.term import Input, Proj, Store, Term, Tuple
from napkin_eq.machine.cost import total_us
from napkin_eq.machine.gpu import Hardware
from napkin_eq.machine.plan_passes import decided
from napkin_eq.search.derivation import Output, laws_used
from napkin_eq.search.placement import TARGET
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile import ir as p
from napkin_eq.tile.stream_facts import modes_of


def planned(diagram: Diagram, outputs: list[Output], machine: Hardware, dtype: str) -> tuple[p.Plan, list[Tiled]]:
    """Number the kernels and name their arrays; the tiles are those that were priced.

    Raises WrongPlan where a plan stores two outputs as one value, as laws may make two of them: each has a kernel of
    its own.
    """
    kernels: list[p.Kernel] = []
    tiled: list[Tiled] = []
    targets: dict[str, p.Buffer] = {}
    for output in outputs:
        final = {term: name for name, _, term in output.each()}
        if len(final) < len(output.names):
            raise WrongPlan(f"diagram {diagram.name}: a plan stores two of {', '.join(output.names)} as one value")
        scratch = [(term, b.name) for term, b in output.placed.arrays]
        names = {name: final.get(term, f"{output.names[0]}__t{i}") for i, (term, name) in enumerate(scratch)}
        held = dict(scratch)
        for store, piece in zip(output.placed.stores, output.placed.tiled, strict=True):
            kept = [final[t] if t in final else names[held[t]] for t in _kept(store)]
            renaming = {**names, **{f"{TARGET}{i}": name for i, name in enumerate(kept)}}
            kernel = renamed(piece.kernel, f"kernel_{len(kernels)}", renaming)
            kernels.append(kernel)
            tiled.append(replace(piece, kernel=kernel, cost=replace(piece.cost, name=kernel.name)))
            targets |= {b.name: kernel.whole(b) for b in kernel.writes if b.name in final.values()}
    inputs = tuple(_input_buffer(i, dtype) for i in diagram.inputs())
    plan = p.Plan(diagram.name, inputs, tuple(targets[name] for name, _ in diagram.outputs), tuple(kernels))
    return decided(replace(plan, notes=_notes(diagram, outputs, tiled, machine, dtype))), tiled


def _kept(store: Store) -> list[Term]:
    """Return the terms by which a plan reads what a Store holds: the Store, or the Proj of each of its values."""
    _, value = modes_of(store)
    return [Proj(i, store) for i in range(len(value.items))] if isinstance(value, Tuple) else [store]


def _input_buffer(array: Input, dtype: str) -> p.Buffer:
    return p.Buffer(array.name, array.dims, held_as(array.dtype, STORAGE[dtype]))


def renamed(kernel: p.Kernel, name: str, arrays: dict[str, str]) -> p.Kernel:
    """Return a kernel under another name, its arrays renamed."""

    def buffer(b: p.Buffer) -> p.Buffer:
        return replace(b, name=arrays.get(b.name, b.name))

    def stmts(body: tuple[p.Stmt, ...]) -> tuple[p.Stmt, ...]:
        return tuple(map(stmt, body))

    def stmt(s: p.Stmt) -> p.Stmt:
        if isinstance(s, (p.Load, p.StoreTile)):
            return replace(s, buffer=arrays.get(s.buffer, s.buffer))
        if isinstance(s, p.Loop):
            return replace(s, parts=tuple(replace(part, body=stmts(part.body)) for part in s.parts))
        return s

    def workers(w: p.Workers | None) -> p.Workers | None:
        if w is None or w.roles is None:
            return w
        roles = w.roles
        rings = tuple((names, replace(ring, copies=tuple(map(box, ring.copies)))) for names, ring in roles.rings)
        return replace(w, roles=replace(roles, rings=rings, stores=tuple((at, box(copy)) for at, copy in roles.stores)))

    def box(copy: p.Copy) -> p.Copy:
        return replace(copy, buffer=buffer(copy.buffer))

    def matrix(m: p.Matrix) -> p.Matrix:
        return replace(m, buffer=arrays.get(m.buffer, m.buffer))

    call = kernel.library
    called = call and replace(call, left=matrix(call.left), right=matrix(call.right), out=matrix(call.out))
    reads, writes = (tuple(map(buffer, buffers)) for buffers in (kernel.reads, kernel.writes))
    return replace(
        kernel,
        name=name,
        reads=reads,
        writes=writes,
        body=stmts(kernel.body),
        workers=workers(kernel.workers),
        library=called,
    )


def _notes(
    diagram: Diagram, outputs: list[Output], tiled: list[Tiled], machine: Hardware, dtype: str
) -> tuple[str, ...]:
    sizes = ", ".join(f"{a.name}={a.size if a.size is not None else 'any'}" for a in diagram.axes())
    unread = [f"not read, and so no argument: {', '.join(diagram.unread)}"] if diagram.unread else []
    return (
        f"diagram: {diagram.name}  {'; '.join(f'{name} = {source}' for o in outputs for name, source, _ in o.each())}",
        f"sizes: {sizes}  storage: {dtype}  hardware: {machine.title} ({machine.arch})",
        f"laws: {', '.join(laws_used(outputs))}",
        (
            f"predicted: {total_us([t.cost for t in tiled], machine):.1f} us,"
            f" {sum(t.cost.bytes_hbm for t in tiled) / 1e6:.1f} MB to and from HBM"
        ),
        *unread,
    )
