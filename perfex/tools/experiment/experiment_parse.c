// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the experiment file.  Tables say which keys there are and where their values go. */
#include "experiment.h"
#include "../../perfex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define MAX_NUMBER 1000000
#define MAX_NAME 64  /* characters of a name, which also names a directory */
#define MAX_DEPTH 16 /* of nested lists and mappings; libyaml's time grows with its square */
#define MAX_ANCHORS 256
#define MAX_NAMES 1024	/* of programs, and of experiments */
#define MAX_EVENTS 4096 /* events of all experiments */

const char *const mode_words[] = { "user", "kernel", "both", NULL };
const char *const view_words[] = { "tree", "self", NULL };

struct reader {
	yaml_document_t *document;
	struct text_error *error;
	yaml_node_t *experiments; /* read last, because the rest of the file may set defaults */
};

struct key {
	const char *name;
	bool (*take)(struct reader *reader, const struct key *key, yaml_node_t *value,
		     void *target);
	size_t offset;		  /* of the target in its struct */
	unsigned int min, max;	  /* of a number */
	const char *const *words; /* of a choice; NULL after the last */
	bool required;
};

static unsigned int line_of(const yaml_node_t *node)
{
	return (unsigned int)node->start_mark.line + 1;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (control_length(text))
			return false;
	return true;
}

/* what: names the value in the error message */
static bool get_string(struct reader *reader, yaml_node_t *node, const char *what,
		       const char **string)
{
	const char *value = (const char *)node->data.scalar.value;

	if (node->type != YAML_SCALAR_NODE)
		return refuse_text(reader->error, line_of(node), "%s is not a single value; give one",
				   what);
	if (strlen(value) != node->data.scalar.length)
		return refuse_text(reader->error, line_of(node), "%s contains a NUL", what);
	*string = value;
	return true;
}

static void *target_of(const struct key *key, void *target)
{
	return (char *)target + key->offset;
}

static bool take_string(struct reader *reader, const struct key *key, yaml_node_t *value,
			void *target)
{
	const char **string = target_of(key, target);

	if (!get_string(reader, value, key->name, string))
		return false;
	if (!**string)
		return refuse_text(reader->error, line_of(value), "%s is empty", key->name);
	return true;
}

static bool take_number(struct reader *reader, const struct key *key, yaml_node_t *value,
			void *target)
{
	unsigned int *number = target_of(key, target);
	const char *text;
	char *end;
	unsigned long result;

	if (!get_string(reader, value, key->name, &text))
		return false;
	result = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || result < key->min || result > key->max)
		return refuse_text(reader->error, line_of(value),
				   "%s is '%.40s'; give a number from %u to %u", key->name,
				   is_printable(text) ? text : "?", key->min, key->max);
	*number = (unsigned int)result;
	return true;
}

static bool take_passes(struct reader *reader, const struct key *key, yaml_node_t *value,
			void *target)
{
	unsigned int *number = target_of(key, target);
	const char *text;

	if (get_string(reader, value, key->name, &text) && strcmp(text, "auto") == 0) {
		*number = 0;
		return true;
	}
	return take_number(reader, key, value, target);
}

static void add_word(char *list, size_t size, const char *word)
{
	size_t length = strlen(list);

	snprintf(list + length, size - length, "%s%s", length ? ", " : "", word);
}

static bool take_word(struct reader *reader, const struct key *key, yaml_node_t *value,
		      void *target)
{
	unsigned int *place = target_of(key, target);
	char allowed[128] = "";
	const char *text;

	if (!get_string(reader, value, key->name, &text))
		return false;
	for (unsigned int i = 0; key->words[i]; i++) {
		if (strcmp(text, key->words[i]) == 0) {
			*place = i;
			return true;
		}
		add_word(allowed, sizeof(allowed), key->words[i]);
	}
	return refuse_text(reader->error, line_of(value), "%s is '%.40s'; allowed are %s",
			   key->name, is_printable(text) ? text : "?", allowed);
}

static void allocate_strings(struct strings *strings, size_t n)
{
	strings->string = allocate(n, sizeof(*strings->string));
	strings->line = allocate(n, sizeof(*strings->line));
}

static bool add_string(struct reader *reader, const struct key *key, yaml_node_t *node,
		       struct strings *strings)
{
	strings->line[strings->n] = line_of(node);
	return get_string(reader, node, key->name, &strings->string[strings->n++]);
}

static bool take_strings(struct reader *reader, const struct key *key, yaml_node_t *value,
			 void *target)
{
	struct strings *strings = target_of(key, target);
	yaml_node_item_t *item;

	if (value->type != YAML_SEQUENCE_NODE ||
	    value->data.sequence.items.top == value->data.sequence.items.start)
		return refuse_text(reader->error, line_of(value),
				   "%s is not a list; write [a, b, ..], or a line '- a' for "
				   "each",
				   key->name);
	allocate_strings(strings, (size_t)(value->data.sequence.items.top -
					   value->data.sequence.items.start));
	for (item = value->data.sequence.items.start; item < value->data.sequence.items.top; item++)
		if (!add_string(reader, key, yaml_document_get_node(reader->document, *item),
				strings))
			return false;
	return true;
}

/* Takes strings without control characters: events and rules are shown in lines and columns. */
static bool take_lines(struct reader *reader, const struct key *key, yaml_node_t *value,
		       void *target)
{
	const struct strings *strings = target_of(key, target);

	if (!take_strings(reader, key, value, target))
		return false;
	for (size_t i = 0; i < strings->n; i++)
		if (!is_printable(strings->string[i]))
			return refuse_text(reader->error, line_of(value),
					   "%s contain control characters", key->name);
	return true;
}

static size_t mapping_size(const yaml_node_t *node)
{
	return (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
}

static bool take_pairs(struct reader *reader, const struct key *key, yaml_node_t *value,
		       void *target)
{
	struct strings *strings = target_of(key, target);
	yaml_node_pair_t *pair;

	if (value->type != YAML_MAPPING_NODE)
		return refuse_text(reader->error, line_of(value),
				   "%s is not a mapping; write NAME: value for each", key->name);
	allocate_strings(strings, 2 * mapping_size(value));
	for (pair = value->data.mapping.pairs.start; pair < value->data.mapping.pairs.top; pair++)
		if (!add_string(reader, key, yaml_document_get_node(reader->document, pair->key),
				strings) ||
		    !add_string(reader, key, yaml_document_get_node(reader->document, pair->value),
				strings))
			return false;
	return true;
}

static bool take_environment(struct reader *reader, const struct key *key, yaml_node_t *value,
			     void *target)
{
	const struct strings *strings = target_of(key, target);

	if (!take_pairs(reader, key, value, target))
		return false;
	for (size_t i = 0; i < strings->n; i += 2) {
		const char *name = strings->string[i];

		if (!*name || strchr(name, '='))
			return refuse_text(reader->error, strings->line[i],
					   "'%.40s' is not the name of a variable",
					   is_printable(name) ? name : "?");
	}
	return true;
}

/* Takes pairs of an event and its period.  experiment_check() parses the periods. */
static bool take_ebs(struct reader *reader, const struct key *key, yaml_node_t *value, void *target)
{
	const struct strings *strings = target_of(key, target);

	if (!take_pairs(reader, key, value, target))
		return false;
	for (size_t i = 0; i < strings->n; i++)
		if (!is_printable(strings->string[i]))
			return refuse_text(reader->error, strings->line[i],
					   "%s contains control characters", key->name);
	return true;
}

static const struct key *find_key(const struct key *keys, const char *name)
{
	while (keys->name && strcmp(keys->name, name) != 0)
		keys++;
	return keys->name ? keys : NULL;
}

static bool unknown_key(struct reader *reader, const struct key *keys, const yaml_node_t *node,
			const char *name)
{
	char allowed[160] = "";

	for (; keys->name; keys++)
		add_word(allowed, sizeof(allowed), keys->name);
	return refuse_text(reader->error, line_of(node), "unknown key '%.40s'; allowed are %s",
			   is_printable(name) ? name : "?", allowed);
}

/* Reads a mapping with the keys of a table.  what: names the mapping in the error message */
static bool read_keys(struct reader *reader, const struct key *keys, yaml_node_t *node,
		      void *target, const char *what)
{
	unsigned long long seen = 0;
	yaml_node_pair_t *pair;

	if (node->type != YAML_MAPPING_NODE)
		return refuse_text(reader->error, line_of(node),
				   "%.80s is not a mapping; write 'key: value' lines", what);
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *key_node = yaml_document_get_node(reader->document, pair->key);
		yaml_node_t *value = yaml_document_get_node(reader->document, pair->value);
		const struct key *key;
		const char *name;

		if (!get_string(reader, key_node, "a key", &name))
			return false;
		key = find_key(keys, name);
		if (!key)
			return unknown_key(reader, keys, key_node, name);
		if (seen >> (key - keys) & 1)
			return refuse_text(reader->error, line_of(key_node),
					   "key '%s' is given twice", name);
		seen |= 1ull << (key - keys);
		if (!key->take(reader, key, value, target))
			return false;
	}
	for (const struct key *key = keys; key->name; key++)
		if (key->required && !(seen >> (key - keys) & 1))
			return refuse_text(reader->error, line_of(node), "%.80s has no key '%s'",
					   what, key->name);
	return true;
}

static bool is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_.+-");

	return length && length <= MAX_NAME && !text[length] && *text != '.' && *text != '-';
}

static bool get_name(struct reader *reader, const yaml_node_pair_t *pair, const char *what,
		     const char **name)
{
	yaml_node_t *node = yaml_document_get_node(reader->document, pair->key);

	if (!get_string(reader, node, what, name))
		return false;
	if (!is_name(*name))
		return refuse_text(reader->error, line_of(node),
				   "'%.80s' cannot be the name of %s; take letters, digits "
				   "and _.+-, %d at most",
				   is_printable(*name) ? *name : "?", what, MAX_NAME);
	return true;
}

struct program *find_program(const struct experiment_file *file, const char *name)
{
	for (size_t i = 0; i < file->n_programs; i++)
		if (strcmp(file->program[i].name, name) == 0)
			return &file->program[i];
	return NULL;
}

static struct experiment *find_experiment(const struct experiment_file *file, const char *name)
{
	struct experiment *experiment = file->experiment;

	while (strcmp(experiment->name, name) != 0)
		experiment++;
	return experiment;
}

static bool too_many(struct reader *reader, const yaml_node_t *node, const char *what,
		     unsigned int most)
{
	return refuse_text(reader->error, line_of(node),
			   "there are more than %u %s; make two files", most, what);
}

static bool is_new(struct reader *reader, const yaml_node_pair_t *pair, bool taken)
{
	const yaml_node_t *node = yaml_document_get_node(reader->document, pair->key);

	return !taken || refuse_text(reader->error, line_of(node),
				     "the name is given twice; give each its own");
}

#define OFFSET(member) .offset = offsetof(struct program, member)

static const struct key program_keys[] = {
	{ .name = "command", .take = take_strings, OFFSET(command), .required = true },
	{ .name = "directory", .take = take_string, OFFSET(directory) },
	{ .name = "input", .take = take_string, OFFSET(input) },
	{ .name = "environment", .take = take_environment, OFFSET(environment) },
	{ .name = "exit_status", .take = take_number, OFFSET(exit_status), .max = 255 },
	{ 0 },
};

#undef OFFSET

/* Takes a program, which is given by its keys or by its command alone. */
static bool take_program(struct reader *reader, yaml_node_t *value, struct program *program)
{
	char what[MAX_NAME + 16];

	snprintf(what, sizeof(what), "program '%s'", program->name);
	if (value->type == YAML_SEQUENCE_NODE)
		return take_strings(reader, &program_keys[0], value, program);
	return read_keys(reader, program_keys, value, program, what);
}

static bool take_programs(struct reader *reader, const struct key *key, yaml_node_t *value,
			  void *target)
{
	struct experiment_file *file = target;
	yaml_node_pair_t *pair;

	if (value->type != YAML_MAPPING_NODE || !mapping_size(value))
		return refuse_text(reader->error, line_of(value),
				   "%s is not a mapping; write NAME: [COMMAND, ARGUMENT..] for "
				   "each",
				   key->name);
	if (mapping_size(value) > MAX_NAMES)
		return too_many(reader, value, key->name, MAX_NAMES);
	file->program = allocate(mapping_size(value), sizeof(*file->program));
	for (pair = value->data.mapping.pairs.start; pair < value->data.mapping.pairs.top; pair++) {
		struct program *program = &file->program[file->n_programs++];

		program->line = line_of(yaml_document_get_node(reader->document, pair->key));
		if (!get_name(reader, pair, "a program", &program->name) ||
		    !is_new(reader, pair, find_program(file, program->name) != program) ||
		    !take_program(reader, yaml_document_get_node(reader->document, pair->value),
				  program))
			return false;
	}
	return true;
}

#define SETTINGS(type)                                                                             \
	{ .name = "repetitions",                                                                   \
	  .take = take_number,                                                                     \
	  .min = 1,                                                                                \
	  .max = MAX_NUMBER,                                                                       \
	  .offset = offsetof(type, settings.repetitions) },                                        \
		{ .name = "warmup",                                                                \
		  .take = take_number,                                                             \
		  .max = MAX_NUMBER,                                                               \
		  .offset = offsetof(type, settings.warmup) },                                     \
		{ .name = "passes",                                                                \
		  .take = take_passes,                                                             \
		  .min = 1,                                                                        \
		  .max = MAX_NUMBER,                                                               \
		  .offset = offsetof(type, settings.passes) },                                     \
		{ .name = "modes",                                                                 \
		  .take = take_word,                                                               \
		  .words = mode_words,                                                             \
		  .offset = offsetof(type, settings.modes) },                                      \
	{                                                                                          \
		.name = "view", .take = take_word, .words = view_words,                            \
		.offset = offsetof(type, settings.view)                                            \
	}

static const struct key experiment_keys[] = {
	{ .name = "events",
	  .take = take_lines,
	  .offset = offsetof(struct experiment, events),
	  .required = true },
	{ .name = "derive", .take = take_lines, .offset = offsetof(struct experiment, derive) },
	{ .name = "programs", .take = take_lines, .offset = offsetof(struct experiment, programs) },
	{ .name = "ebs", .take = take_ebs, .offset = offsetof(struct experiment, ebs) },
	SETTINGS(struct experiment),
	{ 0 },
};

static bool take_experiment(struct reader *reader, yaml_node_t *value,
			    struct experiment *experiment)
{
	char what[MAX_NAME + 16];

	snprintf(what, sizeof(what), "experiment '%s'", experiment->name);
	if (value->type == YAML_SEQUENCE_NODE)
		return take_lines(reader, &experiment_keys[0], value, experiment);
	return read_keys(reader, experiment_keys, value, experiment, what);
}

static bool take_later(struct reader *reader, const struct key *key, yaml_node_t *value,
		       void *target)
{
	(void)key;
	reader->experiments = value;
	return true;
}

static bool take_experiments(struct reader *reader, yaml_node_t *value,
			     struct experiment_file *file)
{
	yaml_node_pair_t *pair;
	size_t events = 0;

	if (value->type != YAML_MAPPING_NODE || !mapping_size(value))
		return refuse_text(reader->error, line_of(value),
				   "experiments is not a mapping; write NAME: [EVENT, EVENT..] "
				   "for each");
	if (mapping_size(value) > MAX_NAMES)
		return too_many(reader, value, "experiments", MAX_NAMES);
	file->experiment = allocate(mapping_size(value), sizeof(*file->experiment));
	for (pair = value->data.mapping.pairs.start; pair < value->data.mapping.pairs.top; pair++) {
		struct experiment *experiment = &file->experiment[file->n_experiments++];

		experiment->line = line_of(yaml_document_get_node(reader->document, pair->key));
		experiment->settings = file->settings;
		if (!get_name(reader, pair, "an experiment", &experiment->name) ||
		    !is_new(reader, pair, find_experiment(file, experiment->name) != experiment) ||
		    !take_experiment(reader, yaml_document_get_node(reader->document, pair->value),
				     experiment))
			return false;
		events += experiment->events.n;
		if (events > MAX_EVENTS)
			return too_many(reader, value, "events of all experiments", MAX_EVENTS);
	}
	return true;
}

static const struct key file_keys[] = {
	{ .name = "directory",
	  .take = take_string,
	  .offset = offsetof(struct experiment_file, directory),
	  .required = true },
	{ .name = "confidence",
	  .take = take_number,
	  .min = 1,
	  .max = 99,
	  .offset = offsetof(struct experiment_file, confidence) },
	SETTINGS(struct experiment_file),
	{ .name = "programs", .take = take_programs, .required = true },
	{ .name = "experiments", .take = take_later, .required = true },
	{ 0 },
};

static bool read_document(yaml_document_t *document, struct experiment_file *file,
			  struct text_error *error)
{
	struct reader reader = { .document = document, .error = error };
	yaml_node_t *root = yaml_document_get_root_node(document);

	if (root)
		return read_keys(&reader, file_keys, root, file, "the file") &&
		       take_experiments(&reader, reader.experiments, file);
	error->line = 0;
	snprintf(error->text, sizeof(error->text),
		 "there is nothing in it; perfex-experiment(1) "
		 "has an example");
	return false;
}

/* Fills in error with the problem that libyaml found.  Returns false. */
static bool no_yaml(const yaml_parser_t *parser, struct text_error *error)
{
	error->line = (unsigned int)parser->problem_mark.line + 1;
	snprintf(error->text, sizeof(error->text), "it is not YAML: %s",
		 parser->problem ? parser->problem : "it cannot be read");
	return false;
}

static bool ends_event(yaml_parser_t *parser, struct text_error *error)
{
	yaml_document_t more;
	bool good;

	if (!yaml_parser_load(parser, &more))
		return no_yaml(parser, error);
	good = !yaml_document_get_root_node(&more);
	if (!good) {
		error->line = (unsigned int)more.start_mark.line + 1;
		snprintf(error->text, sizeof(error->text),
			 "a second document begins; give each a "
			 "file of its own");
	}
	yaml_document_delete(&more);
	return good;
}

/*
 * Looks at the text before libyaml makes a document of it.  Returns false, with an error, if it is
 * not YAML or would take libyaml too long.
 */
static bool is_moderate(const char *text, size_t length, struct text_error *error)
{
	yaml_parser_t parser;
	yaml_event_t event;
	yaml_event_type_t type;
	unsigned int depth = 0, anchors = 0;
	bool good = true;

	if (!yaml_parser_initialize(&parser))
		fail("out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	do {
		if (!yaml_parser_parse(&parser, &event)) {
			good = no_yaml(&parser, error);
			break;
		}
		type = event.type;
		depth += type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
		depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
		anchors +=
			type == YAML_ALIAS_EVENT ||
			(type == YAML_SCALAR_EVENT && event.data.scalar.anchor) ||
			(type == YAML_SEQUENCE_START_EVENT && event.data.sequence_start.anchor) ||
			(type == YAML_MAPPING_START_EVENT && event.data.mapping_start.anchor);
		if (depth > MAX_DEPTH || anchors > MAX_ANCHORS)
			good = refuse_text(error, (unsigned int)event.start_mark.line + 1,
					   "there are more than %u %s; nothing here needs that",
					   depth > MAX_DEPTH ? MAX_DEPTH : MAX_ANCHORS,
					   depth > MAX_DEPTH ? "lists in each other"
							     : "anchors and aliases");
		yaml_event_delete(&event);
	} while (good && type != YAML_STREAM_END_EVENT);
	yaml_parser_delete(&parser);
	return good;
}

struct experiment_file *experiment_parse(const char *text, size_t length, struct text_error *error)
{
	struct experiment_file *file = allocate(1, sizeof(*file));
	yaml_document_t *document = allocate(1, sizeof(*document));
	yaml_parser_t parser;
	bool good;

	file->document = document;
	file->confidence = 95;
	file->settings.repetitions = 1;
	if (!yaml_parser_initialize(&parser))
		fail("out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	good = is_moderate(text, length, error) &&
	       (yaml_parser_load(&parser, document) || no_yaml(&parser, error));
	good = good && read_document(document, file, error) && ends_event(&parser, error);
	yaml_parser_delete(&parser);
	if (good)
		return file;
	experiment_free(file);
	return NULL;
}

static void free_strings(struct strings *strings)
{
	free(strings->string);
	free(strings->line);
}

void experiment_free(struct experiment_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->n_programs; i++) {
		free_strings(&file->program[i].command);
		free_strings(&file->program[i].environment);
	}
	for (size_t i = 0; i < file->n_experiments; i++) {
		free_strings(&file->experiment[i].events);
		free_strings(&file->experiment[i].derive);
		free_strings(&file->experiment[i].programs);
		free_strings(&file->experiment[i].ebs);
		free(file->experiment[i].period);
		free(file->experiment[i].request);
		rules_free(file->experiment[i].rules);
	}
	free(file->program);
	free(file->experiment);
	yaml_document_delete(file->document);
	free(file->document);
	free(file);
}
