"""DynamoDB's PartiQL: statements parsed into the trees that every operation uses."""
