"""Programs of PyTorch as graphs: by torch.export, in the operators that the table has."""

from __future__ import annotations

import contextlib
import io
import logging
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import MAX_DEPTH
from napkin_eq.pytorch.build.builder import RANDOM
from napkin_eq.pytorch.build.spelled import spelled
from napkin_eq.pytorch.build.table import name_of, rules
from napkin_eq.pytorch.naming import Refused, first_line, line_of, raised_at
from napkin_eq.pytorch.operators.logic import unasked
from napkin_eq.pytorch.operators.norms import uncounted
from napkin_eq.pytorch.operators.products import by_products

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
STEP_LEVELS, PLAIN_LEVELS = {"lstm": 10, "gru": 13}, 6  # of the terms that a step is read as; of one without gates


def exported(fn: Any, example_inputs: Sequence[Any], dynamic_shapes: Any) -> Any:
    """Return a function or module, called with some inputs, as torch.export's program in the operators of the table.

    Raises NapkinError for what torch.export does not take, with the line of source.
    """
    import torch

    module = fn if isinstance(fn, torch.nn.Module) else as_module(fn)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            return _traced(module, tuple(example_inputs), dynamic_shapes)
        except NapkinError:
            raise
        except Exception as reason:  # torch.export raises what it meets in the program, of any type
            asked = "data-dependent" in str(reason)
            raise NapkinError(
                f"torch.export does not take this program{raised_at(reason)}: {type(reason).__name__}:"
                f" {first_line(reason)}"
                + ("; what depends on the numbers of a tensor is written with torch.where or a size given" * asked)
            ) from None


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


def _traced(module: Any, example_inputs: Sequence[Any], dynamic_shapes: Any) -> Any:
    """Return torch.export's program; a program with gradients or transforms of its own is traced to their operators
    first.
    """
    import torch

    inputs = _apart(tuple(example_inputs))
    # What is raised is said by whoever catches it, in a line: these print tracebacks and graphs as well
    loggers = [logging.getLogger(f"torch.{name}") for name in LOUD]
    silent = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True

    def as_it_is() -> Any:
        with unasked(), uncounted(), spelled():
            return _decomposed(torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes, strict=False))

    once = dynamic_shapes is not None or any(True for _ in module.buffers())
    try:
        try:
            found = as_it_is()
        except Exception as reason:  # of any type
            if isinstance(reason, Refused) or once:
                raise
            try:
                found = _by_operators(module, inputs)
            except Exception:  # of any type, too: what is told is why the program is not taken as it is
                raise reason from None
        if not once and _unread_gradients(found):
            with contextlib.suppress(Exception):  # then it is refused by what was found first
                other = _by_operators(module, inputs, gradients=True)
                found = found if _unread_gradients(other) else other
        return found
    finally:
        for logger, before in zip(loggers, silent, strict=True):
            logger.disabled = before


def _by_operators(module: Any, inputs: tuple[Any, ...], gradients: bool = False) -> Any:
    """Return the exported program of what a module does, operator by operator, gradients included; `gradients`: what
    has gradients without a rule is written in other operators before they are taken of it.
    """
    import torch
    from torch._dispatch.python import enable_python_dispatcher
    from torch.fx.experimental.proxy_tensor import make_fx

    table = {t: how for t, how in torch._decomp.decomposition_table.items() if gradients and _gradient(t)}
    with contextlib.ExitStack() as held:
        held.enter_context(unasked())
        held.enter_context(uncounted())
        held.enter_context(spelled(gradients))
        if gradients:
            held.enter_context(enable_python_dispatcher())
            held.enter_context(by_products())
        traced = make_fx(module, table, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)
        return _decomposed(torch.export.export(traced, inputs, strict=False))


def _gradient(target: Any) -> bool:
    """Tell whether an operator is a gradient that the table does not have."""
    return "_backward" in str(target) and name_of(target) not in rules()


def _unread_gradients(exported: Any) -> bool:
    """Tell whether a program holds gradients that the table does not have, as torch.export leaves some that PyTorch
    knows to decompose.
    """
    return any(node.op == "call_function" and _gradient(node.target) for node in exported.graph.nodes)


def _decomposed(exported: Any) -> Any:
    """Return an exported program in the operators of the table; raises NapkinError where it holds what torch.export
    does not trace through.
    """
    import torch

    for part in exported.graph_module.modules():
        for node in part.graph.nodes if isinstance(part, torch.fx.GraphModule) else ():
            if why := _unread(node):
                raise Refused(node, why)
            name = getattr(node.target, "__name__", "")
            if getattr(node.target, "__module__", "").startswith(TRANSFORMS) and name not in KNOWN_TRANSFORMS:
                raise NapkinError(
                    f"torch.export does not trace through this transform of torch.func ({name}{line_of(node)}), which"
                    " is traced before it only without dynamic_shapes and without buffers: leave dynamic_shapes out,"
                    " or call torch.autograd.grad"
                )
    _once(exported)
    with entered():
        return exported.run_decompositions(kept())


@contextlib.contextmanager
def entered() -> Iterator[None]:
    """Enter PyTorch's composite operators into `torch.ops` now and, as long as this lasts, not again: it enters all of
    them twice for every namespace of operators that there is, half of what decomposing a small program takes.
    """
    import torch

    holder = torch._export.utils
    enter = getattr(holder, "_materialize_cpp_cia_ops", None)
    if enter is None or enter is _nothing:  # another PyTorch, or this is going on already
        yield
        return
    enter()
    holder._materialize_cpp_cia_ops = _nothing
    try:
        yield
    finally:
        holder._materialize_cpp_cia_ops = enter


def _nothing() -> None:
    """Do nothing."""


def _once(exported: Any) -> None:
    """Take out of an exported program the further names of a parameter or buffer that a module has under several:
    PyTorch does not decompose a program that writes what two of its inputs show.
    """
    holders = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    first, kept_specs = dict[int, Any](), []
    for spec in exported.graph_signature.input_specs:
        held = exported.state_dict.get(spec.target) if spec.target else None
        own = holders.get(getattr(spec.arg, "name", ""))
        if held is None or own is None or first.setdefault(id(held), own) is own:
            kept_specs.append(spec)
            continue
        own.replace_all_uses_with(first[id(held)])
        exported.graph.erase_node(own)
    if len(kept_specs) < len(exported.graph_signature.input_specs):
        exported.graph_signature.input_specs[:] = kept_specs
        exported.graph_module.recompile()


def _unread(node: Any) -> str:
    """Return why a recurrent network is not read, before it is decomposed to its steps; nothing where it may be.

    In training it may drop numbers at random between its layers, which what PyTorch decomposes it to has lost; and of
    many steps nothing comes but a term that is too deep, after minutes.
    """
    import torch

    if not isinstance(node.target, torch._ops.OpOverload):
        return ""
    arguments = node.target._schema.arguments
    given = {a.name: a.default_value for a in arguments if a.has_default_value()}
    given |= {**dict(zip((a.name for a in arguments), node.args, strict=False)), **node.kwargs}
    layers, data = given.get("num_layers"), getattr(given.get("input"), "meta", {}).get("val")
    if not isinstance(layers, int) or "batch_first" not in given or data is None:
        return ""
    if given["train"] and given["dropout"] and layers > 1:
        return RANDOM
    steps = data.shape[1 if given["batch_first"] else 0]
    levels = STEP_LEVELS.get(node.target._opname, PLAIN_LEVELS)
    if isinstance(steps, int) and layers * steps * levels > MAX_DEPTH:
        return (
            f"{layers} layers of {steps} steps, one after another, nest {layers * steps * levels} levels deep; at most"
            f" {MAX_DEPTH} are read: give it a shorter sequence, or leave it to PyTorch"
        )
    return ""


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
