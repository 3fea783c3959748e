"""Render the page of a study with its figures and tables."""

from pathlib import Path

import pandas as pd
from sweetspot.config import load_study
from sweetspot.errors import exit_on_user_error
from sweetspot.files import write_whole
from sweetspot.report.page import figures, plain_summary, render


def main(tables: dict[str, list[str]], study: str, output: str, png: bool = True) -> None:
    """Write results/<study>/report/: index.html, summary.md, figures/, tables/."""
    import vl_convert

    read = {name: pd.concat(map(pd.read_parquet, files), ignore_index=True) for name, files in tables.items() if files}
    question = load_study(Path(study).parent)
    folder = Path(output).parent
    drawings = {}
    for name, chart in figures(read, question).items():
        spec = chart.to_json(validate=False)
        drawings[name] = vl_convert.vegalite_to_svg(spec)
        with write_whole(folder / "figures" / f"{name}.svg") as temporary:
            temporary.write_text(drawings[name], encoding="utf-8")
        with write_whole(folder / "figures" / f"{name}.png") as temporary:
            temporary.write_bytes(vl_convert.svg_to_png(drawings[name], scale=1.5))
    for name, table in read.items():
        with write_whole(folder / "tables" / f"{name}.csv") as temporary:
            table.to_csv(temporary, index=False)
    with write_whole(folder / "summary.md") as temporary:
        temporary.write_text(plain_summary(read, question), encoding="utf-8")
    with write_whole(output) as temporary:
        temporary.write_text(render(read, question, drawings), encoding="utf-8")


if "snakemake" in globals():
    with exit_on_user_error():
        named = {name: snakemake.input.get(name) for name in snakemake.params.tables}
        main(
            tables={name: [files] if isinstance(files, str) else list(files) for name, files in named.items()},
            study=snakemake.input.study,
            output=snakemake.output.page,
        )
