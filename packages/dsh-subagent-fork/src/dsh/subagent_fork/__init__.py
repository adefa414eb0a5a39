"""Backend that delegates to a child seeded with its parent's completed turns."""
