"""DynamoDB's expressions: one grammar, one tree, for requests, legacy parameters and PartiQL.

An operation reads its request with `parameters.refuse_mixture` and `parameters.read`, and executes
what it gets with `evaluate.compile_condition`, `update.UpdatePlan`, `projection.project` and
`keys.select`.
"""
