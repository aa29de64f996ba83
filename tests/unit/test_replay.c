/*
 * Reading a log back: from anywhere in it, while it is written, after a death without farewell,
 * damaged at any byte, or written by a later pytop that knows more.
 */
#include "record_log.h"

#include <zlib.h>

#include "record/block.h"
#include "record/spool_format.h"

#define TICKS 2000

/* ---- files of bytes */

static uint8_t *read_file(const char *dir, const char *name, size_t *size)
{
	char path[300];
	struct stat file;
	uint8_t *data;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &file), 0);
	*size = (size_t)file.st_size;
	data = malloc(*size);
	ck_assert_int_eq(read(fd, data, *size), (ssize_t)*size);
	close(fd);
	return data;
}

static void write_file(const char *dir, const char *name, const uint8_t *data, size_t size)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
}

static uint32_t get_u32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_u32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

/* ---- whole logs */

START_TEST(test_info_and_seconds)
{
	char *dir = log_directory();
	struct replay *r;
	const struct replay_info *info;
	const struct replay_second *second;
	const struct tick *tick;
	const struct sample *samples;
	size_t count, seconds;
	uint64_t ticks = 0, all = 0, torn = 0, missed = 0, told_torn = 0, told_missed = 0;
	nanoseconds first = 0, last = 0;

	log_run(dir, 3, TICKS, NULL, NULL);
	ck_assert_int_eq(replay_open_dir(&r, dir), ST_OK);
	info = replay_info(r);
	ck_assert_int_eq(info->about.pid, 4711);
	ck_assert_str_eq(info->about.version, "3.13.1");
	ck_assert_str_eq(info->about.name, "app.py");
	ck_assert_str_eq(info->about.command, "python app.py --x");
	ck_assert_int_eq(info->about.wall, 2000000);
	ck_assert_int_eq(info->about.monotonic, 3000000);
	ck_assert(info->about.rate_hz > 999.9 && info->about.rate_hz < 1000.1);
	ck_assert_uint_eq(info->damaged, 0);
	while (replay_next(r, &tick, &samples, &count) == ST_OK) {
		first = first ? first : tick->time;
		last = tick->time;
		ticks++;
		all += count;
		missed += tick->missed;
		for (size_t i = 0; i < count; i++)
			torn += (samples[i].flags & SAMPLE_TORN) != 0;
	}
	ck_assert_uint_eq(ticks, TICKS);
	ck_assert_uint_eq(info->ticks, ticks);
	ck_assert_uint_eq(info->samples, all);
	ck_assert_int_eq(info->first, first);
	ck_assert_int_eq(info->last, last);
	second = replay_seconds(r, &seconds);
	ck_assert_uint_gt(seconds, 10);
	for (size_t i = 0; i < seconds; i++) {
		ck_assert(!i || second[i].start >= second[i - 1].start + 1000000000);
		told_torn += second[i].torn;
		told_missed += second[i].missed;
	}
	ck_assert_uint_eq(told_torn, torn);
	ck_assert_uint_eq(told_missed, missed);
	replay_close(r);
	log_remove(dir);
}
END_TEST

/* From any tick, forwards and backwards: what comes is the rest of the whole. */
START_TEST(test_seek)
{
	const struct spool_options options = { .segment_bytes = 30000, .flush_time = 100000000 };
	char *dir = log_directory(), *whole, *part;
	struct replay *r;
	const struct tick *tick;
	const struct sample *samples;
	size_t count;
	nanoseconds times[TICKS];

	log_run(dir, 8, TICKS, &options, NULL);
	whole = log_replay_dir(dir);
	ck_assert_int_eq(replay_open_dir(&r, dir), ST_OK);
	for (int i = 0; i < TICKS; i++) {
		ck_assert_int_eq(replay_next(r, &tick, &samples, &count), ST_OK);
		times[i] = tick->time;
	}
	for (int i = TICKS - 1; i > 0; i -= 191) {
		ck_assert_int_eq(replay_seek(r, times[i] - (i % 2)), ST_OK);
		part = log_replayed(r);
		ck_assert_str_eq(part, whole + strlen(whole) - strlen(part));
		ck_assert_int_eq(strtoll(part + 5, NULL, 10), times[i]);
		free(part);
	}
	ck_assert_int_eq(replay_seek(r, 0), ST_OK);
	part = log_replayed(r);
	ck_assert_str_eq(part, whole);
	free(part);
	ck_assert_int_eq(replay_seek(r, times[TICKS - 1] + 1), ST_OK);
	ck_assert_int_eq(replay_next(r, &tick, &samples, &count), ST_ENDED);
	replay_close(r);
	free(whole);
	log_remove(dir);
}
END_TEST

/* A cut is what was written then; the log goes on, and a later cut begins with the earlier one. */
START_TEST(test_cut_of_a_live_log)
{
	static struct log_program p;
	struct spool *spool;
	struct spool_files *files;
	struct spool_cut early, late;
	struct replay *r, *other;
	char *first, *again, *second;

	log_open(&p, 31, NULL);
	ck_assert_int_eq(spool_open(&spool, &log_about, NULL, p.names), ST_OK);
	ck_assert_int_eq(spool_files_open(&files, NULL, 0, (uid_t)-1, (gid_t)-1), ST_OK);
	for (int i = 0; i < TICKS; i++) {
		log_next(&p);
		ck_assert_int_eq(spool_tick(spool, &p.tick, p.samples, p.count), ST_OK);
		if (i == TICKS / 3) {
			spool_seal(spool);
			log_drain(spool, files);
			ck_assert_int_eq(spool_files_cut(files, &early), ST_OK);
		}
	}
	spool_seal(spool);
	log_drain(spool, files);
	ck_assert_int_eq(spool_files_cut(files, &late), ST_OK);
	spool_files_close(files);
	ck_assert_int_eq(replay_open_cut(&r, &early), ST_OK);
	ck_assert_int_eq(replay_open_cut(&other, &early), ST_OK);
	first = log_replayed(r);
	again = log_replayed(other);
	ck_assert_str_eq(first, again);
	ck_assert_uint_eq(replay_info(r)->ticks, TICKS / 3 + 1);
	ck_assert_uint_eq(replay_info(r)->damaged, 0);
	replay_close(r);
	replay_close(other);
	ck_assert_int_eq(replay_open_cut(&r, &late), ST_OK);
	second = log_replayed(r);
	ck_assert_uint_eq(replay_info(r)->ticks, TICKS);
	ck_assert_uint_gt(strlen(second), strlen(first));
	ck_assert_int_eq(strncmp(first, second, strlen(first)), 0);
	replay_close(r);
	spool_cut_free(&early);
	spool_cut_free(&late);
	spool_close(spool);
	log_close(&p);
	free(first);
	free(again);
	free(second);
}
END_TEST

START_TEST(test_events)
{
	static struct log_program p;
	struct spool *spool;
	struct spool_files *files;
	struct spool_cut cut;
	struct replay *r;
	const struct replay_event *events;
	size_t count;
	char *text;

	log_open(&p, 31, NULL);
	ck_assert_int_eq(spool_open(&spool, &log_about, NULL, p.names), ST_OK);
	ck_assert_int_eq(spool_files_open(&files, NULL, 0, (uid_t)-1, (gid_t)-1), ST_OK);
	for (int i = 0; i < 10; i++) {
		log_next(&p);
		ck_assert_int_eq(spool_tick(spool, &p.tick, p.samples, p.count), ST_OK);
		if (i == 3)
			spool_event(spool, SPOOL_RESET, p.now, NULL);
	}
	spool_event(spool, SPOOL_RATE, p.now, "2000");
	ck_assert_int_eq(spool_new_life(spool, &log_about), ST_OK);
	log_next(&p);
	ck_assert_int_eq(spool_tick(spool, &p.tick, p.samples, p.count), ST_OK);
	spool_seal(spool);
	log_drain(spool, files);
	ck_assert_int_eq(spool_files_cut(files, &cut), ST_OK);
	ck_assert_uint_eq(cut.count, 2);
	ck_assert_int_eq(replay_open_cut(&r, &cut), ST_OK);
	text = log_replayed(r);
	events = replay_events(r, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(events[0].event, SPOOL_RESET);
	ck_assert_str_eq(events[0].text, "");
	ck_assert_int_eq(events[1].event, SPOOL_RATE);
	ck_assert_str_eq(events[1].text, "2000");
	ck_assert_int_gt(events[1].at, events[0].at);
	replay_close(r);
	spool_cut_free(&cut);
	spool_files_close(files);
	spool_close(spool);
	log_close(&p);
	free(text);
}
END_TEST

/* ---- damage */

/* Replay what is in dir: it must be a beginning of whole. Returns how much of it. */
static size_t beginning(const char *dir, const char *whole, uint32_t *damaged)
{
	struct replay *r;
	enum status st = replay_open_dir(&r, dir);
	size_t size;
	char *text;

	*damaged = 1;
	if (st != ST_OK) {
		ck_assert(st == ST_SPOOL_EMPTY || st == ST_SPOOL_FORMAT);
		return 0;
	}
	text = log_replayed(r);
	*damaged = replay_info(r)->damaged;
	size = strlen(text);
	ck_assert_int_eq(strncmp(text, whole, size), 0);
	free(text);
	replay_close(r);
	return size;
}

/*
 * The file ends anywhere, as after kill -9 or a power cut: the longest run of whole blocks is
 * read.
 */
START_TEST(test_ends_anywhere)
{
	const struct spool_options options = { .flush_time = 300000000 };
	char *dir = log_directory(), *cut_dir = log_directory(), *whole;
	size_t size, before = 0;
	uint8_t *data;
	uint32_t damaged;

	log_run(dir, 17, 600, &options, NULL);
	whole = log_replay_dir(dir);
	data = read_file(dir, "000001.pts", &size);
	for (size_t end = 0; end <= size; end += 1 + end % 97) {
		size_t read;

		write_file(cut_dir, "000001.pts", data, end);
		read = beginning(cut_dir, whole, &damaged);
		ck_assert_uint_ge(read, before);
		before = read;
	}
	ck_assert_uint_gt(before, strlen(whole) / 2);
	write_file(cut_dir, "000001.pts", data, size);
	ck_assert_uint_eq(beginning(cut_dir, whole, &damaged), strlen(whole));
	ck_assert_uint_eq(damaged, 0);
	free(whole);
	free(data);
	log_remove(dir);
	log_remove(cut_dir);
}
END_TEST

/* Any byte is another: no false tick is ever read. */
START_TEST(test_flipped_bytes)
{
	const struct spool_options options = { .flush_time = 300000000 };
	char *dir = log_directory(), *whole;
	size_t size, lost = 0;
	uint8_t *data;
	uint32_t damaged;

	log_run(dir, 18, 300, &options, NULL);
	whole = log_replay_dir(dir);
	data = read_file(dir, "000001.pts", &size);
	for (size_t at = 0; at < size; at += 1 + at % 13) {
		data[at] ^= (uint8_t)(1 + at % 255);
		write_file(dir, "000001.pts", data, size);
		lost += beginning(dir, whole, &damaged) < strlen(whole);
		data[at] ^= (uint8_t)(1 + at % 255);
	}
	ck_assert_uint_gt(lost, 100);
	free(whole);
	free(data);
	log_remove(dir);
}
END_TEST

/* Damage in one segment costs the rest of that segment only. */
START_TEST(test_damage_stays_in_its_segment)
{
	const struct spool_options options = { .segment_bytes = 20000, .flush_time = 100000000 };
	char *dir = log_directory(), *whole, *text;
	size_t size, whole_size;
	uint8_t *data;
	struct replay *r;

	log_run(dir, 40, TICKS, &options, NULL);
	whole = log_replay_dir(dir);
	whole_size = strlen(whole);
	data = read_file(dir, "000003.pts", &size);
	data[size / 2] ^= 0x40;
	write_file(dir, "000003.pts", data, size);
	ck_assert_int_eq(replay_open_dir(&r, dir), ST_OK);
	text = log_replayed(r);
	ck_assert_uint_eq(replay_info(r)->damaged, 1);
	ck_assert_uint_lt(strlen(text), whole_size);
	ck_assert_uint_gt(strlen(text), whole_size / 2);
	ck_assert_str_eq(text + strlen(text) - whole_size / 4, whole + whole_size - whole_size / 4);
	replay_close(r);
	free(text);
	free(data);
	free(whole);
	log_remove(dir);
}
END_TEST

START_TEST(test_not_a_log)
{
	char *dir = log_directory();
	struct replay *r = NULL;
	size_t size;
	uint8_t *data;

	ck_assert_int_eq(replay_open_dir(&r, dir), ST_SPOOL_EMPTY);
	ck_assert_int_eq(replay_open_dir(&r, "/tmp/pytop-test-not-there"), ST_SYSTEM);
	write_file(dir, "000001.pts",
		   (const uint8_t *)"this is something else altogether, and long enough to "
				    "be read as a header of a segment by who does not look",
		   100);
	ck_assert_int_eq(replay_open_dir(&r, dir), ST_SPOOL_FORMAT);
	log_remove(dir);
	dir = log_directory();
	log_run(dir, 1, 50, NULL, NULL);
	data = read_file(dir, "000001.pts", &size);
	data[offsetof(struct spool_header, format)] = SPOOL_FORMAT + 1;
	write_file(dir, "000001.pts", data, size);
	ck_assert_int_eq(replay_open_dir(&r, dir), ST_SPOOL_FORMAT);
	ck_assert_ptr_null(r);
	free(data);
	log_remove(dir);
}
END_TEST

/* ---- what a later pytop may write */

/* Copy a block with one more column, of 3 bytes, behind the columns that this pytop knows. */
static void widen_block(struct buffer *out, const uint8_t *block, enum spool_kind kind)
{
	uint32_t rows = get_u32(block + offsetof(struct spool_block, rows));
	uint32_t bytes = get_u32(block + offsetof(struct spool_block, bytes));
	struct bytes payload = { block + sizeof(struct spool_block), bytes };
	struct cursor c = cursor_over(payload), header = cursor_over((struct bytes){ block, 40 });
	nanoseconds first, last;
	size_t begun, sizes;

	cursor_take(&header, offsetof(struct spool_block, first));
	first = (nanoseconds)cursor_u64(&header);
	last = (nanoseconds)cursor_u64(&header);
	begun = block_begin(out, kind, rows, first, last);
	for (unsigned int i = 0; i < block_columns_of(kind).count; i++)
		cursor_varint(&c);
	sizes = c.at;
	buffer_add(out, payload.data, sizes);
	buffer_varint(out, 3);
	buffer_add(out, payload.data + sizes, bytes - sizes);
	buffer_add(out, "new", 3);
	block_end(out, begun);
}

static void widen_header(struct buffer *out, const uint8_t *data, uint32_t bytes)
{
	static const uint8_t column[] = { SPOOL_TICKS, SPOOL_VARINT, 5, 'l', 'a', 't', 'e', 'r' };
	size_t begun = out->size;
	uint8_t *header;
	uint32_t body = offsetof(struct spool_header, segment);

	buffer_add(out, data, bytes);
	buffer_add(out, column, sizeof(column));
	header = out->data + begun;
	bytes += sizeof(column);
	put_u32(header + offsetof(struct spool_header, bytes), bytes);
	put_u32(header + offsetof(struct spool_header, columns), SPOOL_COLUMN_COUNT + 1);
	put_u32(header + offsetof(struct spool_header, crc32),
		(uint32_t)crc32(0, header + body, bytes - body));
}

/* A column that is not known, and blocks of a kind that is not known: both are passed over. */
START_TEST(test_unknown_columns_and_kinds)
{
	char *dir = log_directory(), *whole, *text;
	size_t size, at;
	uint8_t *data;
	struct buffer out;

	log_run(dir, 61, 500, NULL, NULL);
	whole = log_replay_dir(dir);
	data = read_file(dir, "000001.pts", &size);
	buffer_init(&out, 64 << 20);
	at = get_u32(data + offsetof(struct spool_header, bytes));
	widen_header(&out, data, (uint32_t)at);
	while (at < size) {
		uint8_t kind = data[at + offsetof(struct spool_block, kind)];
		size_t bytes = 40 + get_u32(data + at + offsetof(struct spool_block, bytes));
		size_t begun;

		if (kind == SPOOL_TICKS)
			widen_block(&out, data + at, SPOOL_TICKS);
		else
			buffer_add(&out, data + at, bytes);
		at += bytes;
		if (kind == SPOOL_TICKS)
			continue;
		begun = block_begin(&out, (enum spool_kind)200, 1, 0, 0);
		buffer_add(&out, "something", 9);
		block_end(&out, begun);
	}
	ck_assert(!out.failed);
	write_file(dir, "000001.pts", out.data, out.size);
	text = log_replay_dir(dir);
	ck_assert_str_eq(text, whole);
	buffer_free(&out);
	free(text);
	free(whole);
	free(data);
	log_remove(dir);
}
END_TEST

UNIT_MAIN("replay", test_info_and_seconds, test_seek, test_cut_of_a_live_log, test_events,
	  test_ends_anywhere, test_flipped_bytes, test_damage_stays_in_its_segment, test_not_a_log,
	  test_unknown_columns_and_kinds)
