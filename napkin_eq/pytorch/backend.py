"""`torch.compile(f, backend="napkin_eq")`: regions of the graphs that dynamo and aot_autograd give become kernels, the
rest stays PyTorch.

Backward graphs come the same way. What was taken, what not and why is kept (`reports`), and printed by `explain_torch`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.gpu import load
from napkin_eq.pytorch.build.constants import with_constants
from napkin_eq.pytorch.build.partition import in_parts, least_kept
from napkin_eq.pytorch.build.recomputed import at_readers, once, recomputed
from napkin_eq.pytorch.build.table import name_of, rules
from napkin_eq.pytorch.calls import Kernel, alone, registered
from napkin_eq.pytorch.exporting import ALSO
from napkin_eq.pytorch.measuring import Whole, choose, in_whole, libraries, times
from napkin_eq.pytorch.naming import first_line, frame_of
from napkin_eq.pytorch.operators.convolutions import apart
from napkin_eq.pytorch.operators.price import library_us
from napkin_eq.pytorch.operators.products import without_state
from napkin_eq.pytorch.order import followers, in_order, parted, seeded, spelled, taken_apart, with_composites
from napkin_eq.pytorch.regions import FASTER, WITHOUT_GAIN, Options, Region, Times, chosen, gain


@dataclass(slots=True)
class Report:
    """What was made of one graph: "forward", "backward" or "inference"; its regions in order, of which each computes
    something, and how many parts there are besides: views, constants, single numbers of single numbers that stay.
    """

    kind: str
    regions: list[Region] = field(default_factory=list)
    besides: int = 0
    failed: str = ""
    plain: str = ""  # why what stays is not compiled by Inductor
    untimed: str = ""  # why the whole graph could not be timed, where regions are a part of it
    ended: str = ""  # why and where dynamo ended the graph before the program's end

    @property
    def taken(self) -> list[Region]:
        return [region for region in self.regions if region.taken]

    @property
    def head(self) -> str:
        """How much of the graph was taken, and what that gains."""
        nodes = sum(_counted(region) for region in self.regions)
        own = sum(_counted(region) for region in self.taken)
        head = f"{self.kind} graph: {len(self.taken)} of {len(self.regions)} regions, {own} of {nodes} operators"
        faster = gain(self.regions)
        measured = all(region.times for region in self.taken)
        how = "measured" if measured else "predicted"
        return head + ("" if math.isnan(faster) else f"; {how} {faster:.2f} times PyTorch's speed there")

    def table(self) -> str:
        """Return a line for each region with kernels: how many, and microseconds, as measured or predicted."""
        lines = [self.head]
        for region in self.taken:
            if (made := region.kernels) is not None:
                us = region.times or Times(region.took_us or made.predicted_us, region.library_us)
                lines.append(
                    f"  {region.said:<48.48} {made.kernels:>3} kernels {us.ours_us:>9.1f} us, PyTorch's"
                    f" {us.library_us:>9.1f} us: {us.library_us / us.ours_us:.2f} times as fast"
                )
        left = [region.reason.partition(":")[0] for region in self.regions if not region.taken]
        lines += [f"  left to PyTorch, {why}: {left.count(why)}" for why in dict.fromkeys(left)]
        lines += [f"  {why}" for why in (self.failed, self.untimed) if why]
        return "\n".join(lines)

    def __str__(self) -> str:
        lines = [self.head]
        if self.failed:
            lines.append(f"  the whole graph stays PyTorch: {self.failed}")
        if self.plain:
            lines.append(f"  what stays is run operator by operator, not by Inductor: {self.plain}")
        if self.untimed:
            lines.append(f"  the whole graph could not be timed: {self.untimed}")
        if self.ended:
            lines.append(f"  the graph ends before the program does: {self.ended}")
        for region in self.regions:
            if region.kernels is not None and region.taken:
                made = region.kernels
                figures = (
                    f"{made.kernels} kernels, {made.predicted_us:.1f} us against {region.library_us:.1f} us of PyTorch"
                    + (f", measured {t.ours_us:.1f} against {t.library_us:.1f}" if (t := region.times) else "")
                    + (f", the fastest of {made.among} plans" if made.among > 1 else "")
                    + (f"; compiled before in {made.compiled_s:.1f} s" if made.fresh and made.compiled_s else "")
                )
                lines.append(
                    f"  taken  {region.said}: {figures}; certificate {made.file.with_suffix('.certificate.json')}"
                )
            elif region.taken:
                lines.append(f"  taken  {region.said}: the diagram in PyTorch's arithmetic")
            else:
                lines.append(f"  left   {region.said}: {region.reason}")
        if self.besides:
            lines.append(f"  besides, {self.besides} of views, constants and single numbers")
        return "\n".join(lines)


def _counted(region: Region) -> int:
    """Return how many operators of the program a region has: what is computed in several places is one."""
    return sum(1 for node in region.nodes if not (str(node.target).startswith("<built") or recomputed(node)))


reports: list[Report] = []
KEPT = 64
SURE = 1.3  # times as fast as Inductor's version: a region that is kept where all of them together do not gain


def napkin_eq(
    module: Any,
    example_inputs: Sequence[Any],
    *,
    options: dict[str, Any] | None = None,
    told: Callable[[Report], None] | None = None,
) -> Any:
    """Compile a graph of dynamo: what `torch.compile(f, backend="napkin_eq", options=…)` calls.

    told: is given what was made of each graph, once it is compiled.
    """
    from torch._dynamo.backends.common import aot_autograd

    chosen_options = Options.of(options)
    why = ended(module)
    compilers = {
        kind: partial(_reported, kind=kind, options=chosen_options, why="" if kind == "backward" else why, told=told)
        for kind in ("forward", "backward", "inference")
    }
    try:
        return aot_autograd(
            fw_compiler=compilers["forward"],
            bw_compiler=compilers["backward"],
            inference_compiler=compilers["inference"],
            decompositions=decompositions(),
            partition_fn=partial(shared_out, options=chosen_options),
        )(module, example_inputs)
    except Untouched:
        from torch._inductor.compile_fx import compile_fx

        return compile_fx(module, example_inputs)


def shared_out(joint: Any, inputs: Any, *, options: Options, **told: Any) -> Any:
    """Part a graph of forward and backward as PyTorch does, its draws taken apart where that is faster."""
    import torch

    hardware, interpreted, gpu = _machine(options, torch.utils._pytree.tree_leaves(inputs))
    with suppress(Exception):  # of torch.fx, of Inductor: the graph is as it was
        joint = with_composites(joint, told["num_fwd_outputs"])
    with suppress(Exception):  # of torch.fx: the graph is as it was, or partly so
        with_constants(joint)
        at_readers(joint)
        in_parts(joint)
        without_state(joint)

    def taken_of(part: Any) -> list[Region]:
        return _chosen(part, options, hardware, interpreted, gpu, times if gpu and options.measure else None)

    def faster(parts: Sequence[Any], regions: Sequence[Region], whole: Any) -> bool:
        own = [region for region in regions if region.taken]
        if not gpu or options.executor != "kernels":
            return True
        inside = {node for region in own for node in region.nodes}
        nodes = [node for part in parts for node in part.graph.nodes if node not in inside]
        ours = sum(region.times.ours_us if region.times else region.took_us for region in own)
        dtype = next((region.program.dtype for region in own if region.program is not None), "float32")
        machine = load(hardware)
        library = library_us([n for n in whole.graph.nodes if n.op == "call_function"], machine, dtype)
        return ours + library_us([n for n in nodes if n.op == "call_function"], machine, dtype) < library

    if not hardware:
        return least_kept(joint, inputs, **told)
    return parted(joint, inputs, chosen=taken_of, faster=faster, **told)


def _chosen(graph: Any, options: Options, hardware: str, interpreted: bool, gpu: bool, timed: Any) -> list[Region]:
    """Return the regions of a graph, what its libraries take measured before where regions are."""
    if timed is not None:
        libraries(graph)
    return chosen(graph, options, hardware, interpreted, gpu, timed)


class Untouched(Exception):  # noqa: N818 - it says what comes of a graph
    """No region of an inference graph is taken: the program is Inductor's, as if this backend had not been asked."""


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Return PyTorch's own decompositions to core operators but for the operators that the table has."""
    from torch._decomp import core_aten_decompositions, decomposition_table

    found = {}
    more = {target: how for target, how in decomposition_table.items() if name_of(target) in ALSO}
    for target, how in {**core_aten_decompositions(), **more}.items():
        # Its gradient on a CPU reads what the operator itself saved, not what its decomposition gives; and random
        # numbers are those of the operator itself.
        if name_of(target).startswith("_scaled_dot_product") or seeded(target):
            continue
        if not str(target).startswith("aten.") or name_of(target) not in rules():
            found[target] = how
    return {**found, **apart()}


def ended(module: Any) -> str:
    """Return why and where dynamo ended a graph before the program's end, nothing where it did not."""
    reason = getattr(module, "compile_subgraph_reason", None)
    if reason is None or not reason.graph_break:
        return ""
    return told(reason.reason) + (frame_of(reason.user_stack[-1]) if reason.user_stack else "")


def told(reason: str) -> str:
    """Return in one line what dynamo says of what it does not trace: what, why, and what may be set."""
    if reason.startswith("generic_jump"):
        return "control flow that depends on data"
    head, *more = (line.strip() for line in reason.splitlines() if line.strip())
    why = [line.partition(": ")[2] for line in more if line.startswith(("Explanation: ", "Hint: Set "))]
    return ": ".join([head, " ".join(why[:2])][: 1 + bool(why)])


def _reported(module: Any, example_inputs: Sequence[Any], *, told: Callable[[Report], None] | None, **how: Any) -> Any:
    try:
        return compiled(module, example_inputs, **how)
    finally:
        if told is not None:
            told(reports[-1])


def compiled(module: Any, example_inputs: Sequence[Any], *, kind: str, options: Options, why: str = "") -> Any:
    """Return a graph of core operators with its regions replaced; whatever goes wrong in that, the graph as it is, and
    why.
    """
    from torch._functorch.aot_autograd import make_boxed_func

    report = Report(kind, ended=why)
    reports.append(report)
    del reports[:-KEPT]
    hardware, interpreted, gpu = _machine(options, example_inputs)
    given, measured = module, gpu and options.measure
    # Of each region, which lives as long as it stands here, its kernels as all of the graph, which are loaded once
    whole: dict[int, tuple[Region, Any]] = {}

    def bare(region: Region) -> Any:
        if id(region) not in whole:
            whole[id(region)] = region, alone(given, region)
        return whole[id(region)][1]

    def timed(region: Region, predicted_us: float) -> Times | None:
        choose(region)
        if (own := bare(region)) is None:
            return times(region, predicted_us)
        values = [node.meta.get("val") for node in given.graph.nodes if node.op == "placeholder"]
        return times(region, predicted_us, Whole(values, own, lambda: _by_inductor(given, example_inputs, kind)))

    def taken_of(graph: Any) -> list[Region]:
        nonlocal given
        given = graph  # which is whole where one region is all of it
        return _chosen(graph, options, hardware, interpreted, gpu, timed if measured else None)

    try:
        with_constants(module)
        at_readers(module)
        if hardware:
            if kind == "inference":
                module, parts = taken_apart(module, taken_of)
            else:
                parts = taken_of(module)
            report.regions = [r for r in parts if r.computes and (r.taken or not r.of_numbers)]
            report.besides = len(parts) - len(report.regions)
            if options.executor != "none":
                module = replaced(module, report.taken, gpu)
        else:
            report.failed = "no GPU, and Triton's interpreter is off (TRITON_INTERPRET=1 before triton is imported)"
    except Exception as reason:  # of torch.fx or of ours: a program must run whatever happens here
        report.failed, report.regions = f"{type(reason).__name__}: {str(reason)[:200]}", []
    rest = options.rest or ("inductor" if gpu else "eager")
    # An effect orders calls by tokens, which stand among the results that Inductor counts.
    if rest == "inductor" and kind == "inference" and not report.taken:
        raise Untouched
    if rest == "inductor" and any("with_effects" in str(node.target) for node in module.graph.nodes):
        report.plain = "the graph has effects"
    elif rest == "inductor":
        try:
            own = bare(report.taken[0]) if len(report.taken) == 1 else None

            def by_parts() -> Any:
                return own or _by_inductor(module, example_inputs, kind)

            if measured and report.taken and not _told_by_regions(given, report):
                made = _the_faster(given, report, by_parts, example_inputs, kind)
            else:
                made = by_parts()
            if report.taken or kind != "inference":
                return made
        except Exception as reason:  # of Inductor: what it does not compile runs as it is
            report.plain = f"{type(reason).__name__}: {first_line(reason)}"
        else:
            raise Untouched
    return make_boxed_func(module.forward)


def _by_inductor(module: Any, example_inputs: Sequence[Any], kind: str) -> Any:
    from torch._guards import TracingContext
    from torch._inductor.compile_fx import compile_fx_inner

    context = TracingContext.try_get()
    if context is not None and context.output_strides is not None:
        context.output_strides.clear()  # of a version that was compiled before, whose results lie alike
    told: dict[str, Any] = {"is_inference": kind == "inference", "is_backward": kind == "backward"}
    told["static_input_idxs"] = _held(module, kind)
    return compile_fx_inner(lowered(module, example_inputs, kind), list(example_inputs), **told)


def _held(module: Any, kind: str) -> list[int]:
    """Return which of a graph's inputs lie in the same place at each call, as Inductor takes it of parameters and of
    what a forward saves: of these it does not ask each time whether they lie as they did.
    """
    import torch

    if kind == "backward":
        names = [node.name for node in module.graph.nodes if node.op == "placeholder"]
        return [at for at, name in enumerate(names) if not name.startswith(("tangents", "bwd_"))]
    metadata = getattr(torch._guards.TracingContext.try_get(), "fw_metadata", None)
    return [*getattr(metadata, "static_input_indices", ())]


def _told_by_regions(module: Any, report: Report) -> bool:
    """Tell whether what is measured of regions says all of a graph: one region is all that it computes, or it cannot be
    run with other inputs, as it draws numbers or calls what is not PyTorch's own.
    """
    import operator

    calls = [node for node in module.graph.nodes if node.op == "call_function" and node.target is not operator.getitem]
    own = {node for region in report.taken for node in region.nodes}
    if len(report.taken) == 1 and all(node in own for node in calls):
        return True
    known = "aten.", "prims.", "napkin_eq.row_"
    return any(not str(node.target).startswith(known) or seeded(node.target) for node in calls)


def _the_faster(
    module: Any, report: Report, by_parts: Callable[[], Any], example_inputs: Sequence[Any], kind: str
) -> Any:
    """Return what is made of a graph with its regions, if it is no slower than Inductor's of the graph as it was; else
    what is made with the regions that gain much, or Inductor's. Only that is made, where all this is remembered.
    """
    values = [node.meta.get("val") for node in module.graph.nodes if node.op == "placeholder"]
    strong = [r for r in report.taken if r.times is not None and r.times.library_us >= SURE * r.times.ours_us]
    made = cache(by_parts)
    plain = cache(partial(_by_inductor, module, example_inputs, kind))
    fewer = cache(lambda: _by_inductor(replaced(module, strong, True), example_inputs, kind))
    seen = again = None
    try:
        seen = in_whole(module, report.taken, made, plain, values)
        if not _gains(seen) and 0 < len(strong) < len(report.taken):
            again = in_whole(module, strong, fewer, plain, values)
    except Exception as reason:  # of Inductor, of the driver, of too little memory: the report says so
        which = "with the regions that gain much alone, " if seen is not None else ""
        report.untimed = f"{which}{type(reason).__name__}: {first_line(reason)}"
    if seen is None or _gains(seen):
        return made()
    if again is not None and _gains(again):
        _left(report, strong, seen)
        return fewer()
    _left(report, [], seen)
    return plain()


def _gains(seen: Times) -> bool:
    return FASTER * seen.ours_us <= seen.library_us


def _left(report: Report, kept: Sequence[Region], seen: Times) -> None:
    """Say of the regions that are not kept why they stay."""
    for region in report.taken:
        if region not in kept:
            region.reason = (
                f"{WITHOUT_GAIN}measured in the whole graph: {seen.ours_us:.1f} us here against"
                f" {seen.library_us:.1f} us of PyTorch"
            )


def lowered(module: Any, example_inputs: Sequence[Any], kind: str) -> Any:
    """Return a graph in the operators that Inductor takes: those that the table has, and that stay, are decomposed as
    Inductor would have had them, and what it does with a graph of operators is done.
    """
    import torch
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.fx_passes.joint_graph import joint_graph_passes
    from torch._inductor.virtualized import V
    from torch.fx.experimental.proxy_tensor import make_fx

    class Lifted(torch.fx.Interpreter):  # type: ignore[misc]
        def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
            found = super().get_attr(target, args, kwargs)  # a constant is a tensor with numbers, the inputs have none
            return torch.ops.aten.lift_fresh_copy.default(found) if isinstance(found, torch.Tensor) else found

    mode = torch._guards.detect_fake_mode(list(example_inputs))
    with mode or nullcontext(), torch._dispatch.python.enable_python_dispatcher(), torch.no_grad():
        # Words that no kernel computes are computed as Inductor computes anything
        table = {**select_decomp_table(), **spelled()}
        found = make_fx(Lifted(module).run, decomposition_table=table)(*example_inputs)
    once(found)
    _kept(module, found)
    with V.set_fake_mode(mode):
        # Inductor has this done before it is given a graph, as products widened to sizes that run fast: where there is
        # a backward on both graphs together, here on each
        joint_graph_passes(found)
    if kind == "forward":
        metadata = getattr(torch._guards.TracingContext.try_get(), "fw_metadata", None)
        _kept(module, found, getattr(metadata, "num_forward", 0))  # what the backward reads
    return found


def _kept(module: Any, found: Any, first: int = 0) -> None:
    """Have Inductor give results, from the first on, in the strides that they had, by which the backward goes, and what
    runs both.
    """
    ends = [next(iter(reversed(graph.nodes))) for graph in (module.graph, found.graph)]
    results = [end.args[0] if isinstance(end.args[0], (list, tuple)) else [end.args[0]] for end in ends]
    ends[1].meta["user_visible_output_idxs"] = [at for at, node in enumerate(results[1]) if hasattr(node, "meta")]
    for before, now in list(zip(*results, strict=True))[first:]:
        was, held = (getattr(node, "meta", {}).get("val") for node in (before, now))
        if hasattr(was, "stride") and hasattr(held, "stride") and now.op != "placeholder":
            now.meta["val"] = was


def _machine(options: Options, example_inputs: Sequence[Any]) -> tuple[str, bool, bool]:
    """Return the GPU to derive for, whether kernels run in Triton's interpreter, and whether tensors are on a GPU."""
    import torch

    device = next((value.device.type for value in example_inputs if isinstance(value, torch.Tensor)), "cpu")
    if device == "cuda":
        return options.hardware or _gpu(), False, True
    if options.executor != "kernels":
        return options.hardware or "h200", options.executor == "reference", False
    import triton

    return (options.hardware or "h200", True, False) if triton.knobs.runtime.interpret else ("", True, False)


def _gpu() -> str:
    import torch

    name = torch.cuda.get_device_name().lower()
    return next((known for known in ("h200", "h100", "a100") if known in name), "h200")


def replaced(module: Any, regions: Sequence[Region], gpu: bool) -> Any:
    """Return a graph in which each region is one call, as an operator of torch.library where the rest is compiled."""
    import operator

    import torch

    graph, copies = torch.fx.Graph(), dict[Any, Any]()
    graph.output(graph.graph_copy(module.graph, copies))
    graph._codegen = module.graph._codegen
    place = {node: at for at, node in enumerate(graph.nodes)}
    end = next(iter(reversed(graph.nodes)))
    for whole in regions:
        # What a region reads may be what another one returns by now.
        region = dataclasses.replace(
            whole,
            nodes=_mapped(whole.nodes, copies),
            given=_mapped(whole.given, copies),
            returns=_mapped(whole.returns, copies),
        )
        kernel: Any = registered(region) if gpu else Kernel(region)
        # Anywhere: what is read before it is there is put in order below, as parts are convex.
        with graph.inserting_before(end):
            args = (region.reads, region.sizes) if gpu else (*region.reads, *region.sizes)
            call = graph.call_function(kernel, args)
            place[call] = max(place[node] for node in region.nodes)
            call.meta["val"] = [node.meta["val"] for node in region.returns]
            for at, node in enumerate(region.returns):
                item = graph.call_function(operator.getitem, (call, at))
                item.meta.update(node.meta)
                place[item] = place[call]
                node.replace_all_uses_with(item)
                copies.update({old: item for old, new in copies.items() if new is node})
        for node in reversed(region.nodes):
            if not node.users:
                graph.erase_node(node)
    order = in_order(followers(sorted(graph.nodes, key=place.__getitem__)), place)
    if len(order) < len(graph.nodes):
        raise NapkinError("its regions have no order in which numbers are drawn and tensors written as they were")
    for node in order:
        if node is not end:
            end.prepend(node)
    graph.lint()
    return torch.fx.GraphModule(module, graph)


def _mapped(nodes: Sequence[Any], copies: dict[Any, Any]) -> list[Any]:
    return [copies[node] for node in nodes]


def explain_torch(fn: Any, *inputs: Any, options: dict[str, Any] | None = None, **named: Any) -> str:
    """Compile a function or module for these inputs, some by name, run it once, and return what was taken, what not,
    why, and the predicted gain.

    Where an input asks for gradients, the backward graph too. On a machine without a GPU it is what would be taken of
    an H200, or of the GPU that the options name, and nothing is replaced.
    """
    import torch

    _callable("explain_torch", fn)
    asked = Options.of(options)
    tensors = [t for t in torch.utils._pytree.tree_leaves((inputs, named)) if isinstance(t, torch.Tensor)]
    told_only = asked.executor == "kernels" and not _machine(asked, tensors)[0]
    if told_only:
        options = {**(options or {}), "executor": "none"}
    before, breaks = list(reports), torch._dynamo.utils.counters["graph_break"]
    known = dict(breaks)
    torch._dynamo.reset()
    result = torch.compile(fn, backend=partial(napkin_eq, options=options))(*inputs, **named)
    loss = sum(
        t.sum() for t in torch.utils._pytree.tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad
    )
    if isinstance(loss, torch.Tensor):
        torch.autograd.grad(loss, _leaves(loss, tensors), allow_unused=True)
    new = [report for report in reports if not any(report is old for old in before)]  # equal ones are several
    said = [told(reason) for reason, count in breaks.items() if count > known.get(reason, 0)]
    left = [f"dynamo does not trace: {why}" for why in said if not any(report.ended.startswith(why) for report in new)]
    lines = [*map(str, new), *left] or ["nothing was compiled: dynamo found no graph"]
    here = f"no GPU here: what derives for {asked.hardware or 'h200'} is said, times are predictions, no kernel runs"
    return "\n".join([here] * told_only + lines)


def _leaves(loss: Any, given: Sequence[Any]) -> list[Any]:
    """Return the tensors that a value has gradients of: what it is computed of, and leaves, whoever holds them. What
    those that are given were computed of is left alone.
    """
    found = [tensor for tensor in given if tensor.requires_grad]
    held = {id(tensor) for tensor in found}
    seen = {loss.grad_fn, *(tensor.grad_fn for tensor in found)}
    waiting = [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        leaf = getattr(node, "variable", None)
        if leaf is not None and id(leaf) not in held:
            found.append(leaf)
            held.add(id(leaf))
        new = [after for after, _ in node.next_functions if after is not None and after not in seen]
        seen.update(new)
        waiting += new
    return found


def _callable(asked: str, fn: Any) -> None:
    if not callable(fn):
        raise NapkinError(f"{asked}: expected a function or a torch.nn.Module, found {type(fn).__name__}")


def optimize(module: Any, **options: Any) -> Any:
    """Return a module compiled with the regions that gain as kernels; a table of what changed is printed as each of
    its graphs is compiled: forward in its first call, backward in its first gradient.
    """
    import torch

    _callable("optimize", module)
    Options.of(options)
    return torch.compile(module, backend=partial(napkin_eq, options=options, told=lambda made: print(made.table())))
