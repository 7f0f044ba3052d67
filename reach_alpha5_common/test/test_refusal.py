from reach_alpha5_common.refusal import Problem, RefusalLog

NAN = Problem("not_finite", "x is nan; send a finite number")
RANGE = Problem("out_of_range", "x is 2; send a number in [-1, 1]")


def test_refusals_are_counted_by_code_and_source() -> None:
    log = RefusalLog()
    log.refuse(NAN, "pad", 1.0)
    log.refuse(RANGE, "pad", 2.0)
    log.refuse(NAN, "app", 3.0)
    last = log.refuse(NAN, "pad", 4.0)

    assert log.counts() == {
        ("not_finite", "pad"): 2,
        ("out_of_range", "pad"): 1,
        ("not_finite", "app"): 1,
    }
    assert log.total == 4
    assert log.last is last
    assert (last.code, last.reason, last.source) == (NAN.code, NAN.reason, "pad")
    assert (last.count, last.at) == (2, 4.0)


def test_a_new_log_has_refused_nothing() -> None:
    log = RefusalLog()
    assert log.last is None
    assert log.total == 0
    assert log.counts() == {}


def test_rule_17_a_flood_of_names_does_not_grow_the_log() -> None:
    log = RefusalLog()
    for number in range(10 * RefusalLog.MAX_KEYS):
        log.refuse(NAN, f"client {number}", float(number))
    for number in range(10 * RefusalLog.MAX_KEYS):
        log.refuse(Problem(f"code {number}", "made up"), "app", float(number))

    counts = log.counts()
    assert len(counts) == RefusalLog.MAX_KEYS + 1
    assert sum(counts.values()) == log.total == 20 * RefusalLog.MAX_KEYS


def test_a_source_that_is_known_is_still_counted_apart_when_the_log_is_full() -> None:
    log = RefusalLog()
    log.refuse(NAN, "pad", 0.0)
    for number in range(2 * RefusalLog.MAX_KEYS):
        log.refuse(NAN, f"client {number}", 1.0)
    assert log.refuse(NAN, "pad", 2.0).count == 2


def test_the_copy_of_the_counters_is_not_the_counters() -> None:
    log = RefusalLog()
    log.refuse(NAN, "pad", 1.0)
    log.counts().clear()
    assert log.counts() == {("not_finite", "pad"): 1}


def test_a_log_goes_on_from_what_another_one_held():
    log = RefusalLog()
    log.refuse(Problem("stale", "old"), "pad", 1.0)
    twin = RefusalLog(log.contents())
    assert twin.latest == log.latest
    again = twin.refuse(Problem("stale", "old"), "pad", 2.0)
    assert again.count == 2
    assert twin.total == 2
    assert log.total == 1


def test_the_last_refusal_of_each_source_and_code_is_kept_newest_first_and_not_for_ever():
    log = RefusalLog()
    for number in range(RefusalLog.MAX_KEPT + 3):
        log.refuse(Problem(f"code_{number}", ""), "pad", float(number))
    log.refuse(Problem("code_5", "again"), "pad", 99.0)
    assert log.last.reason == "again"
    assert [refusal.code for refusal in log.latest][:2] == ["code_5", "code_10"]
    assert len(log.latest) == RefusalLog.MAX_KEPT
    assert len({refusal.code for refusal in log.latest}) == RefusalLog.MAX_KEPT
