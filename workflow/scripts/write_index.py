"""Write results/index.html over all studies that were made here."""

from pathlib import Path

from sweetspot.report.finished import write_index

if "snakemake" in globals():
    page = Path(snakemake.output.html)
    write_index(page.parent, page)
