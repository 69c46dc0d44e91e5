"""How much a derivation may do: seconds of processor time as a last resort, counted work wherever work can be counted.

Counted work gives the same plan on every machine. Time does not, so that it is said wherever it was time that ended a search;
what was found until then is still a plan. Processor time is counted, not the clock's: a busy machine changes nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

SECONDS = 30.0


@dataclass(slots=True)
class Budget:
    """The time that is left to a derivation, and the searches that ran out of it, in order: `Budget(seconds)`."""

    seconds: float = SECONDS
    stopped: list[str] = field(default_factory=list)
    _begun: float = field(default_factory=time.process_time)

    def left(self) -> float:
        """Return the seconds of processor time that are left."""
        return self.seconds - (time.process_time() - self._begun)

    def part(self, share: float) -> Budget:
        """Return a budget that begins now and has a share of what is left; it notes what stops in the same list."""
        return Budget(max(0.0, share * self.left()), self.stopped)

    def over(self, search: str, share: float = 1.0) -> bool:
        """Tell whether this share of the time is over, and note the search that stops for it."""
        if time.process_time() - self._begun < share * self.seconds:
            return False
        if search not in self.stopped:
            self.stopped.append(search)
        return True
