"""The only rule that touches a device."""


rule run_benchmark:
    """Train one cell for a few steps and keep every step's time; holds its devices for minutes."""
    output:
        kept(f"results/benchmarks/{RUN_PATTERN}.parquet"),
    log:
        f"results/logs/run_benchmark/{RUN_PATTERN}.log",
    priority: JOBS.priority() if BUDGET else 0
    conda:
        f"../envs/{JOBS.environment()}.yaml"
    threads: JOBS.threads()
    resources:
        **JOBS.resources(),
        timing_slot=1,
    params:
        place=JOBS.location,
        protocol=JOBS.protocol,
        device=JOBS.device(),
    shell:
        RUN_BENCHMARK
        + " --instance {wildcards.instance} --framework {wildcards.framework} --model {wildcards.model}"
        " --batch-size {wildcards.batch_size} --gpus {wildcards.gpus} --precision {wildcards.precision}"
        " --variant {wildcards.variant} --run {wildcards.run} {params.protocol} {params.device} {params.place}"
        + f" --asked {NOTES}"
        + " --output {output:q} 2>&1"
        ' | if test -n "${{SWEETSPOT_QUIET:-}}"; then cat > {log:q}; else tee {log:q}; fi'
