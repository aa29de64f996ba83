/*
 * unicode: strings of the target, whatever their form, as UTF-8 of ours.
 *
 * The header of the object says kind (bytes a character) and where the characters are; both are
 * checked against each other before a length is believed, and no more characters are fetched
 * than can make limit bytes. A character that UTF-8 has no form for - half of a surrogate pair,
 * as surrogateescape makes of a file name's odd bytes - is written as the six characters
 * \udcXX.
 *
 * Called by code.c and threadname.c. The input is hostile.
 */
#include "python/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/text.h"

#define HEADER_MAX 96
#define CHARACTERS_MAX (1u << 26)

/* Where the characters are and what they are like. */
struct characters {
	remote_addr address;
	uint64_t count;
	unsigned kind; /* bytes a character */
};

/*
 * Up to 3.13, and with a GIL, interned is 2 bits; free-threaded 3.14+ it is a byte, which moves
 * the rest.
 */
static bool split_state(uint32_t state, enum py_text_form form, unsigned *kind, bool *compact,
			bool *ascii)
{
	if (form == PY_TEXT_STATE_BYTES)
		state >>= 6;
	*kind = state >> 2 & 7;
	*compact = state >> 5 & 1;
	*ascii = state >> 6 & 1;
	return (*kind == 1 || *kind == 2 || *kind == 4) && !(*ascii && *kind != 1);
}

static enum status read_str_header(struct characters *chars, const struct py_layout *layout,
				   struct memory *memory, remote_addr address)
{
	uint8_t raw[HEADER_MAX];
	struct bytes header = { raw, layout->text.compact_data };
	uint32_t state;
	unsigned kind;
	bool compact, ascii;
	enum status status;

	if (header.size > sizeof(raw))
		return ST_BAD_DATA;
	status = memory_read(memory, address, raw, header.size);
	if (status != ST_OK)
		return status;
	if (!bytes_u64(header, layout->text.length, &chars->count) ||
	    !bytes_u32(header, layout->text.state, &state) ||
	    !split_state(state, layout->text_form, &kind, &compact, &ascii))
		return ST_BAD_DATA;
	chars->kind = kind;
	chars->address = address + (ascii ? layout->text.ascii_data : layout->text.compact_data);
	if (!compact &&
	    !memory_read_u64(memory, address + layout->text.legacy_data, &chars->address))
		return ST_FAULT;
	return chars->count <= CHARACTERS_MAX ? ST_OK : ST_BAD_DATA;
}

static enum status read_bytes_header(struct characters *chars, const struct py_layout *layout,
				     struct memory *memory, remote_addr address)
{
	uint8_t raw[8];
	struct bytes header = { raw, sizeof(raw) };
	enum status status = memory_read(memory, address + layout->bytes.ob_size, raw, sizeof(raw));

	if (status != ST_OK)
		return status;
	bytes_u64(header, 0, &chars->count);
	chars->kind = 1;
	chars->address = address + layout->bytes.data;
	return chars->count <= CHARACTERS_MAX ? ST_OK : ST_BAD_DATA;
}

/* Append one character; false when it does not fit any more. */
static bool put_character(struct buffer *out, uint32_t character)
{
	char text[12];
	size_t size;

	if (character >= 0xd800 && character < 0xe000)
		size = (size_t)snprintf(text, sizeof(text), "\\u%04x", (unsigned)character);
	else
		size = text_encode(character, text);
	if (out->size + size > out->limit - 1) /* room for the terminator */
		return false;
	buffer_add(out, text, size);
	return true;
}

static uint32_t character_at(struct bytes raw, unsigned kind, size_t i)
{
	uint8_t one;
	uint16_t two;
	uint32_t four;

	if (kind == 1)
		return bytes_u8(raw, i, &one) ? one : 0;
	if (kind == 2)
		return bytes_u16(raw, i * 2, &two) ? two : 0;
	return bytes_u32(raw, i * 4, &four) ? four : 0;
}

/* 2.7 keeps text as bytes, mostly UTF-8: what is not becomes U+FFFD. */
static uint32_t take_utf8(struct bytes raw, size_t *i)
{
	uint32_t character;

	*i += text_decode((const char *)raw.data + *i, raw.size - *i, &character);
	return character == TEXT_BAD ? 0xfffd : character;
}

static enum status encode(char **text, struct bytes raw, unsigned kind, bool is_utf8, size_t limit)
{
	struct buffer out;
	size_t i = 0;

	buffer_init(&out, limit + 1);
	while (i < raw.size / kind) {
		uint32_t character = is_utf8 ? take_utf8(raw, &i) : character_at(raw, kind, i++);

		if (!character)
			character = 0xfffd; /* our strings end at a zero */
		if (!put_character(&out, character))
			break;
	}
	buffer_u8(&out, 0);
	if (out.failed) {
		buffer_free(&out);
		return ST_NO_MEMORY;
	}
	*text = (char *)out.data;
	return ST_OK;
}

enum status unicode_read(char **text, const struct py_layout *layout, struct memory *memory,
			 remote_addr address, size_t limit)
{
	bool is_bytes = layout->text_form == PY_TEXT_BYTES;
	struct characters chars = { 0 };
	struct bytes raw;
	uint8_t *copy;
	enum status status = is_bytes ? read_bytes_header(&chars, layout, memory, address)
				      : read_str_header(&chars, layout, memory, address);

	if (status != ST_OK)
		return status;
	if (limit > CHARACTERS_MAX)
		limit = CHARACTERS_MAX;
	if (chars.count > limit)
		chars.count = limit; /* each makes a byte at least */
	raw.size = chars.count * chars.kind;
	copy = alloc_zero(raw.size, 1);
	raw.data = copy;
	if (!copy)
		return ST_NO_MEMORY;
	if (raw.size)
		status = memory_read(memory, chars.address, copy, raw.size);
	if (status == ST_OK)
		status = encode(text, raw, chars.kind, is_bytes, limit);
	free(copy);
	return status;
}

enum status unicode_read_bytes(uint8_t **data, size_t *size, const struct py_layout *layout,
			       struct memory *memory, remote_addr address, size_t limit)
{
	struct characters chars = { 0 };
	enum status status = read_bytes_header(&chars, layout, memory, address);
	uint8_t *copy;

	if (status != ST_OK)
		return status;
	if (chars.count > limit)
		return ST_TOO_BIG;
	copy = alloc_zero(chars.count, 1);
	if (!copy)
		return ST_NO_MEMORY;
	if (chars.count)
		status = memory_read(memory, chars.address, copy, chars.count);
	if (status != ST_OK) {
		free(copy);
		return status;
	}
	*data = copy;
	*size = chars.count;
	return ST_OK;
}
