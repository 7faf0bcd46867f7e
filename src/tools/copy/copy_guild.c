/* copy_guild.c - `guildhall copy-guild` and `guildhall export-guild`. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "admin/control/control.h"
#include "base/clock.h"
#include "server/guildhall.h"
#include "tools/copy/copy.h"
#include "tools/copy/download/download.h"
#include "tools/copy/follow/follow.h"
#include "tools/copy/import/import.h"

#define OFFSET(member) offsetof(struct command_settings, copy.member)
#define SOURCE_OPTIONS                                                                           \
    { "from", OPTION_TEXT, .offset = OFFSET(from), .value = "URL|DIR",                           \
      .help = "URL of the other server's interface, such as https://discord.com/api/v10; "       \
              "copy-guild also reads the folder of an archive" },                                \
        { "token-file", OPTION_TEXT, .offset = OFFSET(token_file), .value = "FILE",              \
          .help = "File with the token of a bot that is a member of the guild" },                \
        { "guild", OPTION_TEXT, .offset = OFFSET(guild), .value = "ID",                          \
          .help = "Id of the guild" },                                                           \
        { "cdn", OPTION_TEXT, .offset = OFFSET(cdn), .value = "URL",                             \
          .help = "Address of the other server's files; unset: as for the interface" },          \
        { "people",                                                                              \
          OPTION_CHOICE,                                                                         \
          .offset = OFFSET(people),                                                              \
          .fallback = "all",                                                                     \
          .choices = "all|names",                                                                \
          .help = "all: members, bans, avatars and who reacted; names: only names of authors" }, \
        { "reaction-users", OPTION_SWITCH, .offset = OFFSET(reaction_users), .fallback = "on",   \
          .help = "Read who reacted and voted: one request for each emoji of each message" },    \
        { "files", OPTION_SWITCH, .offset = OFFSET(files), .fallback = "on",                     \
          .help = "Read attachments and pictures" },                                             \
        { "max-file-mib", OPTION_INT,  .offset = OFFSET(max_file_mib),        .fallback = "64",  \
          .min = 1,       .max = 4096, .help = "Largest file to read, in MiB" },                 \
        { "requests-per-second",                                                                 \
          OPTION_INT,                                                                            \
          .offset = OFFSET(requests_per_second),                                                 \
          .fallback = "45",                                                                      \
          .min = 1,                                                                              \
          .max = 10000,                                                                          \
          .help = "Limit of all requests; the other server's own limits hold, too" },            \
        { "connections", OPTION_INT, .offset = OFFSET(connections),           .fallback = "8",   \
          .min = 1,      .max = 32,  .help = "Number of parallel connections" },                 \
        { "read-again-days",                                                                     \
          OPTION_INT,                                                                            \
          .offset = OFFSET(read_again_days),                                                     \
          .fallback = "1",                                                                       \
          .min = 0,                                                                              \
          .max = 3650,                                                                           \
          .help = "Messages of the last days are read again by the next run, because they may "  \
                  "have been edited" },                                                          \
    {                                                                                            \
        "dry-run", OPTION_SWITCH, .offset = OFFSET(dry_run), .fallback = "off",                  \
                                  .help = "Print how much there is, and read nothing else"       \
    }

/* clang-format off */
const struct option_row export_guild_option_rows[] = { SOURCE_OPTIONS, { 0 } };
const struct option_row copy_guild_option_rows[] = {
    SOURCE_OPTIONS,
    { "archive", OPTION_TEXT, .offset = OFFSET(archive), .value = "DIR",
      .help = "Folder for the archive; unset: copies/ID in the data folder" },
    { "send-claims", OPTION_TEXT, .offset = OFFSET(send_claims), .value = "URL",
      .help = "Send each member a direct message with a link to claim their account; URL is the "
              "address of this server" },
    { "follow", OPTION_SWITCH, .offset = OFFSET(follow), .fallback = "off",
      .help = "Keep the copy in a running server up to date until the command is interrupted" },
    { "post-back-token-file", OPTION_TEXT, .offset = OFFSET(post_back_token_file), .value = "FILE",
      .help = "With --follow: file with the token of a bot of this server; messages that are "
              "written here are posted on the other side by webhooks" },
    { 0 },
};
/* clang-format on */

/* --- the source ------------------------------------------------------------------------- */

static bool text_is_http_url(const char *from)
{
    return strncmp(from, "http://", 7) == 0 || strncmp(from, "https://", 8) == 0;
}

/* Reads the token from a file. Removes the prefix "Bot " and the line break. */
static bool read_token_from_file(const char *path, char ret[300])
{
    struct buf text;

    buf_init(&text, 4096);
    bool ok = read_file_or_stdin(path, &text);
    struct str token = buf_as_str(&text);
    token = str_trim(str_cut(&token, '\n'));
    if (str_starts_with(token, STR("Bot ")))
        token = str_skip_bytes(token, 4);
    if (token.n && token.p[token.n - 1] == '\r')
        token.n--;
    if (ok && (!token.n || token.n >= 300)) {
        fprintf(stderr, "guildhall: '%s' has no token in its first line\n", path);
        ok = false;
    }
    if (ok)
        snprintf(ret, 300, "%.*s", STR_ARGS(token));
    buf_clear(&text);
    return ok;
}

/* Completes the URL of the source server's API, and finds the address of its files. */
static void complete_source_server_urls(const struct copy_options *o, char api[512], char cdn[512])
{
    size_t n = strlen(o->from);

    while (n && o->from[n - 1] == '/')
        n--;
    const char *host = strstr(o->from, "://") + 3, *path = strchr(host, '/');
    snprintf(api, 512, "%.*s%s", (int)n, o->from, path && path < o->from + n ? "" : "/api/v10");
    size_t origin = path ? (size_t)(path - o->from) : n;
    if (o->cdn)
        snprintf(cdn, 512, "%s", o->cdn);
    else if (strncmp(host, "discord.com", 11) == 0)
        snprintf(cdn, 512, "https://cdn.discordapp.com");
    else
        snprintf(cdn, 512, "%.*s", (int)origin, o->from);
}

static struct guild_copy_source *open_copy_source(const struct copy_options *o)
{
    char api[512], cdn[512], token[300];

    if (!read_token_from_file(o->token_file, token))
        return NULL;
    complete_source_server_urls(o, api, cdn);
    return guild_copy_source_new(&(struct guild_copy_source_options){
        .api = api, .cdn = cdn, .token = token, .requests_per_second = o->requests_per_second });
}

/* --- downloading ------------------------------------------------------------------------- */

static int exit_status_of_copy_result(enum guild_copy_result result)
{
    return result == COPY_OK ? 0 : result == COPY_REFUSED || result == COPY_FAILED ? 2 : 1;
}

static void print_download_report(const struct guild_archive *a, const struct guild_copy_source *s)
{
    if (s) {
        struct guild_copy_source_counts n = guild_copy_source_get_counts(s);

        printf("%lld requests, %lld of them answered 429, %lld repeated, %lld bytes\n",
               (long long)n.requests, (long long)n.rate_limited, (long long)n.retries,
               (long long)n.bytes);
    }
    if (a->not_taken_count)
        printf("%lld things could not be taken; '%s/not-taken.jsonl' says which and why\n",
               (long long)a->not_taken_count, a->folder);
}

static const char *find_missing_copy_option(const struct copy_options *o)
{
    uint64_t id;

    if (!o->from || !text_is_http_url(o->from))
        return "--from needs the URL of the other server, such as https://discord.com/api/v10";
    if (!o->token_file)
        return "--token-file is missing: a file with the token of a bot that is in the guild";
    if (!o->guild || !str_to_u64(str_of(o->guild), &id) || !id)
        return "--guild needs the id of the guild";
    return NULL;
}

/* find_missing_copy_option has returned NULL. */
static bool parse_copy_options(const struct copy_options *o, struct guild_download_options *ret)
{
    uint64_t id;

    if (!str_to_u64(str_of(o->guild), &id))
        return false;
    *ret = (struct guild_download_options){ .guild = id,
                                            .max_file_bytes = o->max_file_mib * 1024 * 1024,
                                            .workers = o->connections,
                                            .read_again_since = snowflake_from_ms(
                                                clock_ms() - o->read_again_days * 86400000),
                                            .files = o->files,
                                            .reaction_users = o->reaction_users,
                                            .people = strcmp(o->people, "all") == 0 };
    return true;
}

/* Downloads the archive from the source server. */
static enum guild_copy_result download_archive(const struct copy_options *o,
                                               struct guild_archive *archive)
{
    struct guild_download_options options;
    struct guild_copy_source *source = parse_copy_options(o, &options) ? open_copy_source(o) : NULL;

    if (!source)
        return COPY_STOPPED;
    enum guild_copy_result result = download_guild_to_archive(source, archive, &options);
    print_download_report(archive, source);
    guild_copy_source_free(source);
    return result;
}

static int print_download_estimate(const struct copy_options *o)
{
    struct guild_download_options options;
    struct guild_copy_source *source = parse_copy_options(o, &options) ? open_copy_source(o) : NULL;
    enum guild_copy_result result =
        source ? print_guild_download_estimate(source, &options) : COPY_STOPPED;

    guild_copy_source_free(source);
    return exit_status_of_copy_result(result);
}

int run_command_export_guild(const struct command_settings *s, char **arguments)
{
    struct guild_archive archive;
    enum guild_copy_result result = COPY_STOPPED;
    const char *problem = find_missing_copy_option(&s->copy);

    if ((!arguments[0] && !s->copy.dry_run) || (arguments[0] && arguments[1]))
        return print_usage_forms("export-guild FOLDER --from URL --token-file FILE --guild ID");
    if (problem)
        return print_usage_error(problem);
    if (s->copy.dry_run && !arguments[0])
        return print_download_estimate(&s->copy);
    if (guild_archive_open(&archive, arguments[0]))
        result = download_archive(&s->copy, &archive);
    guild_archive_close(&archive);
    return exit_status_of_copy_result(result);
}

/* --- importing ----------------------------------------------------------------------------- */

/* Sends the claim codes. The archive must be imported, and the store must still be open. */
static enum guild_copy_result send_claim_codes(const struct copy_options *o,
                                               struct guild_archive *archive, struct store *store,
                                               const char *running)
{
    struct guild_copy_source *source = open_copy_source(o);

    if (!source)
        return COPY_STOPPED;
    enum guild_copy_result result = send_claim_codes_to_members(
        &(struct claim_code_sending_options){ source, archive, store, o->send_claims, running });
    guild_copy_source_free(source);
    return result;
}

enum archive_origin { ORIGIN_GUILD, ORIGIN_CHAT_EXPORT, ORIGIN_DATA_PACKAGE };

static enum guild_copy_result import_archive_into_server(const struct command_settings *s,
                                                         struct guild_archive *archive,
                                                         enum archive_origin origin)
{
    enum guild_copy_result result = COPY_STOPPED;
    struct store *store;

    const char *running = running_server_is_reachable(s->config.data) ? s->config.data : NULL;
    if (running ? guildhall_open_store(&s->config, true, &store)
                : open_store_as_data_folder_owner(&s->config, &store))
        return COPY_STOPPED;
    if (running || !store_lock_exclusive(store))
        result = import_guild_archive(
            &(struct guild_import_options){ .config = &s->config,
                                            .store = store,
                                            .archive = archive,
                                            .people = strcmp(s->copy.people, "all") == 0,
                                            .only_messages = origin != ORIGIN_GUILD,
                                            .no_channels = origin == ORIGIN_DATA_PACKAGE,
                                            .running = running });
    if (s->copy.send_claims && result != COPY_STOPPED) {
        enum guild_copy_result sent = send_claim_codes(&s->copy, archive, store, running);

        result = sent == COPY_OK ? result : sent;
    }
    store_close(store);
    return result;
}

/* Imports files that DiscordChatExporter wrote, each with one channel. */
static int copy_chat_exports(const struct command_settings *s, char **paths)
{
    struct guild_archive archive;
    snowflake guild = chat_export_read_guild_id(paths[0]);
    enum guild_copy_result result = COPY_STOPPED;
    char folder[1024];

    if (!guild)
        return 1;
    if (s->copy.archive)
        snprintf(folder, sizeof folder, "%s", s->copy.archive);
    else
        snprintf(folder, sizeof folder, "%s/copies/%" PRIu64, s->config.data, guild);
    bool ok = guild_archive_open(&archive, folder);
    for (; ok && *paths; paths++)
        ok = chat_export_read_guild_id(*paths) == guild &&
             chat_export_convert_to_archive(&archive, *paths);
    if (ok)
        result = import_archive_into_server(s, &archive, ORIGIN_CHAT_EXPORT);
    print_download_report(&archive, NULL);
    guild_archive_close(&archive);
    return exit_status_of_copy_result(result);
}

/* Imports the messages that one person wrote in a guild, from this person's data package. */
static int copy_data_package(const struct command_settings *s, char **arguments)
{
    struct guild_archive archive;
    enum guild_copy_result result = COPY_STOPPED;
    char folder[1024];
    uint64_t guild;

    if (s->copy.dry_run && !arguments[1])
        return data_package_print_guilds(arguments[0]) ? 0 : 1;
    if (arguments[1] || !s->copy.guild || !str_to_u64(str_of(s->copy.guild), &guild) || !guild)
        return print_usage_forms("copy-guild PACKAGE --guild ID; --dry-run lists the guilds of a "
                                 "package");
    snowflake user = data_package_read_user_id(arguments[0]);
    if (!user)
        return 1;
    if (s->copy.archive)
        snprintf(folder, sizeof folder, "%s", s->copy.archive);
    else
        snprintf(folder, sizeof folder, "%s/copies/%" PRIu64 "-%" PRIu64, s->config.data, guild,
                 user);
    if (guild_archive_open(&archive, folder) &&
        data_package_convert_to_archive(&archive, arguments[0], guild))
        result = import_archive_into_server(s, &archive, ORIGIN_DATA_PACKAGE);
    print_download_report(&archive, NULL);
    guild_archive_close(&archive);
    return exit_status_of_copy_result(result);
}

/* --- following --------------------------------------------------------------------------- */

struct claim_sender_options {
    const struct copy_options *copy;
    struct guild_archive *archive;
    struct store *store;
    const char *running;
};

static void send_claim_codes_after_copy(void *arg)
{
    const struct claim_sender_options *o = arg;

    send_claim_codes(o->copy, o->archive, o->store, o->running);
}

/* Opens this server as a source of API requests, with the token of a bot on this server. */
static struct guild_copy_source *open_this_server(const struct command_settings *s, char token[300])
{
    struct buf address;
    char api[512];

    buf_init(&address, SIZE_MAX);
    bool ok = read_token_from_file(s->copy.post_back_token_file, token) &&
              control_socket_send_request(s->config.data, "address", &address) == OK;
    snprintf(api, sizeof api, "%.*s/api/v10", STR_ARGS(buf_as_str(&address)));
    buf_clear(&address);
    return ok ? guild_copy_source_new(&(struct guild_copy_source_options){
                    .api = api,
                    .cdn = "",
                    .token = token,
                    .requests_per_second = s->copy.requests_per_second })
              : NULL;
}

static enum guild_copy_result follow_guild(const struct command_settings *s,
                                           struct guild_archive *archive)
{
    const struct copy_options *o = &s->copy;
    struct guild_download_options download;
    struct guild_import_options load = { .config = &s->config,
                                         .archive = archive,
                                         .people = strcmp(o->people, "all") == 0,
                                         .running = s->config.data };
    char token[300], here_token[300], state[1200];

    if (!parse_copy_options(o, &download) || !read_token_from_file(o->token_file, token))
        return COPY_STOPPED;
    guild_archive_format_path(archive, state, "follow.jsonl");
    if (access(state, F_OK) == 0 && !running_server_is_reachable(s->config.data)) {
        fprintf(stderr, "guildhall: no server runs on '%s'; waiting until one does\n",
                s->config.data);
        while (!running_server_is_reachable(s->config.data))
            nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
    } else if (!running_server_is_reachable(s->config.data)) {
        fprintf(stderr, "guildhall: --follow needs a server that runs on '%s'; start it first\n",
                s->config.data);
        return COPY_STOPPED;
    }
    if (guildhall_open_store(&s->config, true, &load.store))
        return COPY_STOPPED;
    struct guild_copy_source *source = open_copy_source(o);
    struct guild_copy_source *here =
        o->post_back_token_file ? open_this_server(s, here_token) : NULL;
    struct claim_sender_options claims = { o, archive, load.store, s->config.data };
    enum guild_copy_result result = COPY_STOPPED;
    if (source && (here || !o->post_back_token_file))
        result = follow_source_guild_until_interrupted(&(struct guild_follower_options){
            .data = s->config.data,
            .archive = archive,
            .source = source,
            .download = &download,
            .load = &load,
            .after_copy = o->send_claims ? send_claim_codes_after_copy : NULL,
            .after_copy_arg = &claims,
            .here = here,
            .here_token = here_token,
            .source_token = token,
            .public_url = s->config.public_url,
        });
    guild_copy_source_free(here);
    guild_copy_source_free(source);
    store_close(load.store);
    return result;
}

int run_command_copy_guild(const struct command_settings *s, char **arguments)
{
    const struct copy_options *o = &s->copy;
    struct guild_archive archive;
    char folder[1024];
    enum guild_copy_result result = COPY_OK;

    if (arguments[0] && !o->from && path_is_data_package_folder(arguments[0]))
        return copy_data_package(s, arguments);
    if (arguments[0] && !o->from)
        return copy_chat_exports(s, arguments);
    if (arguments[0] || !o->from)
        return print_usage_forms(
            "copy-guild --from URL --token-file FILE --guild ID, copy-guild "
            "--from FOLDER, copy-guild FILE.json…, or copy-guild PACKAGE --guild "
            "ID");
    bool remote = text_is_http_url(o->from);
    if (o->send_claims && (!remote || !text_is_http_url(o->send_claims)))
        return print_usage_error("--send-claims needs the URL of this server, and --from a URL");
    if (remote && find_missing_copy_option(o))
        return print_usage_error(find_missing_copy_option(o));
    if (remote && o->dry_run)
        return print_download_estimate(o);
    if ((o->follow && !remote) || (o->post_back_token_file && !o->follow))
        return print_usage_error("--follow needs --from a URL, and --post-back-token-file needs "
                                 "--follow");
    if (!remote)
        snprintf(folder, sizeof folder, "%s", o->from);
    else if (o->archive)
        snprintf(folder, sizeof folder, "%s", o->archive);
    else
        snprintf(folder, sizeof folder, "%s/copies/%s", s->config.data, o->guild ? o->guild : "");
    struct stat st;
    if (!remote && stat(folder, &st) != 0) {
        fprintf(stderr, "guildhall: cannot read the archive '%s': %s\n", folder, strerror(errno));
        return 1;
    }
    bool opened = guild_archive_open(&archive, folder);
    if (!opened)
        result = COPY_STOPPED;
    else if (o->follow)
        result = follow_guild(s, &archive);
    else if (remote)
        result = download_archive(o, &archive);
    if (opened && !o->follow && result != COPY_STOPPED) {
        enum guild_copy_result loaded = import_archive_into_server(s, &archive, ORIGIN_GUILD);

        result = loaded == COPY_OK ? result : loaded;
        print_download_report(&archive, NULL);
    }
    guild_archive_close(&archive);
    return exit_status_of_copy_result(result);
}
