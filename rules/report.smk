"""The page a person reads, its charts and tables."""

from sweetspot.report.charts import of_stage

MACHINES = {name: machine.title for name, machine in INVOCATION.instances.items()}
SPEED = {
    "throughput": [f"{RESULTS}/throughput.parquet"],
    "scaling": [rules.fit_scaling.output, rules.extrapolate.output],
}
PRICED = {
    table: collect(f"{RESULTS}/{table}/{{price_list}}.parquet", price_list=PRICE_LISTS)
    for table in ("costs", "offers", "bills", "price_lint")
} | {"comparison": rules.compare.output}
# No chart shows a claim: an edit of one draws nothing anew.
TOLD = {**SPEED, **PRICED, "claims": rules.check_claims.output}
if THEN:
    TOLD["then"] = rules.compare_then.output
if SCENARIO_FILES:
    TOLD["scenarios"] = [rules.compare_scenarios.output.table]


# In a process of its own: the JavaScript engine takes much memory.
DRAW_PICTURES = script_command("draw_pictures")


rule draw_speed:
    """Say how the figures look that no price can change, so that a price edit need not; and what draws them."""
    input:
        **SPEED,
        study=given(f"{CONFIG}/study.yaml"),
    output:
        specs=specs(of_stage("speed")),
        captions=captions(of_stage("speed")),
        engine=f"{REPORT}/figures/vega.txt",
    log:
        f"results/logs/draw_speed/{STUDY}.log",
    localrule: True
    params:
        formula=formula("study", "decision", "report"),
        machines=MACHINES,
        content=contents(f"{CONFIG}/study.yaml"),
    run:
        here("draw_figures", input, output, log, params)


rule draw_figures:
    """Say how the figures of costs and of the decision look; the page draws them."""
    input:
        **SPEED,
        **PRICED,
        study=given(f"{CONFIG}/study.yaml"),
    output:
        specs=specs(of_stage("price")),
        captions=captions(of_stage("price")),
    log:
        f"results/logs/draw_figures/{STUDY}.log",
    localrule: True
    params:
        formula=formula("study", "decision", "report"),
        machines=MACHINES,
        content=contents(f"{CONFIG}/study.yaml"),
    run:
        here("draw_figures", input, output, log, params)


rule draw_pictures:
    """Draw the figures of costs and of the decision as SVG and PNG; made when `figures` are asked for."""
    input:
        specs=rules.draw_figures.output.specs,
        captions=rules.draw_figures.output.captions,
    output:
        [picture(chart) for chart in of_stage("price")],
        [png(chart) for chart in of_stage("price")],
    log:
        f"results/logs/draw_pictures/{STUDY}.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    shell:
        f"{DRAW_PICTURES} {{input.specs:q}} 2> {{log:q}}"


use rule draw_pictures as draw_speed_pictures with:
    input:
        specs=rules.draw_speed.output.specs,
        captions=rules.draw_speed.output.captions,
    output:
        [picture(chart) for chart in of_stage("speed")],
        [png(chart) for chart in of_stage("speed")],
    log:
        f"results/logs/draw_speed_pictures/{STUDY}.log",


rule write_tables:
    """Write every table as CSV and Parquet, for spreadsheets and programs."""
    input:
        **TOLD,
    output:
        tables=directory(f"{REPORT}/tables"),
    log:
        f"results/logs/write_tables/{STUDY}.log",
    localrule: True
    params:
        formula=formula("study", "report"),
    run:
        here("write_tables", input, output, log, params)


rule render_report:
    """Write the page with its charts; the answer as Markdown, and for programs."""
    input:
        **TOLD,
        study=given(f"{CONFIG}/study.yaml"),
        specs=[rules.draw_speed.output.specs, rules.draw_figures.output.specs],
        engine=rules.draw_speed.output.engine,
    output:
        html=report(
            f"{REPORT}/index.html",
            caption="captions/page.rst",
            category="Answer",
        ),
        evidence=report(
            f"{REPORT}/evidence.html",
            caption="captions/evidence.rst",
            category="Answer",
        ),
        summary=f"{REPORT}/summary.md",
        answer=f"{REPORT}/answer.json",
    log:
        f"results/logs/render_report/{STUDY}.log",
    localrule: True
    params:
        formula=formula(
            "study",
            "throughput",
            "bills",
            "availability",
            "mixes",
            "decision",
            "claims",
            "report",
            others=("report/assets/*", "report/templates/*"),
        ),
        machines=MACHINES,
        content=contents(f"{CONFIG}/study.yaml"),
    run:
        here("render_report", input, output, log, params)


rule write_index:
    """Write the page over all studies made here; each study that is made writes it anew."""
    input:
        answer=rules.render_report.output.answer,
    output:
        html="results/index.html",
    log:
        f"results/logs/write_index/{STUDY}.log",
    localrule: True
    params:
        formula=formula("decision", "report"),
    run:
        here("write_index", input, output, log)


rule print_report:
    """Print the page as PDF; asked for by name only, because it needs Chromium."""
    input:
        html=rules.render_report.output.html,
    output:
        pdf=f"{REPORT}/index.pdf",
    log:
        f"results/logs/print_report/{STUDY}.log",
    localrule: True
    params:
        formula=formula("decision", "report"),
    run:
        here("print_report", input, output, log)


rule share_report:
    """Write the page and its evidence as one file to send; asked for by name only."""
    input:
        html=rules.render_report.output.html,
        evidence=rules.render_report.output.evidence,
    output:
        html=f"{REPORT}/{STUDY}.html",
    log:
        f"results/logs/share_report/{STUDY}.log",
    localrule: True
    params:
        formula=formula("decision", "report"),
    run:
        here("share_report", input, output, log)


# Of two studies in one workflow, both modules, neither could be asked for a page that both write.
INDEX = [] if workflow.modifier.parent_modifier else rules.write_index.output


rule report:
    """Stop after the report; what the workflow makes by default."""
    input:
        # All by name: of a file that only its consumers ask for, Snakemake does not notice that it is gone.
        rules.render_report.output,
        rules.write_tables.output,
        rules.draw_speed.output,
        rules.draw_figures.output,
        INDEX,
    localrule: True


rule figures:
    """Stop after the figures as pictures for slides, SVG and PNG; asked for by name only."""
    input:
        rules.draw_pictures.output,
        rules.draw_speed_pictures.output,
    localrule: True
