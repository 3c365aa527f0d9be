"""Crawler traps of a home: ``scanning`` finds them while the robot works, ``desk`` shows, publishes and dismisses them."""
