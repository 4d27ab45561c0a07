/* The slots of an exchange pool: two sides that send to each other over LINKS0 and LINKS1 links, without end, each doing
 * at any moment any one thing that it may. Checked in every state:
 *   - whoever sees its link not full has a slot to send in;
 *   - a slot belongs to one side, one message or one return ring, never to two;
 *   - a message is read as it was written.
 * Who waits and sleeps, and who dies, is exchange.pml's and ring.pml's; weak memory is the explorer's.
 *
 * What a side does that the other cannot come between to any effect is one step: looking and sending; taking a message;
 * looking and giving back. Releasing is a step of its own. Faults: those of slots.inc.
 */
#include "slots.inc"

#ifdef GIVE_BACK_LATE
#define RELEASE(k) atomic { unreleased & (1 << k) -> store_released(k) }; atomic { settle(); give_back() }
#else
#define RELEASE(k) atomic { unreleased & (1 << k) -> settle(); give_back() }; atomic { store_released(k) }
#endif

inline send() {
  look();
  if
  :: may_send -> publish()
  :: else
  fi
}

proctype side(byte me) {
  BOOKS;
  open_books();
end:
  do
  :: atomic { true -> send() }
  :: atomic { OWN_LINKS > 1 -> l = 1; send(); l = 0 }
  :: atomic { MAY_RECEIVE(0) -> receive() }
  :: atomic { MAY_RECEIVE(1) -> l = 1; receive(); l = 0 }
  :: RELEASE(0)
  :: RELEASE(1)
  od
}

init {
  byte i;
  atomic {
    clear_lines();
    run side(0);
    run side(1)
  }
}
