"""Functions of PyTorch whose annotations say what their tensors are: what they say, what is refused, what comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from napkin_eq.cli.main import main
from napkin_eq.cli.sources import find
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.signature import annotated, program_of, signature


def program(x: Any, w: Any) -> Any:
    return torch.softmax(x @ w, -1)


def said(**texts: str) -> Any:
    """The program above with annotations."""
    program.__annotations__ = dict(texts)
    return program


def test_dimensions_have_names_and_sizes() -> None:
    found = signature(said(x="bf16[n=64, d=32]", w="bfloat16[ d , 48]"))
    assert [t.dtype for t in found.tensors] == ["bfloat16", "bfloat16"]
    assert [t.dims for t in found.tensors] == [("n", "d"), ("d", 48)] and found.sizes == {"n": 64, "d": 32}
    made = program_of(program)
    assert {a.name: a.size for a in made.diagram.axes()}.items() >= {"n": 64, "d": 32}.items()
    x, w = torch.randn(64, 32, dtype=torch.bfloat16), torch.randn(32, 48, dtype=torch.bfloat16)
    assert torch.allclose(made.run(x, w), program(x.double(), w.double()))


def test_a_size_may_be_another_or_open() -> None:
    fn = said(x="f32[n=64, d=32]", w="f32[d, e=48]")
    assert {a.name: a.size for a in program_of(fn, {"n": 7}).diagram.axes()}["n"] == 7
    left = program_of(fn, {"n": None})
    assert {a.name: a.size for a in left.diagram.axes()}["n"] is None
    x, w = torch.randn(5, 32), torch.randn(32, 48)
    assert torch.allclose(left.run(x, w), program(x.double(), w.double()))


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"x": "f32(4)", "w": "f32[4]"}, "expected a type and sizes"),
        ({"x": "f32[a b]", "w": "f32[4]"}, "is no dimension"),
        ({"x": "f32[n]", "w": "f32[4]"}, "n of x has no size"),
        ({"x": "f32[n=4]", "w": "f32[n=5]"}, "n is 4 before"),
        ({"x": "f32[0]", "w": "f32[4]"}, "a size is 1 to"),
        ({"x": "c64[4]", "w": "f32[4]"}, "type 'c64' is not known"),
        ({"x": "f32[__import__('os')]", "w": "f32[4]"}, "is no dimension"),
        ({"x": "f32[4, 5]", "w": "f32[6, 7]"}, "torch.export does not take this program at test_signature.py"),
    ],
)
def test_what_says_no_tensor_is_refused_in_a_line(texts: dict[str, str], why: str) -> None:
    with pytest.raises(NapkinError, match=why) as refused:
        program_of(said(**texts))
    assert "\n" not in str(refused.value)


def test_a_name_that_no_dimension_has_is_refused() -> None:
    with pytest.raises(NapkinError, match="no size called 'm'; it has n, d"):
        program_of(said(x="f32[n=64, d=32]", w="f32[d, 48]"), {"m": 3})


def test_a_tensor_that_is_given_by_name_alone_is_refused() -> None:
    def named(x: Any, *, y: Any) -> Any:
        return x + y

    named.__annotations__ = {"x": "f32[n=4]", "y": "f32[n]"}
    with pytest.raises(NapkinError, match="parameter y is .*, given by name alone"):
        signature(named)


def test_other_functions_are_no_programs() -> None:
    assert not annotated(test_other_functions_are_no_programs) and not annotated(torch.nn.Linear) and not annotated(3)


FILE = '''
import napkin_eq as nq
import torch

def rows(x: "f32[n=8, d=16]"):
    return torch.softmax(x, -1)

(n,) = nq.axes("n", n=4)
total = nq.sum(nq.array("A", n), n)
number = 3
read = nq.from_torch(lambda x: x.sum(-1), torch.zeros(4, 5))
'''


def test_the_command_line_takes_a_program_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    found = find(f"{file}:rows", ["n=12"])
    assert found.dtype == "float32" and {a.size for a in found.diagram.axes()} == {12, 16}
    assert find(f"{file}:total").dtype is None and find(f"{file}:read").diagram.axes()[0].size in (4, 5)
    assert main(["derive", f"{file}:rows", "--quiet"]) == 0
    assert "rows  float32" in capsys.readouterr().out
    for name, why in (
        ("nothing", f"defines no 'nothing'; name one of what it has: {file}:rows"),
        ("number", "number is int, expected a Diagram, a term, or a function of PyTorch"),
    ):
        assert main(["derive", f"{file}:{name}"]) == 2
        assert why in capsys.readouterr().err
    assert main(["derive", str(file)]) == 2
    assert "defines neither `diagram`" in capsys.readouterr().err
    assert main(["derive", f"{file}:read", "--set", "x=3"]) == 2
    assert "the sizes of a program that was read stay" in capsys.readouterr().err
