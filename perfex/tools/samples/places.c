// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "places.h"
#include "../../by_address.h"
#include "names.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "[unknown]"
#define IN_KERNEL "[kernel]"
#define SYSTEM_DEBUG "/usr/lib/debug"
#define DELETED " (deleted)"

struct loaded { /* the files of an object */
	bool tried;
	struct elf_file *elf, *debug; /* debug has symbols and lines; may be elf */
	struct lines *lines;
	char *why; /* why it has no names; NULL: it has names */
};

struct places {
	const struct samples *samples;
	const char *debug_directory;
	struct loaded *loaded; /* one for each object */
	void *cache;	       /* tsearch(3) of struct place */
	void *names;	       /* tsearch(3) of struct name */
};

struct name {
	const char *linked;
	char *in_source;
};

struct places *places_open(const struct samples *samples, const char *debug_directory)
{
	struct places *places = allocate(1, sizeof(*places));

	places->samples = samples;
	places->debug_directory = debug_directory ? debug_directory : SYSTEM_DEBUG;
	places->loaded = allocate(samples->n_objects, sizeof(*places->loaded));
	return places;
}

static void free_name(void *node)
{
	struct name *name = node;

	free(name->in_source);
	free(name);
}

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return strcmp(x->linked, y->linked);
}

/* Returns the name as in the source.  linked must live as long as places. */
static const char *find_name(struct places *places, const char *linked)
{
	struct name key = { .linked = linked }, **found, *name;

	found = tfind(&key, &places->names, compare_names);
	if (!found) {
		name = allocate(1, sizeof(*name));
		*name = (struct name){ linked, name_in_source(linked) };
		found = tsearch(name, &places->names, compare_names);
		if (!found)
			fail("out of memory");
	}
	return (*found)->in_source ? (*found)->in_source : linked;
}

void places_free(struct places *places)
{
	for (size_t i = 0; i < places->samples->n_objects; i++) {
		struct loaded *loaded = &places->loaded[i];

		lines_close(loaded->lines);
		if (loaded->debug != loaded->elf)
			elf_file_close(loaded->debug);
		elf_file_close(loaded->elf);
		free(loaded->why);
	}
	tdestroy(places->cache, free);
	tdestroy(places->names, free_name);
	free(places->loaded);
	free(places);
}

static bool has_build_id(const struct elf_file *elf, const unsigned char *id, size_t n)
{
	unsigned char other[SAMPLES_MAX_BUILD_ID] = { 0 };
	size_t size = elf_file_build_id(elf, other, sizeof(other));

	return size == n && memcmp(id, other, n) == 0;
}

/*
 * Opens a file with debugging information.  If a build-id of n bytes is given, the file must have
 * the same one.  Returns NULL if there is no such file.
 */
static struct elf_file *open_debug(const char *path, const unsigned char *id, size_t n)
{
	struct elf_file *elf = elf_file_open(path);

	if (!elf || !n || has_build_id(elf, id, n))
		return elf;
	elf_file_close(elf);
	return NULL;
}

static struct elf_file *find_by_id(const struct places *places, const unsigned char *id, size_t n)
{
	struct elf_file *elf;
	struct text path;
	FILE *file = text_open(&path);

	fprintf(file, "%s/.build-id/%02x/", places->debug_directory, id[0]);
	for (size_t i = 1; i < n; i++)
		fprintf(file, "%02x", id[i]);
	fputs(".debug", file);
	elf = open_debug(text_close(&path), id, n);
	free(path.text);
	return elf;
}

static struct elf_file *find_debug(const struct places *places, const struct elf_file *stripped,
				   const char *path)
{
	unsigned char id[SAMPLES_MAX_BUILD_ID];
	size_t n = elf_file_build_id(stripped, id, sizeof(id));
	const char *link = elf_file_debug_link(stripped);
	int directory = (int)(strrchr(path, '/') - path);
	struct elf_file *elf = NULL;
	char *names[3];

	if (n > sizeof(id))
		n = 0;
	if (n)
		elf = find_by_id(places, id, n);
	if (elf || !link)
		return elf;
	names[0] = text_print("%.*s/%s", directory, path, link);
	names[1] = text_print("%.*s/.debug/%s", directory, path, link);
	names[2] = text_print("%s%.*s/%s", places->debug_directory, directory, path, link);
	for (size_t i = 0; i < 3; i++) {
		if (!elf && strcmp(names[i], path) != 0)
			elf = open_debug(names[i], id, n);
		free(names[i]);
	}
	return elf;
}

static bool is_deleted(const char *path)
{
	size_t length = strlen(path);

	return length > strlen(DELETED) && strcmp(path + length - strlen(DELETED), DELETED) == 0;
}

static void load_files(const struct places *places, const struct object *object,
		       struct loaded *loaded)
{
	loaded->tried = true;
	/* Memory that is mapped from no file has a name in brackets, or one like //anon. */
	if (object->path[0] != '/' || object->path[1] == '/')
		return;
	if (is_deleted(object->path)) {
		loaded->why = text_print("it was deleted while it was mapped");
		return;
	}
	loaded->elf = elf_file_open(object->path);
	if (!loaded->elf) {
		loaded->why = text_print("%s", errno == EINVAL ? "it is no ELF file of x86"
							       : strerror(errno));
		return;
	}
	if (object->build_id_bytes &&
	    !has_build_id(loaded->elf, object->build_id, object->build_id_bytes)) {
		elf_file_close(loaded->elf);
		loaded->elf = NULL;
		loaded->why = text_print("it is not the file that was recorded: its build-id is "
					 "another");
		return;
	}
	loaded->debug = loaded->elf;
	loaded->lines = lines_open(loaded->elf);
	if (!elf_file_has_symbols(loaded->elf) || (lines_known && !loaded->lines)) {
		struct elf_file *debug = find_debug(places, loaded->elf, object->path);

		if (debug) {
			lines_close(loaded->lines);
			loaded->debug = debug;
			loaded->lines = lines_open(debug);
		}
	}
}

static struct loaded *load_object(struct places *places, size_t object)
{
	struct loaded *loaded = &places->loaded[object];

	if (!loaded->tried)
		load_files(places, &places->samples->object[object], loaded);
	return loaded;
}

struct elf_file *places_file(struct places *places, size_t object)
{
	return load_object(places, object)->elf;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->object_name != y->object_name && x->object == NO_OBJECT)
		return strcmp(x->object_name, y->object_name);
	return (x->address > y->address) - (x->address < y->address);
}

/*
 * Finds a symbol in the file with debugging information, or else in the object's own file, which
 * has at least the exported symbols.  Returns the file that has it, or NULL.
 */
static const struct elf_file *find_symbol(const struct loaded *loaded, uint64_t address,
					  struct elf_symbol *symbol)
{
	if (elf_file_symbol(loaded->debug, address, symbol))
		return loaded->debug;
	return elf_file_symbol(loaded->elf, address, symbol) ? loaded->elf : NULL;
}

uint64_t places_symbol_end(struct places *places, size_t object, uint64_t address)
{
	const struct loaded *loaded = load_object(places, object);
	const struct elf_file *elf = NULL;
	struct elf_symbol symbol;

	if (loaded->elf)
		elf = find_symbol(loaded, address, &symbol);
	return elf ? elf_file_symbol_end(elf, &symbol) : 0;
}

static void name_place(struct places *places, struct loaded *loaded, struct place *place)
{
	struct elf_symbol symbol;

	if (find_symbol(loaded, place->address, &symbol)) {
		place->linked = symbol.name;
		place->symbol = find_name(places, symbol.name);
		place->symbol_start = symbol.start;
	} else if (!elf_file_has_symbols(loaded->debug) && !loaded->why) {
		loaded->why = text_print("it is stripped, but for those that it exports; "
					 "--debug-files=DIRECTORY may have them");
	}
	if (loaded->lines)
		place->n_frames = lines_find(loaded->lines, place->address, place->frame);
	for (size_t i = 0; i < place->n_frames; i++)
		if (place->frame[i].function)
			place->frame[i].function = find_name(places, place->frame[i].function);
}

/*
 * The recording has all functions of the kernel that samples are in: the last one that begins at
 * the address or before it is the right one.
 */
static void name_in_kernel(const struct samples *samples, struct place *place)
{
	size_t n = COUNT_UP_TO(samples->kernel, samples->n_kernel, start, place->address);

	if (!n)
		return;
	place->symbol = place->linked = samples->kernel[n - 1].name;
	place->symbol_start = samples->kernel[n - 1].start;
}

static struct place *make_place(struct places *places, const struct place *key)
{
	struct place *place = allocate(1, sizeof(*place) + MAX_FRAMES * sizeof(place->frame[0]));
	struct loaded *loaded = key->object == NO_OBJECT ? NULL : load_object(places, key->object);

	memcpy(place, key, sizeof(*key));
	place->symbol = place->linked = UNKNOWN;
	if (loaded && loaded->elf)
		name_place(places, loaded, place);
	else if (strcmp(key->object_name, IN_KERNEL) == 0)
		name_in_kernel(places->samples, place);
	if (!place->n_frames)
		place->n_frames = 1;
	for (size_t i = 0; i < place->n_frames; i++)
		if (!place->frame[i].function)
			place->frame[i].function = place->symbol;
	place = realloc(place, sizeof(*place) + place->n_frames * sizeof(place->frame[0]));
	if (!place)
		fail("out of memory");
	return place;
}

static const struct place *find_place(struct places *places, const struct place *key)
{
	struct place *place, **found = tfind(key, &places->cache, compare_places);

	if (found)
		return *found;
	place = make_place(places, key);
	if (!tsearch(place, &places->cache, compare_places))
		fail("out of memory");
	return place;
}

const struct place *places_find(struct places *places, const struct sample_read *sample,
				const uint64_t *call)
{
	/* The instruction after the call may belong to another line, or to another function. */
	struct spot spot = call ? life_spot(sample->life, *call - 1) : sample->spot;
	struct place key = { .object = spot.object, .address = spot.offset };

	if (spot.object == NO_OBJECT) {
		key.object_name =
			!call && sample->flags & PERFCTR_SAMPLE_KERNEL ? IN_KERNEL : UNKNOWN;
	} else {
		struct loaded *loaded = load_object(places, spot.object);

		key.object_name = places->samples->object[spot.object].path;
		if (loaded->elf)
			elf_file_address(loaded->elf, spot.offset, &key.address);
	}
	return find_place(places, &key);
}

const struct place *places_at(struct places *places, size_t object, uint64_t address)
{
	const struct place key = { .object = object,
				   .object_name = places->samples->object[object].path,
				   .address = address };

	return find_place(places, &key);
}

void places_complain(const struct places *places)
{
	for (size_t i = 0; i < places->samples->n_objects; i++)
		if (places->loaded[i].why)
			complain("'%s' has no names of functions: %s",
				 places->samples->object[i].path, places->loaded[i].why);
}
