"""Render results/<study>/report/index.html and what stands beside it from the tables and figures of a study."""

from pathlib import Path

from sweetspot.report.page import write_report
from sweetspot.report.tables import read_tables

OTHERS = ("study", "specs", "engine")  # inputs that are no tables

if "snakemake" in globals():
    write_report(
        tables=read_tables({name: files for name, files in snakemake.input.items() if name not in OTHERS}),
        study_file=snakemake.input.study,
        folder=Path(snakemake.output.html).parent,
        specs=snakemake.input.specs,
        machines=snakemake.params.machines,
        engine=snakemake.input.engine,
    )
