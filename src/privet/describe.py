"""Draft the schema of a table: what is public about it, found without giving anything away.

There are three ways to the public facts. None of them reads a row that was not paid for:

- a public sample shows the values and the bounds;
- the catalog of a database, the types of a file and somebody who knows the table tell them;
- the table itself tells them with noise, for a share of its budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from privet.accounting.cost import Budget, Number
from privet.accounting.ledger import Ledger
from privet.domain.attributes import Attribute, Value
from privet.domain.drafting.answers import read_answer
from privet.domain.drafting.catalog import Outline, check_answers, outline_table
from privet.domain.drafting.drafted import Draft, Wishes, finish_draft, raise_problems
from privet.domain.drafting.sample import draft_sample
from privet.errors import ParameterError
from privet.tables.base import Table
from privet.tables.catalog.read import read_catalog
from privet.tables.open import open_table


def outline(
    table: object,
    target: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Value] = (),
    exclude: Iterable[str] = (),
    include: Iterable[str] = (),
    person: str | None = None,
) -> Outline:
    """Return what names, types, labels and rules tell about a table, and what is still blank.

    No row is read. The arguments are those of :func:`draft_schema`.
    """
    facts = read_catalog(open_table(table))
    wishes = Wishes.read([column.name for column in facts], target, exclude, include, person)
    return outline_table(facts, wishes, columns or {}, classes)


def draft_schema(
    table: object,
    target: str | None = None,
    *,
    sample: Any = None,
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Value] = (),
    exclude: Iterable[str] = (),
    include: Iterable[str] = (),
    person: str | None = None,
    rows_per_person: int = 1,
    n_rows: int | None = None,
    neighbours: str = "add-remove",
    epsilon: Number | None = None,
    ledger: Ledger | None = None,
    budget: Budget | None = None,
    dictionary: Sequence[str] = (),
) -> Draft:
    """Draft the schema of a table, from a public sample or from what is written about its columns.

    No row of the table is read, unless it is paid for with ``epsilon``.

    Parameters
    ----------
    table
        What :func:`~privet.open_table` takes.
    target
        The class column; by default the last one.
    sample
        Public rows, as a pandas DataFrame. Without them, names and types have to do.
    columns
        What columns hold, as somebody would answer: ``{"age": "0..120", "plan": "basic|pro"}``.
    classes
        The classes, where nothing else tells them.
    exclude, include
        Columns to leave out, and columns to keep although they look like identifiers.
    person
        The column that says whose row it is.
    rows_per_person, n_rows, neighbours
        Facts that you declare, as :class:`~privet.Schema` has them.
    epsilon
        What to pay for what is still unknown then: bounds of numbers, frequent values of text and
        the classes are found with noise. A model that is learnt with such a schema gives away
        this epsilon as well, and its card says so.
    ledger, budget
        Where that is charged, and the budget of the table if it has none there yet.
    dictionary
        Public words that texts may be, to be looked for first.

    Returns
    -------
    Draft
        ``schema``, and ``left_out``: why each other column is not in it.

    Examples
    --------
    >>> import pandas as pd
    >>> import privet as pv
    >>> people = pd.DataFrame({"id": [1, 2], "age": [31, 45], "left": [True, False]})
    >>> draft = pv.draft_schema(people)
    >>> draft.schema
    <Schema: 1 attribute (age), target 'left' with 2 classes>
    >>> draft.left_out
    {'id': "its name ends in 'id', as that of an identifier does"}
    """
    opened = open_table(table)
    facts = {"n_rows": n_rows, "rows_per_person": rows_per_person, "neighbours": neighbours}
    if epsilon is not None and sample is not None:
        raise ParameterError("give a public sample or epsilon, not both: one of them suffices")
    if sample is None:
        told = outline(
            opened,
            target,
            columns=columns,
            classes=classes,
            exclude=exclude,
            include=include,
            person=person,
        )
        draft = (
            told.finish()
            if epsilon is None
            else _pay_for_blanks(told, opened, facts, epsilon, ledger, budget, dictionary)
        )
    else:
        draft = _draft_from_sample(
            opened, sample, target, columns or {}, exclude, include, person, classes
        )
    declared = draft.schema.declare(**facts)
    opened.check_structure(declared)
    return replace(draft, schema=declared)


def _pay_for_blanks(
    told: Outline,
    table: Table,
    facts: Mapping[str, Any],
    epsilon: Number,
    ledger: Ledger | None,
    budget: Budget | None,
    dictionary: Sequence[str],
) -> Draft:
    """Find what is blank with noise."""
    from privet.curator.survey import DICTIONARY, Surveyor, pay_for

    if ledger is None:
        raise ParameterError(
            "epsilon needs a ledger, in which it is charged, such as "
            "pv.SQLiteLedger('people.ledger.sqlite')"
        )
    surveyor = Surveyor(
        table,
        told.wishes.target,
        ledger,
        table.name,
        "owner",
        {**facts, "person": told.wishes.person},
        (*dict.fromkeys(dictionary), *DICTIONARY) if dictionary else DICTIONARY,
        budget,
    )
    found = surveyor.survey([told.columns[name] for name in told.blanks], told.classes, epsilon)
    attributes = {**told.attributes, **found.attributes}
    left_out = {**told.left_out, **found.left_out}
    draft = finish_draft(
        {name: attributes[name] for name in told.columns if name in attributes},
        told.wishes,
        list(found.classes),
        {name: left_out[name] for name in told.columns if name in left_out},
    )
    return replace(draft, schema=pay_for(draft.schema, found))


def _draft_from_sample(
    table: Table,
    sample: Any,
    target: str | None,
    answers: Mapping[str, str],
    exclude: Iterable[str],
    include: Iterable[str],
    person: str | None,
    classes: Sequence[Value],
) -> Draft:
    """Draft from a public sample, with what was answered instead of what it shows."""
    columns = {column.name: column for column in read_catalog(table)}
    names = list(columns)
    wishes = Wishes.read(names, target, exclude, include, person)
    here = sample.set_axis([str(column) for column in sample.columns], axis=1)
    absent = {name for name in names if name not in here.columns}
    problems = check_answers(columns, wishes.target, answers)
    if wishes.target in absent:
        problems.append(f"the sample has no column {wishes.target!r}, which is to be predicted")
    raise_problems(problems)
    drafted = draft_sample(
        here[[column for column in here.columns if column in columns]],
        wishes.target,
        exclude=wishes.exclude - absent,
        include=wishes.include - absent,
        person=None if wishes.person in absent else wishes.person,
        forgiving=True,
    )
    answered = {name: read_answer(name, said) for name, said in answers.items()}
    attributes: dict[str, Attribute] = {}
    left_out: dict[str, str] = {}
    for name in names:
        if name == wishes.target:
            continue
        attribute = answered[name] if name in answered else drafted.schema.attributes.get(name)
        if attribute is not None:
            attributes[name] = attribute
        elif name in answered:
            left_out[name] = "you left it out"
        else:
            left_out[name] = drafted.left_out.get(name) or wishes.skip(name) or _NOT_IN_SAMPLE
    return finish_draft(attributes, wishes, list(classes or drafted.schema.classes), left_out)


_NOT_IN_SAMPLE = "it is not in the sample"

__all__ = ["Draft", "draft_schema", "outline"]
