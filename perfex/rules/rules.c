// SPDX-License-Identifier: GPL-2.0-or-later
#include "rules_internal.h"
#include "../perfex.h"

#include <stdlib.h>
#include <string.h>

static void *grow_array(void *array, size_t n, size_t size)
{
	array = reallocarray(array, n, size);
	if (!array)
		fail("out of memory");
	return array;
}

struct rules *rules_new(void)
{
	return memset(grow_array(NULL, 1, sizeof(struct rules)), 0, sizeof(struct rules));
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n_names; i++)
		free(rules->name[i].text);
	for (size_t i = 0; i < rules->n; i++) {
		free(rules->rule[i].definition);
		free(rules->rule[i].step);
	}
	free(rules->name);
	free(rules->rule);
	free(rules->order);
	free(rules);
}

/* Returns the index of the name, and appends the name if it is new. */
size_t rules_find_name(struct rules *rules, const char *text, size_t length)
{
	struct rule_name *name = rules->name;
	size_t i;

	for (i = 0; i < rules->n_names; i++)
		if (strlen(name[i].text) == length && memcmp(name[i].text, text, length) == 0)
			return i;
	rules->name = grow_array(name, rules->n_names + 1, sizeof(*name));
	name = &rules->name[rules->n_names++];
	*name = (struct rule_name){ .text = strndup(text, length), .rule = NO_RULE };
	if (!name->text)
		fail("out of memory");
	return i;
}

struct rule *rules_append(struct rules *rules, size_t name, unsigned int line)
{
	struct rule *rule;

	rules->rule = grow_array(rules->rule, rules->n + 1, sizeof(*rule));
	rules->name[name].rule = rules->n;
	rule = &rules->rule[rules->n++];
	*rule = (struct rule){ .name = name, .line = line };
	return rule;
}

void rule_append_step(struct rule *rule, struct step step)
{
	rule->step = grow_array(rule->step, rule->n_steps + 1, sizeof(step));
	rule->step[rule->n_steps++] = step;
}

/*
 * Appends the rule to the order, behind the rules that it needs.  Returns false, with the reason in
 * error, if a rule needs its own value.  Recurses at most RULES_MAX deep.
 */
static bool visit_rule(struct rules *rules, size_t i, struct text_error *error)
{
	struct rule *rule = &rules->rule[i];

	if (rule->visit == OPEN) {
		error->line = rule->line;
		snprintf(error->text, sizeof(error->text),
			 "rule '%.80s' needs its own value; define it by events, or by other rules",
			 rules->name[rule->name].text);
		return false;
	}
	if (rule->visit == DONE)
		return true;
	rule->visit = OPEN;
	for (size_t k = 0; k < rule->n_steps; k++) {
		const struct step *step = &rule->step[k];

		if (step->operation == PUSH_NAME && rules->name[step->name].rule != NO_RULE &&
		    !visit_rule(rules, rules->name[step->name].rule, error))
			return false;
	}
	rule->visit = DONE;
	rules->order[rules->n_ordered++] = i;
	return true;
}

bool rules_link(struct rules *rules, struct text_error *error)
{
	rules->order = grow_array(rules->order, rules->n + 1, sizeof(*rules->order));
	for (size_t i = 0; i < rules->n; i++)
		if (!visit_rule(rules, i, error))
			return false;
	return true;
}

const char *rules_event(const struct rules *rules, size_t i)
{
	if (i >= rules->n_names)
		return NULL;
	return rules->name[i].rule == NO_RULE ? rules->name[i].text : "";
}

size_t rules_count(const struct rules *rules)
{
	return rules->n;
}

const char *rules_name(const struct rules *rules, size_t i)
{
	return rules->name[rules->rule[i].name].text;
}

const char *rules_definition(const struct rules *rules, size_t i)
{
	return rules->rule[i].definition;
}
