"""Laws made from functions as in `rules/`, but kept out of the registry."""

from napkin_eq.laws.law import statements_of as stated

__all__ = ["stated"]
