"""Resource descriptions as people exchange them: SOIF, RDM, the schema, taxonomy and classification."""
