"""The comparison with AIM and MST: what is measured of a table, and the section of the page."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.bench.publish.churn import churn_schema, make_churn
from experiments.bench.publish.comparing import MEASURES, _distance, _miss, codes_of, run
from experiments.bench.publish.comparison import BEGIN, END, write_comparison


def test_a_distance_is_the_share_of_rows_that_would_have_to_change():
    real = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    made = np.array([[0, 0, 0, 1], [0, 1, 0, 1]])
    assert _distance(made, real, [2, 2], (0,)) == pytest.approx(1 / 4)
    assert _distance(made, real, [2, 2], (0, 1)) == pytest.approx(1 / 4)
    assert _distance(real, real, [2, 2], (0, 1)) == 0


def test_the_made_up_customers_keep_to_what_they_are_for():
    rows = make_churn(3000)
    codes = codes_of(rows, churn_schema())
    assert codes.shape == (16, 3000)
    assert rows["tenure"].corr(rows["total"]) > 0.78
    add_ons = rows[["security", "backup", "protection", "support", "television", "movies"]]
    assert not (add_ons[rows["internet"] == "no"] == "yes").any(axis=None)
    assert _miss(rows[["tenure", "total"]], rows[["tenure", "total"]]) == 0


def test_the_section_is_written_in_place(tmp_path):
    def values(auroc, error):
        return dict.fromkeys(MEASURES, 1.0) | {"auroc": auroc, "error 2": error}

    rows = {
        ("car", 1.0, 0, "Privet-delta"): values(0.9, 0.05),
        ("car", 1.0, 0, "Privet"): values(0.8, 0.06),
        ("car", 1.0, 0, "AIM"): values(0.8, 0.04),
        ("car", 1.0, 0, "MST"): values(0.6, 0.06),
        ("adult", 1.0, 0, "MST"): values(0.6, 0.06),
    }
    page = tmp_path / "publish.md"
    page.write_text("# Before\n")
    for _ in range(2):
        write_comparison(rows, tmp_path)
    text = page.read_text()
    assert text.startswith("# Before\n\n" + BEGIN)
    assert text.count(BEGIN) == text.count(END) == 1
    assert "In AUROC, Privet-delta is ahead of both on car at 1; behind one of them on none" in text
    assert "the error of 2, Privet-delta is ahead of both on none; behind" in text
    assert "Not run yet (the same command does): Privet on adult at 1" in text
    assert "| 1 | Privet-delta | 1.000 | .050 | 1.000 | 1.000 | .900 | 1 |" in text


def test_a_peer_that_is_not_done_in_time_is_told(tmp_path, monkeypatch):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr("experiments.bench.publish.comparing.peer_python", lambda: str(slow))
    found = run("churn", 1.0, 0, "AIM", limit=0.1)
    rows = {("churn", 1.0, 0, name): found for name in ("AIM", "MST")}
    rows["churn", 1.0, 0, "Privet-delta"] = dict.fromkeys(MEASURES, 1.0)
    write_comparison(rows | {("churn", 1.0, 0, "AIM"): found | {"seconds": 480.0}}, tmp_path)
    text = (tmp_path / "publish.md").read_text()
    assert "| 1 | AIM | did not finish in 480 s | | | | | |" in text.replace("  ", " ")
    assert "AUROC, Privet-delta is ahead of both on none; behind one of them on none" in text
