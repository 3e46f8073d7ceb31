"""What is released, and its file: trees, how they combine, and the privacy statement.

- :mod:`~privet.model.model`: ``Model``, which predicts without the data
- :mod:`~privet.model.file`: ``write_model`` and ``read_model``, one versioned JSON object with a
  checksum
- :mod:`~privet.model.document`: what stands in that object, and every check that it must pass;
  :mod:`~privet.model.structure`, :mod:`~privet.model.evidence` and :mod:`~privet.model.statement`
  have its parts
- :mod:`~privet.model.kinds`: what the kinds of trees promise, and the kinds of files of 0.1
- :mod:`~privet.model.from_leaves`, :mod:`~privet.model.shrink`: from released leaf counts to trees
"""

from privet.model.model import WHISPER, Combine, Model

__all__ = ["WHISPER", "Combine", "Model"]
