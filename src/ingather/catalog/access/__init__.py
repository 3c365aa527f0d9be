"""Who may see what, as rows: access lists and their chains, groups, local users."""
