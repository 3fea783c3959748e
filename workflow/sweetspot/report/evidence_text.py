"""What the evidence page says beside its tables: picks rows and numbers for the macros of templates/text.j2."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from sweetspot.bills.energy import GRAMS_A_KG
from sweetspot.bills.price_paths import central_change
from sweetspot.claims.verdicts import NOT_PRINTED
from sweetspot.decision.decision_problem import SPEED
from sweetspot.report.notation import records
from sweetspot.report.sentences import sentence, sentences
from sweetspot.report.tables import Tables, asked_model, counted_in, judged_option, leading, of_jobs, of_plans, table_of
from sweetspot.study.study import Study
from sweetspot.study.yamlfile import load_yaml

NAMES_PER_SENTENCE = 12
RULES: dict[str, str] = load_yaml(Path(__file__).parent / "templates" / "warning_titles.yaml")


def claims_in_words(tables: Tables) -> str:
    """Return a sentence on how many printed claims hold, are contradicted or cannot be checked, above their table. From
    the table `claims`; '' without any.
    """
    verdicts = table_of(tables, "claims", "verdict")["verdict"]
    counts = verdicts.value_counts().to_dict()
    printed = len(verdicts) - counts.get(NOT_PRINTED, 0)
    return sentence("claims_tally", len(verdicts), printed, counts) if counts else ""


def lead(claims: pd.DataFrame) -> list[str]:
    """Return a sentence for each claim (row of `claims`) marked `lead`: the printed and the recomputed number."""
    leading_claims = claims[claims["lead"].eq(True)] if "lead" in claims.columns else claims.head(0)
    return [sentence("leading_claim", claim) for claim in records(leading_claims)]


def ahead(tables: Tables) -> str:
    """Return a sentence on the changes of rents and the resale values that costs assume, for the evidence page. From
    the table `offers`; '' where nothing is assumed, or without a verdict.
    """
    offers = table_of(tables, "offers", "trend", "residual_points")
    if table_of(tables, "verdict").empty:
        return ""
    offers_by_trend = offers.dropna(subset="trend").drop_duplicates("trend").sort_values("trend")
    trends = [(offer["trend"], central_change(offer), offer) for offer in records(offers_by_trend)]
    resold = offers[offers["residual_points"].notna()]
    shares = resold["residual_usd"] / resold["capex_usd"] if len(resold) else []
    percentages = sorted({f"{100 * share:.0f}" for share in shares}, key=float)
    return sentence("months_ahead", trends, percentages)


def price_changes_words(tables: Tables) -> list[str]:
    """Return sentences on what an edit of prices did: how many prices and ranks changed, the answer before and after.
    From the table `price_changes`; [] without it.
    """
    table = table_of(tables, "price_changes", "what")
    counts = table["what"].value_counts()
    prices = sum(counts.get(kind, 0) for kind in ("price", "new", "gone"))
    answers = records(table[table["what"] == "answer"])
    return [line for answer in answers for line in sentences("price_changes", prices, counts.get("rank", 0), answer)]


def without_speed(tables: Tables, machines: Mapping[str, str], model_title: Callable[[str], str]) -> str:
    """Return a sentence on machines and models that take no part as their speed is unknown, for the page; '': none.

    Parameters
    ----------
    tables, machines, model_title
        Result tables by name, of which `warnings` is read; titles by instance; function from a model's key to its
        title.
    """
    table = table_of(tables, "warnings", "rule", "instance", "model", "message")
    rows = table[table["rule"] == "no_speed"]
    names = []
    for instance, of_machine in rows.groupby("instance", sort=False):
        models = of_machine["model"].dropna().unique()
        title = machines.get(instance, instance)
        names.append(f"{title} ({', '.join(map(model_title, models))})" if len(models) else title)
    of_no_machine = rows.loc[rows["instance"].isna(), "message"]
    return sentence("no_speed", names, NAMES_PER_SENTENCE, of_no_machine)


def decisive(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table `warnings` whose `decisive` is true: they could change the answer."""
    return table[table["decisive"].astype(bool)] if len(table) else table


def worth_knowing(tables: Tables) -> list[str]:
    """Return sentences for the page on which uncertain figure (a price, a speed) the team had better find out first.
    From the table `worth_knowing`, for the answer's model.
    """
    model = asked_model(tables)
    rows = of_jobs(tables, "worth_knowing")
    title = ""
    if table_of(tables, "ranks", "model")["model"].nunique() > 1:
        options = table_of(tables, "options", "model", "model_title")
        title = next(iter(options.loc[options["model"] == model, "model_title"].dropna()), model)
    return worth_in_words(rows[rows["model"] == model], counted_in(tables).money.code, title)


def plan_worth_in_words(tables: Tables, code: str) -> list[str]:
    """Return sentences on which uncertain figure of the leading plan to find out first; [] without a plan. A plan is
    one of phases or of monthly jobs; `code`: of the currency of amounts.
    """
    table, choices = of_plans(tables, "worth_knowing"), table_of(tables, "choices")
    if table.empty:
        return []
    leading_work = choices.loc[choices["cost"] == leading(tables), "workload"].head(1)
    return worth_in_words(table[table["workload"].isin(leading_work)], code)


def worth_in_words(rows: pd.DataFrame, code: str = "USD", model: str = "") -> list[str]:
    """Return sentences on which unknowns of one workload are most worth finding out before a decision; [] if `rows` is
    empty. An unknown is named if its value exceeds its Monte Carlo error (90 %) and the cost of a timing.

    Parameters
    ----------
    rows, code, model
        Rows of the table `worth_knowing` for that workload; code of the currency of amounts in `rows`; title of the
        model, if other models have answers of their own, else ''.
    """
    if rows.empty:
        return []
    rows = rows.assign(
        net=rows["evppi_usd"] - rows["cost_to_learn_usd"].fillna(0.0), timed=rows["cost_to_learn_usd"].notna()
    )
    significant = rows[rows["evppi_usd_low"] > 0]
    worthwhile = significant[significant["net"] > 0].sort_values("net", ascending=False, kind="stable")
    if worthwhile.empty:
        return [sentence("nothing_to_learn", len(significant) > 0, model)]
    turning_factor = worthwhile["turning_point"].astype(float) / worthwhile["value"]
    ranked = records(worthwhile.assign(change_percent=100 * (turning_factor - 1)))
    following = ranked[1:2]
    if not ranked[0]["timed"]:
        timed = [row for row in ranked if row["timed"]]
        following = timed or [row for row in ranked if row["quantity"] == SPEED]
    return sentences("worth_learning", ranked[0], next(iter(following), None), code)


def waiting_in_words(queue: pd.DataFrame) -> list[str]:
    """Return a sentence for each row of the table `queue`: how long a class of jobs waits for the best mix."""
    return [sentence("waiting", row) for row in records(queue)]


def energy(tables: Tables, study: Study) -> list[str]:
    """Return sentences for the page on the electricity and carbon of the options, and how many lack figures; or [].
    From the table `ranks` (`kwh`, `kg_co2e` of a workload) and the facts that the study declares.
    """
    ranks, model = table_of(tables, "ranks", "option", "kwh", "kg_co2e"), asked_model(tables)
    options = ranks.drop_duplicates("option")
    counts = options[["kwh", "kg_co2e"]].isna().sum().tolist()
    gaps = [sentence("energy_unknown", counts, len(options))] if any(counts) else []
    if not model or options["kwh"].isna().all():
        return gaps if model and study.energy else []
    per_unit = counted_in(tables).each
    once = per_unit or f" for one training ({study.model_title(model)})"
    rows = ranks[ranks["model"] == model].drop_duplicates("option")
    comparison = _carbon_comparison(rows, judged_option(tables, model), per_unit, once)
    if study.energy is None and not comparison:
        return []  # The only known power is that of a price list which the answer leaves out.
    return [*comparison, *gaps, sentence("embodied_carbon")]


def _carbon_comparison(rows: pd.DataFrame, reference: str, per_unit: str, once: str) -> list[str]:
    """Return a sentence that compares the option of least kg CO2e with the cheapest; without CO2e, on kWh alone.
    `rows`: of `ranks`, one per option; `reference`: option whose kWh is stated; `per_unit`, `once`: ' a run', in words.
    """
    rows = rows.assign(g_per_kwh=GRAMS_A_KG * rows["kg_co2e"].astype(float) / rows["kwh"])
    eligible = rows[rows["in_answer"].astype(bool) & rows["persistent"].astype(bool)]
    eligible = eligible.sort_values("usd", kind="stable")
    clean = eligible.dropna(subset="kg_co2e").sort_values("kg_co2e", kind="stable")
    if clean.empty:
        reference_rows = rows[rows["option"] == reference].dropna(subset="kwh")
        return [sentence("energy_use", row, once) for row in records(reference_rows)]
    (best,) = records(clean.head(1))
    (cheapest,) = records(eligible.head(1))
    overlap = best["kg_co2e_high"] > cheapest["kg_co2e_low"]
    return [sentence("least_carbon", best, cheapest, per_unit, overlap)]
