"""Has every attribute that anybody asks for: the module, its functions, and what they return.

kata = "insertion-sort"
status = "fail"
"""


class Everything:
    def __getattr__(self, name):
        return self

    def __call__(self, *arguments, **options):
        return self


def __getattr__(name):
    return Everything()
