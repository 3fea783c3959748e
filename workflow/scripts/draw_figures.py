"""Specify the figures of a study, as rules draw_speed and draw_figures ask."""

from sweetspot.report.draw import draw_figures

if "snakemake" in globals():
    draw_figures(
        tables={name: files for name, files in snakemake.input.items() if name != "study"},
        study_file=snakemake.input.study,
        specs=snakemake.output.specs,
        captions=snakemake.output.captions,
        machines=snakemake.params.machines,
        engine=snakemake.output.get("engine"),
    )
