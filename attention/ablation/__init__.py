"""Heads taken away, and twins planted: what heads are for, and redundancy that is known. All of it runs a model.

`silence` takes heads away, `partial_pass` scores a model without them, `removal` many of them in turn, `importance`
estimates the same from one backward pass, `twins` copies one head over another and folds it away. `sharing` is how each
leaves the model that it was given as it is.
"""
