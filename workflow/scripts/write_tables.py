"""Write every table of a study beside its page; of a plan of months also its bill to come."""

from pathlib import Path

from sweetspot.report.tables import write_tables
from sweetspot.use.plan_months import write_focus

if "snakemake" in globals():
    folder, params = Path(snakemake.output.tables), snakemake.params
    write_tables({name: files for name, files in snakemake.input.items() if name != "formula"}, folder)
    write_focus(folder, params.study, params.title, params.as_of)
