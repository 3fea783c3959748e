"""Which options are one alternative: one machine, in more nodes or under another price list."""

import pandas as pd


def with_alternative(rows: pd.DataFrame) -> pd.DataFrame:
    """The options with `alternative`: rows of the same are one machine, under two price lists or in more nodes.

    Several nodes (`nodes`, null: one) are a way to use the machine that they are made of: of the same provider, device,
    devices a node and way of paying, the one whose node costs most nearly the same an hour. `option` keeps them apart.
    """
    nodes = rows["nodes"].astype(float).fillna(1.0)
    paid = " (" + rows["purchase"].astype(object) + ")"
    found = rows["instance"].astype(object).where(nodes <= 1, None)
    whole = rows.assign(_devices=rows["gpus"] / nodes, _node_usd=rows["usd_per_hour"] / nodes)
    alike = ["provider", "gpu", "_devices", "purchase"]
    known = {key: part for key, part in whole[nodes <= 1].groupby(alike)}
    for label, row in whole[nodes > 1].iterrows():
        key = tuple(row[name] for name in alike)
        single = known.get(key)
        if single is None:  # nobody rents one node of it: its sizes are one alternative all the same
            found[label] = "{} with {} in nodes of {:g}".format(*key)
        else:
            found[label] = single.loc[(single["_node_usd"] - row["_node_usd"]).abs().idxmin(), "instance"]
    return rows.assign(alternative=found + paid)
