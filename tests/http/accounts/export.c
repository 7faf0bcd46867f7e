/* export.c - exporting all stored data of a user as a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "apps.h"
#include "people.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

#define HARVEST "/users/@me/harvest"

static bool export_is_ready(struct client *c)
{
    const struct dom *status = dom_at(client_get(c, HARVEST).json, "status");

    return status && str_is(status->text, "2");
}

static struct str download_export(struct client *c, const char *id)
{
    struct answer a = client_get(c, HARVEST "/%s", id);

    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "application/x-tar"));
    return a.body;
}

/* The bytes of a file in a tar; p == NULL: there is none of that name. */
static struct str tar_find(struct str tar, const char *name)
{
    for (size_t at = 0; at + 512 <= tar.n && tar.p[at];) {
        char octal[12] = { 0 };

        memcpy(octal, tar.p + at + 124, 11);
        size_t size = strtoul(octal, NULL, 8);

        if (strcmp(tar.p + at, name) == 0)
            return str_slice(tar.p + at + 512, size);
        at += 512 + (size + 511) / 512 * 512;
    }
    return (struct str){ 0 };
}

static bool contains_text(struct str text, const char *words)
{
    return text.n && memmem(text.p, text.n, words, strlen(words));
}

static void export_contains_all_data_of_its_user_and_is_private(struct world *w)
{
    struct people p = world_people(w);
    const struct upload uploads[] = {
        { .name = "files[0]", .filename = "a.txt", .bytes = STR("bytes of a file") }, { 0 }
    };

    expect_status(client_patch(p.ada, "{'bio': 'who I am', 'avatar': '" PNG "'}", "/users/@me"),
                  200);
    ask_and_accept(p.ada, p.bob);
    const char *channel = answer_text(
        client_post(p.ada, TEXT(w, "{'recipient_id': '%s'}", p.bob->id), "/users/@me/channels"),
        "id");
    /* 130 messages need more than one page. */
    for (int i = 0; i < 130; i++)
        expect_status(client_post(p.ada, TEXT(w, "{'content': 'my words %d'}", i),
                                  "/channels/%s/messages", channel),
                      200);
    expect_status(
        client_post(p.bob, "{'content': 'words of Bob'}", "/channels/%s/messages", channel), 200);
    struct answer sent = client_upload(p.ada, "POST", "{'content': 'with a file'}", uploads,
                                       "/channels/%s/messages", channel);
    expect_status(sent, 200);

    expect_error(client_get(p.ada, HARVEST), 404, 0);
    struct answer a = client_post(p.ada, "{}", HARVEST);
    expect_status(a, 200);
    const char *id = answer_text(a, "harvest_id");
    /* A second request returns the same export. */
    expect_json(client_post(p.ada, "{}", HARVEST), "{'harvest_id': '%s'}", id);
    expect_soon(export_is_ready(p.ada));
    struct str tar = download_export(p.ada, id);
    expect(contains_text(tar_find(tar, "account-0001.jsonl"), "\"bio\":\"who I am\""));
    expect(contains_text(tar_find(tar, "relationships-0001.jsonl"), p.bob->id));
    expect(contains_text(tar_find(tar, "messages-0001.jsonl"), "\"my words 99\""));
    expect(!contains_text(tar_find(tar, "messages-0001.jsonl"), "\"my words 100\""));
    expect(contains_text(tar_find(tar, "messages-0002.jsonl"), "\"my words 129\""));
    expect(!contains_text(tar, "words of Bob") && !contains_text(tar, "argon2"));
    expect(tar_find(tar, "files/avatars").n > 50);
    const char *name =
        TEXT(w, "files/%s/%s", answer_text(sent, "id"), answer_text(sent, "attachments.0.id"));
    expect(str_is(tar_find(tar, name), "bytes of a file"));
    expect(tar.n % 512 == 0);

    expect_error(client_get(p.bob, HARVEST "/%s", id), 404, 0);
    expect_error(client_get(world_anonymous(w), HARVEST "/%s", id), 401, 0);
    expect_error(client_get(p.ada, HARVEST "/%s", p.ada->id), 404, 0);
    struct stat st;
    const char *path = TEXT(w, "%s/exports/%s.tar", world_folder(w), id);
    expect(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);

    /* The export expires after a week; another one can be requested. */
    world_wait(w, 7 * 86400 + 1);
    expect_error(client_get(p.ada, HARVEST "/%s", id), 404, 0);
    expect_soon(client_get(p.ada, HARVEST).status == 404);
    expect(access(path, F_OK) != 0);
    a = client_post(p.ada, "{}", HARVEST);
    expect(strcmp(answer_text(a, "harvest_id"), id) != 0);
    expect_soon(export_is_ready(p.ada));
}

/* A page has 100 rows, and pages are ordered by creation time. */
static void export_contains_sessions_with_equal_creation_times(struct world *w)
{
    struct people p = world_people(w);
    int count = 0;

    for (int i = 0; i < 205; i++)
        store_write(w,
                    "insert into tokens (id, kind, user_id, digest, created_at, client) values "
                    "($1, 0, $2, $1, $3, 'session')",
                    BIND(v_bytes(str_printf(world_arena(w), "token%d", i)), v_client(p.ada),
                         v_int(i < 50    ? 1000 + i
                               : i < 155 ? 5000
                                         : 9000 + i)));
    const char *id = answer_text(client_post(p.ada, "{}", HARVEST), "harvest_id");
    expect_soon(export_is_ready(p.ada));
    struct str tar = download_export(p.ada, id);
    for (size_t i = 0; i + 19 <= tar.n; i++)
        count += memcmp(tar.p + i, "\"client\":\"session\"", 18) == 0;
    expect(count == 205);
}

/* More than a page may have, in few rows. */
static bool no_message_indexing_job_is_pending(struct world *w)
{
    world_wait(w, 1);
    return world_number(w, "select count(*) from jobs where kind = 'message-indexing'") == 0;
}

static void export_splits_long_messages_into_pages_of_limited_size(struct world *w)
{
    enum { MESSAGES = 12, LONG = 400 * 1000 };
    struct people p = world_people(w);
    struct test_guild v = world_test_guild(w, p.ada);
    char *words = arena_alloc(world_arena(w), LONG);

    for (int i = 0; i < MESSAGES; i++)
        expect_status(client_post(p.ada, TEXT(w, "{'content': 'end%d'}", i),
                                  "/channels/%s/messages", v.channel),
                      200);
    memset(words, 'x', LONG);
    /* The messages are not indexed for search while their rows are enlarged. */
    world_settle(w);
    expect_soon(no_message_indexing_job_is_pending(w));
    store_write(w, "update messages set content = $1 || content",
                BIND(v_text(str_slice(words, LONG))));
    const char *id = answer_text(client_post(p.ada, "{}", HARVEST), "harvest_id");
    expect_soon(export_is_ready(p.ada));
    struct str tar = download_export(p.ada, id);
    for (int i = 0; i < MESSAGES; i++)
        expect(contains_text(tar, TEXT(w, "xend%d\"", i)));
    expect(tar_find(tar, "messages-0006.jsonl").n > LONG);
    expect(!tar_find(tar, "messages-0007.jsonl").p);
}

/* Resets the export job to its last step, before the end of the tar was recorded. */
static void reset_export_job_to_beginning(struct world *w, struct client *c, struct str whole)
{
    struct str noted = str_slice(whole.p, whole.n - 1024);
    unsigned long tail = crc32(0, (const unsigned char *)noted.p + noted.n - 512, 512);

    store_write(w, "update exports set ready = 0 where user_id = $1", BIND(v_client(c)));
    store_write(
        w, "insert into jobs (kind, key, due, data) values ('export', $1, 0, $2)",
        BIND(v_client(c), v_text(str_printf(world_arena(w), "99 0 0 %zu %lu", noted.n, tail))));
    world_restart(w);
}

/* Bytes written after the last recorded page by a crashed process are truncated. */
static void interrupted_export_continues_at_the_recorded_offset(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = answer_text(client_post(ada, "{}", HARVEST), "harvest_id");
    const char *path = TEXT(w, "%s/exports/%s.tar", world_folder(w), id);

    expect_soon(export_is_ready(ada));
    struct str whole = download_export(ada, id);
    FILE *f = fopen(path, "a");
    expect(f && fputs("half a page", f) >= 0 && fclose(f) == 0);
    reset_export_job_to_beginning(w, ada, whole);
    expect_soon(export_is_ready(ada));
    expect(str_eq(download_export(ada, id), whole));
}

/* Servers with separate folders may run steps of one job: an export file that differs from the
 * recorded one is written again. */
static void export_restarts_when_its_file_is_missing_or_different(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = answer_text(client_post(ada, "{}", HARVEST), "harvest_id");
    const char *path = TEXT(w, "%s/exports/%s.tar", world_folder(w), id);

    expect_soon(export_is_ready(ada));
    struct str whole = download_export(ada, id);
    for (int is_other = 0; is_other < 2; is_other++) {
        FILE *f = fopen(path, "w");

        for (size_t i = 0; f && is_other && i < whole.n; i++)
            fputc('x', f);
        expect(f && fclose(f) == 0);
        reset_export_job_to_beginning(w, ada, whole);
        expect_soon(export_is_ready(ada));
        struct str again = download_export(ada, id);
        expect(again.n == whole.n && contains_text(tar_find(again, "account-0001.jsonl"), ada->id));
    }
}

static void configure_quota_of_1_mib(struct config *config)
{
    config->upload_quota_mib = 1;
}

static struct answer upload_bytes(struct client *c, const char *channel, size_t n)
{
    char *bytes = memset(arena_alloc(world_arena(c->world), n), 'x', n);
    const struct upload u[] = { { "files[0]", "a.bin", str_slice(bytes, n) }, { 0 } };

    return client_upload(c, "POST", NULL, u, "/channels/%s/messages", channel);
}

/* An export contains copies of all files of the account, which count for its quota. */
static void export_size_counts_towards_the_upload_quota(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);

    expect_status(upload_bytes(ada, v.channel, 400 * 1024), 200);
    expect_status(client_post(ada, "{}", HARVEST), 200);
    expect_soon(export_is_ready(ada));
    /* 400 KiB, their copy, and 300 KiB are more than a mebibyte. */
    expect_error(upload_bytes(ada, v.channel, 300 * 1024), 413, 40005);
    expect_status(upload_bytes(ada, v.channel, 200 * 1024), 200);
    /* Requesting an existing export again succeeds and counts once. */
    expect_status(client_post(ada, "{}", HARVEST), 200);
    expect(world_number(w, "select bytes from file_owners where owner_id = %s", ada->id) ==
           1000 * 1024);
    world_wait(w, 7 * 24 * 3600 + 60);
    expect_soon(client_get(ada, HARVEST).status == 404);
    expect(world_number(w, "select bytes from file_owners where owner_id = %s", ada->id) ==
           600 * 1024);
    expect_error(client_post(ada, "{}", HARVEST), 413, 40005);

    /* With at most half of the quota used there is space for the export. */
    expect_status(upload_bytes(bob, v.channel, 512 * 1024), 200);
    expect_status(client_post(bob, "{}", HARVEST), 200);
    expect_status(client_post(world_client(w, "eve"), "{}", HARVEST), 200);
}

static void erasing_an_account_deletes_its_export(struct world *w)
{
    struct answer a = client_post(
        world_anonymous(w), "{'username': 'gone', 'password': 'correct horse'}", "/auth/register");
    struct client *c = world_client_with(w, answer_text(a, "token"));
    const char *id = answer_text(client_post(c, "{}", HARVEST), "harvest_id");
    const char *path = TEXT(w, "%s/exports/%s.tar", world_folder(w), id);

    expect_soon(export_is_ready(c));
    /* The export would expire after the two weeks until the account is erased. */
    world_sql(w, "update exports set expires_at = expires_at + 8640000000000");
    world_sql(w, "update jobs set due = due + 8640000000000 where kind = 'export-expiry'");
    expect_status(client_post(c, "{'password': 'correct horse'}", "/users/@me/delete"), 204);
    world_wait(w, 14 * 86400 + 1);
    world_settle(w);
    world_wait(w, 601);
    expect_soon(access(path, F_OK) != 0);
    world_settle(w);
    expect(world_number(w, "select count(*) from exports") == 0);
}

/* --- files that another server's job did not find ------------------------------------- */

static bool export_is_there(struct world *w, const char *name)
{
    return access(TEXT(w, "%s/exports/%s", world_folder(w), name), F_OK) == 0;
}

static void create_export_file(struct world *w, const char *name)
{
    FILE *f = fopen(TEXT(w, "%s/exports/%s", world_folder(w), name), "w");

    expect(f && fputs("about somebody", f) >= 0 && fclose(f) == 0);
}

enum { LEFT = 150 }; /* more than two steps delete */

static const char *orphan_file_name(struct world *w, int i)
{
    return TEXT(w, "%d.tar", 1000 + i);
}

static bool orphan_files_are_deleted(struct world *w)
{
    for (int i = 0; i < LEFT; i++)
        if (export_is_there(w, orphan_file_name(w, i)))
            return false;
    return true;
}

static void orphaned_export_files_are_deleted_at_start_and_daily(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = answer_text(client_post(ada, "{}", HARVEST), "harvest_id");
    const char *own = TEXT(w, "%s.tar", id);

    expect_soon(export_is_ready(ada));
    struct str whole = download_export(ada, id);
    create_export_file(w, "notes.txt");
    for (int days = 0; days < 2; days++) {
        for (int i = 0; i < LEFT; i++)
            create_export_file(w, orphan_file_name(w, i));
        if (days)
            world_wait(w, 86400 + 1);
        else
            world_restart(w);
        expect_soon(orphan_files_are_deleted(w));
        expect(str_eq(download_export(ada, id), whole));
        expect(export_is_there(w, "notes.txt"));
    }
    /* The row of the expired export still exists, but the export can no longer be downloaded. */
    world_sql(w, "update jobs set due = due + 8640000000000 where kind = 'export-expiry'");
    world_wait(w, 7 * 86400);
    expect_soon(!export_is_there(w, own));
    expect(world_number(w, "select count(*) from exports") == 1);
}

/* The export is not ready yet, but its job is running. */
static void file_of_an_unfinished_export_is_not_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = answer_text(client_post(ada, "{}", HARVEST), "harvest_id");

    expect_soon(export_is_ready(ada));
    world_sql(w, "update exports set ready = 0, expires_at = 0");
    create_export_file(w, orphan_file_name(w, 0));
    world_restart(w);
    expect_soon(!export_is_there(w, orphan_file_name(w, 0)));
    world_settle(w);
    expect(export_is_there(w, TEXT(w, "%s.tar", id)));
}

const struct test export_tests[] = {
    TEST(export_contains_all_data_of_its_user_and_is_private),
    TEST(export_contains_sessions_with_equal_creation_times),
    TEST(export_splits_long_messages_into_pages_of_limited_size),
    TEST(interrupted_export_continues_at_the_recorded_offset),
    TEST(export_restarts_when_its_file_is_missing_or_different),
    TEST_WITH(export_size_counts_towards_the_upload_quota, configure_quota_of_1_mib),
    TEST(erasing_an_account_deletes_its_export),
    TEST(orphaned_export_files_are_deleted_at_start_and_daily),
    TEST(file_of_an_unfinished_export_is_not_deleted),
    { 0 },
};
