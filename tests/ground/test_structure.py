"""The house keeps its order: rooms import only what comes before them, and rules watch what decides their tables."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from project_copy import ROOT

LIBRARY = ROOT / "workflow" / "sweetspot"
SCRIPTS = ROOT / "workflow" / "scripts"
# docs/architecture.md: the order of the flow. The ground lies under all rooms; catalogues read what other people wrote.
ROOMS = (
    "facts", "ground", "study", "catalogues", "matrix", "logs", "harness", "throughput", "transfer", "tokens",
    "scaling", "bills", "availability", "mixes", "decision", "claims", "report", "use", "commands"
)  # fmt: skip
MODULES = {file: ".".join(file.relative_to(LIBRARY).with_suffix("").parts) for file in LIBRARY.rglob("*.py")}


def room(module: str) -> str:
    first, _, _ = module.partition(".")
    return first if (LIBRARY / first).is_dir() else "ground"


@cache
def imports(file: Path) -> frozenset[Path]:
    """Library files that `file` imports, at its top or within a function; not those for the type checker alone."""
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    found: set[Path] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sweetspot":
            base = LIBRARY.joinpath(*node.module.split(".")[1:])
            found |= {base.with_suffix(".py"), base / "__init__.py", *(base / f"{name.name}.py" for name in node.names)}
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "sweetspot":
                    found.add(LIBRARY.joinpath(*name.name.split(".")[1:]).with_suffix(".py"))
    return frozenset(path for path in found if path.is_file())


def reached(file: Path) -> set[Path]:
    """Every library file that `file` can come to import."""
    seen, waiting = set(), [file]
    while waiting:
        for other in imports(waiting.pop()) - seen:
            seen.add(other)
            waiting.append(other)
    return seen


def test_every_module_stands_in_a_room_of_the_design_and_rules_are_found():
    assert {room(name) for name in MODULES.values()} == set(ROOMS)
    assert {"collect_throughput", "price_workloads", "compare"} <= {name for name, *_ in scripted_rules()}  # below


def test_a_room_imports_only_rooms_before_it():
    against = [
        f"{name} imports {MODULES[other]}"
        for file, name in MODULES.items()
        for other in imports(file)
        if ROOMS.index(room(MODULES[other])) > ROOMS.index(room(name)) and name != "__main__"
    ]
    assert against == []


def test_the_library_knows_nothing_of_snakemake_and_its_rules_nothing_of_research():
    rules = [*SCRIPTS.glob("*.py"), *(ROOT / "rules").glob("*.smk")]
    for name, files in (("snakemake", MODULES), ("research", [*MODULES, *rules])):
        found = [file for file in files if re.search(rf"^\s*(import|from) {name}\b", file.read_text(), re.M)]
        assert found == [], name


def test_no_two_modules_import_each_other():
    circles = [name for file, name in MODULES.items() if file in reached(file)]
    assert circles == []


UNWATCHED = {"__init__", "packages", "steps"}  # nothing in them changes a figure or a word


def scripted_rules() -> list[tuple[str, Path, str]]:
    """Name, script and text of every rule that makes a table or a page by a script."""
    found = []
    for file in sorted((ROOT / "rules").glob("*.smk")):
        for name, text in re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", file.read_text(), re.M):
            script = re.search(r'here\("(\w+)"', text)
            if script:  # run_benchmark has none: its protocol number says when a run is measured again
                found.append((name, SCRIPTS / f"{script[1]}.py", text))
    return found


@pytest.mark.parametrize(("name", "script", "text"), scripted_rules(), ids=[rule[0] for rule in scripted_rules()])
def test_a_rule_watches_every_module_that_its_script_can_reach(name, script, text):
    rooms = {"ground", "facts", *re.findall(r'"(\w+)"', "".join(re.findall(r"formula\(([^)]*)\)", text)))}
    found = {MODULES[file] for file in reached(script)}
    unwatched = {module for module in found if room(module) not in rooms}
    assert unwatched == set(), f"rule {name}: add the room to its formula"
    # Of the ground, `formula` names the modules: some for every rule, some where decisions are made or told.
    common = (ROOT / "rules" / "common.smk").read_text()
    *every, more = (set(re.findall(r'"(\w+)\.py"', each)) for each in re.findall(r"ground \+?= \[([^]]*)\]", common))
    every = set().union(*every)
    watched = every | (more if rooms & {"decision", "report"} else set()) | UNWATCHED
    assert {module for module in found if room(module) == "ground"} <= watched, f"rule {name}: its ground"
    # A file that is moved or copied here may be older than the tables: its checksum is a param of the rule.
    files = re.search(r"CONFIG|INSTANCE_FILES|PUBLISHED|LOGS|BORROWED|CLAIMS|SCENARIO_FILES|ANEW", text)
    assert files is None or re.search(r"content=(lambda wildcards: )?contents\(", text), name
