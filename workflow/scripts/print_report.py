"""Print results/<study>/report/index.html as PDF."""

from pathlib import Path

from sweetspot.report.finished import print_pdf

if "snakemake" in globals():
    print_pdf(Path(snakemake.input.html), Path(snakemake.output.pdf))
