/* recall.c - the KNOWN_BODY stage of a bulk overwrite: replies to a repeated body from the cache,
 * without decoding it; known_overwrite_bodies.h describes when that is valid. */
#include "commands/known_bodies.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/applications/applications.h"

static enum err answer_known(struct call *call);

static enum err recall_in(struct call *call, snowflake guild_id)
{
    struct known_body known;

    if (!known_body_find(call, call_id(call, "application.id"), guild_id, &known))
        return OK;
    struct command_drafts *d = call_pass(call, "command_drafts", sizeof *d);
    d->known = arena_raw(call->arena, sizeof known);
    *d->known = known;
    d->counted = true;
    call->look = answer_known;
    return commands_count_write(call);
}

enum err recall_commands(struct call *call)
{
    return recall_in(call, 0);
}

enum err recall_guild_commands(struct call *call)
{
    return recall_in(call, call_id(call, "app_guild.id"));
}

static const struct known_body *known_of_call(const struct call *call)
{
    const struct command_drafts *d = call_passed(call, "command_drafts");

    return d->known;
}

static struct kept_key recall_key(const struct call *call, const struct known_body *known)
{
    static const char what[] = "recalled commands";
    struct kept_key key = {
        what, { call->target.application->id, call->target.guild ? call->target.guild->id : 0 }
    };

    memcpy(&key.of[2], known->body, sizeof key.of[2]);
    memcpy(&key.of[3], known->rows, sizeof key.of[3]);
    return key;
}

/* Writes the commands in the order of the request body. */
static void reply_known(struct call *call, const struct known_body *known, const struct str *texts)
{
    struct json j = call_reply_json(call);

    json_array(&j);
    for (size_t i = 0; i < known->count; i++)
        json_raw(&j, texts[known->order[i]]);
    json_array_end(&j);
}

static struct list ids_of_rows(struct arena *arena, const struct list *rows)
{
    const struct command_row *row = rows->items;
    struct list ids = { 0 };

    for (size_t i = 0; i < rows->count; i++)
        ids_add(arena, &ids, row[i].id);
    return ids;
}

static enum err recall_anew(struct call *call, const struct known_body *known,
                            const struct kept_key *key)
{
    struct list rows, texts;
    enum err e = command_rows(call->tx, key->of[0], key->of[1], false, &rows);

    if (!e && !known_body_holds(call, known, &rows))
        e = call_look_again(call);
    if (!e)
        e = commands_shown(call->tx, key->of[0], key->of[1], &texts);
    if (!e && texts.count != known->count)
        e = call_look_again(call); /* a command is unreadable */
    if (e)
        return e;
    reply_known(call, known, texts.items);
    struct list ids = ids_of_rows(call->arena, &rows);
    commands_keep_text(call, key, &ids);
    return OK;
}

static enum err answer_known(struct call *call)
{
    const struct known_body *known = known_of_call(call);
    struct kept_key key = recall_key(call, known);

    if (known->installs != installs_of(call->target.application))
        return call_look_again(call);
    struct shared_text *kept = kept_find_text(call->tx, &key);
    return kept ? call_reply_shared(call, kept) : recall_anew(call, known, &key);
}
