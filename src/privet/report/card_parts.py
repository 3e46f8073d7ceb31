"""Write the parts of a card that show a model: what it has learnt, how well it does, who paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.accounting.cost import Cost, compose_sequentially
from privet.accounting.ledger import Entry, LedgerReader, account_digest
from privet.accounting.statement import PrivacyStatement, format_rounded_up
from privet.errors import ParameterError
from privet.model import Model
from privet.model.explanations.explanation import Explanation
from privet.model.explanations.page import NOISE, explain_reading, write_summary
from privet.report.blocks import Bullets, CardBlock, Drawing, Grid, Heading, Paragraph
from privet.text import join_some

#: A card lists so many charges, and opens so many attributes.
MAX_CHARGES, OPEN = 40, 3


def learnt_blocks(said: Explanation | None) -> list[CardBlock]:
    """Show what the whole model has learnt."""
    if said is None:
        return []
    items = [
        f"{one.name}: {one.value:.2f}{f', {NOISE}' if one.sure is False else ''}"
        for one in said.importances
    ]
    return [
        Heading("What it has learnt"),
        *(Paragraph(text) for text in explain_reading(said)),
        Drawing(write_summary(said, OPEN), tuple(items)),
    ]


def evaluation_blocks(model: Model, evaluation: Mapping[str, Any] | None) -> list[CardBlock]:
    """Show how well the model does, as an evaluation writes it for JSON."""
    if evaluation is None:
        return []
    found, classes = list(evaluation["by_class"]), list(model.schema.label.labels)
    if found != classes:
        raise ParameterError(
            f"this evaluation is about the classes {join_some(found, ', ', 5)}, and the model has "
            f"{join_some(classes, ', ', 5)}; evaluate this model"
        )
    rows = [(name, *_format_measure(measure)) for name, measure in evaluation["measures"].items()]
    for label, of_class in evaluation["by_class"].items():
        rows += [
            (f"{name} of {label}", *_format_measure(of_class[name]))
            for name in ("recall", "precision")
        ]
    text = "Measured with noise, and charged. Intervals hold sampling error and privacy noise."
    if evaluation.get("training_rows"):
        text += " It was measured on rows that it was trained on, and may do worse on others."
    return [
        Heading("How well it does"),
        Paragraph(text),
        Grid(("measure", "value", "95% interval"), tuple(rows), numeric=(1, 2)),
    ]


def _format_measure(measure: Mapping[str, float] | None) -> tuple[str, str]:
    if measure is None:
        return "hidden by the noise", ""
    return f"{measure['value']:.3f}", f"{measure['low']:.3f} to {measure['high']:.3f}"


def ledger_blocks(model: Model, ledger: LedgerReader | None) -> list[CardBlock]:
    """List what was asked of the model's tables, by whom and when, from a ledger."""
    if ledger is None:
        return []
    accounts = {leaf.account for leaf in model.privacy.leaves}
    entries = [
        entry
        for entry in ledger.entries()
        if account_digest(ledger.identity, entry.dataset) in accounts
    ]
    if not entries:
        text = "This ledger has no charge of an account that the model was learnt from."
        return [Heading("Who asked what"), Paragraph(text)]
    groups: dict[tuple[str, str, int], list[Entry]] = {}
    for entry in entries:
        single = entry.reservation or -entry.number
        groups.setdefault((entry.dataset, entry.analyst, single), []).append(entry)
    rows = [_list_group(group) for group in groups.values()]
    left_out = len(rows) - MAX_CHARGES
    more = [(f"… {left_out} earlier", "", "", "", "")] if left_out > 0 else []
    total = compose_sequentially(entry.cost for entry in entries)
    text = (
        "All charges to the account of this table, this model and everything else: what a person "
        "loses is their sum."
    )
    last = ("", "", "", "all together", _format_cost(total))
    return [
        Heading("Who asked what"),
        Paragraph(text),
        Grid(
            ("when (UTC)", "data set", "analyst", "what", "epsilon"),
            (*more, *rows[-MAX_CHARGES:], last),
            numeric=(4,),
        ),
    ]


def _list_group(entries: Sequence[Entry]) -> tuple[str, str, str, str, str]:
    first = entries[0]
    more = f" and {len(entries) - 1} more questions of one fit" if len(entries) > 1 else ""
    cost = compose_sequentially(entry.cost for entry in entries)
    when = first.time[:16].replace("T", " ")
    return (when, first.dataset, first.analyst, f"{first.what}{more}", _format_cost(cost))


def _format_cost(cost: Cost) -> str:
    if cost.epsilon is None:
        return f"rho {format_rounded_up(float(cost.rho))}"
    return format_rounded_up(float(Fraction(cost.epsilon)))


def verify_blocks(privacy: PrivacyStatement) -> list[CardBlock]:
    """Say how whoever has this card can check it."""
    items = [
        "The guarantee: 'privet show MODEL' prints it from the model file, and refuses a file that "
        "was damaged. This card was made from that file by 'privet card MODEL'.",
        "What was charged: 'privet ledger show LEDGER' lists the charges in the owner's ledger and "
        "their sum. Each entry holds a hash of the one before, so a later change can be found: "
        "'privet ledger verify LEDGER' looks for one.",
        "The claim that the learner is as private as it says: 'privet audit' attacks it, and the "
        "proofs are in the documentation.",
    ]
    known = [leaf for leaf in privacy.leaves if leaf.id][:MAX_CHARGES]
    items += [
        f"Release {leaf.id[:16]}{f' of account {leaf.account[:16]}' if leaf.account else ''}: the "
        "same in the model file and, for the account, in every release of the same table."
        for leaf in known
    ]
    return [Heading("How to verify it"), Bullets(tuple(items))]
