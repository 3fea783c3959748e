"""Words of the page by what a bill of the study pays for, and names for people of options and workloads."""

from sweetspot.decision.counted import Money, Words, words_of
from sweetspot.report.tables import Tables, table_of

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
    headline = table_of(tables, "headline")
    if headline.empty:
        return words_of("train")
    first = headline.iloc[0]
    return words_of(str(first["counts"]), Money(str(first["currency"]), float(first["usd_per_unit"])))


def titles_of(tables: Tables) -> dict[str, str]:
    """Names for people by option."""
    ranks = table_of(tables, "ranks")
    return dict(zip(ranks["option"], ranks["title"], strict=True)) if len(ranks) else {}


def works(tables: Tables) -> dict[str, str]:
    """Names for people of workloads made of a plan's classes (`lab.bert`): of the model, where no other trains it."""
    options = table_of(tables, "options")
    if not {"workload", "model_title"} <= set(options.columns):
        return {}
    pairs = options[["workload", "model_title"]].dropna().drop_duplicates()
    pairs = pairs[pairs["workload"].str.contains(".", regex=False)]
    alone = pairs[~pairs["model_title"].duplicated(keep=False) & ~pairs["workload"].duplicated(keep=False)]
    return dict(zip(alone["workload"], alone["model_title"], strict=True))
