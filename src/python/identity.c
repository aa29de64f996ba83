/*
 * identity: the proof that a cached name still belongs to its address.
 *
 * What is compared, each read in one batch: the words of the fixed part that never change while a code object
 * lives, and of each object they point to what does not change either: length and hash of the strings (names are
 * interned, so their hash is known; where it is not, the characters instead), size and first entries of the line table. The
 * resolver calls it for the code objects it doubts.
 */
#include "python/identity.h"

#include <string.h>

#define CHECK_AT_ONCE 64
#define PART_TABLE 3

struct looked {
	uint8_t fixed[IDENTITY_FIXED_SIZE];
	uint8_t bytes[IDENTITY_PARTS][IDENTITY_PART_SIZE];
};

#define HASH_AT 8 /* the hash follows the length, in str and in bytes (of all versions) */
#define HEAD_SIZE 16

static size_t add_pieces(struct memory_piece *pieces, const struct code_identity *id,
			 struct looked *looked, const struct py_layout *layout)
{
	size_t n = 0;

	pieces[n++] =
		(struct memory_piece){ id->code, looked->fixed, code_fingerprint_size(layout) };
	for (size_t i = 0; i < IDENTITY_PARTS; i++)
		if (id->part[i])
			pieces[n++] =
				(struct memory_piece){ id->part[i], looked->bytes[i], id->size[i] };
	return n;
}

static bool is_same(const struct code_identity *id, const struct looked *looked,
		    const struct py_layout *layout)
{
	struct code_fingerprint print;
	struct bytes raw = { looked->fixed, code_fingerprint_size(layout) };

	code_fingerprint_parse(&print, layout, raw);
	if (!code_fingerprint_equal(&print, &id->print))
		return false;
	for (size_t i = 0; i < IDENTITY_PARTS; i++) {
		size_t from =
			i == PART_TABLE ? HEAD_SIZE : 0; /* its hash is computed at any time */
		if (!id->part[i])
			continue;
		if (memcmp(looked->bytes[i], id->bytes[i], HASH_AT) != 0 ||
		    memcmp(looked->bytes[i] + from, id->bytes[i] + from, id->size[i] - from) != 0)
			return false;
	}
	return true;
}

static void find_parts(struct code_identity *id, const struct py_layout *layout)
{
	const struct code_fingerprint *p = &id->print;
	remote_addr strings[PART_TABLE] = { p->filename, p->name,
					    p->qualname != p->name ? p->qualname : 0 };

	for (size_t i = 0; i < PART_TABLE; i++)
		if (strings[i])
			id->part[i] = strings[i] + layout->text.length;
	if (p->linetable)
		id->part[PART_TABLE] = p->linetable + layout->bytes.ob_size;
	for (size_t i = 0; i < IDENTITY_PARTS; i++)
		id->size[i] = HEAD_SIZE;
}

/* Now that length and hash are known: how much of the object stands for it. */
static void measure_parts(struct code_identity *id, const struct looked *looked,
			  const struct py_layout *layout)
{
	for (size_t i = 0; i < IDENTITY_PARTS; i++) {
		uint64_t length;
		int64_t hash;
		memcpy(&length, looked->bytes[i], sizeof(length));
		memcpy(&hash, looked->bytes[i] + HASH_AT, sizeof(hash));
		uint32_t data = i == PART_TABLE ? layout->bytes.data - layout->bytes.ob_size
						: layout->text.ascii_data - layout->text.length;
		if (i != PART_TABLE && hash != -1)
			continue;
		uint64_t size = data + (length < IDENTITY_PART_SIZE ? length : IDENTITY_PART_SIZE);
		id->size[i] = size < IDENTITY_PART_SIZE ? size : IDENTITY_PART_SIZE;
	}
}

/*
 * Read pieces of which some may fail, because what they pointed to is gone: those are left zero, which
 * equals nothing that was ever taken.
 */
static enum status read_all(struct memory *memory, const struct memory_piece *pieces, size_t count)
{
	while (count > 0) {
		size_t done;
		enum status status = memory_read_batch(memory, pieces, count, &done);
		if (status != ST_OK)
			return status;
		if (done >= count)
			return ST_OK;
		memset(pieces[done].local, 0, pieces[done].size);
		pieces += done + 1;
		count -= done + 1;
	}
	return ST_OK;
}

enum status identity_take(struct code_identity *identity, const struct py_layout *layout,
			  struct memory *memory, remote_addr code,
			  const struct code_fingerprint *print)
{
	struct code_identity id = { .code = code, .print = *print };
	struct memory_piece pieces[1 + IDENTITY_PARTS];
	struct looked looked;

	if (code_fingerprint_size(layout) > IDENTITY_FIXED_SIZE)
		return ST_TOO_BIG;
	find_parts(&id, layout);
	memset(&looked, 0, sizeof(looked));
	enum status status = read_all(memory, pieces, add_pieces(pieces, &id, &looked, layout));
	if (status != ST_OK)
		return status;
	measure_parts(&id, &looked, layout);
	status = read_all(memory, pieces, add_pieces(pieces, &id, &looked, layout));
	if (status != ST_OK)
		return status;
	memcpy(id.bytes, looked.bytes, sizeof(id.bytes));
	if (!is_same(&id, &looked, layout))
		return ST_TORN;
	*identity = id;
	return ST_OK;
}

enum status identity_check(const struct code_identity *const *identities, bool *same, size_t count,
			   const struct py_layout *layout, struct memory *memory)
{
	struct memory_piece pieces[CHECK_AT_ONCE * (1 + IDENTITY_PARTS)];
	struct looked looked[CHECK_AT_ONCE];

	for (size_t at = 0; at < count; at += CHECK_AT_ONCE) {
		size_t now = count - at < CHECK_AT_ONCE ? count - at : CHECK_AT_ONCE;
		size_t n = 0;
		for (size_t i = 0; i < now; i++)
			n += add_pieces(pieces + n, identities[at + i], &looked[i], layout);
		enum status status = read_all(memory, pieces, n);
		if (status != ST_OK)
			return status;
		for (size_t i = 0; i < now; i++)
			same[at + i] = is_same(identities[at + i], &looked[i], layout);
	}
	return ST_OK;
}
