"""Words of the page by what a bill of the study pays for, and names for people of options and workloads."""

from sweetspot.report.tables import Tables, table_of
from sweetspot.study.titles import unit_in_words
from sweetspot.wording import SHARE, Money, Words, words_of

# Names for people of the ways to tell the speed of several devices from one; scaling/methods.py says what each does.
METHOD_NAMES = {
    "mean_efficiency": "mean efficiency (2018)",
    "same_device_count": "mean at the same count",
    "amdahl": "Amdahl's law",
    "usl": "universal scaling law",
    "ring_allreduce": "ring, by class of link",
    "pooled_ring": "learned ring model",
}


def method_name(method: object) -> str:
    """The name for people of a method."""
    return METHOD_NAMES.get(str(method), str(method).replace("_", " "))


def of_all(count: int, of: int, what: str) -> str:
    """`both models`, `all 3 models`, `2 of 3 models`."""
    if count < of:
        return f"{count} of {of} {what}"
    return f"both {what}" if of == 2 else f"all {of} {what}"


def counted_in(tables: Tables) -> Words:
    """The words of this study; those of a training where there is no answer."""
    verdict = table_of(tables, "verdict")
    if verdict.empty or "counts" not in verdict.columns:
        return words_of("train")
    first = verdict.iloc[0]
    return words_of(str(first["counts"]), Money(str(first["currency"]), float(first["usd_per_unit"])))


def titles_of(tables: Tables) -> dict[str, str]:
    """Names for people by option."""
    ranks = table_of(tables, "ranks")
    return dict(zip(ranks["option"], ranks["title"], strict=True)) if len(ranks) else {}


def works(tables: Tables) -> dict[str, str]:
    """Names for people of workloads, plans among them; none in tables of before they had some."""
    named: dict[str, str] = {}
    choices, columns = table_of(tables, "choices"), ["workload", "workload_title"]
    plans = choices[choices["cost"] != SHARE] if len(choices) else choices
    for table in (table_of(tables, "options"), plans):
        if columns[1] in table.columns:
            named |= dict(table[columns].dropna().drop_duplicates().itertuples(index=False, name=None))
    return named


def unit_of(tables: Tables) -> str:
    """What this study's speeds count (`unit_in_words`)."""
    rows = table_of(tables, "throughput")
    return unit_in_words(set(rows["unit"].dropna()) if "unit" in rows.columns else set())


def trade_offs(model: str, best: int) -> str:
    """How many options there are than which none is both faster and cheaper."""
    if best == 1:
        return f"{model}: one option is both the fastest and the cheapest"
    return f"{model}: {best} options are the best trade-offs of time and money"
