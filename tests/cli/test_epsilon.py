"""``privet epsilon``: every number that it prints is worked out again here, from the formulas or
from the measurements.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.epsilon.wording import CAVEATS, SOURCES, format_number, format_percent

Run = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "choose-epsilon.md"
SCHEMA = pv.Schema(
    {name: pv.Categorical(["x", "y"]) for name in "abdef"},
    "c",
    ["n", "y"],
    n_rows=1500,
    rows_per_person=2,
    neighbours="replace",
)


def written(text: str) -> float:
    """A number as it is printed; a percentage as a share."""
    return float(text.replace(",", "").removesuffix("%")) / (100 if text.endswith("%") else 1)


def within(eps: float, margin: int) -> float:
    p = math.exp(-eps)
    return sum((1 - p) / (1 + p) * p ** abs(k) for k in range(-margin, margin + 1))


def odds(prior: float, eps: float) -> float:
    """The belief whose odds are e^eps times those of the prior."""
    changed = prior / (1 - prior) * math.exp(eps)
    return changed / (1 + changed)


def variance(eps: float) -> float:
    return 1 / (math.cosh(eps) - 1)


def noisy_rows(rows: float, share: float, eps: float) -> float:
    """The positive root of n^2 - rows n - rows v / (p q) = 0."""
    return max(np.roots([1, -rows, -rows * variance(eps) / (share * (1 - share))]).real)


def last_until(ordered: pd.DataFrame, weight: float) -> float:
    """The last share until which there is no more than this weight; the first if there is none."""
    within = int((ordered.weight.cumsum() <= weight + 1e-9).sum())
    return float(ordered.share.iloc[max(0, within - 1)])


def ranges(learner: str, eps: float, rows: int, share: str) -> tuple[np.ndarray, int]:
    """The range and the median of a share, from the file, in another way; and how many tables they
    are from.
    """
    table = pd.read_csv(str(files("privet.epsilon") / "measured.csv"))
    names = ["privet", "greedy-tree", "random-trees"]
    noiseless = table[np.isinf(table.epsilon)].set_index(["data", "rows"])[names].max(axis=1)
    table = table[np.isfinite(table.epsilon) & (table.use == "range")].join(
        noiseless.rename("best"), on=["data", "rows"]
    )
    gain = table[learner] - table.majority
    table["best"] = table[["best", "majority"]].max(axis=1)
    learnable = table.best - table.majority
    if share == "kept":
        table["share"] = np.minimum(1, gain / learnable)
        table = table[learnable >= 0.05]
    else:
        table["share"] = gain / (1 - table.majority) if share == "way" else gain - learnable
    at = -np.log10(1 / np.sqrt(table.rows) + 100 / (table.rows * table.epsilon))
    places, found, counts = [], [], []
    for place in np.arange(-30, 40) * 0.1:
        near = table[(at - place).abs() <= 0.3 + 1e-9]
        if near.data.nunique() >= 20:
            near = near.assign(weight=1 / near.groupby("data").share.transform("size"))
            tables = near.data.nunique()
            found.append(
                [
                    last_until(near.sort_values("share"), 0.05 * (tables + 1)),
                    last_until(near.sort_values("share"), 0.5 * (tables + 1)),
                    last_until(near.sort_values("share", ascending=False), 0.05 * (tables + 1)),
                ]
            )
            places.append(place)
            counts.append(tables)
    ends = np.array(found)
    ends[:, 0] = np.minimum.accumulate(ends[::-1, 0])[::-1]
    ends[:, 1:] = np.maximum.accumulate(ends[:, 1:])
    here = -math.log10(1 / math.sqrt(rows) + 100 / (rows * eps))
    nearest = int(np.abs(np.array(places) - here).argmin())
    tables = counts[nearest] if abs(places[nearest] - here) <= 0.0501 else 0
    return np.array([np.interp(here, places, end) for end in ends.T]), tables


def expectations(eps: float, person: int, rows: int) -> dict[str, float | tuple[float, float]]:
    """What every line should say, for these options: three priors, tolerance 1, false alarms 0.1,
    and so on, as below.
    """
    two = 2 * person * eps
    # the schema says how many rows there are: somebody else is in an absent person's place
    one = two if person == 2 else person * eps
    told: dict[str, Any] = {
        "Epsilon that hides whether you are in the table": one,
        "Epsilon that hides what your rows say, if it is known that you are in the table": two,
        "Epsilon that the ledger is charged, for the declared neighbours": two
        if person == 2
        else one,
    }
    for prior, said in ((0.02, "2%"), (0.25, "25%")):
        told[
            f"Someone who thought there was a {said} chance that you are in the table can raise "
            "that to at most"
        ] = odds(prior, one)
        told[f"after {said}: ... or lower it to at least"] = odds(prior, -one)
        told[
            f"... and a {said} chance that you have some condition, if it is known that you are in "
            "it, to at most"
        ] = odds(prior, two)
    z = NormalDist().inv_cdf(1 - 0.1 / 2) + NormalDist().inv_cdf(0.9)
    trial = z**2 * 0.2 * 0.8 / 0.04**2
    margin = next(margin for margin in range(10**4) if within(eps, margin) >= 0.9)
    told |= {
        "A guess whether you are in the table is right at most (tossing a coin: 50%)": odds(
            0.5, one
        ),
        (
            "A guess which of two conditions you have, if it is known that you are in it, at most"
        ): odds(0.5, two),
        "A test that wrongly flags 10% of people outside flags of those in the table at most": min(
            0.1 * math.exp(one), 1 - 0.9 * math.exp(-one)
        ),
        (
            "A noisy count is off by at most 1, so that taking it at face value works, with "
            "probability"
        ): within(eps, 1),
        "Standard deviation of the noise, in rows": math.sqrt(variance(eps)),
        "At least 90% of noisy counts are off by at most this many rows": margin,
        "... which is true of exactly this share of counts": within(eps, margin),
        (
            "Rows that a test needs to find that a share of 20% changes by 4 points (level 10%, "
            "power 90%), without noise"
        ): math.ceil(trial),
        "... and with noise": math.ceil(noisy_rows(trial, 0.2, eps)),
        "... which is this many more": noisy_rows(trial, 0.2, eps) / trial - 1,
        f"Rows for a share as precise as {rows:,} rows give without noise": math.ceil(
            noisy_rows(rows, 0.2, eps)
        ),
        "Taking part raises what you must expect to lose by at most": math.exp(one) - 1,
        "If you must expect to lose 12.5 anyway, that costs you at most": 12.5
        * (math.exp(one) - 1),
        "... and 700 people together at most": 700 * 12.5 * (math.exp(one) - 1),
    }
    for learner in ("privet", "greedy-tree", "random-trees"):
        high, _, low = 100 * np.maximum(0, -ranges(learner, eps, rows, "gap")[0])
        told[f"Points of accuracy that {learner} loses to noise"] = (low, high)
        (low, middle, high), tables = ranges(learner, eps, rows, "kept")
        told[f"after {learner}: ... so of what can be learnt, it keeps"] = (low, high)
        told[f"after {learner}: ... and in half of the tables at least"] = middle
        low, _, high = 0.7 + 0.3 * ranges(learner, eps, rows, "way")[0]
        told[
            f"after {learner}: ... its accuracy, if the most frequent class has 70% of the rows"
        ] = (max(0, low), high)
        if learner == "privet":
            told["Number of public tables of about this size and epsilon"] = tables
    return told


def lines_of(out: str) -> dict[str, list[str]]:
    """The lines of the main table: the sentence and its numbers. Lines that go on name what they
    belong to.
    """
    found: dict[str, list[str]] = {}
    last = ""
    for line in out.splitlines():
        parts = [part for part in re.split(r"\s{3,}", line.strip()) if part]
        if not line.startswith("   ") or len(parts) < 2 or parts[0].startswith("epsilon"):
            continue
        sentence = parts[0]
        if match := re.match(
            r"Someone who thought there was a (\S+) chance|Points of accuracy that (\S+) loses",
            sentence,
        ):
            last = match[1] or match[2]
        if sentence.startswith(("... or lower", "... and in half", "... so of", "... its")):
            sentence = f"after {last}: {sentence}"
        assert sentence not in found, "no sentence stands twice"
        found[sentence] = parts[1:]
    return found


OPTIONS = (
    "--prior",
    "0.02",
    "--prior",
    "1/4",
    "--false-alarms",
    "0.1",
    "--tolerance",
    "1",
    "--confidence",
    "0.9",
    "--share",
    "0.2",
)
OPTIONS += (
    "--difference",
    "0.04",
    "--level",
    "0.1",
    "--power",
    "0.9",
    "--cost",
    "12.5",
    "--people",
    "700",
    "--majority",
    "0.7",
)


@pytest.mark.parametrize("person", [1, 2])
def test_every_number_is_reproduced(privet: Run, person: int) -> None:
    SCHEMA.write("s.json")
    table, rows = (("--schema", "s.json"), 1500) if person == 2 else (("--rows", "20000"), 20_000)
    ran = privet("epsilon", "0.1", "1/2", "1", *table, *OPTIONS)
    assert (ran.code, ran.err) == (0, "")
    lines = lines_of(ran.out)
    assert re.search(r"epsilon 0\.1\s+epsilon 0\.5\s+epsilon 1\b", ran.out)
    for place, eps in enumerate((0.1, 0.5, 1.0)):
        told = expectations(eps, person, rows)
        assert set(lines) == set(told), (
            "what is printed is what is reproduced here, no less and no more"
        )
        for sentence, value in told.items():
            printed = lines[sentence][place]
            if isinstance(value, tuple):
                assert [written(text) for text in printed.split(" to ")] == pytest.approx(
                    list(value), abs=0.1001 if "Points" in sentence else 0.01001
                ), sentence
            elif "in half of the tables" in sentence:
                assert written(printed) == pytest.approx(value, abs=0.00501), sentence
            elif isinstance(value, int):
                assert printed == f"{value:,}", sentence
            else:
                bound = re.search("at (most|least)$", sentence)
                assert written(printed) == pytest.approx(value, rel=0.0101 if bound else 0.00501), (
                    sentence
                )
                if bound:  # a bound is not rounded in its own favour
                    assert (
                        written(printed) >= value * (1 - 1e-9)
                        if bound[1] == "most"
                        else written(printed) <= value * (1 + 1e-9)
                    )


def test_the_lines_of_public_tables_are_the_measurements(privet: Run) -> None:
    SCHEMA.write("s.json")
    out = privet("epsilon", "0.3", "--schema", "s.json").out
    table = pd.read_csv(str(files("privet.epsilon") / "measured.csv"))
    shown = re.findall(
        (r"^ (\w[^ ]*(?: [^ ]+)*) +([\d,]+) +(\d+) +(\d+) +([\d.]+)" + 5 * r" +([\d.]+%)" + r" *$"),
        out,
        re.MULTILINE,
    )
    assert len(shown) == 4
    for name, rows, attributes, classes, eps, majority, best, *accuracies in shown:
        lines = table[(table.data == name) & (table.rows == int(rows.replace(",", "")))]
        (at,) = lines[lines.epsilon == float(eps)].to_dict("records")
        (noiseless,) = lines[np.isinf(lines.epsilon)].to_dict("records")
        learners = ("privet", "greedy-tree", "random-trees")
        assert (at["attributes"], at["classes"]) == (int(attributes), int(classes))
        assert written(majority) == pytest.approx(at["majority"], abs=0.00051)
        assert written(best) == pytest.approx(
            max(at["majority"], *(noiseless[learner] for learner in learners)), abs=0.00051
        )
        for learner, printed in zip(learners, accuracies, strict=True):
            assert written(printed) == pytest.approx(at[learner], abs=0.00051)


def test_what_it_is_about_and_where_it_is_from(privet: Run) -> None:
    SCHEMA.write("s.json")
    out = privet("epsilon", "1", "--schema", "s.json").out
    head = (
        "A table of 1,500 rows, 5 attributes, 2 classes, at most 2 rows per person, who is "
        "replaced by another."
    )
    assert out.startswith(
        f"{head} Epsilon is for one row added or removed; the ledger charges for the person."
    )
    for text in (*CAVEATS, *SOURCES):
        assert f"{text}\n" in out
    assert privet("epsilon", "1").out.startswith(
        "A table, one row per person. Epsilon is for one row added or removed.\n"
    )


def test_without_rows_it_says_what_rows_would_add(privet: Run) -> None:
    out = privet("epsilon", "1").out
    assert "With --rows, or a schema that declares them" in out
    assert not re.search("learnt|Public tables|as precise as|people together", out)


def test_outside_of_the_measurements_it_says_so(privet: Run) -> None:
    assert "outside of what was measured" in privet("epsilon", "0.01", "--rows", "50").out
    assert "outside of what was measured" not in privet("epsilon", "1", "--rows", "5000").out


def test_the_choice_is_reproduced(privet: Run) -> None:
    wishes = (
        "--posterior-below",
        "0.2",
        "--record-below",
        "0.4",
        "--attack-below",
        "0.7",
        "--exact-count-below",
        "0.3",
    )
    wishes += ("--price-below", "1000")
    ran = privet(
        "epsilon",
        *wishes,
        "--margin-below",
        "10",
        "--ratio-below",
        "1.1",
        "--cost",
        "1",
        "--rows",
        "2000",
    )
    assert (ran.code, ran.err) == (0, "")
    found = dict(re.findall(r"^ (\S.*?)\s{3,}(at \w+ [\d.]+) *$", ran.out, re.MULTILINE))
    n0 = (NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)) ** 2 * 0.25 / 0.05**2
    expected = {
        (
            "Someone who thought there was a 10% chance that you are in the table can raise that "
            "to at most 20%"
        ): ("at most", math.log((0.2 / 0.8) / (0.1 / 0.9))),
        (
            "Someone who thought there was a 10% chance that you, who are in the table, have some "
            "condition can raise that to at most 40%"
        ): ("at most", math.log((0.4 / 0.6) / (0.1 / 0.9)) / 2),
        "A guess whether you are in the table is right no more often than 70%": (
            "at most",
            math.log(0.7 / 0.3),
        ),
        "A noisy count is exactly right no more often than 30%": ("at most", math.log(1.3 / 0.7)),
        "Taking part costs all people together no more than 1,000": (
            "at most",
            math.log(1 + 1000 / 2000),
        ),
        "The test needs at most 1.1 times the rows": (
            "at least",
            math.acosh(1 + 1 / (0.25 * n0 * 1.1 * 0.1)),
        ),
    }
    for wish, (bound, value) in expected.items():
        printed_bound, _, printed = found.pop(wish).rpartition(" ")
        assert printed_bound == bound
        assert float(printed) == pytest.approx(value, rel=0.01)
        assert float(printed) <= value if bound == "at most" else float(printed) >= value
    ((wish, printed),) = found.items()
    assert wish == "At least 95% of noisy counts are off by at most 10 rows"
    eps = float(printed.removeprefix("at least "))
    assert within(eps, 10) >= 0.95 > within(eps - 0.002, 10)
    # acosh(1.0463...) up, ln(1.5) down
    assert "An epsilon from 0.304 to 0.405 does all of this." in ran.out


def test_wishes_that_cannot_be_kept(privet: Run) -> None:
    out = privet("epsilon", "--posterior-below", "0.11", "--margin-below", "1").out
    assert "No epsilon does all of this. You need more rows, or must ask for less." in out


def test_epsilon_explained_as_json(privet: Run) -> None:
    told = json.loads(
        privet("epsilon", "0.1", "3", "--rows", "300", "--posterior-below", "0.2", "--json").out
    )
    assert [one["losses"]["row"] for one in told["epsilons"]] == ["1/10", "3"]
    assert told["epsilons"][1]["beliefs"][1]["in_table"] == pytest.approx(odds(0.1, 3))
    assert told["choice"]["choices"] == [
        {
            "wish": "posterior",
            "bound": "at most",
            "epsilon": pytest.approx(math.log(2.25)),
            "prior": 0.1,
        }
    ]
    assert json.loads(privet("epsilon", "1", "--json").out)["choice"] is None


def test_it_touches_nothing(privet: Run) -> None:
    SCHEMA.write("s.json")
    privet("epsilon", "1", "--schema", "s.json")
    assert [path.name for path in Path().iterdir() if path.is_file()] == ["s.json"]


def test_epsilon_explained_as_a_picture(privet: Run) -> None:
    pytest.importorskip("matplotlib")
    assert privet("epsilon", "1", "--rows", "500", "--plot", "e.svg").out.endswith("drew e.svg\n")
    assert Path("e.svg").read_bytes().startswith(b"<?xml")


def test_a_picture_of_a_choice_marks_its_ends(privet: Run) -> None:
    pytest.importorskip("matplotlib")
    told = json.loads(
        privet(
            "epsilon", "--posterior-below", "0.2", "--margin-below", "10", "-o", "e.png", "--json"
        ).out
    )
    assert told["plot"] == "e.png"
    assert Path("e.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            (),
            (
                "say which epsilon, such as privet epsilon 1, or what it should keep, such as "
                "--posterior-below 0.2"
            ),
        ),
        (("0",), "epsilon must be a finite number above zero, got '0'"),
        (("1", "inf"), "epsilon must be a finite number above zero, got 'inf'"),
        (("1", "--prior", "1"), "prior must be above 0 and below 1, got '1'"),
        (("1", "--rows", "0"), "rows must be an integer of at least 1, got 0"),
        (("1", "--tolerance", "-1"), "tolerance must be an integer of at least 0, got -1"),
        (("1", "--cost", "0"), "cost must be a finite number above zero, got '0'"),
        (
            ("1", "--difference", "0.9"),
            "difference must lead from the share 0.5 to another share, got '0.9'",
        ),
        (("1", "--price-below", "5"), "what a person must expect to lose who does not take part"),
        (("1", "--schema", "none.json"), "cannot read schema file none.json"),
        (("1", "--plot", "nowhere/e.svg"), "cannot write nowhere/e.svg"),
        (("1", "--plot", "e.gif"), "a picture must end in .svg, .png or .pdf, got 'e.gif'"),
    ],
)
def test_what_is_refused(privet: Run, asked: tuple[str, ...], told: str) -> None:
    ran = privet("epsilon", *asked)
    assert (ran.code, ran.out) == (2, "")
    assert told in " ".join(ran.err.split())
    assert not list(Path().glob("e.*"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.1, "10%"),
        (0.99949, "99.9%"),
        (0.9996, ">99.9%"),
        (1.0, "100%"),
        (17.183, "1,718%"),
        (0.000123456, "0.0123%"),
        (-0.5, "-50%"),
    ],
)
def test_percentages(value: float, shown: str) -> None:
    assert format_percent(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.12345, "0.123"),
        (999.4, "999"),
        (999.6, "1,000"),
        (1234567.8, "1,234,568"),
        (2e20, "2e+20"),
    ],
)
def test_numbers_are_shown_with_three_digits_or_all_before_the_point(
    value: float, shown: str
) -> None:
    assert format_number(value) == shown
    assert format_number(math.inf) == format_percent(math.inf) == "no bound"


def test_the_page_shows_what_is_printed(privet: Run) -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = [
        block
        for block in re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
        if block.count("\n") > 2
    ]
    assert len(shown) == 2
    for block in shown:
        command, _, output = block.partition("\n")
        printed = privet(*command.removeprefix("$ privet ").split()).out
        told = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
        assert (
            told
            == [" ".join(line.split()) for line in printed.splitlines() if line.strip()][
                : len(told)
            ]
        )


@pytest.mark.parametrize(("width", "side_by_side"), [(80, 3), (44, 1)])
def test_a_narrow_terminal_cuts_nothing_off(
    monkeypatch: pytest.MonkeyPatch, privet: Run, width: int, side_by_side: int
) -> None:
    """Epsilons that do not fit beside each other come below."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if it were a terminal
    told = re.sub(
        r"\x1b\[[0-9;]*m",
        "",
        privet("epsilon", "0.01", "0.1", "0.5", "1", "2", "3", "5", "10", "--rows", "300").out,
    )
    assert "…" not in told
    assert told.count("What one person risks") == -(-8 // side_by_side)
    for column in ("epsilon 0.01", "epsilon 10"):
        assert column in told
