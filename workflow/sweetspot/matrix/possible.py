"""Cells that cannot be measured, or would not be what their name says, refused while the plan is read.

The harness refuses the same on the node, where a run is started by hand. A framework that is not installed is no
mistake of the plan: its cells are recorded as failed, and the others are measured.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

from sweetspot.cells import Cell
from sweetspot.errors import Faults, refuse
from sweetspot.study.frameworks import FRAMEWORKS, NCCL, VARIANTS, has_network, known_networks
from sweetspot.study.instances import Instance
from sweetspot.study.memory import is_before_ampere
from sweetspot.study.scripts import AXES, Script
from sweetspot.study.scripts import FRAMEWORK as COMMAND

LEAVE_OUT = "or an entry of 'exclude'"


def require_possible(cells: Sequence[Cell], instances: dict[str, Instance], xla: bool, file: Path) -> None:
    """Raises UserError for the cells that no run can measure.

    A network that is unknown, or that the framework does not build here; a precision that it or the device does not
    compute in; more devices than the instance or its node has (logical ones of a processor are
    allowed); a variant that the framework, the device or XLA does not allow.
    """
    faults = Faults()
    for cell in {cell[:3] + cell[4:]: cell for cell in cells}.values():  # not the batch
        measured = instances[cell.instance]
        found = chain(
            _network(cell), _devices(cell, measured), _variant(cell, measured, xla), _precision(cell, measured)
        )
        faults.sentences += (f"{file}: {sentence}" for sentence in islice(found, 1))
    refuse(dict.fromkeys(faults.sentences))  # cells of several networks have one mistake


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
        for axis in AXES:
            values = list(dict.fromkeys(str(getattr(cell, axis)) for cell in own))
            several = len(values) > 1 or (axis == "gpus" and values not in ([], ["1"]))
            if several and axis not in script.told():
                faults.add(
                    f"{file}: matrix.{axis} is {', '.join(values)} for the script {name}, whose command does not hold "
                    f"{{{axis}}}; expected it there (config/commands/{name}.yaml), one value, {LEAVE_OUT}"
                )
                break
    for cell in {(cell.instance, cell.gpus): cell for cell in cells}.values():
        found = islice(_devices(cell, instances[cell.instance]), 1)
        faults.sentences += (f"{file}: {sentence}" for sentence in found)
    refuse(faults.sentences)


# Each gives sentences on one cell, the first of which is told.


def _network(cell: Cell) -> Iterator[str]:
    if cell.framework == COMMAND or has_network(cell.framework, cell.model):
        return
    others = [name for name in FRAMEWORKS if name != COMMAND and has_network(name, cell.model)]
    if others:
        found = f"the matrix holds model {cell.model!r} with framework {cell.framework}, which has no such network"
        yield f"{found}; expected framework {others[0]}, {LEAVE_OUT}"
    else:
        yield f"matrix.model holds {cell.model!r}; expected {known_networks(cell.framework, cell.model)}"


def _precision(cell: Cell, instance: Instance) -> Iterator[str]:
    assert instance.measure is not None  # measure_on names only such
    precisions, device = FRAMEWORKS[cell.framework].precisions, instance.measure.device
    found, here = f"the matrix holds precision {cell.precision}", f"on {cell.instance}"
    if cell.precision not in precisions:
        expected = f"expected one of them, or a script of one's own (framework command), {LEAVE_OUT}"
        yield f"{found} with framework {cell.framework}, which trains here in {', '.join(precisions)}; {expected}"
    if cell.precision in ("tf32", "bf16") and device == "gpu" and is_before_ampere(instance.gpu):
        why = f"has none (NVIDIA's cards from Ampere on have): expected fp32 or fp16, {LEAVE_OUT}"
        yield f"{found} {here}, whose {instance.gpu} {why}"
    if cell.precision == "tf32" and device == "cpu":
        yield f"{found} {here}, a processor; TF32 is a number of GPUs: expected fp32, {LEAVE_OUT}"


def _devices(cell: Cell, instance: Instance) -> Iterator[str]:
    assert instance.measure is not None
    per_node = instance.measure.gpus_per_node
    found = f"the matrix holds {cell.instance} with gpus {cell.gpus}"
    if per_node is None and instance.measure.device == "gpu" and cell.gpus > instance.gpus:
        yield f"{found}, and the instance has {instance.gpus}; expected at most that, {LEAVE_OUT}"
    if per_node is not None and cell.gpus > per_node:
        yield f"{found}, more than its gpus_per_node {per_node}; a run is made on one node, {LEAVE_OUT}"


def _variant(cell: Cell, instance: Instance, xla: bool) -> Iterator[str]:
    assert instance.measure is not None
    ability = FRAMEWORKS[cell.framework]
    found = f"the matrix holds {cell.instance} with variant {cell.variant!r}"
    if cell.variant not in VARIANTS:
        yield f"{found}; expected one of {', '.join(VARIANTS)}"
    if cell.variant not in ability.variants:
        only = ", ".join(ability.variants)
        yield f"{found} and framework {cell.framework}, which is measured with {only} only, {LEAVE_OUT}"
    if cell.variant == NCCL and instance.measure.device == "cpu":
        yield f"{found}, which is NCCL between GPUs; on a processor expected default, A or C, {LEAVE_OUT}"
    mirrored = cell.framework == "tensorflow" and cell.variant == "default" and cell.gpus > 1
    if xla and (mirrored or cell.variant not in ability.variants_with_xla):
        yield (
            f"measure.xla is true, and the matrix holds {cell.instance} with framework {cell.framework}, variant "
            f"{cell.variant!r}, gpus {cell.gpus}; XLA compiles variant default of one device "
            f"with tensorflow only; expected xla: false, {LEAVE_OUT}"
        )
