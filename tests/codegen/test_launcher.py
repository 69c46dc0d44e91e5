# SPDX-License-Identifier: MIT
"""What an emitted launcher does before a launch: once for arguments that are alike, and then as little as there is;
nothing of it may be stale.
"""

from __future__ import annotations

import re
import threading
import types
from typing import Any

import pytest

from napkin_eq.machine.plan_passes import decided
from napkin_eq.tile.printers import emit
from tests import plans
from tests.codegen.test_triton import loaded
from tests.tile.test_dependent_launch import CHAIN

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

SEEN: list[tuple[Any, ...]] = []


class Driver:
    """The driver's own call: what it is handed is noted."""

    def __call__(self, *args: Any) -> None:
        SEEN.append(args)


class CudaLauncher:
    """What Triton 3.6 makes of a compiled kernel, with the driver's own call noted and not done."""

    global_scratch_size, profile_scratch_size, launch_cooperative_grid, launch_pdl = 0, 0, False, False

    def __init__(self, boxes: int = 0) -> None:
        launcher = Driver()

        tensordesc_meta = [{"box": at} for at in range(boxes)]

        def inner(*args: Any) -> None:
            raise AssertionError(
                f"descriptors would be encoded anew, as {tensordesc_meta} says, and handed to {launcher}"
            )

        self.launch = inner if boxes else launcher


class Compiled:
    """A kernel as Triton has compiled it; `calls` counts those that went through Triton."""

    packed_metadata, function = (4, 1, 0), 7

    def __init__(self, boxes: int = 0) -> None:
        self.run, self.calls = CudaLauncher(boxes), 0

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        def launched(*args: Any, **options: Any) -> Compiled:
            self.calls += 1
            return self

        return launched


@pytest.fixture
def module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    found = loaded(emit(plans.softmax_stream().plan), tmp_path)
    monkeypatch.setattr(found, "softmax_stream_kernel", Compiled())
    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    driver = types.SimpleNamespace(active=types.SimpleNamespace(get_current_stream=lambda device: 99))
    monkeypatch.setattr(triton.runtime, "driver", driver)
    monkeypatch.setattr(triton, "__version__", "3.6.0")
    SEEN.clear()
    return found


def given(rows: int = 3, columns: int = 64) -> Any:
    return torch.randn(rows, columns)


def test_the_second_launch_goes_to_the_driver(module: Any) -> None:
    x = given()
    module.run(x)
    assert module.softmax_stream_kernel.calls == 1
    y = module.run(x)
    assert module.softmax_stream_kernel.calls == 1
    (args,) = SEEN
    assert args == (
        3,
        1,
        1,
        99,
        7,
        False,
        False,
        None,
        None,
        (4, 1, 0),
        None,
        None,
        None,
        x.data_ptr(),
        y.data_ptr(),
        3,
        64,
    )


def test_another_array_of_the_same_shape_is_read_where_it_lies(module: Any) -> None:
    first, other = given(), given()
    module.run(first)
    module.run(other)
    assert other.data_ptr() in SEEN[-1]
    assert first.data_ptr() not in SEEN[-1]


def test_another_shape_is_worked_out_anew(module: Any) -> None:
    module.run(given())
    module.run(given(5, 32))
    assert module.softmax_stream_kernel.calls == 2
    y = module.run(given(5, 32))
    assert SEEN[-1][0] == 5
    assert SEEN[-1][-2:] == (5, 32)
    assert y.shape == (5, 32)


@pytest.mark.filterwarnings("ignore:x. strides")
def test_what_is_like_the_last_call_is_looked_up_nowhere(module: Any) -> None:
    """The last call's own arguments are told in one step; whatever differs in anything that decides is looked up, and
    again the other way.
    """
    module.run(given(2))
    module.CALLS.clear()
    module.run(given(2))
    assert not module.CALLS
    for other in (given(3), given(2)[:, :32], torch._neg_view(given(2)), given(2).expand(2, 64).t()):
        module.run(other)
        assert len(module.CALLS) == 1
        module.CALLS.clear()
        assert module.run(given(2)).shape == (2, 64)
        module.CALLS.clear()
    for wrong in (given(2).double(), given(2).to_sparse(), [1.0], None):
        with pytest.raises((TypeError, ValueError), match="^x: expected"):
            module.run(wrong)


@pytest.mark.parametrize("missing", ["TensorGuards", "_empty_strided_cuda"])
def test_a_torch_without_them_is_asked_each_time(missing: str, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, missing, None)
    for rows in (2, 2, 3):
        assert module.run(given(rows)).shape == (rows, 64)
    assert len(module.CALLS) == 2


def test_addresses_off_16_bytes_are_left_to_triton(module: Any) -> None:
    long = torch.zeros(1 + 3 * 64)
    module.run(given())
    module.run(long[1:].view(3, 64))
    assert not SEEN
    assert module.softmax_stream_kernel.calls == 2


def test_a_profiler_is_told_of_each_launch(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module.run(given())
    monkeypatch.setattr(triton.knobs.runtime, "launch_enter_hook", lambda metadata: None)
    module.run(given())
    assert not SEEN
    monkeypatch.setattr(triton.knobs.runtime, "launch_enter_hook", None)
    module.run(given())
    assert len(SEEN) == 1


def test_another_triton_launches_itself(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton, "__version__", "3.9.0")
    for _ in range(3):
        module.run(given())
    assert not SEEN
    assert module.softmax_stream_kernel.calls == 3


def test_scratch_memory_is_left_to_triton(module: Any) -> None:
    module.softmax_stream_kernel.run.global_scratch_size = 128
    module.run(given())
    module.run(given())
    assert not SEEN


def test_several_threads_call_at_once(module: Any) -> None:
    faults: list[BaseException] = []

    def work(rows: int) -> None:
        try:
            for _ in range(50):
                assert module.run(given(rows)).shape == (rows, 64)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(rows,)) for rows in (1, 2, 3, 4) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert all(args[0] == args[-2] for args in SEEN)


def test_what_is_kept_is_bounded(module: Any) -> None:
    for rows in range(1, 4200):
        module.run(torch.empty(rows, 1, dtype=torch.float32))
    assert len(module.CALLS) <= 4096


@pytest.mark.parametrize("name", ["transposed", "expanded", "sliced", "stepped", "negated"])
def test_strides_are_packed_and_that_is_said(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the interpreter, against torch: any strides give what packed ones do."""
    x = torch.randn(40, 48)
    made = {
        "transposed": x.t(),
        "expanded": x[:1].expand(40, 48),
        "sliced": x[:, 3:30],
        "stepped": x[::2, ::3],
        "negated": torch._neg_view(x),
    }[name]
    module, said = loaded(emit(plans.softmax_stream().plan), tmp_path), list[str]()
    monkeypatch.setattr(module, "warnings", types.SimpleNamespace(warn=lambda text, stacklevel: said.append(text)))
    found = module.run(made)
    assert said[0].startswith(f"x: strides {made.stride()} of shape")
    assert torch.allclose(found, torch.softmax(made, -1), atol=1e-5)


def test_a_sparse_array_is_refused(tmp_path: Any) -> None:
    run = loaded(emit(plans.softmax_stream().plan), tmp_path).run
    with pytest.raises(TypeError, match="x: expected an array with strides, found layout"):
        run(torch.eye(3, dtype=torch.float32).to_sparse())


def test_what_is_compiled_ahead_has_the_options_of_its_launch(tmp_path: Any) -> None:
    """Triton finds what was compiled by them: one that waits for the kernel before it is launched in another way."""
    text = emit(decided(CHAIN), "triton")
    rows = loaded(text, tmp_path).KERNELS
    launches = dict(re.findall(r"= Launch\((\w+), (.*)\)\n", text))
    assert launches.keys() == rows.keys()
    for name, row in rows.items():
        given = set(re.findall(r"(\w+)=", launches[name])) - {"flags"}
        assert given == row.keys() - {"signature"}
    assert [row.get("launch_pdl") for row in rows.values()] == [None, True]
