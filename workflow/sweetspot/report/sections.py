"""The tables of the page by name."""

from markupsafe import Markup

from sweetspot.claims.verdicts import CONTRADICTED, HOLDS
from sweetspot.report.cited import text
from sweetspot.report.money_tables import MoneyTables
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.speed_tables import SpeedTables
from sweetspot.report.table_maker import ROWS

__all__ = ["ROWS", "Sections"]
# A claim of more or less than a number; "faster" is more than 1 times as fast.
BOUNDS = {"at_least": "at least", "at_most": "at most"}


class Sections(MoneyTables, SpeedTables):
    """Makes the tables of the page. `machines`: names for people by instance; one without has its key."""

    def parts(self) -> dict[str, Part]:
        """The page's tables by name; a table that the study lacks has no rows."""
        makers = (
            self.ranks, self.other_figures, self.break_even, self.front, self.tornado,
            self.throughput, self.efficiency, self.explain, self.extrapolation, self.validation, self.claims,
            self.offers,
        )  # fmt: skip
        return {maker.__name__: maker() for maker in makers}

    def claims(self) -> Part:
        """What the text prints and what comes out."""
        rows, classes = [], []
        for row in self.rows_of("claims"):
            printed = self.origin.cite(row["printed"], "published", row["source"], digits=4)
            if text(row.get("relation")) in BOUNDS and not missing(row["printed"]):
                printed = Markup("{} {}").format(BOUNDS[text(row["relation"])], printed)
            ends = (row["computed_low"], row["computed_high"])
            origin = "recomputed from the tables of this page, as claims.yaml says"
            found = self.origin.cite(row["computed"], "", origin, "", *ends, digits=4, level="models, rounding")
            unit = "×" if text(row["unit"]) == "x" else text(row["unit"])
            words = [text(row[name]) for name in ("verdict", "reason")]
            rows.append([text(row["text"]), printed, found, unit, *words])
            classes.append({HOLDS: "good", CONTRADICTED: "bad"}.get(str(row["verdict"]), ""))
        return self.part("claims", "claim|printed|recomputed|unit|verdict|why", rows, classes)
