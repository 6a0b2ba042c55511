// SPDX-License-Identifier: GPL-2.0-or-later
#include "picture.h"
#include "../../perfex.h"
#include "../../result/diff.h"
#include "../../result/html.h"
#include "../../result/json_values.h"
#include "../../result/trace_read.h"

#include <stdlib.h>

#define CONFIDENCE 95 /* of comparisons made here; the default of perfex diff */

/*
 * The policy forbids scripts, and files from elsewhere, even if mark-up of an untrusted file should
 * get into the page.
 */
static const char head[] =
	"<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
	"<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
	"'unsafe-inline'\">\n"
	"<meta name=viewport content=\"width=device-width\"><title>perfex report</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:15px sans-serif;max-width:62em;margin:1em auto;padding:0 1em;"
	"background:Canvas;color:CanvasText}\n"
	"h2{border-top:1px solid GrayText;padding-top:.6em;overflow-wrap:anywhere}\n"
	"figure{margin:.8em 0}figcaption{font-weight:bold}\n"
	"svg{width:100%;font:12px sans-serif;fill:currentColor}\n"
	"svg .x{text-anchor:middle}svg .y{text-anchor:end}\n"
	".grid{stroke:GrayText;stroke-opacity:.35}.line{fill:none;stroke:currentColor}\n"
	".dot{fill:#0072b2}.out{fill:none;stroke:#d55e00;stroke-width:2}\n"
	".band{fill:#0072b2;fill-opacity:.15}.mean{stroke:#0072b2;stroke-width:1.5}\n"
	".span{stroke:currentColor;stroke-width:3}\n"
	".more{color:#d55e00}.less{color:#009e73}.open{color:GrayText}\n"
	".c0{color:#0072b2}.c1{color:#d55e00}.c2{color:#009e73}.c3{color:#cc79a7}\n"
	".c4{color:#e69f00}.c5{color:#56b4e9}.c6{color:#8b6914}.c7{color:GrayText}\n"
	"table{display:block;overflow-x:auto;border-collapse:collapse}\n"
	"td,th{padding:.15em .6em;text-align:left}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums}tr:nth-child(odd){"
	"background:rgba(128,128,128,.1)}\n"
	"dt{float:left;clear:left;width:7em;color:GrayText}dd{margin-left:7.5em;"
	"overflow-wrap:anywhere}\n"
	"</style></head><body>\n<h1>perfex report</h1>\n";

/* The contents of a JSON file. */
struct contents {
	struct course *course;
	size_t n_recordings;
	json_object *diff; /* there is at most one */
};

static bool take_contents(void *target, json_object *json, struct text_error *error)
{
	struct contents *contents = target;
	bool good = true;

	if (json_has_schema(json, "perfex-diff") && !contents->diff) {
		contents->diff = json;
		return true;
	}
	if (json_has_schema(json, "perfex-run"))
		contents->n_recordings++;
	else if (json_has_schema(json, "perfex-interval") || json_has_schema(json, "perfex-system"))
		good = course_add(contents->course, json, error);
	else
		good = refuse_text(error, 0,
				   "it is JSON, but nothing that can be drawn; give what perfex "
				   "run, system, diff or compare wrote with --json, or a trace");
	json_object_put(json);
	return good;
}

static void print_fact(FILE *file, const struct document *document, const char *key)
{
	const char *text = json_object_get_string(json_object_object_get(document->json, key));

	if (!text || !text[0])
		return;
	fprintf(file, "<dt>%s</dt><dd>", key);
	html_text(file, text);
	fputs("</dd>\n", file);
}

static void print_facts(FILE *file, const struct document *document)
{
	static const char *const keys[] = { "date",    "host", "cpu",  "kernel",
					    "backend", "pmu",  "view", "runs" };
	char *command = document_command(document);

	fputs("<dl><dt>command</dt><dd><code>", file);
	html_text(file, command);
	fputs("</code></dd>\n", file);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		print_fact(file, document, keys[i]);
	fputs("</dl>\n", file);
	free(command);
}

/*
 * Draws the contents of a JSON file.  Returns its recording for document_free(), or NULL if it has
 * none.
 */
static struct document *draw_json(FILE *file, const char *path, const char *text, size_t length)
{
	struct contents contents = { .course = course_new() };
	struct document *document = NULL;
	struct text_error error = { 0 };

	if (!json_take_values(text, length, take_contents, &contents, &error))
		textfile_fail(path, &error);
	if (!contents.n_recordings && !contents.diff && course_is_empty(contents.course))
		fail("'%s': there is nothing in it; give a file that perfex wrote", path);
	if (contents.n_recordings) {
		document = document_parse(text, length, &error);
		if (!document)
			textfile_fail(path, &error);
		print_facts(file, document);
		dots_draw(file, document);
	}
	if (!course_is_empty(contents.course))
		course_draw(file, contents.course);
	if (contents.diff && !difference_draw(file, contents.diff, &error))
		textfile_fail(path, &error);
	course_free(contents.course);
	json_object_put(contents.diff);
	return document;
}

static void draw_trace(FILE *file, const char *path, char *text, size_t length, bool per_thread)
{
	FILE *input = fmemopen(text, length, "r");

	if (!input)
		fail("out of memory");
	lanes_draw(file, path, input, per_thread);
	fclose(input);
}

static struct document *draw_file(FILE *file, const char *path, bool per_thread)
{
	struct document *document = NULL;
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text)
		fail("cannot read '%s': %m", path);
	fputs("<section>\n<h2>", file);
	html_text(file, path);
	fputs("</h2>\n", file);
	if (is_trace(text))
		draw_trace(file, path, text, length, per_thread);
	else
		document = draw_json(file, path, text, length);
	fputs("</section>\n", file);
	free(text);
	return document;
}

static void draw_diff(FILE *file, struct diff *diff)
{
	struct text_error error;
	json_object *json;

	if (!diff_make(diff, CONFIDENCE, &error))
		fail("'%s' and '%s': %s", diff->a.path, diff->b.path, error.text);
	json = diff_json(diff);
	fputs("<section>\n<h2>Comparison</h2>\n", file);
	if (!difference_draw(file, json, &error))
		fail("'%s' and '%s': %s", diff->a.path, diff->b.path, error.text);
	fputs("</section>\n", file);
	json_object_put(json);
	diff_free(diff);
}

void picture_write(FILE *file, const struct picture_options *options)
{
	struct diff diff = { 0 };

	fputs(head, file);
	for (size_t i = 0; i < options->n; i++) {
		const char *path = options->path[i];
		struct document *document = draw_file(file, path, options->per_thread);

		if (document && options->n == 2)
			*(diff.a.document ? &diff.b : &diff.a) =
				(struct side){ .path = path, .document = document };
		else
			document_free(document);
	}
	if (diff.b.document)
		draw_diff(file, &diff);
	document_free(diff.a.document);
	document_free(diff.b.document);
	fputs("</body></html>\n", file);
}
