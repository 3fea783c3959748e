"""Benchmark matrix -> throughput -> scaling -> costs -> comparison -> report, for one study."""

from snakemake.utils import min_version

min_version("9.19")


report: "rules/captions/workflow.rst"


include: "rules/process.smk"
include: "rules/common.smk"
include: "rules/benchmark.smk"
include: "rules/throughput.smk"
include: "rules/scaling.smk"
include: "rules/cost.smk"
include: "rules/compare.smk"
include: "rules/claims.smk"
include: "rules/report.smk"


# Every file by name: of one that only its consumers ask for, Snakemake does not notice that it is gone.
rule all:
    """All that the study makes, the page last; what is missing of it is made again."""
    default_target: True
    input:
        MISSING_RUNS,
        rules.collect_throughput.output,
        rules.list_left_out.output,
        rules.fit_scaling.output,
        rules.extrapolate.output,
        collect(
            f"{RESULTS}/{{table}}/{{price_list}}.parquet",
            table=rules.price_workloads.output.keys(),
            price_list=PRICE_LISTS,
        ),
        rules.compare.output,
        rules.check_claims.output,
        rules.report.input,
    localrule: True
