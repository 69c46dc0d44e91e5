"""A program of PyTorch, as torch.export gives it, read operator by operator, by the table, into one diagram."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import DTYPES, Input
from napkin_eq.pytorch.build.builder import RANDOM, Builder, Edge, Value
from napkin_eq.pytorch.build.constants import empty
from napkin_eq.pytorch.build.extents import Limit, canonical, limits
from napkin_eq.pytorch.build.narrow import FLOATS, whole
from napkin_eq.pytorch.build.rolled import put
from napkin_eq.pytorch.build.table import SILENT, arguments, name_of, rules
from napkin_eq.pytorch.build.wires import ROUNDS, Tie, Wires
from napkin_eq.pytorch.exporting import exported
from napkin_eq.pytorch.naming import (
    Refused,
    clean_name,
    expression,
    first_line,
    guards_of,
    multiples_in,
    type_name,
)
from napkin_eq.pytorch.operators.logic import CHOOSING
from napkin_eq.pytorch.operators.pairs import PARTS, Pair, opened
from napkin_eq.pytorch.operators.pairs import read as pairs_of
from napkin_eq.pytorch.operators.price import contraction, multiplied_in
from napkin_eq.pytorch.order import seeded
from napkin_eq.pytorch.program import REAL, Call, Port, Program, lying, signature_of
from napkin_eq.pytorch.sizes import symbols_in

CHANGING = ("_to_copy", "to", "copy", "type_as")  # the type of what they are given
LIFTED = "_tensor_constant"  # how a traced program names the constants that it holds
UNREAD = "the operator is not read; docs/pytorch.md lists those that are"
COUNTED = "only the data say how many elements it gives; write torch.where, or give a size"
NONE = "a dimension of no elements, and an axis has one at least"
FOLDS_AS = ("sum", "prod", "cumsum", "cumprod", "nansum")  # these cast what they fold, by their argument `dtype`
IGNORED = (
    "_assert_scalar",
    "_assert_tensor_metadata",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "_assert_async",
    "_functional_assert",
)


def from_torch(fn: Any, *example_inputs: Any, dynamic_shapes: Any = None, name: str = "") -> Program:
    """Read a function or module of PyTorch, called with these inputs, as a diagram.

    dynamic_shapes: as torch.export takes it; other dimensions have the sizes of the example. name: of the diagram.
    Raises NapkinError, with the operator and the line of source, for what the language does not have.
    """
    lowered = exported(fn, example_inputs, dynamic_shapes)
    return of_exported(lowered, name or clean_name(getattr(fn, "__name__", type(fn).__name__)), signature_of(fn))


def counted(node: Any) -> bool:
    """Tell whether a node gives as many elements as its data say."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    return bool(free_unbacked_symbols(node.meta.get("val")))


@dataclass
class Reading:
    """A graph being read: the values of its nodes, the builder of its terms."""

    graph: Any
    sources: Mapping[str, tuple[str, str]]  # of placeholders: what they are, and their own names
    builder: Builder
    storage: str
    values: dict[Any, Any] = field(default_factory=dict)
    inputs: list[Port] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)  # whole numbers, as sizes are
    names: set[str] = field(default_factory=set)
    place: tuple[Any, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)  # of placeholders that are constants without dimensions
    lifted: bool = False  # values of more dimensions stand for the graph's scalars
    # Of placeholders that are constants; None where what is computed of such is not asked for.
    constants: Mapping[str, Any] | None = None
    kept: dict[str, Any] = field(default_factory=dict)  # what was computed of them

    def run(self) -> list[Any]:
        """Read every node; return what the graph returns."""
        for node in self.graph.nodes:
            self.builder.place = (*self.place, node.name)
            if node in self.values:
                continue
            if node.op == "placeholder" or node.op == "get_attr":
                self.values[node] = self.declared(node)
            elif node.op == "call_function":
                self.values[node] = self.called(node)
            elif node.op == "output":
                found = node.args[0]
                if any(empty(arg) for arg in node.all_input_nodes):
                    raise NapkinError(f"a result of the program has {NONE}")
                for arg in node.all_input_nodes:
                    if isinstance(self.values.get(arg), Pair):
                        raise Refused(arg, "its result is of complex numbers, which are no outputs")
                return [self.resolved(arg) for arg in (found if isinstance(found, (list, tuple)) else [found])]
            else:
                raise NapkinError(f"a graph with a {node.op} ({node.name}) is not supported")
        return []

    def declared(self, node: Any) -> Any:
        import torch

        held = node.meta.get("val")
        if node.op == "get_attr" and isinstance(
            part := getattr(self.graph.owning_module, node.target, None), torch.nn.Module
        ):
            return part
        if not isinstance(held, torch.Tensor):
            if isinstance(held, (int, torch.SymInt)) and not isinstance(held, bool):
                self.given.append(self.expression(held))
            return self.expression(held)
        if node.name in self.numbers:
            return replace(self.builder.scalar(self.numbers[node.name]), dtype=type_name(held.dtype))
        source, target = self.sources.get(node.name, ("input", node.name))
        if source == "token":  # orders side effects
            return None
        return self.entered(source, target or node.name, held)

    def entered(self, source: str, target: str, held: Any) -> Any:
        """Return a tensor as a new input of the diagram."""
        import torch

        dtype = type_name(held.dtype)
        if held.is_sparse or held.layout != torch.strided:
            raise NapkinError(f"input {target} is a {held.layout} tensor: only strided ones are supported")
        pair = PARTS.get(dtype, "")
        declared = "float" if (pair or dtype) == self.storage else pair or dtype
        if declared not in DTYPES:
            if dtype != "float64":
                raise NapkinError(
                    f"input {target} holds {dtype}: the language has real numbers, whole numbers and masks"
                )
            declared = "float"
        dims = tuple(self.builder.fresh(self.expression(size), at) for at, size in enumerate(held.shape))
        if pair:
            dims = (*dims, self.builder.fresh(2, "parts"))
        port = Port(self.named(target), source, target, dtype, dims)
        term = Input(port.name, port.axes, declared)
        self.inputs.append(port)
        value = self.builder.value(term, dims, pair or dtype)
        return opened(self.builder, value) if pair else value

    def named(self, name: str) -> str:
        """Return a name that no other input has, and that may stand in a kernel."""
        base = found = clean_name(name)
        number = 2
        while found in self.names:
            found, number = f"{base}{number}", number + 1
        self.names.add(found)
        return found

    def resolved(self, argument: Any) -> Any:
        """Return an argument of a node with values in the place of nodes."""
        import torch

        if isinstance(argument, torch.fx.Node):
            return self.values[argument]
        if isinstance(argument, (list, tuple)):
            return [self.resolved(item) for item in argument]
        return self.expression(argument)

    def expression(self, value: Any) -> Any:
        """Return a symbolic number as its expression, by the symbols that others are tied to; anything else as it
        is.
        """
        return self.builder.wires.told(expression(value))

    def called(self, node: Any) -> Any:
        import operator

        import torch

        held = node.meta.get("val")
        if node.target is operator.getitem:
            found = self.values[node.args[0]][node.args[1]]
            if found is None:
                raise Refused(node.args[0], f"its result {node.args[1]} is not supported")
            return found
        if isinstance(held, (torch.SymInt, torch.SymFloat, torch.SymBool, int, float, bool)):
            return self.expression(held)
        name = name_of(node.target)
        if name.partition(".")[0] in IGNORED:
            return None
        pairs = complex_numbers(node)
        if name not in rules() and not pairs:
            if (found := self.computed(node)) is None:
                raise Refused(node, RANDOM if seeded(node.target) else COUNTED if counted(node) else UNREAD)
            if isinstance(found, (list, tuple)):
                return [self.constant(f"{node.name}.{at}", part) for at, part in enumerate(found)]
            return self.constant(node.name, found)
        if empty(node):
            return None  # `cat` leaves it out
        if not name.startswith("cat.") and any(empty(arg) for arg in node.all_input_nodes):
            raise Refused(node, NONE)
        self.builder.converted.clear()
        self.builder.memory = _memory(node)
        results = held if isinstance(held, (list, tuple)) else [held]
        shapes = [value.shape for value in results if isinstance(value, torch.Tensor) and not self.lifted]
        self.builder.result = tuple(map(self.expression, shapes[0])) if shapes else ()
        try:
            args, kwargs = (
                tuple(self.resolved(a) for a in node.args),
                {k: self.resolved(a) for k, a in node.kwargs.items()},
            )
            self.builder.place = (*self.place, node.name, name)
            if name.partition(".")[0] in FOLDS_AS and node.kwargs.get("dtype") and not held.is_floating_point():
                args = (self.builder.cast(args[0], type_name(held.dtype)), *args[1:])
            if pairs:
                if any(value != 1 for key, value in kwargs.items() if key not in SILENT):
                    raise NapkinError("of complex numbers only plain sums and products are supported")
                result = pairs_of(
                    self.builder,
                    name,
                    args,
                    lambda own: rules()[name][0](self.builder, **arguments(node.target, tuple(own), {})),
                )
            elif hasattr(node.target, "_schema"):
                result = rules()[name][0](self.builder, **arguments(node.target, args, kwargs))
            else:
                result = rules()[name][0](self.builder, self.inner, *args)
            self.noted(name, [*args, *kwargs.values()], held)
            several = isinstance(held, (list, tuple))
            found = (
                [self.checked(node, v, t) for v, t in zip(result, held, strict=False)]
                if several
                else self.checked(node, result, held)
            )
            return found
        except Refused:
            raise
        except NapkinError as reason:
            raise Refused(node, str(reason)) from None
        # A kind of argument that its rule does not know
        except (TypeError, ValueError, IndexError, AttributeError) as reason:
            raise Refused(
                node, f"it is called in a way that is not supported ({type(reason).__name__}: {first_line(reason)})"
            ) from None

    def computed(self, node: Any) -> Any:
        """Return what PyTorch computes of constants alone, None where anything else enters."""
        import operator

        import torch

        if self.constants is None or node.op not in ("placeholder", "call_function"):
            return None
        if node.op == "placeholder":
            return self.constants.get(node.name)
        schema = getattr(node.target, "_schema", None)
        if node.target is not operator.getitem and (schema is None or schema.is_mutable or seeded(node.target)):
            return None
        own = {arg: self.computed(arg) for arg in node.all_input_nodes}
        if any(value is None for value in own.values()):
            return None
        args, kwargs = (torch.fx.node.map_arg(given, own.__getitem__) for given in (node.args, dict(node.kwargs)))
        with torch.no_grad():
            return node.target(*args, **kwargs)

    def constant(self, name: str, tensor: Any) -> Any:
        """Keep a tensor that was computed of constants, and return it as an input of the diagram."""
        if not hasattr(tensor, "shape"):
            return tensor
        self.kept[f"computed.{name}"] = tensor
        return self.entered("constant", f"computed.{name}", tensor)

    def noted(self, name: str, given: Sequence[Any], held: Any) -> None:
        """Note where an operator that PyTorch computes in whole numbers is read as one of real numbers."""
        results = held if isinstance(held, (list, tuple)) else [held]
        if all(getattr(result, "is_floating_point", bool)() for result in results if result is not None):
            return
        terms = list(self.builder.converted)
        if name.partition(".")[0] not in CHOOSING:
            terms += [v.term for v in given if isinstance(v, Value) and v.whole and v.term.kind == "real"]
        for term in terms:
            self.builder.exact(term)

    def inner(self, module: Any, values: Sequence[Any]) -> Any:
        """Return what a callable's graph gives of values that stand for its arguments; of several results a list."""
        place = self.builder.place
        reading = Reading(module.graph, {}, self.builder, self.storage, lifted=True, place=place)
        holders = [node for node in module.graph.nodes if node.op == "placeholder"]
        reading.values.update(zip(holders, values, strict=True))
        found = reading.run()
        self.builder.place = place
        return found if len(found) > 1 else found[0]

    def checked(self, node: Any, value: Any, held: Any) -> Any:
        """Return a value in the type that PyTorch gives it; its sizes must be PyTorch's, or the rule is wrong."""
        import torch

        if value is None or not isinstance(held, torch.Tensor):
            return None
        if isinstance(value, Pair) and not held.is_complex():
            value = value.real
        if isinstance(value, Pair):
            return Pair(*(self.checked(node, part, _part(held)) for part in (value.real, value.imaginary)))
        dtype, sizes = type_name(held.dtype), [self.builder.size(dim) for dim in value.dims]
        if not self.lifted and sizes != [self.expression(size) for size in held.shape]:
            raise NapkinError(f"read with sizes {tuple(sizes)}, PyTorch has {tuple(held.shape)}")
        name = name_of(node.target).partition(".")[0]
        changes = name in CHANGING
        if dtype == "bool" or value.truth:
            return self.builder.cast(value, dtype)
        if dtype in FLOATS:
            return self.builder.cast(value, dtype) if changes else Value(value.term, value.dims, dtype)
        if dtype in REAL:
            return Value(self.builder.real(value).term, value.dims, dtype)
        if not dtype.startswith(("int", "uint")):
            raise NapkinError(f"a result of {dtype} is not supported")
        if name not in CHOOSING and value.term.kind == "real":
            self.builder.exact(value.term)
        # What a rule computed in real numbers, of whole ones, is a whole number that wraps around as they do.
        reckoned = not changes and not value.whole and whole(value.term)
        return self.builder.cast(replace(value, dtype=dtype) if reckoned else value, dtype)


def complex_numbers(node: Any) -> bool:
    """Tell whether a node is given or gives complex numbers."""
    import torch

    given = [node.meta.get("val"), *(arg.meta.get("val") for arg in node.all_input_nodes)]
    return any(
        isinstance(value, torch.Tensor) and value.is_complex()
        for item in given
        for value in (item if isinstance(item, (list, tuple)) else [item])
    )


def _part(held: Any) -> Any:
    """Return a tensor as the real part of a complex one is."""
    import torch

    return (
        torch.empty(held.shape, dtype=getattr(torch, PARTS[type_name(held.dtype)]), device="meta")
        if held.is_complex()
        else held
    )


def _memory(node: Any) -> tuple[Any, ...]:
    """Return how the tensor that a node is given first lies in memory: its strides, and where it begins."""
    import torch

    first = node.args[0] if node.args else None
    held = first.meta.get("val") if isinstance(first, torch.fx.Node) else None
    return (
        (held.stride(), held.storage_offset())
        if isinstance(held, torch.Tensor) and held.layout == torch.strided
        else ()
    )


def of_graph(
    graph: Any,
    name: str,
    sources: Mapping[str, tuple[str, str]],
    results: Mapping[int, tuple[str, str]],
    undefined: bool = False,
    numbers: Mapping[str, Any] | None = None,
    constants: Mapping[str, Any] | None = None,
) -> Program:
    """Read a graph of core operators; `sources` says what its placeholders are, `results` what its outputs are
    where they are no outputs. undefined: NaN in data is to be followed where places of extremes are asked for.
    numbers: what placeholders are that are constants without dimensions. constants: those with them; where they are
    given, operators without a rule that have nothing but constants are computed by PyTorch, as further constants.
    """
    storage = _storage(graph)
    wires = Wires()

    def begun() -> Reading:
        wires.begin()
        builder = Builder(wires, undefined=undefined, bounded=constants is not None)
        return Reading(graph, sources, builder, storage, numbers=numbers or {}, constants=constants)

    for _ in range(ROUNDS):
        wires = Wires(wires.tied) if wires.tying else wires
        reading = begun()
        try:
            found = reading.run()
        except Refused:
            if not (wires.parting or wires.tying):
                raise
        if not wires.tying and wires.settled():
            break
        wires_symbolic = wires.symbolic()
    else:
        reading = begun()
        found = reading.run()
    wires_symbolic = wires.symbolic()
    if states := reading.builder.known_states:
        found = [replace(v, term=put(v.term, states)) if isinstance(v, Value) else v for v in found]
    outputs: list[Port] = []
    for at, value in enumerate(found):
        if isinstance(value, Value):
            source, target = results.get(at, ("output", ""))
            outputs.append(
                Port(
                    reading.named(f"out{at}" if len(found) > 1 else "out"),
                    source,
                    target or str(at),
                    value.dtype,
                    value.dims,
                    value.term,
                )
            )
    if not outputs:
        raise NapkinError(f"program {name} returns no tensor")
    diagram = Diagram(name, tuple((port.name, port.term) for port in outputs if port.term is not None))
    edges = tuple(dict.fromkeys(reading.builder.edges))
    given = tuple(reading.given)
    diagram = lying(diagram, {port.name: port.axes for port in outputs})
    places = tuple(dict.fromkeys(reading.builder.places))
    return Program(
        diagram,
        tuple(reading.inputs),
        tuple(outputs),
        storage,
        edges,
        places,
        wires_symbolic,
        given,
        tuple(reading.builder.limits),
        dict(wires.tied),
        reading.kept,
    )


def of_exported(exported: Any, name: str, called: inspect.Signature | None = None) -> Program:
    """Read an exported program whose operators are those of the table. called: the signature of what was exported, by
    which arguments have names.
    """
    from torch.utils import _pytree as pytree

    signature = exported.graph_signature
    sources, results = dict[str, tuple[str, str]](), dict[int, tuple[str, str]]()
    for spec in signature.input_specs:
        kind = spec.kind.name
        source = {"PARAMETER": "parameter", "BUFFER": "buffer", "CONSTANT_TENSOR": "constant", "TOKEN": "token"}.get(
            kind, "input"
        )
        if source == "buffer" and spec.target.startswith(LIFTED):
            source = "constant"
        sources[spec.arg.name] = (source, spec.target or spec.arg.name)
    users: list[int] = []
    for at, spec in enumerate(signature.output_specs):
        kind = spec.kind.name
        if kind == "USER_OUTPUT":
            users.append(at)
        else:
            results[at] = ("buffer" if "BUFFER" in kind else "input", spec.target or "")
    state = {**exported.state_dict, **exported.constants}
    constants = {place: state[target] for place, (source, target) in sources.items() if source == "constant"}
    numbers = {
        place: constant.item()
        for place, constant in constants.items()
        if not (constant.dim() or constant.is_complex() or constant.isnan())
    }
    program = of_graph(exported.graph, name, sources, results, numbers=numbers, constants=constants)
    program = replace(program, limits=(*program.limits, *_limits(exported, program.tied)))
    state |= program.state
    listed = {
        int(port.target): number for number, port in enumerate(p for p in program.outputs if p.source == "output")
    }
    literal = {at: getattr(signature.output_specs[at].arg, "value", None) for at in users}
    spec = exported.call_spec.out_spec

    def structured(values: Any) -> Any:
        return pytree.tree_unflatten([values[listed[at]] if at in listed else literal[at] for at in users], spec)

    given = [spec.arg for spec in signature.input_specs if spec.kind.name == "USER_INPUT"]
    fixed = {at: arg.value for at, arg in enumerate(given) if hasattr(arg, "value")}
    call = Call(name, tuple(arg.name for arg in given), fixed, exported.call_spec.in_spec, called)
    return replace(program, state=state, structure=structured, flatten=call.tensors)


def _limits(exported: Any, tied: Mapping[Any, Tie]) -> list[Limit]:
    """Return what torch.export takes to hold of the sizes of an exported program, by the symbols that others are tied
    to.
    """
    import torch

    values = [node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"]
    sizes = [size for value in values if isinstance(value, torch.Tensor) for size in value.shape]
    symbolic = [size for size in sizes if isinstance(size, torch.SymInt)]
    if not symbolic:
        return []
    env = symbolic[0].node.shape_env
    own = {symbol for size in symbolic for symbol in size.node.expr.free_symbols}
    known, others = multiples_in(env), {symbol: other for symbol, (other, *_) in tied.items()}

    def told(side: Any) -> Any:
        return canonical(side.xreplace(known).xreplace(others)) if hasattr(side, "xreplace") else side

    found = limits(guards_of(env), exported.range_constraints)
    readable = [limit for limit in found if {*symbols_in(limit[1:3])} <= own]
    return [(word, told(a), told(c), node) for word, a, c, node in readable if told(a) != told(c)]


def _storage(graph: Any) -> str:
    """Return the type of real numbers that the diagram declares "float", to which operands of contractions are rounded:
    what its contractions multiply, float32 or more where they do not agree; where there is none, what most inputs have.
    """
    import torch

    if kinds := {multiplied_in(node) for node in graph.nodes if contraction(node)} - {""}:
        return kinds.pop() if len(kinds) == 1 else "float64" if "float64" in kinds else "float32"
    count: dict[str, int] = {}
    for node in graph.nodes:
        held = node.meta.get("val")
        if node.op in ("placeholder", "get_attr") and isinstance(held, torch.Tensor) and held.is_floating_point():
            count[type_name(held.dtype)] = count.get(type_name(held.dtype), 0) + 1
    return max(count, key=lambda name: (count[name], name)) if count else "float32"


__all__ = ["Edge", "from_torch", "of_exported", "of_graph"]
