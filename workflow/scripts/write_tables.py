"""Write every table of a study beside its page."""

from pathlib import Path

from sweetspot.report.tables import write_tables

if "snakemake" in globals():
    write_tables(
        {name: files for name, files in snakemake.input.items() if name != "formula"}, Path(snakemake.output.tables)
    )
