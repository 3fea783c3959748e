"""Cells that cannot be measured, or would not be what their name says, refused while the plan is read.

The harness refuses the same where a run is started by hand. A framework that is not installed is no mistake of the
plan: its cells are recorded as failed, and the others are measured.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sweetspot.cells import Cell
from sweetspot.errors import refuse
from sweetspot.frameworks import FRAMEWORKS, NCCL, expected_networks, has_network
from sweetspot.study.instances import Instance
from sweetspot.study.memory import is_before_ampere
from sweetspot.study.scripts import AXES, Script


def require_possible(cells: Sequence[Cell], instances: Mapping[str, Instance], xla: bool, file: Path) -> None:
    """Refuse cells that no run can measure.

    Parameters
    ----------
    cells
        The matrix.
    instances
        Its machines, by name.
    xla
        Whether steps are compiled by XLA.
    file
        The configuration, for the sentences.

    Raises
    ------
    UserError
        For a network, precision or variant that the framework or the device does not have, and for more devices than
        the instance or its node has (logical devices of a processor are allowed).
    """
    faults = []
    for cell in {cell._replace(batch_size=1): None for cell in cells}:
        instance = instances[cell.instance]
        faults += [*_cell_faults(cell, instance, xla), *_device_faults(cell, instance)][:1]
    refuse(f"{file}: {fault}; expected another, or an entry of 'exclude'" for fault in dict.fromkeys(faults))


def require_script_arguments(
    cells: Sequence[Cell],
    instances: Mapping[str, Instance],
    scripts: Mapping[str, Script],
    file: Path,
) -> None:
    """Refuse scripts whose command lacks what the matrix varies, and devices that an instance does not have.

    Without {gpus}, a cell of several devices would be filed under a number that the script never received.

    Parameters
    ----------
    cells
        The cells of scripts.
    instances
        Their machines, by name.
    scripts
        The scripts, by name.
    file
        The configuration, for the sentences.

    Raises
    ------
    UserError
        With one sentence for each script.
    """
    faults = []
    for name, script in scripts.items():
        for axis in AXES:
            values = list(dict.fromkeys(str(getattr(cell, axis)) for cell in cells if cell.model == name))
            is_varied = len(values) > 1 or (axis == "gpus" and values not in ([], ["1"]))
            if is_varied and axis not in script.axes():
                faults.append(
                    f"matrix.{axis} is {', '.join(values)} for the script {name}, whose command "
                    f"(config/commands/{name}.yaml) does not hold {{{axis}}}; expected it there, or one value"
                )
    for cell in {(cell.instance, cell.gpus): cell for cell in cells}.values():
        faults += _device_faults(cell, instances[cell.instance])
    refuse(f"{file}: {fault}" for fault in faults)


def _cell_faults(cell: Cell, instance: Instance, xla: bool) -> Iterator[str]:
    """Yield what the framework or the device does not have."""
    assert instance.measure is not None  # as measure_on requires
    framework, device = FRAMEWORKS[cell.framework], instance.measure.device
    if not has_network(cell.framework, cell.model):
        alternatives = "".join(f" (framework {name} has it)" for name in FRAMEWORKS if has_network(name, cell.model))
        networks = expected_networks(cell.framework, cell.model)
        yield f"matrix.model holds {cell.model!r}{alternatives}; framework {cell.framework} has {networks}"
    if cell.variant not in framework.variants:
        variants = ", ".join(framework.variants)
        yield f"the matrix holds variant {cell.variant!r} with framework {cell.framework}, which has {variants}"
    if cell.variant == NCCL and device == "cpu":
        yield f"the matrix holds variant {NCCL!r} on {cell.instance}, which is NCCL between GPUs, and this a processor"
    is_mirrored = cell.framework == "tensorflow" and cell.gpus > 1
    if xla and (is_mirrored or cell.variant not in framework.variants_with_xla):
        yield (
            f"measure.xla is true, and the matrix holds framework {cell.framework}, variant {cell.variant!r}, "
            f"gpus {cell.gpus}; XLA compiles variant default of one device with tensorflow only"
        )
    precision = f"the matrix holds precision {cell.precision}"
    if cell.precision not in framework.precisions:
        yield f"{precision} with framework {cell.framework}, which has {', '.join(framework.precisions)}"
    if cell.precision in ("tf32", "bf16") and device == "gpu" and is_before_ampere(instance.gpu):
        yield f"{precision} on {cell.instance}, whose {instance.gpu} has none (NVIDIA's cards from Ampere on have)"
    if cell.precision == "tf32" and device == "cpu":
        yield f"{precision} on {cell.instance}, a processor; TF32 is a number of GPUs"


def _device_faults(cell: Cell, instance: Instance) -> Iterator[str]:
    """Yield that an instance or its node has fewer devices; parts of a processor are allowed."""
    assert instance.measure is not None
    maximum = instance.measure.gpus_per_node or (instance.gpus if instance.measure.device == "gpu" else cell.gpus)
    if cell.gpus > maximum:
        yield f"the matrix holds {cell.instance} with gpus {cell.gpus}; a run is made on one node, which has {maximum}"
