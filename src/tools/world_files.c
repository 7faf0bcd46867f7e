/* world_files.c - `guildhall import` and `guildhall export`: world files. */
#include "tools/progress.h"
#include "tools/tools.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/guildhall.h"

enum { MAX_FILE_BYTES = 256 * 1024 * 1024 };

const struct option_row import_option_rows[] = {
    { "tokens", OPTION_CHOICE, .offset = offsetof(struct command_settings, tokens),
      .fallback = "off", .choices = "off|on|env",
      .help = "Print a token for each account of the file; env: as shell variables" },
    { 0 },
};

bool read_file_or_stdin(const char *path, struct buf *out)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    char piece[16384];
    size_t n;

    while (f && (n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(out, piece, n);
    bool ok = f && !ferror(f) && !buf_is_full(out);
    if (!ok)
        fprintf(stderr, "guildhall: cannot read '%s': %s\n", path,
                buf_is_full(out) ? "the file is too large" : strerror(errno));
    if (f && !standard)
        fclose(f);
    return ok;
}

/* Prints tokens as ADA_TOKEN='…' for a shell. The tokens have no prefix "Bot ", because libraries
 * add it themselves. */
static void print_tokens_as_shell_variables(const struct world_file_import_report *report)
{
    const struct imported_account_token *tokens = report->tokens.items;

    for (size_t i = 0; i < report->tokens.count; i++) {
        printf("export ");
        for (size_t k = 0; k < tokens[i].username.n; k++)
            putchar(isalnum((unsigned char)tokens[i].username.p[k])
                        ? toupper((unsigned char)tokens[i].username.p[k])
                        : '_');
        printf("_TOKEN='%.*s'\n", STR_ARGS(tokens[i].token));
    }
}

static void print_import_report(const struct world_file_import_report *report)
{
    const struct imported_account_token *tokens = report->tokens.items;

    for (const struct imported_object_count *c = report->counts; c->what; c++)
        if (c->made || c->known)
            printf("%-14s %lld made, %lld known\n", c->what, (long long)c->made,
                   (long long)c->known);
    for (size_t i = 0; i < report->tokens.count; i++)
        printf("%-14.*s %s%.*s\n", STR_ARGS(tokens[i].username), tokens[i].bot ? "Bot " : "",
               STR_ARGS(tokens[i].token));
}

enum err import_world_file_text(const struct config *config, struct store *store, struct str text,
                                bool tokens, struct world_file_progress *progress,
                                struct arena *arena, struct world_file_import_report *ret)
{
    struct world_file_import_options options = {
        .progress = progress,
        .domains = guildhall_domains,
        .tokens = tokens,
        .password_cost = config_get_password_cost(config),
    };
    enum err e = auth_new(config->data, store, &options.auth);

    if (e)
        return e;
    e = world_file_import(store, &options, text, arena, ret);
    auth_free(options.auth);
    if (e == ERR_STORE_CONFLICT)
        fprintf(stderr,
                "guildhall: an id of the file already belongs to another object; nothing was "
                "imported\n");
    else if (e)
        fprintf(stderr, "%.*sguildhall: nothing was imported\n", STR_ARGS(ret->problems));
    return e;
}

int run_command_import(const struct command_settings *s, char **arguments)
{
    struct progress_watch watch;
    struct world_file_import_report report;
    struct store *store;
    struct buf text;
    int status = 1;

    if (!arguments[0] || arguments[1])
        return print_usage_forms("import FILE; - reads from standard input");
    buf_init(&text, MAX_FILE_BYTES);
    struct arena *arena = arena_new();
    progress_watch_begin(&watch, "import", PROGRESS_WORLD, 0);
    if (read_file_or_stdin(arguments[0], &text) &&
        !open_store_as_data_folder_owner(&s->config, &store)) {
        if (!store_lock_exclusive(store) &&
            !import_world_file_text(&s->config, store, buf_as_str(&text),
                                    strcmp(s->tokens, "off") != 0, &watch.world, arena, &report)) {
            if (strcmp(s->tokens, "env") == 0)
                print_tokens_as_shell_variables(&report);
            else
                print_import_report(&report);
            status = 0;
        }
        store_close(store);
    }
    progress_watch_end(&watch);
    arena_free(arena);
    buf_clear(&text);
    return status;
}

/* Writes a file with mode 0600, because it contains password hashes. */
static bool write_private_file(const char *path, struct str text)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : STDOUT_FILENO;
    FILE *f = fd < 0 ? NULL : path ? fdopen(fd, "wb") : stdout;
    bool ok = f && fwrite(text.p, 1, text.n, f) == text.n && fflush(f) == 0;

    if (!ok)
        fprintf(stderr, "guildhall: cannot write '%s': %s\n", path ? path : "standard output",
                strerror(errno));
    if (f && path)
        fclose(f);
    return ok;
}

int run_command_export(const struct command_settings *s, char **arguments)
{
    struct progress_watch watch;
    bool importable, ok = false;
    struct store *store;
    struct buf text;

    if (arguments[0] && arguments[1])
        return print_usage_forms("export [FILE]");
    if (guildhall_open_store(&s->config, true, &store))
        return 1;
    buf_init(&text, SIZE_MAX);
    progress_watch_begin(&watch, "export", PROGRESS_WORLD, 0);
    if (!world_file_export(store, guildhall_domains, &watch.world, &text, &importable)) {
        if (importable && text.n <= MAX_FILE_BYTES)
            ok = write_private_file(arguments[0], buf_as_str(&text));
        else
            fprintf(
                stderr,
                "guildhall: nothing was written: this world has more than the 100000 values or 256 "
                "MiB that an import accepts; use backup to copy it\n");
    }
    progress_watch_end(&watch);
    buf_clear(&text);
    store_close(store);
    return ok ? 0 : 1;
}
