"""Resource policies: documents that say who may do what with a table.

document    what a policy says, checked and in its canonical spelling
action      which actions on which resources a request is
decision    whether a policy lets somebody do that
store       where policies are kept
"""
