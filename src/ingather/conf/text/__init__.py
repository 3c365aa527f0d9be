"""Text to tree and back: lines, parameters, blocks; and edits in place that leave every other byte."""
