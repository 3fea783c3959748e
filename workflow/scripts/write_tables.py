"""Write every table of a study beside its page."""

from pathlib import Path

from sweetspot.report.tables import write_tables

if "snakemake" in globals():
    write_tables(dict(snakemake.input.items()), Path(snakemake.output.tables))
