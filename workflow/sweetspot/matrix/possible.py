"""Cells that cannot be measured, or would not be what their name says, are refused while the plan is read, and by the
harness where a run is started by hand. A framework that is not installed is no mistake of the plan: its cells fail.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sweetspot.cells import Cell
from sweetspot.errors import refuse
from sweetspot.frameworks import FRAMEWORKS, NCCL, expected_networks, has_network
from sweetspot.study.instances import Instance, is_before_ampere
from sweetspot.study.scripts import AXES, FRAMEWORK, Script


def require_possible(cells: Sequence[Cell], instances: Mapping[str, Instance], xla: bool, file: Path) -> None:
    """Raise UserError before anything runs if a cell (benchmark setup) of the matrix cannot be measured: its network,
    precision, variant or devices do not exist. Logical devices of a processor are allowed in any number.

    Parameters
    ----------
    cells, instances, xla, file
        Cells of the matrix; machines by name; whether XLA compiles the steps; config.yaml, for messages.
    """
    faults = []
    for cell in dict.fromkeys(cell._replace(batch_size=1) for cell in cells):
        instance = instances[cell.instance]
        measure = instance.measure
        if measure is None:
            faults.append(f"{file}: measure_on names {cell.instance!r}, which says nowhere how to measure it")
            continue
        fault = next(cell_faults(cell, measure.device, instance.gpu, xla), None)
        maximum = measure.gpus_per_node or (instance.gpus if measure.device == "gpu" else cell.gpus)
        if not fault and cell.gpus > maximum:
            fault = f"gpus {cell.gpus}; a run is made on one node, which has {maximum}"
        if fault:
            faults.append(f"{file}: the matrix holds, on {cell.instance}, {fault}")
    refuse(f"{fault}; expected another, or an entry of 'exclude'" for fault in dict.fromkeys(faults))


def cell_faults(cell: Cell, device: str, gpu: str, xla: bool) -> Iterator[str]:
    """Yield why a cell cannot be measured, a clause of an error message for each thing that its framework or device
    lacks. The plan refuses such cells, the harness such runs.

    Parameters
    ----------
    cell, device, gpu, xla
        A cell of a known framework; the device's kind, `cpu` or `gpu`, and its name; whether XLA compiles the step.
    """
    framework = FRAMEWORKS[cell.framework]
    if cell.framework == FRAMEWORK:
        return  # a script of one's own decides for itself
    if not has_network(cell.framework, cell.model):
        networks = expected_networks(cell.framework, cell.model)
        yield f"model {cell.model!r}; framework {cell.framework} has {networks}"
    for axis, abilities in (("variant", framework.variants), ("precision", framework.precisions)):
        value = getattr(cell, axis)
        if value not in abilities:
            yield f"{axis} {value!r} with framework {cell.framework}, which has {', '.join(abilities)}"
    if cell.variant == NCCL and device == "cpu":
        yield f"variant {NCCL!r}, which is NCCL between GPUs, on a processor"
    is_mirrored = cell.framework == "tensorflow" and cell.gpus > 1
    if xla and (is_mirrored or cell.variant not in framework.variants_with_xla):
        yield (
            f"measure.xla true, framework {cell.framework}, variant {cell.variant!r}, gpus {cell.gpus}; XLA compiles "
            "variant default of one device with tensorflow only"
        )
    if cell.precision == "tf32" and device == "cpu":
        yield "precision tf32 on a processor"
    if cell.precision in ("tf32", "bf16") and device == "gpu" and is_before_ampere(gpu):
        yield f"precision {cell.precision}, which {gpu} has not"


def require_script_arguments(cells: Sequence[Cell], scripts: Mapping[str, Script], file: Path) -> None:
    """Raise UserError if the matrix varies an axis, such as `gpus`, that a user's script is not given: without {gpus}
    in its command, a run of several devices would be filed under a number that the script never received.

    Parameters
    ----------
    cells, scripts, file
        The cells of scripts; the scripts by name (their model); the configuration's file, for error messages.
    """
    faults = []
    for name, script in scripts.items():
        for axis in AXES:
            values = list(dict.fromkeys(str(getattr(cell, axis)) for cell in cells if cell.model == name))
            is_varied = len(values) > 1 or (axis == "gpus" and values not in ([], ["1"]))
            if is_varied and axis not in script.axes():
                faults.append(
                    f"{file}: matrix.{axis} is {', '.join(values)} for the script {name}, whose command "
                    f"(config/commands/{name}.yaml) does not hold {{{axis}}}; expected it there, or one value"
                )
    refuse(faults)
