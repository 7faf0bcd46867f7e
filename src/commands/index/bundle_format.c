/* bundle_format.c - encodes and decodes bundle entries in a portable byte format. */
#include "commands/index/bundle.h"

enum { HEADER = 8, ENTRY = 44 };

/* First bytes of the encoded entries; the last of these is the format version. */
static const unsigned char magic[4] = { 'G', 'C', 'B', 1 };

static unsigned char *write_little_endian_number(unsigned char *at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(v >> 8 * i);
    return at + bytes;
}

static unsigned char *write_bundle_entry(unsigned char *at, const struct command_bundle_entry *k)
{
    at = write_little_endian_number(at, k->id, 8);
    at = write_little_endian_number(at, k->version, 8);
    at = write_little_endian_number(at, k->default_member_permissions, 8);
    at = write_little_endian_number(at, k->locales, 8);
    at = write_little_endian_number(at, k->length, 4);
    at = write_little_endian_number(at, k->size, 4);
    *at++ = k->type;
    *at++ = k->nsfw;
    *at++ = k->contexts;
    *at++ = k->integration_types;
    return at;
}

struct str encode_command_bundle_entries(struct arena *arena,
                                         const struct command_bundle_entry *entries, size_t count)
{
    size_t size = HEADER + count * ENTRY;
    unsigned char *bytes = arena_alloc_unzeroed(arena, size), *at = bytes + sizeof magic;

    memcpy(bytes, magic, sizeof magic);
    at = write_little_endian_number(at, count, 4);
    for (size_t i = 0; i < count; i++)
        at = write_bundle_entry(at, &entries[i]);
    return str_slice((const char *)bytes, size);
}

/* Decodes a little-endian number. Compilers turn this code into a single load. */
static uint32_t parse_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t parse_u64(const unsigned char *at)
{
    return parse_u32(at) | (uint64_t)parse_u32(at + 4) << 32;
}

static struct command_bundle_entry parse_bundle_entry(const unsigned char *at)
{
    return (struct command_bundle_entry){
        .id = parse_u64(at),
        .version = parse_u64(at + 8),
        .default_member_permissions = parse_u64(at + 16),
        .locales = parse_u64(at + 24),
        .length = parse_u32(at + 32),
        .size = parse_u32(at + 36),
        .type = at[40],
        .nsfw = at[41],
        .contexts = at[42],
        .integration_types = at[43],
    };
}

/* Returns whether a JSON object of this length starts at the offset and is followed by a comma or
 * by the end of the text. */
static bool has_json_object_at(struct str texts, size_t at, size_t length)
{
    if (length < 2 || at > texts.n || length > texts.n - at)
        return false;
    if (texts.p[at] != '{' || texts.p[at + length - 1] != '}')
        return false;
    return at + length == texts.n || texts.p[at + length] == ',';
}

static bool command_texts_match_entries(struct str texts,
                                        const struct command_bundle_entry *entries, size_t count)
{
    size_t at = 0;

    if (!texts.n)
        return true; /* a bundle without texts is valid: the command rows have the texts */
    for (size_t i = 0; i < count; i++) {
        if (!has_json_object_at(texts, at, entries[i].length))
            return false;
        at += entries[i].length + 1;
    }
    return count && at == texts.n + 1;
}

bool decode_command_bundle_entries(struct arena *arena, struct str bytes, struct str texts,
                                   const struct command_bundle_entry **ret, size_t *ret_count)
{
    const unsigned char *at = (const unsigned char *)bytes.p;

    if (bytes.n < HEADER || memcmp(at, magic, sizeof magic) != 0)
        return false;
    size_t count = parse_u32(at + 4);
    if ((bytes.n - HEADER) / ENTRY != count || (bytes.n - HEADER) % ENTRY)
        return false;
    struct command_bundle_entry *entries = arena_alloc_unzeroed(arena, count * sizeof *entries + 1);
    for (size_t i = 0; i < count; i++)
        entries[i] = parse_bundle_entry(at + HEADER + i * ENTRY);
    if (!command_texts_match_entries(texts, entries, count))
        return false;
    *ret = entries;
    *ret_count = count;
    return true;
}
