"""The evidence's tables: speeds, predictions, money and the decision on single jobs; figures link to origins."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
from markupsafe import Markup

from sweetspot.bills.energy import ESTIMATED, METERED
from sweetspot.cells import INTERRUPTIBLE
from sweetspot.claims.verdicts import CONTRADICTED, FAILED, HOLDS
from sweetspot.report.cited import Cell, Part
from sweetspot.report.energy_words import ENDS, SHOWN, shown
from sweetspot.report.notation import BASIS_SIGNS, Row, missing, number, text
from sweetspot.report.plan_tables import PlanTables, first, said
from sweetspot.report.tables import asked_model, bills_decide, hours_differ, method_name, of_jobs
from sweetspot.study.titles import framework_title
from sweetspot.warnings import pairs

ALL = "all"  # the slice of every figure held out
# A claim of more or less than a number; "faster" is more than 1 times as fast.
BOUNDS = {"at_least": "at least", "at_most": "at most"}
SAME = ("base_instance", "instance", "framework", "model", "batch_size", "gpus", "precision", "basis")
MARKS = {**dict.fromkeys(("measured", METERED), f"{{}} {BASIS_SIGNS['measured']}"), ESTIMATED: "≈ {}"}


def best_of_variants(table: pd.DataFrame) -> Callable[[Mapping[str, object]], str]:
    """A function of a row of `table`: `best` where its column `best` is true and its cell has other variants too."""
    same = [name for name in SAME if name in table.columns]
    if "best" not in table.columns or table["variant"].nunique() < 2:
        return lambda row: ""
    counts = table.groupby(same)["variant"].nunique()
    several = set(counts[counts > 1].index)
    return lambda row: "best" if row["best"] and tuple(row[name] for name in same) in several else ""


class Sections(PlanTables):
    """Makes the tables of the page; a table that the study lacks has no rows."""

    def parts(self) -> dict[str, Part]:
        """The tables by name."""
        makers = (
            self.worth_knowing, self.price_changes, self.scenarios, self.ranks,
            self.break_even, self.front, self.tornado, self.throughput, self.efficiency,
            self.extrapolation, self.validation, self.claims, self.offers, self.verdict, self.choices, self.jobs,
            self.deadlines, self.plan_tornado, self.plan_turning_points, self.plan_break_even, self.plan_worth_knowing,
        )  # fmt: skip
        return {maker.__name__: maker() for maker in makers}

    def ranks(self) -> Part:
        """Every option: speed, images per USD, time and cost; only what tells the options apart."""
        timed, powered = hours_differ(self.tables), shown(self.tables)
        ranked = {} if bills_decide(self.tables) else {"images_per_usd": f"{self.unit} per USD"}
        heads = {"images_per_s": f"{self.unit}/s"} if timed else {}
        heads |= ranked | ({"hours": "hours"} if timed else {}) | {"usd": "USD"}
        places = {"rank": "by money"} | ({"rank_hours": "by time"} if timed else {})
        places |= {"rank_carbon": "by carbon"} if "kg_co2e" in powered else {}

        def kind(row: Row) -> str:
            return "interruptible" if row["purchase"] in INTERRUPTIBLE else ""

        names = ("model", "option", "workload", *heads.values(), "USD/hour", *map(SHOWN.get, powered), *places.values())
        made = self.part(
            self.table("ranks"), "|".join(map(str, names)), self.model, "title", self.work,
            *(self.cited(name, "{source} ; price: {price_source}", date="{as_of}") for name in heads),
            self.cited("usd_per_hour", "{price_source}", "published", "{as_of}", "none"),
            *(partial(self._energy, name) for name in powered), *places, kind=kind,
        )  # fmt: skip
        # Prices are cited before energy, and stand behind it.
        order = [*range(len(names))]
        order.insert(len(names) - len(places) - 1, order.pop(3 + len(heads)))
        head, rows = tuple(made.head[n] for n in order), [[row[n] for n in order] for row in made.rows]
        return replace(made, head=head, rows=rows)

    def _energy(self, name: str, row: Row) -> Markup:
        """`kwh` or `kg_co2e`; measured and estimated power have signs of their own."""
        told = None if missing(row[name]) else MARKS.get(text(row["power_basis"]), "{}").format(number(row[name]))
        source = "{power_source}" + (" ; {grid_source}" if name == "kg_co2e" else "")
        facts = source, "{power_basis} power", str(self.study.as_of), name
        return self.cited("told", *facts, level=ENDS)({**row, "told": told})

    def break_even(self) -> Part:
        """Days of use from which owning pays, against each option."""
        step = "comparison: break-even"
        return self.part(
            first(of_jobs(self.tables, "break_even"), "model", asked_model(self.tables)),
            "model|against|break-even days|twice as cheap|gain at planned use|P(cheaper)|verdict",
            self.model, self.option, self.made("days", step), self.made("twice_as_cheap_days", step, "twice"),
            self.made("gain_at_use", step, "gain"), self.probability("p_cheaper", step), "verdict",
        )  # fmt: skip

    def front(self) -> Part:
        """Options that nothing beats in both time and money, and what beats the others."""
        step, carbon = "comparison: front of time and money", "kg_co2e" in shown(self.tables)
        # Without time there is no front, only the cheapest.
        table = self.table("frontier") if carbon or hours_differ(self.tables) else pd.DataFrame()
        return self.part(
            table, f"workload|model|option|hours|USD|front|{'with carbon|' if carbon else ''}risk|P(on it)",
            self.work, self.model, self.option, *self.each(step, "hours", "usd"), partial(self._place, ""),
            *([partial(self._place, "_with_carbon")] if carbon else []), "risk", self.probability("p_on_front", step),
            kind="on_front",
        )  # fmt: skip

    def _place(self, objectives: str, row: Row) -> str:
        on_front = row[f"on_front{objectives}"]
        if missing(on_front):
            return "not known"
        return "on the front" if on_front else f"beaten by {self.title(row[f'dominated_by{objectives}'])}"

    def tornado(self) -> Part:
        """Each assumption from low to high."""
        return self.part(
            of_jobs(self.tables, "tornado"),
            "model|assumption|unit|value|low|high|margin at low|margin at high|what flips the winner",
            self.model, "assumption", "unit",
            *self.each("tornado, range: {range_basis}", "value", "low", "high", "margin_low", "margin_high"), "text",
        )  # fmt: skip

    def offers(self) -> Part:
        """Prices with list and date."""

        def provider(row: Row) -> str:
            return self.study.provider_title(text(row["provider"]))

        def listed(row: Row) -> str:
            return text(row.get("price_list_title")) or text(row["price_list"])

        return self.part(
            self.table("offers"), "machine|purchase|provider|price list|USD/hour|as of|warning", self.machine_of,
            said("purchase"), provider, listed, self.cited("usd_per_hour", date="{as_of}", digits=4), _day, _warned,
        )  # fmt: skip

    def throughput(self) -> Part:
        """Every cell, measured or published; failed ones too."""
        table = first(self.table("throughput"), "basis", "measured")

        def unit(row: Row) -> str:
            return self.unit if row["unit"] == "relative" else text(row["unit"]).replace("_", " ")

        def kind(row: Row) -> str:
            return "failed" if row["status"] in ("failed", "oom") else ""

        return self.part(
            table, "machine|device|framework|model|batch|devices|precision|variant|rate|of variants|per second|status|"
            "basis|warning", self.machine_of, "gpu", _framework, self.model, "batch_size", "gpus", "precision",
            "variant", self.cited("images_per_s", date="{as_of}", level="95 %"), best_of_variants(table), unit,
            "status", said("basis"), _warned, kind=kind,
        )  # fmt: skip

    def efficiency(self) -> Part:
        """Scaling efficiency by instance pair."""
        table, as_of = self.table("efficiency"), str(self.study.as_of)

        def pair(row: Row) -> str:
            return f"{self.machine(row['base_instance'])} → {self.machine(row['instance'])}"

        return self.part(
            table, "pair|devices|framework|model|batch|precision|variant|efficiency|of variants|warning",
            pair, "gpus", _framework, self.model, "batch_size", "precision", "variant",
            self.cited("efficiency", date=as_of, ends="none", digits=2), best_of_variants(table), _warned,
        )  # fmt: skip

    def extrapolation(self) -> Part:
        """Predictions by method; the one used for the answer is marked."""

        def role(row: Row) -> str:
            return "used for the answer" if row["headline"] else ""

        return self.part(
            first(self.table("extrapolation"), "headline", True),
            f"machine|model|batch|method|{self.unit}/s|efficiency|role|warning", self.machine_of, self.model,
            "batch_size", _method, *self.each("{source}", "images_per_s", "efficiency"), role, _warned, kind="headline",
        )  # fmt: skip

    def validation(self) -> Part:
        """How far the methods were off on figures held out; a slice that is all of a method's figures says nothing."""
        table, step = self.table("validation"), "scaling: held-out validation"
        told, names = table, ("median_abs_error", "p90_abs_error", "bias", "coverage90")
        if len(table):
            every = table[table["slice"] == ALL]
            whole = table["method"].map(dict(zip(every["method"], every["rows"], strict=True)))
            told = table[(table["slice"] == ALL) | (table["rows"] != whole)]
        return self.part(
            told, "method|slice|rows|median error|90th percentile|bias|within 90 % interval",
            _method, self._slice, "rows", *(self.share(name, step) for name in names), of=len(table),
        )  # fmt: skip

    def _slice(self, row: Row) -> str:
        """Of which figures an error is, as words: `gpus=2` is 2 devices."""
        name, _, value = text(row["slice"]).partition("=")
        if name == "gpus" and value:
            return f"{value} devices"
        told = f"{name}: {self.study.model_title(value) if name == 'model' else value}"
        return told if value else name.replace("_", " ")

    def claims(self) -> Part:
        """What the text prints and what comes out; what does not recompute first, of that what concerns the answer."""
        table = self.table("claims")
        if len(table):
            place = table["verdict"].map({verdict: n for n, verdict in enumerate(FAILED)}).fillna(len(FAILED))
            table = table.assign(_place=place).sort_values("_place", kind="stable")
        figure = self.cited("printed", basis="published", ends="none", digits=4)

        def printed(row: Row) -> Cell:
            bound = None if missing(row["printed"]) else BOUNDS.get(text(row.get("relation")))
            return Markup("{} {}").format(bound, figure(row)) if bound else figure(row)

        def unit(row: Row) -> str:
            return "×" if text(row["unit"]) == "x" else text(row["unit"])

        def kind(row: Row) -> str:
            return {HOLDS: "good", CONTRADICTED: "bad"}.get(str(row["verdict"]), "")

        found = "recomputed from the tables of this page, as claims.yaml says"
        return self.part(
            table, "claim|printed|recomputed|unit|verdict|why", "text", printed,
            self.cited("computed", found, "", digits=4, level="models, rounding"), unit, "verdict", "reason", kind=kind,
        )  # fmt: skip


def _day(row: Row) -> str:
    return text(row["as_of"])[:10]


def _framework(row: Row) -> str:
    return framework_title(text(row.get("framework")))


def _method(row: Row) -> str:
    return method_name(row["method"])


def _warned(row: Row) -> str:
    """The messages of a row's warnings, the names of their rules in words."""
    told = (f"{pair.rule.replace('_', ' ')}: {pair.message}" for pair in pairs(row.get("warnings")))
    return "; ".join(dict.fromkeys(told))
