/*
 * text: UTF-8 that may come from a hostile target: checked, escaped, measured and cut.
 */
#ifndef PYTOP_BASE_TEXT_H
#define PYTOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decode one character at s (n bytes left, n > 0). Returns its length in bytes (>= 1) and the code
 * point, or length 1 and TEXT_BAD for a byte that is not part of valid UTF-8 (surrogates are not).
 */
#define TEXT_BAD UINT32_MAX
size_t text_decode(const char *s, size_t n, uint32_t *codepoint);

/* Encode; returns the length (1-4) in out. Surrogates and values beyond 10FFFF give U+FFFD. */
size_t text_encode(uint32_t codepoint, char out[4]);

bool text_is_utf8(const char *s, size_t n);

/*
 * May be printed as it is: not a control, DEL, C1, line separator, bidirectional override or
 * isolate, soft hyphen, byte order mark, tag or other invisible mark; not TEXT_BAD. The joiners of
 * emoji and of Persian (U+200C, U+200D) may.
 */
bool text_is_safe(uint32_t codepoint);

/*
 * Make text safe to print: whatever is not text_is_safe() becomes \n, \t, \r, \xNN (a control
 * character or a bad byte), \uNNNN or \UNNNNNNNN. Always terminated, never cut inside a character
 * or an escape. Returns the length the whole would need (as snprintf). ascii_only: every character
 * beyond 7E is escaped too (for a terminal that is not UTF-8).
 */
size_t text_escape(char *out, size_t size, const char *s, size_t n, bool ascii_only);

/* Columns a (safe) UTF-8 string takes on a terminal; wide and combining characters counted right
 * whatever the locale. */
size_t text_width(const char *s);

/*
 * Copy s cut to at most width columns, padded with spaces to exactly width when pad is set. What is
 * cut is marked with "…" ("~" when ascii_only): at the end (TEXT_CUT_END), at the start, or in the
 * middle. What is not safe to print becomes "?". size is out's, always terminated; returns the
 * columns used. A size of width + 3 is enough for ASCII; 4 * width + 1 for most else.
 */
enum text_cut { TEXT_CUT_END, TEXT_CUT_START, TEXT_CUT_MIDDLE };
size_t text_fit(char *out, size_t size, const char *s, size_t width, enum text_cut cut, bool pad,
		bool ascii_only);

/* "1.2M", "412k": at most 5 columns; bytes in steps of 1,024, counts in steps of 1,000. */
void text_bytes(char *out, size_t size, uint64_t n);
void text_count(char *out, size_t size, uint64_t n);
/* "180,211" */
void text_grouped(char *out, size_t size, uint64_t n);
/* "3d04h", "2h07m", "4m09s", "12.4s", "0.1s": at most 6 columns. */
void text_seconds(char *out, size_t size, double seconds);

#endif
