/* temporary_server.h - `serve --temporary on`: a server that ends with the test that started it.
 *
 * It stops when its standard input ends, which also happens if the test is killed, and then deletes
 * its data folder. Only a folder with a file "temporary" may be deleted. */
#ifndef TOOLS_TEMPORARY_SERVER_H
#define TOOLS_TEMPORARY_SERVER_H

#include <stdbool.h>

/* Checks that the folder may be deleted. If not, prints an error and returns false. */
bool temporary_server_may_delete_folder(const char *folder);
/* Starts a thread that waits for the end of standard input and then sends SIGTERM to this process.
 * Call this function while SIGTERM is blocked. */
void temporary_server_stop_at_end_of_input(void);
void temporary_server_delete_folder(const char *folder);

#endif
