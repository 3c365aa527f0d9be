"""JSON for programs: search on the public listener, everything else behind the admin token.

Each handler reads its parameters, runs one callable of the parts in a thread, and writes what
it gave. Wrong parameters are a 400 that names the parameter; the shapes are documented in
``docs/reference/http.md`` and do not change within a version of the path.
"""
