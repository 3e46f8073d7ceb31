"""The deFinetti attack on an anatomized table: what an adversary without the key learns (Kifer,
SIGMOD 2009).

An owner runs it on the own split before handing it out. The adversary sees which people share a
group and which values it holds, learns from all groups together how values go with what identifies
people, and matches people with values inside each group.

- :mod:`~privet.outsource.attack.inference`: ``attack``, expectation maximisation from both tables
  to a :class:`Posterior`
- :mod:`~privet.outsource.attack.posterior`: ``Posterior``, the probability of each value of a
  group, for each row
- :mod:`~privet.outsource.attack.score`: ``score``, how well it did, for whoever has the true values
- :mod:`~privet.outsource.attack.population`: ``population``, what could be told about a person
  without that person's group
- :mod:`~privet.outsource.attack.groups`: the candidates, laid out by the shape of their group
- :mod:`~privet.outsource.attack.matching`: all ways to match the rows of a group with its values
- :mod:`~privet.outsource.attack.bayes`, :mod:`~privet.outsource.attack.logistic`: what is learnt
  about people with a value
- :mod:`~privet.outsource.attack.table`, :mod:`~privet.outsource.attack.truth`: columns and true
  values, checked
- :mod:`~privet.outsource.attack.interval`: how far an accuracy may be off by chance
"""

from privet.outsource.attack.inference import attack
from privet.outsource.attack.population import Population, population
from privet.outsource.attack.posterior import ModelName, Posterior
from privet.outsource.attack.score import Claims, Score, score
from privet.outsource.attack.truth import acquaintances

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
