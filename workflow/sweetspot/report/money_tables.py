"""The page's tables of money and of the decision, whose every figure links to its origin."""

from sweetspot.report import energy_words
from sweetspot.report.cited import Row, records, text
from sweetspot.report.notation import missing, number
from sweetspot.report.part import Part
from sweetspot.report.table_maker import ROWS, TableMaker, warned, words
from sweetspot.report.tables import asked_model, bills_decide, hours_differ
from sweetspot.study.base import INTERRUPTIBLE


class MoneyTables(TableMaker):
    """Options, break-even, what the answer hangs on, what to take, and prices."""

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
        for row in self.rows_of("ranks"):
            source = f"{text(row['source'])} ; price: {text(row['price_source'])}"
            figures = [
                self.origin.cite(row[name], row["basis"], source, row["as_of"], row[f"{name}_low"], row[f"{name}_high"])
                for name in columns
            ]
            price = self.origin.cite(row["usd_per_hour"], "published", row["price_source"], row["as_of"])
            figures += [energy_words.figure(self, row, name) for name in powered]
            names = [self.model(row), text(row["title"]), self.work(row)]
            places = [text(row[name]) for name in ("rank", *(["rank_hours"] if timed else []), *carbon)]
            rows.append([*names, *figures, price, *places])
            classes.append("interruptible" if row["purchase"] in INTERRUPTIBLE else "")
        heads = {"images_per_s": f"{self.unit}/s", "images_per_usd": f"{self.unit} per USD", "usd": "USD"}
        heads |= energy_words.SHOWN
        figures_head = "|".join(heads.get(name, name) for name in (*columns, *powered))
        head = f"model|option|workload|{figures_head}|USD/hour|by money{'|by time' if timed else ''}"
        head += "|by carbon" if carbon else ""
        return self.part("ranks", head, rows, classes)

    def other_figures(self) -> Part:
        """How the gain of the answer's model moves with figures that others published."""
        table = self.table("other_figures")
        if table.empty:
            return Part((), [], [])
        step, rows, classes = "comparison: choices of published figures", [], []
        asked = table[table["model"] == asked_model(self.tables)]
        for row in records(asked.head(ROWS)):
            batch = "not stated" if missing(row["batch_size"]) else number(row["batch_size"])
            told = (text(row["framework_version"]), f"batch {batch}")
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
                self.model(row),
                self.title(row["option"]),
                self.made(row, "days", step),
                self.made(row, "twice_as_cheap_days", step, "twice"),
                self.made(row, "gain_at_use", step, "gain"),
                self.probability(row, "p_cheaper", step),
                text(row["verdict"]),
            ]
            for row in self.rows_of("break_even")
        ]
        head = "model|against|break-even days|twice as cheap|gain at planned use|P(cheaper)|verdict"
        return self.part("break_even", head, rows)

    def front(self) -> Part:
        """Options that nothing beats in both time and money, and what beats the others."""
        step, rows, classes = "comparison: front of time and money", [], []
        carbon = "kg_co2e" in energy_words.shown(self.tables)
        if not carbon and not hours_differ(self.tables):
            return Part((), [], [])  # without time there is no front, only the cheapest
        for row in self.rows_of("frontier"):
            names = [self.work(row), self.model(row), self.title(row["option"])]
            figures = [self.made(row, name, step) for name in ("hours", "usd")]
            place = self._place(row, "")
            more = [self._place(row, "_with_carbon")] if carbon else []
            rows.append([*names, *figures, place, *more, text(row["risk"]), self.probability(row, "p_on_front", step)])
            classes.append("good" if row["on_front"] else "")
        head = f"workload|model|option|hours|USD|front|{'with carbon|' if carbon else ''}risk|P(on it)"
        return self.part("frontier", head, rows, classes)

    def _place(self, row: Row, objectives: str) -> str:
        """Whether an option is on a front, or what beats it."""
        on_front = row[f"on_front{objectives}"]
        if missing(on_front):
            return "not known"
        return "on the front" if on_front else f"beaten by {self.title(row[f'dominated_by{objectives}'])}"

    def tornado(self) -> Part:
        """Each assumption from low to high."""
        names = ("value", "low", "high", "margin_low", "margin_high")
        rows = [
            [
                self.model(row),
                text(row["assumption"]),
                text(row["unit"]),
                *(self.made(row, name, f"tornado, range: {text(row['range_basis'])}") for name in names),
                text(row["text"]),
            ]
            for row in self.rows_of("tornado")
        ]
        head = "model|assumption|unit|value|low|high|margin at low|margin at high|what flips the winner"
        return self.part("tornado", head, rows)

    def offers(self) -> Part:
        """Prices with list and date."""
        ends = ("usd_per_hour_low", "usd_per_hour_high")
        rows = []
        for row in self.rows_of("offers"):
            low, high = (row[end] for end in ends)
            facts = (row["basis"], row["source"], row["as_of"], low, high)
            price = self.origin.cite(row["usd_per_hour"], *facts, digits=4)
            provider = self.study.provider_title(text(row["provider"]))
            listed = text(row.get("price_list_title")) or text(row["price_list"])
            names = [words(row["purchase"]), provider, listed]
            rows.append([self.machine(row["instance"]), *names, price, text(row["as_of"])[:10], warned(row)])
        return self.part("offers", "machine|purchase|provider|price list|USD/hour|as of|warning", rows)
