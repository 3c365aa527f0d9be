"""From the catalog to the index: the change log is followed, documents are made, links and metadata laid on."""
