"""Not in the run-time lock."""

raise ImportError("rich is not installed where Ingather runs")
