"""The operations of gg_core, by what they are about."""
