"""Which documents and hosts are the same, or nearly: equal bodies, fingerprints, aliases."""
