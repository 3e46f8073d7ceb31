"""Novakovic 2019, *Data mining with privacy guarantees: Decision trees with differential privacy*
(master thesis), chapter 7.

- :mod:`~experiments.papers.novakovic.protocol`: what the thesis leaves open, as named constants
- :mod:`~experiments.papers.novakovic.tables`: the ten tables, as the listings see them and with a
  public schema
- :mod:`~experiments.papers.novakovic.as_published`: the trees of the listings, **NOT PRIVATE**
- :mod:`~experiments.papers.novakovic.jobs`: what the cells compute
- :mod:`~experiments.papers.novakovic.remarks`: what the thesis says in passing, measured
- :mod:`~experiments.papers.novakovic.pictures`: curves and heat maps
- :mod:`~experiments.papers.novakovic.comparing`: what the thesis says beside what came out
- :mod:`~experiments.papers.novakovic.paper`: all of it, figure by figure
"""
