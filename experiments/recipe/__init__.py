"""Is the default learner's public rule a good one? Recipes around each of its lines, compared on
public tables, and a choice that leaves tables out.

- :mod:`~experiments.recipe.tables`: public tables and their drafted schemas;
  :mod:`~experiments.recipe.generated`: those that are generated
- :mod:`~experiments.recipe.menu`: the recipes that are compared with each line of the rule
- :mod:`~experiments.recipe.cells`: which table, size and epsilon goes with which line
- :mod:`~experiments.recipe.fitting`: one fit by a recipe, with the learner's own functions
- :mod:`~experiments.recipe.running`: all fits, in an order that treats all lines alike
- :mod:`~experiments.recipe.learning`: regrets, intervals, and the choice that leaves tables out
- :mod:`~experiments.recipe.report`: the page and the picture
"""
