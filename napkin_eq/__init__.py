"""Write a deep-learning algorithm as a diagram; get fused GPU kernels that are proved equal to it.

    import napkin_eq as nq
    q, x, d = nq.axes("q x d", q=4096, x=4096, d=128)
    Q, K, V = nq.array("Q", q, d), nq.array("K", x, d), nq.array("V", x, d)
    p = nq.softmax(nq.sum(Q * K, d) * 128**-0.5, x)
    derivation = nq.derive(nq.sum(p * V, x), hardware="h200", dtype="bfloat16")

Everything in `napkin_eq.library` is here by the same name. Names are looked up when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"] or (sys.argv and sys.argv[0].endswith("napkin-eq")):
    # The command line starts: until cli.main can say "interrupted", Ctrl-C ends the process as a shell expects, without a traceback.
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from napkin_eq.errors import LawRefused, NapkinError, Undecided

if TYPE_CHECKING:
    from napkin_eq.axis import Axis
    from napkin_eq.derivation import Derivation
    from napkin_eq.derive import derive
    from napkin_eq.diagram import Diagram
    from napkin_eq.evaluate import evaluate, output_order
    from napkin_eq.jsonform import from_json, to_json
    from napkin_eq.library import *  # noqa: F403
    from napkin_eq.term import Term, Tuple
    from napkin_eq.validate import validate

__version__ = "0.1.0"
_HOMES = {
    "Axis": "axis", "Diagram": "diagram", "Derivation": "derivation", "Term": "term", "Tuple": "term", "derive": "derive",
    "evaluate": "evaluate", "from_json": "jsonform", "output_order": "evaluate", "to_json": "jsonform", "validate": "validate",
}  # fmt: skip


class _Package(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        # The import of a file sets it as an attribute here: it must not hide the function of the same name, such as derive.
        super().__setattr__(name, getattr(value, name) if name in _HOMES and isinstance(value, ModuleType) else value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'napkin_eq' has no attribute {name!r}")
    library = import_module("napkin_eq.library")
    if name in _HOMES:
        return getattr(import_module(f"napkin_eq.{_HOMES[name]}"), name)
    if name in library.__all__:
        return getattr(library, name)
    raise AttributeError(f"module 'napkin_eq' has no attribute {name!r}; it has {', '.join(sorted({*_HOMES, *library.__all__}))}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *import_module("napkin_eq.library").__all__})


__all__ = [
    "Axis", "Derivation", "Diagram", "LawRefused", "NapkinError", "Term", "Tuple", "Undecided", "__version__",
    "derive", "evaluate", "from_json", "output_order", "to_json", "validate",
]  # fmt: skip
