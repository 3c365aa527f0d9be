"""External metadata of a home: ``texts`` and ``files`` are read, ``laying`` puts them in force and lets documents follow.

``watch`` looks at the files while a process gathers and ``fetching`` brings listings of others; ``book`` answers questions,
``comparing`` says what lies between two versions, ``desk`` and ``office`` do what people ask for, ``command`` asks the operator's program, ``withheld`` restricts what an index
has not followed yet, ``validating`` is the original's validator.
"""
