"""The experiments of papers, run again from end to end.

- :mod:`~privet.reproduce.anatomy`: decision trees on outsourced data (Mancuhan and Clifton 2014)
"""
