"""What stands on the page: the answer, and tables whose every figure links to its origin."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from sweetspot.config import Study
from sweetspot.report.provenance import Provenance
from sweetspot.report.tables import Tables, unit_of
from sweetspot.report.variants import best_of_variants
from sweetspot.report.words import interval_text, missing, share_text

ROWS = 400  # of one table in the page, the most telling first; the files beside it hold all
Cell = Markup | str
Row = Mapping[str, object]


@dataclass(frozen=True)
class Part:
    """A table of the page; `classes`: one a row; `left_out`: rows that only the files hold."""

    head: tuple[str, ...]
    rows: list[list[Cell]]
    classes: list[str]
    left_out: int = 0


def _text(value: object) -> str:
    return "" if missing(value) else str(value)


def _words(value: object) -> str:
    return _text(value).replace("_", " ")


class Sections:
    """Makes the parts of the page; every figure in them is cited in `origin`."""

    def __init__(self, tables: Tables, study: Study, origin: Provenance) -> None:
        self.tables, self.study, self.origin = tables, study, origin
        self.unit = unit_of(tables)

    def parts(self) -> dict[str, Part]:
        """The page's tables by name; a table that the study lacks has no rows."""
        makers = (
            self.recommendation, self.ranks, self.break_even, self.front, self.tornado, self.throughput,
            self.efficiency, self.explain, self.extrapolation, self.validation, self.claims, self.offers,
        )  # fmt: skip
        return {maker.__name__: maker() for maker in makers}

    def _records(self, name: str) -> list[dict[str, object]]:
        table = self.tables.get(name, pd.DataFrame())
        if name == "throughput" and len(table):
            # With very many cells, those of this machine stay in the page.
            table = table.sort_values("basis", key=lambda basis: basis != "measured", kind="stable")
        if name == "claims" and len(table):
            # What does not recompute comes first, and of that what concerns the answer before single prices.
            order = table.assign(_holds=table["verdict"] != "does not", _price=table["kind"] == "price_ratio")
            table = order.sort_values(["_holds", "_price"], kind="stable")
        if name == "break_even" and len(table):
            # The model of the answer first.
            table = table.sort_values("model", key=lambda model: model != self._model(), kind="stable")
        if name == "extrapolation" and len(table):
            table = table.sort_values("headline", ascending=False, kind="stable")
        return table.head(ROWS).to_dict("records")

    def _model(self) -> str:
        headline = self.tables.get("headline", pd.DataFrame())
        return "" if headline.empty else str(headline["model"].iloc[0])

    def _part(self, name: str, head: str, rows: Iterable[list[Cell]], classes: Iterable[str] | None = None) -> Part:
        every = list(rows)
        kinds = list(classes) if classes is not None else [""] * len(every)
        return Part(tuple(head.split("|")), every, kinds, len(self.tables.get(name, ())) - len(every))

    def _made(self, row: Row, name: str, step: str, ends: str = "", **more: object) -> Markup:
        """A figure that a step of the workflow computed; its interval is `ends`_low and `ends`_high."""
        low, high = (row.get(f"{ends or name}_{end}") for end in ("low", "high"))
        facts = (row.get("basis", ""), step, self.study.as_of, low, high)
        return self.origin.cite(row.get(name), *facts, **more)  # type: ignore[arg-type]

    def _share(self, row: Row, name: str, step: str) -> Markup:
        value = row.get(name)
        basis = row.get("basis", "")
        percent = None if missing(value) else 100 * float(value)  # type: ignore[arg-type]
        return self.origin.cite(percent, basis, step, self.study.as_of, digits=2, unit="%")

    def _probability(self, row: Row, name: str, step: str) -> Markup:
        """A share of draws: a finite number of them never shows that something is certain."""
        return self.origin.cite(share_text(row.get(name)), row.get("basis", ""), step, self.study.as_of)

    def ranks(self) -> Part:
        """Every option: speed, images per USD, time and cost."""
        rows, classes = [], []
        for row in self._records("ranks"):
            source = f"{_text(row['source'])} ; price: {_text(row['price_source'])}"
            figures = [
                self.origin.cite(row[name], row["basis"], source, row["as_of"], row[f"{name}_low"], row[f"{name}_high"])
                for name in ("images_per_s", "images_per_usd", "hours", "usd")
            ]
            price = self.origin.cite(row["usd_per_hour"], "published", row["price_source"], row["as_of"])
            names = [_text(row[name]) for name in ("model", "option", "workload")]
            rows.append([*names, *figures, price, _text(row["rank"]), _text(row["rank_hours"])])
            classes.append("" if row["persistent"] else "fleeting")
        head = f"model|option|workload|{self.unit}/s|{self.unit} per USD|hours|USD|USD/hour|by money|by time"
        return self._part("ranks", head, rows, classes)

    def break_even(self) -> Part:
        """Days of use from which owning pays, against each option."""
        step = "comparison: break-even"
        rows = [
            [
                _text(row["model"]),
                _text(row["option"]),
                self._made(row, "days", step),
                self._made(row, "twice_as_cheap_days", step, "twice"),
                self._made(row, "gain_at_use", step, "gain"),
                self._probability(row, "p_cheaper", step),
                _text(row["verdict"]),
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
                *(_text(row[name]) for name in ("phase", "option", "verdict")),
                self._made(row, "margin", step, unit="×"),
                self._probability(row, "probability", step),
                *(_text(row[name]) for name in ("balanced", "reason", "would_change")),
            ]
            for row in self._records("recommendation")
        ]
        head = "phase|cheapest that stays|how sure|margin|probability|best balance|why|what would change it"
        return self._part("recommendation", head, rows)

    def front(self) -> Part:
        """Options that nothing beats in both time and money, and what beats the others."""
        step, rows, classes = "comparison: front of time and money", [], []
        for row in self._records("frontier"):
            names = [_text(row[name]) for name in ("workload", "model", "option")]
            figures = [self._made(row, name, step) for name in ("hours", "usd")]
            place = "on the front" if row["on_front"] else f"beaten by {_text(row['dominated_by'])}"
            rows.append([*names, *figures, place, _text(row["risk"]), self._probability(row, "p_on_front", step)])
            classes.append("good" if row["on_front"] else "")
        return self._part("frontier", "workload|model|option|hours|USD|front|risk|P(on it)", rows, classes)

    def tornado(self) -> Part:
        """Each assumption from low to high."""
        names = ("value", "low", "high", "margin_low", "margin_high")
        rows = [
            [
                *(_text(row[name]) for name in ("model", "assumption", "unit")),
                *(self._made(row, name, f"tornado, range: {_text(row['range_basis'])}") for name in names),
                _text(row["text"]),
            ]
            for row in self._records("tornado")
        ]
        head = "model|assumption|unit|value|low|high|margin at low|margin at high|what flips the winner"
        return self._part("tornado", head, rows)

    def throughput(self) -> Part:
        """Every cell, measured or published; failed ones too."""
        rows, classes = [], []
        names = ("instance", "gpu", "framework", "model", "batch_size", "gpus", "precision", "variant")
        best = best_of_variants(self.tables.get("throughput", pd.DataFrame()))
        for row in self._records("throughput"):
            facts = (row["basis"], row["source"], row["as_of"], row["images_per_s_low"], row["images_per_s_high"])
            rate = self.origin.cite(row["images_per_s"], *facts, level="95 %")
            rest = [_words(row["unit"]), _text(row["status"]), _words(row["basis"]), _text(row["warning"])]
            rows.append([*(_text(row[name]) for name in names), rate, best(row), *rest])
            classes.append("failed" if row["status"] in ("failed", "oom") else "")
        head = (
            "instance|device|framework|model|batch|devices|precision|variant|rate|of variants|per second|status|basis"
        )
        head += "|warning"
        return self._part("throughput", head, rows, classes)

    def efficiency(self) -> Part:
        """Scaling efficiency by instance pair."""
        best = best_of_variants(self.tables.get("efficiency", pd.DataFrame()))
        rows = [
            [
                f"{_text(row['base_instance'])} → {_text(row['instance'])}",
                *(_text(row[name]) for name in ("gpus", "model", "batch_size", "precision", "variant")),
                self.origin.cite(row["efficiency"], row["basis"], row["source"], self.study.as_of, digits=2),
                best(row),
            ]
            for row in self._records("efficiency")
        ]
        return self._part("efficiency", "pair|devices|model|batch|precision|variant|efficiency|of variants", rows)

    def extrapolation(self) -> Part:
        """Predictions by method; the one used for the answer is marked."""
        rows = [
            [
                *(_text(row[name]) for name in ("instance", "model", "batch_size")),
                _words(row["method"]),
                *(self._made(row, name, _text(row["source"])) for name in ("images_per_s", "efficiency")),
                "used for the answer" if row["headline"] else "",
            ]
            for row in self._records("extrapolation")
        ]
        classes = ["good" if row[-1] else "" for row in rows]
        head = f"machine|model|batch|method|{self.unit}/s|efficiency|role"
        return self._part("extrapolation", head, rows, classes)

    def validation(self) -> Part:
        """How far the methods were off on figures held out."""
        names = ("median_abs_error", "p90_abs_error", "bias", "coverage50", "coverage90")
        rows = [
            [
                *(_words(row[name]) for name in ("method", "slice", "rows")),
                *(self._share(row, name, "scaling: held-out validation") for name in names),
            ]
            for row in self._records("validation")
        ]
        head = "method|slice|rows|median error|90th percentile|bias|within 50 % interval|within 90 % interval"
        return self._part("validation", head, rows)

    def explain(self) -> Part:
        """What the step of this study's multi-device figures is spent on, and what would bring each to 90 %."""
        step = "scaling: step split by the ring model"
        table = self.tables.get("explain", pd.DataFrame())
        own = table[table["study"] == self.study.name] if len(table) else table
        rows = [
            [
                *(_text(row[name]) for name in ("instance", "model", "batch_size", "gpus")),
                *(self._share(row, name, step) for name in ("compute_share", "communication_share", "rest_share")),
                *(self._made(row, name, step) for name in ("batch_for_90", "bandwidth_factor_for_90")),
            ]
            for row in own.head(ROWS).to_dict("records")
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
            ends = (row["computed_low"], row["computed_high"])
            origin = f"recomputed: {_text(row['id'])}"
            found = self.origin.cite(row["computed"], "", origin, "", *ends, digits=4, level="range over models")
            words = [_text(row[name]) for name in ("unit", "verdict", "reason")]
            rows.append([_text(row["text"]), printed, found, *words])
            classes.append({"holds": "good", "does not": "bad"}.get(str(row["verdict"]), ""))
        return self._part("claims", "claim|printed|recomputed|unit|verdict|why", rows, classes)

    def offers(self) -> Part:
        """Prices with list and date."""
        ends = ("usd_per_hour_low", "usd_per_hour_high")
        rows = []
        for row in self._records("offers"):
            facts = (row["basis"], row["source"], row["as_of"], *(row[end] for end in ends))
            price = self.origin.cite(row["usd_per_hour"], *facts, digits=4)
            names = [_words(row[name]) for name in ("instance", "purchase", "provider", "price_list")]
            rows.append([*names, price, _text(row["as_of"])[:10], _text(row.get("warning"))])
        return self._part("offers", "instance|purchase|provider|price list|USD/hour|as of|warning", rows)

    def answer(self) -> dict[str, object] | None:
        """The two sentences, the key figures, and the sentences of every model; None without two priced options."""
        headline = self.tables.get("headline", pd.DataFrame())
        if headline.empty:
            return None
        first = headline.iloc[0].to_dict()
        rows = self.tables["ranks"]
        box = rows[(rows["model"] == first["model"]) & (rows["option"] == first["reference"])].iloc[0].to_dict()
        step = f"comparison of {self.study.name}, 4,000 draws"
        facts = _for_the_winner(first) | {"basis": box["basis"]}
        loser = first["alternative" if first["gain"] > 1 else "reference"]
        figures = [
            (f"times cheaper: {first['winner']} than {loser}", self._made(facts, "gain", step, unit="×"),
             _span(facts, "gain")),
            (f"probability that {first['winner']} is cheaper", self._probability(facts, "p_cheaper", step), ""),
        ]  # fmt: skip
        if not missing(first["planned_days"]):
            days = facts | ({"days": "never"} if missing(first["days"]) else {})
            label = "days of use a month to break even"
            figures.append((label, self._made(days, "days", step), _span(first, "days")))
        figures += [
            (f"USD to train {first['model']} once", self._made(box, "usd", _text(box["source"])), _span(box, "usd")),
            ("hours to train it", self._made(box, "hours", _text(box["source"])), _span(box, "hours")),
        ]  # fmt: skip
        models = headline[headline["scope"] == "model"].to_dict("records")
        return {name: first[name] for name in ("first", "second", "reference")} | {"figures": figures, "models": models}


def _for_the_winner(row: Row) -> dict[str, object]:
    """The headline with gain and probability of the cheaper of the two: a gain below 1 is turned over."""
    if float(row["gain"]) > 1:  # type: ignore[arg-type]
        return dict(row)
    low, gain, high = (1 / float(row[name]) for name in ("gain_high", "gain", "gain_low"))  # type: ignore[arg-type]
    chance = 1 - float(row["p_cheaper"])  # type: ignore[arg-type]
    return dict(row) | {"gain": gain, "gain_low": low, "gain_high": high, "p_cheaper": chance}


def _span(row: Row, name: str) -> str:
    text = interval_text(row.get(f"{name}_low"), row.get(f"{name}_high"))
    return f"{text} (90 %)" if text else ""
