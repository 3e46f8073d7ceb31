"""What an epsilon means, in numbers."""
