"""Cells that cannot be measured, or would not be what their name says, refused while the plan is read.

The harness refuses the same where a run is started by hand. A framework that is not installed is no mistake of the
plan: its cells are recorded as failed, and the others are measured.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from sweetspot.cells import Cell
from sweetspot.errors import Faults, refuse
from sweetspot.study.frameworks import FRAMEWORKS, NCCL, VARIANTS, has_network, known_networks
from sweetspot.study.instances import Instance
from sweetspot.study.memory import is_before_ampere
from sweetspot.study.scripts import AXES, Script
from sweetspot.study.scripts import FRAMEWORK as COMMAND

LEAVE_OUT = "or an entry of 'exclude'"


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
    sentences = []
    for cell in {cell._replace(batch_size=1): cell for cell in cells}.values():
        instance = instances[cell.instance]
        faults = chain(
            _network_faults(cell),
            _device_faults(cell, instance),
            _variant_faults(cell, instance, xla),
            _precision_faults(cell, instance),
        )
        sentences += [f"{file}: {fault}" for fault in (next(faults, None),) if fault]
    refuse(dict.fromkeys(sentences))  # several networks may share a mistake


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
    faults = Faults()
    for name, script in scripts.items():
        for axis in AXES:
            values = list(dict.fromkeys(str(getattr(cell, axis)) for cell in cells if cell.model == name))
            is_varied = len(values) > 1 or (axis == "gpus" and values not in ([], ["1"]))
            if is_varied and axis not in script.told():
                faults.add(
                    f"{file}: matrix.{axis} is {', '.join(values)} for the script {name}, whose command does not hold "
                    f"{{{axis}}}; expected it there (config/commands/{name}.yaml), one value, {LEAVE_OUT}"
                )
                break
    for cell in {(cell.instance, cell.gpus): cell for cell in cells}.values():
        for fault in _device_faults(cell, instances[cell.instance]):
            faults.add(f"{file}: {fault}")
    refuse(faults.sentences)


def _network_faults(cell: Cell) -> Iterator[str]:
    if cell.framework == COMMAND or has_network(cell.framework, cell.model):
        return
    frameworks = [name for name in FRAMEWORKS if name != COMMAND and has_network(name, cell.model)]
    if frameworks:
        yield (
            f"the matrix holds model {cell.model!r} with framework {cell.framework}, which has no such network; "
            f"expected framework {frameworks[0]}, {LEAVE_OUT}"
        )
    else:
        yield f"matrix.model holds {cell.model!r}; expected {known_networks(cell.framework, cell.model)}"


def _precision_faults(cell: Cell, instance: Instance) -> Iterator[str]:
    assert instance.measure is not None  # as measure_on requires
    precisions, device = FRAMEWORKS[cell.framework].precisions, instance.measure.device
    entry = f"the matrix holds precision {cell.precision}"
    if cell.precision not in precisions:
        yield (
            f"{entry} with framework {cell.framework}, which trains here in {', '.join(precisions)}; expected one of "
            f"them, or a script of one's own (framework command), {LEAVE_OUT}"
        )
    if cell.precision in ("tf32", "bf16") and device == "gpu" and is_before_ampere(instance.gpu):
        yield (
            f"{entry} on {cell.instance}, whose {instance.gpu} has none (NVIDIA's cards from Ampere on have): expected "
            f"fp32 or fp16, {LEAVE_OUT}"
        )
    if cell.precision == "tf32" and device == "cpu":
        yield f"{entry} on {cell.instance}, a processor; TF32 is a number of GPUs: expected fp32, {LEAVE_OUT}"


def _device_faults(cell: Cell, instance: Instance) -> Iterator[str]:
    assert instance.measure is not None
    per_node = instance.measure.gpus_per_node
    entry = f"the matrix holds {cell.instance} with gpus {cell.gpus}"
    if per_node is not None and cell.gpus > per_node:
        yield f"{entry}, more than its gpus_per_node {per_node}; a run is made on one node, {LEAVE_OUT}"
    elif per_node is None and instance.measure.device == "gpu" and cell.gpus > instance.gpus:
        yield f"{entry}, and the instance has {instance.gpus}; expected at most that, {LEAVE_OUT}"


def _variant_faults(cell: Cell, instance: Instance, xla: bool) -> Iterator[str]:
    assert instance.measure is not None
    framework = FRAMEWORKS[cell.framework]
    entry = f"the matrix holds {cell.instance} with variant {cell.variant!r}"
    if cell.variant not in VARIANTS:
        yield f"{entry}; expected one of {', '.join(VARIANTS)}"
    if cell.variant not in framework.variants:
        variants = ", ".join(framework.variants)
        yield f"{entry} and framework {cell.framework}, which is measured with {variants} only, {LEAVE_OUT}"
    if cell.variant == NCCL and instance.measure.device == "cpu":
        yield f"{entry}, which is NCCL between GPUs; on a processor expected default, A or C, {LEAVE_OUT}"
    is_mirrored = cell.framework == "tensorflow" and cell.variant == "default" and cell.gpus > 1
    if xla and (is_mirrored or cell.variant not in framework.variants_with_xla):
        yield (
            f"measure.xla is true, and the matrix holds {cell.instance} with framework {cell.framework}, variant "
            f"{cell.variant!r}, gpus {cell.gpus}; XLA compiles variant default of one device "
            f"with tensorflow only; expected xla: false, {LEAVE_OUT}"
        )
