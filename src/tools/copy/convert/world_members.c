/* world_members.c - writes fields of entries of world files.
 *
 * An entry may refer only to objects that exist, because an import refuses other references. A
 * reference to an object that was deleted on the source server is omitted and counted. */
#include "tools/copy/convert/world_members.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "json/read.h"

void world_file_entries_clear(struct world_entries *e)
{
    buf_reset(&e->text);
    e->count = 0;
}

void world_file_entries_end_entry(struct world_entries *e)
{
    if (e->count == e->capacity) {
        e->capacity = e->capacity ? e->capacity * 2 : 64;
        e->ends = mem_resize(e->ends, e->capacity * sizeof *e->ends);
    }
    e->ends[e->count++] = e->text.n;
    buf_add_char(&e->text, ',');
}

void write_json_member_raw(struct json_writer *j, const char *name, struct str raw)
{
    if (!raw.n)
        return;
    json_write_key(j, str_of(name));
    json_write_raw(j, raw);
}

void copy_json_members(struct json_writer *j, struct str object,
                       const struct json_member_renaming *names)
{
    for (; names->from; names++)
        write_json_member_raw(j, names->to ? names->to : names->from,
                              json_member_get_raw_text(object, names->from));
}

bool guild_copy_id_is_known(const struct map *ids, snowflake id)
{
    return id && map_find_value(ids, id);
}

void guild_copy_add_known_id(struct map *ids, snowflake id)
{
    static char known;

    if (id)
        map_set_value(ids, id, &known);
}

void write_world_file_reference(struct guild_copy_conversion *c, struct json_writer *j,
                                const char *name, const struct map *ids, snowflake id)
{
    if (!id)
        return;
    if (!guild_copy_id_is_known(ids, id)) {
        c->omitted++;
        return;
    }
    json_write_key(j, str_of(name));
    json_write_id(j, id);
}

static snowflake parse_id_from_json_text(struct str raw)
{
    int64_t id = 0;

    return json_parse_int_text(raw, &id) ? (snowflake)id : 0;
}

void write_world_file_references(struct guild_copy_conversion *c, struct arena *arena,
                                 struct json_writer *j, const char *name, const struct map *ids,
                                 struct str array)
{
    struct list items = json_array_get_items(arena, array);

    if (!array.n)
        return;
    json_write_key(j, str_of(name));
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        snowflake id = parse_id_from_json_text(((struct str *)items.items)[i]);

        if (guild_copy_id_is_known(ids, id))
            json_write_id(j, id);
        else
            c->omitted++;
    }
    json_end_array(j);
}

void write_json_word_for_number(struct json_writer *j, const char *name, const char *const *words,
                                size_t count, int64_t value)
{
    if (value < 0 || (size_t)value >= count || !words[value])
        return;
    json_write_key(j, str_of(name));
    json_write_text(j, str_of(words[value]));
}

void write_archive_file_as_data_uri(struct guild_copy_conversion *c, struct arena *arena,
                                    struct json_writer *j, const char *name, const char *type,
                                    const char *folder, snowflake id)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct buf bytes, text;
    char path[1200], piece[16384];
    size_t n;

    guild_archive_format_path(c->archive, path, "files/%s/%" PRIu64, folder, id);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    buf_init(&bytes, 1024 * 1024);
    buf_init(&text, 2 * 1024 * 1024);
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&bytes, piece, n);
    fclose(f);
    buf_printf(&text, "data:%s;base64,", type);
    for (size_t i = 0; i < bytes.n; i += 3) {
        const unsigned char *p = (const unsigned char *)bytes.p + i;
        size_t left = bytes.n - i;
        uint32_t v =
            (uint32_t)p[0] << 16 | (left > 1 ? (uint32_t)p[1] << 8 : 0) | (left > 2 ? p[2] : 0);

        buf_add_char(&text, digits[v >> 18]);
        buf_add_char(&text, digits[v >> 12 & 63]);
        buf_add_char(&text, left > 1 ? digits[v >> 6 & 63] : '=');
        buf_add_char(&text, left > 2 ? digits[v & 63] : '=');
    }
    if (bytes.n && !buf_is_full(&bytes)) {
        json_write_key(j, str_of(name));
        json_write_text(j, str_dup(arena, buf_as_str(&text)));
    }
    buf_clear(&bytes);
    buf_clear(&text);
}

void write_emoji_reference(struct guild_copy_conversion *c, struct json_writer *j, const char *name,
                           struct str object)
{
    snowflake id = json_member_get_id(object, "emoji_id");

    if (id)
        write_world_file_reference(c, j, name, &c->known.emojis, id);
    else
        write_json_member_raw(j, name, json_member_get_raw_text(object, "emoji_name"));
}
