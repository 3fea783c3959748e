"""Words of the page by what a bill of the study pays for."""

from sweetspot.decision.counted import Words, words_of
from sweetspot.report.tables import Tables, table_of


def counted_in(tables: Tables) -> Words:
    """The words of this study; those of a training where there is no answer."""
    headline = table_of(tables, "headline")
    return words_of(str(headline["counts"].iloc[0]) if len(headline) else "train")


def titles_of(tables: Tables) -> dict[str, str]:
    """Names for people by option."""
    ranks = table_of(tables, "ranks")
    return dict(zip(ranks["option"], ranks["title"], strict=True)) if len(ranks) else {}
