/* running_server.c - imports through the control socket of a server that runs on the data folder.
 *
 * The server imports each small world file in a separate transaction, between the transactions of
 * its clients. After all files were imported, it sends the guild again to the sessions of the
 * guild's members. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "admin/control/control.h"
#include "tools/copy/import/import.h"

bool running_server_is_reachable(const char *data)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    bool ok = control_socket_send_request(data, "address", &out) == OK && out.n;
    buf_clear(&out);
    return ok;
}

/* Sends a request without a time limit, because the server may be busy. */
static bool send_request_to_running_server(const char *data, const char *request, struct buf *out)
{
    enum err e = control_socket_send_request_with_timeout(data, request, 0, out);

    if (e)
        print_server_unreachable(data, e);
    return !e;
}

enum err running_server_import_world_file(const char *data, const struct guild_archive *archive,
                                          struct str text, struct arena *arena,
                                          struct world_file_import_report *ret)
{
    char request[PATH_MAX + 100], folder[PATH_MAX], path[1200];
    struct buf out;
    int64_t number = 0;
    enum err e = ERR_UNAVAILABLE;

    *ret = (struct world_file_import_report){ 0 };
    if (!realpath(archive->folder, folder) ||
        !guild_archive_write_lines(archive, "import.json", text))
        return ERR_UNAVAILABLE;
    snprintf(request, sizeof request, "import-archive %s", folder);
    buf_init(&out, SIZE_MAX);
    if (send_request_to_running_server(data, request, &out)) {
        struct str rest = str_dup(arena, buf_as_str(&out)), line = str_cut(&rest, '\n'),
                   word = str_cut(&line, ' ');

        str_to_i64(line, &number);
        if (str_is(word, "imported")) {
            ret->transaction_us = number;
            e = OK;
        } else if (str_is(word, "refused")) {
            ret->problems = rest;
            e = ERR_INVALID_FORM_BODY;
        } else {
            fprintf(stderr, "guildhall: the server cannot import the archive: %.*s\n",
                    STR_ARGS(rest.n ? rest : word));
        }
    }
    buf_clear(&out);
    guild_archive_format_path(archive, path, "import.json");
    unlink(path);
    return e;
}

bool running_server_resend_guild_to_members(const char *data, snowflake guild)
{
    char request[200];
    uint64_t after = 0;
    bool ok = true;
    struct buf out;

    buf_init(&out, SIZE_MAX);
    do {
        snprintf(request, sizeof request, "operate guild\trefresh\t%" PRIu64 "\t%" PRIu64, guild,
                 after);
        buf_reset(&out);
        ok = send_request_to_running_server(data, request, &out);
        struct str rest = buf_as_str(&out);
        str_cut(&rest, '\n'); /* "ok" */
        str_cut(&rest, '\n'); /* names of the columns */
        if (!ok || !str_to_u64(str_trim(str_cut(&rest, '\n')), &after))
            after = 0;
    } while (ok && after);
    buf_clear(&out);
    return ok;
}

bool running_server_create_claim_code(const char *data, snowflake user_id, struct arena *arena,
                                      struct str *ret)
{
    char request[100];
    struct buf out;

    snprintf(request, sizeof request, "claim-code %" PRIu64, user_id);
    buf_init(&out, SIZE_MAX);
    bool ok = send_request_to_running_server(data, request, &out);
    *ret = str_dup(arena, buf_as_str(&out));
    buf_clear(&out);
    return ok;
}
