"""Cells of one's own scripts that would not be what their name says, refused while the plan is read."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sweetspot.cells import Cell
from sweetspot.errors import Faults, UserError, refuse
from sweetspot.study.instances import Instance
from sweetspot.study.scripts import AXES, Script

LEAVE_OUT = "or an entry of 'exclude'"


def require_told(
    cells: Sequence[Cell], instances: Mapping[str, Instance], scripts: Mapping[str, Script], file: Path
) -> None:
    """Raises UserError where a script does not learn what the matrix varies, or asks for devices that are not there.

    A cell of several devices whose command does not say {gpus} would be filed under a number that it never heard of; so
    would two cells that differ in what it is not told.
    """
    faults = Faults()
    for name, script in scripts.items():
        own = [cell for cell in cells if cell.model == name]
        with faults.gather():
            _varied(name, script, own, file)
    for cell in {(cell.instance, cell.gpus): cell for cell in cells}.values():
        with faults.gather():
            _there(cell, instances[cell.instance], file)
    refuse(faults.sentences)


def _varied(name: str, script: Script, own: Sequence[Cell], file: Path) -> None:
    for axis in AXES:
        values = list(dict.fromkeys(str(getattr(cell, axis)) for cell in own))
        several = len(values) > 1 or (axis == "gpus" and values not in ([], ["1"]))
        if several and axis not in script.told():
            raise UserError(
                f"{file}: matrix.{axis} is {', '.join(values)} for the script {name}, whose command does not hold "
                f"{{{axis}}}; expected it there (config/commands/{name}.yaml), one value, {LEAVE_OUT}"
            )


def _there(cell: Cell, instance: Instance, file: Path) -> None:
    assert instance.measure is not None  # measure_on names only such
    found = f"{file}: the matrix holds {cell.instance} with gpus {cell.gpus} and framework command"
    per_node = instance.measure.gpus_per_node
    if per_node is not None and cell.gpus > per_node:
        raise UserError(
            f"{found}, more than its gpus_per_node {per_node}; a script is started on one node, {LEAVE_OUT}"
        )
    if per_node is None and instance.measure.device == "gpu" and cell.gpus > instance.gpus:
        raise UserError(f"{found}, and the instance has {instance.gpus}; expected at most that, {LEAVE_OUT}")
