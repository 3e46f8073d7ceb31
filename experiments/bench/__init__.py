"""Speed and accuracy beside peers and limits. Never part of the tests."""
