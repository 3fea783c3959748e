"""The devices that a run is watched by: found once, before it begins."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sweetspot.harness.devices import visible_cards
from sweetspot.harness.request import Request
from sweetspot.harness.sampling import Sample, card_facts, card_joules, card_watch


class Watched(NamedTuple):
    """The cards of a run: how to look at them, how to read their energy counters (J each), and what they are."""

    look: Callable[[], Sequence[Sample]]
    joules: Callable[[], Sequence[float | None]]
    told: dict[str, Any]


def watched_cards(request: Request) -> Watched:
    """The run's cards on this node; nothing to see on a processor. Over several nodes no energy: it would be a part."""
    if request.device == "cpu":
        return Watched(list, tuple, {})
    import pynvml

    try:
        pynvml.nvmlInit()
        cards = visible_cards()
        told = card_facts(pynvml, cards)
        joules = card_joules(pynvml, cards) if request.nodes == 1 else tuple
        named = {"device_name": told["cards"][0]["name"]} if cards else {}
        return Watched(card_watch(pynvml, cards), joules, told | named)
    except pynvml.NVMLError as error:
        return Watched(list, tuple, {"nvml": str(error)})
