/* shared_folder.c - checks that nodes which share a database also share the blob folder.
 *
 * Each node creates an empty mark file named after its identity in blobs/.nodes before other nodes
 * can see it in the database, and removes the mark when it stops. A starting node checks the marks
 * of all connected nodes: if one is missing, the nodes use different folders, and blobs of one node
 * would be missing on another. Nodes start one at a time, by an advisory lock. */
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

enum { PEER_LIST_SIZE = 16 * 1024, STOPPING_NODE_WAIT_MS = 3000, STOPPING_NODE_POLL_MS = 50 };

static bool build_node_mark_path(const struct postgres *p, const char *name, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/blobs/.nodes/%s", p->store.folder, name) < PATH_MAX;
}

static void format_node_mark_name(uint32_t identity, char name[16])
{
    snprintf(name, 16, "%" PRIu32, identity);
}

static enum err create_node_mark(const struct postgres *p)
{
    char path[PATH_MAX], name[16];

    format_node_mark_name(p->identity, name);
    if (!build_node_mark_path(p, "", path) || folder_create(path) ||
        !build_node_mark_path(p, name, path))
        return ERR_UNAVAILABLE;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_error("store: cannot create the mark file '%s' of this node: %s", path,
                  strerror(errno));
        return ERR_UNAVAILABLE;
    }
    close(fd);
    return OK;
}

void postgres_delete_node_mark_in_blob_folder(const struct postgres *p)
{
    char path[PATH_MAX], name[16];

    format_node_mark_name(p->identity, name);
    if (p->shared && build_node_mark_path(p, name, path))
        unlink(path);
}

/* Returns whether the node identity `name` is in `peers`, a list like " 12 34 ". */
static bool identity_is_listed(const char *peers, const char *name)
{
    char entry_text[NAME_MAX + 3];

    snprintf(entry_text, sizeof entry_text, " %s ", name);
    return strstr(peers, entry_text) != NULL;
}

/* Returns whether the mark file was created by a killed process that had the node number of this
 * process. No other marks may be deleted: a node that lost its connections for a moment is not
 * listed, but needs its mark when it reconnects. */
static bool mark_is_of_dead_process(const struct postgres *p, const char *peers, const char *name)
{
    uint32_t identity = (uint32_t)strtoul(name, NULL, 10);

    return identity != p->identity && !identity_is_listed(peers, name) &&
           node_number_of_process_identity(identity) ==
               node_number_of_process_identity(p->identity);
}

static void delete_marks_of_dead_processes(const struct postgres *p, const char *peers)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *d = build_node_mark_path(p, "", path) ? opendir(path) : NULL;

    while (d && (entry = readdir(d)))
        if (entry->d_name[0] != '.' && mark_is_of_dead_process(p, peers, entry->d_name))
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
}

/* Returns the identity of a listed node without a mark in this folder, or 0. */
static uint32_t find_node_without_mark(const struct postgres *p, char *peers)
{
    char path[PATH_MAX], *rest = NULL;

    for (char *name = strtok_r(peers, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        if (!build_node_mark_path(p, name, path) || access(path, F_OK) != 0)
            return (uint32_t)strtoul(name, NULL, 10);
    return 0;
}

/* Writes the identities of the other nodes that share the database to `peers`, as " 12 34 ".
 * Servers that must not share the database are left out; server_identity.c prevents their start. */
static enum err list_other_nodes(const struct postgres *p, struct postgres_conn *c, char *peers)
{
    char sql[256];

    snprintf(sql, sizeof sql,
             "select ' ' || string_agg(distinct identity::text, ' ') || ' ' from "
             "server_connections where identity <> %" PRIu32 " and identity < 2147483648",
             p->identity);
    return postgres_conn_query_text(c, sql, peers, PEER_LIST_SIZE);
}

enum err postgres_check_nodes_share_blob_folder(struct postgres *p, struct postgres_conn *c)
{
    char peers[PEER_LIST_SIZE] = "";
    uint32_t missing = 0;
    enum err e = create_node_mark(p);

    if (!e)
        e = list_other_nodes(p, c, peers);
    if (!e)
        delete_marks_of_dead_processes(p, peers);
    /* Repeats the check for a while: a node that has just stopped has removed its mark but may
     * still be listed. */
    for (int waited = 0;
         !e && (missing = find_node_without_mark(p, peers)) && waited < STOPPING_NODE_WAIT_MS;
         waited += STOPPING_NODE_POLL_MS) {
        nanosleep(&(struct timespec){ .tv_nsec = STOPPING_NODE_POLL_MS * 1000000L }, NULL);
        e = list_other_nodes(p, c, peers);
    }
    if (e || !missing)
        return e;
    log_error("store: node %u uses another folder for files than '%s/blobs'. "
              "Servers that share a database need the same folder (--data)",
              node_number_of_process_identity(missing), p->store.folder);
    return ERR_UNAVAILABLE;
}
