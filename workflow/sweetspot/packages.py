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
CORE = {name: name for name in PACKAGES} | {
    "pynvml": "nvidia-ml-py",
    "vl_convert": "vl-convert-python",
    "yaml": "pyyaml",
}
"""What every study needs: module and the package that brings it; the dependencies of pyproject.toml."""
PARSED = ("pydantic", "yaml")
"""What the rules need to be read: Snakemake brings both, so that plans, lint and graphs need nothing else."""


def is_installed(module: str) -> bool:
    """Whether Python finds a module of that name, without importing it."""
    return importlib.util.find_spec(module) is not None


def missing_packages(is_available: Callable[[str], bool] = is_installed, needed: Iterable[str] = CORE) -> list[str]:
    """Packages of the core that this Python lacks, of the modules `needed`."""
    return [CORE[module] for module in needed if not is_available(module)]


def share_library() -> None:
    """Let Python processes that this one starts find the same library, installed or not."""
    root = str(Path(__file__).parent.parent)
    entries = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([root, *entries]))


def require_packages(
    home: Path | None,
    needed: Iterable[str] = CORE,
    is_available: Callable[[str], bool] = is_installed,
    optimised: int = sys.flags.optimize,
) -> None:
    """Raises UserError with the command that installs what is missing, and where Python drops texts that are needed.

    `home` is the checkout, if there is one.
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
