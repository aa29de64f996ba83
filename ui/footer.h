/*
 * footer: the keys of a place, in the last line.
 */
#ifndef PYTOP_UI_FOOTER_H
#define PYTOP_UI_FOOTER_H

#include "ui/keymap.h"

void footer_draw(enum place place, int y);

#endif
