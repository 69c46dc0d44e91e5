"""A program of PyTorch, read through torch.export: operator by operator, by the table, into one diagram."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import DTYPES, Input
from napkin_eq.pytorch.build.builder import Builder, Edge, Value
from napkin_eq.pytorch.build.narrow import FLOATS, whole
from napkin_eq.pytorch.build.rolled import put
from napkin_eq.pytorch.build.table import arguments, name_of, rules
from napkin_eq.pytorch.build.wires import ROUNDS, Wires
from napkin_eq.pytorch.naming import (
    Refused,
    clean_name,
    expression,
    extent_of,
    first_line,
    line_of,
    raised_at,
    type_name,
)
from napkin_eq.pytorch.operators.logic import CHOOSING
from napkin_eq.pytorch.operators.pairs import PARTS, Pair, opened
from napkin_eq.pytorch.operators.pairs import read as pairs_of
from napkin_eq.pytorch.program import REAL, Call, Port, Program, lying, signature_of

CHANGING = ("_to_copy", "to", "copy", "type_as")  # the type of what they are given
ALSO = (
    *(
        f"upsample_{kind}.{way}"
        for kind in ("bilinear2d", "linear1d", "nearest1d", "nearest2d", "nearest3d")
        for way in ("vec", "default")
    ),
    "grid_sampler_2d.default",
    *("dist.default", "ldexp.Tensor", "rrelu_with_noise_backward.default"),
)
CONSTANTS = ("tril_indices.default", "triu_indices.default")  # the backend is given these, once they are computed
# What torch.export leaves of torch.func's transforms. Those of vmap its decompositions know; of the others it has lost
# the inputs, and may crash (cumsum).
TRANSFORMS = "torch._functorch"
KNOWN_TRANSFORMS = (
    "lazy_load_decompositions",
    "_vmap_increment_nesting",
    "_vmap_decrement_nesting",
    "_add_batch_dim",
    "_remove_batch_dim",
)
LOUD = ("_subclasses.fake_tensor", "fx.experimental.symbolic_shapes")
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
    import torch

    module = fn if isinstance(fn, torch.nn.Module) else as_module(fn)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            lowered = _exported(module, example_inputs, dynamic_shapes)
        except NapkinError:
            raise
        except Exception as reason:  # torch.export raises what it meets in the program, of any type
            raise NapkinError(
                f"torch.export does not take this program{raised_at(reason)}: {type(reason).__name__}:"
                f" {first_line(reason)}"
            ) from None
    return of_exported(lowered, name or clean_name(getattr(fn, "__name__", type(fn).__name__)), signature_of(fn))


def _apart(example_inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return inputs of which no tensor is given twice, which torch.export takes for one input, whatever is
    given later.
    """
    import torch
    from torch.utils._pytree import tree_map

    seen = set[int]()

    def own(given: Any) -> Any:
        if not isinstance(given, torch.Tensor) or id(given) not in seen:
            seen.add(id(given))
            return given
        with torch.no_grad():
            return given.clone().requires_grad_(given.requires_grad)

    found: tuple[Any, ...] = tree_map(own, example_inputs)
    return found


def _exported(module: Any, example_inputs: Sequence[Any], dynamic_shapes: Any) -> Any:
    """Return torch.export's program; a program with gradients or transforms of its own is traced to their operators
    first.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    inputs = _apart(tuple(example_inputs))
    checks = torch.distributions.Distribution._validate_args
    # What is raised is said by whoever catches it, in a line: these print tracebacks and graphs as well
    loggers = [logging.getLogger(f"torch.{name}") for name in LOUD]
    silent = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        # Whether parameters fit is a question to the data, and no part of what is computed of them.
        torch.distributions.Distribution.set_default_validate_args(False)
        return _decomposed(torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes, strict=False))
    except Exception as reason:  # of any type
        if dynamic_shapes is not None or any(True for _ in module.buffers()):
            raise
        try:
            traced = make_fx(module, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)
            return _decomposed(torch.export.export(traced, inputs, strict=False))
        except Exception:
            raise reason from None
    finally:
        for logger, before in zip(loggers, silent, strict=True):
            logger.disabled = before
        torch.distributions.Distribution.set_default_validate_args(checks)


def _decomposed(exported: Any) -> Any:
    """Return an exported program in the operators of the table; raises NapkinError where it holds what torch.export
    does not trace through.
    """
    import torch

    for part in exported.graph_module.modules():
        for node in part.graph.nodes if isinstance(part, torch.fx.GraphModule) else ():
            name = getattr(node.target, "__name__", "")
            if getattr(node.target, "__module__", "").startswith(TRANSFORMS) and name not in KNOWN_TRANSFORMS:
                raise NapkinError(
                    f"torch.export does not trace through this transform of torch.func ({name}{line_of(node)}), which"
                    " is traced before it only without dynamic_shapes and without buffers: leave dynamic_shapes out,"
                    " or call torch.autograd.grad"
                )
    return exported.run_decompositions(kept())


def as_module(fn: Callable[..., Any]) -> Any:
    """Return a function as a module, which is what torch.export takes; its arguments keep their names.

    A plain function is copied under the name `forward`: torch.export keeps the lines of such frames, and errors say
    them.
    """
    import torch

    if isinstance(fn, types.FunctionType):
        module = torch.nn.Module()
        code = fn.__code__.replace(co_name="forward")
        module.forward = types.FunctionType(code, fn.__globals__, "forward", fn.__defaults__, fn.__closure__)
        module.forward.__kwdefaults__ = fn.__kwdefaults__
        return module

    class Function(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

    return Function()


def kept() -> Any:
    """Return PyTorch's decompositions but for the operators that the table has."""
    import torch

    table = torch.export.default_decompositions()
    # Some operators PyTorch knows to decompose, but does not unless it is asked to.
    table.update({t: how for t, how in torch._decomp.decomposition_table.items() if name_of(t) in (*ALSO, *CONSTANTS)})
    for target in list(table.keys()):
        if str(target).startswith("aten.") and name_of(target) in rules():
            del table[target]
    return table


def empty(node: Any) -> bool:
    """Tell whether a node gives a tensor of no elements."""
    import torch

    held = node.meta.get("val")
    return isinstance(held, torch.Tensor) and any(isinstance(size, int) and size == 0 for size in held.shape)


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
                self.given.append(expression(held))
            return expression(held)
        if node.name in self.numbers:
            return replace(self.builder.scalar(self.numbers[node.name]), dtype=type_name(held.dtype))
        source, target = self.sources.get(node.name, ("input", node.name))
        if source == "token":  # orders side effects
            return None
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
        dims = tuple(self.builder.fresh(extent_of(size), at) for at, size in enumerate(held.shape))
        if pair:
            dims = (*dims, self.builder.fresh(2, "parts"))
        port = Port(self.named(target or node.name), source, target, dtype, dims)
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
        return expression(argument)

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
            return expression(held)
        name = name_of(node.target)
        if name.partition(".")[0] in IGNORED:
            return None
        pairs = complex_numbers(node)
        if name not in rules() and not pairs:
            raise Refused(node, f"the operator is not supported; {len(rules())} are, listed in docs/pytorch.md")
        if empty(node):
            return None  # `cat` leaves it out
        if not name.startswith("cat.") and any(empty(arg) for arg in node.all_input_nodes):
            raise Refused(node, NONE)
        self.builder.converted.clear()
        self.builder.memory = _memory(node)
        try:
            args, kwargs = (
                tuple(self.resolved(a) for a in node.args),
                {k: self.resolved(a) for k, a in node.kwargs.items()},
            )
            self.builder.place = (*self.place, node.name, name)
            if name.partition(".")[0] in FOLDS_AS and node.kwargs.get("dtype") and not held.is_floating_point():
                args = (self.builder.cast(args[0], type_name(held.dtype)), *args[1:])
            if pairs:
                if kwargs and any(value != 1 for value in kwargs.values()):
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
        if isinstance(value, Pair):
            return Pair(*(self.checked(node, part, _part(held)) for part in (value.real, value.imaginary)))
        dtype, sizes = type_name(held.dtype), [self.builder.size(dim) for dim in value.dims]
        if not self.lifted and sizes != [extent_of(size) for size in held.shape]:
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
        counted = not changes and not value.whole and whole(value.term)
        return self.builder.cast(replace(value, dtype=dtype) if counted else value, dtype)


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
) -> Program:
    """Read a graph of core operators; `sources` says what its placeholders are, `results` what its outputs are
    where they are no outputs. undefined: NaN in data is to be followed where places of extremes are asked for.
    numbers: what placeholders are that are constants without dimensions.
    """
    storage = _storage(graph)
    wires = Wires()
    for _ in range(ROUNDS):
        wires.begin()
        reading = Reading(graph, sources, Builder(wires, undefined=undefined), storage, numbers=numbers or {})
        try:
            found = reading.run()
        except Refused:
            if not wires.parting:
                raise
        if wires.settled():
            break
        wires_symbolic = wires.symbolic()
    else:
        wires.begin()
        reading = Reading(graph, sources, Builder(wires, undefined=undefined), storage, numbers=numbers or {})
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
    return Program(diagram, tuple(reading.inputs), tuple(outputs), storage, edges, places, wires_symbolic, given)


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
        sources[spec.arg.name] = (source, spec.target or spec.arg.name)
    users: list[int] = []
    for at, spec in enumerate(signature.output_specs):
        kind = spec.kind.name
        if kind == "USER_OUTPUT":
            users.append(at)
        else:
            results[at] = ("buffer" if "BUFFER" in kind else "input", spec.target or "")
    numbers = {
        place: constant.item()
        for place, (source, target) in sources.items()
        if source == "constant" and (constant := exported.constants[target]).dim() == 0
        if not (constant.is_complex() or constant.isnan())
    }
    program = of_graph(exported.graph, name, sources, results, numbers=numbers)
    state = {**exported.state_dict, **exported.constants}
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


def _storage(graph: Any) -> str:
    """Return the type of real numbers that most inputs have, which the diagram declares "float"."""
    import torch

    count: dict[str, int] = {}
    for node in graph.nodes:
        held = node.meta.get("val")
        if node.op in ("placeholder", "get_attr") and isinstance(held, torch.Tensor) and held.is_floating_point():
            count[type_name(held.dtype)] = count.get(type_name(held.dtype), 0) + 1
    return max(count, key=lambda name: (count[name], name)) if count else "float32"


__all__ = ["Edge", "from_torch", "of_exported", "of_graph"]
