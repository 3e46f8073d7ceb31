"""Find columns that tell who somebody is: they never get into a schema.

A schema is public. A listed identifier would publish a person, and an identifier tells a tree
nothing about anybody else. Three things give a column away:

- its name (``customerID``, ``e_mail``, ``last name``), which is all that a catalog shows;
- what a database says about it: a primary key, a unique column, a type such as UUID;
- its entries, of a *public* sample only: addresses, telephone numbers and the like, rows that
  nearly all have an entry of their own, and numbers that count the rows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from privet.domain.encode.scalars import ISO_MOMENT

#: Shares of distinct entries are judged from this many rows on.
ENOUGH_ROWS = 20
#: A text column in which more than this share of the rows has an entry of its own.
MOSTLY_DISTINCT = 0.5
#: What the name of a column may suggest holds where its values recur less often than this.
RECUR = 10
#: So many of the entries have to look like an address for the column to be one.
MOSTLY = 0.8
#: Integers from here on number something where most rows have one of their own.
LONG_INTEGER = 10**9

#: Words in a name that stand for one person, whatever the values are.
_PERSONAL = {
    "email": "e-mail addresses",
    "mail": "e-mail addresses",
    "phone": "telephone numbers",
    "telephone": "telephone numbers",
    "mobile": "telephone numbers",
    "fax": "telephone numbers",
    "ssn": "social security numbers",
    "passport": "passport numbers",
    "iban": "account numbers",
    "surname": "names of people",
    "lastname": "names of people",
    "firstname": "names of people",
    "fullname": "names of people",
    "username": "names of accounts",
    "login": "names of accounts",
    "uuid": "identifiers",
    "guid": "identifiers",
}
#: Words in a name that stand for one person where the values do not recur.
_SUSPECT = {"id", "ids", "key", "pk", "name", "nr", "no", "number", "account", "address", "street"}
_NAMES_OF_PEOPLE = {"first", "last", "full", "sur", "family", "given", "maiden"}

_PHONE = re.compile(r"[+(]?[0-9][0-9 ()./-]{5,22}[0-9]")
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
    (
        "UUIDs",
        re.compile(r"\{?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?"),
    ),
    ("social security numbers", re.compile(r"[0-9]{3}-[0-9]{2}-[0-9]{4}")),
    ("account numbers", re.compile(r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?")),
    ("internet addresses", re.compile(r"(?:https?://|www\.)\S+")),
    ("addresses of computers", re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}")),
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MOMENT = re.compile(ISO_MOMENT)


def split_name(name: str) -> list[str]:
    """Return the words of a column's name, in lower case: ``customerID`` has two."""
    return [word.lower() for word in _WORD.findall(name)]


def judge_name(name: str) -> str | None:
    """Return why a column is left out by its name alone; None where nothing speaks against it.

    For those who see no entry: what a name suggests may be wrong, and can be overruled.
    """
    words = split_name(name)
    if what := _judge_personal(words):
        return f"its name stands for {what}"
    if suspect := [word for word in words if word in _SUSPECT and _is_last(word, words)]:
        return f"its name ends in {suspect[0]!r}, as that of an identifier does"
    return None


def _judge_personal(words: list[str]) -> str | None:
    joined = ["".join(pair) for pair in itertools.pairwise(words)]
    for word in [*words, *joined]:
        if word in _PERSONAL:
            return _PERSONAL[word]
    if words[-1:] == ["name"] and _NAMES_OF_PEOPLE & set(words):
        return "names of people"
    return "e-mail addresses" if words[:2] == ["e", "mail"] else None


def _is_last(word: str, words: list[str]) -> bool:
    return words[-1] == word or (word == "id" and words[0] == word)


def judge_texts(name: str, texts: Sequence[str]) -> str | None:
    """Return why a column of text in a public sample is left out; None where it may stay.

    Args:
        name: the column's.
        texts: its entries that are not missing, in the order of the rows.
    """
    distinct = dict.fromkeys(texts)
    if why := judge_spelling(name, texts):
        return why
    if len(texts) >= ENOUGH_ROWS and len(distinct) > MOSTLY_DISTINCT * len(texts):
        return "most rows have a value of their own, as those of an identifier do"
    if judge_name(name) and len(distinct) * RECUR > len(texts) >= ENOUGH_ROWS:
        return f"{judge_name(name)}, and its values hardly recur"
    return None


def judge_spelling(name: str, texts: Sequence[str]) -> str | None:
    """Return why a column is left out by how its entries are written; None where it may stay."""
    if what := _judge_personal(split_name(name)):
        return f"its name stands for {what}"
    what = _find_pattern(list(dict.fromkeys(texts)))
    return None if what is None else f"it holds {what}"


def _find_pattern(distinct: list[str]) -> str | None:
    """Return what most of the texts are, where they stand for people."""
    if not distinct:
        return None
    for what, pattern in _PATTERNS:
        if sum(pattern.fullmatch(text) is not None for text in distinct) >= MOSTLY * len(distinct):
            return what
    if sum(map(_is_phone_number, distinct)) >= MOSTLY * len(distinct):
        return "telephone numbers"
    return None


def _is_phone_number(text: str) -> bool:
    """Return whether a text is written as telephone numbers are; plain digits are not."""
    digits = sum(map(str.isdigit, text))
    written = text[0] in "+(" or sum(text.count(mark) for mark in " /-)") >= 2 if text else False
    return (
        written
        and 7 <= digits <= 15
        and _PHONE.fullmatch(text) is not None
        and _MOMENT.match(text) is None
    )


def judge_numbers(name: str, numbers: npt.NDArray[np.float64]) -> str | None:
    """Return why a column of numbers in a public sample is left out; None where it may stay.

    Args:
        name: the column's.
        numbers: its entries that are not missing, in the order of the rows.
    """
    if what := _judge_personal(split_name(name)):
        return f"its name stands for {what}"
    if len(numbers) < ENOUGH_ROWS or not (numbers == np.floor(numbers)).all():
        return None
    distinct = np.unique(numbers)
    steps = np.diff(numbers)
    if len(distinct) == len(numbers):
        if (steps > 0).all() or (steps < 0).all():
            return "it counts the rows: its integers only rise or only fall"
        if distinct[-1] - distinct[0] < 1.5 * len(numbers):
            return "it numbers the rows: nearly every integer of its range is there once"
    own = len(distinct) > MOSTLY_DISTINCT * len(numbers)
    if own and np.abs(distinct).max() >= LONG_INTEGER:
        return "its integers are long, and most rows have one of their own"
    if judge_name(name) and (own or len(distinct) * RECUR > len(numbers)):
        return f"{judge_name(name)}, and its values hardly recur"
    return None
