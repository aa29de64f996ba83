/*
 * picker: choose one of the running Python processes, on a screen of its own.
 */
#ifndef PYTOP_UI_PICKER_H
#define PYTOP_UI_PICKER_H

#include <sys/types.h>

#include "base/status.h"

/*
 * The list, refreshed each second, until one is chosen. ST_NO_PYTHONS when there is none,
 * ST_CANCELLED when the user leaves without a choice, ST_NO_TERMINAL.
 */
enum status picker_run(pid_t *pid) MUST_CHECK;

#endif
