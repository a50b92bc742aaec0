"""Inviter: hangouts of groups of friends."""
