"""The columns of throughput.parquet; apart, so that who reads no run file needs no polars."""

from sweetspot.cells import CELL_COLUMNS

TABLE_COLUMNS = (
    *CELL_COLUMNS,
    "gpu",
    "nodes",
    "images_per_s",
    "images_per_s_low",
    "images_per_s_high",
    "runs",
    "basis",
    "status",
    "source",
    "unit",
    "warnings",
    "as_of",
    "logical",
    "xla",
    "stand_in_gpu",
    "stand_in_framework",
    "stand_in_batch_size",
    "stand_in_precision",
    "stand_in_years",
    "interval_df",
)
