"""Raises an exception whose class says that it is another, of Python's own, with bases that no class has.

kata = "insertion-sort"
status = "error or fail"
words = ["Posed"]
"""


class Meta(type):
    @property
    def __mro__(cls):
        return (AssertionError, KeyError)

    def __getattribute__(cls, name):
        return {"__name__": "NotImplementedError", "__module__": "builtins"}.get(
            name
        ) or type.__getattribute__(cls, name)


class Posed(Exception, metaclass=Meta):
    pass


def insertion_sort(values):
    raise Posed
