/*
 * unit: the main of a unit test. A test file is cases made with Check's START_TEST and, at its
 * end, UNIT_MAIN("noun", case, case, ...). Each case runs in a process of its own and prints one line,
 * "ok noun case" or "not ok noun case: what failed"; the exit status is 1 when one failed.
 */
#ifndef PYTOP_TESTS_UNIT_H
#define PYTOP_TESTS_UNIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Only a hang is stopped: a loaded machine under the sanitizers must not fail. */
#define UNIT_TIMEOUT_S 300

#define UNIT_MAIN(noun, ...) \
	int main(void) \
	{ \
		const TTest *const cases[] = { __VA_ARGS__ }; \
		return unit_run(noun, cases, sizeof(cases) / sizeof(cases[0])); \
	}

static inline int unit_report(const char *noun, TestResult **results, int count)
{
	int failed = 0;

	for (int i = 0; i < count; i++) {
		TestResult *result = results[i];

		if (tr_rtype(result) == CK_PASS) {
			printf("ok %s %s\n", noun, tr_tcname(result));
			continue;
		}
		failed = 1;
		printf("not ok %s %s: %s:%d: %s\n", noun, tr_tcname(result), tr_lfile(result),
		       tr_lno(result), tr_msg(result));
	}
	return failed;
}

/* A test case of its own for each test, since only a test case's name is told by its result. */
static inline int unit_run(const char *noun, const TTest *const *cases, size_t count)
{
	Suite *suite = suite_create(noun);

	for (size_t i = 0; i < count; i++) {
		TCase *tcase = tcase_create(cases[i]->name);

		tcase_set_timeout(tcase, UNIT_TIMEOUT_S);
		tcase_add_test(tcase, cases[i]);
		suite_add_tcase(suite, tcase);
	}

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_SILENT);

	TestResult **results = srunner_results(runner);
	int failed = unit_report(noun, results, srunner_ntests_run(runner));

	free(results);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
