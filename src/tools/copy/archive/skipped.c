/* skipped.c - messages of an archive that must not be imported (struct copy_skipped). */
#include <inttypes.h>
#include <stdio.h>

#include "tools/copy/archive/archive.h"
#include "tools/copy/archive/json_members.h"

static const char DELETED[] = "deleted-messages.jsonl", WEBHOOKS[] = "mirror-webhooks.jsonl";

static void add_id(struct map *ids, snowflake id)
{
    static char skipped;

    if (id)
        map_set_value(ids, id, &skipped);
}

static bool add_skipped_id(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    (void)next_offset, (void)arena;
    add_id(arg, json_member_id(line, "id"));
    return true;
}

void copy_skipped_read(const struct guild_archive *a, struct copy_skipped *ret)
{
    map_init(&ret->ids);
    map_init(&ret->webhooks);
    guild_archive_for_each_line(a, DELETED, 0, add_skipped_id, &ret->ids);
    guild_archive_for_each_line(a, WEBHOOKS, 0, add_skipped_id, &ret->webhooks);
}

void copy_skipped_clear(struct copy_skipped *s)
{
    map_clear(&s->ids);
    map_clear(&s->webhooks);
}

bool copy_skipped_contains(const struct copy_skipped *s, struct str message)
{
    return (s->ids.count && map_find_value(&s->ids, json_member_id(message, "id"))) ||
           (s->webhooks.count &&
            map_find_value(&s->webhooks, json_member_id(message, "webhook_id")));
}

bool copy_skipped_contains_webhook(const struct copy_skipped *s, snowflake webhook)
{
    return map_find_value(&s->webhooks, webhook);
}

static bool add_line(struct map *ids, struct guild_archive *a, const char *name, snowflake id)
{
    struct guild_archive_list list;
    char line[64];
    int n = snprintf(line, sizeof line, "{\"id\":\"%" PRIu64 "\"}\n", id);

    if (map_find_value(ids, id))
        return true;
    add_id(ids, id);
    bool ok = guild_archive_list_open(a, name, "id", &list) &&
              guild_archive_list_append(&list, str_slice(line, (size_t)n));
    guild_archive_list_close(&list);
    return ok;
}

bool copy_skip_message(struct copy_skipped *s, struct guild_archive *a, snowflake id)
{
    return add_line(&s->ids, a, DELETED, id);
}

bool copy_skip_webhook(struct copy_skipped *s, struct guild_archive *a, snowflake webhook)
{
    return add_line(&s->webhooks, a, WEBHOOKS, webhook);
}
