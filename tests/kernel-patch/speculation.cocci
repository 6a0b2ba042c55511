// SPDX-License-Identifier: GPL-2.0-or-later
// Tells where the driver indexes memory by what user space has chosen, without array_index_nospec(): a processor that
// guesses wrong about the check before it would load from behind the array (Spectre variant 1).
// What user space chooses: the counter of an event, the CPU of a consumer, the offset of a mapping.
virtual report

@safe@
struct perfctr_event_control *e;
struct perfctr_consume *c;
position p;
@@
(
array_index_nospec(<+... e->counter@p ...+>, ...)
|
array_index_nospec(<+... c->cpu@p ...+>, ...)
)

// What a function makes safe of its own argument.
@safe_local@
idexpression x;
position p;
@@
array_index_nospec(x@p, ...)

// Directly.
@event@
struct perfctr_event_control *e;
expression A;
position p != safe.p;
@@
A[<+... e->counter@p ...+>]

@consumer@
struct perfctr_consume *c;
expression A;
position p != safe.p;
@@
(
A[<+... c->cpu@p ...+>]
|
per_cpu_ptr(A, <+... c->cpu@p ...+>)
|
cpumask_test_cpu(<+... c->cpu@p ...+>, A)
)

// By a function that gets it as an argument.
@event_call@
struct perfctr_event_control *e;
identifier F;
expression list[n] before;
position p != safe.p;
@@
F(before, <+... e->counter@p ...+>, ...)

@event_function@
identifier event_call.F, x;
parameter list[event_call.n] before;
type T;
expression A;
position p != safe_local.p;
@@
F(before, T x, ...)
{
<+...
A[<+... x@p ...+>]
...+>
}

@consumer_call@
struct perfctr_consume *c;
identifier F;
expression list[n] before;
position p != safe.p;
@@
F(before, <+... c->cpu@p ...+>, ...)

@consumer_function@
identifier consumer_call.F, x;
parameter list[consumer_call.n] before;
type T;
expression A;
position p != safe_local.p;
@@
F(before, T x, ...)
{
<+...
A[<+... x@p ...+>]
...+>
}

// A mapping's offset, and what is worked out of it.
@mapping@
identifier F, x, offset, vma;
expression A;
position p != safe_local.p;
@@
F(..., struct vm_area_struct *vma, unsigned long offset)
{
<...
unsigned long x = <+... offset ...+>;
...
(
A[<+... x@p ...+>]
|
cpumask_test_cpu(x@p, A)
)
...>
}

@script:python@
p << event.p;
@@
print("%s:%s: index chosen by user space: a counter" % (p[0].file, p[0].line))

@script:python@
p << consumer.p;
@@
print("%s:%s: index chosen by user space: a CPU" % (p[0].file, p[0].line))

@script:python@
p << event_function.p;
@@
print("%s:%s: index chosen by user space: a counter" % (p[0].file, p[0].line))

@script:python@
p << consumer_function.p;
@@
print("%s:%s: index chosen by user space: a CPU" % (p[0].file, p[0].line))

@script:python@
p << mapping.p;
@@
print("%s:%s: index chosen by user space: an offset" % (p[0].file, p[0].line))
