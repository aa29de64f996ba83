/*
 * commands: what each action of the keymap does.
 */
#ifndef PYTOP_UI_COMMANDS_H
#define PYTOP_UI_COMMANDS_H

#include "ui/view.h"

void commands_do(struct ui *ui, enum action action);
/* A key while the prompt asks. */
void commands_prompt(struct ui *ui, int key);

#endif
