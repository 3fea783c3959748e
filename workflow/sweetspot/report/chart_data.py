"""What the charts draw: the study's tables, the answer's model, options and names, and which rows are shown."""

from collections.abc import Callable, Mapping

from sweetspot.cells import INTERRUPTIBLE
from sweetspot.report import pd
from sweetspot.report.tables import Tables, asked_model, counted_in, judged_option, table_of, titles_of, unit_of

MODELS = 12  # in a chart


class ChartData:
    """The study's tables, the model of the answer, the reference option, as several charts need them.

    `machines`: names for people by instance; one without has its key. `model_title`: the name for people of a model,
    which stands in all tables here instead of its key.
    """

    def __init__(
        self,
        tables: Tables,
        reference: str | None,
        machines: Mapping[str, str] | None = None,
        model_title: Callable[[str], str] = str,
    ) -> None:
        self.tables = {
            name: table.assign(model=table["model"].map(model_title, na_action="ignore")) if "model" in table else table
            for name, table in tables.items()
        }
        self._machines, self._options = dict(machines or {}), titles_of(tables)
        asked = asked_model(tables)
        self.model = model_title(asked) if asked else ""
        self.reference = reference or ""
        self.option = judged_option(tables, asked) or self.reference
        self.box = self.title(self.option)
        self.unit = unit_of(tables)
        self.words = counted_in(tables)

    def answer_first(self, models: "pd.Series") -> list[str]:
        """These models, each once: that of the answer, then the others by name."""
        return sorted(map(str, models.unique()), key=lambda model: (model != self.model, model))

    def table(self, name: str) -> "pd.DataFrame":
        """A table, empty where the study has none."""
        return table_of(self.tables, name)

    def title(self, option: object) -> str:
        """The name for people of an option."""
        return self._options.get(str(option), str(option))

    def titles(self, options: "pd.Series") -> "pd.Series":
        """Names for people of options."""
        return options.map(self.title)

    def machines(self, instances: "pd.Series") -> "pd.Series":
        """Names for people of instances."""
        return instances.map(lambda name: self._machines.get(name, name))

    @staticmethod
    def is_interruptible(rows: "pd.DataFrame") -> "pd.Series":
        """Which machines can be taken away, by how they are paid for."""
        return rows["purchase"].isin(INTERRUPTIBLE)

    def training(self) -> list[str]:
        """One workload a model: the first of those that stand for that model alone."""
        ranks = self.table("ranks")
        models = ranks.groupby("workload")["model"].nunique()
        alone = ranks[ranks["workload"].isin(models[models == 1].index)]
        return list(alone.groupby("model")["workload"].min()) or [str(name) for name in models.index[:1]]

    @staticmethod
    def few_models(rows: "pd.DataFrame", first: str = "") -> "pd.DataFrame":
        """Rows of at most MODELS models: `first`, those with a published or predicted figure, then as they come."""
        models = pd.Series(rows["model"].unique(), dtype=object)
        published = set(rows.loc[rows["basis"] != "measured", "model"]) if "basis" in rows.columns else set()
        order = models.map(lambda model: 0 if model == first else 1 if model in published else 2)
        return rows[rows["model"].isin(models[order.sort_values(kind="stable").index].head(MODELS))]
