"""Commands that this distribution brings to `keyfold`."""
