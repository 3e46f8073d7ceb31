"""Who was in the table? A membership attack with shadow models on released models, beside what
epsilon allows.
"""
