"""Novakovic's protocol, and what the thesis leaves open: each choice is a constant with a
reason.
"""

from __future__ import annotations

#: Section 7.3.
EPSILONS = (0.5, 0.75, 1.0, 2.0, 3.0, 4.0, 5.0)
RUNS = 5
FOLDS = 5
#: The defaults of the listing; that the experiments keep them is not said.
MAX_DEPTH = 5
MIN_SAMPLE = 5
#: The listing takes an attribute for a number if it has more different values than this in the
#: training rows, and for categories otherwise.
MOST_CATEGORIES = 20
#: The appendix does not shuffle before it makes folds, and Tic-Tac-Toe's file is sorted by class.
#: So both are run.
ORDERS = ("file order", "shuffled")
#: Which rows a fold has after shuffling is open; the same in every run of the experiment.
SHUFFLE_SEED = 2019
#: A node without rows ends the listing with an error. Here it says what its parent would.
EMPTY_NODE = "the parent's class"
#: Of our own learner, whose line stands in every picture; fewer because each takes longer.
GIBBS_RUNS = 1

#: Of the remarks on folds, attributes and information gain: which epsilon, which numbers of folds,
#: how many attributes more, how many rows, how many runs.
REMARK_EPSILON = 1.0
MANY_FOLDS = (2, 5, 10, 20)
COINS = (0, 10, 20, 40)
COIN_ROWS = 1000
REMARK_RUNS = 20
GAIN_RUNS = 2
TOWNS = 10

#: Figure by figure: the name of the thesis, the data set, and the drug that is the class.
TABLES: dict[str, tuple[str, str, str | None]] = {
    "9": ("Amphetamine", "drug_consumption", "amphet"),
    "10": ("Benzodiazepine", "drug_consumption", "benzos"),
    "11": ("Cocaine", "drug_consumption", "coke"),
    "12": ("Ecstasy", "drug_consumption", "ecstasy"),
    "13": ("Legal highs", "drug_consumption", "legalh"),
    "14": ("Magic mushrooms", "drug_consumption", "mushrooms"),
    "15": ("Nicotine", "drug_consumption", "nicotine"),
    "16": ("Mushroom", "mushroom", None),
    "17": ("Car evaluation", "car", None),
    "18": ("Tic-Tac-Toe", "tic_tac_toe", None),
}

#: What ``--quick`` takes instead.
QUICK_EPSILONS = (0.5, 1.0, 5.0)
QUICK_RUNS = 1
QUICK_GIBBS_FOLDS = 1
QUICK_REMARK_RUNS = 4
