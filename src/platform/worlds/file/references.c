/* references.c - from the names and ids of a file to what is in the store. */
#include "platform/worlds/file/file.h"

const struct naming user_naming = {
    .word = "user",
    .by_name = SQL_TEXT("select min(id), count(*) from users where username = $1"),
    .by_id = SQL_TEXT("select min(id), count(*) from users where id = $1"),
    .any_id = SQL_TEXT("select min(id), count(*) from users where id = $1"),
    .unique = true,
};
const struct naming application_naming = {
    .word = "application",
    .by_name = SQL_TEXT("select min(id), count(*) from applications where name = $1"),
    .by_id = SQL_TEXT("select min(id), count(*) from applications where id = $1"),
    .any_id = SQL_TEXT("select min(id), count(*) from applications where id = $1"),
};
const struct naming guild_naming = {
    .word = "guild",
    .by_name = SQL_TEXT("select min(id), count(*) from guilds where name = $1 and removed = 0"),
    .by_id = SQL_TEXT("select min(id), count(*) from guilds where id = $1 and removed = 0"),
    .any_id = SQL_TEXT("select min(id), count(*) from guilds where id = $1 and removed = 0"),
};
const struct naming role_naming = {
    .word = "role",
    .by_name = SQL_TEXT("select min(id), count(*) from roles where name = $1 and guild_id = $2 "
                        "and position >= 0"),
    .by_id = SQL_TEXT("select min(id), count(*) from roles where id = $1 and guild_id = $2 "
                      "and position >= 0"),
    .any_id = SQL_TEXT("select min(id), count(*) from roles where id = $1"),
    .scoped = true,
};
const struct naming channel_naming = {
    .word = "channel",
    .by_name = SQL_TEXT("select min(id), count(*) from channels where name = $1 and guild_id = $2"),
    .by_id = SQL_TEXT("select min(id), count(*) from channels where id = $1 and guild_id = $2"),
    .any_id = SQL_TEXT("select min(id), count(*) from channels where id = $1"),
    .scoped = true,
};

static enum err reference_look(struct importing *im, struct sql sql, struct value what,
                               snowflake guild, bool scoped, snowflake *ret, int64_t *ret_count)
{
    const struct value values[] = { what, v_id(guild) };
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, sql, values, scoped ? 2 : 1, &row, &found);

    if (e)
        return e;
    *ret = row_id(&row, 0);
    *ret_count = row_int(&row, 1);
    return OK;
}

static struct value name_value(const struct importing *im, const struct naming *n, struct str name)
{
    /* Names of accounts are kept in lower case. */
    return v_text(n == &user_naming ? str_lower(im->arena, str_trim(name)) : name);
}

enum err refer(struct importing *im, const struct naming *n, snowflake guild, struct str to,
               const struct place *at, snowflake *ret)
{
    int64_t found = 0;
    snowflake id;
    enum err e =
        reference_look(im, n->by_name, name_value(im, n, to), guild, n->scoped, ret, &found);

    if (!e && found == 0 && snowflake_parse(to, &id))
        e = reference_look(im, n->by_id, v_id(id), guild, n->scoped, ret, &found);
    if (e || found == 1)
        return e;
    *ret = 0;
    if (found > 1)
        form_fail(im->form, at, "WORLD_AMBIGUOUS", "there are %lld %ss called '%.*s': give the id",
                  (long long)found, n->word, STR_FMT(form_quote(to)));
    else
        form_fail(im->form, at, "WORLD_UNKNOWN", "there is no %s '%.*s'", n->word,
                  STR_FMT(form_quote(to)));
    return OK;
}

enum err refer_maybe(struct importing *im, const struct naming *n, snowflake guild,
                     const struct opt_str *to, const struct place *at, snowflake *ret)
{
    *ret = 0;
    return to->given == GIVEN ? refer(im, n, guild, to->value, at, ret) : OK;
}

static enum err settle_id(struct importing *im, const struct naming *n, snowflake guild,
                          snowflake id, struct str name, const struct place *at, snowflake *ret)
{
    struct place place = place_key(at, STR("id"));
    int64_t here = 0, anywhere = 0, named = 0;
    snowflake other;
    enum err e = reference_look(im, n->by_id, v_id(id), guild, n->scoped, ret, &here);

    if (!e && !here)
        e = reference_look(im, n->any_id, v_id(id), 0, false, &other, &anywhere);
    if (!e && !here && n->unique)
        e = reference_look(im, n->by_name, name_value(im, n, name), 0, false, &other, &named);
    if (e)
        return e;
    if (anywhere)
        form_fail(im->form, &place, "WORLD_TAKEN", "this id belongs to another guild's %s",
                  n->word);
    if (named)
        form_fail(im->form, &place, "WORLD_TAKEN", "there is a %s '%.*s' with another id", n->word,
                  STR_FMT(name));
    if (id == 0)
        form_fail(im->form, &place, "WORLD_TAKEN", "0 is nobody's id");
    return OK;
}

enum err settle(struct importing *im, const struct naming *n, snowflake guild, struct opt_id id,
                struct str name, const struct place *at, snowflake *ret)
{
    struct place place = place_key(at, STR("name"));
    int64_t found = 0;

    if (id.given == GIVEN)
        return settle_id(im, n, guild, id.value, name, at, ret);
    enum err e =
        reference_look(im, n->by_name, name_value(im, n, name), guild, n->scoped, ret, &found);
    if (e || found < 2)
        return e;
    *ret = 0;
    form_fail(im->form, &place, "WORLD_AMBIGUOUS", "there are %lld %ss called '%.*s': give the id",
              (long long)found, n->word, STR_FMT(form_quote(name)));
    return OK;
}

enum err world_place_of(struct importing *im, const struct naming *n, snowflake guild,
                        struct opt_id id, struct str name, const struct place *at, snowflake *ret)
{
    unsigned before = im->form->problems;
    enum err e = settle(im, n, guild, id, name, at, ret);

    if (!e && !*ret && im->form->problems == before)
        *ret = id.given == GIVEN ? id.value : snowflake_new();
    return e;
}

enum err refer_each(struct importing *im, const struct naming *n, snowflake guild,
                    const struct opt_list *names, const struct place *all, struct list *ret)
{
    const struct str *name = names->value.items;
    enum err e = OK;

    for (size_t i = 0; i < names->value.count && !e; i++) {
        struct place at = place_index(all, i);

        e = refer(im, n, guild, name[i], &at, list_add(im->arena, ret, sizeof(snowflake)));
    }
    return e;
}

void count(struct importing *im, enum counted what, bool made)
{
    struct world_count *c = &im->report->counts[what];

    if (made)
        c->made++;
    else
        c->known++;
}

enum err import_each(struct importing *im, const struct opt_list *list, size_t size,
                     const char *name, const struct place *up, import_step *step, snowflake owner)
{
    struct place all = place_key(up, str_of(name));
    const char *entry = list->value.items;
    enum err e = OK;

    for (size_t i = 0; i < list->value.count && !e; i++, entry += size) {
        struct place at = place_index(&all, i);

        e = step(im, entry, &at, owner);
    }
    return e;
}
