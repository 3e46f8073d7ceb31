"""Measure whether the effects that are shown as real are real."""
