/* erasure.c - many accounts with everything that an account can have, erased one after the other.
 *
 * Afterwards every column of every table is searched for the ids of the erased accounts. They may
 * occur only in the columns that docs/HOSTING.md lists under "What an erased account leaves". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps.h"
#include "files.h"
#include "guilds.h"
#include "people.h"
#include "store/store.h"
#include "test_sql.h"
#include "test_guild.h"
#include "waits.h"

#define DAY 86400.0

/* Columns in which the id of an erased account may stay. */
static const char *const left[] = {
    "users.id",           /* "Deleted User", so that messages have an author */
    "users.username",     /* deleted_<id> */
    "messages.author_id", /* messages of the account */
    "message_authors.author_id",
    "recipients.user_id",      /* direct channels, which the other recipient still reads */
    "direct_channels.low_id",  /* direct channels */
    "direct_channels.high_id", /* direct channels */
    "files.owner_id",          /* attachments of the account's messages */
    "file_owners.owner_id",    /* number of bytes of these attachments */
    "notes.target_id",         /* notes of other users about the account */
    "channels.owner_id",       /* threads started by the account */
    "reaction_users.user_id",  /* reactions of the account */
    "invites.inviter_id",      /* invites of guilds, which the guild manages */
    "audit_log.user_id",       /* audit log entries of the account, until they expire */
    "audit_log.changes",       /* audit log: who started a thread */
};

/* GUILDHALL_ERASE_ACCOUNTS=1000 for a long run. */
static int account_count(void)
{
    const char *count = getenv("GUILDHALL_ERASE_ACCOUNTS");

    return count ? atoi(count) : 60;
}

static struct client *register_numbered_user(struct world *w, int number)
{
    struct answer a = client_post(
        world_anonymous(w),
        TEXT(w, "{'username': 'person%d', 'password': 'correct horse'}", number), "/auth/register");

    expect_status(a, 200);
    struct client *c = world_client_with(w, answer_text(a, "token"));
    snprintf(c->id, sizeof c->id, "%s", answer_text(client_get(c, "/users/@me"), "id"));
    return c;
}

static void create_rows_of_account_in_all_tables(struct world *w, struct client *c,
                                                 struct client *friend, const char *guild,
                                                 const char *channel)
{
    const char *body = "--x\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n"
                       "{\"content\":\"with a file\"}\r\n--x\r\nContent-Disposition: form-data; "
                       "name=\"files[0]\"; filename=\"a.txt\"\r\n\r\nbytes\r\n--x--\r\n";

    ask_and_accept(c, friend);
    const char *direct = answer_text(
        client_post(c, TEXT(w, "{'recipient_id': '%s'}", friend->id), "/users/@me/channels"), "id");
    expect_status(client_post(c, "{'content': 'hello'}", "/channels/%s/messages", direct), 200);
    expect_status(client_request(c, "POST", TEXT(w, "/api/v10/channels/%s/messages", direct),
                                 "Content-Type: multipart/form-data; boundary=x\r\n", str_of(body)),
                  200);
    expect_status(client_put(c, "{'note': 'a friend'}", "/users/@me/notes/%s", friend->id), 204);
    expect_status(client_put(friend, "{'note': 'gone soon'}", "/users/@me/notes/%s", c->id), 204);
    expect_status(client_patch(c, "{'bio': 'me', 'avatar': '" PNG "'}", "/users/@me"), 200);
    expect_status(client_patch(c, "{'theme': 'light'}", "/users/@me/settings"), 200);
    put_member(guild, c);
    const char *said = answer_text(
        client_post(c, "{'content': 'to all'}", "/channels/%s/messages", channel), "id");
    expect_status(
        client_put(c, NULL, "/channels/%s/messages/%s/reactions/%%E2%%9C%%85/@me", channel, said),
        204);
    expect_status(client_post(c, "{'max_age': 0}", "/channels/%s/invites", channel), 200);
    const char *thread = answer_text(
        client_post(c, "{'name': 'a thread', 'type': 11}", "/channels/%s/threads", channel), "id");
    expect_status(client_post(c, "{'content': 'there'}", "/channels/%s/messages", thread), 200);
    expect_status(client_post(c, "{'token': null}", "/channels/%s/messages/%s/ack", channel, said),
                  200);
    expect_status(client_put(c, NULL, "/users/@me/saved-messages/%s/%s", channel, said), 200);
    const char *own = answer_text(client_post(c, "{'name': 'Own'}", "/guilds"), "id");
    expect_status(client_delete(c, "/guilds/%s", own), 204);
    const char *app = answer_text(client_post(c, "{'name': 'App'}", "/applications"), "id");
    expect_status(client_post(c, "{}", "/applications/%s/delete", app), 204);
    expect_status(client_post(c, "{}", "/users/@me/harvest"), 200);
    /* The game belongs to another application than the one above. */
    world_sql(w,
              "insert into game_relationships (user_id, target_id, application_id, type, since) "
              "select %s, %s, min(id), 1, 0 from applications",
              c->id, friend->id);
    world_sql(w,
              "insert into game_relationships (user_id, target_id, application_id, type, since) "
              "select %s, %s, min(id), 1, 0 from applications",
              friend->id, c->id);
    world_sql(w, "insert into notification_settings (user_id, flags) values (%s, 0)", c->id);
    world_sql(w,
              "insert into read_versions (user_id, version) values (%s, 1) "
              "on conflict do nothing",
              c->id);
}

struct leak_search {
    struct world *w;
    char found[4000];
};

static bool is_documented_column(const char *column)
{
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (strcmp(left[i], column) == 0)
            return true;
    return false;
}

/* Numbers are compared, texts are searched for the digits. */
static enum err search_column(struct tx *tx, struct leak_search *s, struct str table,
                              struct str column, bool text)
{
    const char *sql =
        TEXT(s->w,
             text ? "select count(*) from %.*s t where exists (select 1 from users u where "
                    "u.username = 'deleted_' || u.id and t.\"%.*s\" like '%%' || u.id || '%%')"
                  : "select count(*) from %.*s where \"%.*s\" in (select id from users where "
                    "username = 'deleted_' || id)",
             STR_ARGS(table), STR_ARGS(column));
    struct rows row;
    bool found;
    enum err e = tx_one(tx, test_sql(sql), NO_BIND, &row, &found);
    char name[200];

    snprintf(name, sizeof name, "%.*s.%.*s", STR_ARGS(table), STR_ARGS(column));
    size_t n = strlen(s->found);
    if (!e && row_int(&row, 0) && !is_documented_column(name))
        snprintf(s->found + n, sizeof s->found - n, " %s (%lld)", name,
                 (long long)row_int(&row, 0));
    return e;
}

static const char COLUMNS_SQLITE[] =
    "select m.name, c.name, lower(c.type) from sqlite_master m join pragma_table_info(m.name) c "
    "where m.type = 'table' and m.sql not like '%virtual%' and m.name not like 'message_index%' "
    "and m.name not like 'gif_index%'";
static const char COLUMNS_POSTGRES[] =
    "select cast(table_name as text), cast(column_name as text), cast(data_type as text) "
    "from information_schema.columns where table_schema = current_schema() and table_name not in "
    "(select table_name from information_schema.views)";

static enum err search_all(struct tx *tx, void *arg)
{
    struct leak_search *s = arg;
    bool sqlite = !world_config(s->w)->store;
    struct list columns = { 0 };
    struct rows rows;
    enum err e = tx_query(tx, sqlite ? SQL(COLUMNS_SQLITE) : SQL(COLUMNS_POSTGRES), NO_BIND, &rows);

    while (!e && rows_next(&rows)) {
        struct str *c = list_append(tx_arena(tx), &columns, 3 * sizeof *c);

        for (int i = 0; i < 3; i++)
            c[i] = row_text(&rows, i);
    }
    if (!e)
        e = rows_end(&rows);
    expect(columns.count > 300);
    const struct str *all = columns.items;
    for (size_t i = 0; i < columns.count && !e; i++, all += 3) {
        bool number = str_is(all[2], "bigint") || str_is(all[2], "integer");

        if (number || (str_is(all[2], "text") && account_count() <= 100))
            e = search_column(tx, s, all[0], all[1], !number);
    }
    return e;
}

static void erased_account_ids_remain_only_in_documented_columns(struct world *w)
{
    struct client *friend = register_numbered_user(w, 0);
    const char *guild = answer_text(client_post(friend, "{'name': 'Shared'}", "/guilds"), "id");
    const char *channel =
        answer_text(client_post(friend, "{'name': 'here'}", "/guilds/%s/channels", guild), "id");
    int count = account_count();

    expect_status(client_post(friend, "{'name': 'Game'}", "/applications"), 201);
    for (int i = 1; i <= count; i++) {
        struct client *c = register_numbered_user(w, i);

        create_rows_of_account_in_all_tables(w, c, friend, guild, channel);
        world_settle(w);
        expect_status(client_post(c, "{'password': 'correct horse'}", "/users/@me/delete"), 204);
        world_wait(w, 14 * DAY + 60);
        world_settle(w);
    }
    world_wait(w, 60 * DAY); /* exports and upload logs have expired as well */
    world_settle(w);
    expect(store_count(w, "select count(*) from users where username = 'deleted_' || id") == count);
    struct leak_search s = { .w = w };
    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_READ,
                                          world_arena(w), search_all, &s) == OK);
    if (s.found[0])
        fail_test(__FILE__, __LINE__, "ids of erased accounts are left in:%s", s.found);
    expect_files(w, "avatars", 0);
    expect_files(w, "attachments", count);
    expect_files(w, "exports", 0);
}

const struct test erasure_tests[] = {
    TEST(erased_account_ids_remain_only_in_documented_columns),
    { 0 },
};
