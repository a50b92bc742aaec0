"""Resource policies: documents that say who may do what with a table.

action      the actions and resources of a request
decision    whether a policy allows an action
document    the validated policy in its canonical spelling
store       where policies are stored
"""
