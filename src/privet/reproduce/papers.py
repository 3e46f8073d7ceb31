"""The papers there are, by name. Each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from privet.errors import ParameterError
from privet.reproduce.experiment import Paper

#: Where the constant ``PAPER`` of each is, in the order of the report.
MODULES = {
    "hanisch": "privet.reproduce.hanisch.paper",
    "rdt2009": "privet.reproduce.rdt2009.paper",
    "rdt2012": "privet.reproduce.rdt2012.paper",
    "novakovic": "privet.reproduce.novakovic.paper",
    "anatomy": "privet.reproduce.anatomy.paper",
}


def paper_named(name: str) -> Paper:
    """The paper of this name."""
    if name not in MODULES:
        raise ParameterError(f"paper must be one of {', '.join(MODULES)}; got {name!r}")
    paper = import_module(MODULES[name]).PAPER
    assert isinstance(paper, Paper)
    return paper
