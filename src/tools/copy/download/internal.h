/* internal.h - the state of a download, shared by its files. */
#ifndef TOOLS_COPY_DOWNLOAD_INTERNAL_H
#define TOOLS_COPY_DOWNLOAD_INTERNAL_H

#include "tools/copy/archive/json_members.h"
#include "tools/copy/download/download.h"

/* State of a download, which all its OS threads share. */
struct copy_download {
    const struct copy_download_options *options;
    struct copy_source *source;
    struct guild_archive *archive;
    bool stopped, incomplete; /* incomplete: a step has failed; the next run repeats it */
    int64_t message_count;    /* messages of this run */
    int64_t file_count;
    pthread_mutex_t lock;
    struct list channels; /* struct copy_channel, with threads */
    size_t next_task;
    struct file_queue *files;
};
struct copy_channel {
    snowflake id, last_message_id;
    /* Last_pin_at: time of the newest pin in microseconds since 1970; 0 if unknown. */
    int64_t type, last_pin_at;
    double progress;
};

/* Returns whether an OS thread has ended the download. */
bool copy_download_is_stopped(struct copy_download *d);

/* --- download_messages.c --- */

/* Reads the messages of a channel that are not in the archive yet, with their files. */
enum copy_result copy_download_messages(struct copy_download *d, struct copy_connection *c,
                                        struct copy_channel *channel);

/* --- file_queue.c: files that the OS threads of a download fetch together --- */

struct file_job {
    char url[1024];
    char name[300]; /* name in the archive */
    /* Id of the attachment, to request a new URL if its URL has expired; 0 for other files. */
    snowflake attachment_id;
    struct file_batch *batch;
    struct file_job *next;
};
/* Files of one page of messages. */
struct file_batch {
    size_t pending;
    bool stopped;
};
struct file_queue *file_queue_new(void);
void file_queue_free(struct file_queue *q);
/* Adds a file to the queue, unless the archive already has it. Copies `job`. */
void file_queue_add(struct copy_download *d, const struct file_job *job);
/* Fetches files from the queue until all files of the batch are fetched or refused. Every OS thread
 * of the download may call it. */
enum copy_result file_queue_finish_batch(struct copy_download *d, struct copy_connection *c,
                                         struct file_batch *batch);

#endif
