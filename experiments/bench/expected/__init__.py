"""How much of what can be learnt is left at an epsilon: the measurements that ship with ``privet
epsilon``.
"""
