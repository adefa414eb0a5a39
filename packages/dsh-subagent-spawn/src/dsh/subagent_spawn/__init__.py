"""Backend that delegates to a fresh child agent in the same process."""
