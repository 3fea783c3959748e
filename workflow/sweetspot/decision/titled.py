"""Words that tables of the decision carry beside their keys: titles of workloads, and what a speed counts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sweetspot.study.titles import unit_in_words

if TYPE_CHECKING:
    import pandas as pd


def titled(options: "pd.DataFrame", throughput: "pd.DataFrame", titles: Mapping[str, str]) -> "pd.DataFrame":
    """The options with `workload_title` (a workload without one has its key) and `unit`, what their speeds count."""
    names = options["workload"].map(lambda name: titles.get(name, name))
    units = throughput["unit"].dropna() if "unit" in throughput.columns else ()
    return options.assign(workload_title=names, unit=unit_in_words(set(units)))


def rate_of(option: Mapping[str, Any]) -> str:
    """The unit of an option's speed: `images/s`."""
    return f"{option.get('unit') or 'images'}/s"
