"""The operations of TamaFriends, by what they are about."""
