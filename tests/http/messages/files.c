/* files.c - deletion of files with their objects, and upload quotas. */
#include "files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "apps.h"
#include "base/mem.h"
#include "platforms.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES "/channels/%s/messages"

/* --- pictures ------------------------------------------------------------------------- */

/* Sets an image, replaces it, and removes it. */
static void check_image_is_set_replaced_and_removed(struct client *c, const char *field,
                                                    const char *area, const char *path)
{
    const char *give = TEXT(c->world, "{'%s': '" PNG "'}", field);
    struct answer a = client_patch(c, give, "%s", path);

    expect_status(a, 200);
    const char *first = answer_text(a, field);
    expect_files(c->world, area, 1);
    a = client_patch(c, give, "%s", path);
    expect(strcmp(first, answer_text(a, field)) != 0);
    expect_files(c->world, area, 1);
    expect_status(client_patch(c, TEXT(c->world, "{'%s': null}", field), "%s", path), 200);
    expect_files(c->world, area, 0);
}

static void replaced_or_removed_images_are_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *guild = TEXT(w, "/guilds/%s", v.id);
    struct answer group = client_post(ada, "{'recipients': []}", "/users/@me/channels"),
                  hook = client_post(ada, "{'name': 'Post'}", "/channels/%s/webhooks", v.channel);

    check_image_is_set_replaced_and_removed(ada, "avatar", "avatars", "/users/@me");
    check_image_is_set_replaced_and_removed(ada, "banner", "banners", "/users/@me");
    check_image_is_set_replaced_and_removed(ada, "icon", "icons", guild);
    check_image_is_set_replaced_and_removed(ada, "banner", "banners", guild);
    check_image_is_set_replaced_and_removed(ada, "splash", "splashes", guild);
    check_image_is_set_replaced_and_removed(ada, "discovery_splash", "discovery-splashes", guild);
    check_image_is_set_replaced_and_removed(ada, "home_header", "home-headers", guild);
    check_image_is_set_replaced_and_removed(
        ada, "icon", "role-icons", TEXT(w, "%s/roles/%s", guild, test_guild_role(&v, 1, 0)));
    check_image_is_set_replaced_and_removed(ada, "avatar", "member-avatars",
                                            TEXT(w, "%s/members/@me", guild));
    check_image_is_set_replaced_and_removed(ada, "banner", "member-banners",
                                            TEXT(w, "%s/members/@me", guild));
    check_image_is_set_replaced_and_removed(ada, "avatar", "avatars",
                                            TEXT(w, "/webhooks/%s", answer_text(hook, "id")));
    check_image_is_set_replaced_and_removed(ada, "icon", "channel-icons",
                                            TEXT(w, "/channels/%s", answer_text(group, "id")));
    check_image_is_set_replaced_and_removed(
        ada, "icon", "app-icons", TEXT(w, "/applications/%s", make_application(ada, "App")));
    check_image_is_set_replaced_and_removed(ada, "icon", "team-icons",
                                            TEXT(w, "/teams/%s", make_team(ada, "Us")));
    expect_number(w, 0, "select count(*) from files");
}

static void deleting_an_object_deletes_its_images(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    struct answer hook = client_post(ada, "{'name': 'Post', 'avatar': '" PNG "'}",
                                     "/channels/%s/webhooks", v.channel);
    struct answer role = client_post(ada, "{'icon': '" PNG "'}", "/guilds/%s/roles", v.id);
    struct answer team = client_post(ada, "{'name': 'Us', 'icon': '" PNG "'}", "/teams");
    struct answer app = client_post(ada, "{'name': 'App', 'icon': '" PNG "'}", "/applications");

    client_patch(bob, "{'avatar': '" PNG "'}", "/guilds/%s/members/@me", v.id);
    expect_files(w, "", 5);
    expect_status(client_delete(ada, "/webhooks/%s", answer_text(hook, "id")), 204);
    expect_files(w, "", 4);
    expect_status(client_delete(ada, "/guilds/%s/roles/%s", v.id, answer_text(role, "id")), 204);
    expect_files(w, "", 3);
    expect_status(client_post(ada, "{}", "/teams/%s/delete", answer_text(team, "id")), 204);
    expect_files(w, "", 2);
    expect_status(client_post(ada, "{}", "/applications/%s/delete", answer_text(app, "id")), 204);
    expect_files(w, "", 1);
    expect_status(client_delete(bob, "/users/@me/guilds/%s", v.id), 204);
    expect_files(w, "", 0);
}

static void refused_image_change_leaves_no_file(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    /* The icon is written before the new owner is checked. */
    expect_error(client_patch(ada, "{'icon': '" PNG "', 'owner_id': '77'}", "/guilds/%s", v.id),
                 404, 10007);
    expect_files(w, "", 0);
    expect_number(w, 0, "select count(*) from files");
}

/* --- after a crash -------------------------------------------------------------------- */

/* Creates files as a process leaves them that crashed between writing and committing. */
static void create_orphan_file(struct world *w, const char *name, const char *note, bool blob)
{
    const struct utimbuf old = { 1, 1 };
    char path[400];

    for (int i = 0; i < 2; i++) {
        if (i == 0 && !blob)
            continue;
        snprintf(path, sizeof path, "%s/blobs/%s%s", world_folder(w), i ? ".new/" : "",
                 i ? note : name);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        expect(fd >= 0);
        close(fd);
        expect(utime(path, &old) == 0);
    }
}

static void orphaned_files_are_deleted_at_server_start(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me");
    const char *hash = answer_text(a, "avatar");

    expect_files(w, "avatars", 1);
    create_orphan_file(w, TEXT(w, "avatars/%s/77", ada->id), TEXT(w, "avatars+%s+77", ada->id),
                       true);
    create_orphan_file(w, NULL, TEXT(w, "avatars+%s+%s", ada->id, hash), false);
    expect(files_in(w, "avatars") == 2 && file_notes(w) == 2);
    world_restart(w);
    expect_files(w, "avatars", 1);
    a = client_request(ada, "GET", TEXT(w, "/avatars/%s/%s.png", ada->id, hash), NULL,
                       (struct str){ 0 });
    expect_status(a, 200);
}

static void many_orphaned_files_are_deleted_in_pages(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me");
    for (int i = 0; i < 150; i++)
        create_orphan_file(w, TEXT(w, "avatars/%s/x%d", ada->id, i),
                           TEXT(w, "avatars+%s+x%d", ada->id, i), true);
    world_restart(w);
    expect_files(w, "avatars", 1);
}

static void files_marked_for_deletion_are_deleted_after_a_restart(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me");
    expect_files(w, "avatars", 1);
    world_sql(w, "update users set avatar = null where id = %s", ada->id);
    world_sql(w, "update files set gone = 1");
    world_restart(w);
    expect_files(w, "avatars", 0);
    expect_number(w, 0, "select count(*) from files");
}

static void row_of_a_missing_file_is_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_sql(w,
              "insert into files (id, name, owner_id, size, created_at, gone) "
              "values (77, 'avatars/1/gone', %s, 5, 0, 1)",
              ada->id);
    world_restart(w);
    expect_number(w, 0, "select count(*) from files");
}

/* --- damaged files -------------------------------------------------------------------- */

static void truncate_stored_file(struct world *w, const char *name, long size)
{
    char path[400];

    snprintf(path, sizeof path, "%s/blobs/%s", world_folder(w), name);
    expect((size < 0 ? unlink(path) : truncate(path, size)) == 0);
}

/* Never a shorter file with status 200, and one log line for many requests. */
static void missing_or_truncated_file_is_500_and_logged_once(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me");
    const char *hash = answer_text(a, "avatar");
    const char *blob = TEXT(w, "avatars/%s/%s", ada->id, hash);
    char path[200];

    snprintf(path, sizeof path, "/avatars/%s/%s.png", ada->id, hash);
    expect_number(w, 64, "select length(digest) from files");
    expect_status(client_request(ada, "GET", path, NULL, (struct str){ 0 }), 200);
    for (long size = 10; size >= -1; size -= 11) {
        world_log_begin(w);
        truncate_stored_file(w, blob, size);
        expect_status(client_request(ada, "GET", path, NULL, (struct str){ 0 }), 500);
        expect_status(client_request(ada, "GET", path, NULL, (struct str){ 0 }), 500);
        const char *log = world_log_end(w), *line = strstr(log, blob);
        if (size >= 0)
            expect(line && strstr(line, "has 10 bytes instead of ") && !strstr(line + 1, blob));
    }
    expect_number(w, 1, "select count(*) from files where gone = 0");
    world_sql(w, "update files set gone = 1");
    expect_status(client_request(ada, "GET", path, NULL, (struct str){ 0 }), 404);
}

/* --- quotas --------------------------------------------------------------------------- */

enum { HALF = 512 * 1024 };

static struct answer upload_bytes(struct client *c, const char *channel, size_t size)
{
    char *bytes = mem_new(size);
    const struct upload u[] = { { "files[0]", "x", { bytes, size } }, { 0 } };
    struct answer a = client_upload(c, "POST", NULL, u, MESSAGES, channel);

    mem_free(bytes);
    return a;
}

static void configure_quota_of_1_mib(struct config *config)
{
    config->upload_quota_mib = 1;
}

static void uploads_over_the_accounts_quota_are_413(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    struct answer first = upload_bytes(ada, v.channel, HALF);

    expect_status(first, 200);
    expect_status(upload_bytes(ada, v.channel, HALF), 200);
    expect_error(upload_bytes(ada, v.channel, 1), 413, 40005);
    expect_error(client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me"), 413, 40005);
    expect_files(w, "", 2);
    expect_status(upload_bytes(bob, v.channel, 1), 200);
    expect_files(w, "", 3);

    /* Deleted files free the quota. */
    expect_status(
        client_delete(ada, "/channels/%s/messages/%s", v.channel, answer_text(first, "id")), 204);
    expect_files(w, "", 2);
    expect_number(w, 0, "select count(*) from files where gone = 1");
    expect_error(upload_bytes(ada, v.channel, HALF + 1), 413, 40005);
    expect_status(upload_bytes(ada, v.channel, HALF), 200);
    world_restart(w);
    expect_error(upload_bytes(ada, v.channel, 1), 413, 40005);
}

static void configure_daily_quota_of_1_mib(struct config *config)
{
    config->upload_quota_daily_mib = 1;
}

static void uploads_over_the_daily_quota_are_413(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = upload_bytes(ada, v.channel, 2 * HALF);

    expect_status(a, 200);
    expect_status(client_delete(ada, "/channels/%s/messages/%s", v.channel, answer_text(a, "id")),
                  204);
    expect_files(w, "", 0);
    expect_error(upload_bytes(ada, v.channel, 1), 413, 40005);
    world_wait(w, 86400);
    expect_status(upload_bytes(ada, v.channel, 2 * HALF), 200);
    expect_error(upload_bytes(ada, v.channel, 1), 413, 40005);
}

static void files_sent_by_a_webhook_count_for_its_creators_quota(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer h = client_post(ada, "{'name': 'Post'}", "/channels/%s/webhooks", v.channel);
    char *bytes = mem_new(2 * HALF);
    const struct upload u[] = { { "files[0]", "x", { bytes, 2 * HALF } }, { 0 } };

    expect_status(client_upload(world_anonymous(w), "POST", NULL, u, "/webhooks/%s/%s",
                                answer_text(h, "id"), answer_text(h, "token")),
                  204);
    mem_free(bytes);
    expect_error(upload_bytes(ada, v.channel, 1), 413, 40005);
}

const struct test files_tests[] = {
    TEST(replaced_or_removed_images_are_deleted),
    TEST(deleting_an_object_deletes_its_images),
    TEST(refused_image_change_leaves_no_file),
    TEST(orphaned_files_are_deleted_at_server_start),
    TEST(many_orphaned_files_are_deleted_in_pages),
    TEST(files_marked_for_deletion_are_deleted_after_a_restart),
    TEST(row_of_a_missing_file_is_deleted),
    TEST(missing_or_truncated_file_is_500_and_logged_once),
    TEST_WITH(uploads_over_the_accounts_quota_are_413, configure_quota_of_1_mib),
    TEST_WITH(uploads_over_the_daily_quota_are_413, configure_daily_quota_of_1_mib),
    TEST_WITH(files_sent_by_a_webhook_count_for_its_creators_quota, configure_quota_of_1_mib),
    { 0 },
};
