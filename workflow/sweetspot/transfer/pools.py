"""Where the figures lie that a transfer learns from; read by the workflow at its start, so it imports nothing."""

POOLS = ("devices-2026", "scaling-2020", "parkopedia-2018")
HOME, DEVICES = POOLS[0], "devices.csv"  # where the table of devices lies


def pool_files(asked: bool) -> list[str]:
    """Files below the project that a transfer learns from; none where no study asks for one."""
    found = [f"config/studies/{name}/throughput.csv" for name in POOLS] + [f"config/studies/{HOME}/{DEVICES}"]
    return found if asked else []
