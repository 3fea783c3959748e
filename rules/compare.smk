"""What the figures mean for the decision: the options, break-even, ranks, probabilities."""

from dataclasses import asdict

from sweetspot.study.settings import Settings

COMPARISON = [
    "options",
    "break_even",
    "ranks",
    # What each question hangs on, what turns it, what to find out: one job by model, and plans.
    "tornado",
    "turning_points",
    "worth_knowing",
    # The verdict, and what one could do, by work.
    "choices",
    "verdict",
    "queue",
    "warnings",
    # Of workloads of kind monthly: what to have and what to rent, and who does what.
    "sources",
    "deadlines",
    # What each kind of commitment costs along the controls of the page.
    "sweeps",
]


STOCK = f"{CONFIG}/availability.yaml"


rule compare:
    """Set the options beside each other, with intervals and probabilities."""
    input:
        costs=collect(f"{RESULTS}/costs/{{price_list}}.parquet", price_list=PRICE_LISTS),
        offers=collect(
            f"{RESULTS}/offers/{{price_list}}.parquet", price_list=PRICE_LISTS
        ),
        price_lint=collect(
            f"{RESULTS}/price_lint/{{price_list}}.parquet", price_list=PRICE_LISTS
        ),
        plans=collect(f"{RESULTS}/plans/{{price_list}}.parquet", price_list=PRICE_LISTS),
        throughput=f"{RESULTS}/throughput.parquet",
        extrapolation=f"{RESULTS}/extrapolation.parquet",
        efficiency=f"{RESULTS}/efficiency.parquet",
        left_out=f"{RESULTS}/left_out.parquet",
        workloads=given(f"{CONFIG}/workloads.yaml"),
        # What a team knows of stock and failures; the library's own lies in facts/.
        stock=given([STOCK] if Path(STOCK).is_file() else []),
    output:
        collect(f"{RESULTS}/comparison/{{table}}.parquet", table=COMPARISON),
    log:
        f"results/logs/compare/{STUDY}.log",
    localrule: True
    params:
        formula=formula(
            "study",
            "throughput",
            "bills",
            "availability",
            "mixes",
            "decision",
        ),
        # Not study.yaml itself: an edit of its title leaves the comparison as it is.
        settings=asdict(Settings.of(INVOCATION.study, INVOCATION.instances)),
        as_of=INVOCATION.study.as_of.isoformat(),
        content=contents(f"{CONFIG}/workloads.yaml", STOCK),
    run:
        here("compare", input, output, log, params)


# The newest of the days whose price lists are kept (`sweetspot refresh-prices`); none for most studies.
KEPT_DAYS = history_days(Path(CONFIG, "prices"))
try:
    THEN = (
        lists_at(Path(CONFIG, "prices"), PRICE_LISTS, KEPT_DAYS[-1])
        if KEPT_DAYS
        else {}
    )
except UserError as error:
    raise WorkflowError(str(error)) from None


# What a comparison anew needs beside price lists and work: nothing that a price changes.
ANEW = {
    "throughput": f"{RESULTS}/throughput.parquet",
    "extrapolation": f"{RESULTS}/extrapolation.parquet",
    "efficiency": f"{RESULTS}/efficiency.parquet",
    "left_out": f"{RESULTS}/left_out.parquet",
    "verdict": f"{RESULTS}/comparison/verdict.parquet",
    "choices": f"{RESULTS}/comparison/choices.parquet",
    "workloads": given(f"{CONFIG}/workloads.yaml"),
    "instances": given(INSTANCE_FILES),
    "stock": rules.compare.input.stock,
}
ANEW_FILES = [f"{CONFIG}/workloads.yaml", STOCK, *INSTANCE_FILES]
PRICING = {
    "settings": asdict(Settings.of(INVOCATION.study, INVOCATION.instances)),
    "month_days": INVOCATION.study.month_days,
    "as_of": INVOCATION.study.as_of.isoformat(),
    "price_paths": INVOCATION.study.price_paths,
    "energy": INVOCATION.study.energy
    and INVOCATION.study.energy.model_dump(mode="json"),
}


rule compare_then:
    """Which prices moved since the lists were last refreshed, and what it did to the answer; only with history."""
    input:
        **ANEW,
        then=given([str(file) for file in THEN.values()]),
        ranks=f"{RESULTS}/comparison/ranks.parquet",
        offers=rules.compare.input.offers,
    output:
        f"{RESULTS}/comparison/price_changes.parquet",
    log:
        f"results/logs/compare_then/{STUDY}.log",
    localrule: True
    params:
        **PRICING,
        formula=formula(
            "study",
            "throughput",
            "transfer",
            "bills",
            "availability",
            "mixes",
            "decision",
            "report",
        ),
        lists=list(THEN),
        content=contents(*ANEW_FILES, *THEN.values()),
    run:
        here("compare_then", input, output, log, params)


SCENARIO_FILES = sorted(str(file) for file in Path(CONFIG, "scenarios").glob("*.yaml"))


rule compare_scenarios:
    """Decide anew under each file of scenarios/: what differs, and what it does to the answer."""
    input:
        **ANEW,
        scenarios=given(SCENARIO_FILES),
        prices=given(
            [f"{CONFIG}/prices/{price_list}.yaml" for price_list in PRICE_LISTS]
        ),
    output:
        table=f"{RESULTS}/comparison/scenarios.parquet",
        files=directory(f"{RESULTS}/scenarios"),
    log:
        f"results/logs/compare_scenarios/{STUDY}.log",
    localrule: True
    params:
        **PRICING,
        formula=formula(
            "study",
            "throughput",
            "transfer",
            "bills",
            "availability",
            "mixes",
            "decision",
            "report",
        ),
        lists=list(PRICE_LISTS),
        content=contents(
            *ANEW_FILES,
            *SCENARIO_FILES,
            *(f"{CONFIG}/prices/{price_list}.yaml" for price_list in PRICE_LISTS),
        ),
    run:
        here("compare_scenarios", input, output, log, params)


rule scenarios:
    """Stop after the scenarios of the study; none where it has no folder scenarios/."""
    input:
        rules.compare_scenarios.output if SCENARIO_FILES else rules.compare.output,
    localrule: True
