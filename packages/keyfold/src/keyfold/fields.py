"""Fields: codecs for types that DynamoDB does not have, other stored types, one spelling."""

from keyfold.design.field_codec import Codec
from keyfold.design.markers import ReadsAlso
from keyfold.design.spelling import one_spelling

__all__ = ["Codec", "ReadsAlso", "one_spelling"]
