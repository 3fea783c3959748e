"""What each machine delivers: measured here or published."""


rule collect_throughput:
    """Gather run files and published figures into one row a cell."""
    input:
        runs=RUNS,
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
    params:
        # Not study.yaml itself: an edit of its title or its method leaves throughput as it is.
        question=PLAN.study.cells.model_dump(mode="json"),
        as_of=PLAN.study.as_of.isoformat(),
        folder=CONFIG,
    script:
        "../workflow/scripts/collect_throughput.py"


rule throughput:
    """Stop after measuring: one row a cell."""
    input:
        f"{RESULTS}/throughput.parquet",
