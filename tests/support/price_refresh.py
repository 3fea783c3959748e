"""`sweetspot refresh-prices` on a configuration of its own, against a local server with real rows."""

import json
import shutil
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from price_server import Answer, PriceServer
from project_copy import ROOT
from sweetspot.catalogues.downloads import Downloads
from sweetspot.commands import refresh_prices
from sweetspot.commands.command_line import main
from sweetspot.study.price_list import Offer, load_price_list

DATA = ROOT / "tests" / "data"
STUDY = "eight-gpus-2026"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
AZURE = json.loads((DATA / "published_prices" / "azure_items.json").read_text())


def azure(query: dict[str, list[str]]) -> Answer:
    """Azure's items of the machine and the region that are asked for."""
    (asked,) = query["$filter"]
    of_kind = [item for item in AZURE if f"'{item['type']}'" in asked]
    here = [item for item in of_kind if f"'{item['armSkuName']}'" in asked and "'eastus'" in asked]
    return Answer(json.dumps({"Items": here, "NextPageLink": None, "Count": len(here)}).encode())


def put_catalogues(server: PriceServer) -> PriceServer:
    """Rows of 2026 of SkyPilot's files and Azure's items on the server."""
    for name in ("aws", "gcp", "nebius"):
        server.routes[f"/{name}/vms.csv"] = Answer((DATA / "skypilot" / f"{name}_2026.csv").read_bytes())
    server.routes["/api/retail/prices"] = azure
    return server


def own_config(folder: Path, monkeypatch) -> Path:
    """The project's configuration in `folder`; tries without pauses, on a day that is told."""
    shutil.copytree(ROOT / "config", folder / "config")
    made = partial(Downloads, sleep=lambda _: None, now=lambda: NOW, timeouts_s=(2.0, 0.3))
    monkeypatch.setattr(refresh_prices, "Downloads", made)
    return folder / "config"


def refresh(
    config: Path, server: PriceServer, *given: str, providers=("aws", "gcp", "nebius", "azure"), study: str = STUDY
) -> None:
    """Type the command, every source from the server."""
    mirrors = [f"{name}={server.url}" for name in ("skypilot", "azure", "aws", "gpuhunt")]
    where = ["--config", str(config), "--cache", str(config.parent / "cache"), "--reuse-hours", "0"]
    main(["refresh-prices", study, *where, "--mirror", *mirrors, "--provider", *providers, *given])


def offers(config: Path, name: str, study: str = STUDY) -> dict[tuple[str, str], Offer]:
    """The offers of a price list by instance and purchase."""
    prices = load_price_list(config / "studies" / study / "prices" / f"{name}.yaml")
    return {(offer.instance, offer.purchase): offer for offer in prices.offers}


def contents(config: Path) -> dict[str, bytes]:
    """Every file below, by its path."""
    return {str(file.relative_to(config)): file.read_bytes() for file in config.rglob("*") if file.is_file()}
