/* files.c - checks that nodes which share a database also share the blob folder.
 *
 * Each node puts an empty file named after its identity into blobs/.nodes before other nodes can
 * see it in the database, and removes it when it stops. A starting node looks for the files of all
 * connected nodes: a missing one means that they use different folders, and blobs of one node would
 * be missing on another. Nodes start one at a time, by an advisory lock. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "store/postgres/postgres.h"

enum { MOST_PEERS = 16 * 1024, PATIENCE_MS = 3000, LOOK_MS = 50 };

static bool mark_path(const struct postgres *p, const char *name, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/blobs/.nodes/%s", p->store.folder, name) < PATH_MAX;
}

static void mark_name(uint32_t identity, char name[16])
{
    snprintf(name, 16, "%" PRIu32, identity);
}

static enum err write_mark(const struct postgres *p)
{
    char path[PATH_MAX], name[16];

    mark_name(p->identity, name);
    if (!mark_path(p, "", path) || folder_make(path) || !mark_path(p, name, path))
        return ERR_UNAVAILABLE;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_error("store: cannot create '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    close(fd);
    return OK;
}

void postgres_files_leave(const struct postgres *p)
{
    char path[PATH_MAX], name[16];

    mark_name(p->identity, name);
    if (p->shared && mark_path(p, name, path))
        unlink(path);
}

/* Whether name is in a list like " 12 34 ". */
static bool is_listed(const char *peers, const char *name)
{
    char word[NAME_MAX + 3];

    snprintf(word, sizeof word, " %s ", name);
    return strstr(peers, word) != NULL;
}

/* Whether the mark belongs to a killed process with this node number. Marks of other nodes stay: a
 * node that lost its connections for a moment is not listed, but needs its mark when it
 * reconnects. */
static bool is_of_predecessor(const struct postgres *p, const char *peers, const char *name)
{
    uint32_t identity = (uint32_t)strtoul(name, NULL, 10);

    return identity != p->identity && !is_listed(peers, name) &&
           store_identity_node(identity) == store_identity_node(p->identity);
}

static void drop_marks_of_dead(const struct postgres *p, const char *peers)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *d = mark_path(p, "", path) ? opendir(path) : NULL;

    while (d && (entry = readdir(d)))
        if (entry->d_name[0] != '.' && is_of_predecessor(p, peers, entry->d_name))
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
}

/* Returns the identity of a listed node without a mark in this folder; 0: none. */
static uint32_t find_unmarked(const struct postgres *p, char *peers)
{
    char path[PATH_MAX], *rest = NULL;

    for (char *name = strtok_r(peers, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        if (!mark_path(p, name, path) || access(path, F_OK) != 0)
            return (uint32_t)strtoul(name, NULL, 10);
    return 0;
}

/* Lists the other nodes that share the database, as " 12 34 ". Exclusive servers are refused
 * elsewhere (peers.c). */
static enum err list_peers(const struct postgres *p, struct postgres_conn *c, char *peers)
{
    char sql[256];

    snprintf(sql, sizeof sql,
             "select ' ' || string_agg(distinct identity::text, ' ') || ' ' from "
             "server_connections where identity <> %" PRIu32 " and identity < 2147483648",
             p->identity);
    return postgres_conn_ask(c, sql, peers, MOST_PEERS);
}

enum err postgres_files_share(struct postgres *p, struct postgres_conn *c)
{
    char peers[MOST_PEERS] = "";
    uint32_t missing = 0;
    enum err e = write_mark(p);

    if (!e)
        e = list_peers(p, c, peers);
    if (!e)
        drop_marks_of_dead(p, peers);
    /* Waits, because a node that has just stopped has removed its mark but may be listed for a
     * moment. */
    for (int waited = 0; !e && (missing = find_unmarked(p, peers)) && waited < PATIENCE_MS;
         waited += LOOK_MS) {
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
        e = list_peers(p, c, peers);
    }
    if (e || !missing)
        return e;
    log_error("store: node %u uses another folder for files than '%s/blobs'. "
              "Servers that share a database need the same folder (--data)",
              store_identity_node(missing), p->store.folder);
    return ERR_UNAVAILABLE;
}
