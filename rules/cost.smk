"""What each cell costs: the only rule that reads prices, one job a price list."""


rule price_workloads:
    """Price every workload on every cell under one price list; seconds."""
    input:
        throughput=f"{RESULTS}/throughput.parquet",
        extrapolation=f"{RESULTS}/extrapolation.parquet",
        prices=given(f"{CONFIG}/prices/{{price_list}}.yaml"),
        workloads=given(f"{CONFIG}/workloads.yaml"),
        instances=given(INSTANCE_FILES),
    output:
        costs=f"{RESULTS}/costs/{{price_list}}.parquet",
        offers=f"{RESULTS}/offers/{{price_list}}.parquet",
        fees=f"{RESULTS}/fees/{{price_list}}.parquet",
        bills=f"{RESULTS}/bills/{{price_list}}.parquet",
        plans=f"{RESULTS}/plans/{{price_list}}.parquet",
        price_lint=f"{RESULTS}/price_lint/{{price_list}}.parquet",
    log:
        f"results/logs/price_workloads/{STUDY}/{{price_list}}.log",
    localrule: True
    params:
        formula=formula("study", "throughput", "transfer", "bills"),
        # Of the wildcards alone: Snakemake passes over changes of a param that it derives from inputs.
        content=lambda wildcards: contents(
            f"{CONFIG}/prices/{wildcards.price_list}.yaml",
            f"{CONFIG}/workloads.yaml",
            *INSTANCE_FILES,
        ),
        # Not study.yaml itself: an edit of its title leaves costs as they are.
        month_days=INVOCATION.study.month_days,
        as_of=INVOCATION.study.as_of.isoformat(),
        energy=INVOCATION.study.energy
        and INVOCATION.study.energy.model_dump(mode="json"),
        price_paths=INVOCATION.study.price_paths,
    run:
        here("price_workloads", input, output, log, params, wildcards)


rule costs:
    """Stop after pricing: all price lists of the study."""
    input:
        collect(f"{RESULTS}/costs/{{price_list}}.parquet", price_list=PRICE_LISTS),
    localrule: True
