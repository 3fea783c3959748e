"""Where the figures lie that a transfer learns from; read by the workflow at its start, so it imports no table."""

from pathlib import Path

from sweetspot.facts.shipped_tables import figures_file

POOLS = ("devices-2026", "scaling-2020", "parkopedia-2018")


def pool_files(asked: bool, studies: Path = Path("config/studies")) -> list[Path]:
    """Files that a transfer learns from; none where no study asks for one."""
    return [figures_file(name, studies) for name in POOLS] if asked else []
