"""What is said beside a recomputed figure."""

from collections.abc import Sequence

from sweetspot.claims.lookup import Row


def sentences(*parts: str | None) -> str:
    """The parts that there are, as sentences; the last one without its stop."""
    return ". ".join(part.rstrip(".") for part in parts if part)


def named(what: str, rows: Sequence[Row]) -> str:
    """The options used, by model where they differ."""
    options = sorted({row["option"] for row in rows})
    if len(options) == 1:
        return f"{what} {options[0]}"
    return f"{what} " + ", ".join(f"{row['option']} on {row['model']}" for row in rows)
