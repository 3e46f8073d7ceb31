"""Write the privacy card: what a data-protection officer wants to know, from the model alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from privet._atomic import save_file
from privet.accounting.ledger import LedgerReader
from privet.accounting.statement import format_rounded_up
from privet.domain import Schema
from privet.errors import ParameterError
from privet.learners.evaluation import Evaluation
from privet.model import Model, model_of
from privet.model.explanations.explanation import Explanation
from privet.model.leaf_vectors import explain_wear
from privet.report.blocks import (
    Banner,
    Bullets,
    CardBlock,
    Grid,
    Heading,
    Paragraph,
    render_html_block,
    render_html_page,
    render_markdown,
    render_text,
)
from privet.report.card_parts import (
    evaluation_blocks,
    learnt_blocks,
    ledger_blocks,
    verify_blocks,
)
from privet.report.labels import class_labels
from privet.report.model_parts import Parts, join_amounts, says_classes, vote
from privet.report.wording import explain_promise, list_charges
from privet.text import escape_html, escape_invisible, join_some

#: A card lists so many values of an attribute.
MAX_LISTED = 40
#: It shows the costs of mistakes for so many classes.
MAX_COSTS = 10

_COMBINED = {
    "counts": "their counts are added up",
    "probabilities": "their class shares are added up",
    "vote": "each tree has one vote",
    "scores": "their scores are added up",
}


_LOCAL = (
    "How: every record was randomised by itself before it was collected, by the person whom it is "
    "about or by somebody who held it anyway. Neither whoever collected the reports nor whoever "
    "learnt from them has to be trusted: the promise holds against them too."
)


@dataclass(frozen=True, repr=False)
class Card:
    """A privacy card, to be shown or saved. :func:`card` makes one of a model.

    A notebook shows it; ``print`` prints it as text.
    """

    title: str
    blocks: tuple[CardBlock, ...]

    def to_html(self) -> str:
        """Return the card as one HTML page: no other file, no script, for screen and paper."""
        return render_html_page(self.title, self.blocks)

    def to_markdown(self) -> str:
        """Return the card in Markdown."""
        return render_markdown(self.title, self.blocks)

    def to_text(self) -> str:
        """Return the card as plain text."""
        return render_text(self.title, self.blocks)

    def format_for(self, path: str | PathLike[str]) -> str:
        """Return the card in the format that the ending of a file name asks for."""
        check_card(path)
        return _FORMATS[Path(path).suffix.lower()](self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the card to a file that ends in ``.html``, ``.md`` or ``.txt``.

        An existing file is replaced as a whole or not at all.
        """
        save_file(path, self.format_for(path))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        sections = sum(isinstance(block, Heading) for block in self.blocks)
        return f"<Card {escape_invisible(self.title)!r}: {sections} sections>"

    def _repr_html_(self) -> str:
        body = "\n".join(map(render_html_block, self.blocks))
        return f"<div><h2>{escape_html(self.title)}</h2>\n{body}\n</div>"


_FORMATS = {
    ".html": Card.to_html,
    ".htm": Card.to_html,
    ".md": Card.to_markdown,
    ".txt": Card.to_text,
}


def check_card(path: str | PathLike[str]) -> None:
    """Raise unless a file name has the suffix of a card."""
    if Path(path).suffix.lower() not in _FORMATS:
        raise ParameterError(
            f"a card is saved as .html, .md or .txt, got {Path(path).name!r}; choose one of these "
            "endings"
        )


def card(
    model: object,
    *,
    explanation: Explanation | None = None,
    evaluation: Evaluation | Mapping[str, Any] | None = None,
    ledger: LedgerReader | None = None,
) -> Card:
    """Make the privacy card of a model: what is protected, what is not, and what epsilon means.

    It is written for a data-protection officer, and made from the released model alone.

    Parameters
    ----------
    model : a trained classifier, or a Model
        What the card is about.
    explanation
        What the model has learnt, from ``model.explain()``; by default without bands of noise,
        where the model can be explained at all.
    evaluation
        How well it does, from ``model.score_from``, or as JSON from ``privet evaluate --json``.
    ledger
        The ledger that was charged: the card then lists what was asked of the same table, by whom
        and when.

    Returns
    -------
    Card
        The card. ``card.save("card.html")`` writes it, ``print(card)`` prints it, and a notebook
        shows it.

    Examples
    --------
    >>> import privet as pv
    >>> nursery = pv.datasets.load("nursery")
    >>> tree = pv.GreedyTreeClassifier(epsilon=1, schema=nursery.schema).fit(nursery.table)
    >>> card = pv.card(tree)
    >>> card
    <Card 'Privacy card: greedy-tree for class': 10 sections>
    >>> print(card.to_markdown())
    # Privacy card: greedy-tree for class
    <BLANKLINE>
    > **Guarantee: this model is 1-differentially private with one row added or removed.**
    ...
    """
    released = model_of(model, "card")
    if explanation is None:
        with suppress(ParameterError):  # its trees do not add up, or are too many: no such section
            explanation = released.explain()
    told = evaluation.to_json() if isinstance(evaluation, Evaluation) else evaluation
    shown = [*learnt_blocks(explanation), *evaluation_blocks(released, told)]
    asked = ledger_blocks(released, ledger)
    return Card(_make_card_title(released), tuple(_make_card_blocks(released, shown, asked)))


def card_markdown(model: Model) -> str:
    """Write the card in Markdown."""
    return card(model).to_markdown()


def card_html(model: Model) -> str:
    """Write the card as one HTML page: no other file, no script, for screen, phone and paper."""
    return card(model).to_html()


def _make_card_title(model: Model) -> str:
    return f"Privacy card: {model.learner} for {model.schema.target}"


def _make_card_blocks(
    model: Model, shown: Sequence[CardBlock], asked: Sequence[CardBlock]
) -> list[CardBlock]:
    promise: list[CardBlock] = []
    if model.privacy.private:
        public_size = model.schema.n_rows is not None
        promise = [
            *_protected_blocks(model),
            *explain_promise(model.privacy, public_size=public_size),
            *list_charges(model.privacy),
        ]
    said = dict.fromkeys(
        note for one in (model.privacy, *model.privacy.leaves) for note in one.notes
    )
    why = "" if model.evidence is None else explain_wear(model.evidence)
    said |= {f"Build it anew: {why}.": None} if why else {}
    notes: list[CardBlock] = [Heading("Notes"), Bullets(tuple(said)[:MAX_LISTED])] if said else []
    return [
        _make_banner(model),
        *_about_blocks(model),
        *shown,
        *promise,
        *asked,
        *_not_protected_blocks(model),
        *_needed_blocks(model.schema),
        *(_score_blocks(model) if model.combine == "scores" else _noise_blocks(model)),
        *_limit_blocks(),
        *verify_blocks(model.privacy),
        *notes,
    ]


def _make_banner(model: Model) -> Banner:
    if model.privacy.private:
        said = f"Guarantee: this model is {model.privacy.describe()}.{_describe_paid(model)}"
        return Banner(said, alarm=False)
    reason = model.privacy.reason or "no reason is recorded"
    return Banner(
        f"NOT PRIVATE. This model comes without any privacy guarantee: {reason}. It may reveal "
        "facts about single people. Handle it like the table that it was learnt from, and do not "
        "publish it unless that table is public.",
        alarm=True,
    )


def _describe_paid(model: Model) -> str:
    """Say what the schema itself gave away, and what both come to."""
    if model.schema.paid is None:
        return ""
    paid = Fraction(model.schema.paid["epsilon"])
    said = (
        " What its columns can hold was found in the rows, too, with noise: that cost epsilon "
        f"{format_rounded_up(float(paid))} beside."
    )
    promised = model.privacy.promised.epsilon
    if promised is None or model.privacy.parts:
        return f"{said} Both add up."
    return f"{said} Both together cost epsilon {format_rounded_up(float(paid + promised))}."


def _about_blocks(model: Model) -> list[CardBlock]:
    noisy = (
        "class counts that were estimated from randomised records"
        if model.privacy.local
        else "class counts with random noise added"
    )
    counts = (
        "class scores" if model.combine == "scores" else noisy if model.noise else "class counts"
    )
    how = _COMBINED[model.combine]
    joined = f" ({how})" if len(model.trees) > 1 else ""
    spread = (
        ""
        if model.population is None
        else " It also holds how the values of each attribute are spread, with noise of standard "
        f"deviation {model.population.deviation:.2g} on each share."
    )
    text = (
        f"It predicts {model.schema.target} ({_join_labels(class_labels(model.schema))}). It "
        "consists "
        f"of {_describe_parts(model)}{joined}. The file holds the tests of the trees and "
        f"{counts}. It "
        f"holds {'no exact count and ' if model.combine == 'scores' else ''}no row of the table."
        f"{spread}"
    )
    settings = tuple(
        # the one setting that a reader could take for an exact count
        ("rows (noisy or declared)" if name == "rows" else name, _format_setting(value))
        for name, value in model.settings.items()
    )
    table: list[CardBlock] = (
        [Grid(("setting", "value"), settings, folded="settings of the learner")] if settings else []
    )
    return [Heading("What this is"), Paragraph(text), *table, *_decision_blocks(model)]


def _decision_blocks(model: Model) -> list[CardBlock]:
    """Say what mistakes cost, where the model decides by it."""
    if model.costs is None:
        return []
    labels = class_labels(model.schema)
    said = Paragraph(
        "It says the class with the smallest expected cost, not always the most likely one. "
        "Probabilities do not depend on costs. A mistake costs:"
    )
    if len(labels) > MAX_COSTS:
        return [Paragraph(f"{said.text} see the costs in the file, for {len(labels)} classes.")]
    rows = tuple(
        (label, *(f"{cost:.4g}" for cost in line))
        for label, line in zip(labels, model.costs.tolist(), strict=True)
    )
    return [said, Grid(("true class", *(f"if it says {label}" for label in labels)), rows)]


def _describe_parts(model: Model) -> str:
    parts = Parts.of(model)
    leaves = sum(len(tree.leaves) for tree in parts.trees)
    inside = f"with {leaves} {'leaf' if leaves == 1 else 'leaves'} in all"
    kinds = (
        (len(parts.trees), f"one decision tree {inside}", f"decision trees {inside}"),
        (
            len(parts.terms),
            "a table of scores for the values of one attribute",
            "tables of scores, each for the values of one attribute",
        ),
        (len(parts.constants), "one score for every row", "scores for every row"),
    )
    return "; ".join(
        one if count == 1 else f"{count} {several}" for count, one, several in kinds if count
    )


def _protected_blocks(model: Model) -> list[CardBlock]:
    privacy, rows = model.privacy, model.privacy.rows_per_person
    most = "one row" if rows == 1 else f"{rows} rows"
    if privacy.parts:
        kept = [leaf.display_name for leaf in privacy.leaves if not leaf.person]
        unsaid = (
            f" In {_join_labels(kept)}, no column says whose row it is: that nobody has more "
            "rows there "
            "than that is the owner's assertion."
        )
        whom = f"Every single person, with at most {most} in each table.{unsaid if kept else ''}"
    elif privacy.person:
        whom = (
            "Every single person, with all their rows. Before anything was counted, the curator "
            "cut the table to at most "
            f"{most} of each person, and left out rows that belong to nobody."
        )
    elif rows > 1:
        whom = (
            f"Every single person with at most {most}. That nobody has more is the owner's "
            "assertion: no column says whose row it is, so it could not be enforced."
        )
    else:
        whom = (
            "Every single row. This protects a person only if nobody has more than one row, which "
            "is the owner's assertion: no column says whose row it is, so it could not be enforced."
        )
    unit = privacy.unit
    if privacy.local:
        sent = "one of them" if rows == 1 else f"at most {rows} of them"
        whom = (
            f"Every single record. A person who sent {sent} is protected with this epsilon; "
            "whoever sent more loses more, in proportion. Nobody else could count them."
        )
        what = (
            "Exchanging all that a record says for anything else would have made the same report "
            "almost as likely. That somebody took part is not hidden, and how many did is public."
        )
    elif privacy.neighbours == "replace":
        what = (
            f"Exchanging all that one {unit} says for anything else would have given almost the "
            "same model. How many there are is public."
        )
    else:
        what = (
            f"Taking one {unit} out, or adding one, would have given almost the same model: even "
            "taking part is protected."
        )
    return [
        Heading("What is protected, and for whom"),
        Bullets(
            (
                f"For whom: {whom}",
                f"What: {what}",
                *([_LOCAL] if privacy.local else []),
                "Against whom: anyone who holds the model, whatever else they know or will learn, "
                "and however much they compute. "
                "Predicting, plotting and sharing it do not weaken the promise.",
            )
        ),
    ]


def _not_protected_blocks(model: Model) -> list[CardBlock]:
    schema, privacy = model.schema, model.privacy
    rows = (
        [f"The number of rows: the owner declared it public ({schema.n_rows})."]
        if schema.n_rows is not None
        else []
    )
    rows = (
        [f"The number of records: everybody can count the reports ({schema.n_rows})."]
        if rows and privacy.local
        else rows
    )
    if privacy.private:
        how = "rho is k*k times" if privacy.promised.epsilon is None else "epsilon is k times"
        groups = (
            "Groups: the promise is for one at a time. For k people together (a family, say) "
            f"{how} as large."
        )
        other = [
            (
                "Anything else published from the same table: what it costs adds to this. The "
                "owner's ledger has the sum."
            )
        ]
        if privacy.local:
            other = [
                (
                    "Anything else that the same people told: what it costs adds to this, and "
                    "nobody but they can keep the sum."
                )
            ]
    else:
        groups, other = "Single people: nothing limits what the model says about one of them.", []
    items = [
        "The schema: names of columns, listed values, bounds and classes are public.",
        *rows,
        "What is true of the population: the model exists to show it. A statistical fact about a "
        "group is learnt whether or not any one member took part.",
        "A person's class, where it can be predicted from other people's data: whoever knows "
        "someone's attributes can predict their class, even if that person never was in the table.",
        groups,
        (
            "Side channels: how long training took, memory, logs and backups of the machine that "
            "held the table."
        ),
        *other,
    ]
    return [Heading("What is not protected"), Bullets(tuple(items))]


def _needed_blocks(schema: Schema) -> list[CardBlock]:
    rows = tuple(
        (_name_with_column(name, attribute.column), *attribute.describe(limit=MAX_LISTED))
        for name, attribute in schema.attributes.items()
    )
    text = (
        "To predict, a row needs these attributes and nothing else; neither the class nor an "
        "identity. Where a value is not in "
        "the list, the model answers with what it knows without it."
    )
    return [
        Heading("Data needed to use it"),
        Paragraph(text),
        Grid(("attribute", "kind", "values or bounds"), rows),
    ]


def _name_with_column(name: str, column: str | None) -> str:
    return name if column in (None, name) else f"{name} (read from {column})"


def _noise_blocks(model: Model) -> list[CardBlock]:
    if not model.noise:
        state = "The model records no noise on its counts."
        text = state if model.privacy.private else f"{state} They may be exact."
    else:
        text = (
            "Each count of a leaf carries random noise with a standard deviation of "
            f"{model.noise:.3g}: it is right to within about {2 * model.noise:.3g}, 19 times in "
            "20. A leaf whose counts are no larger than that says little, and a count below zero "
            "is noise alone. Counts of inner nodes add up those of several leaves, and their "
            "noise."
        )
    return [Heading("Noise in the counts"), Paragraph(text)]


def _score_blocks(model: Model) -> list[CardBlock]:
    parts = Parts.of(model)
    text = (
        "The values in the trees are scores, not counts: they hold no count of people. A score "
        "says how strongly a part of the model speaks for a class, on a log scale. The scores of a "
        "row are added up over all parts, and the probability of a class is e to the power of its "
        "sum, divided by the total of this over all classes: one point more for a class multiplies "
        "its odds against any other by e, about 2.72."
    )
    votes = sorted({amount for tree in parts.trees if (amount := vote(tree)) is not None})
    items = []
    if votes:
        drawn = (
            " The tree was drawn at random as a whole; this is what protects people, and another "
            "run gives another tree."
        )
        items.append(
            "Decision trees: every leaf says one class, and adds "
            f"{join_amounts(votes)} to its score. This amount is "
            "public and the same in every leaf of a tree: it does not say how many people are "
            "behind it, "
            f"nor how sure the leaf is.{drawn if model.privacy.private else ''}"
        )
    if any(vote(tree) is None and says_classes(tree) for tree in parts.trees):
        items.append(
            "A decision tree whose leaves say one class each, with scores for all classes: the "
            "same for all leaves that say the same, "
            "from noisy class counts of all people together who get this answer, or of everybody."
        )
    if parts.terms:
        names = [model.schema.names[tree.cells.attribute[0]] for tree in parts.terms]
        items.append(f"Tables of scores, for each value of: {_join_labels(names)}.")
    listed: list[CardBlock] = [Bullets(tuple(items))] if items else []
    return [Heading("What the scores are"), Paragraph(text), *listed]


def _limit_blocks() -> list[CardBlock]:
    items = (
        (
            "This card says nothing about how accurate or how fair the model is. Noise harms rare "
            "groups more than frequent ones."
        ),
        (
            "A promise rests on what the owner declared: a schema that was not learnt from private "
            "rows, and how many rows a person has."
        ),
        (
            "Its checksum shows that a model file is undamaged, not who made it. Take it from a "
            "source that you trust."
        ),
        "A prediction is a statistical statement, not a fact about a person.",
    )
    return [Heading("Limits"), Bullets(items)]


def _join_labels(labels: Sequence[str]) -> str:
    return join_some(labels, ", ", MAX_LISTED)


def _format_setting(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_setting, value))
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_format_setting(each)}" for name, each in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
