"""Session logs as JSON lines on disk: written as they grow, loaded and repaired again."""
