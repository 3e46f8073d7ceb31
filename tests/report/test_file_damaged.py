"""Whatever is wrong with a file, one error comes out, with the path and a reason; and nothing
hangs.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet.domain import Schema
from privet.errors import ModelError, PrivetError
from privet.model import file
from privet.model.document import to_document
from privet.model.file import parse, seal
from privet.model.structure import Damaged
from privet.report import card_html, card_markdown, read_model, tree_text, write_model
from tests.report.models import SCHEMA, gaussian_model, merged_model, random_codes, small_model
from tests.report.scored import scored_model

DOCUMENT = to_document(small_model())
SEALED = seal(DOCUMENT)


def changed(path: tuple, value, document: dict = DOCUMENT) -> dict:
    """The document with another value somewhere."""
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


def reason_of(data: bytes, tmp_path) -> str:
    (tmp_path / "m.json").write_bytes(data)
    with pytest.raises(ModelError) as caught:
        read_model(tmp_path / "m.json")
    assert str(caught.value) == f"model file {tmp_path / 'm.json'}: {caught.value.reason}"
    assert 0 < len(caught.value.reason) <= 201
    assert "\n" not in caught.value.reason
    return caught.value.reason


def refused(data: bytes) -> None:
    with pytest.raises(Damaged):
        parse(data)


def test_a_file_cut_at_any_byte():
    parse(SEALED)
    for end in range(len(SEALED)):
        refused(SEALED[:end])


def test_a_file_with_any_byte_changed():
    for position in range(len(SEALED)):
        for flip in (0x01, 0x10, 0x20, 0x80):
            refused(SEALED[:position] + bytes([SEALED[position] ^ flip]) + SEALED[position + 1 :])


def test_a_file_with_something_added():
    for extra in (b"\n", b" ", b"\x00", b"{}", SEALED):
        refused(SEALED + extra)
        refused(extra + SEALED)
    refused(b"\xef\xbb\xbf" + SEALED)


def test_a_file_that_was_formatted_anew(tmp_path):
    assert "checksum" in reason_of(json.dumps(json.loads(SEALED), indent=1).encode(), tmp_path)


@pytest.mark.parametrize(
    ("version", "shown"),
    [(4, "4"), (0, "0"), (None, "None"), ("1", "'1'"), (True, "True"), (1.0, "1.0")],
)
def test_unknown_versions_are_named_whatever_else_they_hold(version, shown, tmp_path):
    document = {**DOCUMENT, "version": version, "new": []}
    assert f"its version is {shown}, this Privet reads versions 1, 2 and 3" in reason_of(
        seal(document), tmp_path
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "cut off"),
        (b"[]", "no Privet model"),
        (b"3", "no Privet model"),
        (b'{"privet":"schema"}', "no Privet model"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"privet":"model","version":' + b"9" * 10_000 + b"}", "too long"),
        (b'{"privet":"model","privet":"model"}', "twice"),
        (b'{"privet":"model","version":NaN}', "NaN"),
        (b'{"privet":"model","version":1}', "checksum"),
        (b'{"privet":"model","version":1,"checksum":"0"}', "checksum"),
        (SEALED.replace(b"[[55.6,", b"[[NaN,"), "NaN"),
        (SEALED.replace(b"[[55.6,", b"[[-Infinity,"), "-Infinity"),
    ],
)
def test_what_is_no_sealed_object(data, reason, tmp_path):
    assert reason in reason_of(data, tmp_path)


def test_deep_nesting_inside_a_sealed_file(tmp_path):
    inside = b'{"a":' * 400 + b"1" + b"}" * 400
    body = json.dumps(DOCUMENT, separators=(",", ":")).encode()
    body = body.replace(
        b'"settings":' + json.dumps(DOCUMENT["settings"], separators=(",", ":")).encode(),
        b'"settings":' + inside,
    )
    sealed = body[:-1] + b',"checksum":"' + hashlib.sha256(body).hexdigest().encode() + b'"}'
    assert "nested too deeply" in reason_of(sealed, tmp_path)


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "MAX_BYTES", 100)
    assert "more than 100 bytes" in reason_of(SEALED, tmp_path)


MANY = {
    f"a{i}": {"type": "numeric", "low": 0.0, "high": 1.0, "bins": 65_000, "spacing": "linear"}
    for i in range(100)
}
PRIMES = [n for n in range(2, 8000) if all(n % d for d in range(2, int(n**0.5) + 1))]
UNLIKE = [{"what": "x", "epsilon": f"1/{prime}", "rho": f"1/{prime}"} for prime in PRIMES]
#: Sealed as it should be, and wrong: where, what, and the reason.
WRONG = [
    (("learner",), 3, "learner"),
    (("learner",), "x" * 201, "learner"),
    (("combine",), "mean", "combine"),
    (("combine",), ["counts"], "combine"),
    (("noise",), -0.5, "noise"),
    (("noise",), True, "noise"),
    (("noise",), "1", "noise"),
    (("noise",), 10**400, "noise"),
    (("fingerprint",), "0" * 64, "fingerprint"),
    (("fingerprint",), None, "fingerprint"),
    (
        ("schema", "attributes", "form", "values"),
        ["complete", "foster", "incomplete"],
        "fingerprint",
    ),
    (("schema", "attributes"), {}, "schema"),
    (("schema", "attributes"), MANY, "more than"),
    (("schema", "attributes", "age", "bins"), 10**9, "more than"),
    (("schema", "attributes", "age", "bins"), -(10**9), "more than"),  # makes room for no others
    (("schema", "attributes", "age", "bins"), 4.0, "bins"),
    (("schema", "attributes", "age", "low"), 20, "not as Privet writes it"),
    (("schema", "version"), 2, "schema version"),
    (("schema", "rows_per_person"), 1, "not as Privet writes it"),
    (("schema",), [], "schema"),
    (("schema", "target"), "\x00", "target"),
    (("settings",), [], "settings"),
    (("settings", "x"), [[[[[1]]]]], "nested"),
    (("extra",), 1, "unknown key 'extra'"),
    (("trees",), [], "trees"),
    (("trees",), {}, "trees"),
    (("trees", 1), None, "tree 1: a tree must have exactly"),
    (("trees", 0, "cell"), [], "tree 0: a tree must have exactly"),
    (("trees", 0, "attribute"), [], "1 to"),
    (("trees", 0, "attribute", 0), 4, "attribute must lie"),
    (("trees", 0, "attribute", 0), -2, "attribute must lie"),
    (("trees", 0, "attribute", 0), 0.0, "integers"),
    (("trees", 0, "attribute", 0), False, "integers"),
    (("trees", 0, "attribute", 2), 0, "one branch per value"),
    (("trees", 0, "branch", 0), 0, "branch must lie"),
    (("trees", 0, "branch", 0), 9, "branch must lie"),
    (("trees", 0, "branch", 0), 10**30, "branch must lie"),
    (("trees", 0, "branch", 3), 1, "point forward"),
    (("trees", 0, "branch", 3), 2, "two parents"),
    (("trees", 0, "branch", 1), 1, "hangs in the air"),
    (("trees", 0, "branch"), [1, 2, 3], "one branch per value"),
    (("trees", 0, "counts"), [[1, 2, 3]], "counts must be a list of 9 lists"),
    (("trees", 0, "counts", 3), [1, 2], "counts must be a list"),
    (("trees", 0, "counts", 3, 0), "1", "counts must be numbers"),
    (("trees", 0, "counts", 3, 0), None, "counts must be numbers"),
    (("trees", 0, "counts", 3, 0), True, "counts must be numbers"),
    (("trees", 0, "counts", 3, 0), 2**53 + 1, "counts must lie"),
    (("trees", 0, "counts", 3, 0), 1e300, "counts must lie"),
    (("trees", 0, "counts", 3, 0), -(10**4000), "counts must lie"),
    (("privacy",), None, "privacy"),
    (("privacy", "charges"), [None], "charge"),
    (("privacy", "charges"), UNLIKE, "too many digits"),
    (
        ("privacy", "charges"),
        [{"what": "x", "epsilon": "1", "rho": "1/2"}] * 10_001,
        "more than 10000 charges",
    ),
    (("privacy", "charges", 0, "epsilon"), "1e999999999", "no fraction"),
    (("privacy", "charges", 0, "epsilon"), "-1/3", "no fraction"),
    (("privacy", "charges", 0, "epsilon"), "1/0", "no fraction"),
    (("privacy", "charges", 0, "epsilon"), "2/6", "not as Privet writes it"),
    (("privacy", "charges", 0, "epsilon"), 0.5, "no fraction"),
    (("privacy", "charges", 0, "epsilon"), "9" * 500, "out of range"),
    (("privacy", "charges", 0, "rho"), None, "damaged"),
    (("privacy", "charges", 0, "more"), 1, "not as Privet writes it"),
    (("privacy", "private"), 1, "not as Privet writes it"),
    (("privacy", "private"), "yes", "not as Privet writes it"),
    (("privacy", "delta"), "2", "delta"),
    (("privacy", "delta"), "0", "delta"),
    (("privacy", "neighbours"), "none", "damaged"),
    (("privacy", "rows_per_person"), 0, "rows_per_person"),
    (("privacy", "rows_per_person"), True, "rows_per_person"),
    (("privacy", "rows_per_person"), 10**300, "rows_per_person"),
    (("privacy", "notes"), "abc", "not as Privet writes it"),
    (("privacy", "reason"), None, "not as Privet writes it"),
]


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    WRONG,
    ids=[f"{number}-{case[2]}" for number, case in enumerate(WRONG)],
)
def test_sealed_but_wrong(path, value, reason, tmp_path):
    begin = time.process_time()
    assert reason in reason_of(seal(changed(path, value)), tmp_path)
    assert time.process_time() - begin < 5  # of this process, whatever else the machine does


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("noise",), 1, "noise must be 0 where scores are added up"),
        (("combine",), "score", "combine must be 'counts', 'probabilities', 'vote' or 'scores'"),
        (("trees", 0, "counts", 0, 0), 10_001, "counts must lie between -10000 and 10000"),
        (("trees", 0, "counts", 0, 0), -1e300, "counts must lie"),
        (("kinds",), ["drawn", "term"], "kinds must be a list of 3 out of 'counts', 'drawn'"),
        (("kinds",), "drawn", "kinds must be a list of 3"),
        (("kinds", 0), "tree", "kinds must be a list of 3"),
        (("kinds", 0), ["drawn"], "kinds must be a list of 3"),
        (("kinds", 0), "counts", "tree 1 holds counts, but the model adds up scores"),
        (("kinds", 0), "term", "tree 1 is no 'term' tree: a term has one split with a child for"),
        (("kinds", 0), "constant", "tree 1 is no 'constant' tree: a constant has a single node"),
        (("kinds", 1), "drawn", "tree 2 is no 'drawn' tree: each of its nodes must add the same"),
        (("kinds", 1), "calibrated", "tree 2 is no 'calibrated' tree: each of its nodes must say"),
        (("version",), 1, "kinds must not stand in a file of version 1"),
        (("combine",), "counts", "version 2 is for models that add up scores"),
    ],
)
def test_sealed_scores_but_wrong(path, value, reason, tmp_path):
    assert reason in reason_of(seal(changed(path, value, to_document(scored_model()))), tmp_path)


def test_kinds_must_stand_in_version_2(tmp_path):
    document = to_document(scored_model())
    del document["kinds"]
    assert "'kinds' is missing" in reason_of(seal(document), tmp_path)


MERGED = to_document(merged_model())


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (
            ("leaves",),
            [],
            "leaves must have exactly batches, borrowing, shrink, weighting, weights",
        ),
        (("leaves", "shrink"), -1, "shrink must be a number of at least 0"),
        (("leaves", "shrink"), True, "shrink must be a number of at least 0"),
        (("leaves", "weighting"), "heavy", "weighting must be"),
        (("leaves", "batches"), [], "batches must be a list of 1 to 1000"),
        (("leaves", "batches"), [{}] * 1001, "batches must be a list of 1 to 1000"),
        (("leaves", "batches"), MERGED["leaves"]["batches"][:2], "one weight per batch"),
        (("leaves", "weights"), [1, 1, 1], "noise is not that of its batches"),
        (("leaves", "weights"), [1, 0.5], "one weight per batch"),
        (("leaves", "weights", 0), -1, "weights must lie between 0 and 1000"),
        (("leaves", "weights"), [0, 0, 0], "not all be 0"),
        (("leaves", "borrowing"), "much", "borrowing must be a number of at least 0"),
        (("leaves", "batches", 0), 1, "a batch must have exactly counts, deviation"),
        (("leaves", "batches", 0, "deviation"), -1, "deviation must be"),
        (("leaves", "batches", 0, "deviation"), 99.5, "noise is not that of its batches"),
        (("leaves", "batches", 0, "counts"), [], "a batch must have counts of 2 trees"),
        (
            ("leaves", "batches", 0, "counts", 0),
            [],
            "counts must be a list of 6 lists of 3 numbers",
        ),
        (("leaves", "batches", 0, "counts", 0, 0, 0), 1.5, "leaf counts must be integers"),
        (("leaves", "batches", 0, "counts", 0, 0, 0), True, "counts must be numbers"),
        (("leaves", "batches", 0, "counts", 0, 0, 0), 2**53 + 1, "counts must lie between"),
        (("trees", 0, "counts"), [], "a structure must have exactly attribute, branch"),
        (("combine",), "scores", "noise must be 0 where scores are added up"),
        (("noise",), 1, "noise is not that of its batches"),
        (("privacy", "parts"), MERGED["privacy"]["parts"][:1], "damaged"),
        (("privacy", "parts"), 5, "privacy has more than 2000 parts"),
        (("privacy", "people"), "may-overlap", "privacy statement is not as Privet writes it"),
        (("privacy", "people"), "unknown", "damaged"),
        (("privacy", "parts", 0, "id"), "f" * 32, "privacy statement is not as Privet writes it"),
        (("privacy", "parts", 0, "parts", 0, "id"), "f" * 201, "damaged"),
        (("privacy", "parts", 0, "parts", 1, "id"), "0" * 32, "damaged"),
        (("privacy", "private"), False, "privacy statement is not as Privet writes it"),
        (("privacy", "parts", 1, "charges", 0, "epsilon"), "9" * 40, "out of range"),
        (("privacy",), MERGED["privacy"]["parts"][0], "one batch for each release"),
    ],
)
def test_sealed_leaf_vectors_but_wrong(path, value, reason, tmp_path):
    assert reason in reason_of(seal(changed(path, value, MERGED)), tmp_path)


def test_statements_nested_without_end_are_refused(tmp_path):
    statement = MERGED["privacy"]
    for _ in range(200):
        statement = {**MERGED["privacy"], "parts": [statement, MERGED["privacy"]["parts"][1]]}
    assert reason_of(seal(changed(("privacy",), statement, MERGED)), tmp_path)


def test_scores_may_be_called_counts_but_not_counts_scores(tmp_path):
    """Counts with noise are refused as scores; without noise nothing tells them apart but their
    size.
    """
    assert "noise" in reason_of(seal(changed(("combine",), "scores")), tmp_path)


@pytest.mark.parametrize("key", list(DOCUMENT))
def test_every_key_is_needed(key, tmp_path):
    document = {name: value for name, value in DOCUMENT.items() if name != key}
    assert reason_of(seal(document), tmp_path)


def test_lone_surrogates_are_no_text(tmp_path):
    body = SEALED[: -len(b',"checksum":"' + b"0" * 64 + b'"}')] + b"}"
    body = body.replace(b'"learner":"random-trees"', b'"learner":"\\ud800"')
    assert "Unicode" in reason_of(
        body[:-1] + b',"checksum":"' + hashlib.sha256(body).hexdigest().encode() + b'"}', tmp_path
    )


# -- fuzzing ---------------------------------------------------------------------------------------


def places(value, path=()) -> list[tuple]:
    """The way to every value in a document."""
    found = [path] if path else []
    if isinstance(value, dict):
        return found + [way for key in value for way in places(value[key], (*path, key))]
    if isinstance(value, list):
        return found + [
            way for key in range(len(value)) for way in places(value[key], (*path, key))
        ]
    return found


BASES = [
    DOCUMENT,
    to_document(scored_model()),
    MERGED,
    to_document(merged_model("may-overlap")),
    to_document(
        gaussian_model(
            SCHEMA.declare(n_rows=9, person="id", rows_per_person=2, neighbours="replace")
        )
    ),
]
NUMBERS = st.integers(-5, 12) | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(
    ["1/3", "counts", "vote", "scores", "0", "1e9", "replace"]
)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def mutants(draw: st.DrawFn) -> dict:
    """A document in which some values were replaced, taken out, doubled or exchanged."""
    document = copy.deepcopy(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(1, 3))):
        ways = places(document)
        way = draw(st.sampled_from(ways))
        place = document
        for key in way[:-1]:
            place = place[key]
        what = draw(st.sampled_from(["replace", "replace", "remove", "double", "copy"]))
        if what == "replace":
            place[way[-1]] = draw(VALUES)
        elif what == "remove":
            del place[way[-1]]
        elif what == "double" and isinstance(place, list):
            place.insert(way[-1], copy.deepcopy(place[way[-1]]))
        else:
            other = document
            for key in draw(st.sampled_from(ways)):
                other = other[key]
            place[way[-1]] = copy.deepcopy(other)
        if not places(document):
            break
    if draw(st.booleans()):  # get past the fingerprint
        with contextlib.suppress(PrivetError, KeyError, OverflowError):
            document["fingerprint"] = Schema.from_json(document["schema"]).fingerprint
    return document


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(mutants())
def test_a_sealed_mutant_is_refused_or_is_a_model_that_works(tmp_path_factory, document):
    folder = tmp_path_factory.getbasetemp()
    try:
        data = seal(document)
    except Damaged:
        return
    (folder / "mutant.json").write_bytes(data)
    try:
        model = read_model(folder / "mutant.json")
    except ModelError:
        return
    probabilities = model.probabilities(random_codes(0, model.schema, 20))
    assert probabilities.min() >= 0
    assert probabilities.sum(axis=1) == pytest.approx(1)
    for shown in (card_markdown(model), card_html(model), tree_text(model.trees[0])):
        assert shown.encode()
    write_model(model, folder / "again.json")
    write_model(read_model(folder / "again.json"), folder / "third.json")
    assert (folder / "again.json").read_bytes() == (folder / "third.json").read_bytes()


@settings(max_examples=400)
@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_are_refused(data):
    refused(data)


@settings(max_examples=400)
@given(st.data())
def test_bytes_inserted_or_cut_out_are_refused(data):
    start = data.draw(st.integers(0, len(SEALED)))
    stop = data.draw(st.integers(start, min(len(SEALED), start + 40)))
    between = data.draw(st.binary(max_size=12))
    mutant = SEALED[:start] + between + SEALED[stop:]
    if mutant != SEALED:
        refused(mutant)
