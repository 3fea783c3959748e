"""What the figures mean for the decision: break-even, ranks, probabilities, the study's claims."""

COMPARISON = [
    "break_even",
    "utilisation",
    "ranks",
    "pairs",
    "frontier",
    "surface",
    "tornado",
    "recommendation",
    "headline",
    "claims",
    "warnings",
]


rule compare:
    """Set the options beside each other, with intervals, probabilities and the claims of the text."""
    input:
        costs=collect(f"{RESULTS}/costs/{{price_list}}.parquet", price_list=PRICE_LISTS),
        offers=collect(
            f"{RESULTS}/offers/{{price_list}}.parquet", price_list=PRICE_LISTS
        ),
        price_lint=collect(
            f"{RESULTS}/price_lint/{{price_list}}.parquet", price_list=PRICE_LISTS
        ),
        plans=collect(f"{RESULTS}/plans/{{price_list}}.parquet", price_list=PRICE_LISTS),
        bills=collect(f"{RESULTS}/bills/{{price_list}}.parquet", price_list=PRICE_LISTS),
        throughput=f"{RESULTS}/throughput.parquet",
        extrapolation=f"{RESULTS}/extrapolation.parquet",
        efficiency=f"{RESULTS}/efficiency.parquet",
        left_out=f"{RESULTS}/left_out.parquet",
        study=f"{CONFIG}/study.yaml",
        text=[
            file
            for file in (f"{CONFIG}/claims.yaml", f"{CONFIG}/workloads.yaml")
            if Path(file).is_file()
        ],
        formula=formula("decision", "claims"),
    output:
        collect(f"{RESULTS}/comparison/{{table}}.parquet", table=COMPARISON),
    script:
        "../workflow/scripts/compare.py"


rule comparison:
    """Stop after the comparison."""
    input:
        rules.compare.output,
