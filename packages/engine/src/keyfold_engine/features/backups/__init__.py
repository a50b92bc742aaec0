"""Backups, the history for point-in-time recovery, restores, and snapshots of tables."""
