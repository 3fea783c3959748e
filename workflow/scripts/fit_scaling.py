"""What is known about scaling: the study's efficiencies, the 2018 rule's averages, and the figures to learn from."""

from pathlib import Path

from sweetspot.declared_tables import write_table
from sweetspot.files import read_parquet
from sweetspot.scaling.evidence import average_efficiency, concat_filled, study_efficiency, study_evidence
from sweetspot.scaling.published_pairs import published_evidence
from sweetspot.study.instances import load_instances
from sweetspot.throughput.published import read_efficiency, read_published


def main(
    throughput: str, folder: str, framework: str, borrowed: list[str], instances: list[str], outputs: dict[str, str]
) -> None:
    """Write efficiency.parquet, scaling/averages.parquet and scaling/evidence.parquet of the study in `folder`."""
    declared = load_instances(*(Path(file) for file in instances))
    measured = read_parquet(throughput)
    table = study_efficiency(measured, read_efficiency(Path(folder) / "efficiency.csv"), declared, framework)
    pools = [published_evidence(Path(file).parent.name, read_published(Path(file))) for file in borrowed]
    own = study_evidence(Path(folder).name, table, measured, declared)
    write_table(table, outputs["efficiency"])
    write_table(average_efficiency(table), outputs["averages"])
    write_table(concat_filled([*pools, own]), outputs["evidence"])


if "snakemake" in globals():
    main(
        throughput=snakemake.input.throughput,
        folder=str(Path(snakemake.input.instances[-1]).parent),
        framework=snakemake.params.framework,
        borrowed=list(snakemake.input.borrowed),
        instances=list(snakemake.input.instances),
        outputs=dict(snakemake.output.items()),
    )
