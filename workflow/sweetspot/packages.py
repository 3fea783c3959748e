"""Which packages the library needs and does not find; a plain module that needs none itself."""

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path

from sweetspot.errors import UserError

CORE = {
    "altair": "altair",
    "jinja2": "jinja2",
    "markupsafe": "markupsafe",
    "mlperf_logging": "mlperf-logging",
    "numpy": "numpy",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "pydantic": "pydantic",
    "pynvml": "nvidia-ml-py",
    "requests": "requests",
    "scipy": "scipy",
    "snakemake": "snakemake",
    "tenacity": "tenacity",
    "threadpoolctl": "threadpoolctl",
    "urllib3": "urllib3",
    "vl_convert": "vl-convert-python",
    "yaml": "pyyaml",
}
"""What every study needs: module and the package that brings it; the dependencies of pyproject.toml."""


def is_here(module: str) -> bool:
    """Whether Python finds a module of that name, without importing it."""
    return importlib.util.find_spec(module) is not None


def missing_packages(found: Callable[[str], bool] = is_here) -> list[str]:
    """Packages of the core that this Python lacks."""
    return [package for module, package in CORE.items() if not found(module)]


def hand_on() -> None:
    """Let Python processes that this one starts find the same library, installed or not."""
    own = str(Path(__file__).parent.parent)
    others = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([own, *others]))


def require_packages(home: Path | None, found: Callable[[str], bool] = is_here) -> None:
    """Raises UserError with the command that installs what is missing; `home` is the checkout, if there is one."""
    missing = missing_packages(found)
    if missing:
        lock = "" if home is None else f"-r '{home / 'envs' / 'core.lock'}'"
        raise UserError(
            f"{sys.executable}: Sweetspot finds no {', '.join(missing)} there; install what it needs: "
            f"{sys.executable} -m pip install {lock or ' '.join(missing)}"
        )
