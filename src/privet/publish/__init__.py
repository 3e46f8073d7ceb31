"""Releasing data instead of answers: synthetic tables (central), randomised records (local)."""
