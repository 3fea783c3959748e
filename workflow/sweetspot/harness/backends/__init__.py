"""One module a framework, each with the functions of `Backend`; only the framework of the cell is imported.

A backend is a module of the framework's name here (`keras-torch`: `keras_torch`). It imports its framework inside its
functions, so that it can say what is missing where the framework is not installed.
"""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any, Protocol, cast

from sweetspot.errors import UserError
from sweetspot.harness.request import Request
from sweetspot.study.frameworks import FRAMEWORKS

# Keras' names of the precisions; TF32 is fp32 that a GPU multiplies in another way.
POLICIES = {"fp32": "float32", "tf32": "float32", "bf16": "mixed_bfloat16", "fp16": "mixed_float16"}


class Backend(Protocol):
    """What the harness asks of a framework."""

    INSTALL: str  # the command that installs it

    @staticmethod
    def launch(request: Request) -> tuple[list[str], dict[str, str] | None]:
        """Command and environment (None: this one's) of the training process, or of what starts several."""

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
    def place(request: Request) -> tuple[bool, Callable[[bool], bool]]:
        """Whether this process is the one that tells, and how all learn that it is enough."""

    @staticmethod
    def build_step(request: Request, devices: list[str]) -> tuple[Callable[[], float], dict[str, Any]]:
        """A function that makes one training step and returns its loss when it is done, and what a sample asks for.

        As facts: `unit`, `parameters`, `training_flop_per_sample`, and `samples_per_step` where it is not the batch.
        """

    @staticmethod
    def rates(request: Request, devices: list[str]) -> dict[str, float]:
        """What the machine does at best: FLOP/s `machine_matmul_flops` and `machine_conv_flops` of all devices."""


def backend(framework: str) -> Backend:
    """The module of that framework, which need not be installed. Raises UserError for an unknown name."""
    if framework not in FRAMEWORKS:
        raise UserError(f"--framework is {framework!r}; expected one of {', '.join(FRAMEWORKS)}")
    return cast(Backend, importlib.import_module(f"{__name__}.{framework.replace('-', '_')}"))


def require_known(framework: str, precision: str, variant: str = "default") -> None:
    """Raises UserError where the framework is none that is known here, or has no such precision or variant."""
    backend(framework)
    known = FRAMEWORKS[framework].precisions
    if precision not in known:
        raise UserError(
            f"--precision is {precision!r} with --framework {framework}; expected one of {', '.join(known)}"
        )
    variants = FRAMEWORKS[framework].variants
    if variants and variant not in variants:
        raise UserError(f"--variant is {variant!r} with --framework {framework}; expected one of {', '.join(variants)}")


def missing(framework: str) -> str | None:
    """A clause that says how to install the framework where it is not in this environment, else None."""
    package = FRAMEWORKS[framework].package
    if not package or importlib.util.find_spec(package) is not None:
        return None
    install = backend(framework).INSTALL
    return f"framework {framework} is not installed in this environment; install it with: {install}"
