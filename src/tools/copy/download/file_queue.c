/* file_queue.c - queue of files that all OS threads of a download fetch together.
 *
 * An OS thread that waits for the files of its page fetches files from the queue itself. So no OS
 * thread is idle while another one has many files. Expired addresses are refreshed together, with
 * one request for up to REFRESHED_TOGETHER of them, because the route has a low rate limit. */
#include "tools/copy/download/internal.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"

enum { REFRESHED_TOGETHER = 50 }; /* the most that Discord accepts */

struct file_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct file_download_job *first, **last;
    struct file_download_job *expired; /* jobs whose address must be refreshed */
    size_t expired_count;
};

struct file_queue *download_file_queue_new(void)
{
    struct file_queue *q = mem_new(sizeof *q);

    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->last = &q->first;
    return q;
}

static void free_file_download_jobs(struct file_download_job *first)
{
    struct file_download_job *next;

    for (struct file_download_job *j = first; j; j = next) {
        next = j->next;
        mem_free(j);
    }
}

void download_file_queue_free(struct file_queue *q)
{
    if (!q)
        return;
    free_file_download_jobs(q->first);
    free_file_download_jobs(q->expired);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    mem_free(q);
}

/* Appends a job to the queue, which is locked. */
static void append_file_download_job(struct file_queue *q, struct file_download_job *job)
{
    job->next = NULL;
    *q->last = job;
    q->last = &job->next;
    pthread_cond_broadcast(&q->changed);
}

void download_file_queue_add(struct guild_download *d, const struct file_download_job *job)
{
    struct file_queue *q = d->files;
    struct stat st;
    char path[1200];

    guild_archive_format_path(d->archive, path, "files/%s", job->name);
    if (!d->options->files || stat(path, &st) == 0)
        return;
    struct file_download_job *copy = mem_new(sizeof *copy);
    *copy = *job;
    pthread_mutex_lock(&q->lock);
    job->batch->pending++;
    append_file_download_job(q, copy);
    pthread_mutex_unlock(&q->lock);
}

/* --- expired addresses ---------------------------------------------------------------- */

/* Sets the new address of the job with this address. */
static void set_refreshed_url(struct file_download_job *jobs, struct str original, struct str url)
{
    for (struct file_download_job *j = jobs; j; j = j->next)
        if (!j->is_refreshed && str_is(original, j->url) && url.n && url.n < sizeof j->url) {
            snprintf(j->url, sizeof j->url, "%.*s", STR_ARGS(url));
            j->is_refreshed = true;
            return;
        }
}

static struct str write_refresh_request(struct arena *arena, const struct file_download_job *jobs)
{
    struct buf body;
    struct json_writer j = json_writer_to_buf(&body);

    buf_init(&body, REFRESHED_TOGETHER * sizeof jobs->url * 8);
    json_begin_object(&j);
    json_write_name(&j, "attachment_urls");
    json_begin_array(&j);
    for (; jobs; jobs = jobs->next)
        json_write_text(&j, str_of(jobs->url));
    json_end_array(&j);
    json_end_object(&j);
    return buf_move_to_arena(&body, arena);
}

/* Asks for new addresses of attachments. Sets .is_refreshed of the jobs that got one. */
static void refresh_attachment_urls(struct source_server_connection *c,
                                    struct file_download_job *jobs)
{
    struct arena *arena = arena_new();
    struct buf out;

    buf_init(&out, SIZE_MAX);
    if (source_server_connection_send_request(c, "POST", "/attachments/refresh-urls",
                                              write_refresh_request(arena, jobs),
                                              &out) == COPY_OK) {
        struct list items = json_array_get_items(
            arena, json_member_get_raw_text(buf_as_str(&out), "refreshed_urls"));

        for (size_t i = 0; i < items.count; i++) {
            struct str item = ((struct str *)items.items)[i];

            set_refreshed_url(jobs, json_member_get_text(arena, item, "original"),
                              json_member_get_text(arena, item, "refreshed"));
        }
    }
    buf_clear(&out);
    arena_free(arena);
}

/* Takes jobs with expired addresses out of the queue, which is locked. */
static struct file_download_job *take_expired_jobs(struct file_queue *q)
{
    struct file_download_job *first = q->expired, *last = first;
    size_t n = 1;

    for (; last->next && n < REFRESHED_TOGETHER; n++)
        last = last->next;
    q->expired = last->next;
    q->expired_count -= n;
    last->next = NULL;
    return first;
}

/* --- downloads ------------------------------------------------------------------------ */

/* Ends a job; the queue is locked. */
static void finish_file_download_job(struct guild_download *d, struct file_download_job *job,
                                     enum guild_copy_result result)
{
    job->batch->pending--;
    job->batch->stopped |= result == COPY_STOPPED;
    d->file_count += result == COPY_OK;
    pthread_cond_broadcast(&d->files->changed);
    mem_free(job);
}

static void report_refused_file(struct guild_download *d, const struct file_download_job *job,
                                const char *reason)
{
    char what[400];

    snprintf(what, sizeof what, "file %s", job->name);
    guild_archive_add_report_line(d->archive, what, reason);
}

/* Refreshes some of the expired addresses, and appends their jobs to the queue again. The queue is
 * locked, but not during the request. */
static void refresh_expired_jobs(struct guild_download *d, struct source_server_connection *c)
{
    struct file_queue *q = d->files;
    struct file_download_job *jobs = take_expired_jobs(q), *next;

    pthread_mutex_unlock(&q->lock);
    refresh_attachment_urls(c, jobs);
    pthread_mutex_lock(&q->lock);
    for (struct file_download_job *j = jobs; j; j = next) {
        next = j->next;
        if (j->is_refreshed) {
            append_file_download_job(q, j);
        } else {
            report_refused_file(d, j, j->reason);
            finish_file_download_job(d, j, COPY_REFUSED);
        }
    }
}

/* Fetches a file. The queue is locked, but not during the request. */
static void download_file_of_queue(struct guild_download *d, struct source_server_connection *c,
                                   struct file_download_job *job)
{
    struct file_queue *q = d->files;
    char path[1200];

    pthread_mutex_unlock(&q->lock);
    guild_archive_format_path(d->archive, path, "files/%s", job->name);
    enum guild_copy_result result =
        source_server_connection_download_file(c, job->url, path, d->options->max_file_bytes);
    bool is_expired = result == COPY_REFUSED && job->attachment_id && !job->is_refreshed &&
                      (c->status == 403 || c->status == 404);
    if (result != COPY_OK && !is_expired)
        report_refused_file(d, job, c->reason);
    pthread_mutex_lock(&q->lock);
    if (!is_expired) {
        finish_file_download_job(d, job, result);
        return;
    }
    snprintf(job->reason, sizeof job->reason, "%s", c->reason);
    job->next = q->expired;
    q->expired = job;
    q->expired_count++;
    pthread_cond_broadcast(&q->changed);
}

enum guild_copy_result download_file_queue_finish_batch(struct guild_download *d,
                                                        struct source_server_connection *c,
                                                        struct file_download_batch *batch)
{
    struct file_queue *q = d->files;

    pthread_mutex_lock(&q->lock);
    while (batch->pending) {
        struct file_download_job *job = q->first;

        if (q->expired_count >= REFRESHED_TOGETHER || (!job && q->expired)) {
            refresh_expired_jobs(d, c);
        } else if (!job) {
            pthread_cond_wait(&q->changed, &q->lock);
        } else {
            q->first = job->next;
            if (!q->first)
                q->last = &q->first;
            download_file_of_queue(d, c, job);
        }
    }
    pthread_mutex_unlock(&q->lock);
    return batch->stopped ? COPY_STOPPED : COPY_OK;
}
