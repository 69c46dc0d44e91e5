"""Reads and derives what is asked for, in a process of its own: lines of JSON in, lines of JSON out.

    {"do": "read" | "derive", "state": {...}, "seconds": 20}
    {"event": "read" | "wrong" | "progress" | "lead" | "found" | "plan" | "tried" | "end", ...}

A text is parsed, never executed. The process ends with the one that started it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from napkin_eq.explore.state import State
from napkin_eq.frontend.parsed import parsed
from napkin_eq.frontend.spelled import resized
from napkin_eq.frontend.tokens import Misread
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError

if TYPE_CHECKING:
    from napkin_eq.pipeline.derivation import Derivation

MEMORY = 6 << 30  # bytes of data that a process may hold


class Worker:
    """Answers one request after the other on a stream of lines."""

    def __init__(self, out: Any) -> None:
        self.out = out

    def say(self, event: str, **content: Any) -> None:
        """Write an event as a line."""
        self.out.write(json.dumps({"event": event, **content}, ensure_ascii=False) + "\n")
        self.out.flush()

    def answer(self, request: Mapping[str, Any]) -> None:
        """Answer a request; whatever goes wrong is said, and the last event is always `end`."""
        state = _state(request["state"])
        try:
            if request["do"] == "read":
                self.read(state)
            else:
                self.derive(state, request["seconds"])
        except Misread as reason:
            place = {"line": reason.line, "column": reason.column, "width": reason.width}
            self.say("wrong", message=reason.reason, place=place)
        except NapkinError as reason:
            self.say("wrong", message=str(reason), place=None)
        except MemoryError:
            self.say("wrong", message="this took more memory than a process may have here", place=None)
        except Exception as fault:
            said = f"internal fault, please report it: {type(fault).__name__}: {fault!s:.200}"
            self.say("wrong", message=" ".join(said.split()), place=None)
        self.say("end")

    def read(self, state: State) -> None:
        """Say what a text is: its axes, its outputs, its picture; with the sizes that were put in."""
        from napkin_eq.draw import shown

        diagram, text = _diagram(state)
        axes = [{"name": axis.name, "size": axis.size} for axis in diagram.axes()]
        outputs = [[name, str(term)] for name, term in diagram.outputs]
        self.say(
            "read", name=diagram.name, doc=diagram.doc, text=text, axes=axes, outputs=outputs, picture=shown(diagram)
        )

    def derive(self, state: State, seconds: float) -> None:
        """Say what is derived: its picture as soon as it is chosen, what it saves, the page's sections,
        what was tried.
        """
        from napkin_eq.draw import shown
        from napkin_eq.egraph.budget import Budget, Clock
        from napkin_eq.pipeline.derive import derive
        from napkin_eq.report.contents import derived, sentence, tried
        from napkin_eq.report.page import part

        def tell(search: str, figures: Mapping[str, float]) -> None:
            self.say("progress", search=search, figures=dict(figures))

        def lead(made: Derivation) -> None:
            if len(made.diagram.outputs) < len(diagram.outputs):
                return  # one output of several
            kernels = len(made.plan.kernels)
            us = sum(out.placed.predicted_us for out in made.outputs)
            said = f"{kernels} kernel{'s' * (kernels > 1)}, {us:.4g} µs predicted; its proof is looked for …"
            self.say("lead", sentence=said, picture=shown(made))

        diagram, _ = _diagram(state)
        with _uncollected():
            budget = Budget(seconds, Clock(tell=tell, lead=lead))
            made = derive(diagram, state.hardware, state.dtype, without=state.without, limit=budget)
            self.say("found", sentence=sentence(made.report()), picture=shown(made))
            found = derived(made, _command(state))
            self.say("plan", html=part("sections.html", found))
            self.say("tried", html=part("tried.html", tried(made)))


def _diagram(state: State) -> tuple[Diagram, str]:
    """Return the diagram of a state and its text, both with the sizes that were put in."""
    diagram = parsed(state.text)
    if not state.sizes:
        return diagram, state.text
    diagram = diagram.with_sizes(dict(state.sizes))
    text = resized(state.text, {axis.name: axis.size for axis in diagram.axes()})
    return parsed(text), text


def _command(state: State) -> str:
    without = "".join(f" --without {name}" for name in state.without)
    return f"napkin-eq report FILE.napkin --hardware {state.hardware} --dtype {state.dtype}{without}"


def _state(data: Mapping[str, Any]) -> State:
    sizes = tuple((name, size) for name, size in data["sizes"])
    return State(data["text"], sizes, data["dtype"], data["hardware"], tuple(data["without"]))


@contextlib.contextmanager
def _uncollected() -> Any:
    """Leave out the search for cycles while there is something to do: a fifth of a derivation goes there."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _warm() -> None:
    """Load what a first derivation would load, so that it is as fast as the next."""
    from napkin_eq.draw import shown
    from napkin_eq.laws.loader import load_rules
    from napkin_eq.pipeline.derive import derive
    from napkin_eq.report.contents import derived
    from napkin_eq.report.page import part

    load_rules()
    text = "axis t = 64, d = 64\narray A[t, d], B[d]\nlet s = e^(A - max_d A)\nout = Σ_d s / (Σ_d s) · B"
    with contextlib.suppress(NapkinError):
        made = derive(parsed(text))
        shown(made)
        part("sections.html", derived(made, ""))
    gc.collect()
    gc.freeze()


def main() -> None:
    """Answer lines until there are no more; then, and where the other side is gone, end at once."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no event
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            waiting.put(line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    worker = Worker(out)
    if "--warm" in sys.argv:
        _warm()
    worker.say("ready")
    while True:
        worker.answer(json.loads(waiting.get()))
        gc.collect()


if __name__ == "__main__":
    main()
