"""What the study's text claims, recomputed from its tables."""

CLAIMS = Path(CONFIG, "claims.yaml")


rule check_claims:
    """Recompute every claim of the study's text and say whether it holds."""
    input:
        options=f"{RESULTS}/comparison/options.parquet",
        offers=collect(
            f"{RESULTS}/offers/{{price_list}}.parquet", price_list=PRICE_LISTS
        ),
        costs=collect(f"{RESULTS}/costs/{{price_list}}.parquet", price_list=PRICE_LISTS),
        bills=collect(f"{RESULTS}/bills/{{price_list}}.parquet", price_list=PRICE_LISTS),
        throughput=f"{RESULTS}/throughput.parquet",
        extrapolation=f"{RESULTS}/extrapolation.parquet",
        efficiency=f"{RESULTS}/efficiency.parquet",
        claims=given([str(CLAIMS)] if CLAIMS.is_file() else []),
    output:
        claims=f"{RESULTS}/comparison/claims.parquet",
    log:
        f"results/logs/check_claims/{STUDY}.log",
    localrule: True
    params:
        formula=formula("study", "bills", "decision", "claims"),
        content=contents(CLAIMS),
    run:
        here("check_claims", input, output, log)


rule comparison:
    """Stop after the comparison and the claims."""
    input:
        rules.compare.output,
        rules.check_claims.output,
    localrule: True
