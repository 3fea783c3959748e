"""Lists of rented machines for the lint: rows of a name, USD an hour and what the machine is; AWS' as known."""

from datetime import date

from price_lists import findings, price_list
from sweetspot.bills.lint.known import MACHINES as TABLE
from sweetspot.study.instances import Instance

DAY = date(2024, 6, 15)


def machine(name, gpu="CPU", gpus=1, vcpus=None, memory_gib=None, provider="a-cloud"):
    return Instance(title=name, provider=provider, gpu=gpu, gpus=gpus, vcpus=vcpus, memory_gib=memory_gib)


def listed(rows, provider="a-cloud", purchase="on_demand", day=DAY, **keys):
    """A list and its machines; rows: name, USD an hour, and what the machine is."""
    known = {name: machine(name, provider=provider, **facts) for name, _, facts in rows}
    offers = ({"instance": name, "purchase": purchase, "per_hour": usd} for name, usd, _ in rows)
    return price_list(*offers, as_of=day, **keys), known


def said(rows, provider="aws", **keys):
    """Messages by rule and machine."""
    prices, known = listed(rows, provider, **keys)
    return {(one.rule, one.instance): one.message for one in findings(prices, known, study_date=prices.as_of)}


def linted(rows, provider="a-cloud", severity="warning", **keys):
    """(rule, machine) of a list."""
    prices, known = listed(rows, provider, **keys)
    told = findings(prices, known, study_date=prices.as_of)
    return {(one.rule, one.instance) for one in told if one.severity == severity and one.rule != "spot_terms"}


def card(name, usd, gpus=1, gpu="a new card", **facts):
    return (name, usd, {"gpu": gpu, "gpus": gpus, **facts})


def gpus(prices, gpu="a new card"):
    """Machines of 1, 2, 4 and 8 devices."""
    return [card(f"m{n}", usd, n, gpu) for n, usd in zip((1, 2, 4, 8), prices, strict=False)]


# AWS, us-east-1: c5 is linear in vCPUs; c4.8xlarge has 36 vCPUs for 16 times c4.large.
AWS = {
    "c5": {"large": (0.085, 2), "xlarge": (0.17, 4), "2xlarge": (0.34, 8), "4xlarge": (0.68, 16)},
    "c4": {"large": (0.1, 2), "xlarge": (0.199, 4), "2xlarge": (0.398, 8), "4xlarge": (0.796, 16),
           "8xlarge": (1.591, 36)},
    "p3": {"2xlarge": (3.06, 1), "8xlarge": (12.24, 4), "16xlarge": (24.48, 8)},
    "p2": {"xlarge": (0.9, 1), "8xlarge": (7.2, 8), "16xlarge": (14.4, 16)},
}  # fmt: skip


def aws(name="c5", factor=1.0, sizes=None, **changed):
    """Rows of an AWS family, all times `factor`; changed prices by size with an x in front of a digit."""
    rows = []
    for size, (usd, units) in AWS[sizes or name].items():
        facts = {"vcpus": units} if name.startswith("c") else {"gpu": {"p3": "V100", "p2": "K80"}[name], "gpus": units}
        rows.append((f"{name}.{size}", round(changed.get(f"x{size}", usd) * factor, 6), facts))
    return rows


def known_machines(sizes=None):
    """AWS' processors at their only known price, by name: USD; of `sizes` alone, if any."""
    lines = [line.split(",") for line in TABLE.read_text().splitlines()]
    known = {name: float(usd) for provider, name, usd in lines if provider == "aws" and " " not in usd}
    first = "cmrti" if sizes is None else "cmr"
    wanted = (name for name in known if sizes is None or name.rpartition(".")[2] in sizes)
    return {name: known[name] for name in wanted if name[0] in first}


def families(count, shifted=(), factor=1.2):
    """So many families of AWS of two machines each, as known; those with the numbers in `shifted` times the factor."""
    vcpus, by_family = {"xlarge": 4, "2xlarge": 8}, {}
    for name, usd in known_machines(vcpus).items():
        by_family.setdefault(name.partition(".")[0], []).append((name, usd, vcpus[name.rpartition(".")[2]]))
    pairs = [rows for rows in by_family.values() if len(rows) == 2][:count]
    assert len(pairs) == count
    return [(name, round(usd * (factor if number in shifted else 1), 6), {"vcpus": cores})
            for number, rows in enumerate(pairs) for name, usd, cores in rows]  # fmt: skip
