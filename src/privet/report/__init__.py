"""Show a model to people and to other programs. Nothing in here needs the data.

- :mod:`~privet.report.card`: the privacy card in Markdown and HTML;
  :mod:`~privet.report.blocks`: its building blocks; :mod:`~privet.report.wording`: epsilon in words
- :mod:`~privet.report.export`: a model in other formats, by name or by the ending of a file
- :mod:`~privet.report.text`: a tree as indented text, and as Graphviz DOT
- :mod:`~privet.report.terminal`: a model in the terminal
- :mod:`~privet.report.onnx`: a model as an ONNX graph
- :mod:`~privet.report.plots`: pictures
- :mod:`~privet.report.labels`: branches, classes and counts in the schema's own words
"""

from privet.errors import ModelError
from privet.model.file import read_model, write_model
from privet.report.card import card_html, card_markdown
from privet.report.labels import collapse_tree
from privet.report.model_parts import Parts
from privet.report.onnx import to_onnx
from privet.report.terminal import model_view
from privet.report.text import tree_dot, tree_text

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
