"""Test support: the seam's scripted provider under a package name of its own. Never published."""
