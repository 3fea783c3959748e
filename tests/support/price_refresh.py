"""`sweetspot refresh-prices` on a configuration of its own, against a local server with real rows."""

from datetime import date
from pathlib import Path

from price_server import PriceServer
from project_copy import ROOT
from sweetspot.commands.command_line import main
from sweetspot.study.price_list import PricedOffer, load_price_list

DATA = ROOT / "tests" / "data"
STUDY = "eight-gpus-2026"
TODAY = date(2026, 11, 22)


def refresh(
    config: Path, server: PriceServer, *given: str, providers=("aws", "gcp", "nebius", "azure"), study: str = STUDY
) -> None:
    """Type the command, every source from the server."""
    mirrors = [f"--mirror={name}={server.url}" for name in ("skypilot", "gpuhunt")]
    chosen = [f"--provider={name}" for name in providers]
    main(["refresh-prices", study, "--config", str(config), *mirrors, *chosen, *given])


def offers(config: Path, name: str, study: str = STUDY) -> dict[tuple[str, str], PricedOffer]:
    """The offers of a price list by instance and purchase."""
    prices = load_price_list(config / "studies" / study / "prices" / f"{name}.yaml")
    return {(offer.instance, offer.purchase): offer for offer in prices.offers}


def contents(config: Path) -> dict[str, bytes]:
    """Every file below, by its path."""
    return {str(file.relative_to(config)): file.read_bytes() for file in config.rglob("*") if file.is_file()}
