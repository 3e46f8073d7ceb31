"""Contracts as code: one suite for every count source, and one for every mechanism."""
