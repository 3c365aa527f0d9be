"""When a host, and an address, may be asked: one clock for all gatherers, back-off, hours, what an operator forbids."""
