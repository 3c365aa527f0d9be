"""What waits, as it lies in the catalog: discoveries, budgets, rechecks, freshness, traps, what hosts say in heads of answers."""
