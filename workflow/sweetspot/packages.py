"""Which packages the library needs and does not find; a plain module that needs none itself."""

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from sweetspot.errors import UserError

PACKAGES = (
    "altair", "click", "jinja2", "markupsafe", "numpy", "pandas", "pyarrow", "pydantic", "pygments", "requests",
    "scipy", "snakemake", "threadpoolctl"
)  # fmt: skip
PACKAGE_NAMES = {"pynvml": "nvidia-ml-py", "vl_convert": "vl-convert-python", "yaml": "pyyaml"}
CORE = {name: name for name in PACKAGES} | PACKAGE_NAMES  # module: package; the dependencies of pyproject.toml
PARSED = ("pydantic", "yaml")  # what the rules need to be read: Snakemake brings both


def is_installed(module: str) -> bool:
    """Return True if Python finds a module of that name; the module is not imported."""
    return importlib.util.find_spec(module) is not None


def missing_packages(is_available: Callable[[str], bool] = is_installed, needed: Iterable[str] = CORE) -> list[str]:
    """Return the pip names of the packages of those `needed` modules that this Python lacks."""
    return [CORE[module] for module in needed if not is_available(module)]


def share_library() -> None:
    """Put this library first on PYTHONPATH, so that Python processes started from here import the same one."""
    root = str(Path(__file__).parent.parent)
    entries = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([root, *entries]))


def require_packages(
    home: Path | None,
    needed: Iterable[str] = CORE,
    is_available: Callable[[str], bool] = is_installed,
    optimised: int = sys.flags.optimize,
) -> None:
    """Raise UserError with the pip command to type if Python modules that the program needs (`needed`) are missing, or
    if Python drops docstrings (-OO). `home`: the checkout's folder, whose lock file the command names, or None;
    `is_available`: finds a module by name; `optimised`: Python's level of -O.
    """
    if optimised > 1:
        raise UserError(f"Python runs with PYTHONOPTIMIZE={optimised}; expected at most 1: altair reads its docstrings")
    missing = missing_packages(is_available, needed)
    if missing:
        lock = "" if home is None else f"-r '{home / 'envs' / 'core.lock'}'"
        raise UserError(
            f"{sys.executable}: Sweetspot finds no {', '.join(missing)} there; install what it needs: "
            f"{sys.executable} -m pip install {lock or ' '.join(missing)}"
        )
