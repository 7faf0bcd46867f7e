/* files.c - files never outlive what they belong to, and nobody has too many. */
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

/* Gives a picture, another one, and takes it away. */
static void picture_comes_and_goes(struct client *c, const char *field, const char *area,
                                   const char *path)
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

static void a_picture_goes_when_another_or_none_takes_its_place(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *guild = TEXT(w, "/guilds/%s", v.id);
    struct answer group = client_post(ada, "{'recipients': []}", "/users/@me/channels"),
                  hook = client_post(ada, "{'name': 'Post'}", "/channels/%s/webhooks", v.channel);

    picture_comes_and_goes(ada, "avatar", "avatars", "/users/@me");
    picture_comes_and_goes(ada, "banner", "banners", "/users/@me");
    picture_comes_and_goes(ada, "icon", "icons", guild);
    picture_comes_and_goes(ada, "banner", "banners", guild);
    picture_comes_and_goes(ada, "splash", "splashes", guild);
    picture_comes_and_goes(ada, "discovery_splash", "discovery-splashes", guild);
    picture_comes_and_goes(ada, "home_header", "home-headers", guild);
    picture_comes_and_goes(ada, "icon", "role-icons",
                           TEXT(w, "%s/roles/%s", guild, test_guild_role(&v, 1, 0)));
    picture_comes_and_goes(ada, "avatar", "member-avatars", TEXT(w, "%s/members/@me", guild));
    picture_comes_and_goes(ada, "banner", "member-banners", TEXT(w, "%s/members/@me", guild));
    picture_comes_and_goes(ada, "avatar", "avatars",
                           TEXT(w, "/webhooks/%s", answer_text(hook, "id")));
    picture_comes_and_goes(ada, "icon", "channel-icons",
                           TEXT(w, "/channels/%s", answer_text(group, "id")));
    picture_comes_and_goes(ada, "icon", "app-icons",
                           TEXT(w, "/applications/%s", make_application(ada, "App")));
    picture_comes_and_goes(ada, "icon", "team-icons", TEXT(w, "/teams/%s", make_team(ada, "Us")));
    expect_number(w, 0, "select count(*) from files");
}

static void pictures_go_with_what_they_show(struct world *w)
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

static void a_refused_picture_leaves_nothing(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    /* The icon is written, then the owner's successor is looked for. */
    expect_error(client_patch(ada, "{'icon': '" PNG "', 'owner_id': '77'}", "/guilds/%s", v.id),
                 404, 10007);
    expect_files(w, "", 0);
    expect_number(w, 0, "select count(*) from files");
}

/* --- after a crash -------------------------------------------------------------------- */

/* What a process that died between writing and committing has left. */
static void leave_file(struct world *w, const char *name, const char *note, bool blob)
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

static void files_without_a_row_are_collected_at_the_start(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me");
    const char *hash = answer_text(a, "avatar");

    expect_files(w, "avatars", 1);
    leave_file(w, TEXT(w, "avatars/%s/77", ada->id), TEXT(w, "avatars+%s+77", ada->id), true);
    leave_file(w, NULL, TEXT(w, "avatars+%s+%s", ada->id, hash), false);
    expect(files_in(w, "avatars") == 2 && file_notes(w) == 2);
    world_restart(w);
    expect_files(w, "avatars", 1);
    a = client_request(ada, "GET", TEXT(w, "/avatars/%s/%s.png", ada->id, hash), NULL,
                       (struct str){ 0 });
    expect_status(a, 200);
}

static void many_files_without_a_row_are_collected_page_by_page(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me");
    for (int i = 0; i < 150; i++)
        leave_file(w, TEXT(w, "avatars/%s/x%d", ada->id, i), TEXT(w, "avatars+%s+x%d", ada->id, i),
                   true);
    world_restart(w);
    expect_files(w, "avatars", 1);
}

static void files_that_were_marked_go_after_a_restart(struct world *w)
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

static void a_file_whose_bytes_are_missing_is_forgotten(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_sql(w,
              "insert into files (id, name, owner_id, size, created_at, gone) "
              "values (77, 'avatars/1/gone', %s, 5, 0, 1)",
              ada->id);
    world_restart(w);
    expect_number(w, 0, "select count(*) from files");
}

/* --- damage --------------------------------------------------------------------------- */

static void truncate_blob(struct world *w, const char *name, long size)
{
    char path[400];

    snprintf(path, sizeof path, "%s/blobs/%s", world_folder(w), name);
    expect((size < 0 ? unlink(path) : truncate(path, size)) == 0);
}

/* Never as a shorter file with 200, and one line in the log for many requests. */
static void a_file_that_is_missing_or_too_short_is_an_error(struct world *w)
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
        truncate_blob(w, blob, size);
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

static struct answer send_bytes(struct client *c, const char *channel, size_t size)
{
    char *bytes = mem_new(size);
    const struct upload u[] = { { "files[0]", "x", { bytes, size } }, { 0 } };
    struct answer a = client_upload(c, "POST", NULL, u, MESSAGES, channel);

    mem_free(bytes);
    return a;
}

static void allow_a_mebibyte(struct config *config)
{
    config->upload_quota_mib = 1;
}

static void an_account_keeps_as_much_as_its_quota(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    struct answer first = send_bytes(ada, v.channel, HALF);

    expect_status(first, 200);
    expect_status(send_bytes(ada, v.channel, HALF), 200);
    expect_error(send_bytes(ada, v.channel, 1), 413, 40005);
    expect_error(client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me"), 413, 40005);
    expect_files(w, "", 2);
    expect_status(send_bytes(bob, v.channel, 1), 200);
    expect_files(w, "", 3);

    /* What goes is given back. */
    expect_status(
        client_delete(ada, "/channels/%s/messages/%s", v.channel, answer_text(first, "id")), 204);
    expect_files(w, "", 2);
    expect_number(w, 0, "select count(*) from files where gone = 1");
    expect_error(send_bytes(ada, v.channel, HALF + 1), 413, 40005);
    expect_status(send_bytes(ada, v.channel, HALF), 200);
    world_restart(w);
    expect_error(send_bytes(ada, v.channel, 1), 413, 40005);
}

static void allow_a_mebibyte_a_day(struct config *config)
{
    config->upload_quota_daily_mib = 1;
}

static void an_account_uploads_as_much_a_day_as_it_may(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = send_bytes(ada, v.channel, 2 * HALF);

    expect_status(a, 200);
    expect_status(client_delete(ada, "/channels/%s/messages/%s", v.channel, answer_text(a, "id")),
                  204);
    expect_files(w, "", 0);
    expect_error(send_bytes(ada, v.channel, 1), 413, 40005);
    world_wait(w, 86400);
    expect_status(send_bytes(ada, v.channel, 2 * HALF), 200);
    expect_error(send_bytes(ada, v.channel, 1), 413, 40005);
}

static void files_of_a_webhook_count_for_who_made_it(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer h = client_post(ada, "{'name': 'Post'}", "/channels/%s/webhooks", v.channel);
    char *bytes = mem_new(2 * HALF);
    const struct upload u[] = { { "files[0]", "x", { bytes, 2 * HALF } }, { 0 } };

    expect_status(client_upload(world_stranger(w), "POST", NULL, u, "/webhooks/%s/%s",
                                answer_text(h, "id"), answer_text(h, "token")),
                  204);
    mem_free(bytes);
    expect_error(send_bytes(ada, v.channel, 1), 413, 40005);
}

const struct test files_tests[] = {
    TEST(a_picture_goes_when_another_or_none_takes_its_place),
    TEST(pictures_go_with_what_they_show),
    TEST(a_refused_picture_leaves_nothing),
    TEST(files_without_a_row_are_collected_at_the_start),
    TEST(many_files_without_a_row_are_collected_page_by_page),
    TEST(files_that_were_marked_go_after_a_restart),
    TEST(a_file_whose_bytes_are_missing_is_forgotten),
    TEST(a_file_that_is_missing_or_too_short_is_an_error),
    TEST_WITH(an_account_keeps_as_much_as_its_quota, allow_a_mebibyte),
    TEST_WITH(an_account_uploads_as_much_a_day_as_it_may, allow_a_mebibyte_a_day),
    TEST_WITH(files_of_a_webhook_count_for_who_made_it, allow_a_mebibyte),
    { 0 },
};
