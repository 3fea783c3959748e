"""Values for JSON, which has no NaN."""

import math
from collections.abc import Mapping
from typing import Any


def without_nan(value: Any) -> Any:
    """Return a value with null in place of NaN and infinities, in mappings and lists too."""
    if isinstance(value, Mapping):
        return {name: without_nan(part) for name, part in value.items()}
    if isinstance(value, list):
        return [without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
