"""The studies, one package each: `fairwave_studies.<name>` with a function `study()` that describes it.

The entry points of the distribution name those functions in the group `fairwave.studies`.
"""
