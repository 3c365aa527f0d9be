"""robot.conf: its parameters once, read into typed values, and its reference page."""
