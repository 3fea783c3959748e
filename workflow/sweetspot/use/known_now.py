"""What is known now as a scenario of the study: its work and its rents as they were."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sweetspot.study.price_list import RATE_HOURS
from sweetspot.study.scenarios import Scenario
from sweetspot.study.yamlfile import load_yaml
from sweetspot.use.compared import SAME, Compared

NAME = "actual"


def known_now(found: Compared, lists: Mapping[str, Path]) -> Scenario:
    """The scenario in which jobs come as hours were used, and offers that were billed cost what was paid.

    Only rates move: of an offer that is composed or committed to there is none. `lists`: the study's price lists.
    """
    prices: dict[str, Any] = {}
    for (listed, instance, purchase), ratio in found.price_ratios.items():
        if listed in lists and abs(ratio - 1) > SAME:
            entries = list(_moved(load_yaml(lists[listed]), instance, purchase, ratio))
            if entries:
                prices.setdefault(listed, {"offers": []})["offers"] += entries
    times = found.work_ratio if abs(found.work_ratio - 1) > SAME else None
    return Scenario(title="what is known now", times_work=times, per_kwh=None, workloads={}, prices=prices)


def _moved(listed: Any, instance: str, purchase: str, ratio: float) -> Iterator[dict[str, Any]]:
    """The offers of a list that are meant, with their rates moved; their purchase only where it tells them apart."""
    same = [offer for offer in listed.get("offers", ()) if offer.get("instance") == instance]
    for offer in same:
        if offer.get("purchase", "on_demand") == purchase:
            rates = {name: _times(offer[name], ratio) for name in RATE_HOURS if offer.get(name) is not None}
            if rates:
                apart = {"purchase": purchase} if "purchase" in offer or len(same) > 1 else {}
                yield {"instance": instance} | apart | rates


def _times(value: Any, ratio: float) -> Any:
    if isinstance(value, Mapping):
        return {name: _times(each, ratio) for name, each in value.items()}
    return float(f"{value * ratio:.6g}") if isinstance(value, int | float) else value
