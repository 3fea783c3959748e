"""One module a framework with the same functions, found by its name; no room inside the harness goes in a circle."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from sweetspot.errors import UserError
from sweetspot.harness.backends import Backend, backend
from sweetspot.study.base import Framework
from sweetspot.study.frameworks import FRAMEWORKS

ROOT = Path(__file__).parent.parent.parent
HARNESS = ROOT / "workflow" / "sweetspot" / "harness"
FUNCTIONS = [name for name, value in vars(Backend).items() if isinstance(value, staticmethod)]


def test_the_configuration_takes_the_frameworks_that_can_be_measured():
    assert get_args(Framework) == tuple(FRAMEWORKS)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_of_the_matrix_has_a_module_with_every_function_of_a_backend(framework):
    assert FUNCTIONS == ["launch", "prepare", "devices", "facts", "place", "build_step", "rates"]
    module = backend(framework)
    assert module.__name__.rpartition(".")[2] == framework.replace("-", "_")
    assert module.INSTALL
    for name in FUNCTIONS:
        asked = list(inspect.signature(getattr(Backend, name)).parameters)
        offered = inspect.signature(getattr(module, name)).parameters
        assert list(offered)[: len(asked)] == asked, name
        assert all(value.default is not value.empty for value in list(offered.values())[len(asked) :]), name


def test_choosing_a_backend_imports_no_framework_and_an_unknown_one_is_refused():
    code = (
        "import sys; from sweetspot.harness.backends import FRAMEWORKS, backend; "
        "[backend(name) for name in FRAMEWORKS]; "
        "print(*{'keras', 'tensorflow', 'jax', 'torch'}.intersection(sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    with pytest.raises(UserError, match="--framework is 'cntk'; expected one of tensorflow, jax, torch"):
        backend("cntk")


def imported(file: Path) -> set[str]:
    """Modules of the harness that a file names in an import, those inside functions included."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sweetspot.harness"):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inner if name in MODULES} or {node.module}
    return found


MODULES = {
    ".".join(("sweetspot", "harness", *file.relative_to(HARNESS).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in HARNESS.rglob("*.py")
}


def test_no_two_modules_of_the_harness_import_each_other_by_any_way_round():
    edges = {name: imported(file) - {name} for name, file in MODULES.items()}
    assert "sweetspot.harness.backends.keras_training" in edges["sweetspot.harness.backends.keras_jax"]
    while edges:
        leaves = {name for name, others in edges.items() if not others & edges.keys()}
        assert leaves, f"in a circle: {sorted(edges)}"
        edges = {name: others for name, others in edges.items() if name not in leaves}
