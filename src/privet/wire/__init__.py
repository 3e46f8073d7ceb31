"""Questions and answers as JSON, between a curator's service and its clients. Nothing in here knows
HTTP.

- :mod:`~privet.wire.questions`: cells, splits, questions, spaces of trees, scores, released trees
- :mod:`~privet.wire.answers`: noisy numbers, choices, drawn trees, costs
"""
