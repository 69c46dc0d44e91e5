"""What a program that was read is called with: its tensors in order, where the call is one of the program."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.naming import first_line


@dataclass(frozen=True, slots=True)
class Call:
    """How a program is called: the names of its arguments, each of which may hold several tensors and numbers, and what
    of these is fixed, as it was no tensor when the program was read.

    nested: how the example's arguments were, as torch.utils._pytree says it. signature: of the function that was read,
    None where Python does not know it.
    """

    program: str
    names: tuple[str, ...]
    fixed: Mapping[int, Any]
    nested: Any
    signature: inspect.Signature | None = None

    def tensors(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Return the tensors of a call in order; raises NapkinError where it is not one of the program."""
        import torch
        from torch.utils import _pytree as pytree

        whole = self._placed(args, kwargs)
        given = pytree.tree_leaves(whole)
        if len(given) != len(self.names):
            raise NapkinError(
                f"program {self.program}: {len(given)} inputs given, {len(self.names)} expected:"
                f" {', '.join(self.names)}; what the example did not have is fixed: read it with an example that has it"
            )
        try:
            given = self.nested.flatten_up_to(whole)  # dictionaries in the order of the example's
        except ValueError as reason:
            raise NapkinError(
                f"program {self.program}: its arguments are not nested as the example's were: {first_line(reason)}"
            ) from None
        found = []
        for at, (name, value) in enumerate(zip(self.names, given, strict=True)):
            if at not in self.fixed and not isinstance(value, torch.Tensor):
                raise NapkinError(f"program {self.program}: input {name} is {value!r:.60}, expected a tensor")
            if at not in self.fixed:
                found.append(value)
            elif isinstance(value, torch.Tensor) or not _same(value, self.fixed[at]):
                said = f"a {type(value).__name__}" if isinstance(value, torch.Tensor) else f"{value!r:.60}"
                raise NapkinError(
                    f"program {self.program}: input {name} is {said}, expected {self.fixed[at]!r:.60}, at which it was"
                    " fixed when the program was read: read it again with the other, or give a tensor to both"
                )
        return found

    def _placed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return arguments in the order of the function's own, where some are given by name."""
        if self.signature is None or not kwargs:
            return args, kwargs
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as reason:
            raise NapkinError(f"program {self.program}: {reason}; it takes {self.signature}") from None
        return bound.args, bound.kwargs


def signature_of(fn: Any) -> inspect.Signature | None:
    """Return the signature of a function or module, None where Python does not know it."""
    try:
        return inspect.signature(getattr(fn, "forward", fn))
    except (TypeError, ValueError):
        return None


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other or (one != one and other != other))
