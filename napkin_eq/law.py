"""The words that rule files are written in: `from napkin_eq.law import law, Sum, ...`; what they mean is said in
laws/law.py.
"""

from napkin_eq.laws.law import *  # noqa: F403
