"""The page a person reads, its charts and tables."""

FIGURES = {
    "images_per_usd": "Costs",
    "time_cost": "Costs",
    "bill": "Costs",
    "utilisation": "Decision",
    "cash_flow": "Decision",
    "tornado": "Decision",
    "throughput": "Speed",
    "efficiency": "Speed",
    "extrapolation": "Speed",
    "validation": "Speed",
}

REPORT = f"{RESULTS}/report"


rule render_report:
    """Write the page, its charts as SVG and PNG, its tables as CSV and Parquet, and a summary in Markdown."""
    input:
        throughput=f"{RESULTS}/throughput.parquet",
        efficiency=f"{RESULTS}/efficiency.parquet",
        extrapolation=f"{RESULTS}/extrapolation.parquet",
        scaling=[rules.fit_scaling.output, rules.extrapolate.output],
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
        comparison=rules.compare.output,
        study=f"{CONFIG}/study.yaml",
        page=sorted(
            str(file)
            for file in Path(LIBRARY, "report").rglob("*")
            if file.suffix in {".py", ".j2", ".css", ".js"}
        ),
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
            for figure, category in FIGURES.items()
        ],
        png=collect(f"{REPORT}/figures/{{figure}}.png", figure=FIGURES),
        tables=directory(f"{REPORT}/tables"),
    script:
        "../workflow/scripts/render_report.py"


rule report:
    """Stop after the report; what the workflow makes by default."""
    input:
        rules.render_report.output.html,
