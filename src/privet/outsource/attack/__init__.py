"""Attack an anatomized table: what an adversary without the key learns (Kifer 2009).

Run it on your own split before you hand it out. The adversary sees which people share a group and
which values it holds, learns from all groups together how values go with what identifies people,
and matches people with values inside each group.

- :mod:`~privet.outsource.attack.inference`: ``attack``, expectation maximisation on both halves
- :mod:`~privet.outsource.attack.adversaries`: naive Bayes and logistic regression, which it uses
- :mod:`~privet.outsource.attack.matching`: all ways to match the rows of a group with its values
- :mod:`~privet.outsource.attack.groups`: the candidates, laid out by the shape of their group
- :mod:`~privet.outsource.attack.posterior`: what the adversary believes afterwards
- :mod:`~privet.outsource.attack.population`: what could be said without a person's own group
- :mod:`~privet.outsource.attack.score`: ``score``, how well it did, for whoever has the true values
- :mod:`~privet.outsource.attack.picture`: ``draw_attack``
"""

from privet.outsource.attack.inference import attack
from privet.outsource.attack.population import Population, population
from privet.outsource.attack.posterior import ModelName, Posterior, acquaintances
from privet.outsource.attack.score import Claims, Score, score

__all__ = [
    "Claims",
    "ModelName",
    "Population",
    "Posterior",
    "Score",
    "acquaintances",
    "attack",
    "population",
    "score",
]
