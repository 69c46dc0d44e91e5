"""Write a deep-learning algorithm as a diagram; get fused GPU kernels that are proved equal to it.

    import napkin_eq as nq
    q, x, d = nq.axes("q x d", q=4096, x=4096, d=128)
    Q, K, V = nq.array("Q", q, d), nq.array("K", x, d), nq.array("V", x, d)
    p = nq.softmax(nq.sum(Q * K, d) * 128**-0.5, x)
    derivation = nq.derive(nq.sum(p * V, x), hardware="h200", dtype="bfloat16")

Everything in `napkin_eq.frontend.library` is here by the same name. Names are looked up when first used, so that
importing the package costs nothing.
"""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"] or (sys.argv and sys.argv[0].endswith("napkin-eq")):
    # The command line starts: until cli.main can say "interrupted", Ctrl-C ends the process as a shell expects, without
    # a traceback.
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)

from importlib import import_module
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.errors import LawRefused, NapkinError, Undecided

if TYPE_CHECKING:
    from napkin_eq.frontend.library import *  # noqa: F403
    from napkin_eq.frontend.pointwise import *  # noqa: F403
    from napkin_eq.lang.axis import Axis
    from napkin_eq.lang.diagram import Diagram
    from napkin_eq.lang.evaluate import evaluate, output_order
    from napkin_eq.lang.json_form import from_json, to_json
    from napkin_eq.lang.term import Term, Tuple
    from napkin_eq.pipeline.derivation import Derivation
    from napkin_eq.pipeline.derive import derive
    from napkin_eq.pipeline.validate import validate
    from napkin_eq.pytorch.backend import explain_torch, optimize
    from napkin_eq.pytorch.importer import from_torch

__version__ = "0.1.0"
_HOMES = {
    "Axis": "lang.axis", "Diagram": "lang.diagram", "Derivation": "pipeline.derivation", "Term": "lang.term",
    "Tuple": "lang.term", "derive": "pipeline.derive", "evaluate": "lang.evaluate", "explain_torch": "pytorch.backend",
    "from_json": "lang.json_form", "from_torch": "pytorch.importer", "optimize": "pytorch.backend",
    "output_order": "lang.evaluate", "to_json": "lang.json_form", "validate": "pipeline.validate",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'napkin_eq' has no attribute {name!r}")
    library = import_module("napkin_eq.frontend.library")
    import_module("napkin_eq.lang.diagram").draw_with(_picture)
    if name in _HOMES:
        return getattr(import_module(f"napkin_eq.{_HOMES[name]}"), name)
    if name in library.__all__:
        return getattr(library, name)
    raise AttributeError(
        f"module 'napkin_eq' has no attribute {name!r}; it has {', '.join(sorted({*_HOMES, *library.__all__}))}"
    )


def _picture(thing: Any) -> str:
    drawn: str = import_module("napkin_eq.draw").svg(thing)
    return drawn


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *import_module("napkin_eq.frontend.library").__all__})


__all__ = [
    "Axis", "Derivation", "Diagram", "LawRefused", "NapkinError", "Term", "Tuple", "Undecided", "__version__",
    "derive", "evaluate", "explain_torch", "from_json", "from_torch", "optimize", "output_order", "to_json", "validate",
]  # fmt: skip
