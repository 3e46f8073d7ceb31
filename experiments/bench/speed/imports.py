"""What starting costs: the wall time of whole processes that import, ask for help, or fit a
thousand rows.
"""

from __future__ import annotations

import subprocess
import sys
import time

from experiments.bench.speed.results import Run, Task

_PRIVET = """
import numpy, pandas, privet
codes = numpy.random.default_rng(0).integers(0, 4, (1000, 14))
table = pandas.DataFrame({**{f"a{i}": codes[:, i] for i in range(14)}, "y": codes[:, 0] > 1})
schema = privet.Schema({f"a{i}": privet.Categorical([0, 1, 2, 3]) for i in range(14)}, "y", [False, True])
privet.RandomTreesClassifier(1, schema, height=4).fit(table)
"""  # noqa: E501
_SKLEARN = """
import numpy
from sklearn.ensemble import RandomForestClassifier
codes = numpy.random.default_rng(0).integers(0, 4, (1000, 14))
RandomForestClassifier(10, max_depth=4).fit(codes, codes[:, 0] > 1)
"""
PROGRAMS = {
    "python, nothing": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import pandas": ["-c", "import pandas"],
    "import sklearn": ["-c", "import sklearn"],
    "import privet": ["-c", "import privet"],
    "from privet import RandomTreesClassifier": ["-c", "from privet import RandomTreesClassifier"],
    "privet --help": ["-c", "from privet.cli import main; main()", "--help"],
    "privet, ten trees of 1,000 rows": ["-c", _PRIVET],
    "scikit-learn, ten trees of 1,000 rows": ["-c", _SKLEARN],
}


def started(name: str, times: int) -> Run:
    """The seconds of a program, from start to end, after one run that fills the caches."""
    command, seconds = [sys.executable, *PROGRAMS[name]], []
    for _ in range(times + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return Run(Task("import", name), tuple(seconds[1:]))
