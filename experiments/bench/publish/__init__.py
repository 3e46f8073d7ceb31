"""Accuracy of what is learnt from published data, beside the central learners."""
