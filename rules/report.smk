"""The page a person reads."""

PAGE_TABLES = {
    **{
        name: f"{RESULTS}/{name}.parquet"
        for name in ("throughput", "efficiency", "extrapolation")
    },
    **{name: f"{RESULTS}/comparison/{name}.parquet" for name in COMPARISON},
    **{
        name: [f"{RESULTS}/{name}/{price_list}.parquet" for price_list in PRICE_LISTS]
        for name in ("costs", "offers", "bills", "cash_flow")
    },
}


rule render_report:
    """Render the page with its figures and tables; seconds."""
    input:
        **PAGE_TABLES,
        study=f"{CONFIG}/study.yaml",
        formula=formula("report/page", "report/charts"),
        templates=[
            f"{LIBRARY}/report/templates/{name}"
            for name in ("page.html.j2", "page.css")
        ],
    output:
        page=f"{RESULTS}/report/index.html",
        summary=f"{RESULTS}/report/summary.md",
    params:
        tables=sorted(PAGE_TABLES),
    script:
        "../workflow/scripts/render_report.py"


rule report:
    """Everything up to the page."""
    input:
        rules.render_report.output,
