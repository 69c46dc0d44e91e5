"""The house keeps its floors: who may import whom, what stays lazy, and which words the engine must not know."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = sorted((ROOT / "napkin_eq").glob("*.py"))
# A package stands on one floor as a whole, under its own name.
PACKAGED = sorted((ROOT / "napkin_eq").glob("*/*.py"))
CONTENT = sorted(file for name in ("rules", "proofs", "codegen") for file in (ROOT / name).glob("*.py"))
# From the ground up. A file may import, as it is loaded, what stands on its own floor or below.
FLOORS = (
    "errors axis ops memory budget",
    "term",
    "opened",
    "interval",
    "notation evaluate meaning substitute",
    "pointwise library diagram jsonform gallery random_diagrams shrink spans",
    "__init__",
    "law content",
    "catalogue stretch judge shapes explain claim polynomial atoms algebra functions linearity obligation smtlib question solving rocq rocqtext "
    "verdict counterexample proving smtfiles floating abduce corpus certificate check",
    "plan names hardware accumulate eviction",
    "recheck",
    "emit aot enode placed egglogtext egraph accuracy roundoff ranges shared rounding families stability",
    "streamed scopes bounds arithmetic folds lower alive room reuse cost tiles schedule bulk balance overlap succession",
    "extract least place",
    "derivation report chain assembly search miniature translation unfused cover derive front ranked compiled",
    "sources output coordinates walks lanes heads dealing indexing running tolerance "
    "compare mutation mutate_running mutate_lanes mutate_numbers mutations mutants samples forgeries "
    "probe selftest validate fuzz telling calibrate tuned draw napkin",
    "verbs",
    "cli",
)
RANK = {name: rank for rank, floor in enumerate(FLOORS) for name in floor.split()}
HEAVY = {"cairosvg", "cvc5", "egglog", "highspy", "numpy", "sympy", "torch", "triton", "z3"}
# Numbers are what these files are about; they are themselves loaded only where a job needs them.
MAY_LOAD = dict.fromkeys(("compare", "running", "counterexample", "meaning", "rounding", "roundoff", "ranges", "shared"), {"numpy"})
# Written for users: the library spells algorithms out, the gallery names them.
FOR_USERS = {"library.py", "pointwise.py", "gallery.py", "__init__.py"}
ALGORITHMS = re.compile(
    r"(?<![a-z])(attention|softmax|logsumexp|flash\w*|rms_?norm|layer_?norm|batch_?norm|gelu|silu|relu|swiglu|cross_?entropy"
    r"|mlp|gqa|mha|alibi|rope|softcap|transformer|convolution|welford)(?![a-z])",
    re.IGNORECASE,
)


def imports(file: Path, *, lazy: bool) -> Iterator[str]:
    """Yield the modules that a file imports: as it is loaded, or (lazy) anywhere; those for type checkers alone are left out."""
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not lazy:
            continue
        else:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            if isinstance(node, ast.ImportFrom):
                assert node.level <= (file.parent.name == "codegen"), f"{file.name}: relative import"
                yield from ([f"napkin_eq.{alias.name}" for alias in node.names] if node.module == "napkin_eq" else ["." * node.level + (node.module or "")])
            waiting.extend(ast.iter_child_nodes(node))


def own(modules: Iterator[str]) -> set[str]:
    names = {module.split(".")[1] for module in modules if module.startswith("napkin_eq.")}
    return {name if name in RANK else "__init__" for name in names}


def floor(file: Path) -> str:
    return file.stem if file in ENGINE else file.parent.name


@pytest.mark.parametrize("file", [*ENGINE, *PACKAGED], ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_file_imports_its_own_floor_or_below(file):
    assert floor(file) in RANK, f"{file.name} stands on no floor: put it into FLOORS, and into CONTRIBUTING.md"
    for name in sorted(own(imports(file, lazy=False))):
        # The package itself is loaded before any of its files: reaching for a name in it is reaching into the library.
        assert RANK[name] <= RANK[floor(file)], f"{file.name} imports {name}, a floor above it"


def test_no_floor_lists_a_file_that_is_gone():
    assert set(RANK) == {floor(file) for file in (*ENGINE, *PACKAGED)}


def test_no_file_imports_itself_by_a_detour():
    below = {file.stem: own(imports(file, lazy=False)) - {file.stem} for file in ENGINE}
    for file in PACKAGED:
        # Inside a package its files count one by one; from outside it is one.
        inside = {m.removeprefix("napkin_eq.") for m in imports(file, lazy=False) if m.startswith(f"napkin_eq.{file.parent.name}.")}
        below[f"{file.parent.name}.{file.stem}"] = inside | (own(imports(file, lazy=False)) - {file.parent.name})
    for package in {file.parent.name for file in PACKAGED}:
        below[package] = {f"{package}.{file.stem}" for file in PACKAGED if file.parent.name == package}
    while free := [name for name, needs in below.items() if not needs]:
        below = {name: needs - set(free) for name, needs in below.items() if name not in free}
    assert not below, f"these import each other: {sorted(below)}"


@pytest.mark.parametrize("file", [*ENGINE, *PACKAGED], ids=lambda file: f"{file.parent.name}/{file.name}")
def test_heavy_modules_are_not_loaded_with_the_engine(file):
    found = {module.partition(".")[0] for module in imports(file, lazy=False)} & HEAVY
    assert found <= MAY_LOAD.get(file.stem, set())


def test_one_bridge_to_the_e_graph():
    bridges = {file.name for file in (*ENGINE, *CONTENT) for module in imports(file, lazy=True) if module.partition(".")[0] == "egglog"}
    assert bridges <= {"egraph.py"}


@pytest.mark.parametrize("file", CONTENT, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_content_imports_only_the_engine(file):
    modules = set(imports(file, lazy=True))
    # A printer may be made of several files of its folder, which the door in emit.py loads as one package; rules and proofs are run one by one.
    parts = {module for module in modules if module.startswith(".") and file.with_name(f"{module[1:]}.py") in CONTENT}
    roots = {module.partition(".")[0] for module in modules - parts}
    foreign = roots - {"napkin_eq"} - set(sys.stdlib_module_names)
    allowed = {"rules": set(), "proofs": {"cvc5", "numpy", "z3", "sympy"}, "codegen": {"numpy"}}
    assert foreign <= allowed[file.parent.name]
    if file.parent.name == "rules":
        assert roots == {"napkin_eq"}


@pytest.mark.parametrize(
    "file", [f for f in (*ENGINE, *PACKAGED, *CONTENT) if f.name not in FOR_USERS or f in PACKAGED], ids=lambda file: f"{file.parent.name}/{file.name}"
)
def test_the_engine_knows_no_algorithm(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        assert not (found := ALGORITHMS.search(line)), f"{file.name}:{number} mentions {found.group()!r}: {line.strip()}"


def test_the_word_list_finds_what_it_should():
    for text in ("def softmax(t):", "# FlashAttention", "rms_norm", "rmsnorm_linear", "a GELU"):
        assert ALGORITHMS.search(text), text
    for text in ("a reshuffle", "gelatine", "property", "europe"):
        assert not ALGORITHMS.search(text), text


def loaded(code: str) -> set[str]:
    """Return which heavy modules a fresh interpreter holds after running some code."""
    script = f"import sys\n{code}\nprint(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_heavy():
    assert loaded("import napkin_eq") == set()


def test_help_loads_nothing_heavy():
    assert loaded("from napkin_eq.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass") == set()


def test_laws_are_listed_without_anything_heavy():
    assert loaded("from napkin_eq.cli import main\nmain(['laws'])") == set()


def test_proving_never_loads_torch_or_triton():
    assert not loaded("from napkin_eq.cli import main\nmain(['prove', 'mul-one'])") & {"torch", "triton"}
