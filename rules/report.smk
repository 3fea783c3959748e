"""The page a person reads, its charts and tables."""

# Figures by the category that they stand under in Snakemake's own report.
SPEED_FIGURES = dict.fromkeys(
    ["throughput", "efficiency", "extrapolation", "validation"], "Speed"
)
PRICE_FIGURES = {
    "images_per_usd": "Costs",
    "time_cost": "Costs",
    "bill": "Costs",
    "utilisation": "Decision",
    "cash_flow": "Decision",
    "tornado": "Decision",
    "surface": "Decision",
}

REPORT = f"{RESULTS}/report"
SPEED_TABLES = [
    f"{RESULTS}/{table}.parquet"
    for table in ("throughput", "efficiency", "extrapolation")
]
SCALING_TABLES = [rules.fit_scaling.output, rules.extrapolate.output]
PAGE = sorted(
    str(file)
    for file in Path(LIBRARY, "report").rglob("*")
    if file.suffix in {".py", ".j2", ".css", ".js"}
)


rule draw_speed:
    """Draw the figures that no price can change, so that a price edit need not."""
    input:
        speed=SPEED_TABLES,
        scaling=SCALING_TABLES,
        study=f"{CONFIG}/study.yaml",
        page=[
            file
            for file in PAGE
            if Path(file).stem in {"charts_speed", "draw", "marks", "tables"}
        ],
    output:
        figures=[
            report(
                f"{REPORT}/figures/{figure}.svg",
                caption=f"captions/{figure}.rst",
                category=category,
                labels={"figure": figure.replace("_", " ")},
            )
            for figure, category in SPEED_FIGURES.items()
        ],
        png=collect(f"{REPORT}/figures/{{figure}}.png", figure=SPEED_FIGURES),
    script:
        "../workflow/scripts/draw_speed.py"


rule render_report:
    """Write the page, its other charts as SVG and PNG, its tables as CSV and Parquet, and a summary in Markdown."""
    input:
        speed=SPEED_TABLES,
        scaling=SCALING_TABLES,
        costs=collect(f"{RESULTS}/costs/{{price_list}}.parquet", price_list=PRICE_LISTS),
        offers=collect(
            f"{RESULTS}/offers/{{price_list}}.parquet", price_list=PRICE_LISTS
        ),
        bills=collect(f"{RESULTS}/bills/{{price_list}}.parquet", price_list=PRICE_LISTS),
        cash_flow=collect(
            f"{RESULTS}/cash_flow/{{price_list}}.parquet", price_list=PRICE_LISTS
        ),
        price_lint=collect(
            f"{RESULTS}/price_lint/{{price_list}}.parquet", price_list=PRICE_LISTS
        ),
        comparison=[rules.compare.output, rules.check_claims.output],
        study=f"{CONFIG}/study.yaml",
        drawn=rules.draw_speed.output.figures,
        page=PAGE,
    output:
        html=report(
            f"{REPORT}/index.html",
            caption="captions/page.rst",
            category="Answer",
        ),
        summary=f"{REPORT}/summary.md",
        figures=[
            report(
                f"{REPORT}/figures/{figure}.svg",
                caption=f"captions/{figure}.rst",
                category=category,
                labels={"figure": figure.replace("_", " ")},
            )
            for figure, category in PRICE_FIGURES.items()
        ],
        png=collect(f"{REPORT}/figures/{{figure}}.png", figure=PRICE_FIGURES),
        tables=directory(f"{REPORT}/tables"),
    script:
        "../workflow/scripts/render_report.py"


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
