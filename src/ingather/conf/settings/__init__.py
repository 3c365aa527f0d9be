"""ingather.toml: every setting once, read with its place and origin, and the pages made from the table."""
