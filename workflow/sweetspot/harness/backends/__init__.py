"""One module a framework, each with the functions of `Backend`; only the framework of the cell is imported.

A backend is a module of the framework's name here. It imports its framework inside its functions, so that it can say
what is missing where the framework is not installed.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, cast

from sweetspot.errors import UserError
from sweetspot.frameworks import FRAMEWORKS
from sweetspot.harness.facts import processor_name
from sweetspot.harness.request import Request

LOSS_SCALE = 128.0  # tf_cnn_benchmarks' default for fp16: small gradients would vanish
Agree = Callable[[int], int]  # what the first process says, to all


class Step(NamedTuple):
    """One training step: `launch` begins it and returns its loss, which need not be there yet; `finish` waits for all
    that was begun, and returns that loss.
    """

    launch: Callable[[], Any]
    finish: Callable[[Any], float] = float

    def __call__(self) -> float:
        """One step, waited for."""
        return self.finish(self.launch())


class Backend(Protocol):
    """What the harness asks of a framework; of a script of one's own `launch`, `devices` and `facts` alone."""

    INSTALL: dict[str, str]  # by kind of device the command that installs it

    @staticmethod
    def launch(request: Request) -> list[str]:
        """Return the command of the training process, or of what starts several."""

    @staticmethod
    def prepare(request: Request) -> None:
        """Set what must be set before the framework is imported."""

    @staticmethod
    def devices(request: Request) -> list[str]:
        """Names of exactly the devices asked for. Raises UserError if they are not there, or not usable together."""

    @staticmethod
    def facts(request: Request) -> dict[str, Any]:
        """What the framework says of itself and of its devices, for the run file."""

    @staticmethod
    def process_role(request: Request) -> tuple[bool, Agree]:
        """Whether this process is the one that tells, and how all learn how many steps it wants next."""

    @staticmethod
    def build_step(request: Request, devices: list[str]) -> tuple[Step, dict[str, Any]]:
        """A training step, and as facts `unit`, `parameters` and `samples_per_step`."""


def backend(framework: str) -> Backend:
    """The module of that framework, which need not be installed. Raises UserError for an unknown name."""
    if framework not in FRAMEWORKS:
        raise UserError(f"--framework is {framework!r}; expected one of {', '.join(FRAMEWORKS)}")
    return cast(Backend, importlib.import_module(f"{__name__}.{framework.replace('-', '_')}"))


def require_supported(request: Request) -> None:
    """Refuse a cell that the framework or the device cannot measure. Raises UserError."""
    from sweetspot.matrix.possible import cell_faults  # its models have no use in a training process

    cell = request.cell
    backend(cell.framework)
    for fault in cell_faults(cell, request.device, request.expect_gpu, request.xla):
        raise UserError(f"the run is of {fault}; nothing was measured")


def missing(framework: str, device: str) -> str | None:
    """A clause that says how to install the framework where it is not in this environment, else None."""
    package = FRAMEWORKS[framework].package
    if not package or importlib.util.find_spec(package) is not None:
        return None
    install = backend(framework).INSTALL[device]
    return f"framework {framework} is not installed in this environment; install it with: {install}"


def single_process(request: Request) -> list[str]:
    """Return the command of one training process that drives all devices."""
    return [sys.executable, "-m", "sweetspot.harness.train", request.to_json()]


def the_processor(request: Request) -> list[str]:
    """The processor as the one device. Raises UserError where it is not the one that the instance declares."""
    if request.expect_gpu not in processor_name():
        raise UserError(
            f"--expect-gpu is {request.expect_gpu!r}; this node has {processor_name()!r}; nothing was measured"
        )
    return ["cpu"]


def the_gpus(request: Request, names: Sequence[str]) -> list[str]:
    """`names` of the GPUs that the process sees. Raises UserError unless they are as many and such as asked for."""
    if len(names) != request.cell.gpus:
        raise UserError(
            f"--gpus is {request.cell.gpus}; this process sees {len(names)} GPU(s), with a build of the framework for "
            f"processors none ({backend(request.cell.framework).INSTALL['gpu']}); nothing was measured"
        )
    for name in names:
        if request.expect_gpu not in name:
            raise UserError(f"--expect-gpu is {request.expect_gpu!r}; this node has {name!r}; nothing was measured")
    return list(names)
