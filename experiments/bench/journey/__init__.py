"""The same job with Privet and with two peers: from a messy CSV to a private model and its test."""
