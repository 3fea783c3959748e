"""The page a person reads, its charts and tables."""

from sweetspot.report.charts import of_stage

REPORT = f"{RESULTS}/report"
SPEED = {
    "throughput": [f"{RESULTS}/throughput.parquet"],
    "scaling": [rules.fit_scaling.output, rules.extrapolate.output],
}
PRICED = {
    table: collect(f"{RESULTS}/{table}/{{price_list}}.parquet", price_list=PRICE_LISTS)
    for table in ("costs", "offers", "bills", "cash_flow", "price_lint")
} | {"comparison": rules.compare.output}


def figure(chart):
    """Its file, as Snakemake's own report shows it."""
    caption = f"{REPORT}/captions/{chart.name}.rst"
    marked = report(
        f"{REPORT}/figures/{chart.name}.svg",
        # Made with the figure, from the chart's own words.
        caption=os.path.abspath(caption),
        category=chart.category,
        labels={"figure": chart.name.replace("_", " ")},
    )
    return marked


def captions(stage: str) -> list[str]:
    """The captions of the figures of that stage."""
    return [f"{REPORT}/captions/{chart.name}.rst" for chart in of_stage(stage)]


rule draw_speed:
    """Draw the figures that no price can change, so that a price edit need not."""
    input:
        **SPEED,
        study=f"{CONFIG}/study.yaml",
        formula=formula("study", "report"),
    output:
        figures=[figure(chart) for chart in of_stage("speed")],
        captions=captions("speed"),
    run:
        here("draw_figures", input, output)


rule draw_figures:
    """Draw the figures of costs and of the decision."""
    input:
        **SPEED,
        **PRICED,
        study=f"{CONFIG}/study.yaml",
        formula=formula("study", "report"),
    output:
        figures=[figure(chart) for chart in of_stage("price")],
        captions=captions("price"),
    run:
        here("draw_figures", input, output)


rule draw_png:
    """Draw the figures of costs and of the decision as PNG; the page does not wait for them."""
    input:
        figures=rules.draw_figures.output.figures,
    output:
        [file.replace(".svg", ".png") for file in rules.draw_figures.output.figures],
    shell:
        "{PYTHON:q} {SCRIPTS:q}/draw_png.py {input.figures:q}"


use rule draw_png as draw_speed_png with:
    input:
        figures=rules.draw_speed.output.figures,
    output:
        [file.replace(".svg", ".png") for file in rules.draw_speed.output.figures],


rule write_tables:
    """Write every table as CSV and Parquet, for spreadsheets and programs."""
    input:
        **SPEED,
        **PRICED,
        formula=formula("report"),
    output:
        tables=directory(f"{REPORT}/tables"),
    run:
        here("write_tables", input, output)


rule render_report:
    """Write the page with its charts, and a summary in Markdown."""
    input:
        **SPEED,
        **PRICED,
        study=f"{CONFIG}/study.yaml",
        figures=[rules.draw_speed.output.figures, rules.draw_figures.output.figures],
        formula=[
            *formula("study", "decision", "report"),
            *sorted(map(str, Path(LIBRARY, "report", "assets").iterdir())),
        ],
    output:
        html=report(
            f"{REPORT}/index.html",
            caption="captions/page.rst",
            category="Answer",
        ),
        summary=f"{REPORT}/summary.md",
    run:
        here("render_report", input, output)


rule print_report:
    """Print the page as PDF; asked for by name only, because it needs Chromium."""
    input:
        html=rules.render_report.output.html,
    output:
        pdf=f"{REPORT}/index.pdf",
    script:
        "../workflow/scripts/print_report.py"


rule report:
    """Stop after the report; what the workflow makes by default."""
    input:
        rules.render_report.output.html,
        rules.write_tables.output,
        rules.draw_png.output,
        rules.draw_speed_png.output,
