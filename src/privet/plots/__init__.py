"""Pictures of trees and of experiments, readable in grey. Needs matplotlib: ``pip install
'privet[plots]'``.

- :mod:`~privet.plots.tree`: ``draw_tree``, a tree with its tests in boxes
- :mod:`~privet.plots.bars`: its leaves as a bar per class, with whiskers for the noise
- :mod:`~privet.plots.chips`: its leaves as the class that they say, for drawn trees
- :mod:`~privet.plots.layout`: where each node of such a picture stands
- :mod:`~privet.plots.terms`: ``draw_terms``, the scores for each value of the attributes
- :mod:`~privet.plots.accuracy`: ``accuracy_over_epsilon``, dots with whiskers per learner
- :mod:`~privet.plots.boxes`: ``draw_boxes``, box plots of a measure by experiment and learner
- :mod:`~privet.plots.box_panels`: ``draw_box_panels``, box plots of several methods side by side,
  with lines over them
- :mod:`~privet.plots.curves`: ``draw_curves``, means with errors over a number, in panels
- :mod:`~privet.plots.attack`: ``draw_attack``, what an attack on an outsourced table learns
- :mod:`~privet.plots.shares`: ``draw_shares``, the shares of values in two tables side by side
- :mod:`~privet.plots.heatmap`: ``heatmap``, the mean of a result over two parameters
- :mod:`~privet.plots.maps`: ``draw_maps``, several heat maps on one scale
- :mod:`~privet.plots.anonymity`: ``draw_anonymity``, class sizes, l and t
- :mod:`~privet.plots.canvas`: a page in inches, with a title and a caption
- :mod:`~privet.plots.style`: greys with hatches, text widths, ``save_figure``

Figures are plain ``matplotlib.figure.Figure`` objects: nothing here touches ``pyplot`` or a
display.
"""

from privet.plots.accuracy import accuracy_over_epsilon
from privet.plots.box_panels import draw_box_panels
from privet.plots.boxes import draw_boxes
from privet.plots.curves import draw_curves
from privet.plots.heatmap import heatmap
from privet.plots.maps import draw_maps
from privet.plots.shares import draw_shares
from privet.plots.style import save_figure
from privet.plots.terms import draw_terms
from privet.plots.tree import draw_tree

__all__ = [
    "accuracy_over_epsilon",
    "draw_box_panels",
    "draw_boxes",
    "draw_curves",
    "draw_maps",
    "draw_shares",
    "draw_terms",
    "draw_tree",
    "heatmap",
    "save_figure",
]
