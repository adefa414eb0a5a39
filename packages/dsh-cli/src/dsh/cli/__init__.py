"""The reference host: the dsh command, composition only."""
