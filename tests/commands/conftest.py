"""A configuration to write into, and a server of prices."""

from pathlib import Path

import pytest
from price_refresh import own_config, put_catalogues
from price_server import serving


@pytest.fixture
def config(tmp_path, monkeypatch) -> Path:
    """The project's configuration; what is fetched is fetched without pauses, on a day that is told."""
    return own_config(tmp_path, monkeypatch)


@pytest.fixture
def server():
    """A local server with real rows of catalogues."""
    with serving() as found:
        yield put_catalogues(found)
