"""What a run writes beside the program's own log: access log, filter.log, robot.log, all bounded."""
