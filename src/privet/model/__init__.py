"""Hold what is released: trees, how they combine, and their privacy statement.

- :mod:`~privet.model.model`: ``Model``, which predicts without the data
- :mod:`~privet.model.leaf_vectors`: noisy leaf counts of random trees, batch by batch; shrinkage
- :mod:`~privet.model.file`: write and read the model file
- :mod:`~privet.model.document`, :mod:`~privet.model.structure`: what stands in it, and every check
"""

from privet.model.model import WHISPER, Combine, Model, model_of

__all__ = ["WHISPER", "Combine", "Model", "model_of"]
