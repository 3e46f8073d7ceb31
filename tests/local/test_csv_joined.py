"""Records that go over several lines are put together, and no quote swallows the lines of
others.
"""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.local.records import MOST_LINES, join_lines, records_of

SCHEMA = Schema({"a": Categorical(["x"])}, "class", ["no", "yes"])


def cut(*lines: str) -> list[str]:
    """The records of lines of three fields."""
    return [
        record.decode()
        for record in join_lines(iter([f"{line}\n".encode() for line in lines]), ",", 3)
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@given(
    st.lists(
        st.lists(st.text(alphabet='ab",;\n\ré', max_size=6), min_size=3, max_size=3), max_size=6
    )
)
def test_what_a_csv_writer_wrote_gives_one_record_each(end, rows):
    """Whatever texts hold: one report for each, never two for one that holds a line break."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(
        [["a", "class", "note"], *rows]
    )
    lines = io.BytesIO(file.getvalue().encode())
    assert [
        [*record.values()] for record in records_of(lines, SCHEMA, "here", over_lines=True)
    ] == rows


def test_an_unclosed_quote_swallows_nobody():
    good = ["x,1,no", 'x,"1, 2",no', ""]
    assert cut('"broken,1,no', *good) == ['"broken,1,no\n', *(f"{line}\n" for line in good)]
    # closed by another broken line further down, but not as a record
    assert cut('x,"broken,no', *good, 'y,"broken,no', "x,2,no") == [
        'x,"broken,no\n',
        *(f"{line}\n" for line in good),
        'y,"broken,no\n',
        "x,2,no\n",
    ]
    # quotes inside a field open nothing
    assert cut('5" pipe,1,no', 'x,6" pipe,no') == ['5" pipe,1,no\n', 'x,6" pipe,no\n']


def test_what_follows_an_unclosed_quote_may_itself_go_over_lines():
    assert cut('x,"broken', 'x,"two', 'lines",no', "x,1,no") == [
        'x,"broken\n',
        'x,"two\nlines",no\n',
        "x,1,no\n",
    ]


def test_a_record_is_whole_as_soon_as_its_quote_is_closed():
    lines = iter([b'x,"two\n', b'lines",no\n', b"x,1,no\n"])
    records = join_lines(lines, ",", 3)
    assert next(records) == b'x,"two\nlines",no\n'
    assert next(lines) == b"x,1,no\n"  # it was not waited for


def test_only_so_many_lines_are_held_back():
    lines = iter([b'x,"open\n'] + [b"x,1,no\n"] * 3 * MOST_LINES)
    assert next(join_lines(lines, ",", 3)) == b'x,"open\n'
    assert len(list(lines)) == 3 * MOST_LINES - (MOST_LINES - 1)


def test_no_line_is_held_for_more_fields_than_there_are():
    """Lines that close one field and open another: no file of them may take a thousand times as
    long.
    """
    lines = iter([b'x","y\n'] * MOST_LINES)
    assert next(join_lines(lines, ",", 3)) == b'x","y\n'
    assert len(list(lines)) == MOST_LINES - 1 - 3


def test_bytes_that_are_no_text_are_one_record_of_nothing():
    lines = [b"a,class,note\n", b'x,no,"\xff\n', b'more"\n', b"x,no,\n"]
    assert len(list(records_of(lines, SCHEMA, "here", over_lines=True))) == 2
