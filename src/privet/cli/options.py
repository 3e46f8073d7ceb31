"""The options of commands that ask about private rows."""

from __future__ import annotations

import typer

TABLE = typer.Argument(
    help=(
        "A .csv or .parquet file, duckdb:///FILE?table=NAME, postgresql://...?table=NAME, or the "
        "address of a curator: https://HOST."
    )
)
SCHEMA = typer.Option(
    None,
    "--schema",
    "-s",
    help="The public schema of the table (JSON). A curator at an address has its own.",
)
BUDGET = typer.Option(
    None, "--budget", help="The table's total epsilon, set the first time (by default 10)."
)
LEDGER = typer.Option(None, "--ledger", help="The ledger file; by default beside the table.")
ANALYST = typer.Option(None, "--analyst", help="Who asks (by default the owner).")
DATASET = typer.Option(
    None,
    "--dataset",
    help="Of a curator at an address: the data set, if the token is granted several.",
)
TOKEN_FILE = typer.Option(
    None,
    "--token-file",
    help="The file with the token for a curator at an address; by default PRIVET_TOKEN has it.",
)
JSON = typer.Option(False, "--json", help="Print JSON for machines.")
