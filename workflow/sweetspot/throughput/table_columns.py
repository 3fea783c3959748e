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
    "round",
    "rounds_behind",
    "peak_memory_gib",
    "peak_memory_source",
    "joules_per_sample",
    "energy_source",
    "left_out_share",
    "disturbed_reason",
    "products",
)
# What only a measurement tells; null of figures of any other basis.
MEASURED_NUMBERS = ("peak_memory_gib", "joules_per_sample", "left_out_share")
MEASURED_TEXTS = ("peak_memory_source", "energy_source", "disturbed_reason", "products")
