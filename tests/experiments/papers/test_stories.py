"""The stories of the papers, run: made-up people, and numbers that can come out otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from experiments.papers.hanisch import jobs as hanisch
from experiments.papers.hanisch import protocol
from experiments.papers.novakovic import remarks
from experiments.papers.papers import paper_named
from experiments.papers.stories import diseases, linkage, love_canal, millionaires
from privet.testing import unlock_test_seeds


def values(rows):
    return {row["what"]: row["value"] for row in rows if "what" in row}


def section(paper, number):
    return next(one for one in paper_named(paper).experiments if one.number == number)


@pytest.mark.parametrize(("paper", "number"), [("hanisch", "table 1"), ("hanisch", "2")])
def test_what_needs_no_chance_agrees(paper, number):
    one = section(paper, number)
    with unlock_test_seeds():
        rows = [row for cell in one.cells(True) for row in cell.run()]
    assert {claim.verdict for claim in one.compare(rows)} == {"agrees"}


def test_a_table_with_one_disease_is_anonymous_and_tells(monkeypatch):
    found = {(row["table"], row["what"]): row["value"] for row in diseases.measure_tables()}
    assert found["one disease", "k"] == found["table I", "k"] == 2
    assert (found["one disease", "l"], found["table I", "l"]) == (1, 2)
    monkeypatch.setattr(diseases, "TABLE", diseases.ALIKE)
    told = section("hanisch", "table 1").compare(diseases.measure_tables())
    assert {claim.what for claim in told if claim.verdict == "differs"} == {
        "l of the table",
        "best guess of a disease, by age and area",
        "the same, by who knows that the other one travelled",
    }


def test_a_count_of_millionaires_has_the_noise_of_ln_2():
    with unlock_test_seeds():
        rows = millionaires.count_millionaires(seed=3)
    with_him = [r for r in rows if r["table"] == "with him" and "drawn" in r]
    drawn = np.repeat([r["drawn"] for r in with_him], [r["times"] for r in with_him])
    # variance 2p/(1-p)^2 = 4; a scale 30% off has 2.3 or 6.8
    assert np.var(drawn) == pytest.approx(4, rel=0.15)
    chance = sum(r["probability"] for r in rows if r["table"] == "with him" and "probability" in r)
    assert 0.99 < chance < 1


def test_a_voter_roll_finds_patients_until_days_of_birth_are_left_out():
    found = values(linkage.link_tables(0))
    assert found["alone in the census"] == pytest.approx(0.87, abs=0.02)
    assert found["found by the roll"] > 0.8
    assert found["found after generalising"] == 0
    assert found["k after generalising"] > 10


def test_a_larger_town_hides_more_people(monkeypatch):
    monkeypatch.setattr(linkage, "PEOPLE", 40_000)
    assert values(linkage.link_tables(0))["alone in the census"] < 0.6


def test_nobody_is_found_by_a_roll_that_lists_others():
    patients = pd.DataFrame({"name": ["1"], "born": ["7"], "sex": ["f"]})
    same = pd.DataFrame({"name": ["1"], "born": ["7"], "sex": ["f"]})
    twins = pd.concat([same, same.assign(name="2")])
    assert linkage._found(patients, same, linkage.FINE) == 1
    assert linkage._found(patients, twins, linkage.FINE) == 0


def test_a_common_diagnosis_finds_nobody(monkeypatch):
    alike = dict.fromkeys(love_canal.AREAS, (0.8, 0.1, 0.1))
    monkeypatch.setattr(love_canal, "RATES", alike)
    rows = [row for run in range(3) for row in love_canal.find_love_canal(run)]
    told = section("anatomy", "love canal").compare(rows)
    assert "agrees" not in {claim.verdict for claim in told if love_canal.CNL in claim.what}


def test_remarks_are_measured():
    with unlock_test_seeds():
        (line,) = remarks.vary_folds(2, 0, seed=1)
        exact, private = remarks.add_coins(10, 0, seed=1)
    assert 0.4 < line["accuracy"] < 0.9
    assert exact["attributes"] == private["attributes"] == 16
    assert exact["accuracy"] > 0.7


def test_the_sample_of_the_table(real_data):
    rows = hanisch.sample_rows()
    found = values(rows)
    assert (found["attributes"], found["rows of figure 8 that fit"]) == (7, 5)
    assert sum("row" in row for row in rows) == len(protocol.FIGURE_8)
