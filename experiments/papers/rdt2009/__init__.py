"""Jagannathan, Pillaipakkamnatt and Wright 2009, the workshop version: tables I and II, figures 3,
4 and 6 to 15.

- :mod:`~experiments.papers.rdt2009.paper`: what is repeated, and what the paper says of it
- :mod:`~experiments.papers.rdt2009.pictures`: average and maximum over epsilon, and updates in
  halves
- :mod:`~experiments.papers.rdt2009.comparing`: what came out beside what it says
"""
