"""The operations of gg_core, with the document's own names for its mutations."""
