/* gifs.c - `guildhall gifs import`: fills the GIF catalogue. */
#include "tools/tools.h"

#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gifs/gifs.h"
#include "server/guildhall.h"
#include "net/client/fetcher.h"
#include "store/folder.h"

enum {
    MAX_LIST_BYTES = 1024 * 1024 * 1024,
    MAX_FILE_BYTES = 20 * 1024 * 1024,
    DOWNLOAD_TIMEOUT_MS = 60000
};

/* --- downloads ------------------------------------------------------------------------ */

/* An event loop with an HTTP client, which is created for the first download. */
struct gif_download {
    struct loops *loops;
    struct fetcher *fetcher;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    /* The fields below belong to the download that is running. */
    const char *url;
    struct buf *out;
    const char *problem;
    bool over;
};

static void on_gif_downloaded(void *arg, enum fetch_result result, int status, struct str type,
                              struct buf *body)
{
    struct gif_download *f = arg;

    (void)type;
    pthread_mutex_lock(&f->lock);
    if (result == FETCH_OK && status == 200)
        buf_add_str(f->out, buf_as_str(body));
    else
        f->problem = result == FETCH_OK          ? "the status of the response is not 200"
                     : result == FETCH_TIMEOUT   ? "the download takes too long"
                     : result == FETCH_TOO_LARGE ? "the file is larger than 20 MiB"
                     : result == FETCH_FORBIDDEN ? "the host has a private address"
                                                 : "the host cannot be reached";
    f->over = true;
    pthread_cond_signal(&f->ended);
    pthread_mutex_unlock(&f->lock);
}

static void start_gif_download(struct loop *loop, void *arg)
{
    struct gif_download *f = arg;
    struct fetch_request request = {
        .method = "GET",
        .url = f->url,
        .timeout_ms = DOWNLOAD_TIMEOUT_MS,
        .max_response = MAX_FILE_BYTES,
        .done = on_gif_downloaded,
        .arg = f,
    };

    if (!f->fetcher)
        f->fetcher = fetcher_new(loop, &(struct fetch_options){ 0 });
    fetcher_start_request(f->fetcher, &request);
}

static bool download_gif(void *arg, const char *url, struct buf *ret, const char **ret_problem)
{
    struct gif_download *f = arg;

    if (strncmp(url, "https://", 8) != 0) {
        *ret_problem = "only https URLs are downloaded";
        return false;
    }
    if (!f->loops)
        f->loops = loops_start(1, NULL, NULL);
    f->url = url;
    f->out = ret;
    f->problem = NULL;
    f->over = false;
    loop_run_function_and_wait(loops_get_loop_at(f->loops, 0), start_gif_download, f);
    pthread_mutex_lock(&f->lock);
    while (!f->over)
        pthread_cond_wait(&f->ended, &f->lock);
    pthread_mutex_unlock(&f->lock);
    *ret_problem = f->problem;
    return !f->problem;
}

static void free_fetcher_on_loop(struct loop *loop, void *arg)
{
    struct gif_download *f = arg;

    (void)loop;
    fetcher_free(f->fetcher);
}

static void free_gif_downloads(struct gif_download *f)
{
    if (f->loops) {
        loop_run_function_and_wait(loops_get_loop_at(f->loops, 0), free_fetcher_on_loop, f);
        loops_stop(f->loops);
    }
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->ended);
}

/* --- command -------------------------------------------------------------------------- */

static void print_import_problem(void *arg, size_t row, struct str what)
{
    (void)arg;
    fprintf(stderr, "row %zu: %.*s\n", row, STR_ARGS(what));
}

static int import_gifs(const struct config *config, const char *path, const char *folder)
{
    struct gif_download fetching = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                     .ended = PTHREAD_COND_INITIALIZER };
    struct gifs_import_report report;
    struct store *store;
    struct buf text;
    int status = 1;

    buf_init(&text, MAX_LIST_BYTES);
    /* Do not switch to the owner of the data folder yet, because only root may be able to read the
     * input. New files get their owner later. */
    if (read_file_or_stdin(path, &text) && !guildhall_open_store(config, false, &store)) {
        struct gifs_import in = { .text = buf_as_str(&text),
                                  .folder = folder,
                                  .fetch = download_gif,
                                  .fetch_arg = &fetching,
                                  .problem = print_import_problem };

        if (!gifs_import(store, &in, &report)) {
            printf("%zu made, %zu renewed, %zu refused\n", report.made, report.renewed,
                   report.refused);
            status = report.refused ? 1 : 0;
        } else {
            fprintf(stderr, "guildhall: nothing was imported\n");
        }
        store_close(store);
        if (!folder_chown_all(config->data))
            status = 1;
    }
    free_gif_downloads(&fetching);
    buf_clear(&text);
    return status;
}

int run_command_gifs(const struct command_settings *s, char **arguments)
{
    if (!arguments[0] || strcmp(arguments[0], "import") != 0 || !arguments[1] ||
        (arguments[2] && arguments[3]))
        return print_usage_forms(
            "gifs import FILE [FOLDER]; files are searched next to FILE, or in FOLDER");
    char *path = mem_dup_cstring(arguments[1]);
    int status = import_gifs(&s->config, arguments[1], arguments[2] ? arguments[2] : dirname(path));
    mem_free(path);
    return status;
}
