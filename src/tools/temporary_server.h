/* temporary_server.h - `serve --temporary on`: a server that ends with the test that started it.
 *
 * It stops when its standard input ends, which also happens if the test is killed, and then deletes
 * its data folder. Only a folder with a file "temporary" may be deleted. */
#ifndef TOOLS_TEMPORARY_SERVER_H
#define TOOLS_TEMPORARY_SERVER_H

#include <stdbool.h>

/* Prints an error and returns false if the folder may not be deleted. */
bool temporary_server_check(const char *folder);
/* Sends SIGTERM to this process when standard input ends. Call it with SIGTERM blocked. */
void temporary_server_watch_input(void);
void temporary_server_remove(const char *folder);

#endif
