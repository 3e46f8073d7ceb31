"""Hanisch, *Differential Privacy for Decision Trees*: random private trees and forests on Adult,
and the tale of the billionaire.

- :mod:`~experiments.papers.hanisch.protocol`: what the paper leaves open, as named constants
- :mod:`~experiments.papers.hanisch.table`: Adult with seven grouped attributes and balanced classes
- :mod:`~experiments.papers.hanisch.as_published`: his count procedure and his forest, **NOT
  PRIVATE**
- :mod:`~experiments.papers.hanisch.jobs`: what the cells compute
- :mod:`~experiments.papers.hanisch.pictures`: in the form of his figures
- :mod:`~experiments.papers.hanisch.comparing`: what he says beside what came out
- :mod:`~experiments.papers.hanisch.paper`: all of it, figure by figure
"""
