/* Two ranks that send to each other through an exchange pool, without end: each polls its link for a message and its
 * books for a slot, does at least one of the two things if it can, answers or not before it releases, and sleeps when it
 * can do neither; either may die at any moment. Checked: nobody waits for ever, but both move on or, after a death, the
 * other stops; and what pool.pml checks.
 *
 * Faults: those of slots.inc and waiting.inc.
 */
#include "slots.inc"
#define NUM_RANKS 2
#define NUM_VICTIMS 2
#include "waiting.inc"

#define PEER (1 - me)

inline send() {
  atomic { publish(); moved() };
  ring(PEER)
}

proctype rank(byte me) {
  BOOKS;
  bool announced, has_moved;
  {
    atomic { open_books() };
poll:
    if
    :: atomic { MAY_RECEIVE(0) -> receive(); moved(); has_moved = true };
      /* an answer or none, perhaps in the slot that came */
      atomic { look() };
      if
      :: may_send -> send()
      :: may_send = false
      fi;
#ifdef GIVE_BACK_LATE
      store_released(0);
      atomic { settle(); give_back() };
#else
      atomic { settle(); give_back() };
      atomic { store_released(0) };
#endif
      ring(PEER)
    :: else
    fi;
    atomic { look() };
    if
    :: may_send -> send(); has_moved = true
    :: may_send && has_moved -> may_send = false /* it has nothing to send now */
    :: else
    fi;
    if
    :: has_moved -> has_moved = false
    :: else -> wait()
    fi;
    goto poll
  } unless { crashed == me }
stopped:
  skip
}

init {
  byte i;
  atomic {
    clear_lines();
    run rank(0);
    run rank(1);
    run notice(0);
    run notice(1);
    run fate()
  }
}
