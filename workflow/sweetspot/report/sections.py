"""The evidence's tables: speeds, predictions, money and the decision on single jobs; figures link to origins."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
from markupsafe import Markup

from sweetspot.bills.energy import ESTIMATED
from sweetspot.bills.metered import METERED
from sweetspot.claims.verdicts import CONTRADICTED, FAILED, HOLDS
from sweetspot.report.cited import Column, Part
from sweetspot.report.energy_words import ENDS, SHOWN, shown
from sweetspot.report.notation import BASIS_SIGNS, Row, missing, number, text
from sweetspot.report.plan_tables import PlanTables, first, good, interruptible, said
from sweetspot.report.tables import asked_model, bills_decide, hours_differ, method_name, of_jobs
from sweetspot.study.titles import framework_title
from sweetspot.warnings import pairs

ALL = "all"  # the slice of every figure held out
# A claim of more or less than a number; "faster" is more than 1 times as fast.
BOUNDS = {"at_least": "at least", "at_most": "at most"}
SAME = ("base_instance", "instance", "framework", "model", "batch_size", "gpus", "precision", "basis")
MARKS = {**dict.fromkeys(("measured", METERED), f"{{}} {BASIS_SIGNS['measured']}"), ESTIMATED: "≈ {}"}


def warned(row: Row) -> str:
    """The messages of a row's warnings, the names of their rules in words."""
    told = (f"{pair.rule.replace('_', ' ')}: {pair.message}" for pair in pairs(row.get("warnings")))
    return "; ".join(dict.fromkeys(told))


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
            self.worth_knowing, self.later, self.price_changes, self.scenarios, self.ranks, self.other_figures,
            self.break_even, self.front, self.tornado, self.throughput, self.efficiency, self.explain,
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

        def figure(name: str, row: Row) -> Markup:
            source = f"{text(row['source'])} ; price: {text(row['price_source'])}"
            return self.origin.cite(
                row[name], row["basis"], source, row["as_of"], row[f"{name}_low"], row[f"{name}_high"]
            )

        def price(row: Row) -> Markup:
            return self.origin.cite(row["usd_per_hour"], "published", row["price_source"], row["as_of"])

        columns: list[Column] = [("model", self.model), ("option", "title"), ("workload", self.work)]
        columns += [(head, partial(figure, name)) for name, head in heads.items()]
        columns += [("USD/hour", price), *((SHOWN[name], partial(self._energy, name)) for name in powered)]
        columns += [(head, name) for name, head in places.items()]
        made = self.part(self.table("ranks"), columns, interruptible)
        # Prices are cited before energy, and stand behind it.
        order = [*range(len(columns))]
        order.insert(len(columns) - len(places) - 1, order.pop(3 + len(heads)))
        head, rows = tuple(made.head[n] for n in order), [[row[n] for n in order] for row in made.rows]
        return replace(made, head=head, rows=rows)

    def _energy(self, name: str, row: Row) -> Markup:
        """`kwh` or `kg_co2e`; measured and estimated power have signs of their own."""
        if missing(row[name]):
            return self.origin.cite(None)
        source = text(row["power_source"]) + (f" ; {text(row['grid_source'])}" if name == "kg_co2e" else "")
        told = MARKS.get(text(row["power_basis"]), "{}").format(number(row[name]))
        ends = row[f"{name}_low"], row[f"{name}_high"]
        return self.origin.cite(told, f"{text(row['power_basis'])} power", source, self.study.as_of, *ends, level=ENDS)

    def other_figures(self) -> Part:
        """How the gain of the answer's model moves with figures that others published."""
        table, step = self.table("other_figures"), "comparison: choices of published figures"
        asked = table[table["model"] == asked_model(self.tables)] if len(table) else table

        def speed(row: Row) -> Markup:
            return self.origin.cite(row["images_per_s"], "published", text(row["figure_source"]), digits=4)

        def published(row: Row) -> str:
            batch = "not stated" if missing(row["batch_size"]) else number(row["batch_size"])
            told = [text(row["framework_version"]), f"batch {batch}"]
            used = ["as used"] if row["as_used"] else []
            return ", ".join([*filter(None, told), text(row["dataset"]), *used])

        def rival(row: Row) -> str:
            return f"{text(row['alternative_title'])}: {text(row['alternative_figure'])}"

        def as_used(row: Row) -> str:
            return "good" if row["as_used"] and row["alternative_figure"] == "as used" else ""

        return self.part(
            asked,
            [
                ("device", "device"),
                (f"{self.unit}/s of one", speed),
                ("what was published", published),
                ("rival's speed", rival),
                ("cheapest rival that cannot be taken away", "rival_title"),
                ("gain against it", self.made("gain", step, unit="×")),
                ("cheapest of all", "cheapest_of_all_title"),
                ("gain against it", self.made("gain_of_all", step, unit="×")),
            ],
            as_used,
            of=len(table),
        )

    def break_even(self) -> Part:
        """Days of use from which owning pays, against each option."""
        step = "comparison: break-even"
        return self.part(
            first(of_jobs(self.tables, "break_even"), "model", asked_model(self.tables)),
            [
                ("model", self.model),
                ("against", self.option),
                ("break-even days", self.made("days", step)),
                ("twice as cheap", self.made("twice_as_cheap_days", step, "twice")),
                ("gain at planned use", self.made("gain_at_use", step, "gain")),
                ("P(cheaper)", self.probability("p_cheaper", step)),
                ("verdict", "verdict"),
            ],
        )

    def front(self) -> Part:
        """Options that nothing beats in both time and money, and what beats the others."""
        step, carbon = "comparison: front of time and money", "kg_co2e" in shown(self.tables)
        # Without time there is no front, only the cheapest.
        table = self.table("frontier") if carbon or hours_differ(self.tables) else pd.DataFrame()
        return self.part(
            table,
            [
                ("workload", self.work),
                ("model", self.model),
                ("option", self.option),
                *self.each(step, hours="hours", usd="USD"),
                ("front", partial(self._place, "")),
                *([("with carbon", partial(self._place, "_with_carbon"))] if carbon else []),
                ("risk", "risk"),
                ("P(on it)", self.probability("p_on_front", step)),
            ],
            partial(good, "on_front"),
        )

    def _place(self, objectives: str, row: Row) -> str:
        """Whether an option is on a front, or what beats it."""
        on_front = row[f"on_front{objectives}"]
        if missing(on_front):
            return "not known"
        return "on the front" if on_front else f"beaten by {self.title(row[f'dominated_by{objectives}'])}"

    def tornado(self) -> Part:
        """Each assumption from low to high."""
        heads = ("value", "low", "high", "margin_low", "margin_high")

        def figure(name: str, row: Row) -> Markup:
            return self.made(name, f"tornado, range: {text(row['range_basis'])}")(row)

        return self.part(
            of_jobs(self.tables, "tornado"),
            [
                ("model", self.model),
                ("assumption", "assumption"),
                ("unit", "unit"),
                *((name.replace("margin_", "margin at "), partial(figure, name)) for name in heads),
                ("what flips the winner", "text"),
            ],
        )

    def offers(self) -> Part:
        """Prices with list and date."""

        def provider(row: Row) -> str:
            return self.study.provider_title(text(row["provider"]))

        def listed(row: Row) -> str:
            return text(row.get("price_list_title")) or text(row["price_list"])

        def price(row: Row) -> Markup:
            ends = row["usd_per_hour_low"], row["usd_per_hour_high"]
            return self.origin.cite(row["usd_per_hour"], row["basis"], row["source"], row["as_of"], *ends, digits=4)

        return self.part(
            self.table("offers"),
            [
                ("machine", self.machine_of),
                ("purchase", partial(said, "purchase")),
                ("provider", provider),
                ("price list", listed),
                ("USD/hour", price),
                ("as of", _day),
                ("warning", warned),
            ],
        )

    def throughput(self) -> Part:
        """Every cell, measured or published; failed ones too."""
        table = first(self.table("throughput"), "basis", "measured")

        def rate(row: Row) -> Markup:
            facts = (row["basis"], row["source"], row["as_of"], row["images_per_s_low"], row["images_per_s_high"])
            return self.origin.cite(row["images_per_s"], *facts, level="95 %")

        def unit(row: Row) -> str:
            return self.unit if row["unit"] == "relative" else said("unit", row)

        return self.part(
            table,
            [
                ("machine", self.machine_of),
                ("device", "gpu"),
                ("framework", _framework),
                ("model", self.model),
                ("batch", "batch_size"),
                ("devices", "gpus"),
                ("precision", "precision"),
                ("variant", "variant"),
                ("rate", rate),
                ("of variants", best_of_variants(table)),
                ("per second", unit),
                ("status", "status"),
                ("basis", partial(said, "basis")),
                ("warning", warned),
            ],
            _failed,
        )

    def efficiency(self) -> Part:
        """Scaling efficiency by instance pair."""
        table = self.table("efficiency")

        def pair(row: Row) -> str:
            return f"{self.machine(row['base_instance'])} → {self.machine(row['instance'])}"

        def figure(row: Row) -> Markup:
            return self.origin.cite(row["efficiency"], row["basis"], row["source"], self.study.as_of, digits=2)

        optional = {"batch": "batch_size", "precision": "precision", "variant": "variant"}
        return self.part(
            table,
            [
                ("pair", pair),
                ("devices", partial(_known, "gpus")),
                ("framework", _framework),
                ("model", self.model),
                *((head, partial(_known, name)) for head, name in optional.items()),
                ("efficiency", figure),
                ("of variants", best_of_variants(table)),
                ("warning", warned),
            ],
        )

    def extrapolation(self) -> Part:
        """Predictions by method; the one used for the answer is marked."""

        def figure(name: str, row: Row) -> Markup:
            return self.made(name, text(row["source"]))(row)

        def role(row: Row) -> str:
            return "used for the answer" if row["headline"] else ""

        return self.part(
            first(self.table("extrapolation"), "headline", True),
            [
                ("machine", self.machine_of),
                ("model", self.model),
                ("batch", "batch_size"),
                ("method", _method),
                (f"{self.unit}/s", partial(figure, "images_per_s")),
                ("efficiency", partial(figure, "efficiency")),
                ("role", role),
                ("warning", warned),
            ],
            partial(good, "headline"),
        )

    def validation(self) -> Part:
        """How far the methods were off on figures held out; a slice that is all of a method's figures says nothing."""
        table, step = self.table("validation"), "scaling: held-out validation"
        told = table
        if len(table):
            every = table[table["slice"] == ALL]
            whole = table["method"].map(dict(zip(every["method"], every["rows"], strict=True)))
            told = table[(table["slice"] == ALL) | (table["rows"] != whole)]
        heads = {
            "median_abs_error": "median error", "p90_abs_error": "90th percentile", "bias": "bias",
            "coverage50": "within 50 % interval", "coverage90": "within 90 % interval",
        }  # fmt: skip
        return self.part(
            told,
            [
                ("method", _method),
                ("slice", self._slice),
                ("rows", "rows"),
                *((head, self.share(name, step)) for name, head in heads.items()),
            ],
            of=len(table),
        )

    def _slice(self, row: Row) -> str:
        """Of which figures an error is, as words: `gpus=2` is 2 devices."""
        name, _, value = text(row["slice"]).partition("=")
        if name == "gpus" and value:
            return f"{value} devices"
        return f"{name}: {self.study.model_title(value) if name == 'model' else value}" if value else said("slice", row)

    def explain(self) -> Part:
        """What the step of this study's multi-device figures is spent on, and what would bring each to 90 %."""
        table, step = self.table("explain"), "scaling: step split by the ring model"
        own = table[table["study"] == self.study.name] if len(table) else table

        def plain(name: str, row: Row) -> str:
            return number(row[name], 4)

        return self.part(
            own,
            [
                ("machine", self.machine_of),
                ("model", self.model),
                ("batch", partial(plain, "batch_size")),
                ("devices", partial(plain, "gpus")),
                ("computing", self.share("compute_share", step)),
                ("exchanging gradients", self.share("communication_share", step)),
                ("rest", self.share("rest_share", step)),
                *self.each(step, batch_for_90="batch for 90 %", bandwidth_factor_for_90="link times faster for 90 %"),
            ],
        )

    def claims(self) -> Part:
        """What the text prints and what comes out; what does not recompute first, of that what concerns the answer."""
        table = self.table("claims")
        if len(table):
            place = table["verdict"].map({verdict: n for n, verdict in enumerate(FAILED)}).fillna(len(FAILED))
            order = table.assign(_place=place, _price=table["kind"] == "price_ratio")
            table = order.sort_values(["_place", "_price"], kind="stable")

        def printed(row: Row) -> Markup:
            told = self.origin.cite(row["printed"], "published", row["source"], digits=4)
            bound = None if missing(row["printed"]) else BOUNDS.get(text(row.get("relation")))
            return Markup("{} {}").format(bound, told) if bound else told

        def found(row: Row) -> Markup:
            ends, origin = row["computed_low"], "recomputed from the tables of this page, as claims.yaml says"
            return self.origin.cite(
                row["computed"], "", origin, "", ends, row["computed_high"], digits=4, level="models, rounding"
            )

        def unit(row: Row) -> str:
            return "×" if text(row["unit"]) == "x" else text(row["unit"])

        def kind(row: Row) -> str:
            return {HOLDS: "good", CONTRADICTED: "bad"}.get(str(row["verdict"]), "")

        return self.part(
            table,
            [
                ("claim", "text"),
                ("printed", printed),
                ("recomputed", found),
                ("unit", unit),
                ("verdict", "verdict"),
                ("why", "reason"),
            ],
            kind,
        )


def _failed(row: Row) -> str:
    return "failed" if row["status"] in ("failed", "oom") else ""


def _known(name: str, row: Row) -> str:
    return text(row.get(name))


def _day(row: Row) -> str:
    return text(row["as_of"])[:10]


def _framework(row: Row) -> str:
    return framework_title(_known("framework", row))


def _method(row: Row) -> str:
    return method_name(row["method"])
