"""The page a person reads: charts, tables with their origins, what-if, and a summary.

pandas, Arrow and Altair are imported when first asked for anything: rule files read the charts before anything runs.
"""

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["alt", "pa", "pd"]


class _Later:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import pyarrow as pa
else:
    alt, pa, pd = _Later("altair"), _Later("pyarrow"), _Later("pandas")
