"""The client's commands: learning, predicting, changing the table, with the key that the server
never sees.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args

import typer

from privet.cli.options import FORCE, JSON, ROWS
from privet.cli.outsource.options import (
    CA,
    KEY_FILE,
    TOKEN_FILE,
    TREE,
    URL,
    connect_to_table,
    locked,
    rows_of,
)

if TYPE_CHECKING:
    from privet.outsource.client import Outbox, OutsourcedTable
    from privet.outsource.client.replies import TreeSummary

OUTPUT = typer.Option(
    None, "--output", "-o", help="Where to write the predictions (CSV); by default standard output."
)
AT_ONCE = typer.Option(
    200,
    "--at-once",
    min=1,
    max=10_000,
    help="Rows predicted with one exchange; 1 is the paper's way.",
)
KEEP = typer.Option(
    "counts",
    "--keep",
    help="What a sealed tree is kept with: counts of classes, or tuples, its rows (the paper's "
    "way).",
)
OUTBOX = typer.Option(
    None,
    "--outbox",
    help="The file where sealed sub-trees wait for the server; by default beside the key file.",
)
SPLITS = typer.Option("multiway", help="multiway: one child per value; binary: two children.")


def status(
    url: str = URL, token_file: Path | None = TOKEN_FILE, ca: Path | None = CA, as_json: bool = JSON
) -> None:
    """What the server holds: rows, groups, base trees and how many of their leaves are refined.

    Example: [bold]privet outsource status https://store.example[/bold]
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from privet.outsource.anatomy import STATEMENT

    with connect_to_table(url, token_file, None, ca) as table:
        told = table.about()
        trees = [(tree, len(table.details(tree.id).refined)) for tree in told["trees"]]
    anatomy = told["anatomy"]
    if as_json:
        listed = [
            {"id": tree.id, "leaves": tree.leaves, "largest": tree.largest, "refined": refined}
            for tree, refined in trees
        ]
        facts = {name: told[name] for name in ("rows", "values", "groups", "version", "pending")}
        typer.echo(
            json.dumps(
                {
                    **facts,
                    "id": anatomy.id,
                    "l": anatomy.l,
                    "sensitive": anatomy.sensitive,
                    "trees": listed,
                }
            )
        )
        return
    console = Console()
    console.print(
        f"table {anatomy.id[:8]}: {told['rows']} rows in {told['groups']} groups, "
        f"{anatomy.l}-diverse in {anatomy.sensitive!r}; {told['pending']} rows wait for a group",
        highlight=False,
        markup=False,  # a name may look like it
        soft_wrap=True,
    )
    view = Table(
        title="Base trees, newest first", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for column in ("tree", "grown (UTC)", "splits"):
        view.add_column(column)
    for column in ("leaf size", "leaves", "refined", "largest", "changed"):
        view.add_column(column, justify="right")
    for tree, refined in trees:
        numbers = (tree.leaf_size, tree.leaves, refined, tree.largest, tree.changed)
        view.add_row(
            tree.id[:8], tree.made[5:16].replace("T", " "), tree.splits, *map(str, numbers)
        )
    console.print(view)
    console.print(STATEMENT, highlight=False, style="dim")


def learn(
    url: str = URL,
    splits: str = SPLITS,
    leaf_size: str = typer.Option(
        "2",
        "--leaf-size",
        help="Rows that two children of a split have at least; auto tries several (needs the key).",
    ),
    max_depth: int | None = typer.Option(None, help="The most tests on a path.", min=0),
    key_file: Path | None = typer.Option(
        None, "--key-file", "-k", help="The client's key file, for --leaf-size auto."
    ),
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
) -> None:
    """Let the server grow a base tree from what identifies people. Its leaves are refined when
    predictions reach them.

    Example: [bold]privet outsource learn https://store.example --leaf-size auto -k
    people.key[/bold]
    """
    from privet.cli.asking import working
    from privet.errors import ParameterError
    from privet.outsource.client import choose_leaf_size

    if leaf_size != "auto" and not (
        leaf_size.isascii() and leaf_size.isdigit() and int(leaf_size) >= 1
    ):
        raise ParameterError(
            f"--leaf-size must be auto or an integer of at least 1, got {leaf_size!r}"
        )
    with connect_to_table(url, token_file, key_file, ca) as table:
        if leaf_size != "auto":
            with working("growing"):
                tree = table.grow(splits, int(leaf_size), max_depth)
        else:
            with _bar("trying leaf sizes") as progress:
                best, tried = choose_leaf_size(
                    table, splits, max_depth=max_depth, progress=progress
                )
            for trial in tried:
                mark = " <- kept" if trial is best else ""
                typer.echo(
                    f"leaf size {trial.tree.leaf_size}: {trial.tree.leaves} leaves, right on "
                    f"{trial.right} of {trial.of} pruning rows{mark}"
                )
            tree = best.tree
    typer.echo(
        f"tree {tree.id[:8]}: {tree.leaves} leaves, the largest of {tree.largest} rows; not "
        "differentially private"
    )


def predict(
    url: str = URL,
    table: str = ROWS,
    key_file: Path = KEY_FILE,
    output: Path | None = OUTPUT,
    tree: str | None = TREE,
    at_once: int = AT_ONCE,
    keep: str = KEEP,
    outbox: Path | None = OUTBOX,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    force: bool = FORCE,
) -> None:
    """Classify rows with the server's tree, refined at the client (cdtl). Their sensitive values
    are not sent.

    A leaf that nobody has reached before is refined first: its rows are fetched, joined with the
    key and learnt from, and the sub-tree is left with the server, sealed. The server sees what
    identifies the rows, and which leaves they reach.

    Example: [bold]privet outsource predict https://store.example new-people.csv -k people.key -o
    predictions.csv[/bold]
    """
    from privet.outsource.client import Collaborative, Outbox

    with (
        connect_to_table(url, token_file, key_file, ca) as there,
        Outbox(there, _find_outbox(outbox, key_file)) as sending,
    ):
        learner = Collaborative(
            there, _find_tree(there, tree), keep=_check_keep(keep), outbox=sending
        )
        _predict(learner, there, rows_of(table), at_once, output, force=force, outbox=sending)


def naive(
    url: str = URL,
    table: str = ROWS,
    key_file: Path = KEY_FILE,
    output: Path | None = OUTPUT,
    splits: str = SPLITS,
    again: bool = typer.Option(False, "--again", help="Learn anew although there is a tree."),
    at_once: int = AT_ONCE,
    keep: str = KEEP,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    force: bool = FORCE,
) -> None:
    """Classify rows with a tree that the client learns from the whole table (cnl), which it fetches
    and joins the first time.

    The tree is left with the server, sealed, and fetched as a whole for every exchange.

    Example: [bold]privet outsource naive https://store.example new-people.csv -k people.key[/bold]
    """
    from privet.cli.asking import working
    from privet.outsource.client import Naive

    with connect_to_table(url, token_file, key_file, ca) as there:
        learner = Naive(there, _check_splits(splits), _check_keep(keep))
        if again or not learner.is_there():
            with working("learning from the whole table"):
                learner.learn(again=again)
        _predict(learner, there, rows_of(table), at_once, output, force=force)


def baseline(
    url: str = URL,
    table: str = ROWS,
    anatomy: Path | None = typer.Option(
        None, help="The owner's anatomy.json: a server cannot ask for other columns."
    ),
    key_file: Path | None = typer.Option(
        None, "--key-file", "-k", help="The client's key file, instead of --anatomy."
    ),
    output: Path | None = OUTPUT,
    tree: str | None = TREE,
    at_once: int = AT_ONCE,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    force: bool = FORCE,
) -> None:
    """Classify rows with the server's tree alone (cdbsl). It does not use the sensitive attribute,
    and needs no key.

    Example: [bold]privet outsource baseline https://store.example new-people.csv --anatomy
    anatomy.json[/bold]
    """
    from privet.outsource.client import Baseline

    with connect_to_table(url, token_file, key_file, ca, anatomy) as there:
        _predict(
            Baseline(there, _find_tree(there, tree)),
            there,
            rows_of(table),
            at_once,
            output,
            force=force,
        )


def insert(
    url: str = URL,
    table: str = ROWS,
    key_file: Path = KEY_FILE,
    batch: int | None = typer.Option(
        None, help="Make groups when so many rows wait; by default 20 times l.", min=1
    ),
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
) -> None:
    """Add rows. They wait at the server, sealed as a whole, until there are enough of them to make
    l-diverse groups.

    Example: [bold]privet outsource insert https://store.example new-people.csv -k people.key[/bold]
    """
    from privet.outsource.client.updates import insert as insert_rows

    with connect_to_table(url, token_file, key_file, ca) as there:
        rows = rows_of(table)
        done = insert_rows(there, rows, batch)
    typer.echo(
        f"added {len(rows)} rows; {done.placed} got a group ({done.groups} groups), {done.waiting} "
        "wait"
    )
    _tell_unreadable(done.unreadable)


def _tell_unreadable(texts: int) -> None:
    if texts:
        typer.echo(
            f"{texts} texts that wait cannot be opened with this key and were passed over; remove "
            "them with 'privet outsource flush --drop-unreadable'",
            err=True,
        )


def flush(
    url: str = URL,
    key_file: Path = KEY_FILE,
    drop_unreadable: bool = typer.Option(
        False, "--drop-unreadable", help="Remove texts that wait and that no key opens."
    ),
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
) -> None:
    """Make groups of the rows that wait, as many as can be made. The fewer wait, the more a server
    learns from what remains.

    Example: [bold]privet outsource flush https://store.example -k people.key[/bold]
    """
    from privet.outsource.client.updates import flush as make_groups

    with connect_to_table(url, token_file, key_file, ca) as there:
        done = make_groups(there, drop_unreadable=drop_unreadable)
    typer.echo(f"{done.placed} rows got a group ({done.groups} groups), {done.waiting} wait")
    _tell_unreadable(done.unreadable)


def delete(
    url: str = URL,
    table: str = ROWS,
    key_file: Path = KEY_FILE,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
) -> None:
    """Delete rows, each given in full. Their sensitive values stay behind, so that the others of
    their groups stay hidden.

    Example: [bold]privet outsource delete https://store.example gone.csv -k people.key[/bold]
    """
    from privet.cli.asking import working
    from privet.outsource.client.updates import delete as delete_rows

    with connect_to_table(url, token_file, key_file, ca) as there, working("deleting"):
        done = delete_rows(there, rows_of(table))
    typer.echo(
        f"deleted {done} rows; sub-trees that had seen them are dropped, the base tree remembers "
        "them until 'learn'"
    )


def rotate(
    url: str = URL,
    key_file: Path = KEY_FILE,
    fresh: bool = typer.Option(
        True, "--fresh/--resume", help="Make a fresh key first, or go on with the current one."
    ),
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
) -> None:
    """Seal everything at the server anew with a fresh key. It can be interrupted; --resume goes on.

    The key file then holds both keys: give it to all clients, and forget the old key with 'privet
    outsource key retire'.

    Example: [bold]privet outsource rotate https://store.example -k people.key[/bold]
    """
    from privet.cli.asking import working
    from privet.outsource.client.rotation import check_key
    from privet.outsource.client.rotation import rotate as seal_anew

    if fresh:
        with connect_to_table(url, token_file, key_file, ca) as there:
            check_key(there)  # before a key is made
        with locked(key_file) as (ring, passphrase):
            ring.add_fresh_key().write(key_file, passphrase, over=True)
    with connect_to_table(url, token_file, key_file, ca) as there, working("sealing"):
        done = seal_anew(there)
    typer.echo(
        f"sealed {done} texts anew; forget the older keys with 'privet outsource key retire "
        f"{key_file} {url}'"
    )


def export(
    url: str = URL,
    key_file: Path = KEY_FILE,
    output: Path = typer.Option(..., "--output", "-o", help="The CSV file to write."),
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    force: bool = FORCE,
) -> None:
    """Get the table back: fetch both halves, join them with the key and write a CSV file.

    Example: [bold]privet outsource export https://store.example -k people.key -o people.csv[/bold]
    """
    from privet.cli.asking import check_writable, working
    from privet.outsource.client.rotation import export as write_rows

    check_writable(output, force=force)
    with connect_to_table(url, token_file, key_file, ca) as there, working("exporting"):
        done = write_rows(there, output)
    typer.echo(f"wrote {done} rows to {output}; rows that wait for a group are among them")


def card(
    url: str = URL,
    tree: str | None = TREE,
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help="Where to write it: .html, or Markdown; by default Markdown on standard output.",
    ),
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    force: bool = FORCE,
) -> None:
    """A card of an outsourced tree: what it was made of, who sees what, and that it is not
    differentially private.

    Example: [bold]privet outsource card https://store.example -o card.html[/bold]
    """
    from privet.cli.asking import check_writable, write_out
    from privet.outsource.card import outsourced_card

    if output is not None:
        check_writable(output, force=force)
    with connect_to_table(url, token_file, None, ca) as there:
        chosen = _find_tree(there, tree)
        page = output is not None and output.suffix.lower() in (".html", ".htm")
        details = there.details(chosen.id)
        text = outsourced_card(there.about(), chosen, details, html=page)
    if output is None:
        typer.echo(text)
    else:
        write_out(output, text)


class _Learner(Protocol):
    def predict(
        self, frame: Any, at_once: int, progress: Callable[[int, int], None]
    ) -> list[str]: ...


def _predict(
    learner: _Learner,
    there: OutsourcedTable,
    rows: Any,
    at_once: int,
    output: Path | None,
    *,
    force: bool,
    outbox: Outbox | None = None,
) -> None:
    import pandas as pd

    from privet.cli.asking import check_writable, write_out

    if output is not None:
        check_writable(output, force=force)
    target = there.anatomy.schema.target
    with _bar("classifying", len(rows)) as progress:
        said = learner.predict(rows, at_once, progress)
    answers = pd.DataFrame({target: said}).to_csv(index=False)
    if output is None:
        typer.echo(answers, nl=False)
    else:
        write_out(output, answers, quiet=True, private=True)
    left = 0 if outbox is None else outbox.close()
    spent = there.meter
    if target in rows.columns:
        label = there.anatomy.schema.label
        right = sum(
            label.code_of_text.get(str(true)) == label.code_of_text[one]
            for true, one in zip(rows[target], said, strict=True)
        )
        typer.echo(f"right for {right} of {len(said)} rows", err=True)
    typer.echo(
        f"{spent.requests} requests, {spent.sent} bytes sent, {spent.received} received, "
        f"{spent.sealed} sealed, {spent.opened} opened, "
        f"{spent.refined} leaves refined, at most {spent.rows_held} rows in memory",
        err=True,
    )
    if left and outbox is not None:
        typer.echo(
            f"{left} sub-trees wait in {outbox.path}, because the server did not take them "
            f"({outbox.trouble}); the next 'privet outsource predict' with this key sends them",
            err=True,
        )


def _find_outbox(given: Path | None, key_file: Path) -> Path | None:
    """The file that was named, or one beside the key, where sub-trees can wait for the server."""
    if given is not None:
        return given
    return (
        key_file.with_name(f".{key_file.name}.outbox")
        if os.access(key_file.parent, os.W_OK)
        else None
    )


def _find_tree(there: OutsourcedTable, beginning: str | None) -> TreeSummary:
    from privet.errors import ParameterError

    if beginning is None:
        return there.newest_tree()
    trees: list[TreeSummary] = there.about()["trees"]
    matching = [tree for tree in trees if tree.id.startswith(beginning)]
    if len(matching) != 1:
        listed = ", ".join(tree.id[:8] for tree in trees) or "none"
        raise ParameterError(
            f"--tree must be the beginning of one tree's id; there are {listed}; got {beginning!r}"
        )
    return matching[0]


def _check_keep(keep: str) -> Any:
    from privet._validate import check_name
    from privet.outsource.client.learners import Keep

    return check_name("--keep", keep, get_args(Keep))


def _check_splits(splits: str) -> Any:
    from privet._types import Splits
    from privet._validate import check_name

    return check_name("--splits", splits, get_args(Splits))


@contextmanager
def _bar(what: str, total: int | None = None) -> Iterator[Any]:
    """A progress bar on standard error where somebody looks."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, of: bar.update(task, completed=done, total=of)
