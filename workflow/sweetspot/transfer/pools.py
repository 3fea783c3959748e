"""Where the figures lie that a transfer learns from; read by the workflow at its start, so it imports nothing."""

POOLS = ("devices-2026", "scaling-2020", "parkopedia-2018")


def pool_files(asked: bool) -> list[str]:
    """Files below the project that a transfer learns from; none where no study asks for one."""
    return [f"config/studies/{name}/throughput.csv" for name in POOLS] if asked else []
