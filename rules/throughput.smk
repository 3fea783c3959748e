"""What each machine delivers: measured here or published."""

from sweetspot.facts.shipped_tables import pool_files
from sweetspot.study.study import log_files
from sweetspot.study.open_models import cell_work

PUBLISHED = [
    str(file)
    for file in (
        Path(CONFIG) / name
        for name in ("throughput.csv", "efficiency.csv", "time_to_target.csv")
    )
    if file.is_file()
]
LOGS = log_files(INVOCATION.study.logs, CONFIG)
BY_TOKENS = any(map(cell_work, INVOCATION.study.cells.model))


rule collect_throughput:
    """Gather run files and published figures into one row a cell."""
    input:
        runs=RUNS,
        instances=given(INSTANCE_FILES),
        published=given(PUBLISHED),
        logs=given(LOGS),
        pools=given(beside(*pool_files(INVOCATION.study.transfer))),
        by_tokens=given(
            beside(figures_file("tokens-2026", STUDIES)) if BY_TOKENS else []
        ),
    output:
        f"{RESULTS}/throughput.parquet",
    log:
        f"results/logs/collect_throughput/{STUDY}.log",
    localrule: True
    params:
        formula=formula(
            "study",
            "harness",
            "throughput",
            "transfer",
            *["tokens"][:BY_TOKENS],
            *(["logs"] if INVOCATION.study.logs else []),
        ),
        # Not study.yaml itself: an edit of its title or its method leaves throughput as it is.
        question=INVOCATION.study.cells.model_dump(mode="json"),
        as_of=INVOCATION.study.as_of.isoformat(),
        logs=[source.model_dump(mode="json") for source in INVOCATION.study.logs],
        content=contents(*PUBLISHED, *LOGS, *INSTANCE_FILES),
    run:
        here("collect_throughput", input, output, log, params)


rule list_left_out:
    """Which runs the budget leaves out; an empty table where it leaves none."""
    output:
        f"{RESULTS}/left_out.parquet",
    log:
        f"results/logs/list_left_out/{STUDY}.log",
    localrule: True
    params:
        formula=formula("study", "harness", "matrix"),
        # No estimates: they change with every run made, and the list would be made anew each time.
        runs=skipped_rows(SELECTION),
        budget=BUDGET if SELECTION.skipped else "",
    run:
        here("list_left_out", input, output, log, params)


rule throughput:
    """Stop after measuring: one row a cell."""
    input:
        f"{RESULTS}/throughput.parquet",
    localrule: True
