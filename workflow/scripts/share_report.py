"""Write results/<study>/report/<study>.html: the page and its evidence in one file."""

from pathlib import Path

from sweetspot.report.finished import write_shared

if "snakemake" in globals():
    write_shared(Path(snakemake.input.html), Path(snakemake.input.evidence), Path(snakemake.output.html))
