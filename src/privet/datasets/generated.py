"""Generate the data sets that are computed by rules instead of being stored.

- Car Evaluation: acceptability of cars (Bohanec and Rajkovic 1990)
- Nursery: ranking of applications for nursery schools (Olave, Rajkovic and Bohanec 1989)
- The MONK's problems (Thrun et al. 1991)
- Tic-Tac-Toe Endgame (Aha 1991)
- The three synthetic sets of Jagannathan, Pillaipakkamnatt and Wright 2009 (section VI)

Car Evaluation, Nursery and Tic-Tac-Toe are the same as the UCI files, row by row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import product

# Car Evaluation: all 1728 combinations of six attributes, labelled by a hierarchical decision
# model: price and technical quality, the latter from comfort and safety. The tables group the input
# combinations that behave the same in the UCI file.

BUYING = MAINT = ("vhigh", "high", "med", "low")
DOORS = ("2", "3", "4", "5more")
PERSONS = ("2", "4", "more")
LUG_BOOT = ("small", "med", "big")
SAFETY = ("low", "med", "high")

# Overall price from the buying price; columns: price of the maintenance, as in MAINT.
_PRICE = {
    "vhigh": ("too_high", "too_high", "high", "high"),
    "high": ("too_high", "high", "high", "high"),
    "med": ("high", "high", "medium", "low"),
    "low": ("high", "medium", "low", "low"),
}

# Comfort for at least four persons, from persons and doors; columns: luggage boot, as in LUG_BOOT.
_COMFORT = {
    ("4", "2"): ("plain", "plain", "good"),
    ("4", "3"): ("plain", "plain", "good"),
    ("4", "4"): ("plain", "good", "good"),
    ("4", "5more"): ("plain", "good", "good"),
    ("more", "2"): ("bad", "plain", "good"),
    ("more", "3"): ("plain", "good", "good"),
    ("more", "4"): ("plain", "good", "good"),
    ("more", "5more"): ("plain", "good", "good"),
}

# Technical quality from comfort; columns: safety, as in SAFETY.
_TECH = {
    "bad": ("bad", "bad", "bad"),
    "plain": ("bad", "fair", "good"),
    "good": ("bad", "good", "excellent"),
}

# The class from the price; columns: bad, fair, good and excellent technical quality.
_CAR_CLASS = {
    "too_high": ("unacc", "unacc", "unacc", "unacc"),
    "high": ("unacc", "unacc", "acc", "acc"),
    "medium": ("unacc", "acc", "acc", "vgood"),
    "low": ("unacc", "acc", "good", "vgood"),
}


def generate_car_rows() -> Iterator[tuple[str, ...]]:
    """Generate every car with its class, in the order of the UCI file."""
    for row in product(BUYING, MAINT, DOORS, PERSONS, LUG_BOOT, SAFETY):
        yield *row, classify_car(*row)


def classify_car(
    buying: str, maint: str, doors: str, persons: str, lug_boot: str, safety: str
) -> str:
    """Return the class of one car."""
    price = _PRICE[buying][MAINT.index(maint)]
    comfort = "bad" if persons == "2" else _COMFORT[persons, doors][LUG_BOOT.index(lug_boot)]
    tech = _TECH[comfort][SAFETY.index(safety)]
    return _CAR_CLASS[price][("bad", "fair", "good", "excellent").index(tech)]


# Nursery: all 12 960 combinations of eight attributes, labelled by a hierarchical decision model of
# the DEX kind. The model itself was not published with the data: the tables below group the input
# combinations that behave the same in the UCI file, and the intermediate concepts are named here.

PARENTS = ("usual", "pretentious", "great_pret")
HAS_NURS = ("proper", "less_proper", "improper", "critical", "very_crit")
FORM = ("complete", "completed", "incomplete", "foster")
CHILDREN = ("1", "2", "3", "more")
HOUSING = ("convenient", "less_conv", "critical")
FINANCE = ("convenient", "inconv")
SOCIAL = ("nonprob", "slightly_prob", "problematic")
HEALTH = ("recommended", "priority", "not_recom")

# How much the parents' occupation and the nursery at home ask for a place; columns as in HAS_NURS.
_EMPLOY = {
    "usual": ("none", "mild", "mild", "strong", "urgent"),
    "pretentious": ("mild", "mild", "strong", "urgent", "urgent"),
    "great_pret": ("strong", "strong", "urgent", "urgent", "urgent"),
}

# The burden that the form of the family and the number of children are; columns as in CHILDREN.
_STRUCTURE = {
    "complete": ("light", "middle", "heavy", "heavy"),
    "completed": ("middle", "middle", "heavy", "heavy"),
    "incomplete": ("middle", "heavy", "heavy", "heavy"),
    "foster": ("heavy", "heavy", "heavy", "heavy"),
}

# The conditions at home; columns as in FINANCE.
_CONDITIONS = {
    "convenient": ("good", "fair"),
    "less_conv": ("fair", "fair"),
    "critical": ("poor", "poor"),
}

# Family structure and conditions at home together; columns: good, fair, poor conditions.
_STRUCT_FINAN = {
    "light": ("fine", "bearable", "bearable"),
    "middle": ("bearable", "bearable", "hard"),
    "heavy": ("bearable", "hard", "hard"),
}

# The class if health is no obstacle: need for a place, then structure and finances; columns: no
# concern, concern.
_NURSERY_CLASS = {
    ("none", "fine"): ("recommend", "priority"),
    ("none", "bearable"): ("very_recom", "priority"),
    ("none", "hard"): ("priority", "priority"),
    ("mild", "fine"): ("very_recom", "priority"),
    ("mild", "bearable"): ("very_recom", "priority"),
    ("mild", "hard"): ("priority", "priority"),
    ("strong", "fine"): ("priority", "priority"),
    ("strong", "bearable"): ("priority", "priority"),
    ("strong", "hard"): ("priority", "spec_prior"),
    ("urgent", "fine"): ("priority", "priority"),
    ("urgent", "bearable"): ("priority", "spec_prior"),
    ("urgent", "hard"): ("spec_prior", "spec_prior"),
}


def generate_nursery_rows() -> Iterator[tuple[str, ...]]:
    """Generate every application with its class, in the order of the UCI file."""
    for row in product(PARENTS, HAS_NURS, FORM, CHILDREN, HOUSING, FINANCE, SOCIAL, HEALTH):
        yield *row, classify_application(*row)


def classify_application(
    parents: str,
    has_nurs: str,
    form: str,
    children: str,
    housing: str,
    finance: str,
    social: str,
    health: str,
) -> str:
    """Return the class of one application."""
    if health == "not_recom":
        return "not_recom"
    employ = _EMPLOY[parents][HAS_NURS.index(has_nurs)]
    structure = _STRUCTURE[form][CHILDREN.index(children)]
    conditions = _CONDITIONS[housing][FINANCE.index(finance)]
    struct_finan = _STRUCT_FINAN[structure][("good", "fair", "poor").index(conditions)]
    concern = health == "priority" or social == "problematic"
    return _NURSERY_CLASS[employ, struct_finan][concern]


# The MONK's problems: three rules over all 432 robots, without noise. The UCI file of the third
# problem has noise in its training part; here every row follows the rule.

Robot = tuple[int, int, int, int, int, int]
MonkRule = Callable[[Robot], bool]
SIZES = (3, 3, 2, 3, 4, 2)


def satisfies_monks_1(robot: Robot) -> bool:
    """Return whether head and body have the same shape, or the jacket is red."""
    a1, a2, _, _, a5, _ = robot
    return a1 == a2 or a5 == 1


def satisfies_monks_2(robot: Robot) -> bool:
    """Return whether exactly two attributes have their first value."""
    return robot.count(1) == 2


def satisfies_monks_3(robot: Robot) -> bool:
    """Return whether the third rule holds.

    The jacket is green and the holding a sword, or the jacket is not blue and the body not an
    octagon.
    """
    _, a2, _, a4, a5, _ = robot
    return (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3)


def generate_monks_rows(rule: MonkRule) -> Iterator[tuple[str, ...]]:
    """Generate all robots in order, with class ``"1"`` where the rule holds."""
    a1, a2, a3, a4, a5, a6 = (range(1, size + 1) for size in SIZES)
    for robot in product(a1, a2, a3, a4, a5, a6):
        yield *(str(value) for value in robot), "1" if rule(robot) else "0"


# Tic-Tac-Toe: every board on which a game can end, x having moved first. The class: whether x won.

LINES = ("012", "345", "678", "036", "147", "258", "048", "246")


def generate_boards() -> Iterator[tuple[str, ...]]:
    """Generate the 958 final boards, square by square, with their class.

    First those won by x, then those won by o, then those drawn.
    """
    # blank last: the product order of the UCI file
    boards = ["".join(squares) for squares in product("xob", repeat=9)]
    ends = [(board, find_outcome(board)) for board in boards]
    for outcome in ("x", "o", "draw"):
        for board, how in ends:
            if how == outcome:
                yield *board, "positive" if outcome == "x" else "negative"


def find_outcome(board: str) -> str | None:
    """Return how the game ended on this board: ``"x"``, ``"o"`` or ``"draw"``.

    None if no game ends there.
    """
    extra = board.count("x") - board.count("o")
    x_won, o_won = _has_won(board, "x"), _has_won(board, "o")
    # The winner moved last; x is one ahead after its own move, and even after one of o.
    if x_won and not o_won and extra == 1:
        return "x"
    if o_won and not x_won and extra == 0:
        return "o"
    full = "b" not in board
    return "draw" if full and extra == 1 and not x_won and not o_won else None


def _has_won(board: str, player: str) -> bool:
    return any(all(board[int(square)] == player for square in line) for line in LINES)


# The sets of Jagannathan et al. 2009: a Boolean tree with noise. The paper gives the numbers of
# attributes and rows, and that each label is flipped with probability 0.05. It does not show the
# trees of sets 1 and 3, and that of set 2 only as a picture: all three trees here are our own. Each
# uses every attribute and splits the cube about evenly. Rows are uniform over the cube. They come
# from SHAKE-256 of the set's name, so they are the same on every machine.

#: A leaf (the label), or the number of the attribute to look at with the trees for 0 and for 1.
NestedTree = int | tuple[int, "NestedTree", "NestedTree"]

FLIP = 0.05
_ROW_BYTES = 8

TREE_1: NestedTree = (
    1,
    (2, (4, (8, 0, 1), (9, 0, 1)), (5, 1, (10, 0, (7, 1, 0)))),
    (3, (6, (7, 1, 0), (8, 0, 1)), (9, (4, 0, 1), (10, (5, 1, 0), (2, 0, 1)))),
)
TREE_2: NestedTree = (
    1,
    (2, (3, 0, 1), (4, 1, (5, 0, 1))),
    (6, (4, (3, 1, 0), 0), (5, (2, 0, 1), 1)),
)
TREE_3: NestedTree = (
    4,
    (1, (2, 0, (3, 0, 1)), (5, (6, 1, 0), 1)),
    (7, (3, (2, 0, 1), (6, 1, 0)), (1, (5, 0, 1), 0)),
)


def classify_bits(tree: NestedTree, bits: Sequence[int]) -> int:
    """Return the label that the tree gives to a row; ``bits[0]`` is attribute 1."""
    while not isinstance(tree, int):
        attribute, zero, one = tree
        tree = one if bits[attribute - 1] else zero
    return tree


def generate_rdt_rows(
    name: str, tree: NestedTree, attributes: int, n: int
) -> Iterator[tuple[str, ...]]:
    """Generate the rows of a set: attributes, and the label, flipped with probability 0.05."""
    stream = hashlib.shake_256(f"privet {name}".encode()).digest(n * _ROW_BYTES)
    for start in range(0, len(stream), _ROW_BYTES):
        word = int.from_bytes(stream[start : start + _ROW_BYTES], "little")
        bits = [word >> position & 1 for position in range(attributes)]
        # the upper half of the word decides the flip, the lower bits are the attributes
        flip = (word >> 32) < int(FLIP * 2**32)
        yield *(str(bit) for bit in bits), str(classify_bits(tree, bits) ^ flip)
