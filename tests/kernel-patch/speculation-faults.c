// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults that speculation.cocci must report: the lines with a comment. It is not compiled. */

static u32 route(u32 slot, u64 cccr)
{
	return table[rows[slot]][cccr];	/* told */
}

static int event_route(const struct perfctr_event_control *e)
{
	return route(e->counter & ~PERFCTR_FAST, e->evntsel);
}

static u32 check_code(const u64 *codes, const struct perfctr_event_control *e)
{
	if (e->counter >= N)
		return 1;
	return codes[e->counter];	/* told */
}

static u32 check_safely(const u64 *codes, const struct perfctr_event_control *e)
{
	return codes[array_index_nospec(e->counter, N)];
}

static void *ring_of(struct perfctr_session *s, unsigned int cpu)
{
	return s->ring[cpu].address;	/* told */
}

static int consume(struct perfctr_session *s, const struct perfctr_consume *consume)
{
	if (!cpumask_test_cpu(consume->cpu, s->cpus))	/* told */
		return -EINVAL;
	use(per_cpu_ptr(s->cpu, consume->cpu));		/* told */
	use(ring_of(s, consume->cpu));
	return 0;
}

static int map(struct perfctr_session *s, struct vm_area_struct *vma, unsigned long offset)
{
	unsigned long cpu = offset / s->ring_bytes;

	return map_ring(&s->ring[cpu], vma);	/* told */
}
