"""What the charts draw: the study's tables, the answer's model, options and names, and which rows are shown."""

from collections.abc import Callable, Mapping

from sweetspot.report import pd
from sweetspot.report.tables import Tables, asked_model, counted_in, judged_option, table_of, titles_of, unit_of

MODELS = 12  # in a chart
RANK_COLUMNS = ("model", "workload", "basis", "source", "as_of", "price_source", "persistent", "in_answer")


class ChartData:
    """What the charts of a study share: its tables, the model of the answer, the reference option, titles. `tables` are
    by name; the keys in their column `model` are replaced by titles, which `model_title` gives. `reference`: the
    instance that the study judges, or None. `machines`: titles by instance; one without a title is shown by its key.
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
        model_key = asked_model(tables)
        self.model = model_title(model_key) if model_key else ""
        self.reference = reference or ""
        self.option = judged_option(tables, model_key) or self.reference
        self.unit, self.words = unit_of(tables), counted_in(tables)

    def table(self, name: str, *columns: str) -> "pd.DataFrame":
        """Return the table called `name`, with all of `columns` (NaN if new); empty if the study lacks the table."""
        return table_of(self.tables, name, *columns)

    def answer_options(self) -> "pd.DataFrame":
        """Return the rows of the table `ranks` from which charts of costs are drawn, with RANK_COLUMNS. They are one
        per option (a machine at a price), of the answer's model in its first workload by name.
        """
        rows = self.table("ranks", *RANK_COLUMNS)
        rows = rows[rows["model"] == self.model]
        return rows[rows["workload"] == rows["workload"].min()]

    def title(self, option: object) -> str:
        """Return the title of an option, else its key."""
        return self._options.get(str(option), str(option))

    def machines(self, instances: "pd.Series") -> "pd.Series":
        """Return the title of each instance, else its key; same index."""
        return instances.map(lambda name: self._machines.get(name, name))

    def answer_first(self, models: "pd.Series") -> list[str]:
        """Return the distinct titles in `models`, that of the answer's model first, the others sorted by name."""
        return sorted(map(str, models.unique()), key=lambda model: (model != self.model, model))

    @staticmethod
    def limit_models(rows: "pd.DataFrame") -> "pd.DataFrame":
        """Return the `rows` (`model`, `basis`) of at most MODELS models, predicted ones first, to be legible."""
        by_model = rows.assign(measured=rows["basis"].eq("measured")).groupby("model", sort=False)["measured"].all()
        return rows[rows["model"].isin(by_model.sort_values(kind="stable").index[:MODELS])]
