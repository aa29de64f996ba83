/*
 * gecko_columns: a thread's streams written out as the columns of its samples and markers tables.
 *
 * Each column is one pass over its stream; markers have one stream, passed once for each of their
 * columns. Every pass counts, and a count that is not the one kept while gathering fails the
 * whole export: a file whose columns differ in length opens, and lies.
 *
 * Called by gecko.c.
 */
#include "export/gecko_rows.h"

#define PIECES_BETWEEN 16 /* two calls of going */
#define MARKER_COLUMNS 6

/* What is read of a stream, one number after another. */
struct pass {
	struct gecko_rows *rows;
	struct cursor at;
};

static enum status begin(struct pass *p, struct gecko_rows *r, uint32_t stream)
{
	p->rows = r;
	p->at = cursor_over((struct bytes){ NULL, 0 });
	return scratch_rewind(r->scratch, stream);
}

static enum status tell(struct gecko_rows *r)
{
	uint64_t all = r->rows * (r->merge ? 4 : 3) + r->markers * MARKER_COLUMNS;
	double done = all ? (double)r->written / (double)all : 1;

	if (!r->going || ++r->pieces % PIECES_BETWEEN)
		return ST_OK;
	return r->going(r->context, done < 1 ? done : 1) ? ST_OK : ST_CANCELLED;
}

/* More numbers stand in p->at, unless the stream is at its end. */
static enum status more(struct pass *p)
{
	struct bytes piece;
	enum status status;

	if (cursor_left(&p->at))
		return ST_OK;
	status = scratch_read(p->rows->scratch, &piece);
	if (status == ST_OK)
		p->at = cursor_over(piece);
	return status == ST_OK ? tell(p->rows) : status;
}

static void write_stack(struct json *j, uint64_t stack)
{
	if (stack)
		json_uint(j, stack - 1);
	else
		json_null(j);
}

static void write_ms(struct json *j, uint64_t us)
{
	json_double(j, (double)us / 1000, 3);
}

/* One column of the samples; *sum: of its numbers. */
static enum status write_column(struct gecko_rows *r, const struct gecko_thread *t, struct json *j,
				enum gecko_column column, void (*write)(struct json *j, uint64_t v),
				uint64_t *sum)
{
	struct pass p;
	enum status status = begin(&p, r, t->streams[column]);
	uint64_t rows = 0;

	*sum = 0;
	json_array(j);
	while (status == ST_OK) {
		status = more(&p);
		if (status != ST_OK || !cursor_left(&p.at))
			break;
		for (; cursor_left(&p.at); rows++) {
			uint64_t v = cursor_varint(&p.at);

			*sum += v;
			write(j, v);
			r->written++;
		}
		if (p.at.overrun)
			status = ST_BAD_DATA;
	}
	json_array_end(j);
	return status == ST_OK && rows != t->rows ? ST_BAD_DATA : status;
}

static enum status write_weights(struct gecko_rows *r, const struct gecko_thread *t, struct json *j)
{
	uint64_t sum;
	enum status status;

	json_key(j, "weight");
	if (!t->weighted) {
		json_null(j);
		return t->rows == t->samples + t->gaps ? ST_OK : ST_BAD_DATA;
	}
	status = write_column(r, t, j, GECKO_COLUMN_WEIGHT, json_uint, &sum);
	return status == ST_OK && sum != t->samples + t->gaps ? ST_BAD_DATA : status;
}

static enum status write_samples(struct gecko_rows *r, const struct gecko_thread *t, struct json *j)
{
	uint64_t sum;
	enum status status;

	json_key(j, "samples");
	json_object(j);
	json_key(j, "stack");
	status = write_column(r, t, j, GECKO_COLUMN_STACK, write_stack, &sum);
	json_key(j, "timeDeltas");
	if (status == ST_OK)
		status = write_column(r, t, j, GECKO_COLUMN_TIME, write_ms, &sum);
	if (status == ST_OK)
		status = write_weights(r, t, j);
	json_key(j, "weightType");
	json_string(j, "samples");
	json_key(j, "threadCPUDelta");
	if (status == ST_OK)
		status = write_column(r, t, j, GECKO_COLUMN_CPU, json_uint, &sum);
	if (status == ST_OK && sum != t->cpu_told_us)
		status = ST_BAD_DATA;
	json_key(j, "length");
	json_uint(j, t->rows);
	json_object_end(j);
	return status;
}

/* ---- markers */

struct marker {
	const struct gecko_marker_look *look;
	string_id name;
	uint64_t start, end; /* us */
};

static void write_data(struct json *j, const struct marker *m)
{
	json_object(j);
	json_key(j, "type");
	json_string(j, m->look->type);
	json_key(j, "color");
	json_string(j, m->look->color);
	json_object_end(j);
}

static void write_name(struct json *j, const struct marker *m)
{
	json_uint(j, m->name);
}

static void write_start(struct json *j, const struct marker *m)
{
	write_ms(j, m->start);
}

static void write_end(struct json *j, const struct marker *m)
{
	write_ms(j, m->end);
}

static void write_phase(struct json *j, const struct marker *m)
{
	(void)m;
	json_uint(j, 1); /* an interval */
}

static void write_category(struct json *j, const struct marker *m)
{
	json_uint(j, m->look->category);
}

static enum status read_marker(const struct gecko_rows *r, struct cursor *at, struct marker *m)
{
	uint64_t kind = cursor_varint(at);

	m->start = cursor_varint(at);
	m->end = m->start + cursor_varint(at);
	if (kind >= GECKO_MARK_COUNT || at->overrun)
		return ST_BAD_DATA;
	m->look = gecko_marker_look((enum gecko_marker)kind);
	m->name = r->tables->marker_names[kind];
	return ST_OK;
}

static enum status write_marks(struct gecko_rows *r, const struct gecko_thread *t, struct json *j,
			       const char *key,
			       void (*write)(struct json *j, const struct marker *m))
{
	struct pass p;
	enum status status = begin(&p, r, t->streams[GECKO_COLUMN_MARKS]);
	struct marker m;
	uint64_t rows = 0;

	json_key(j, key);
	json_array(j);
	while (status == ST_OK) {
		status = more(&p);
		if (status != ST_OK || !cursor_left(&p.at))
			break;
		status = read_marker(r, &p.at, &m);
		if (status != ST_OK)
			break;
		write(j, &m);
		rows++;
		r->written++;
	}
	json_array_end(j);
	return status == ST_OK && rows != t->markers ? ST_BAD_DATA : status;
}

static enum status write_markers(struct gecko_rows *r, const struct gecko_thread *t, struct json *j)
{
	static const struct {
		const char *key;
		void (*write)(struct json *j, const struct marker *m);
	} columns[MARKER_COLUMNS] = {
		{ "data", write_data },   { "name", write_name },   { "startTime", write_start },
		{ "endTime", write_end }, { "phase", write_phase }, { "category", write_category },
	};
	enum status status = ST_OK;

	json_key(j, "markers");
	json_object(j);
	for (size_t i = 0; i < MARKER_COLUMNS && status == ST_OK; i++)
		status = write_marks(r, t, j, columns[i].key, columns[i].write);
	json_key(j, "length");
	json_uint(j, t->markers);
	json_object_end(j);
	return status;
}

enum status gecko_rows_write(struct gecko_rows *r, const struct gecko_thread *t, struct json *j)
{
	enum status status = write_samples(r, t, j);

	return status == ST_OK ? write_markers(r, t, j) : status;
}
