"""PartiQL as DynamoDB speaks it: statements read into the trees that every operation uses."""
