"""Read-only file tools confined to one directory: list, read, search."""
