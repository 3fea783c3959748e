"""A market of five machines and two models, and what a claim about it computes."""

from pydantic import TypeAdapter
from sweetspot.claims.lookup import Evidence
from sweetspot.claims.verdicts import check_claims
from sweetspot.study.claims import Claim

# Name, purchase, USD an hour, and images/s of `net` and of `big`.
MACHINES = [
    ("box", "own", 1.0, 100.0, 10.0),
    ("alpha", "on_demand", 2.0, 100.0, 20.0),
    ("alpha", "spot", 0.6, 100.0, 20.0),
    ("beta", "spot", 0.4, 50.0, 5.0),
    ("gamma", "on_demand", 5.0, 400.0, 10.0),
    ("delta", "on_demand", 2.0, 100.0, 20.0),  # alpha's twin
]

IMAGES = {"net": 360_000, "big": 36_000}  # of the job: an hour of the box

OWN = {"fixed_usd_per_month": 240.0, "variable_usd_per_hour": 0.2, "capex_usd": 2400.0}


def option(name, purchase, price, model, speed):
    hours = IMAGES[model] / speed / 3600
    row = {"option": f"{name} {purchase}", "instance": name, "purchase": purchase, "provider": "p", "price_list": "l"}
    row |= {"persistent": purchase != "spot", "is_reference": name == "box", "model": model, "images_per_s": speed}
    row |= {"images_per_usd": 3600 * speed / price, "hours": hours, "usd": hours * price, "usd_per_hour": price}
    row |= {"throughput_basis": "published", "throughput_source": "text, table 1"}
    return row | (OWN if name == "box" else dict.fromkeys(OWN))


OPTIONS = [
    option(name, purchase, price, model, speed)
    for name, purchase, price, *speeds in MACHINES
    for model, speed in zip(("net", "big"), speeds, strict=True)
]

OFFERS = [
    {"price_list": "l", "instance": name, "purchase": purchase, "provider": "p", "usd_per_hour": price,
     "basis": "published", "source": "text, table 2"}
    for name, purchase, price, *_ in MACHINES
]  # fmt: skip


def said(kind, evidence=None, **given):
    claim = {"id": "c", "text": "said", "source": "text, page 1", "kind": kind, **given}
    tables = {"options": OPTIONS, "offers": OFFERS} if evidence is None else evidence
    return check_claims([TypeAdapter(Claim).validate_python(claim)], Evidence(tables))[0]


def computed(kind, **given):
    return said(kind, **given)["computed"]
