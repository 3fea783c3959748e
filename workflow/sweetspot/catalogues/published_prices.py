"""All sources of prices of today that a study can name."""

from sweetspot.catalogues.sources import aws, azure, gpuhunt, own_table, skypilot_files
from sweetspot.catalogues.sources.source import Source

SOURCES: dict[str, Source] = {
    "skypilot": skypilot_files.SOURCE,
    "gpuhunt": gpuhunt.SOURCE,
    "aws": aws.SOURCE,
    "azure": azure.SOURCE,
    "csv": own_table.SOURCE,
}
"""By the key of `catalogue` in study.yaml."""
