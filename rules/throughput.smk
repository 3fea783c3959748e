"""What each machine delivers: measured here or published."""


rule collect_throughput:
    """Gather run files and published figures into one row a cell."""
    input:
        runs=RUNS,
        study=f"{CONFIG}/study.yaml",
        instances=INSTANCE_FILES,
        published=[
            str(file)
            for file in (
                Path(CONFIG) / name for name in ("throughput.csv", "efficiency.csv")
            )
            if file.is_file()
        ],
        formula=formula(
            "throughput/collect", "throughput/gather", "throughput/published"
        ),
    output:
        f"{RESULTS}/throughput.parquet",
    script:
        "../workflow/scripts/collect_throughput.py"


rule throughput:
    """Stop after measuring: one row a cell."""
    input:
        f"{RESULTS}/throughput.parquet",
