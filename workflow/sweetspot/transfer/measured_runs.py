"""A measured figure of one device from run files of this project."""

import math
from collections.abc import Sequence

from sweetspot.cells import CELL_COLUMNS, USABLE
from sweetspot.errors import UserError
from sweetspot.throughput.measured import measured_table
from sweetspot.transfer.specifications import Devices
from sweetspot.transfer.transferring import UNSTEADY, Measured
from sweetspot.warnings import warning

REACH_95 = 1.96  # sd that a 95 % interval reaches either side


def from_run_files(files: Sequence[str], devices: Devices) -> Measured:
    """The figure of runs of one cell. An unsteady one has a warning and a wider spread.

    Raises UserError: no run file, a run that failed, of several or of logical devices, of a processor, of two cells.
    """
    cells = measured_table(files, {})
    if len(cells) != 1:
        raise UserError(
            f"{files[0]}: the run files are of {len(cells)} cells ({', '.join(CELL_COLUMNS)}); expected one"
        )
    cell = cells.iloc[0]
    if cell["status"] not in USABLE:
        raise UserError(f"{files[0]}: the run has the status {cell['status']!r} and no figure; expected one that ran")
    if cell["gpus"] != 1 or cell["logical"]:
        what = "logical devices" if cell["logical"] else "devices"
        raise UserError(f"{files[0]}: a figure of {cell['gpus']} {what}; expected one of a single device")
    spread = math.log(cell["images_per_s_high"] / cell["images_per_s"]) / REACH_95 if cell["runs"] > 1 else 0.0
    told = [warning("unstable", "the measured figure is not steady")] if cell["status"] == "unstable" else []
    return Measured(
        devices.get(str(cell["gpu"])),
        float(cell["images_per_s"]),
        str(cell["model"]),
        str(cell["precision"]),
        str(cell["framework"]),
        float(cell["batch_size"]),
        str(cell["unit"]),
        max(spread, UNSTEADY) if told else spread,
        tuple(told),
    )
