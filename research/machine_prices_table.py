"""Make workflow/sweetspot/facts/machine_prices.csv anew: what a provider asked an hour for each of its machines.

    python research/machine_prices_table.py PLACES PROVIDER_YEAR.csv ... > .../facts/machine_prices.csv

PLACES: the usual place of each provider, as `aws=us-east-1,azure=eastus,gcp=us-central1`. The catalogues are in
SkyPilot's format: of 2022 and 2026 (Google: 2024 alone), so that those of 2024 and all other places can judge
what is made of it:

- 2022-10 and, for Google, 2024-02: `github:romilbhardwaj/skypilot-catalog@919be2c1` (a fork of skypilot-org's),
  `catalogs/v3/{aws,azure}.csv` and `catalogs/v5/gcp/vms.csv`
- 2026-07: `github:aws/karpenter-provider-aws@1d927085`, `pkg/providers/pricing/zz_generated.pricing_aws.go`
- 2026-06: `github:Azure/karpenter-provider-azure@352646f5`, `pkg/providers/pricing/zz_generated.pricing.go`

The last two are Go maps of region, machine and price, written out as a catalogue's columns InstanceType, Price, Region.
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

from sweetspot.catalogues.readers import read_catalogue

SAME = 0.002


def asked(places: dict[str, str], files: list[Path]) -> dict[tuple[str, str], list[float]]:
    """On-demand prices of a machine in the provider's usual place, distinct ones, by provider and machine."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for file in files:
        provider = file.stem.rsplit("_", 1)[0]
        for entry in read_catalogue("skypilot", file).listings:
            usual = entry.zone.startswith(places[provider]) and not entry.zone[len(places[provider]) :].isdigit()
            prices = found[provider, entry.instance] if usual and entry.purchase == "on_demand" else None
            if prices is not None and not any(abs(entry.per_hour / usd - 1) < SAME for usd in prices):
                prices.append(entry.per_hour)
    return found


if __name__ == "__main__":
    told = dict(pair.split("=") for pair in sys.argv[1].split(","))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("provider", "instance", "usd_per_hour"))
    for key, prices in sorted(asked(told, [Path(name) for name in sys.argv[2:]]).items()):
        if prices:
            writer.writerow((*key, " ".join(f"{usd:.6g}" for usd in sorted(prices))))
