"""What leaves the house: the model file, the privacy card, and exports. Nothing in here needs the
data.

- :mod:`~privet.model.file`: ``write_model`` and ``read_model``, one versioned JSON object with a
  checksum
- :mod:`~privet.model.document`: what stands in that object, and every check that it must pass
- :mod:`~privet.release.text`: a tree as indented text in scikit-learn's style, and as Graphviz DOT
- :mod:`~privet.release.terminal`: a model as a Rich renderable, with its privacy statement
- :mod:`~privet.release.onnx`: a model as an ONNX graph, from codes to label and probabilities
- :mod:`~privet.release.card`: the privacy card in Markdown and HTML, for a data-protection officer
- :mod:`~privet.release.parts`: ``Parts``, what a model of scores is made of
- :mod:`~privet.release.collapse`: ``collapsed``, a tree of scores without branches that say the
  same
- :mod:`~privet.release.labels`: branches and counts in words, shared by all of them and by the
  plots
"""

from privet.errors import ModelError
from privet.model.file import read_model, write_model
from privet.release.card import card_html, card_markdown
from privet.release.collapse import collapse_tree
from privet.release.onnx import to_onnx
from privet.release.parts import Parts
from privet.release.terminal import model_view
from privet.release.text import tree_dot, tree_text

__all__ = [
    "ModelError",
    "Parts",
    "card_html",
    "card_markdown",
    "collapse_tree",
    "model_view",
    "read_model",
    "to_onnx",
    "tree_dot",
    "tree_text",
    "write_model",
]
