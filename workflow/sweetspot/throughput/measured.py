"""Run files as rows of throughput.parquet; what reads them is loaded only where there are any."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from sweetspot.errors import UserError

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance


def measured_table(files: Sequence[str], instances: Mapping[str, "Instance"]) -> pd.DataFrame:
    """One row a cell, in TABLE_COLUMNS, of run files; `instances` tell how many nodes a cell took.

    Raises UserError for faulty files, and where polars is missing: a quarter of the core's size, and of no use to who
    measures nothing.
    """
    try:
        from sweetspot.throughput.collect import measured_cells, summarise_runs
    except ModuleNotFoundError as error:
        if error.name != "polars":
            raise
        raise UserError(
            f"{files[0]}: run files are read with polars, which is not installed; "
            "expected the packages of envs/measure.lock (pip install '.[measure]')"
        ) from None
    return measured_cells(summarise_runs(files), instances)
