"""Estimate what training a known model on tokens takes on the machines of today."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from sweetspot.commands.render import render, to_json
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import STUDIES, figures_file
from sweetspot.number_text import NUMBER, parse_number
from sweetspot.study.open_models import METHODS, SEQUENCE, open_model
from sweetspot.study.yamlfile import load_yaml
from sweetspot.tokens.estimates import TOO_SMALL, UNTRIED, ReachedMfu, TokenJob, cheapest, estimate_machines
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.mfu import (
    FLOP_PER_TFLOP,
    PRECISION,
    SD_90,
    STACK_SD,
    TIMING_SD,
    expected_mfu,
    published_figures,
    range_around,
)

WORK = re.compile(
    r"(?P<model>\S+)\s+(?P<method>[a-z]+)\s+(?P<count>" + NUMBER + r")\s*(?P<unit>[kmbt]?)"
    r"(?:\s*(?:samples)?\s*[x×]\s*(?P<per_sample>" + NUMBER + r"))?(?:\s*tokens)?",
    re.IGNORECASE,
)
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
TIMED = re.compile(r"(?P<gpu>[^:]+):\s*(?P<rate>" + NUMBER + r")\s*(?:tokens/s)?", re.IGNORECASE)
MAX_TOKENS = 1e18  # as of samples in workloads.yaml
MIN_SHARE = 1e-3  # what uses less of its device was timed in another unit
# Study, its price list, and keys of that list which each offer repeats, for they differ from the first list's.
RENTALS = (
    ("fine-tune-2026", "rent", ()),
    ("fine-tune-2026", "rent-amd", ()),
    ("office-box-2026", "marketplace", ("as_of", "billing")),
)
METHOD_SYNONYMS = {"sft": "full", "finetune": "full"}


def parse_work(text: str, sequence: int = SEQUENCE) -> TokenJob:
    """Parse the training to estimate, 'MODEL METHOD TOKENS', e.g. 'llama-3.1-8b lora 100M tokens'; `sequence`: tokens
    in one sequence. Raises UserError where the text names no model, no method or no number of tokens.
    """
    match = WORK.fullmatch(text.strip())
    method = match["method"].lower() if match else ""
    method = METHOD_SYNONYMS.get(method, method)
    if match is None or method not in METHODS:
        example, methods = '"llama-3.1-8b lora 100M tokens"', ", ".join(METHODS)
        raise UserError(f"work is {text!r}; expected MODEL METHOD TOKENS, such as {example} ({methods})")
    count = parse_number(match["count"], "TOKENS")
    tokens_per_sample = parse_number(match["per_sample"] or "1", "tokens of a sample")
    tokens = count * UNITS[match["unit"].lower()] * tokens_per_sample
    if not 1 <= tokens <= MAX_TOKENS:
        raise UserError(f"work is {text!r}, which makes {tokens:g} tokens; expected 1 to {MAX_TOKENS:g}")
    return TokenJob(open_model(match["model"]), method, tokens, sequence)  # type: ignore[arg-type]


def mfu_of(job: TokenJob, stack: str | None, timed: str | None) -> ReachedMfu:
    """Return the share of a device's peak (0 to 1, 90 % interval) that a training reaches, from which `estimate`
    computes its hours: from the reader's own timing if there is one, else from published figures.

    Parameters
    ----------
    job, stack
        The training, and the kind of its software: one of STACKS, or None (unknown).
    timed
        'GPU: RATE' in tokens per second, e.g. 'RTX 4090: 2100 tokens/s', or None. Else UserError.
    """
    if timed is None:
        return ReachedMfu(expected_mfu(published_figures(), job.method, stack, job.model.mixture), stack)
    match = TIMED.fullmatch(timed.strip())
    if match is None:
        raise UserError(f'--timed is {timed!r}; expected GPU: RATE, such as "RTX 4090: 2100 tokens/s"')
    device = shipped_devices().get(match["gpu"].strip())
    rate = parse_number(match["rate"], "--timed")
    speed = rate * job.flop_per_token
    mfu = speed / (device.peak(PRECISION) * FLOP_PER_TFLOP)
    if not MIN_SHARE <= mfu <= 1:
        raise UserError(f"--timed is {timed!r}: {mfu:.3g} of that device's peak; expected {MIN_SHARE:g} to 1 of it")
    timing = pd.DataFrame([{"model": job.model.name, "gpu": device.gpu, "flop_per_s": speed}])
    return ReachedMfu(range_around(mfu, STACK_SD), timed=timing)


def load_rentals(studies: Path, maker: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the rentals that the library ships on devices of `maker`, (price list, {machine: entry of
    instances.yaml}), as plain values for the files of a new study and for `estimate`. `studies`: folder with the
    shipped studies. Only one maker's (such as 'nvidia'): speeds of others are uncertain.
    """
    heading: dict[str, Any] = {}
    offers, machines = [], {}
    for study, name, repeated_keys in RENTALS:
        instances = load_yaml(figures_file(study, studies, "instances.yaml"))
        prices = load_yaml(figures_file(study, studies, f"prices/{name}.yaml"))
        heading = heading or prices
        for offer in prices["offers"]:
            machine = instances[offer["instance"]]
            if shipped_devices().get(machine["gpu"]).maker == maker:
                source = f"{offer['source']}; {prices['source']}" if repeated_keys else offer["source"]
                offers.append({key: prices[key] for key in repeated_keys} | offer | {"source": source})
                machines[offer["instance"]] = {key: machine[key] for key in machine if key != "equivalent_to"}
    return heading | {"offers": offers}, machines


def machines_for_rent() -> pd.DataFrame:
    """Return the shipped rentals as a row per offer, whose hours and USD `estimate_machines` computes: machine, gpu,
    gpus, interconnect, usd_per_hour, minimum_hours, as_of (day of the price), source.
    """
    rows = []
    for maker in ("nvidia", "amd"):
        prices, instances = load_rentals(STUDIES, maker)
        for offer in prices["offers"]:
            instance, billing = instances[offer["instance"]], offer.get("billing", prices["billing"])
            rows.append(
                {
                    "machine": offer["instance"],
                    "gpu": instance["gpu"],
                    "gpus": instance["gpus"],
                    "interconnect": instance.get("interconnect"),
                    "usd_per_hour": offer["per_hour"],
                    "minimum_hours": billing.get("minimum_s", 0.0) / 3600,
                    "as_of": str(offer.get("as_of", prices["as_of"])),
                    "source": offer["source"],
                }
            )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class EstimateRequest:
    """The options of `sweetspot estimate`: a training, and what is known of its speed; no `within_hours`: inf."""

    work: str
    sequence: int
    stack: str | None
    timed: str | None
    within_hours: float
    as_json: bool


def run(request: EstimateRequest) -> None:
    """Run `sweetspot estimate`: print hours, USD and memory of the training in `request` on each machine for rent."""
    job = parse_work(request.work, request.sequence)
    reached_mfu = mfu_of(job, request.stack, request.timed)
    table = estimate_machines(job, reached_mfu, machines_for_rent())
    best = cheapest(table, request.within_hours)
    fitting, too_small = (table[(table["memory"] == TOO_SMALL) == is_small] for is_small in (False, True))
    if request.as_json:
        content = {
            "mfu": reached_mfu.mfu._asdict(),
            "machines": fitting.to_dict("records"),
            "cheapest": best and best._asdict(),
            "level": 0.9,
            "too_small": too_small.to_dict("records"),
        }
        print(to_json(content))
        return
    untried = table["basis"] == UNTRIED
    factors = [math.exp(SD_90 * spread) for spread in (TIMING_SD, STACK_SD)]
    as_cheap = table[(table["memory"] == "fits") & ~untried & (table["ratio"] <= factors[1])]
    text = render(
        "estimate.txt",
        job=job,
        mfu=reached_mfu.mfu,
        is_timed=reached_mfu.timed is not None,
        fitting=list(fitting.itertuples()),
        too_small=list(too_small.itertuples()),
        days=sorted(table["as_of"]),
        best=best,
        untried=cheapest(table[untried], request.within_hours),
        as_cheap=as_cheap["machine"].drop(best.Index if best else [], errors="ignore").tolist(),
        within_hours=request.within_hours,
        factors=factors,
    )
    print(text, end="")
