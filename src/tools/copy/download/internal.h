/* internal.h - the state of a download, shared by its files. */
#ifndef TOOLS_COPY_DOWNLOAD_INTERNAL_H
#define TOOLS_COPY_DOWNLOAD_INTERNAL_H

#include "tools/copy/archive/json_members.h"
#include "tools/copy/download/download.h"

/* State of a download, which all its OS threads share. */
struct guild_download {
    const struct guild_download_options *options;
    struct guild_copy_source *source;
    struct guild_archive *archive;
    bool stopped, incomplete; /* incomplete: a step has failed; the next run repeats it */
    int64_t message_count;    /* messages of this run */
    int64_t file_count;
    pthread_mutex_t lock;
    struct list channels; /* struct downloaded_channel, with threads */
    size_t next_task;
    struct file_queue *files;
};
struct downloaded_channel {
    snowflake id, last_message_id;
    /* Last_pin_at: time of the newest pin in microseconds since 1970; 0 if unknown. */
    int64_t type, last_pin_at;
    double progress;
};

/* Returns whether an OS thread has ended the download. */
bool guild_download_is_stopped(struct guild_download *d);

/* --- download_messages.c --- */

/* Reads the messages of a channel that the archive does not have yet, with their files. */
enum guild_copy_result download_channel_messages(struct guild_download *d,
                                                 struct source_server_connection *c,
                                                 struct downloaded_channel *channel);

/* --- file_queue.c: files that the OS threads of a download fetch together --- */

struct file_download_job {
    char url[1024];
    char name[300];          /* name in the archive */
    snowflake attachment_id; /* if not 0, an expired address is refreshed */
    bool is_refreshed;
    char reason[256]; /* why the address was refused, which is then refreshed */
    struct file_download_batch *batch;
    struct file_download_job *next;
};
/* Files of one page of messages. */
struct file_download_batch {
    size_t pending;
    bool stopped;
};
struct file_queue *download_file_queue_new(void);
void download_file_queue_free(struct file_queue *q);
/* Adds a file unless the archive has it. Copies the job. */
void download_file_queue_add(struct guild_download *d, const struct file_download_job *job);
/* Fetches files until all files of the batch are there or refused. Any thread may call it. */
enum guild_copy_result download_file_queue_finish_batch(struct guild_download *d,
                                                        struct source_server_connection *c,
                                                        struct file_download_batch *batch);

#endif
