"""The cards of a machine as NVML tells of them: which there are, what they are, and what a run is watched by.

A card may be divided (MIG); its slices are devices of their own, and tell neither their power nor their use.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from sweetspot.errors import UserError
from sweetspot.harness.request import Request
from sweetspot.harness.sampling import Sample

T = TypeVar("T")
PROHIBITED = 2  # nvml.h, nvmlComputeMode: no process may use the card
AMPERE = (8, 0)  # the compute capability from which on a card computes bf16 and TF32 (CUDA programming guide, table 25)


class Watched(NamedTuple):
    """The cards of a run: how to look at them, how to read their energy counters (J each), and what they are."""

    look: Callable[[], Sequence[Sample]]
    joules: Callable[[], Sequence[float | None]]
    told: dict[str, Any]


def watched_cards(request: Request) -> Watched:
    """The run's cards on this node; nothing to see on a processor. Over several nodes no energy: it would be a part.

    Raises UserError for cards that cannot make the run: none may use them, or they have no TF32.
    """
    if request.device == "cpu":
        return Watched(list, tuple, {})
    import pynvml

    try:
        pynvml.nvmlInit()
        cards = visible_cards()
        facts = card_facts(pynvml, cards)
        joules = card_joules(pynvml, cards) if request.nodes == 1 else tuple
        named = {"device_name": facts["cards"][0]["name"]} if cards else {}
    except pynvml.NVMLError as error:
        return Watched(list, tuple, {"nvml": str(error)})
    for card in facts["cards"]:
        if card["compute_mode"] == PROHIBITED:
            raise UserError(f"{card['name']} is in compute mode 'prohibited' (nvidia-smi -c 0 ends that)")
        if request.cell.precision == "tf32" and lacks(card, "tf32"):
            raise UserError(f"--precision is tf32, which {card['name']} has not; expected fp32 or fp16")
    return Watched(card_watch(pynvml, cards), joules, facts | named)


def lacks(card: dict[str, Any], precision: str) -> bool:
    """Whether a card (`card_facts`) computes the precision as fp32, having no instructions for it."""
    capability = card.get("compute_capability")
    return precision in ("bf16", "tf32") and capability is not None and tuple(capability) < AMPERE


def visible_cards() -> list[str]:
    """UUIDs of the cards (of a divided card its slices) that NVML shows, or to which CUDA_VISIBLE_DEVICES narrows.

    Numbers, which count along the bus here, and the beginnings of UUIDs become UUIDs, so that a card has one lock and
    one name whatever a job knows it by. As CUDA does, the list ends at -1. Raises UserError for a name of no card.
    """
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None and not chosen.strip():
        return []
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return [] if chosen is None else [name.strip() for name in chosen.split(",") if name.strip()]
    cards = all_cards(pynvml)
    if chosen is None:
        return [uuid for slices in cards.values() for uuid in slices]
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    until = names.index("-1") if "-1" in names else len(names)
    return [_uuid(pynvml, name, cards, chosen) for name in names[:until]]


def _uuid(nvml: Any, name: str, cards: dict[str, list[str]], chosen: str) -> str:
    """The one UUID that a name of CUDA_VISIBLE_DEVICES means."""
    if name.isdigit():
        found = list(cards.values())[int(name)][:1] if int(name) < len(cards) else []
    else:
        known = [*cards, *(uuid for slices in cards.values() for uuid in slices)]
        found = sorted({uuid for uuid in known if uuid.startswith(name)})
        if not found and (old := told(nvml, lambda: nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByUUID(name)))):
            found = [old]  # MIG-GPU-.../1/0, as drivers before 470 named slices
        found = [uuid for uuid in found if uuid == name] or found
    if len(found) == 1:
        return found[0]
    why = "names none" if not found else f"begins the names of {len(found)}"
    raise UserError(
        f"CUDA_VISIBLE_DEVICES is {chosen!r}, of which {name!r} {why} of this machine's {len(cards)} GPU(s); "
        "expected numbers from 0 on, or UUIDs as `nvidia-smi -L` prints them"
    )


def all_cards(nvml: Any) -> dict[str, list[str]]:
    """By the UUID of each card, in the order of the bus, the UUIDs of what a run can use: itself, or its slices."""
    found: dict[str, list[str]] = {}
    for place in range(nvml.nvmlDeviceGetCount()):
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(place)
            found[nvml.nvmlDeviceGetUUID(handle)] = [nvml.nvmlDeviceGetUUID(part) for part in _parts(nvml, handle)]
        except nvml.NVMLError:  # fallen off the bus: the others keep their numbers
            found[f"lost {place}"] = []
    return found


def _parts(nvml: Any, handle: Any) -> Iterator[Any]:
    mode = told(nvml, lambda: nvml.nvmlDeviceGetMigMode(handle))
    if not mode or not mode[0]:
        yield handle
        return
    for place in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        try:
            yield nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, place)
        except nvml.NVMLError:  # a place may be empty
            continue


def card_watch(nvml: Any, cards: Sequence[str]) -> Callable[[], list[Sample]]:
    """A function that looks at those cards (by UUID) through NVML, `nvml` being the module pynvml."""
    handles = [nvml.nvmlDeviceGetHandleByUUID(card) for card in cards]

    return lambda: [_look(nvml, handle) for handle in handles]


def card_joules(nvml: Any, cards: Sequence[str]) -> Callable[[], list[float | None]]:
    """A function that tells the J of each card since its driver was loaded; None of one without such a counter.

    `nvmlDeviceGetTotalEnergyConsumption`, mJ, of Volta and later.
    """
    handles = [nvml.nvmlDeviceGetHandleByUUID(card) for card in cards]

    def joules(handle: Any) -> float | None:
        return told(nvml, lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000)

    return lambda: [joules(handle) for handle in handles]


def _look(nvml: Any, handle: Any) -> Sample:
    return Sample(
        told(nvml, lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100),
        told(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used),
        told(nvml, lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000),
        told(nvml, lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        told(nvml, lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
        told(nvml, lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
    )


def card_facts(nvml: Any, cards: Sequence[str]) -> dict[str, Any]:
    """Driver, and of each card its UUID, name, memory, power limit, highest clock, compute capability and mode, and of
    a slice which share of what card it is; None where a card does not tell.
    """
    found = [_card(nvml, card, nvml.nvmlDeviceGetHandleByUUID(card)) for card in cards]
    return {"driver": nvml.nvmlSystemGetDriverVersion(), "cards": found}


def _card(nvml: Any, uuid: str, handle: Any) -> dict[str, Any]:
    memory = told(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total)
    whole = told(nvml, lambda: nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle))
    facts: dict[str, Any] = {
        "uuid": uuid,
        "name": nvml.nvmlDeviceGetName(handle),
        "memory_bytes": memory,
        "power_limit_watts": told(nvml, lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000),
        "max_clock_mhz": told(nvml, lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM)),
        "compute_capability": told(nvml, lambda: list(nvml.nvmlDeviceGetCudaComputeCapability(whole or handle))),
        "compute_mode": told(nvml, lambda: nvml.nvmlDeviceGetComputeMode(whole or handle)),
    }
    if whole is None:
        return facts
    part = told(nvml, lambda: nvml.nvmlDeviceGetAttributes(handle))
    of_card = told(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(whole).total)
    facts["slice_of"] = {
        "name": nvml.nvmlDeviceGetName(whole),
        "uuid": nvml.nvmlDeviceGetUUID(whole),
        "memory_share": memory / of_card if memory and of_card else None,
        "compute_slices": part and part.computeInstanceSliceCount,
        "multiprocessors": part and part.multiprocessorCount,
    }
    return facts


def told(nvml: Any, ask: Callable[[], T]) -> T | None:
    """The answer, or None: laptops and slices keep some facts to themselves."""
    try:
        return ask()
    except nvml.NVMLError:
        return None
