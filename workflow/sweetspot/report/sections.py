"""The tables of the page, whose every figure links to its origin."""

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from sweetspot.claims.verdicts import CONTRADICTED, HOLDS
from sweetspot.report import energy_words
from sweetspot.report.cited import Cited, Row, records, text
from sweetspot.report.notation import missing
from sweetspot.report.order import best_of_variants, in_order
from sweetspot.report.part import Cell, Part
from sweetspot.report.provenance import Provenance
from sweetspot.report.tables import Tables, bills_decide, hours_differ
from sweetspot.report.words import titles_of
from sweetspot.study.study import Study
from sweetspot.warnings import as_text

# A claim of more or less than a number; "faster" is more than 1 times as fast.
BOUNDS = {"at_least": "at least", "at_most": "at most"}
ROWS = 400  # of one table in the page, the most telling first; the files beside it hold all


def _words(value: object) -> str:
    return text(value).replace("_", " ")


def _warned(row: Row) -> str:
    """The messages of a row's warnings."""
    return as_text(row.get("warnings"))


class Sections(Cited):
    """Makes the tables of the page. `machines`: names for people by instance; one without has its key."""

    def __init__(
        self, tables: Tables, study: Study, origin: Provenance, machines: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(tables, study, origin)
        self._machines = dict(machines or {})

    def _machine(self, instance: object) -> str:
        """The name for people of an instance."""
        return self._machines.get(text(instance), text(instance))

    def parts(self) -> dict[str, Part]:
        """The page's tables by name; a table that the study lacks has no rows."""
        makers = (
            self.recommendation, self.ranks, self.choices, self.break_even, self.front, self.tornado, self.throughput,
            self.efficiency, self.explain, self.extrapolation, self.validation, self.claims, self.offers,
        )  # fmt: skip
        return {maker.__name__: maker() for maker in makers}

    def _records(self, name: str) -> list[dict[str, Any]]:
        table = self.table(name)
        return records((in_order(name, table, self.table("headline")) if len(table) else table).head(ROWS))

    def _title(self, option: object) -> str:
        """The name for people of an option."""
        return titles_of(self.tables).get(text(option), text(option))

    def _part(self, name: str, head: str, rows: Iterable[list[Cell]], classes: Iterable[str] | None = None) -> Part:
        every = list(rows)
        kinds = list(classes) if classes is not None else [""] * len(every)
        return Part(tuple(head.split("|")), every, kinds, len(self.table(name)) - len(every))

    def ranks(self) -> Part:
        """Every option: speed, images per USD, time and cost; only what tells the options apart."""
        rows, classes = [], []
        timed, ranked = hours_differ(self.tables), not bills_decide(self.tables)
        powered = energy_words.shown(self.tables)
        carbon = ["rank_carbon"] if "kg_co2e" in powered else []
        columns = [
            *(["images_per_s"] if timed else []),
            *(["images_per_usd"] if ranked else []),
            *(["hours"] if timed else []),
            "usd",
        ]
        for row in self._records("ranks"):
            source = f"{text(row['source'])} ; price: {text(row['price_source'])}"
            figures = [
                self.origin.cite(row[name], row["basis"], source, row["as_of"], row[f"{name}_low"], row[f"{name}_high"])
                for name in columns
            ]
            price = self.origin.cite(row["usd_per_hour"], "published", row["price_source"], row["as_of"])
            figures += [energy_words.figure(self, row, name) for name in powered]
            names = [text(row[name]) for name in ("model", "title", "workload")]
            places = [text(row[name]) for name in ("rank", *(["rank_hours"] if timed else []), *carbon)]
            rows.append([*names, *figures, price, *places])
            classes.append("" if row["persistent"] else "interruptible")
        heads = {"images_per_s": f"{self.unit}/s", "images_per_usd": f"{self.unit} per USD", "usd": "USD"}
        heads |= energy_words.SHOWN
        figures_head = "|".join(heads.get(name, name) for name in (*columns, *powered))
        head = f"model|option|workload|{figures_head}|USD/hour|by money{'|by time' if timed else ''}"
        head += "|by carbon" if carbon else ""
        return self._part("ranks", head, rows, classes)

    def choices(self) -> Part:
        """How the gain of the answer's model moves with figures that others published."""
        table, headline = self.table("choices"), self.table("headline")
        if table.empty:
            return Part((), [], [])
        step, rows, classes = "comparison: choices of published figures", [], []
        asked = table[table["model"] == headline["model"].iloc[0]]
        for row in records(asked.head(ROWS)):
            told = (text(row["framework_version"]), f"batch {_words(row['batch_size']) or 'not stated'}")
            used = ["as used"] if row["as_used"] else []
            rows.append(
                [
                    text(row["device"]),
                    self.origin.cite(row["images_per_s"], "published", text(row["figure_source"]), digits=4),
                    ", ".join([*filter(None, told), text(row["dataset"]), *used]),
                    f"{text(row['alternative_title'])}: {text(row['alternative_figure'])}",
                    text(row["rival_title"]),
                    self.made(row, "gain", step, unit="×"),
                    text(row["cheapest_of_all_title"]),
                    self.made(row, "gain_of_all", step, unit="×"),
                ]
            )
            classes.append("good" if row["as_used"] and row["alternative_figure"] == "as used" else "")
        head = f"device|{self.unit}/s of one|what was published|rival's speed|cheapest rival that cannot be taken away"
        head += "|gain against it|cheapest of all|gain against it"
        return Part(tuple(head.split("|")), rows, classes, len(table) - len(asked))

    def break_even(self) -> Part:
        """Days of use from which owning pays, against each option."""
        step = "comparison: break-even"
        rows = [
            [
                text(row["model"]),
                self._title(row["option"]),
                self.made(row, "days", step),
                self.made(row, "twice_as_cheap_days", step, "twice"),
                self.made(row, "gain_at_use", step, "gain"),
                self.probability(row, "p_cheaper", step),
                text(row["verdict"]),
            ]
            for row in self._records("break_even")
        ]
        head = "model|against|break-even days|twice as cheap|gain at planned use|P(cheaper)|verdict"
        return self._part("break_even", head, rows)

    def recommendation(self) -> Part:
        """What to take for each phase, how sure that is, why, and what would change it."""
        step = "comparison: recommendation"
        rows = [
            [
                *(text(row[name]) for name in ("phase", "title", "verdict")),
                self.made(row, "margin", step, unit="×"),
                self.probability(row, "probability", step),
                *(text(row[name]) for name in ("balanced_title", "reason", "would_change")),
            ]
            for row in self._records("recommendation")
        ]
        head = (
            "phase|cheapest that cannot be taken away|how sure|margin|probability|best balance|why|what would change it"
        )
        return self._part("recommendation", head, rows)

    def front(self) -> Part:
        """Options that nothing beats in both time and money, and what beats the others."""
        step, rows, classes = "comparison: front of time and money", [], []
        carbon = "kg_co2e" in energy_words.shown(self.tables)
        for row in self._records("frontier"):
            names = [text(row["workload"]), text(row["model"]), self._title(row["option"])]
            figures = [self.made(row, name, step) for name in ("hours", "usd")]
            place = self._place(row, "")
            more = [self._place(row, "_with_carbon")] if carbon else []
            rows.append([*names, *figures, place, *more, text(row["risk"]), self.probability(row, "p_on_front", step)])
            classes.append("good" if row["on_front"] else "")
        head = f"workload|model|option|hours|USD|front|{'with carbon|' if carbon else ''}risk|P(on it)"
        return self._part("frontier", head, rows, classes)

    def _place(self, row: Row, objectives: str) -> str:
        """Whether an option is on a front, or what beats it."""
        on_front = row[f"on_front{objectives}"]
        if missing(on_front):
            return "not known"
        return "on the front" if on_front else f"beaten by {self._title(row[f'dominated_by{objectives}'])}"

    def tornado(self) -> Part:
        """Each assumption from low to high."""
        names = ("value", "low", "high", "margin_low", "margin_high")
        rows = [
            [
                *(text(row[name]) for name in ("model", "assumption", "unit")),
                *(self.made(row, name, f"tornado, range: {text(row['range_basis'])}") for name in names),
                text(row["text"]),
            ]
            for row in self._records("tornado")
        ]
        head = "model|assumption|unit|value|low|high|margin at low|margin at high|what flips the winner"
        return self._part("tornado", head, rows)

    def throughput(self) -> Part:
        """Every cell, measured or published; failed ones too."""
        rows, classes = [], []
        names = ("instance", "gpu", "framework", "model", "batch_size", "gpus", "precision", "variant")
        best = best_of_variants(self.table("throughput"))
        for row in self._records("throughput"):
            facts = (row["basis"], row["source"], row["as_of"], row["images_per_s_low"], row["images_per_s_high"])
            rate = self.origin.cite(row["images_per_s"], *facts, level="95 %")
            rest = [_words(row["unit"]), text(row["status"]), _words(row["basis"]), _warned(row)]
            rows.append([*(text(row[name]) for name in names), rate, best(row), *rest])
            classes.append("failed" if row["status"] in ("failed", "oom") else "")
        head = (
            "instance|device|framework|model|batch|devices|precision|variant|rate|of variants|per second|status|basis"
        )
        head += "|warning"
        return self._part("throughput", head, rows, classes)

    def efficiency(self) -> Part:
        """Scaling efficiency by instance pair."""
        best = best_of_variants(self.table("efficiency"))
        rows = [
            [
                f"{text(row['base_instance'])} → {text(row['instance'])}",
                *(text(row.get(name)) for name in ("gpus", "framework", "model", "batch_size", "precision", "variant")),
                self.origin.cite(row["efficiency"], row["basis"], row["source"], self.study.as_of, digits=2),
                best(row),
                _warned(row),
            ]
            for row in self._records("efficiency")
        ]
        head = "pair|devices|framework|model|batch|precision|variant|efficiency|of variants|warning"
        return self._part("efficiency", head, rows)

    def extrapolation(self) -> Part:
        """Predictions by method; the one used for the answer is marked."""
        rows = [
            [
                self._machine(row["instance"]),
                *(text(row[name]) for name in ("model", "batch_size")),
                _words(row["method"]),
                *(self.made(row, name, text(row["source"])) for name in ("images_per_s", "efficiency")),
                "used for the answer" if row["headline"] else "",
                _warned(row),
            ]
            for row in self._records("extrapolation")
        ]
        classes = ["good" if row[-2] else "" for row in rows]
        head = f"machine|model|batch|method|{self.unit}/s|efficiency|role|warning"
        return self._part("extrapolation", head, rows, classes)

    def validation(self) -> Part:
        """How far the methods were off on figures held out."""
        names = ("median_abs_error", "p90_abs_error", "bias", "coverage50", "coverage90")
        rows = [
            [
                *(_words(row[name]) for name in ("method", "slice", "rows")),
                *(self.share(row, name, "scaling: held-out validation") for name in names),
            ]
            for row in self._records("validation")
        ]
        head = "method|slice|rows|median error|90th percentile|bias|within 50 % interval|within 90 % interval"
        return self._part("validation", head, rows)

    def explain(self) -> Part:
        """What the step of this study's multi-device figures is spent on, and what would bring each to 90 %."""
        step = "scaling: step split by the ring model"
        table = self.table("explain")
        own = table[table["study"] == self.study.name] if len(table) else table
        rows = [
            [
                *(text(row[name]) for name in ("instance", "model", "batch_size", "gpus")),
                *(self.share(row, name, step) for name in ("compute_share", "communication_share", "rest_share")),
                *(self.made(row, name, step) for name in ("batch_for_90", "bandwidth_factor_for_90")),
            ]
            for row in records(own.head(ROWS))
        ]
        head = (
            "instance|model|batch|devices|computing|exchanging gradients|rest|batch for 90 %|link times faster for 90 %"
        )
        return Part(tuple(head.split("|")), rows, [""] * len(rows), len(own) - len(rows))

    def claims(self) -> Part:
        """What the text prints and what comes out."""
        rows, classes = [], []
        for row in self._records("claims"):
            printed = self.origin.cite(row["printed"], "published", row["source"], digits=4)
            if text(row.get("relation")) in BOUNDS and not missing(row["printed"]):
                printed = Markup("{} {}").format(BOUNDS[text(row["relation"])], printed)
            ends = (row["computed_low"], row["computed_high"])
            origin = f"recomputed: {text(row['id'])}"
            found = self.origin.cite(row["computed"], "", origin, "", *ends, digits=4, level="models, rounding")
            words = [text(row[name]) for name in ("unit", "verdict", "reason")]
            rows.append([text(row["text"]), printed, found, *words])
            classes.append({HOLDS: "good", CONTRADICTED: "bad"}.get(str(row["verdict"]), ""))
        return self._part("claims", "claim|printed|recomputed|unit|verdict|why", rows, classes)

    def offers(self) -> Part:
        """Prices with list and date."""
        ends = ("usd_per_hour_low", "usd_per_hour_high")
        rows = []
        for row in self._records("offers"):
            low, high = (row[end] for end in ends)
            facts = (row["basis"], row["source"], row["as_of"], low, high)
            price = self.origin.cite(row["usd_per_hour"], *facts, digits=4)
            names = [_words(row[name]) for name in ("purchase", "provider", "price_list")]
            rows.append([self._machine(row["instance"]), *names, price, text(row["as_of"])[:10], _warned(row)])
        return self._part("offers", "machine|purchase|provider|price list|USD/hour|as of|warning", rows)
