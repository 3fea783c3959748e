"""A configuration to write into, and a server of prices."""

import shutil
from pathlib import Path

import pytest
from price_refresh import DATA, TODAY
from price_server import Answer, serving
from project_copy import ROOT
from sweetspot.catalogues import downloads


@pytest.fixture
def config(tmp_path, monkeypatch) -> Path:
    """The project's configuration; what is fetched is fetched without pauses, on a day that is told."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.setattr(downloads, "current_day", lambda: TODAY)
    monkeypatch.setattr(downloads, "TIMEOUTS_S", (2.0, 0.3))
    return tmp_path / "config"


@pytest.fixture
def server():
    """A local server with real rows of SkyPilot's files."""
    with serving() as found:
        for file in ("aws_2026", "gcp_2026", "nebius_2026", "azure_2024"):
            found.routes[f"/{file[:-5]}/vms.csv"] = Answer((DATA / "skypilot" / f"{file}.csv").read_bytes())
        yield found
