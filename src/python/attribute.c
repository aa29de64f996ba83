/*
 * attribute: instance attributes, which CPython keeps in one of three places.
 *
 * In a dict (always up to 3.10): keys and values side by side in its entries. In a dict whose
 * keys are shared by all instances of the type, with an array of values of its own. And, from
 * 3.11 on, without a dict: only the array of values, by the keys that the type caches. So a
 * lookup is: find keys and, if there is one, the array; walk the keys; take the value of the
 * same index, or the one in the entry.
 *
 * Called by threadname.c, rarely: nothing is cached. The input is hostile.
 */
#include "python/attribute.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "python/unicode.h"

#define MANAGED_DICT (1u << 4)  /* Py_TPFLAGS_MANAGED_DICT, 3.11+ */
#define INLINE_VALUES (1u << 2) /* Py_TPFLAGS_INLINE_VALUES, 3.13+ */
#define ENTRY_MAX 24
#define NAME_MAX_SIZE 64

/* Where to look: keys, and the array of values beside them (0: the values are in the entries). */
struct attributes {
	remote_addr keys, values;
};

/* The entries of a keys object. */
struct entries {
	remote_addr address;
	uint64_t count;
	size_t size;   /* of one entry */
	size_t key_at; /* in it; the value follows */
};

/* struct _dictkeysobject: {refcnt, size, lookup, usable, nentries, indices} */
static enum status find_entries_table(struct entries *e, struct memory *memory, remote_addr keys)
{
	uint8_t raw[40];
	struct bytes head = { raw, sizeof(raw) };
	enum status status = memory_read(memory, keys, raw, sizeof(raw));
	uint64_t slots;

	if (status != ST_OK)
		return status;
	bytes_u64(head, 8, &slots);
	bytes_u64(head, 32, &e->count);
	if (slots > 1u << 20)
		return ST_BAD_DATA;
	e->address = keys + sizeof(raw) + slots * (slots <= 0xff ? 1 : slots <= 0xffff ? 2 : 4);
	e->size = 24;
	e->key_at = 8;
	return ST_OK;
}

/*
 * 3.11+: {refcnt, u8 log2_size, u8 log2_index_bytes, u8 kind, u8, version, usable, nentries,
 * indices}
 */
static enum status find_entries_311(struct entries *e, struct memory *memory, remote_addr keys)
{
	uint8_t raw[32];
	struct bytes head = { raw, sizeof(raw) };
	enum status status = memory_read(memory, keys, raw, sizeof(raw));

	if (status != ST_OK)
		return status;
	bytes_u64(head, 24, &e->count);
	if (raw[9] > 24)
		return ST_BAD_DATA;
	e->address = keys + sizeof(raw) + (1u << raw[9]);
	e->size = raw[10] == 0 ? 24 : 16; /* DICT_KEYS_GENERAL: {hash, key, value} */
	e->key_at = raw[10] == 0 ? 8 : 0;
	return ST_OK;
}

static bool is_key(const struct py_layout *layout, struct memory *memory, remote_addr key,
		   const char *name)
{
	char *text;
	bool same;

	if (!key || unicode_read(&text, layout, memory, key, NAME_MAX_SIZE) != ST_OK)
		return false;
	same = strcmp(text, name) == 0;
	free(text);
	return same;
}

static enum status take_value(remote_addr *value, const struct py_layout *layout,
			      struct memory *memory, remote_addr values, size_t index,
			      uint64_t in_entry)
{
	unsigned first = layout->dict_form == PY_DICT_INLINE ? 8 : 0; /* PyDictValues.values */

	if (values && !memory_read_u64(memory, values + first + 8 * index, &in_entry))
		return ST_FAULT;
	if (!in_entry)
		return ST_AGAIN;
	*value = in_entry;
	return ST_OK;
}

static enum status find_value(remote_addr *value, const struct py_layout *layout,
			      struct memory *memory, const struct attributes *where,
			      const char *name)
{
	uint8_t raw[ATTRIBUTES_MAX * ENTRY_MAX];
	struct entries e = { 0 };
	enum status status = layout->dict_form == PY_DICT_TABLE
				     ? find_entries_table(&e, memory, where->keys)
				     : find_entries_311(&e, memory, where->keys);

	if (status != ST_OK)
		return status;
	if (!e.count)
		return ST_AGAIN;
	if (e.count > ATTRIBUTES_MAX)
		return ST_BAD_DATA;
	status = memory_read(memory, e.address, raw, e.count * e.size);
	if (status != ST_OK)
		return status;
	for (size_t i = 0; i < e.count; i++) {
		struct bytes entry = { raw + i * e.size, e.size };
		uint64_t key = 0, in_entry = 0;

		bytes_u64(entry, e.key_at, &key);
		bytes_u64(entry, e.key_at + 8, &in_entry);
		if (is_key(layout, memory, key, name))
			return take_value(value, layout, memory, where->values, i, in_entry);
	}
	return ST_AGAIN;
}

static enum status use_dict(struct attributes *where, const struct py_layout *layout,
			    struct memory *memory, remote_addr dict)
{
	if (!dict)
		return ST_AGAIN;
	if (!memory_read_u64(memory, dict + layout->dict.keys, &where->keys) ||
	    !memory_read_u64(memory, dict + layout->dict.values, &where->values))
		return ST_FAULT;
	return ST_OK;
}

static enum status use_cached_keys(struct attributes *where, const struct py_layout *layout,
				   struct memory *memory, remote_addr type, remote_addr values)
{
	where->values = values;
	return memory_read_u64(memory, type + layout->type.cached_keys, &where->keys) ? ST_OK
										      : ST_FAULT;
}

/* A type whose instances have a dict at an offset of their own choice. */
static enum status use_dict_slot(struct attributes *where, const struct py_layout *layout,
				 struct memory *memory, remote_addr object, remote_addr type)
{
	uint64_t offset, dict;

	if (!memory_read_u64(memory, type + layout->type.dictoffset, &offset))
		return ST_FAULT;
	if (!offset || offset > 1u << 16) /* also negative: behind a variable part */
		return ST_BAD_DATA;
	if (!memory_read_u64(memory, object + offset, &dict))
		return ST_FAULT;
	return use_dict(where, layout, memory, dict);
}

/*
 * 3.13+: the values stand behind the instance as long as their `valid` says so, else there is a
 * dict.
 */
static enum status use_inline(struct attributes *where, const struct py_layout *layout,
			      struct memory *memory, remote_addr object, remote_addr type,
			      uint64_t flags)
{
	uint64_t size, header, dict;

	if (flags & INLINE_VALUES) {
		if (!memory_read_u64(memory, type + layout->type.basicsize, &size) ||
		    size > 1u << 20 || !memory_read_u64(memory, object + size, &header))
			return ST_FAULT;
		if (header >> 24 & 255) /* {u8 capacity, u8 size, u8 embedded, u8 valid} */
			return use_cached_keys(where, layout, memory, type, object + size);
	}
	if (!memory_read_u64(memory, object - layout->type.dict_back, &dict))
		return ST_FAULT;
	return use_dict(where, layout, memory, dict);
}

static enum status find_attributes(struct attributes *where, const struct py_layout *layout,
				   struct memory *memory, remote_addr object)
{
	uint64_t type, flags, word, dict;

	if (!memory_read_u64(memory, object + layout->object.type, &type) ||
	    !memory_read_u64(memory, type + layout->type.flags, &flags))
		return ST_FAULT;
	if (layout->dict_form == PY_DICT_TABLE || !(flags & MANAGED_DICT))
		return use_dict_slot(where, layout, memory, object, type);
	if (layout->dict_form == PY_DICT_INLINE)
		return use_inline(where, layout, memory, object, type, flags);
	if (layout->dict_form == PY_DICT_VALUES) {
		if (!memory_read_u64(memory, object - 32, &word) ||
		    !memory_read_u64(memory, object - 24, &dict))
			return ST_FAULT;
		return word ? use_cached_keys(where, layout, memory, type, word)
			    : use_dict(where, layout, memory, dict);
	}
	if (!memory_read_u64(memory, object - 24, &word))
		return ST_FAULT;
	return word & 1 ? use_cached_keys(where, layout, memory, type, word + 1)
			: use_dict(where, layout, memory, word);
}

enum status attribute_read(remote_addr *value, const struct py_layout *layout,
			   struct memory *memory, remote_addr object, const char *name)
{
	struct attributes where;
	enum status status = find_attributes(&where, layout, memory, object);

	return status == ST_OK ? find_value(value, layout, memory, &where, name) : status;
}
