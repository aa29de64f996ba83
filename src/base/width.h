/*
 * width: how many columns of a terminal one character takes, whatever the locale.
 */
#ifndef PYTOP_BASE_WIDTH_H
#define PYTOP_BASE_WIDTH_H

#include <stdint.h>

/* 0 (combining, invisible), 1, or 2 (East Asian wide and emoji). */
unsigned width_of(uint32_t codepoint);

#endif
