"""Say what a whole model has learnt: all trees, terms and constants together.

Everything in here follows from the released model and from public or released people: no row is
read, and nothing is charged.

- :mod:`~privet.model.explanations.boxes`: a model as a sum of numbers over boxes of the domain
- :mod:`~privet.model.explanations.people`: whom effects are averaged over
- :mod:`~privet.model.explanations.effects`: effects, pairs and exact Shapley values of such sums
- :mod:`~privet.model.explanations.values`: values as people read them, neighbours together
- :mod:`~privet.model.explanations.explanation`: ``Explanation``, which is shown, saved and drawn
- :mod:`~privet.model.explanations.page`: the explanation as HTML
- :mod:`~privet.model.explanations.style`: its colours, light and dark, on paper and in notebooks
"""
