"""What a study declares of power and electricity: facts with source and date, for energy and carbon of a training.
They stand in study.yaml under `energy`, what it leaves to the library in facts/power.csv, providers.csv and grids.csv.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated

from sweetspot.facts.shipped_tables import table
from sweetspot.study.base import SMALLEST, Closed, DateText, Ranged, Slug, Text, not_once, within
from sweetspot.study.terms import LARGEST_PUE, SHARE


class Fact(Ranged):
    """A number that somebody published, or that is assumed and says so: with its range, its source and its date."""

    as_of: DateText
    """When it was so, as precise as known and in quotes (such as "2025", "2025-06" or "2025-06-30")"""
    source: Text
    """Where it was read, or that it is assumed and from what"""


def _fact(row: Mapping[str, str]) -> Fact:
    """Return the fact in a row of a shipped table; a bound that is empty is not given."""
    numbers = {name: float(row[name]) for name in ("value", "low", "high") if row[name]}
    return Fact(**numbers, as_of=row["as_of"], source=row["source"])


# The worst grids, of lignite alone, emit about 1,200 g; no device in sight draws 5 kW (facts/price_rules.csv).
Intensity = Annotated[Fact, within(0, 1500, "g CO2e per kWh")]
SitePue = Annotated[Fact, within(1, LARGEST_PUE)]
Watts = Annotated[Fact, within(SMALLEST, 5000, "W")]
Utilisation = Annotated[Fact, within(SMALLEST, 1, SHARE)]
HostShare = Annotated[Fact, within(0, 2, "a share of the devices")]


class DevicePower(Closed):
    """What one device may draw."""

    gpu: Text
    """Device as instances.yaml names it"""
    watts: Watts
    """W of one device by its data sheet"""
    host_share: HostShare | None = None
    """Of machines with this device, instead of the study's"""


class Site(Closed):
    """Where a provider's machines stand; of a provider whose regions differ much, what the offers' region is."""

    provider: Slug
    """Provider as instances.yaml names it; own for machines that are bought"""
    pue: SitePue | None = None
    """Power of its buildings over power of the machines; of a bought machine own.pue counts"""
    g_per_kwh: Intensity | None = None
    """g CO2e for a kWh from the grid there"""
    grid: Slug | None = None
    """In place of g_per_kwh: a grid of the library's facts/grids.csv"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message: a site that states nothing, a grid unknown or stated twice."""
        if not self._keys_set("pue", "g_per_kwh", "grid"):
            yield "at least one of pue, g_per_kwh, grid"
        if self.grid is not None and (self.g_per_kwh is not None or self.grid not in _grids()):
            yield f"one of g_per_kwh and grid, which is one of {', '.join(_grids())}; found {self.grid!r}"


def _grids() -> dict[str, Fact]:
    """Return the carbon intensity (g CO2e per kWh) of each grid of the library, by name."""
    return {row["grid"]: _fact({**row, "source": f"{row['grid']}: {row['source']}"}) for row in table("grids")}


class Energy(Closed):
    """Facts for kWh and kg CO2e of a training; what is not declared is not computed, and the page says so."""

    utilisation: Utilisation | None = None
    """Share of a rented machine's rated power that training draws on average"""
    host_share: HostShare | None = None
    """Rated power of the rest of a machine (host, fans, supplies) over that of its devices"""
    devices: list[DevicePower] = []
    """Power of the devices of rented machines"""
    sites: list[Site] = []
    """PUE and grid of each provider"""
    shipped: bool = False
    """Whether what is not declared here is taken from the library's power.csv and providers.csv (2026, eastern US)"""

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message for a device or site given twice, or power without utilisation."""
        names = [*(device.gpu for device in self.devices), *(site.provider for site in self.sites)]
        yield from not_once(names, "devices and sites")
        if self.devices and self.utilisation is None and not self.shipped:
            yield "utilisation beside devices: the power of a data sheet is the most that a device draws"

    def completed(self) -> "Energy":
        """Return a copy with all facts for kWh and kg CO2e: grids looked up and, if `shipped`, the library's too."""
        facts, sites = dict[tuple[str, str], Fact](), {site.provider: site for site in self.sites}
        if self.shipped:
            facts = {(row["quantity"], row["gpu"]): _fact(row) for row in table("power")}
            for row in table("providers"):
                site = sites.get(row["provider"]) or Site(provider=row["provider"], grid=row["grid"])
                defaults = {"pue": site.pue or _fact(row), "grid": site.grid or row["grid"]}
                sites[site.provider] = site.model_copy(update=defaults)
        shipped = [
            DevicePower(gpu=gpu, watts=fact, host_share=facts.get(("host_share", gpu)))
            for (quantity, gpu), fact in facts.items()
            if quantity == "watts" and self.device(gpu) is None
        ]
        grids = _grids()
        changes = {
            "utilisation": self.utilisation or facts.get(("utilisation", "")),
            "devices": [*self.devices, *shipped],
            "sites": [
                site.model_copy(update={"g_per_kwh": site.g_per_kwh or grids.get(site.grid or ""), "grid": None})
                for site in sites.values()
            ],
        }
        return self.model_copy(update=changes)

    def device(self, gpu: str) -> DevicePower | None:
        """Return the declared power (W) of a device; None where it is not declared."""
        return next((device for device in self.devices if device.gpu == gpu), None)

    def site(self, provider: str) -> Site | None:
        """Return PUE and grid of a provider's machines; None where they are not declared."""
        return next((site for site in self.sites if site.provider == provider), None)
