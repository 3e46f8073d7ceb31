"""What leaves the boundary: files, answers, messages. None has an exact count, a row, a seed or a
path of the machine in it.
"""
