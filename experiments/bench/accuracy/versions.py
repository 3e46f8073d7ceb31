"""A version per contestant: a hash of what its results depend on. Results of another version are
computed anew.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from pathlib import Path

import sklearn

import privet
from experiments.bench.accuracy import folds, measures, views
from experiments.bench.accuracy.contestants import CEILING, FLOOR, LIKE, OURS, run_gradient_boosting
from experiments.bench.accuracy.environment import REQUIREMENTS
from experiments.bench.accuracy.peers import LEARNERS, PACKAGES

#: What a fit of a learner in memory runs through.
FITTING = (
    *("learners", "curator", "queries", "model"),
    *("tables", "mechanisms", "accounting", "domain"),
)
NOT_FITTING = ("cli", "datasets", "plots", "release")


def version_of(learner: str) -> str:
    """Return the version of a contestant."""
    shared = [inspect.getsource(folds), inspect.getsource(measures)]
    return _hash([*shared, *_sources(learner)])


def code_version() -> str:
    """Return a hash of the sources of Privet that results of experiments may depend on."""
    root = Path(privet.__file__).parent
    every = {path.relative_to(root).parts[0] for path in root.rglob("*.py")}
    return _hash(_package_sources(every - set(NOT_FITTING)))


def _sources(learner: str) -> Iterable[str]:
    if learner in OURS:
        return [repr(OURS[learner]), *_package_sources(FITTING)]
    if learner in LIKE:
        module = inspect.getmodule(LIKE[learner])
        assert module is not None
        return [inspect.getsource(views), inspect.getsource(module)]
    if learner in LEARNERS:
        (pinned,) = (text for text in REQUIREMENTS if text.startswith(PACKAGES[learner] + "=="))
        return [inspect.getsource(views), pinned, inspect.getsource(LEARNERS[learner])]
    assert learner in (CEILING, FLOOR)
    return [sklearn.__version__, inspect.getsource(run_gradient_boosting)]


def _package_sources(packages: Iterable[str]) -> Iterable[str]:
    root = Path(privet.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in packages:
            yield path.relative_to(root).as_posix() + path.read_text(encoding="utf-8")


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
