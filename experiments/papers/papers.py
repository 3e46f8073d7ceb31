"""The papers there are, by name. Each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from experiments.papers.experiment import Paper
from privet.errors import ParameterError

#: Where the constant ``PAPER`` of each is, in the order of the report.
MODULES = {
    "hanisch": "experiments.papers.hanisch.paper",
    "rdt2009": "experiments.papers.rdt2009.paper",
    "rdt2012": "experiments.papers.rdt2012.paper",
    "novakovic": "experiments.papers.novakovic.paper",
    "anatomy": "experiments.papers.anatomy.paper",
}


def paper_named(name: str) -> Paper:
    """The paper of this name."""
    if name not in MODULES:
        raise ParameterError(f"paper must be one of {', '.join(MODULES)}; got {name!r}")
    paper = import_module(MODULES[name]).PAPER
    assert isinstance(paper, Paper)
    return paper
