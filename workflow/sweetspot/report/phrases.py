"""What the evidence says in words beside its tables."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from sweetspot.bills.price_paths import central_change
from sweetspot.claims.verdicts import CONTRADICTED, DIFFERS, FAILED, HOLDS, NOT_PRINTED, UNKNOWN
from sweetspot.decision_words import FACTOR, in_unit
from sweetspot.report.notation import Row, missing, number, records, text
from sweetspot.report.tables import Tables, asked_model, counted_in, of_jobs, table_of, works
from sweetspot.report.worth_words import waiting_in_words, worth_in_words
from sweetspot.wording import amount, listed

SHOWN = 400  # messages of one warning on the page; the table beside it holds all
NAMED = 12  # machines by name in one sentence
MOVED = ["price", "new", "gone"]
TOLD = 3  # assumptions that the answer hangs on most
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
OUTSIDE = {"no_price": "without a price", "no_figure": "without a speed"}
AHEAD = {
    "hyperscaler": "list prices of hyperscalers stay but for cuts",
    "small_cloud": "smaller clouds change by {change} a year (each year anew, {low} to {high})",
    "spot": "spot prices walk at random",
    "fixed": "contracts and old devices keep their prices",
}


def _signed(change: float) -> str:
    """A change in per cent, with its sign: `−32 %`."""
    return f"{100 * change:+.0f} %".replace("-", "−")


def _some(names: Sequence[str], apart: str = ", ", rest: str = " and") -> str:
    """The first NAMED of many, and how many more there are."""
    more = f"{rest} {len(names) - NAMED} more" if len(names) > NAMED else ""
    return apart.join(names[:NAMED]) + more


def lead(claims: pd.DataFrame) -> list[str]:
    """The claims that lead, each as printed beside what is recomputed."""
    rows = claims[claims["lead"].fillna(False).astype(bool)] if "lead" in claims.columns else claims.head(0)
    return [_printed_beside_recomputed(row) for row in records(rows)]


def _printed_beside_recomputed(row: Row) -> str:
    told = "not" if missing(row["printed"]) else in_unit(float(row["printed"]), text(row["unit"])).strip()
    said, verdict = f"{text(row['text'])}: {told} printed", text(row["verdict"])
    if missing(row["computed"]):
        return f"{said}, {verdict}."
    found = "" if verdict in (HOLDS, NOT_PRINTED) else f" ({verdict})"
    return f"{said}, {amount(float(row['computed']))} recomputed{found}."


def _gravity(row: Row) -> tuple[int, float]:
    """Of claims that fail, those that the source's own figures contradict first; the farthest off first."""
    printed, found = (math.nan if missing(row[name]) else row[name] for name in ("printed", "computed"))
    apart = abs(math.log(found / printed)) if printed * found > 0 else 0.0
    return FAILED.index(row["verdict"]), -apart


def claims_in_words(table: pd.DataFrame) -> tuple[str, str] | None:
    """How many claims there are of each verdict, and in plain words the one farthest off; None without claims."""
    if table.empty:
        return None
    counts = table["verdict"].value_counts()
    others = {
        "contradicted by the source's own figures": counts.get(CONTRADICTED, 0),
        "different with stand-ins or other publications' figures": counts.get(DIFFERS, 0),
        "not to be checked": counts.get(UNKNOWN, 0),
    }
    printed = len(table) - counts.get(NOT_PRINTED, 0)
    if not printed:
        return f"Figures worked out here that the source does not print: {len(table)}.", ""
    said = f"Of {printed} claims {counts.get(HOLDS, 0)} hold"
    tally = "; ".join([said, *(f"{words}: {count}" for words, count in others.items() if count)])
    failed = records(table[table["verdict"].isin(FAILED)])
    if not failed:
        return f"{tally}.", ""
    worst = min(failed, key=_gravity)
    values = (number(worst[name]) for name in ("printed", "computed"))
    return f"{tally}.", "Farthest off: “{}”: printed {}, recomputed {} ({}).".format(
        worst["text"], *values, worst["unit"]
    )


def causes(tables: Tables) -> list[str]:
    """The assumptions of the answer's model that move it most, the widest first; none where nothing is owned."""
    rows = of_jobs(tables, "tornado")
    if rows.empty:
        return []
    rows = rows[rows["model"] == asked_model(tables)].drop_duplicates("assumption")
    return [_cause(row) for row in records(rows.head(TOLD))]


def _cause(row: Row) -> str:
    name, value, low, high = (row[key] for key in ("assumption", "value", "low", "high"))
    flip = value if missing(row["flip_value"]) else row["flip_value"]
    if row["unit"] == FACTOR:  # against what is planned, which of rents is their mean over the project
        told, turn = f"{_signed(low / value - 1)} to {_signed(high / value - 1)}", _signed(flip / value - 1)
    else:
        told, turn = f"{in_unit(value, row['unit'], name)}, from {amount(low)} to {amount(high)}", amount(flip)
    turns = "no value changes the cheapest" if missing(row["flip_value"]) else f"the cheapest changes at {turn}"
    return f"{name[:1].upper()}{name[1:]} ({told}): {turns}."


def never_pays(tables: Tables) -> str:
    """When owning never pays for the model of the answer, in words; empty where nothing is owned."""
    rows = table_of(tables, "surface")
    found = rows.loc[rows["model"] == asked_model(tables), "condition"] if len(rows) else rows
    return f"{found.iloc[0]}." if len(found) else ""


def worth_knowing(tables: Tables) -> list[str]:
    """What to find out first about the model of the answer, in at most two sentences."""
    rows, model = of_jobs(tables, "worth_knowing"), asked_model(tables)
    if rows.empty:
        return []
    on = _model_title(tables, model) if table_of(tables, "ranks")["model"].nunique() > 1 else ""
    return worth_in_words(rows[rows["model"] == model], counted_in(tables).money.code, on)


def _model_title(tables: Tables, model: str) -> str:
    options = table_of(tables, "options")
    named = options.loc[options["model"] == model, "model_title"] if "model_title" in options.columns else ()
    return str(next(iter(named), model))


def waiting(tables: Tables) -> list[str]:
    """The wait for machines that are shared, in sentences; empty where no workload says how often it comes."""
    queue = table_of(tables, "queue")
    return waiting_in_words(queue.assign(workload=queue["workload"].replace(works(tables))) if len(queue) else queue)


def fits(tables: Tables) -> str:
    """What does not fit and why, or what the check rests on, in words; empty where no workload states what it needs."""
    options = table_of(tables, "options")
    known = options[options["fits"].notna()] if "fits" in options.columns else options.head(0)
    if known.empty:
        return ""
    known = known.assign(work=known["workload"].replace(works(tables)))
    out = known[~known["fits"].astype(bool)].drop_duplicates(["title", "workload"])
    if out.empty:
        row = known.loc[(known["memory_need_gib"] / known["gpu_memory_gib"]).idxmax()]
        return f"All options hold what is asked; the tightest: {_need(row)}."
    return f"Does not fit, and takes no part: {_some([_need(row) for row in records(out)], '; ', '; and')}."


def _need(row: "Row | pd.Series") -> str:
    need, have = (amount(float(row[name])) for name in ("memory_need_gib", "gpu_memory_gib"))
    return f"{row['work']} needs {need} GiB on each device of {row['title']}, which has {have}"


def beside(ranks: pd.DataFrame) -> str:
    """What the brackets behind an option mean, where the answer leaves their price lists out; else empty."""
    bracketed = ranks[ranks["title"].str.endswith("]")] if len(ranks) else ranks
    if bracketed.empty or bracketed["in_answer"].astype(bool).any():
        return ""
    return "Behind some options stands in [brackets] another price list. The answer leaves those prices out."


def some_taken(ranks: pd.DataFrame) -> bool:
    """Whether some option can be taken away while it works."""
    return not ranks.empty and not bool(ranks["persistent"].astype(bool).all())


def ahead(tables: Tables) -> str:
    """What the answer assumes of the months to come: one line on price paths and resale; empty where every price stays
    and no machine has a resale curve.
    """
    offers = table_of(tables, "offers")
    if offers.empty or table_of(tables, "verdict").empty or "trend" not in offers.columns:
        return ""
    told, said = set(), []
    for name, rows in offers.groupby("trend"):
        one = rows.iloc[0]
        changes = {"change": central_change(one), "low": one["trend_change_low"], "high": one["trend_change_high"]}
        words = {which: _signed(change) for which, change in changes.items()}
        told.add(AHEAD.get(str(name), f"{name} ({words['change']} a year)").format(**words))
    if told:
        said = [f"Rents are means over the months of the project, not today's: {listed(sorted(told))}."]
    own = offers[offers["residual_points"].map(lambda points: isinstance(points, list | np.ndarray))]
    if len(own):
        shares = 100 * own["residual_usd"] / own["capex_usd"]
        span = f"{shares.min():.0f} %" if len(own) == 1 else f"{shares.min():.0f} to {shares.max():.0f} %"
        sold = f"Bought machines are sold at the end of the project for {span} of their price"
        said.append(f"{sold}, by their devices' age then.")
    return " ".join(said)


def price_changes_words(tables: Tables) -> list[str]:
    """Sentences before the table: how many places changed, and both answers where they differ; none without history."""
    table = table_of(tables, "price_changes")
    if table.empty:
        return []
    (answer,) = records(table[table["what"] == "answer"])
    before, after = text(answer["said_before"]), text(answer["said_after"])
    ranked, moved = (int(table["what"].isin(kinds).sum()) for kinds in (["rank"], MOVED))
    places = (
        f"{moved} price{'' if moved == 1 else 's'} moved, and {ranked or 'no'} option{'' if ranked == 1 else 's'} "
        "of a workload changed place in the ranks."
    )
    plans = [_plan(row) for row in records(table[table["what"] == "plan"])]
    if before == after:
        return [places, "The answer is the same, in every figure that it says.", *plans]
    told = " ".join(plans)
    both = [] if before in told and after in told else [f"Then: {before}", f"Now: {after}"]
    return [places, *both, *plans]


def _plan(row: Row) -> str:
    usd = [f"{number(row[side])} USD" for side in ("before", "after")]
    then, now = (text(row[f"said_{side}"]) or "nothing." for side in ("before", "after"))
    name = f"Plan {text(row['workload'])}"
    if then == now:
        moved = "" if missing(row["change"]) else f" ({row['change']:+.1%})"
        return f"{name}, {usd[0]} then and {usd[1]} now{moved}, as then: {now}"
    return f"{name}, then ({usd[0]}): {then} Now ({usd[1]}): {now}"


def without_speed(tables: Tables, machines: Mapping[str, str], model_title: Callable[[str], str]) -> str:
    """What is priced or asked for and has no speed, for the top of the page; empty where all have one.

    `machines`: names for people by instance; `model_title`: that of a model.
    """
    table = table_of(tables, "warnings").reindex(columns=["rule", "instance", "model", "message"])
    whole = table.loc[table["rule"] == "no_figure", "instance"].dropna()
    parts = table[(table["rule"] == "no_speed") & ~table["instance"].isin(whole)]
    lacking = {"": whole} if len(whole) else {}
    for model, names in parts.dropna(subset=["instance"]).groupby("model", sort=False)["instance"]:
        lacking[f" for {model_title(str(model))}"] = names
    said = [
        f"Priced, but no speed{of}: {_some([machines.get(name, name) for name in names.unique()])}."
        for of, names in lacking.items()
    ]
    said += [f"{message[:1].upper()}{message[1:]}." for message in parts.loc[parts["instance"].isna(), "message"]]
    return " ".join(said)


def named(table: pd.DataFrame, machines: Mapping[str, str]) -> pd.DataFrame:
    """The warnings with the names for people of their machines. `machines`: by instance; one without has its key."""
    return table.assign(instance=table["instance"].map(lambda name: machines.get(name, name))) if len(table) else table


def decisive(table: pd.DataFrame) -> pd.DataFrame:
    """The warnings that could change the answer (`decisive`)."""
    return table[table["decisive"].astype(bool)] if len(table) else table


def outside(table: pd.DataFrame) -> str:
    """Which machines take no part in the comparison, and what each lacks; empty where all do."""
    if table.empty:
        return ""
    lacking = {words: table.loc[table["rule"] == rule, "instance"].unique() for rule, words in OUTSIDE.items()}
    told = [f"{words}: {_some(names)}" for words, names in lacking.items() if len(names)]
    return f"Left out of the comparison: {'; '.join(told)}." if told else ""


def warnings(table: pd.DataFrame) -> list[dict[str, object]]:
    """Warnings by rule: how many, and the first of each message with what it concerns."""
    found = []
    # A warning without a rule or with one that nobody here has heard of is shown like any other.
    for (scope, rule), rows in table.groupby(["scope", "rule"], dropna=False) if len(table) else ():
        messages = [
            {"message": text(message), "where": ", ".join(part["instance"].dropna().astype(str).unique())}
            for message, part in rows.groupby("message", dropna=False)
        ]
        key = text(rule) or "unnamed"
        found.append({
            "what": RULES.get(key) or ": ".join(filter(None, (text(scope), key.replace("_", " ")))),
            "count": len(rows), "messages": messages[:SHOWN], "left_out": len(messages[SHOWN:]),
        })  # fmt: skip
    return found
