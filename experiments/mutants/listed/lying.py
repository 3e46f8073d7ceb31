"""Mutants of the copies that are made of what others hold: queries, prices, schemas and cells."""

from __future__ import annotations

from experiments.mutants.mutant import Mutant

_LIARS = "conformance/test_liars.py::"
_HOSTILE = "tables/test_hostile_objects.py::"

MUTANTS = (
    Mutant(
        "a query is checked where it stands",
        "check_query",
        "copy_query(query, schema).plain(schema)",
        "query.plain(schema)",
        "arrays that change after the check let a row count as often as somebody likes",
        (
            f"{_LIARS}test_a_tampered_score_has_the_noise_of_its_size",
            f"{_LIARS}test_what_an_object_remembers_is_not_looked_at[confusion-one tree]",
        ),
    ),
    Mutant(
        "parts of a query are taken as they are",
        "_Copies._make",
        "return self.build(thing)",
        "return thing",
        "a score that was changed into a thousand has the noise of a one",
        (
            f"{_LIARS}test_what_an_object_remembers_is_not_looked_at[confusion-one tree]",
            f"{_LIARS}test_a_tampered_score_has_the_noise_of_its_size",
        ),
    ),
    Mutant(
        "arrays of a query are not copied",
        "_Copies._copy_array",
        "np.array(thing)",
        "np.asarray(thing)",
        "numbers that are expected of a partition change after they were checked",
        (f"{_LIARS}test_arrays_are_copied_before_they_are_checked",),
    ),
    Mutant(
        "subclasses of cells are taken for lists",
        "_Copies._make",
        "if issubclass(kind, PARTS):\n    raise _refusal(name, kind)",
        "",
        "cells of a class of their own are compiled into others than were asked about",
        ("curator/test_gradients.py::TestRefusals::test_cells_that_could_watch",),
    ),
    Mutant(
        "a price is looked at for the key and again for the noise",
        "Curator.ask_once",
        "epsilon, rho = copy_amount(epsilon), copy_amount(rho)",
        "",
        "a charge of 0.001 whose answer was lost buys an answer at 1000",
        (f"{_LIARS}test_a_key_pays_for_one_price",),
    ),
    Mutant(
        "an amount is what it says, and not what it holds",
        "parse_exact",
        "value = copy_amount(value)",
        "",
        "seven are charged for a decimal that holds a quarter",
        (f"{_LIARS}test_an_amount_is_what_it_holds",),
    ),
    Mutant(
        "the number of cells is not checked",
        "Cells.__post_init__",
        'n_cells = check_integer("n_cells", self.n_cells, 0, error=QuestionError)',
        "n_cells = self.n_cells",
        "a table of half a cell fails after it was charged",
        (f"{_LIARS}test_the_number_of_cells_is_an_integer[2.5]",),
    ),
    Mutant(
        "a schema keeps the attributes that it is given",
        "Schema.__post_init__",
        "_copy_attribute(name, attribute)",
        "attribute",
        "what an attribute remembers is not what its schema says",
        (f"{_LIARS}test_an_attribute_that_was_changed_is_made_anew",),
    ),
    Mutant(
        "an object in a frame may raise an error",
        "plain_value_of",
        "return NO_VALUE",
        "raise",
        "that a count fails tells that one person's row is there",
        (f"{_HOSTILE}test_an_object_is_read_by_itself[zone-date-True]",),
    ),
    Mutant(
        "objects are asked by pandas for their class",
        "distinct_objects",
        "all(map(operator.is_, map(type, entries), repeat(str)))",
        'pd.api.types.infer_dtype(entries, skipna=False) == "string"',
        "that a count fails tells that one person's row is there",
        (f"{_HOSTILE}test_an_object_is_read_by_itself[classless-categorical-True]",),
    ),
    Mutant(
        "people are compared by whatever their class does",
        "_read_identity",
        "comparable = is_plain_scalar(value) or kind in _COMPARED",
        "comparable = True",
        "an object that cannot be compared fails the count, or is somebody else",
        (f"{_HOSTILE}test_an_object_is_a_person_of_its_own_or_none[thing]",),
    ),
    Mutant(
        "what was proved for one domain is believed of another",
        "Cells._prove",
        "_recall_parents(self.schema.sizes, self.n_cells, *held)",
        "_recall_parents((3, 2), 2, *held)",
        "a compiled loop steps out of the arrays of a tree, into whatever is in memory",
        ("domain/test_arrays.py::test_what_was_proved_once_is_proved_for_that_content_only",),
    ),
    Mutant(
        "a split that equals another is taken for it",
        "_Copies._build_split",
        "not plain or set(map(type, branch)) != {int}",
        "not plain",
        "a branch of truth values counts a row where its integers would not",
        (
            "conformance/test_copies.py::"
            "test_a_branch_that_only_equals_integers_is_refused[branch0]",
        ),
    ),
)
