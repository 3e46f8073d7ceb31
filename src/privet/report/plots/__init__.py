"""Draw trees and experiments, readable in grey. Needs matplotlib: ``pip install
'privet[plots]'``.

- :mod:`~privet.report.plots.tree`: ``draw_tree``; :mod:`~privet.report.plots.layout`: where its
  nodes stand, and its leaves as bars
- :mod:`~privet.report.plots.effects`: ``draw_effects``, what a whole model has learnt
- :mod:`~privet.report.plots.terms`: ``draw_terms``, the scores for each value of the attributes
- :mod:`~privet.report.plots.accuracy`: ``accuracy_over_epsilon``
- :mod:`~privet.report.plots.boxes`: ``draw_boxes`` and ``draw_box_panels``
- :mod:`~privet.report.plots.curves`: ``draw_curves``, means with errors over a parameter
- :mod:`~privet.report.plots.maps`: ``heatmap`` and ``draw_maps``, over two parameters
- :mod:`~privet.report.plots.shares`: ``draw_shares``, the shares of values in two tables
- :mod:`~privet.report.plots.style`: fills and hatches, the canvas, ``save_figure``

Figures are plain ``matplotlib.figure.Figure`` objects: nothing here touches ``pyplot`` or a
display.

Examples
--------
>>> import privet as pv
>>> car = pv.datasets.load("car")
>>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema, max_depth=2).fit(car.table)
>>> figure = pv.plots.draw_tree(model.model_.trees[0], footer=str(model.privacy_))
>>> pv.plots.save_figure(figure, "tree.svg")
"""

from privet.report.plots.accuracy import accuracy_over_epsilon
from privet.report.plots.boxes import draw_box_panels, draw_boxes
from privet.report.plots.curves import draw_curves
from privet.report.plots.effects import draw_effects
from privet.report.plots.maps import draw_maps, heatmap
from privet.report.plots.shares import draw_shares
from privet.report.plots.style import save_figure
from privet.report.plots.terms import draw_terms
from privet.report.plots.tree import draw_tree

__all__ = [
    "accuracy_over_epsilon",
    "draw_box_panels",
    "draw_boxes",
    "draw_curves",
    "draw_effects",
    "draw_maps",
    "draw_shares",
    "draw_terms",
    "draw_tree",
    "heatmap",
    "save_figure",
]
