"""The short way of the most common requests about items.

It does the whole work of a request or nothing: for whatever is not plain it returns None, and the
general way then does the work and finds the error. So that way stays the one definition of what a
request means, and this one may only agree with it.
"""
