/* server_access.c - error messages if the server cannot be reached, and access to the store while
 * no server runs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/guildhall.h"
#include "tools/tools.h"

int print_server_unreachable(const char *folder, enum err e)
{
    if (e == ERR_FORBIDDEN)
        fprintf(stderr,
                "guildhall: you may not use '%s': run the command as root, or as the user that the "
                "server runs as\n",
                folder);
    else if (e == ERR_OVERLOADED)
        fprintf(stderr, "guildhall: the server on '%s' does not respond\n", folder);
    else
        fprintf(stderr, "guildhall: no server runs on '%s' (select the folder with --data)\n",
                folder);
    return 1;
}

static bool switch_to_folder_owner(const char *folder)
{
    struct stat st;

    if (geteuid() != 0 || stat(folder, &st) != 0 || st.st_uid == 0)
        return true;
    if (setegid(st.st_gid) == 0 && seteuid(st.st_uid) == 0)
        return true;
    fprintf(stderr, "guildhall: cannot switch to the owner of '%s': %s\n", folder, strerror(errno));
    return false;
}

enum err open_store_as_data_folder_owner(const struct config *config, struct store **ret)
{
    return switch_to_folder_owner(config->data) ? guildhall_open_store(config, false, ret)
                                                : ERR_UNAVAILABLE;
}
