"""All sources of prices of today that a study can name."""

from collections.abc import Callable
from typing import NamedTuple

from sweetspot.catalogues.downloads import Downloads
from sweetspot.catalogues.listing import Asked, Fetched
from sweetspot.catalogues.sources import published_files as files
from sweetspot.catalogues.sources.aws import fetch_aws
from sweetspot.catalogues.sources.azure import fetch_azure


class Source(NamedTuple):
    """`title`: for people. `base`: its address, which a mirror may replace. `whole`: whether a file holds all that the
    source offers, so that one without any price is no answer.
    """

    title: str
    base: str
    whole: bool
    fetch: Callable[[Asked, Downloads, str], Fetched]


SOURCES = {
    "skypilot": Source("SkyPilot's catalogue", files.SKYPILOT, True, files.fetch_skypilot),
    "gpuhunt": Source("gpuhunt's catalogue", files.GPUHUNT, True, files.fetch_gpuhunt),
    "aws": Source("AWS' price list", "https://pricing.us-east-1.amazonaws.com", False, fetch_aws),
    "azure": Source("Azure's retail prices", "https://prices.azure.com", False, fetch_azure),
    "csv": Source("a table of one's own", "", True, files.fetch_own),
}
"""By the key of `catalogue` in study.yaml."""
