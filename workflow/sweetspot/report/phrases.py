"""What the page says in words beside its tables."""

import math
from collections.abc import Mapping

import pandas as pd

from sweetspot.claims.verdicts import CONTRADICTED, DIFFERS, FAILED, HOLDS, NOT_PRINTED, UNKNOWN
from sweetspot.decision.other_figures import LEFT_OUT
from sweetspot.report.cited import records
from sweetspot.report.notation import missing, number
from sweetspot.report.tables import Tables, asked_model, of_jobs, table_of
from sweetspot.report.words import counted_in, works
from sweetspot.report.worth_words import waiting_in_words, worth_in_words
from sweetspot.wording import amount, listed, the, times

SHOWN = 400  # messages of one warning on the page; the table beside it holds all
NAMED = 12  # machines by name in one sentence
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
Row = Mapping[str, object]


def _gravity(row: Row) -> tuple[int, float]:
    """Those that the source's own figures contradict first, then those that differ; the farthest off first."""
    printed, found = row["printed"], row["computed"]
    known = not (missing(printed) or missing(found)) and float(printed) * float(found) > 0  # type: ignore[arg-type]
    apart = abs(math.log(float(found) / float(printed))) if known else 0.0  # type: ignore[arg-type]
    return FAILED.index(str(row["verdict"])) if row["verdict"] in FAILED else len(FAILED), -apart


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
    worst = min(records(table), key=_gravity)
    if worst["verdict"] not in FAILED:
        return f"{tally}.", ""
    values = (number(worst[name], 3) for name in ("printed", "computed"))
    return f"{tally}.", "Farthest off: “{}”: printed {}, recomputed {} ({}).".format(
        worst["text"], *values, worst["unit"]
    )


def never_pays(tables: Tables) -> str:
    """When owning never pays for the model of the answer, in words; empty where nothing is owned."""
    rows = table_of(tables, "surface")
    if rows.empty:
        return ""
    found = rows[rows["model"] == asked_model(tables)]["condition"]
    return f"{found.iloc[0]}." if len(found) else ""


def span_in_words(table: pd.DataFrame, model: str, title: str = "") -> str:
    """The range of the gain over the published figures of a model in a sentence; empty where there are none."""
    if table.empty or not table["model"].eq(model).any():
        return ""
    rows, title = table[table["model"] == model], title or model
    low, high = rows["gain"].min(), rows["gain"].max()
    devices = list(rows["device"].dropna().unique())
    of = f" of the {listed(devices)}" if devices else ""
    if rows["alternative_figure"].eq(LEFT_OUT).any():
        of += f" or without {the(rows['alternative_title'].iloc[0])}"
    if low < 1 < high:
        span = f"{times(low)} to {times(high)}"
        return f"With other published figures{of}, the multiple on {title} is {span}: the cheapest changes."
    low, high = (low, high) if low >= 1 else (1 / high, 1 / low)
    name = the(rows["winner_title"].iloc[0]) if rows["winner"].nunique() == 1 else "a rival"
    span = f"{times(low)} to {times(high)} times"
    return f"With other published figures{of}, {name} is still the cheaper on {title}, by {span}."


def other_figures(tables: Tables) -> str:
    """How the answer's multiple moves with the published figures of its devices; empty where there is one of each."""
    model = asked_model(tables)
    return span_in_words(table_of(tables, "other_figures"), model, _model_title(tables, model))


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
    if options.empty or "fits" not in options.columns:
        return ""
    known = options[options["fits"].notna()]
    known = known.assign(work=known["workload"].replace(works(tables)))
    if known.empty:
        return ""
    out = known[~known["fits"].astype(bool)].drop_duplicates(["title", "workload"])
    if out.empty:
        row = known.loc[(known["memory_need_gib"] / known["gpu_memory_gib"]).idxmax()]
        return f"All options hold what is asked; the tightest: {_need(row)}."
    told = [_need(row) for row in records(out.head(NAMED))]
    more = f"; and {len(out) - NAMED} more" if len(out) > NAMED else ""
    return f"Does not fit, and takes no part: {'; '.join(told)}{more}."


def _need(row: Row) -> str:
    need, have = (amount(float(row[name])) for name in ("memory_need_gib", "gpu_memory_gib"))  # type: ignore[arg-type]
    return f"{row['work']} needs {need} GiB on each device of {row['title']}, which has {have}"


def beside(ranks: pd.DataFrame) -> str:
    """What the brackets behind an option mean, where the answer leaves their price lists out; else empty."""
    if ranks.empty:
        return ""
    bracketed = ranks[ranks["title"].str.endswith("]")]
    if bracketed.empty or bracketed["in_answer"].astype(bool).any():
        return ""
    return "Behind some options stands in [brackets] another price list. The answer leaves those prices out."


def some_taken(ranks: pd.DataFrame) -> bool:
    """Whether some option can be taken away while it works."""
    return len(ranks) > 0 and not bool(ranks["persistent"].astype(bool).all())


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
    told = []
    for rule, words in OUTSIDE.items():
        names = list(dict.fromkeys(table.loc[table["rule"] == rule, "instance"]))
        if names:
            rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            told.append(f"{words}: {', '.join(names[:NAMED])}{rest}")
    return f"Left out of the comparison: {'; '.join(told)}." if told else ""


def _what(scope: str, rule: str) -> str:
    """What a kind of warnings is of, in words; a rule that has none here is named after its scope."""
    return RULES.get(rule) or ": ".join(filter(None, (scope, rule.replace("_", " "))))


def warnings(table: pd.DataFrame) -> list[dict[str, object]]:
    """Warnings by rule: how many, and the first of each message with what it concerns."""
    found = []
    # A warning without a rule or with one that nobody here has heard of is shown like any other.
    for (scope, rule), rows in table.groupby(["scope", "rule"], dropna=False) if len(table) else ():
        messages = [
            {
                "message": "" if missing(message) else message,
                "where": ", ".join(dict.fromkeys(str(name) for name in part["instance"] if not missing(name))),
            }
            for message, part in rows.groupby("message", dropna=False)
        ]
        found.append({
            "what": _what("" if missing(scope) else str(scope), "unnamed" if missing(rule) else str(rule)),
            "count": len(rows), "messages": messages[:SHOWN], "left_out": len(messages[SHOWN:]),
        })  # fmt: skip
    return found
