"""``--test-size``: fit on one part of a table, evaluate on the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import privet as pv

Run = Callable[..., Any]


def write_people(more: str = "") -> None:
    head = "id,a,y" + (",more" if more else "")
    lines = [f"{i},{i * 7 % 100},{'no' if i * 7 % 100 < 50 else 'yes'}" for i in range(600)]
    Path("t.csv").write_text("\n".join([head, *(line + more for line in lines)]) + "\n")
    pv.Schema({"a": pv.Numeric(0, 100, bins=10)}, "y", ["no", "yes"]).write("s.json")


def test_rows_that_were_kept_apart_are_known_as_such(privet: Run) -> None:
    write_people()
    split = ["-s", "s.json", "--test-size", "0.3"]
    fitted = privet("fit", "t.csv", *split, "-e", 5, "--budget", 50, "-l", "forest", "-o", "m.json")
    assert fitted.code == 0, fitted.err
    ask = ["evaluate", "m.json", "t.csv", "-e", 5]
    tested = privet(*ask, *split)
    assert "Beware" not in tested.out
    assert "training rows" not in tested.err
    assert "Beware" in privet(*ask, "-s", "s.json").out
    # another ledger does not know the fit, but the model knows that rows were held out
    elsewhere = privet(*ask, "-s", "s.json", "--ledger", "other.sqlite", "--budget", 5)
    assert "Beware" not in elsewhere.out
    assert "most of its rows are training rows: give the same --test-size" in elsewhere.err
    assert "Beware" in privet(*ask, *split, "--split-key", "2").out
    write_people(more=",x")  # with one more column, a row may be in the other part
    assert "Beware" in privet(*ask, *split).out


def test_a_model_of_another_schema_is_refused_before_it_costs_anything(privet: Run) -> None:
    write_people()
    known = ["-s", "s.json", "-e", 1]
    privet("fit", "t.csv", *known, "--budget", 5, "-l", "forest", "-o", "m.json")
    pv.Schema({"a": pv.Numeric(0, 100, bins=5)}, "y", ["no", "yes"]).write("o.json")
    refused = privet("evaluate", "m.json", "t.csv", "-s", "o.json", "-e", 1)
    assert refused.code == 2
    assert "m.json was trained under another schema than o.json" in refused.err
    assert pv.SQLiteLedger("t.csv.ledger.sqlite").spent("t.csv").epsilon == 1
