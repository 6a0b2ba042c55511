// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "../by_address.h"
#include "record.h"
#include "../textfile.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
	uint64_t start;
	char *name;
	bool written;
};

struct symbols {
	struct symbol *symbol; /* sorted by start, then name */
	size_t n;
};

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void kernel_addresses_add(void **addresses, uint64_t address)
{
	uint64_t *node;

	if (tfind(&address, addresses, compare_addresses))
		return;
	node = allocate(1, sizeof(*node));
	*node = address;
	if (!tsearch(node, addresses, compare_addresses))
		fail("out of memory");
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * Adds the function of a line "ffffffff81000000 T _text".  Functions of modules have "\t[NAME]"
 * behind them.  Ignores data, and lines with address 0.
 */
static void add_line(struct symbols *symbols, const char *line)
{
	struct symbol symbol = { 0 };
	char *name;

	symbol.start = strtoull(line, &name, 16);
	if (!symbol.start || name[0] != ' ' || !name[1] || !strchr("tTwW", name[1]) ||
	    name[2] != ' ')
		return;
	symbol.name = text_print("%s", name + 3);
	symbol.name[strcspn(symbol.name, "\t\n")] = '\0';
	symbols->symbol = grow(symbols->symbol, symbols->n, sizeof(symbol));
	symbols->symbol[symbols->n++] = symbol;
}

static struct symbols read_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	struct symbols symbols = { 0 };
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		add_line(&symbols, line);
	free(line);
	if (file)
		fclose(file);
	if (symbols.n)
		qsort(symbols.symbol, symbols.n, sizeof(*symbols.symbol), compare_symbols);
	return symbols;
}

static void free_symbols(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->n; i++)
		free(symbols->symbol[i].name);
	free(symbols->symbol);
}

/*
 * Returns the last symbol that does not begin behind the address; of several with one start, the
 * first.  Returns NULL if there is none.
 */
static struct symbol *find_symbol(const struct symbols *symbols, uint64_t address)
{
	size_t n = COUNT_UP_TO(symbols->symbol, symbols->n, start, address);

	if (!n)
		return NULL;
	while (n > 1 && symbols->symbol[n - 2].start == symbols->symbol[n - 1].start)
		n--;
	return &symbols->symbol[n - 1];
}

struct naming {
	struct symbols symbols;
	FILE *file;
};

/* For twalk_r(3).  Names the address at one of the visits to the node. */
static void name_address(const void *node, VISIT visit, void *argument)
{
	const uint64_t *const *address = node;
	struct naming *naming = argument;
	struct symbol *symbol;

	if (visit != postorder && visit != leaf)
		return;
	symbol = find_symbol(&naming->symbols, **address);
	if (!symbol || symbol->written)
		return;
	symbol->written = true;
	fprintf(naming->file, "kernel %" PRIx64 " ", symbol->start);
	samples_file_text(naming->file, symbol->name);
	putc('\n', naming->file);
}

void kernel_addresses_name(const void *addresses, FILE *file)
{
	struct naming naming = { .file = file };

	if (!addresses)
		return;
	naming.symbols = read_symbols();
	twalk_r(addresses, name_address, &naming);
	free_symbols(&naming.symbols);
}
