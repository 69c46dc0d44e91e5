"""Write a deep-learning algorithm as a diagram; get fused GPU kernels that are proved equal to it.

    import napkin_eq as nq
    q, x, d = nq.axes("q x d", q=4096, x=4096, d=128)
    Q, K, V = nq.array("Q", q, d), nq.array("K", x, d), nq.array("V", x, d)
    p = nq.softmax(nq.sum(Q * K, d) * 128**-0.5, x)
    derivation = nq.derive(nq.sum(p * V, x), hardware="h200", dtype="bfloat16")

Everything in `napkin_eq.library` is here by the same name. Names are looked up when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from napkin_eq.errors import LawRefused, NapkinError, Undecided

if TYPE_CHECKING:
    from napkin_eq.axis import Axis
    from napkin_eq.derive import Derivation, derive
    from napkin_eq.evaluate import evaluate
    from napkin_eq.library import *  # noqa: F403
    from napkin_eq.term import Term, Tuple
    from napkin_eq.validate import validate

__version__ = "0.1.0"
_HOMES = {
    "Axis": "axis", "Term": "term", "Tuple": "term", "derive": "derive", "Derivation": "derive", "evaluate": "evaluate", "validate": "validate",
}  # fmt: skip


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


__all__ = ["Axis", "Derivation", "LawRefused", "NapkinError", "Term", "Tuple", "Undecided", "__version__", "derive", "evaluate", "validate"]
