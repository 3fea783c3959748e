"""Print results/<study>/report/index.html as PDF."""

from pathlib import Path

from sweetspot.errors import exit_on_user_error
from sweetspot.report.paper import print_pdf

if "snakemake" in globals():
    with exit_on_user_error():
        print_pdf(Path(snakemake.input.html), Path(snakemake.output.pdf))
