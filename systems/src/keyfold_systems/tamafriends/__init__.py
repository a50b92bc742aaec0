"""TamaFriends: posts, comments, likes and follows."""
