"""Resource policies: documents that say who may do what with a table.

document    the validated policy in its canonical spelling action      the actions and resources of
a request decision    whether a policy allows an action store       where policies are stored
"""
