"""How throughput grows with the number of devices, and what a machine nobody has measured will deliver."""

BORROWED = beside(*(figures_file(name, STUDIES) for name in INVOCATION.study.borrow))


rule fit_scaling:
    """Scaling efficiencies of the study, the averages that the 2018 rule is, and the evidence for the other methods."""
    input:
        throughput=f"{RESULTS}/throughput.parquet",
        table=given(
            [file for file in (f"{CONFIG}/efficiency.csv",) if Path(file).is_file()]
        ),
        borrowed=given(BORROWED),
        instances=given(INSTANCE_FILES),
    output:
        efficiency=f"{RESULTS}/efficiency.parquet",
        averages=f"{RESULTS}/scaling/averages.parquet",
        evidence=f"{RESULTS}/scaling/evidence.parquet",
    log:
        f"results/logs/fit_scaling/{STUDY}.log",
    localrule: True
    params:
        formula=formula("study", "throughput", "transfer", "scaling"),
        framework=INVOCATION.study.cells.framework,
        content=contents(f"{CONFIG}/efficiency.csv", *BORROWED, *INSTANCE_FILES),
    run:
        here("fit_scaling", input, output, log, params)


rule extrapolate:
    """Fit and validate the methods, and estimate the machines nobody has measured."""
    input:
        throughput=f"{RESULTS}/throughput.parquet",
        efficiency=f"{RESULTS}/efficiency.parquet",
        averages=f"{RESULTS}/scaling/averages.parquet",
        evidence=f"{RESULTS}/scaling/evidence.parquet",
        times=given(
            beside(
                *(
                    figures_file(study, STUDIES, "time_to_target.csv")
                    for study in (STUDY, "scaling-2026")
                    if Path(f"{CONFIG}/time_to_target.csv").is_file()
                )
            )
        ),
        instances=given(INSTANCE_FILES),
    output:
        extrapolation=f"{RESULTS}/extrapolation.parquet",
        validation=f"{RESULTS}/scaling/validation.parquet",
    log:
        f"results/logs/extrapolate/{STUDY}.log",
    localrule: True
    params:
        formula=formula("study", "throughput", "transfer", "scaling"),
        targets=[target.model_dump(mode="json") for target in INVOCATION.study.targets],
        question=INVOCATION.study.cells.model_dump(mode="json"),
        method=INVOCATION.study.method,
        content=contents(f"{CONFIG}/time_to_target.csv", *INSTANCE_FILES),
    run:
        here("extrapolate", input, output, log, params)


rule scaling:
    """Stop after the extrapolation."""
    input:
        f"{RESULTS}/efficiency.parquet",
        f"{RESULTS}/extrapolation.parquet",
    localrule: True
