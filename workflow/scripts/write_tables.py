"""Write every table of a study beside its page."""

from pathlib import Path

from sweetspot.report.tables import write_tables

if "snakemake" in globals():
    files = {name: files for name, files in snakemake.input.items() if name != "formula"}
    write_tables(files, Path(snakemake.output.tables))
