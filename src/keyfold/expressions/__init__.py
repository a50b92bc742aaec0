"""DynamoDB's expressions: one grammar, one tree, for requests, legacy parameters and PartiQL.

An operation reads its request with `parameters.refuse_mixture` and `parameters.read`, and executes
what it gets with `evaluate.compiled`, `update.Plan`, `projection.project` and `keys.select`.
"""
