"""Legacy programs (`.pdmodel` + `.pdiparams`): what Paddle Inference 2.x and 3.x, Serving, Lite and OpenVINO read.

Since 3.2 Paddle moves the bodies of its most common functions to C++, and their C++ entries know eager mode and PIR
only: "must be Value, but got Variable". This room puts the missing branch back, from the outside and only while
exporting. What is wrong with one API has a file of its own in `exporter.export.trace.fixes`.

    session      the context manager around all of it
    dispatch     what stands in for the C++ entries: lower, compose or refuse
    table/       one line an API: signature, legacy operator, slots, attributes, dtype rule
    audit        the table against the operators and signatures of the installed Paddle
    call, dtypes, attributes, lowering      from a call to an operator
    composed     functions that never had a legacy operator, made of others
    pipeline     the steps of every operator before it is appended:
        older        what older runtimes lack, made of what they have
        exact        numbers that would be rounded
        promotion    operands of two dtypes
    one_list     a list that both branches append to
    written      the program as Paddle wrote it: sizes, parts that a loop reads, the outputs' names
    files        the written files, made fit for old runtimes
    runtimes     which versions of Paddle can load a file, and why not the others
"""
