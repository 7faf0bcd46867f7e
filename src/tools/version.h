/* version.h - the identity of this build of the program. */
#ifndef TOOLS_VERSION_H
#define TOOLS_VERSION_H

#include "tools/tools.h"

struct build_identity {
    const char *version; /* X.Y.Z for a release, otherwise X.Y.Z-dev.N+COMMIT */
    /* Commit of the source code; ends with ".modified" if files differed from it. */
    const char *commit;
    const char *date; /* of the commit */
};

extern const struct build_identity build_identity;

extern const struct option_row version_option_rows[];
int run_command_version(const struct command_settings *s, char **arguments);

#endif
