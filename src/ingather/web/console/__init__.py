"""The admin listener's pages: log in, see what Ingather does, decide what waits for a person.

``signing`` turns the admin token into a session; ``overview`` shows the status document and the
open holds, with the forms to release, discard, remove and undelete; ``why`` shows an explanation.
Only real figures: what the status document does not say is not on the page.
"""
