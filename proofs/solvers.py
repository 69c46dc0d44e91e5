"""Z3 and cvc5, handed the text of a question and nothing else."""

from __future__ import annotations

import importlib.util
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.prove.portfolio import solver

# cvc5 counts its steps, so that a busy machine gives the same answer; the clock is the last resort.
STEPS_PER_S, PATIENCE = 120_000, 10


@solver("z3")
def z3_answer(text: str, timeout_s: float) -> str:
    """Return what Z3 says of a script: unsat, sat, unknown; or missing where it is not installed.

    Raises NapkinError for a script that it cannot read.
    """
    if importlib.util.find_spec("z3") is None:
        return "missing"
    import z3

    answer = "unknown"
    # The general solver first, then the one for polynomials: each is quick where the other is not.
    for logic in ("", "QF_NRA"):
        # A context of its own: what was asked before decides nothing about the answer.
        engine: Any = z3.SolverFor(logic, ctx=z3.Context()) if logic else z3.Solver(ctx=z3.Context())
        engine.set("timeout", max(1, int(timeout_s * 1000)))
        try:
            engine.from_string(text)
        except z3.Z3Exception as error:
            raise NapkinError(f"z3 cannot read a script: {error}") from None
        answer = str(engine.check())
        if answer != "unknown":
            break
    return answer


@solver("cvc5")
def cvc5_answer(text: str, timeout_s: float) -> str:
    """Return what cvc5 says of a script: unsat, sat, unknown; or missing where it is not installed.

    Raises NapkinError for a script that it cannot read.
    """
    if importlib.util.find_spec("cvc5") is None:
        return "missing"
    import cvc5

    engine = cvc5.Solver(cvc5.TermManager())
    engine.setOption("rlimit-per", str(max(1, int(timeout_s * STEPS_PER_S))))
    engine.setOption("tlimit-per", str(max(1, int(timeout_s * 1000 * PATIENCE))))
    parser = cvc5.InputParser(engine)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    answer = "unknown"
    try:
        while not (command := parser.nextCommand()).isNull():
            # What status a script claims is for us to compare: to cvc5 a wrong claim would be an error.
            said = (
                ""
                if command.getCommandName() == "set-info"
                else str(command.invoke(engine, parser.getSymbolManager())).strip()
            )
            if said.startswith("(error"):
                raise NapkinError(f"cvc5 cannot read a script: {said}")
            answer = said.partition(" ")[0] or answer  # "unknown (TIMEOUT)"
    except RuntimeError as error:
        raise NapkinError(f"cvc5 cannot read a script: {error}") from None
    return answer
