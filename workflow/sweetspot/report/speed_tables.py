"""The page's tables of speed, scaling and predictions, whose every figure links to its origin."""

from sweetspot.report.cited import records, text
from sweetspot.report.notation import number
from sweetspot.report.order import best_of_variants
from sweetspot.report.part import Part
from sweetspot.report.table_maker import ROWS, TableMaker, warned, words
from sweetspot.report.words import method_name
from sweetspot.study.titles import framework_title

ALL = "all"  # the slice of every figure held out


class SpeedTables(TableMaker):
    """What was measured, published and predicted, and how wrong predictions have been."""

    def throughput(self) -> Part:
        """Every cell, measured or published; failed ones too."""
        rows, classes = [], []
        names = ("batch_size", "gpus", "precision", "variant")
        best = best_of_variants(self.table("throughput"))
        for row in self.rows_of("throughput"):
            facts = (row["basis"], row["source"], row["as_of"], row["images_per_s_low"], row["images_per_s_high"])
            rate = self.origin.cite(row["images_per_s"], *facts, level="95 %")
            counts = self.unit if row["unit"] == "relative" else words(row["unit"])
            rest = [counts, text(row["status"]), words(row["basis"]), warned(row)]
            by = framework_title(text(row["framework"]))
            told = [self.machine(row["instance"]), text(row["gpu"]), by, self.model(row)]
            rows.append([*told, *(text(row[name]) for name in names), rate, best(row), *rest])
            classes.append("failed" if row["status"] in ("failed", "oom") else "")
        head = "machine|device|framework|model|batch|devices|precision|variant|rate|of variants|per second|status|basis"
        head += "|warning"
        return self.part("throughput", head, rows, classes)

    def efficiency(self) -> Part:
        """Scaling efficiency by instance pair."""
        best = best_of_variants(self.table("efficiency"))
        rows = [
            [
                f"{self.machine(row['base_instance'])} → {self.machine(row['instance'])}",
                text(row.get("gpus")),
                framework_title(text(row.get("framework"))),
                self.model(row),
                *(text(row.get(name)) for name in ("batch_size", "precision", "variant")),
                self.origin.cite(row["efficiency"], row["basis"], row["source"], self.study.as_of, digits=2),
                best(row),
                warned(row),
            ]
            for row in self.rows_of("efficiency")
        ]
        head = "pair|devices|framework|model|batch|precision|variant|efficiency|of variants|warning"
        return self.part("efficiency", head, rows)

    def extrapolation(self) -> Part:
        """Predictions by method; the one used for the answer is marked."""
        rows = [
            [
                self.machine(row["instance"]),
                self.model(row),
                text(row["batch_size"]),
                method_name(row["method"]),
                *(self.made(row, name, text(row["source"])) for name in ("images_per_s", "efficiency")),
                "used for the answer" if row["headline"] else "",
                warned(row),
            ]
            for row in self.rows_of("extrapolation")
        ]
        classes = ["good" if row[-2] else "" for row in rows]
        head = f"machine|model|batch|method|{self.unit}/s|efficiency|role|warning"
        return self.part("extrapolation", head, rows, classes)

    def validation(self) -> Part:
        """How far the methods were off on figures held out; a slice that is all of a method's figures says nothing."""
        names = ("median_abs_error", "p90_abs_error", "bias", "coverage50", "coverage90")
        found = self.rows_of("validation")
        whole = {text(row["method"]): row["rows"] for row in found if text(row["slice"]) == ALL}
        told = [row for row in found if text(row["slice"]) == ALL or row["rows"] != whole.get(text(row["method"]))]
        rows = [
            [
                method_name(row["method"]),
                self._slice(text(row["slice"])),
                text(row["rows"]),
                *(self.share(row, name, "scaling: held-out validation") for name in names),
            ]
            for row in told
        ]
        head = "method|slice|rows|median error|90th percentile|bias|within 50 % interval|within 90 % interval"
        return self.part("validation", head, rows)

    def _slice(self, told: str) -> str:
        """Of which figures an error is, as words: `gpus=2` is 2 devices."""
        name, _, value = told.partition("=")
        if name == "gpus" and value:
            return f"{value} devices"
        return f"{name}: {self.study.model_title(value) if name == 'model' else value}" if value else words(told)

    def explain(self) -> Part:
        """What the step of this study's multi-device figures is spent on, and what would bring each to 90 %."""
        step = "scaling: step split by the ring model"
        table = self.table("explain")
        own = table[table["study"] == self.study.name] if len(table) else table
        rows = [
            [
                self.machine(row["instance"]),
                self.model(row),
                *(number(row[name], 4) for name in ("batch_size", "gpus")),
                *(self.share(row, name, step) for name in ("compute_share", "communication_share", "rest_share")),
                *(self.made(row, name, step) for name in ("batch_for_90", "bandwidth_factor_for_90")),
            ]
            for row in records(own.head(ROWS))
        ]
        head = (
            "machine|model|batch|devices|computing|exchanging gradients|rest|batch for 90 %|link times faster for 90 %"
        )
        return Part(tuple(head.split("|")), rows, [""] * len(rows), len(own) - len(rows))
