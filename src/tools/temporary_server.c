/* temporary_server.c - `serve --temporary on`: a server that ends with the test that started it. */
#include "tools/temporary_server.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/folder.h"

#define TEMPORARY_MARKER "temporary"

static void *wait_for_end_of_input(void *arg)
{
    char bytes[256];
    ssize_t n;

    (void)arg;
    do
        n = read(STDIN_FILENO, bytes, sizeof bytes);
    while (n > 0 || (n < 0 && errno == EINTR));
    kill(getpid(), SIGTERM);
    return NULL;
}

bool temporary_server_may_delete_folder(const char *folder)
{
    char marker[PATH_MAX];

    if (snprintf(marker, sizeof marker, "%s/" TEMPORARY_MARKER, folder) < (int)sizeof marker &&
        access(marker, F_OK) == 0)
        return true;
    fprintf(stderr,
            "guildhall: --temporary deletes the data folder at the end; to allow this, create an "
            "empty file '" TEMPORARY_MARKER "' in '%s'\n",
            folder);
    return false;
}

void temporary_server_stop_at_end_of_input(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, wait_for_end_of_input, NULL) == 0)
        pthread_detach(thread);
}

void temporary_server_delete_folder(const char *folder)
{
    if (!folder_delete_recursively(folder))
        fprintf(stderr, "guildhall: cannot delete '%s': %s\n", folder, strerror(errno));
}
