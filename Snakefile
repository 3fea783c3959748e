"""Benchmark matrix -> throughput -> scaling -> costs -> comparison -> report, for one study."""

from snakemake.utils import min_version

min_version("9.19")


include: "rules/common.smk"
include: "rules/benchmark.smk"
include: "rules/throughput.smk"
include: "rules/scaling.smk"
include: "rules/cost.smk"
include: "rules/compare.smk"
include: "rules/report.smk"


localrules:
    all,
    collect_throughput,
    list_left_out,
    fit_scaling,
    extrapolate,
    price_workloads,
    compare,
    draw_speed,
    draw_figures,
    draw_png,
    draw_speed_png,
    write_tables,
    render_report,
    print_report,
    throughput,
    scaling,
    costs,
    comparison,
    report,


rule all:
    default_target: True
    input:
        rules.report.input,
