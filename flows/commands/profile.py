"""`benchmint profile`: which role has which column of a table?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tomli_w
import typer

from anonymization.tables.files import read_table, table_name
from anonymization.tables.profile import as_config, propose_roles
from data.neutralise import one_line


def command(
    table: Annotated[Path, typer.Argument(help="A CSV (also gzipped) or Parquet file.")],
    toml: Annotated[
        bool, typer.Option("--toml", help="Print a configuration for `benchmint perturb`.")
    ] = False,
) -> None:
    """Propose a role for each column, from names and shapes; a person decides."""
    profile = propose_roles(read_table(table))
    if toml:
        tables = {table_name(table): as_config(profile)}
        print(tomli_w.dumps({"tables": {"tables": tables}}), end="")
        return
    for proposal in profile.proposals:
        kind = f" ({proposal.kind})" if proposal.kind else ""
        print(one_line(f"{proposal.column}: {proposal.role}{kind} - {proposal.why}"))
    roles = {"entity": profile.entity, "group": profile.group, "period": profile.period}
    roles["region"] = profile.region
    print(
        one_line("; ".join(f"{name}: {column or 'none found'}" for name, column in roles.items()))
    )
    for relation in profile.sums:
        print(one_line(f"relation: {relation.total} = {' + '.join(relation.parts)}"))
