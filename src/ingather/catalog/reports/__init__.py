"""What reports read: runs, figures, walks over every URL, replays."""
