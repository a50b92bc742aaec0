"""Exports, imports and bulk operations, between tables and directories that stand for buckets."""
