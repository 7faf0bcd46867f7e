/* file_queue.c - queue of files that all OS threads of a download fetch together.
 *
 * An OS thread that waits for the files of its page fetches files from the queue itself. So no OS
 * thread is idle while another one has many files. */
#include "tools/copy/download/internal.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"

struct file_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct file_download_job *first, **last;
};

struct file_queue *download_file_queue_new(void)
{
    struct file_queue *q = mem_new(sizeof *q);

    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->last = &q->first;
    return q;
}

void download_file_queue_free(struct file_queue *q)
{
    struct file_download_job *next;

    if (!q)
        return;
    for (struct file_download_job *j = q->first; j; j = next) {
        next = j->next;
        mem_free(j);
    }
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    mem_free(q);
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
    copy->next = NULL;
    pthread_mutex_lock(&q->lock);
    job->batch->pending++;
    *q->last = copy;
    q->last = &copy->next;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* Asks for a new address of an attachment whose address has expired. */
static bool refresh_attachment_url(struct copy_connection *c, struct file_download_job *job)
{
    struct arena *arena = arena_new_small();
    struct buf out, body;
    struct json_writer j = json_writer_to_buf(&body);
    bool ok = false;

    buf_init(&out, SIZE_MAX);
    buf_init(&body, sizeof job->url * 8);
    json_begin_object(&j);
    json_write_name(&j, "attachment_urls");
    json_begin_array(&j);
    json_write_text(&j, str_of(job->url));
    json_end_array(&j);
    json_end_object(&j);
    if (copy_connection_send_request(c, "POST", "/attachments/refresh-urls", buf_as_str(&body),
                                     &out) == COPY_OK) {
        struct list items =
            json_array_items(arena, json_member_raw(buf_as_str(&out), "refreshed_urls"));
        struct str url = items.count
                             ? json_member_text(arena, *(struct str *)items.items, "refreshed")
                             : (struct str){ 0 };

        ok = url.n && url.n < sizeof job->url;
        if (ok)
            snprintf(job->url, sizeof job->url, "%.*s", STR_ARGS(url));
    }
    buf_clear(&body);
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

static enum guild_copy_result download_file_of_queue(struct guild_download *d,
                                                     struct copy_connection *c,
                                                     struct file_download_job *job)
{
    char path[1200], what[400];

    guild_archive_format_path(d->archive, path, "files/%s", job->name);
    enum guild_copy_result result =
        copy_connection_download_file(c, job->url, path, d->options->max_file_bytes);
    if (result == COPY_REFUSED && job->attachment_id && (c->status == 403 || c->status == 404) &&
        refresh_attachment_url(c, job))
        result = copy_connection_download_file(c, job->url, path, d->options->max_file_bytes);
    if (result != COPY_OK) {
        snprintf(what, sizeof what, "file %s", job->name);
        guild_archive_add_report_line(d->archive, what, c->reason);
    }
    return result;
}

enum guild_copy_result download_file_queue_finish_batch(struct guild_download *d,
                                                        struct copy_connection *c,
                                                        struct file_download_batch *batch)
{
    struct file_queue *q = d->files;

    pthread_mutex_lock(&q->lock);
    while (batch->pending) {
        struct file_download_job *job = q->first;

        if (!job) {
            pthread_cond_wait(&q->changed, &q->lock);
            continue;
        }
        q->first = job->next;
        if (!q->first)
            q->last = &q->first;
        pthread_mutex_unlock(&q->lock);
        enum guild_copy_result result = download_file_of_queue(d, c, job);
        pthread_mutex_lock(&q->lock);
        job->batch->pending--;
        job->batch->stopped |= result == COPY_STOPPED;
        d->file_count += result == COPY_OK;
        pthread_cond_broadcast(&q->changed);
        mem_free(job);
    }
    pthread_mutex_unlock(&q->lock);
    return batch->stopped ? COPY_STOPPED : COPY_OK;
}
