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
PACKAGE = ROOT / "napkin_eq"
ENGINE = sorted(PACKAGE.rglob("*.py"))
CONTENT = sorted(
    file
    for name in ("rules", "proofs", "codegen")
    for file in (ROOT / name).rglob("*.py")
    if "corpus" not in file.parts
)
# From the ground up. A file may import, wherever in its text, what stands in its own package or in one before it.
ROOMS = (
    "lang laws prove.normal prove egraph frontend tile tile.passes tile.lower machine numerics search certify verify"
    " cover pipeline pytorch.build pytorch.operators pytorch verify.index verify.selftest verify.fuzz draw napkin"
    " report explore cli"
).split()
MOST_FILES = 15
HEAVY = set("cairosvg cvc5 egglog highspy jinja2 numpy rich starlette sympy torch triton uvicorn z3".split())
# Numbers are what these files are about; they are themselves loaded only where a job needs them.
MAY_LOAD = dict.fromkeys(
    (
        "compare",
        "running_bound",
        "counterexample",
        "numpy_semantics",
        "error_bound",
        "roundoff",
        "ranges",
        "shared_errors",
        "matrix_unit",
    ),
    {"numpy"},
)
# Written for users: the library spells algorithms out, the gallery names them; the table of PyTorch's operators has its
# words.
LIBRARY = (PACKAGE / "frontend" / f"{name}.py" for name in ("library", "pointwise", "gallery"))
FOR_USERS = {PACKAGE / "__init__.py", *LIBRARY, *(PACKAGE / "pytorch" / "operators").glob("*.py")}
ALGORITHMS = re.compile(
    r"(?<![a-z])(attention|softmax|logsumexp|flash\w*|rms_?norm|layer_?norm|batch_?norm|gelu|silu|relu|swiglu"
    r"|cross_?entropy"
    r"|mlp|gqa|mha|alibi|rope|softcap|transformer|convolution|welford)(?![a-z])",
    re.IGNORECASE,
)


def module(file: Path) -> str:
    """Return a file's module, the name of the package left out: `lang.term`, and "" for the package's own head."""
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {module(file) for file in ENGINE}


def imports(file: Path, *, lazy: bool) -> Iterator[str]:
    """Yield the modules that a file imports: as it is loaded, or (lazy) anywhere, for type checkers too."""
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not lazy:
            waiting.extend(node.orelse)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not lazy:
            continue
        else:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            if isinstance(node, ast.ImportFrom):
                assert not node.level or "codegen" in file.parts, f"{file.name}: relative import"
                base = "." * node.level + (node.module or "")
                yield from (
                    f"{base}.{a.name}" if f"{base}.{a.name}".removeprefix("napkin_eq.") in MODULES else base
                    for a in node.names
                )
            waiting.extend(ast.iter_child_nodes(node))


def own(file: Path) -> set[str]:
    """Return the engine's modules that a file imports, anywhere in its text."""
    return {
        m.removeprefix("napkin_eq").lstrip(".") for m in imports(file, lazy=True) if m.partition(".")[0] == "napkin_eq"
    }


def room(name: str) -> str:
    return name if name in ROOMS else name.rpartition(".")[0]


ROOMED = [file for file in ENGINE if file.parent != PACKAGE]


@pytest.mark.parametrize("file", ROOMED, ids=module)
def test_a_file_imports_its_own_package_or_one_before_it(file):
    assert room(module(file)) in ROOMS, (
        f"{module(file)} is in no package of ROOMS: put it there, and into CONTRIBUTING.md"
    )
    for name in sorted(own(file)):
        # The head of the package says which version it is, and no more to those inside.
        assert name in MODULES, f"{module(file)} imports {name}, which is not there"
        assert not name or ROOMS.index(room(name)) <= ROOMS.index(room(module(file))), (
            f"{module(file)} imports {name}, of a later package"
        )


def test_packages_are_rooms_and_not_halls():
    files = {name: [m for m in MODULES if room(m) == name and m != name] for name in ROOMS}
    assert all(0 < len(inside) <= MOST_FILES for inside in files.values()), {
        name: len(inside) for name, inside in files.items()
    }


@pytest.mark.parametrize("name", ROOMS)
def test_the_head_of_a_package_names_its_files(name):
    head = (
        ast.get_docstring(
            ast.parse((PACKAGE / name.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")), clean=False
        )
        or ""
    )
    said = {line.split()[0] for line in head.splitlines() if re.match(r"    \w", line)}
    files = {m.rpartition(".")[2] for m in MODULES if room(m) == name and m != name} - {"__main__"}
    assert files <= said, f"napkin_eq/{name.replace('.', '/')}/__init__.py does not name {sorted(files - said)}"


def test_no_file_imports_itself_by_a_detour():
    below = {module(file): own(file) - {module(file), ""} for file in ROOMED}
    while free := [name for name, needs in below.items() if not needs]:
        below = {name: needs - set(free) for name, needs in below.items() if name not in free}
    assert not below, f"these import each other: {sorted(below)}"


@pytest.mark.parametrize("file", ENGINE, ids=module)
def test_heavy_modules_are_not_loaded_with_the_engine(file):
    found = {name.partition(".")[0] for name in imports(file, lazy=False)} & HEAVY
    assert found <= MAY_LOAD.get(file.stem, set())


def test_one_bridge_to_the_e_graph():
    bridges = {
        file.name
        for file in (*ENGINE, *CONTENT)
        for module in imports(file, lazy=True)
        if module.partition(".")[0] == "egglog"
    }
    assert bridges <= {"saturate.py"}


@pytest.mark.parametrize("file", CONTENT, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_content_imports_only_the_engine(file):
    modules = set(imports(file, lazy=True))
    # A printer may be made of several files of its folder, which the door in printers.py loads as one package; rules
    # and proofs are run one by one.
    parts = {module for module in modules if module.startswith(".")}
    for part in parts:
        up, name = file.parents[len(part) - len(part.lstrip(".")) - 1], part.lstrip(".").replace(".", "/")
        assert up / f"{name}.py" in CONTENT, f"{file.name} imports {part}, which is not there"
    roots = {module.partition(".")[0] for module in modules - parts}
    foreign = roots - {"napkin_eq"} - set(sys.stdlib_module_names)
    allowed = {"rules": set(), "proofs": {"cvc5", "numpy", "z3", "sympy"}, "codegen": {"numpy"}}
    folder = file.relative_to(ROOT).parts[0]
    assert foreign <= allowed[folder]
    if folder == "rules":
        assert roots == {"napkin_eq"}


@pytest.mark.parametrize(
    "file", [f for f in (*ENGINE, *CONTENT) if f not in FOR_USERS], ids=lambda file: f"{file.parent.name}/{file.name}"
)
def test_the_engine_knows_no_algorithm(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        assert not (found := ALGORITHMS.search(line)), (
            f"{file.name}:{number} mentions {found.group()!r}: {line.strip()}"
        )


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
    assert (
        loaded("from napkin_eq.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass") == set()
    )


def test_laws_are_listed_without_anything_heavy():
    assert loaded("from napkin_eq.cli.main import main\nmain(['laws'])") == set()


def test_proving_never_loads_torch_or_triton():
    assert not loaded("from napkin_eq.cli.main import main\nmain(['prove', 'mul-one'])") & {"torch", "triton"}
