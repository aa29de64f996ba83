/*
 * dynamic: the dynamic symbols of an image in memory.
 *
 * The segment lists addresses of the tables; their sizes are told indirectly: the old hash table
 * says how many symbols there are, the GNU one has to be walked to its last chain. Everything read
 * is the target's word: counts are capped, addresses go through memory, names are looked up inside
 * the copy of the strings alone. Called by image for a file that was deleted and may not be opened.
 */
#include "target/dynamic.h"

#include <stdlib.h>

#include "base/alloc.h"

#define ENTRIES_MAX 1024
#define CHAIN_MAX (1u << 16)

/* What the segment says, as addresses in the target; 0: nothing. */
struct tables {
	uint64_t symbols, strings, string_size, hash, gnu_hash;
};

/* An address of the segment: the linker may have moved it already or not. */
static uint64_t moved(uint64_t address, uint64_t bias)
{
	return address < bias ? address + bias : address;
}

static void take_entry(struct tables *tables, const Elf64_Dyn *entry, uint64_t bias)
{
	uint64_t v = entry->d_un.d_val;

	switch (entry->d_tag) {
	case DT_SYMTAB:
		tables->symbols = moved(v, bias);
		break;
	case DT_STRTAB:
		tables->strings = moved(v, bias);
		break;
	case DT_STRSZ:
		tables->string_size = v;
		break;
	case DT_HASH:
		tables->hash = moved(v, bias);
		break;
	case DT_GNU_HASH:
		tables->gnu_hash = moved(v, bias);
		break;
	}
}

static enum status read_tables(struct tables *tables, struct memory *memory, remote_addr address,
			       size_t size, uint64_t bias)
{
	size_t count = size / sizeof(Elf64_Dyn);

	*tables = (struct tables){ 0 };
	if (count > ENTRIES_MAX)
		count = ENTRIES_MAX;
	for (size_t i = 0; i < count; i++) {
		Elf64_Dyn entry;
		enum status status =
			memory_read(memory, address + i * sizeof(entry), &entry, sizeof(entry));

		if (status != ST_OK)
			return status;
		if (entry.d_tag == DT_NULL)
			break;
		take_entry(tables, &entry, bias);
	}
	return tables->symbols && tables->strings && tables->string_size ? ST_OK : ST_AGAIN;
}

/* Where a chain that begins at symbol ends: the last of it has its lowest bit set. */
static enum status walk_chain(struct memory *memory, remote_addr chains, uint32_t symbol,
			      uint32_t offset, size_t *count)
{
	for (uint32_t i = 0; i < CHAIN_MAX; i++) {
		uint32_t hash;
		enum status status =
			memory_read(memory, chains + 4 * ((uint64_t)symbol + i - offset), &hash, 4);

		if (status != ST_OK)
			return status;
		if (hash & 1) {
			*count = (size_t)symbol + i + 1;
			return ST_OK;
		}
	}
	return ST_BAD_DATA;
}

static enum status count_by_gnu_hash(struct memory *memory, remote_addr table, size_t *count)
{
	uint32_t head[4]; /* buckets, first symbol, bloom words, bloom shift */
	enum status status = memory_read(memory, table, head, sizeof(head));

	if (status != ST_OK)
		return status;
	if (head[0] > DYNAMIC_SYMBOLS_MAX || head[2] > DYNAMIC_SYMBOLS_MAX)
		return ST_TOO_BIG;
	uint32_t *buckets = alloc_zero(head[0], sizeof(*buckets));
	remote_addr at = table + sizeof(head) + 8 * (uint64_t)head[2];
	uint32_t last = 0;

	if (!buckets)
		return ST_NO_MEMORY;
	status = memory_read(memory, at, buckets, head[0] * sizeof(*buckets));
	for (uint32_t i = 0; status == ST_OK && i < head[0]; i++)
		if (buckets[i] > last)
			last = buckets[i];
	free(buckets);
	if (status != ST_OK)
		return status;
	if (last < head[1]) {
		*count = head[1];
		return ST_OK;
	}
	return walk_chain(memory, at + 4 * (uint64_t)head[0], last, head[1], count);
}

static enum status count_symbols(struct memory *memory, const struct tables *tables, size_t *count)
{
	uint32_t head[2]; /* buckets, chains: as many as symbols */

	if (!tables->hash && tables->gnu_hash)
		return count_by_gnu_hash(memory, tables->gnu_hash, count);
	if (!tables->hash)
		return ST_AGAIN;
	enum status status = memory_read(memory, tables->hash, head, sizeof(head));

	if (status == ST_OK)
		*count = head[1];
	return status;
}

enum status dynamic_read(struct dynamic *dynamic, struct memory *memory, remote_addr address,
			 size_t size, uint64_t bias)
{
	struct tables tables;
	struct dynamic d = { 0 };
	enum status status = read_tables(&tables, memory, address, size, bias);

	if (status == ST_OK)
		status = count_symbols(memory, &tables, &d.count);
	if (status != ST_OK)
		return status;
	d.string_size = tables.string_size;
	if (d.count > DYNAMIC_SYMBOLS_MAX || d.string_size > DYNAMIC_STRINGS_MAX)
		return ST_TOO_BIG;
	d.symbols = alloc_zero(d.count, sizeof(*d.symbols));
	d.strings = alloc_zero(d.string_size + 1, 1);
	status = d.symbols && d.strings ? ST_OK : ST_NO_MEMORY;
	if (status == ST_OK)
		status = memory_read(memory, tables.symbols, d.symbols,
				     d.count * sizeof(*d.symbols));
	if (status == ST_OK)
		status = memory_read(memory, tables.strings, d.strings, d.string_size);
	if (status != ST_OK) {
		dynamic_free(&d);
		return status;
	}
	*dynamic = d;
	return ST_OK;
}

void dynamic_free(struct dynamic *dynamic)
{
	free(dynamic->symbols);
	free(dynamic->strings);
	*dynamic = (struct dynamic){ 0 };
}

const char *dynamic_name(const struct dynamic *dynamic, size_t index)
{
	uint32_t at = dynamic->symbols[index].st_name;

	return at < dynamic->string_size ? dynamic->strings + at : "";
}
