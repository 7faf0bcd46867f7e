/* commands.c - the gateway's opcodes whose effect is voice, row by row. */
#include "voice/calls.h"
#include "voice/internal.h"

const struct command_row voice_command_rows[] = {
    { 4, &type_voice_request, update_voice_state, aim_voice_state },
    { 13, &type_call_request, connect_call, NULL },
    { 0 },
};

void voice_init(void)
{
    voice_follow(&calls_follower);
}
