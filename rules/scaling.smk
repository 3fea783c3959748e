"""How throughput grows with the number of devices, and what a machine nobody has measured will deliver."""


rule fit_scaling:
    """Gather the study's scaling efficiencies, printed and measured, and their averages."""
    input:
        throughput=f"{RESULTS}/throughput.parquet",
        table=[file for file in (f"{CONFIG}/efficiency.csv",) if Path(file).is_file()],
        instances=INSTANCE_FILES,
        formula=formula("scaling/evidence"),
    output:
        efficiency=f"{RESULTS}/efficiency.parquet",
        averages=f"{RESULTS}/scaling/averages.parquet",
    params:
        folder=CONFIG,
    script:
        "../workflow/scripts/fit_scaling.py"


rule extrapolate:
    """Estimate the machines nobody has measured, by every method, with its interval."""
    input:
        throughput=f"{RESULTS}/throughput.parquet",
        efficiency=f"{RESULTS}/efficiency.parquet",
        averages=f"{RESULTS}/scaling/averages.parquet",
        formula=formula("scaling/mean_efficiency", "scaling/targets"),
    output:
        extrapolation=f"{RESULTS}/extrapolation.parquet",
    params:
        targets=[target.model_dump(mode="json") for target in PLAN.study.targets],
        question=PLAN.study.cells.model_dump(mode="json"),
    script:
        "../workflow/scripts/extrapolate.py"


rule scaling:
    """Stop after the extrapolation."""
    input:
        f"{RESULTS}/efficiency.parquet",
        f"{RESULTS}/extrapolation.parquet",
