"""What waits to be visited: hosts are lent to gatherers with their next URLs, and when a document is looked at again."""
