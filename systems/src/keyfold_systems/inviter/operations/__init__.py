"""The operations of Inviter, by what they are about."""
