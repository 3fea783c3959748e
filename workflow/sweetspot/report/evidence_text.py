"""What the evidence page says beside its tables: picks rows; the sentences are macros of templates/text.j2."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.energy import ESTIMATED, GRAMS_A_KG, METERED
from sweetspot.bills.price_paths import central_change
from sweetspot.claims.verdicts import CONTRADICTED, DIFFERS, FAILED, HOLDS, NOT_PRINTED, UNKNOWN
from sweetspot.decision.decision_problem import SPEED
from sweetspot.report.notation import Row, interval_text, missing, records, text
from sweetspot.report.sentences import sentence, sentences
from sweetspot.report.tables import (
    Tables,
    asked_model,
    counted_in,
    judged_option,
    leading,
    of_jobs,
    of_plans,
    table_of,
    works,
)
from sweetspot.study.study import Study

MESSAGES_PER_WARNING = 400  # the table beside the page holds all
NAMES_PER_SENTENCE = 12
GAPS_PER_SENTENCE = 8
WAITS_PER_WORKLOAD = 3
# Kinds of warnings that decide most often, in words.
RULES = {
    "no_interval": "Speeds without an interval",
    "stand_in_batch": "Speeds of another batch stand in",
    "stand_in_precision": "Speeds of another precision stand in",
    "text_against_table": "Prices on which text and table of the source disagree",
    "no_peer_access": "Devices that cannot reach each other's memory",
    "stale_price": "Old prices",
    "expired": "Offers that have ended",
    "mixed_protocol": "Speeds measured here beside speeds of others",
    "unknown_memory_need": "Unknown need of memory",
    "unknown_gpu_memory": "Unknown memory of devices",
    "rounds_apart": "Published times of different MLPerf rounds",
    "note": "Notes of the sources on their figures",
    "stand_in_years": "Speeds of other years stand in",
    "stand_in_framework": "Speeds of another framework stand in",
    "stand_in_device": "Speeds of another device stand in",
    "against_published": "Predictions beside published figures",
    "specified_only": "Devices known by their data sheet only",
    "marketplace": "Machines of a marketplace",
}
EXCLUSION_REASONS = {"no_price": "without a price", "no_figure": "without a speed"}
POWER_BASES = {
    "measured": "measured at the plug",
    METERED: "measured by the counters of devices and processor (without supplies and fans)",
    "declared": "that of the price list",
    ESTIMATED: "estimated (devices × W of the data sheet × host × utilisation)",
}


def claims_in_words(table: pd.DataFrame) -> tuple[str, str] | None:
    """How many claims have each verdict, and the failed one farthest off; None without claims."""
    if table.empty:
        return None
    counts = table["verdict"].value_counts()
    failures = {
        "contradicted by the source's own figures": counts.get(CONTRADICTED, 0),
        "different with stand-ins or other publications' figures": counts.get(DIFFERS, 0),
        "not to be checked": counts.get(UNKNOWN, 0),
    }
    printed = len(table) - counts.get(NOT_PRINTED, 0)
    tally = sentence("claims_tally", len(table), printed, counts.get(HOLDS, 0), failures)
    failed = records(table[table["verdict"].isin(FAILED)])
    return tally, sentence("farthest_claim", min(failed, key=_claim_order)) if failed else ""


def _claim_order(claim: Row) -> tuple[int, float]:
    """Sort key: claims that the source's own figures contradict first, then the largest ratio to the printed value."""
    printed, computed = (math.nan if missing(claim[name]) else claim[name] for name in ("printed", "computed"))
    distance = abs(math.log(computed / printed)) if printed * computed > 0 else 0.0
    return FAILED.index(claim["verdict"]), -distance


def lead(claims: pd.DataFrame) -> list[str]:
    """The claims that the study leads with, each as printed beside what is recomputed."""
    if "lead" not in claims.columns:
        return []
    return [sentence("leading_claim", row) for row in records(claims[claims["lead"].fillna(False).astype(bool)])]


def fits(tables: Tables) -> str:
    """What does not fit into memory, or what is tightest; empty where no workload states what it needs."""
    options = table_of(tables, "options")
    if "fits" not in options.columns or options["fits"].isna().all():
        return ""
    options = options[options["fits"].notna()]
    options = options.assign(work=options["workload"].replace(works(tables)))
    lacking = options[~options["fits"].astype(bool)].drop_duplicates(["title", "workload"])
    if lacking.empty:
        tightest = (options["memory_need_gib"] / options["gpu_memory_gib"]).idxmax()
        return sentence("memory_fits", options.loc[tightest])
    rows = records(lacking)
    return sentence("memory_lacks", rows[:NAMES_PER_SENTENCE], max(0, len(rows) - NAMES_PER_SENTENCE))


def beside(ranks: pd.DataFrame) -> str:
    """What the brackets behind an option mean, where the answer leaves their price lists out; else empty."""
    bracketed = ranks[ranks["title"].str.endswith("]")] if len(ranks) else ranks
    if bracketed.empty or bracketed["in_answer"].astype(bool).any():
        return ""
    return sentence("other_price_lists")


def has_interruptible(ranks: pd.DataFrame) -> bool:
    """Whether some option can be taken away while it works."""
    return not ranks.empty and not bool(ranks["persistent"].astype(bool).all())


def ahead(tables: Tables) -> str:
    """What the answer assumes of future rents and of resale; empty where every price stays and nothing is sold."""
    offers = table_of(tables, "offers")
    if offers.empty or table_of(tables, "verdict").empty or "trend" not in offers.columns:
        return ""
    trends = []
    for name, rows in offers.groupby("trend"):
        offer = rows.iloc[0]
        low, high = offer["trend_change_low"], offer["trend_change_high"]
        trends.append({"name": str(name), "change": central_change(offer), "low": low, "high": high})
    sold = offers[offers["residual_points"].map(lambda points: isinstance(points, list | np.ndarray))]
    resale = ""
    if len(sold):
        shares = 100 * sold["residual_usd"] / sold["capex_usd"]
        resale = f"{shares.min():.0f}{'' if len(sold) == 1 else f' to {shares.max():.0f}'} %"
    return sentence("months_ahead", trends, resale)


def price_changes_words(tables: Tables) -> list[str]:
    """How many prices and ranks changed, and both answers where they differ; none without history."""
    table = table_of(tables, "price_changes")
    if table.empty:
        return []
    (answer,) = records(table[table["what"] == "answer"])
    plans = [
        {**row, "said_before": text(row["said_before"]), "said_after": text(row["said_after"])}
        | {"percent": None if missing(row["change"]) else 100 * row["change"]}
        for row in records(table[table["what"] == "plan"])
    ]
    before, after = text(answer["said_before"]), text(answer["said_after"])
    plan_text = " ".join(f"{plan['said_before']} {plan['said_after']}" for plan in plans)
    return sentences(
        "price_changes",
        prices=int(table["what"].isin(["price", "new", "gone"]).sum()),
        ranks=int(table["what"].eq("rank").sum()),
        before=before,
        after=after,
        plans=plans,
        told_by_plans=before in plan_text and after in plan_text,
    )


def _name_group(names: Iterable[object], titles: Mapping[str, str], **label: str) -> dict[str, Any]:
    """The first machines by name, and how many more there are."""
    machines = [titles.get(str(name), str(name)) for name in names]
    hidden = max(0, len(machines) - NAMES_PER_SENTENCE)
    return {**label, "machines": machines[:NAMES_PER_SENTENCE], "more": hidden}


def without_speed(tables: Tables, machines: Mapping[str, str], model_title: Callable[[str], str]) -> str:
    """What is priced or requested and has no speed, for the top of the page; empty where everything has one.

    Parameters
    ----------
    tables
        The study's tables; `warnings` is read.
    machines
        Names for people by instance.
    model_title
        The name for people of a model.
    """
    table = table_of(tables, "warnings").reindex(columns=["rule", "instance", "model", "message"])
    for_any_model = table.loc[table["rule"] == "no_figure", "instance"].dropna()
    rows = table[(table["rule"] == "no_speed") & ~table["instance"].isin(for_any_model)]
    groups = [_name_group(for_any_model.unique(), machines, model="")] if len(for_any_model) else []
    for model, names in rows.dropna(subset=["instance"]).groupby("model", sort=False)["instance"]:
        groups.append(_name_group(names.unique(), machines, model=model_title(str(model))))
    return sentence("no_speed", groups, rows.loc[rows["instance"].isna(), "message"])


def with_machine_names(table: pd.DataFrame, machines: Mapping[str, str]) -> pd.DataFrame:
    """The warnings with the names for people of their machines."""
    if table.empty:
        return table
    return table.assign(instance=table["instance"].map(lambda name: machines.get(name, name)))


def decisive(table: pd.DataFrame) -> pd.DataFrame:
    """The warnings that could change the answer."""
    return table[table["decisive"].astype(bool)] if len(table) else table


def outside(table: pd.DataFrame) -> str:
    """Which machines take no part in the comparison, and what each lacks; empty where all do."""
    groups = []
    for rule, reason in EXCLUSION_REASONS.items() if len(table) else ():
        names = table.loc[table["rule"] == rule, "instance"].unique()
        if len(names):
            groups.append(_name_group(names, {}, reason=reason))
    return sentence("left_out", groups) if groups else ""


def warnings(table: pd.DataFrame) -> list[dict[str, object]]:
    """Warnings by rule: title, count, and each message with the machines that it concerns."""
    groups = []
    # A warning without a rule, or with an unknown one, is shown like any other.
    for (scope, rule), rows in table.groupby(["scope", "rule"], dropna=False) if len(table) else ():
        messages = [
            {"message": text(message), "where": ", ".join(same["instance"].dropna().astype(str).unique())}
            for message, same in rows.groupby("message", dropna=False)
        ]
        key = text(rule) or "unnamed"
        title = RULES.get(key) or ": ".join(filter(None, (text(scope), key.replace("_", " "))))
        visible, hidden = messages[:MESSAGES_PER_WARNING], len(messages[MESSAGES_PER_WARNING:])
        groups.append({"title": title, "count": len(rows), "messages": visible, "omitted": hidden})
    return groups


# What to find out first.


def worth_knowing(tables: Tables) -> list[str]:
    """What to find out first about the model of the answer."""
    rows, model = of_jobs(tables, "worth_knowing"), asked_model(tables)
    if rows.empty:
        return []
    several = table_of(tables, "ranks")["model"].nunique() > 1
    title = _model_title(tables, model) if several else ""
    return worth_in_words(rows[rows["model"] == model], counted_in(tables).money.code, title)


def _model_title(tables: Tables, model: str) -> str:
    options = table_of(tables, "options")
    titles = options.loc[options["model"] == model, "model_title"] if "model_title" in options.columns else ()
    return str(next(iter(titles), model))


def plan_worth_in_words(tables: Tables, code: str = "USD") -> list[str]:
    """What to find out first for the leading plan; none without a plan."""
    table, work = of_plans(tables, "worth_knowing"), leading_work(tables)
    if table.empty or work is None:
        return []
    return worth_in_words(table[table["workload"] == work], code)


def worth_in_words(rows: pd.DataFrame, code: str = "USD", model: str = "") -> list[str]:
    """What to find out first about one workload, a sentence each; none where nothing competes or is uncertain.

    A figure is named where its worth exceeds its Monte Carlo error (90 %) and what a timing costs.

    Parameters
    ----------
    rows
        The rows of `worth_knowing` of that workload.
    code
        Currency of the table's money.
    model
        Name of the model, where other models have answers of their own.
    """
    if rows.empty:
        return []
    net = rows["evppi_usd"] - rows["cost_to_learn_usd"].fillna(0.0)
    significant = rows["evppi_usd_low"] > 0
    worthwhile = rows.assign(net=net)[significant & (net > 0)].sort_values("net", ascending=False, kind="stable")
    if worthwhile.empty:
        return [sentence("nothing_to_learn", bool(significant.any()), model)]
    ranked = [_with_change(row) for row in records(worthwhile)]
    following = ranked[1:2] if ranked[0]["timed"] else [row for row in ranked if row["timed"]]
    if not (following or ranked[0]["timed"]):
        following = [row for row in ranked if row["quantity"] == SPEED]
    return sentences("worth_learning", ranked[0], next(iter(following), None), code)


def _with_change(row: Row) -> Row:
    """A row with whether it can be timed, and how far its turning point lies from its value, in per cent."""
    turns = not missing(row["turning_point"])
    change = 100 * (row["turning_point"] / row["value"] - 1) if turns else None
    return {**row, "timed": not missing(row["cost_to_learn_usd"]), "change_percent": change}


# Waits.


def waiting(tables: Tables) -> list[str]:
    """The wait for shared machines, works by their titles; none where no workload states how often it comes."""
    queue = table_of(tables, "queue")
    return waiting_in_words(queue.assign(workload=queue["workload"].replace(works(tables))) if len(queue) else queue)


def waiting_in_words(queue: pd.DataFrame) -> list[str]:
    """The wait for each workload and owned machine, the reference first, at most WAITS_PER_WORKLOAD a workload."""
    owned = queue[queue["held"].astype(bool)] if len(queue) else queue
    order = ["is_reference", "overloaded", "hours_to_result", "option"]
    lines = []
    for _, rows in owned.groupby(["workload", "model"], sort=False) if len(owned) else ():
        best = rows.sort_values(order, ascending=[False, True, True, True], kind="stable").head(WAITS_PER_WORKLOAD)
        lines += [sentence("waiting", {**row, "busy_percent": 100 * row["utilisation"]}) for row in records(best)]
    return lines


# Plans.


def leading_work(tables: Tables) -> str | None:
    """The workload of the leading plan; None without any."""
    choices, cost = table_of(tables, "choices"), leading(tables)
    return None if cost is None else str(choices.loc[choices["cost"] == cost, "workload"].iloc[0])


# Energy and carbon.


def energy(tables: Tables, study: Study) -> list[str]:
    """Energy and carbon, each with what it leaves out; none where there is nothing to say."""
    ranks, model = table_of(tables, "ranks"), asked_model(tables)
    if ranks.empty or not model or "kwh" not in ranks.columns:
        return []
    options = ranks.drop_duplicates("option")
    powered = options[options["kwh"].notna()]
    if powered.empty:
        return [] if study.energy is None else _energy_gaps(options, study)
    rows = ranks[ranks["model"] == model].drop_duplicates("option")
    each = counted_in(tables).each or f" to train {study.model_title(model)} once"
    least = _carbon_comparison(rows, judged_option(tables, model), counted_in(tables).each, each)
    if study.energy is None and not least:
        return []  # The only known power is that of a price list which the answer leaves out.
    counts = powered["power_basis"].value_counts()
    bases = [(label, int(counts[basis])) for basis, label in POWER_BASES.items() if basis in counts]
    power = sentence("power_bases", bases, ESTIMATED in counts)
    return [*least, power, *_energy_gaps(options, study), sentence("embodied_carbon")]


def _carbon_comparison(rows: pd.DataFrame, judged: str, each: str, once: str) -> list[str]:
    """Which option emits least, and what the cheapest emits; without carbon the energy of the judged machine."""
    rows = rows.assign(g_per_kwh=GRAMS_A_KG * rows["kg_co2e"].astype(float) / rows["kwh"])
    eligible = rows[rows["in_answer"].astype(bool) & rows["persistent"].astype(bool)]
    eligible = eligible.sort_values("usd", kind="stable")
    clean = eligible[eligible["kg_co2e"].notna()]
    if clean.empty:
        reference_rows = rows[rows["option"] == judged].dropna(subset="kwh")
        return [sentence("energy_use", row, once) for row in records(reference_rows)]
    best, cheapest = dict(clean.loc[clean["kg_co2e"].idxmin()]), eligible.iloc[0]
    best["interval"] = interval_text(best["kg_co2e_low"], best["kg_co2e_high"])
    overlap = best["kg_co2e_high"] > cheapest["kg_co2e_low"]
    return [sentence("least_carbon", best, cheapest, each, overlap)]


def _energy_gaps(options: pd.DataFrame, study: Study) -> list[str]:
    """For how many options energy or carbon is unknown, and what is not declared."""
    counts = int(options["kwh"].isna().sum()), int(options["kg_co2e"].isna().sum())
    if not any(counts):
        return []
    gaps: dict[str, None] = {}
    for lacking, provider in options[["energy_lacks", "provider"]].dropna().itertuples(index=False):
        for gap in str(lacking).split(", "):
            gaps[gap.replace(f" of {provider}", f" of {study.provider_title(str(provider))}")] = None
    hidden = max(0, len(gaps) - GAPS_PER_SENTENCE)
    return [sentence("energy_unknown", counts, len(options), list(gaps)[:GAPS_PER_SENTENCE], hidden)]
