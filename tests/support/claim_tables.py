"""Claims checked against tables in memory."""

from collections.abc import Sequence

import pandas as pd
from sweetspot.claims.lookup import SCHEMA, Evidence
from sweetspot.claims.verdicts import check_claims
from sweetspot.study.claims import Claim


def checked(claims: Sequence[Claim], **tables: pd.DataFrame) -> pd.DataFrame:
    """One row a claim; `tables` by the names that Evidence knows."""
    evidence = Evidence({name: table.to_dict("records") for name, table in tables.items()})
    return pd.DataFrame(check_claims(claims, evidence), columns=SCHEMA.names)
